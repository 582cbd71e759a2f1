"""What a user wishes of the text: with the title or without, with comments or without, rather more or less."""

from __future__ import annotations

from dataclasses import dataclass

WORDS = KEEP, LEAVE = "keep", "leave"
# What is added to the log odds of every block before the best text is chosen.
FAVOUR = {"precision": -0.5, "balanced": 0.0, "recall": 0.5}
UNSAID = -1.0
NO_WISHES = UNSAID, UNSAID
WISH_COLUMNS = ("wish title", "wish comments")


@dataclass(frozen=True, slots=True)
class Wishes:
    """The title and readers' comments in the text or not, and what is favoured where a block is in doubt.

    The posts of a forum thread are no comments: they are its text. Raises ValueError for other words.
    """

    title: str = KEEP
    comments: str = LEAVE
    favour: str = "balanced"

    def __post_init__(self) -> None:
        for name, value in (("title", self.title), ("comments", self.comments)):
            if value not in (KEEP, LEAVE):
                raise ValueError(f"{name} is {value!r}: it can be 'keep' or 'leave'")
        if self.favour not in FAVOUR:
            known = ", ".join(map(repr, FAVOUR))
            raise ValueError(f"favour is {self.favour!r}: it can be one of {known}")

    @property
    def shift(self) -> float:
        """What is added to the log odds of every block."""
        return FAVOUR[self.favour]

    @property
    def columns(self) -> tuple[float, float]:
        """The wishes as features of all blocks."""
        return float(self.title == KEEP), float(self.comments == KEEP)
