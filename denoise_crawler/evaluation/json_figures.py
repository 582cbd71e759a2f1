"""The figures of an evaluation as JSON, by page and by group of pages."""

from __future__ import annotations

import msgspec

from denoise_crawler.evaluation.results import Evaluation, Group, Summary, groups_of, sites_of, summarize


class GroupFigures(msgspec.Struct):
    """The figures of all contenders on a group of pages."""

    set: str
    label: str
    pages: int
    contenders: dict[str, Summary]


class Figures(msgspec.Struct):
    """An evaluation, and its means over groups and over sites."""

    groups: list[GroupFigures]
    sites: list[GroupFigures]
    evaluation: Evaluation


def figures(evaluation: Evaluation, *, halves: bool = False) -> str:
    """Return :class:`Figures` as JSON; with ``halves`` also for each half of the sites."""
    found = Figures(
        [_group_figures(evaluation, group) for group in groups_of(evaluation, halves=halves)],
        [_group_figures(evaluation, site) for name in evaluation.sets for site in sites_of(evaluation, name)],
        evaluation,
    )
    return msgspec.json.encode(found).decode() + "\n"


def _group_figures(evaluation: Evaluation, group: Group) -> GroupFigures:
    summaries = {result.contender: summarize(evaluation, result, group) for result in evaluation.results}
    return GroupFigures(group.set, group.label, len(group.pages), summaries)
