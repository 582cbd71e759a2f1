"""What stands below the options in ``scrapy denoise SUBCOMMAND -h``: examples, then what else there is to know."""

from __future__ import annotations

from textwrap import fill

_WIDTH = 100


def help_text(examples: dict[str, str], *notes: str) -> str:
    """Return the text: each command of ``examples`` with what it does, then the ``notes`` as paragraphs."""
    lines = [f"  {command}\n      {what}" for command, what in examples.items()]
    return "\n".join(["examples:", *lines, *(f"\n{fill(note, _WIDTH)}" for note in notes)])
