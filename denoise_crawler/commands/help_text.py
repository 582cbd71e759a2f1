"""The end of ``scrapy denoise SUBCOMMAND -h``: examples and notes."""

from __future__ import annotations

from textwrap import fill

_WIDTH = 100


def help_text(examples: dict[str, str], *notes: str) -> str:
    """Return the text.

    Args:
        examples: Commands, each with what it does.
        notes: Paragraphs that follow.

    """
    lines = [f"  {command}\n      {what}" for command, what in examples.items()]
    return "\n".join(["examples:", *lines, *(f"\n{fill(note, _WIDTH)}" for note in notes)])
