"""A record as it was found on its page: which nodes hold its text, and what the page says of it."""

from __future__ import annotations

from dataclasses import dataclass, field

POST, ITEM = "post", "item"


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """One record of a page.

    Attributes:
        kind: ``post`` or ``item``.
        inside: The subtree that holds its text.
        left_out: Subtrees in it that are no text of the record: its user, a signature, its price.
        values: What else is known of it, by name: ``user``, ``time``, ``title``, ``price``, ``link``.
    """

    kind: str
    inside: range
    left_out: tuple[range, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
