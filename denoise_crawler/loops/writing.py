"""The clean text of a page: block-level elements on lines of their own, tabs between the cells of a row."""

from __future__ import annotations

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check

BULLET = "- "
MOST_INDENTS = 8
MOST_OF_A_SIGN = 5  # characters
# what a node is, some of these added up
_TEXT = cython.declare(cython.longlong, 1)
_BLOCK = cython.declare(cython.longlong, 2)
_CELL = cython.declare(cython.longlong, 4)
_ROW = cython.declare(cython.longlong, 8)
_LIST = cython.declare(cython.longlong, 16)
_ITEM = cython.declare(cython.longlong, 32)
_PREFORMATTED = cython.declare(cython.longlong, 64)
_BREAK = cython.declare(cython.longlong, 128)
_PICTURE = cython.declare(cython.longlong, 256)
_SUPERSCRIPT = cython.declare(cython.longlong, 512)
_KINDS = {
    "#text": _TEXT,
    "tr": _BLOCK | _ROW,
    "li": _BLOCK | _ITEM,
    "pre": _BLOCK | _PREFORMATTED,
    "img": _PICTURE,
    "sup": _SUPERSCRIPT,
    **dict.fromkeys(("td", "th"), _BLOCK | _CELL),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), _BLOCK | _LIST),
    **dict.fromkeys(("br", "div"), _BLOCK | _BREAK),
}


def kind_of(tag, inline):
    """Return what a node with a ``tag`` is; ``inline`` tags stand inside a line."""
    return _KINDS.get(tag, 0 if tag in inline else _BLOCK)


@cython.ccall
def joint(
    end: cython.Py_UCS4, begin: cython.Py_UCS4, parted: cython.bint, raised: cython.bint, was_raised: cython.bint
):
    """Return what to write between two texts of a line: mostly nothing.

    A space separates words with something left out, a picture or the border of two links between them. ``^``
    separates a number from its superscript number.

    Args:
        end: The last letter of the first text.
        begin: The first letter of the second one.
        parted: Whether something stands between them.
        raised: Whether the second text is a superscript.
        was_raised: Whether the first one is.

    """
    if not (begin.isalnum() and end.isalnum()):
        return ""
    if raised and not was_raised and end.isdecimal() and begin.isdecimal():
        return "^"
    return " " if parted and (is_spaced(end) or is_spaced(begin)) else ""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_spaced(letter: cython.Py_UCS4) -> cython.bint:
    """Tell whether a letter is of a script with spaces between its words."""
    return letter < "\u2e80"


def texts_of(texts: list, columns: tuple, noise: list, formulas: tuple, preformatted, is_permalink, parts: list):
    """Return the clean texts of parts of a page.

    Args:
        texts: The text of each node.
        columns: By node what it is, its parent, the end of its subtree and the link that it stands in.
        noise: Whether each node is noise; nothing if all is kept.
        formulas: By text what is written in its place; by element the formula in its place, with whether it has a
            line of its own, None for nothing; by node formulas before it, each with the element that it stands in.
        preformatted: Returns the lines of an element that is written as it is.
        is_permalink: Tells whether a link under a sign leads to itself; the sign is left out then.
        parts: Subtrees, as pairs of a node and the end.

    Raises:
        ValueError: The columns do not fit each other, or the page has no such part.

    """
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    lines = _Lines(texts, columns, noise, formulas, preformatted, is_permalink)
    found = []
    for start, stop in parts:
        check(0 <= start <= stop <= len(texts), "the page has no such part")
        found.append(lines.text_of(start, stop))
    return found


