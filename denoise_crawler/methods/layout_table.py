"""``layout_table``: the topic is in large tables with paragraphs. Needs one page only.

Shi, Lin & Yang, *An Approach to Eliminate Noise Based on Framework of Web Pages and Rules* (on CWT200G, pages
built from tables). The rules are numbered as in ``docs/methods.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from denoise_crawler.methods.base import Judgement, Method, spare_holders
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.geometry import Length, declared_length, drawn_boxes
from denoise_crawler.page.nodes import INLINE

MIN_WIDTH = 300.0
MIN_WIDTH_PERCENT = 60.0
MIN_HEIGHT_PERCENT = 50.0
MAX_ASPECT = 5.0
MIN_AREA_SHARE = 0.3
MIN_MARKS_SHARE = 0.2
SCREEN = (800.0, 600.0)
_OUTSIDE = 0  # the part outside all sized tables; 0 is the body
_MARKS = frozenset({"p", "br"})


@dataclass(slots=True, eq=False)
class _Part:
    """A part of a page: a sized table without the tables in it, or what is outside of them.

    ``outer`` is the part around a table; ``marks`` counts the part's own ``p`` and ``br``. ``is_topic`` is the
    decision of the rules, ``why`` the numbers that decided.
    """

    outer: int = -1
    width: Length | None = None
    height: Length | None = None
    marks: int = 0
    is_topic: bool = False
    why: str = ""

    def leave_out(self, why: str) -> None:
        """Take back that the part is a topic."""
        self.is_topic, self.why = False, f"{self.why}, {why}"


class LayoutTable(Method):
    """Content is the text of large tables with paragraphs, and the paragraphs outside tables.

    A table is judged by its declared width and height. A table without a size belongs to the part around it.

    Args:
        min_width: The least width of a topic table in CSS pixels (δ1).
        min_width_percent: The least width in per cent (δ2).
        min_height_percent: The least height in per cent (δ3).
        max_aspect: The most times that the long side may be the short one.
        min_area_share: The share of the page (0 to 1) that a table without paragraphs must fill.
        min_marks_share: A part with a lower share (0 to 1) of the ``p`` and ``br`` of the richest part is noise.

    Raises:
        ValueError: A parameter is out of range.
    """

    name: ClassVar[str] = "layout_table"

    def __init__(
        self,
        *,
        min_width: float = MIN_WIDTH,
        min_width_percent: float = MIN_WIDTH_PERCENT,
        min_height_percent: float = MIN_HEIGHT_PERCENT,
        max_aspect: float = MAX_ASPECT,
        min_area_share: float = MIN_AREA_SHARE,
        min_marks_share: float = MIN_MARKS_SHARE,
    ) -> None:
        self.min_width = _check_range("min_width", min_width, 0.0)
        self.min_width_percent = _check_range("min_width_percent", min_width_percent, 0.0, 100.0)
        self.min_height_percent = _check_range("min_height_percent", min_height_percent, 0.0, 100.0)
        self.max_aspect = _check_range("max_aspect", max_aspect, 1.0)
        self.min_area_share = _check_range("min_area_share", min_area_share, 0.0, 1.0)
        self.min_marks_share = _check_range("min_marks_share", min_marks_share, 0.0, 1.0)

    def judge(self, page: Page) -> Judgement:
        """Mark what is in no topic part."""
        nodes = page.nodes
        parts, part_of = _split_into_parts(nodes)
        self._apply_rules(parts, _page_area(page, parts))
        _keep_one_topic_per_nest(parts)
        _leave_out_poor_parts(parts.values(), self.min_marks_share)
        paragraphs = _paragraph_nodes(nodes)
        keep = [
            parts[part].is_topic and (part != _OUTSIDE or paragraph)
            for part, paragraph in zip(part_of, paragraphs, strict=True)
        ]
        noise = spare_holders([not kept for kept in keep], nodes.parents)

        def reason(index: int) -> str:
            part = parts[part_of[index]]
            why = part.why
            if part.is_topic and part_of[index] == _OUTSIDE and not keep[index]:
                why = "rule 5: outside the tables and no paragraph text"
            return why if keep[index] or noise[index] else f"{why}; holds kept text"

        return Judgement(noise, [float(parts[part].marks) for part in part_of], reason)

    def _apply_rules(self, parts: Mapping[int, _Part], page_area: float) -> None:
        """Decide by rules 1 to 5 which parts may be the topic."""
        for index, part in parts.items():
            width, height = part.width, part.height
            if index == _OUTSIDE:
                part.is_topic, part.why = (
                    part.marks > 0,
                    f"rule 5: outside the tables, {_describe_marks(part.marks)}",
                )
            elif width is not None and width.percent:
                _compare(part, "rule 2: width", width, self.min_width_percent)
            elif width is None:
                part.why = "rule 1: no width"
            elif height is None:
                _compare(part, "rule 1: width", width, self.min_width)
            elif height.percent:
                _compare(part, "rule 3: height", height, self.min_height_percent)
            else:
                self._apply_rule_4(part, width.value, height.value, page_area)

    def _apply_rule_4(self, part: _Part, width: float, height: float, page_area: float) -> None:
        short, long = sorted((width, height))
        ratio = long / short if short > 0 else inf
        part.is_topic = ratio <= self.max_aspect
        compared = f"ratio {ratio:.1f} {'≤' if part.is_topic else '>'} {self.max_aspect:g}"
        part.why = f"rule 4: {width:g} × {height:g} px, {compared}"
        if part.marks or not part.is_topic:
            part.why += f" and {_describe_marks(part.marks)}"
            return
        share = width * height / page_area
        part.is_topic = share >= self.min_area_share
        compared = f"{share:.0%} of the page's area {'≥' if part.is_topic else '<'} {self.min_area_share:.0%}"
        part.why += f", {_describe_marks(part.marks)} and {compared}"


def _check_range(name: str, value: float, low: float, high: float = inf) -> float:
    if not low <= value <= high or value == inf:
        allowed = f"be a number of at least {low:g}" if high == inf else f"lie between {low:g} and {high:g}"
        raise ValueError(f"{name} must {allowed}, not {value}")
    return float(value)


def _split_into_parts(nodes: Nodes) -> tuple[dict[int, _Part], list[int]]:
    """Return the parts of a page by their tables, in document order, and the part that each node belongs to."""
    parts, part_of = {_OUTSIDE: _Part()}, [_OUTSIDE] * len(nodes)
    for index in range(1, len(nodes)):
        tag, part = nodes.tags[index], part_of[nodes.parents[index]]
        if tag == "table":
            width, height = (declared_length(nodes.elements[index], side) for side in ("width", "height"))
            if width is not None or height is not None:
                parts[index] = _Part(part, width, height)
                part = index
        elif tag in _MARKS:
            parts[part].marks += 1
        part_of[index] = part
    return parts, part_of


def _page_area(page: Page, parts: Mapping[int, _Part]) -> float:
    """Return the area of the drawn body, else of ``SCREEN`` enlarged to the longest sides declared in pixels."""
    body = drawn_boxes(page)[0] if len(parts) > 1 else None
    if body is not None and body.area > 0:
        return body.area
    sides = list(SCREEN)
    for part in parts.values():
        for place, side in enumerate((part.width, part.height)):
            if side is not None and not side.percent:
                sides[place] = max(sides[place], side.value)
    return sides[0] * sides[1]


def _paragraph_nodes(nodes: Nodes) -> list[bool]:
    """Return for each node whether it is paragraph text: in a ``p``, or in a block with ``br``."""
    blocks, marked = [0] * len(nodes), [False] * len(nodes)
    for index in range(1, len(nodes)):
        tag, parent = nodes.tags[index], nodes.parents[index]
        if tag == "br":
            marked[blocks[parent]] = True
        blocks[index] = blocks[parent] if tag in INLINE or tag == "br" else index
    inside = [False] * len(nodes)
    for index in range(1, len(nodes)):
        inside[index] = nodes.tags[index] == "p" or inside[nodes.parents[index]]
    return [within or marked[block] for within, block in zip(inside, blocks, strict=True)]


def _compare(part: _Part, what: str, side: Length, limit: float) -> None:
    """Let a part be the topic if a side is longer than ``limit`` and there are marks."""
    unit = "%" if side.percent else "px"
    over = side.value > limit
    part.is_topic = over and part.marks > 0
    compared = f"{side.value:g} {unit} {'>' if over else '≤'} {limit:g} {unit}"
    part.why = f"{what} {compared} and {_describe_marks(part.marks)}"


def _describe_marks(marks: int) -> str:
    return f"{marks or 'no'} paragraph mark{'' if marks == 1 else 's'}"


def _keep_one_topic_per_nest(parts: Mapping[int, _Part]) -> None:
    """Keep one topic among nested tables: the one with the most marks, the innermost of equals."""
    own = {index: part.marks if part.is_topic else -1 for index, part in parts.items()} | {_OUTSIDE: -1}
    above, below = {_OUTSIDE: -1}, dict.fromkeys(parts, -1)
    tables = [index for index in parts if index != _OUTSIDE]
    for table in tables:
        outer = parts[table].outer
        above[table] = max(above[outer], own[outer])
    for table in reversed(tables):
        outer = parts[table].outer
        below[outer] = max(below[outer], below[table], own[table])
    for table in tables:
        if own[table] >= 0 and (above[table] > own[table] or below[table] >= own[table]):
            most = _describe_marks(max(above[table], below[table]))
            parts[table].leave_out(f"but a table of the same nest has {most}")


def _leave_out_poor_parts(parts: Iterable[_Part], share: float) -> None:
    """Keep the topics with ``share`` of the marks of the richest, and those without marks from rule 4."""
    topics = [part for part in parts if part.is_topic]
    richest = max((part.marks for part in topics), default=0)
    for part in topics:
        if 0 < part.marks < share * richest:
            part.leave_out(f"under {share:.0%} of the {richest} that another part has")
