"""What the other pages of a site say of one page, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Numbers


class AtPlace(NamedTuple):
    """By block, what other pages have at its place, which is the path of its element.

    ``shapes`` is the number of pages that have a text of its shape there. Of all shapes there, each counted by the
    pages that have it, ``held`` is the sum, ``repeated`` that of those on ``OFTEN`` pages and more, and
    ``sameness`` what is missing of their entropy to that of as many different ones, from 0 to 1 (node importance
    in Yi, Liu and Li 2003).
    """

    shapes: Numbers
    held: Numbers
    repeated: Numbers
    sameness: Numbers


@dataclass(slots=True, eq=False)
class Standing:
    """What ``pages`` other pages of the site say of one page.

    By block, the number of those pages that have its text, its text with every number alike, and the link it
    begins with; the tokens on those pages that are in its style, and the mean score of these without its site
    (``style_tokens``, ``style_scores``). By block-level element, what stands on its path, summed over those
    pages: ``path_pages`` that have it, ``path_elements``, ``path_characters``, ``path_linked`` and
    ``path_repeated`` (characters of texts that come back). ``places`` is what they have at the place of each
    block. ``alike`` is how many pages are built as this one is,
    ``kinds`` the mean of what each of these says of its own kind.
    """

    pages: int
    alike: float
    kinds: Numbers
    places: AtPlace
    texts: Numbers
    masked: Numbers
    links: Numbers
    style_tokens: Numbers
    style_scores: Numbers
    path_pages: Numbers
    path_elements: Numbers
    path_characters: Numbers
    path_linked: Numbers
    path_repeated: Numbers

    @property
    def columns(self) -> tuple[tuple[Numbers, ...], ...]:
        """What is said of blocks, of elements and of places, as the loops take it."""
        of_paths = self.path_pages, self.path_elements, self.path_characters, self.path_linked, self.path_repeated
        return (self.texts, self.masked, self.links), of_paths, tuple(self.places)
