"""All figures of an evaluation as JSON, per page and per group of pages."""

from __future__ import annotations

import msgspec

from denoise_crawler.evaluation.results import Evaluation, Group, Summary, groups_of, sites_of, summary


class GroupFigures(msgspec.Struct):
    """The figures of all contenders on some pages."""

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
    """Return the JSON of :class:`Figures`; with ``halves`` of the halves of the sites as well."""
    found = Figures(
        [_group_figures(evaluation, group) for group in groups_of(evaluation, halves=halves)],
        [_group_figures(evaluation, site) for name in evaluation.sets for site in sites_of(evaluation, name)],
        evaluation,
    )
    return msgspec.json.encode(found).decode() + "\n"


def _group_figures(evaluation: Evaluation, group: Group) -> GroupFigures:
    summaries = {result.contender: summary(evaluation, result, group) for result in evaluation.results}
    return GroupFigures(group.set, group.label, len(group.pages), summaries)
