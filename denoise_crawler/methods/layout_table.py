"""``layout_table``: the topic is in large tables with paragraphs. Needs one page only.

Shi, Lin & Yang, *An Approach to Eliminate Noise Based on Framework of Web Pages and Rules* (on CWT200G, pages
built from tables). The rules are numbered as in ``docs/methods.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar, TypeAlias

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

Size: TypeAlias = "tuple[Length | None, Length | None]"


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """A page cut into parts: each sized table without the tables in it, and the rest of the page.

    ``parts[i]`` is the table that node i belongs to, or ``_OUTSIDE``. ``marks`` counts each part's own ``p`` and
    ``br``; ``outer`` is the part around a table. Both are in document order.
    """

    parts: list[int]
    marks: dict[int, int]
    sizes: dict[int, Size]
    outer: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Ruling:
    """A rule's decision on one part: whether it may be the topic, and the numbers that decided."""

    topic: bool
    why: str


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
        frame = _split_into_parts(nodes)
        rulings = self._rulings(page, frame)
        paragraphs = _paragraph_nodes(nodes)
        keep = [
            rulings[part].topic and (part != _OUTSIDE or paragraph)
            for part, paragraph in zip(frame.parts, paragraphs, strict=True)
        ]
        noise = spare_holders([not kept for kept in keep], nodes.parents)

        def reason(index: int) -> str:
            part = frame.parts[index]
            if rulings[part].topic and part == _OUTSIDE and not keep[index]:
                why = "rule 5: outside the tables and no paragraph text"
            else:
                why = rulings[part].why
            return why if keep[index] or noise[index] else f"{why}; holds kept text"

        return Judgement(noise, [float(frame.marks[part]) for part in frame.parts], reason)

    def _rulings(self, page: Page, frame: _Frame) -> dict[int, _Ruling]:
        """Apply the rules to each part, then compare the numbers of marks."""
        area = _page_area(page, frame.sizes)
        marks = frame.marks[_OUTSIDE]
        why = f"rule 5: outside the tables, {_describe_marks(marks)}"
        rulings = {_OUTSIDE: _Ruling(marks > 0, why)}
        for table, size in frame.sizes.items():
            rulings[table] = self._table_ruling(size, frame.marks[table], area)
        return _drop_poor_parts(frame, _keep_one_topic_per_nest(frame, rulings), self.min_marks_share)

    def _table_ruling(self, size: Size, marks: int, page_area: float) -> _Ruling:
        """Apply rules 1 to 4 to a table."""
        width, height = size
        if width is not None and width.percent:
            return _size_ruling("rule 2: width", width, self.min_width_percent, marks)
        if width is None:
            return _Ruling(False, "rule 1: no width")
        if height is None:
            return _size_ruling("rule 1: width", width, self.min_width, marks)
        if height.percent:
            return _size_ruling("rule 3: height", height, self.min_height_percent, marks)
        return self._shape_ruling(width.value, height.value, marks, page_area)

    def _shape_ruling(self, width: float, height: float, marks: int, page_area: float) -> _Ruling:
        """Apply rule 4."""
        short, long = sorted((width, height))
        ratio = long / short if short > 0 else inf
        small = ratio <= self.max_aspect
        compared = f"ratio {ratio:.1f} {'≤' if small else '>'} {self.max_aspect:g}"
        why = f"rule 4: {width:g} × {height:g} px, {compared}"
        if marks or not small:
            return _Ruling(small, f"{why} and {_describe_marks(marks)}")
        share = width * height / page_area
        large = share >= self.min_area_share
        compared = f"{share:.0%} of the page's area {'≥' if large else '<'} {self.min_area_share:.0%}"
        return _Ruling(large, f"{why}, {_describe_marks(0)} and {compared}")


def _check_range(name: str, value: float, low: float, high: float = inf) -> float:
    if not low <= value <= high or value == inf:
        allowed = f"be a number of at least {low:g}" if high == inf else f"lie between {low:g} and {high:g}"
        raise ValueError(f"{name} must {allowed}, not {value}")
    return float(value)


def _split_into_parts(nodes: Nodes) -> _Frame:
    frame = _Frame([_OUTSIDE] * len(nodes), {_OUTSIDE: 0}, {}, {})
    for index in range(1, len(nodes)):
        tag, part = nodes.tags[index], frame.parts[nodes.parents[index]]
        if tag == "table":
            element = nodes.elements[index]
            width, height = declared_length(element, "width"), declared_length(element, "height")
            if width is not None or height is not None:
                frame.sizes[index], frame.outer[index], frame.marks[index] = (width, height), part, 0
                part = index
        elif tag in _MARKS:
            frame.marks[part] += 1
        frame.parts[index] = part
    return frame


def _page_area(page: Page, sizes: Mapping[int, Size]) -> float:
    """Return the area of the drawn body, else of ``SCREEN`` enlarged to the longest sides declared in pixels."""
    body = drawn_boxes(page)[0] if sizes else None
    if body is not None and body.area > 0:
        return body.area
    sides = [SCREEN[0]], [SCREEN[1]]
    for size in sizes.values():
        for side, longest in zip(size, sides, strict=True):
            if side is not None and not side.percent:
                longest.append(side.value)
    return max(sides[0]) * max(sides[1])


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


def _size_ruling(what: str, side: Length, limit: float, marks: int) -> _Ruling:
    unit = "%" if side.percent else "px"
    over = side.value > limit
    why = f"{what} {side.value:g} {unit} {'>' if over else '≤'} {limit:g} {unit} and {_describe_marks(marks)}"
    return _Ruling(over and marks > 0, why)


def _describe_marks(marks: int) -> str:
    return f"{marks or 'no'} paragraph mark{'' if marks == 1 else 's'}"


def _keep_one_topic_per_nest(frame: _Frame, rulings: dict[int, _Ruling]) -> dict[int, _Ruling]:
    """Keep one topic among nested tables: the one with the most marks, the innermost of equals."""
    own = {table: frame.marks[table] if rulings[table].topic else -1 for table in frame.sizes}
    above, below = {_OUTSIDE: -1}, dict.fromkeys((_OUTSIDE, *own), -1)
    for table, outer in frame.outer.items():
        above[table] = max(above[outer], own[table])
    for table in reversed(frame.outer):
        outer = frame.outer[table]
        below[outer] = max(below[outer], below[table], own[table])
    result = dict(rulings)
    for table, marks in own.items():
        rival = max(above[table], below[table])
        if marks >= 0 and (above[table] > marks or below[table] >= marks):
            why = f"{rulings[table].why}, but a table of the same nest has {_describe_marks(rival)}"
            result[table] = _Ruling(False, why)
    return result


def _drop_poor_parts(frame: _Frame, rulings: dict[int, _Ruling], share: float) -> dict[int, _Ruling]:
    """Keep the topics with ``share`` of the marks of the richest, and those without marks from rule 4."""
    richest = max((frame.marks[part] for part, ruling in rulings.items() if ruling.topic), default=0)
    result = dict(rulings)
    for part, ruling in rulings.items():
        if ruling.topic and 0 < frame.marks[part] < share * richest:
            why = f"{ruling.why}, under {share:.0%} of the {richest} that another part has"
            result[part] = _Ruling(False, why)
    return result
