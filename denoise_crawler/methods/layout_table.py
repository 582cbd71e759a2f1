"""``layout_table``: the topic stands in the large tables with paragraphs. Needs one page only.

Shi, Lin & Yang, *An Approach to Eliminate Noise Based on Framework of Web Pages and Rules* (on CWT200G, pages
built from tables). The rules are numbered as in ``docs/methods.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.page.geometry import Length, declared, drawn_boxes
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from denoise_crawler.page import Nodes, Page

MIN_WIDTH = 300.0
MIN_WIDTH_PERCENT = 60.0
MIN_HEIGHT_PERCENT = 50.0
MAX_ASPECT = 5.0
MIN_AREA_SHARE = 0.3
MIN_MARKS_SHARE = 0.2
SCREEN = (800.0, 600.0)
_OUTSIDE = 0  # the part of the page outside all sized tables: it is the body's
_MARKS = frozenset({"p", "br"})

Size: TypeAlias = "tuple[Length | None, Length | None]"


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """A page cut into parts: one for each sized table without those inside it, one for all that stands outside.

    ``parts[i]`` is the table node i belongs to, or ``_OUTSIDE``. ``marks`` counts each part's own ``p`` and
    ``br``; ``outer`` is the part that a table stands in. Both are in document order.
    """

    parts: list[int]
    marks: dict[int, int]
    sizes: dict[int, Size]
    outer: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Ruling:
    """What a rule says of one part: whether it may be the topic, and the numbers that decided."""

    topic: bool
    why: str


class LayoutTable(Method):
    """Content is the text of the tables that are large and hold paragraphs, and the paragraphs outside tables.

    A table is judged by its declared width and height: wider than ``min_width`` CSS pixels (δ1) or
    ``min_width_percent`` (δ2), higher than ``min_height_percent`` (δ3), or its long side at most ``max_aspect``
    times the short one; without paragraphs it must fill ``min_area_share`` of the page. A part with less than
    ``min_marks_share`` of the ``p`` and ``br`` of the richest is noise. A table without any size is no part of the
    frame and goes with what it stands in. Raises :class:`ValueError` for a parameter that is out of range.
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
        self.min_width = _checked("min_width", min_width, 0.0)
        self.min_width_percent = _checked("min_width_percent", min_width_percent, 0.0, 100.0)
        self.min_height_percent = _checked("min_height_percent", min_height_percent, 0.0, 100.0)
        self.max_aspect = _checked("max_aspect", max_aspect, 1.0)
        self.min_area_share = _checked("min_area_share", min_area_share, 0.0, 1.0)
        self.min_marks_share = _checked("min_marks_share", min_marks_share, 0.0, 1.0)

    def judge(self, page: Page) -> Judgement:
        """Mark what stands in no part that is the topic."""
        nodes = page.nodes
        frame = _frame(nodes)
        rulings = self._rulings(page, frame)
        paragraphs = _paragraphs(nodes)
        keep = [
            rulings[part].topic and (part != _OUTSIDE or paragraph)
            for part, paragraph in zip(frame.parts, paragraphs, strict=True)
        ]
        noise = _without_content(nodes, keep)

        def reason(index: int) -> str:
            part = frame.parts[index]
            if rulings[part].topic and part == _OUTSIDE and not keep[index]:
                why = "rule 5: outside the tables and no paragraph text"
            else:
                why = rulings[part].why
            return why if keep[index] or noise[index] else f"{why}; holds what is kept"

        return Judgement(noise, [float(frame.marks[part]) for part in frame.parts], reason)

    def _rulings(self, page: Page, frame: _Frame) -> dict[int, _Ruling]:
        """Return what the rules and then the number of marks say of each part."""
        area = _page_area(page, frame.sizes)
        rulings = {_OUTSIDE: _paragraph_ruling(frame.marks[_OUTSIDE])}
        for table, size in frame.sizes.items():
            rulings[table] = self._table_ruling(size, frame.marks[table], area)
        return _rich(frame, _one_level(frame, rulings), self.min_marks_share)

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
            return _Ruling(small, f"{why} and {_counted(marks)}")
        share = width * height / page_area
        large = share >= self.min_area_share
        compared = f"{share:.0%} of the page's area {'≥' if large else '<'} {self.min_area_share:.0%}"
        return _Ruling(large, f"{why}, {_counted(0)} and {compared}")


