"""``one_look``: what ``fusion`` says of a page alone, without its site."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.fusion.decision import decide, judgement_of
from denoise_crawler.methods.fusion.features import KEEP, Wishes
from denoise_crawler.methods.fusion.weights import model_of_file, shipped_model
from denoise_crawler.page import Page


class OneLook(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over the page's evidence.

    It knows nothing of the site, says nothing of the type of the page, and leaves the posts of a thread and the
    rows of a table to their own chances. See ``docs/methods.md`` for what that costs and gives.

    Args:
        title: Whether the title is in the text (``keep`` or ``leave``).
        favour: Whether a text with less noise (``precision``) or with less missing (``recall``) is better where a
            block is in doubt, or neither (``balanced``).
        weights: A file of weights other than those that come with the package.

    Raises:
        ValueError: ``title`` or ``favour`` is another word.
        WeightsError: ``weights`` cannot be read.

    """

    name: ClassVar[str] = "one_look"
    is_sure: ClassVar[bool] = True

    def __init__(self, *, title: str = KEEP, favour: str = "balanced", weights: Path | str | None = None) -> None:
        self.wishes = Wishes(title, favour=favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        look = page.once(self.model.alone).knowing(None, self.wishes.columns)
        decision = decide(look, self.wishes)
        return judgement_of(page, decision, self.model.confidence(decision.expected))
