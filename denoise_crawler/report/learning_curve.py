"""The learning curve of a site without gold text: how soon its verdicts settle."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.output.characters import count_characters, noise_ratio
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods import Judgement, MethodChoice

JUDGED_PAGES = 5
_STEPS = (0, 1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(slots=True)
class LearningCurve:
    """The verdicts on the same few pages after each number of other ``pages`` was learned.

    ``removed`` is the mean share of visible characters removed from the ``judged`` pages, ``settled`` the share of
    their visible characters with the verdict of the last step (0-1).
    """

    judged: int
    pages: list[int] = field(default_factory=list)
    removed: list[float] = field(default_factory=list)
    settled: list[float] = field(default_factory=list)


def learning_curve(
    pages: Sequence[tuple[str, str | bytes]], choice: MethodChoice, site: str
) -> LearningCurve | None:
    """Learn pages of one site in order and judge the last few of them at each step.

    Args:
        pages: The (url, html) of the pages.
        choice: The method.
        site: The name of the site.

    Returns:
        The curve; None if the method does not learn or fewer than four pages are readable.

    """
    learner = Denoiser(choice)
    readable = [page for page in (Page.parse(url, html, site=site) for url, html in pages) if not page.skipped]
    if not learner.learns or len(readable) < 4:
        return None
    judged = readable[-min(JUDGED_PAGES, len(readable) // 2) :]
    learned = readable[: -len(judged)]
    steps = sorted({*(step for step in _STEPS if step < len(learned)), len(learned)})
    verdicts = _judge_at_steps(learner, learned, judged, steps)
    curve = LearningCurve(len(judged), steps)
    for of_step in verdicts:
        counted = [count_characters(page, found.noise) for page, found in zip(judged, of_step, strict=True)]
        curve.removed.append(fmean(noise_ratio(visible, kept) for visible, kept in counted))
        curve.settled.append(_agreement(judged, of_step, verdicts[-1]))
    return curve


def _judge_at_steps(
    learner: Denoiser, learned: list[Page], judged: list[Page], steps: list[int]
) -> list[list[Judgement]]:
    found, done = [], 0
    for step in steps:
        for page in learned[done:step]:
            learner.learn(page)
        done = step
        found.append([learner.judge(page) for page in judged])
    return found


def _agreement(pages: list[Page], some: list[Judgement], last: list[Judgement]) -> float:
    """Return the share of characters on which two judgements agree."""
    alike = everything = 0
    for page, one, other in zip(pages, some, last, strict=True):
        for characters, mine, final in zip(page.characters, one.noise, other.noise, strict=True):
            everything += characters
            alike += characters * (mine == final)
    return alike / everything if everything else 1.0
