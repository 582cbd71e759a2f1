"""``denoise-crawler --completion``: what bash or zsh needs to complete the command's words."""

from __future__ import annotations

import sys
from argparse import Action, ArgumentParser

from denoise_crawler.errors import MissingExtraError, needs

SHELLS = ("bash", "zsh")
_NAMES_OF_FILES, _NAMES_OF_FOLDERS = ("FILE", "PAGE", "PATH"), ("FOLDER",)


class Completion(Action):
    """Prints the script of a shell and exits, as ``--help`` does."""

    def __call__(self, parser: ArgumentParser, _: object, values: object, __: str | None = None) -> None:
        """Print the script that completes the options of ``parser``, names of files and of folders."""
        try:
            with needs("commands"):
                import shtab
        except MissingExtraError as error:
            parser.error(str(error))
        for action in parser._actions:  # argparse has no other list
            if action.metavar in _NAMES_OF_FILES:
                vars(action)["complete"] = shtab.FILE
            elif action.metavar in _NAMES_OF_FOLDERS:
                vars(action)["complete"] = shtab.DIRECTORY
        print(shtab.complete(parser, shell=str(values)))
        sys.exit(0)