@cython.cclass
class _Lines:
    """Writes lines while walking through the nodes."""

    texts: list
    kinds: cython.const[cython.int][::1]
    parents: cython.const[cython.int][::1]
    ends: cython.const[cython.int][::1]
    links: cython.const[cython.int][::1]
    noise: list
    judged: cython.bint
    shown: dict
    formulas: dict
    placed: dict
    preformatted: object
    is_permalink: object
    first: cython.Py_ssize_t  # of the part
    written: list
    line: list
    row: list  # the cells before, of a row that is one line
    bullet: str
    open_ends: cython.int[::1]  # of the block-level elements that are open
    open_count: cython.Py_ssize_t
    list_ends: cython.int[::1]
    list_count: cython.Py_ssize_t
    row_end: cython.Py_ssize_t
    item_end: cython.Py_ssize_t
    last: cython.Py_ssize_t  # the last text of the line, if there is any
    any_text: cython.bint
    end: cython.Py_UCS4  # its last letter
    gap: cython.bint  # something was left out since then

    def __init__(self, texts: list, columns: tuple, noise: list, formulas: tuple, preformatted, is_permalink):
        count: cython.Py_ssize_t = len(texts)
        index: cython.Py_ssize_t
        self.texts, self.noise, self.judged, self.preformatted = texts, noise, len(noise) > 0, preformatted
        self.kinds, self.parents, self.ends, self.links = columns
        parents: cython.const[cython.int][::1] = self.parents
        ends: cython.const[cython.int][::1] = self.ends
        self.shown, self.formulas, self.placed = formulas
        self.is_permalink = is_permalink
        check(len(noise) == count or not self.judged, "the judgement does not fit the nodes")
        fits: cython.bint = self.kinds.shape[0] == count and self.parents.shape[0] == count
        fits &= self.ends.shape[0] == count and self.links.shape[0] == count
        fits &= count > 0 and not self.kinds[0] & _TEXT
        check(fits, "the columns of the page do not fit each other")
        for index in range(count):
            fits &= parents[index] < index < ends[index] <= count and (index == 0 or parents[index] >= 0)
        check(fits, "a node stands in one that is not there")
        self.open_ends = memoryview(bytearray(4 * count + 4)).cast("i")
        self.list_ends = memoryview(bytearray(4 * count + 4)).cast("i")
        self.begin(0)

    @cython.cfunc
    def begin(self, start: cython.Py_ssize_t):
        """Begin a part."""
        self.first = start
        self.written, self.line, self.row, self.bullet = [], [], [], ""
        self.open_count = self.list_count = self.row_end = self.item_end = self.last = 0
        self.any_text = self.gap = False
        self.end = " "

    @cython.cfunc
    def text_of(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t):
        """Return the text of a part. An item of a list has no bullet if it is the whole part."""
        index: cython.Py_ssize_t = start
        kind: cython.longlong
        self.begin(start)
        while index < stop:
            kind = self.kinds[index]
            if self.placed and not kind & _TEXT:
                self.add_placed(index, stop)
            while self.open_count > 0 and self.open_ends[self.open_count - 1] <= index:
                self.open_count -= 1
                self.end_block(self.open_ends[self.open_count])
            if kind & _TEXT:
                self.add_text(index)
            elif self.formulas and index in self.formulas:
                self.add_formula(self.formulas[index])
                index = self.ends[index]
                continue
            elif kind & _BLOCK:
                self.open_ends[self.open_count] = self.ends[index]
                self.open_count += 1
                if (index > start or not kind & _ITEM) and self.begin_block(index, kind):
                    index = self.ends[index]
                    continue
                if self.judged and self.noise[index]:
                    index = self.ends[index]
                    continue
            elif kind & _PICTURE:
                self.gap = True
            index += 1
        if self.placed:
            self.add_placed(stop, stop)
        self.end_line()
        return "\n".join(self.written)

    @cython.cfunc
    def add_placed(self, index: cython.Py_ssize_t, stop: cython.Py_ssize_t):
        """Write the formulas that stand before a node and in the part, each on a line."""
        parent: cython.Py_ssize_t
        for parent, line in self.placed.get(index, ()):
            if self.first <= parent < stop:
                self.end_line()
                self.write(line)

    @cython.cfunc
    def add_formula(self, formula):
        if formula is not None:
            self.gap = True
            shown, is_line = formula
            if is_line:
                self.end_line()
                self.write(shown)
            else:
                self.line.append(shown)

    @cython.cfunc
    def add_text(self, index: cython.Py_ssize_t):
        text: str = self.texts[index]
        end: cython.Py_UCS4 = self.end
        link: cython.int = self.links[index]
        other: cython.int = self.links[self.last]
        parted: cython.bint = self.gap
        size: cython.Py_ssize_t = len(text)
        if self.judged and self.noise[index]:
            self.gap = True
            return
        if size == 0:
            return
        if link >= 0 and size <= MOST_OF_A_SIGN and not text[0].isalnum() and self.is_permalink(link):
            self.gap = True
            return
        if self.any_text:
            parted = parted or (link >= 0 and other >= 0 and other != link)
            between = joint(end, text[0], parted, self.is_raised(index), self.is_raised(self.last))
            if between:
                self.line.append(between)
        self.any_text, self.gap, self.last, self.end = True, False, index, text[size - 1]
        self.line.append(self.shown.get(index, text) if self.shown else text)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def is_raised(self, text: cython.Py_ssize_t) -> cython.bint:
        return self.kinds[self.parents[text]] & _SUPERSCRIPT != 0

    @cython.cfunc
    def begin_block(self, index: cython.Py_ssize_t, kind: cython.longlong):
        """Open a block-level element; return whether all of it is written."""
        end: cython.int = self.ends[index]
        if kind & _CELL and index < self.row_end:
            self.end_cell()
            return False
        self.end_line()
        while self.list_count > 0 and self.list_ends[self.list_count - 1] <= index:
            self.list_count -= 1
        if kind & _ROW and self.is_single_line(index + 1, end):
            self.row_end = end
        elif kind & _LIST:
            self.list_ends[self.list_count] = end
            self.list_count += 1
        elif kind & _ITEM:
            self.bullet = "  " * min(max(self.list_count - 1, 0), MOST_INDENTS) + BULLET
            self.item_end = end
        elif kind & _PREFORMATTED and self.is_preformatted(index + 1, end):
            self.write(self.preformatted(index))
            return True
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_single_line(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Tell whether the cells of a row hold only inline nodes."""
        index: cython.Py_ssize_t
        for index in range(start, end):
            if self.kinds[index] & _BLOCK and not self.kinds[index] & _CELL:
                return False
        return True

    @cython.cfunc
    def is_preformatted(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t):
        """Tell whether an element can be written as it is: it holds no noise and no block."""
        index: cython.Py_ssize_t
        for index in range(start, end):
            if self.kinds[index] & _BLOCK and not self.kinds[index] & _BREAK:
                return False
            if self.judged and self.kinds[index] & _TEXT and self.noise[index]:
                return False
        return True

    @cython.cfunc
    def end_block(self, end: cython.Py_ssize_t):
        if end < self.row_end:
            self.end_cell()
        else:
            self.end_line()
        if end >= self.item_end:
            self.bullet = ""  # of an item without text

    @cython.cfunc
    def end_cell(self):
        self.any_text = self.gap = False
        if self.line:
            cell = " ".join("".join(self.line).split())
            if cell:
                self.row.append(cell)
            self.line = []

    @cython.cfunc
    def end_line(self):
        self.end_cell()
        if self.row:
            self.write("\t".join(self.row))
            self.row = []

    @cython.cfunc
    def write(self, text):
        if text:
            self.written.append(self.bullet + text)
            self.bullet = ""