def _checked(name: str, value: float, low: float, high: float = inf) -> float:
    if not low <= value <= high or value == inf:
        allowed = f"be a number of at least {low:g}" if high == inf else f"lie between {low:g} and {high:g}"
        raise ValueError(f"{name} must {allowed}, not {value}")
    return float(value)


def _frame(nodes: Nodes) -> _Frame:
    frame = _Frame([_OUTSIDE] * len(nodes), {_OUTSIDE: 0}, {}, {})
    for index in range(1, len(nodes)):
        tag, part = nodes.tags[index], frame.parts[nodes.parents[index]]
        if tag == "table":
            element = nodes.elements[index]
            width, height = declared(element, "width"), declared(element, "height")
            if width is not None or height is not None:
                frame.sizes[index], frame.outer[index], frame.marks[index] = (width, height), part, 0
                part = index
        elif tag in _MARKS:
            frame.marks[part] += 1
        frame.parts[index] = part
    return frame


def _page_area(page: Page, sizes: Mapping[int, Size]) -> float:
    """Return the area of the drawn body, else of ``SCREEN`` grown to the longest sides declared in pixels."""
    body = drawn_boxes(page)[0] if sizes else None
    if body is not None and body.area > 0:
        return body.area
    sides = [SCREEN[0]], [SCREEN[1]]
    for size in sizes.values():
        for side, found in zip(size, sides, strict=True):
            if side is not None and not side.percent:
                found.append(side.value)
    return max(sides[0]) * max(sides[1])


def _paragraphs(nodes: Nodes) -> list[bool]:
    """Tell of each node whether it is paragraph text: in a ``p``, or in a line of a block that ``br`` breaks."""
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


def _paragraph_ruling(marks: int) -> _Ruling:
    return _Ruling(marks > 0, f"rule 5: outside the tables, {_counted(marks)}")


def _size_ruling(what: str, side: Length, limit: float, marks: int) -> _Ruling:
    unit = "%" if side.percent else "px"
    over = side.value > limit
    why = f"{what} {side.value:g} {unit} {'>' if over else '≤'} {limit:g} {unit} and {_counted(marks)}"
    return _Ruling(over and marks > 0, why)


def _counted(marks: int) -> str:
    return f"{marks or 'no'} paragraph mark{'' if marks == 1 else 's'}"


def _one_level(frame: _Frame, rulings: dict[int, _Ruling]) -> dict[int, _Ruling]:
    """Leave one topic on each way down a nest: the table with the most marks, the innermost of equals."""
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
            why = f"{rulings[table].why}, but a table of the same nest has {_counted(rival)}"
            result[table] = _Ruling(False, why)
    return result


def _rich(frame: _Frame, rulings: dict[int, _Ruling], share: float) -> dict[int, _Ruling]:
    """Leave the topics with ``share`` of the marks of the richest, and those that rule 4 takes without any."""
    richest = max((frame.marks[part] for part, ruling in rulings.items() if ruling.topic), default=0)
    result = dict(rulings)
    for part, ruling in rulings.items():
        if ruling.topic and 0 < frame.marks[part] < share * richest:
            why = f"{ruling.why}, under {share:.0%} of the {richest} that another part has"
            result[part] = _Ruling(False, why)
    return result


def _without_content(nodes: Nodes, keep: list[bool]) -> list[bool]:
    """Mark the nodes that are not kept and hold nothing that is."""
    holding = list(keep)
    for index in range(len(nodes) - 1, 0, -1):
        if holding[index]:
            holding[nodes.parents[index]] = True
    return [not held for held in holding]
