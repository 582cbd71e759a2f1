"""The clean text of a page: ``reference_text.py``. Block-level elements are lines, tabs stand between the cells of a row."""

cdef int32_t TEXT_NODE = shared.TEXT_NODE, BLOCK = shared.BLOCK, CELL = shared.CELL, ROW = shared.ROW
cdef int32_t LIST = shared.LIST, ITEM = shared.ITEM, PREFORMATTED = shared.PREFORMATTED, BREAK = shared.BREAK
cdef int32_t PICTURE = shared.PICTURE, SUPERSCRIPT = shared.SUPERSCRIPT
cdef str BULLET = shared.BULLET
cdef Py_ssize_t MOST_INDENTS = shared.MOST_INDENTS, MOST_OF_A_SIGN = shared.MOST_OF_A_SIGN


cdef str joint_of(Py_UCS4 end, Py_UCS4 begin, bint parted, bint raised, bint was_raised):
    """Return what to write between two texts of a line, as ``joint`` of ``reference_text`` does."""
    if not (begin.isalnum() and end.isalnum()):
        return ""
    if raised and not was_raised and end.isdecimal() and begin.isdecimal():
        return "^"
    return " " if parted and (end < 0x2E80 or begin < 0x2E80) else ""


def texts_of(
    list texts not None, tuple columns not None, list noise not None, tuple formulas not None, preformatted, is_permalink,
    parts,
):
    """Return the clean texts of parts of a page."""
    cdef const int32_t[::1] kinds, parents, ends, links
    cdef Py_ssize_t index, start, stop, count = len(texts)
    cdef list found = []
    kinds, parents, ends, links = columns
    cdef bint fits = kinds.shape[0] == count and parents.shape[0] == count and ends.shape[0] == count
    check(len(noise) in (0, count), "the judgement does not fit the nodes")
    check(fits and links.shape[0] == count > 0 and not kinds[0] & TEXT_NODE, "the columns of the page do not fit each other")
    for index in range(count):
        fits &= parents[index] < index < ends[index] <= count and (index == 0 or parents[index] >= 0)
    check(fits, "a node stands in one that is not there")
    for start, stop in parts:
        check(0 <= start <= stop <= count, "the page has no such part")
        found.append(Lines(texts, columns, noise, formulas, preformatted, is_permalink).text_of(start, stop))
    return found


cdef class Lines:
    """Writes the lines of a part while walking through its nodes."""

    cdef const int32_t[::1] kinds, parents, ends, links
    cdef dict shown, formulas, placed
    cdef object preformatted, is_permalink
    cdef list texts, noise, written, line
    cdef list row  # the cells before, of a row that is one line
    cdef list open, lists  # the ends of the block-level elements that are open; those of lists
    cdef str bullet
    cdef Py_ssize_t row_end, item_end
    cdef Py_ssize_t last  # the last text of the line, -1 without one
    cdef bint judged, gap  # something was left out since then

    def __cinit__(self, list texts, tuple columns, list noise, tuple formulas, preformatted, is_permalink):
        self.texts, self.noise, self.judged, self.preformatted = texts, noise, len(noise) > 0, preformatted
        self.kinds, self.parents, self.ends, self.links = columns
        self.shown, self.formulas, self.placed = formulas
        self.is_permalink, self.last, self.bullet = is_permalink, -1, ""
        self.written, self.line, self.row, self.open, self.lists = [], [], [], [], []

    cdef text_of(self, Py_ssize_t start, Py_ssize_t stop):
        """Return the text of a part. An item of a list has no bullet if it is the whole part."""
        cdef Py_ssize_t index = start, last_open = stop  # the end of the element that was opened last
        cdef int32_t kind
        cdef bint is_whole
        while index < stop:
            kind, is_whole = self.kinds[index], False
            if self.placed and not kind & TEXT_NODE:
                self.add_placed(index, start, stop)
            while self.open and last_open <= index:
                self.end_block(self.open.pop())
                last_open = self.open[len(self.open) - 1] if self.open else stop
            if kind & TEXT_NODE:
                self.add_text(index)
            elif self.formulas and index in self.formulas:
                self.add_formula(self.formulas[index])
                is_whole = True
            elif kind & BLOCK:
                last_open = self.ends[index]
                self.open.append(last_open)
                is_whole = (index > start or not kind & ITEM) and self.begin_block(index, kind)
                is_whole = is_whole or (self.judged and self.noise[index])
            elif kind & PICTURE:
                self.gap = True
            index = self.ends[index] if is_whole else index + 1
        if self.placed:
            self.add_placed(stop, start, stop)
        self.end_line()
        return "\n".join(self.written)

    cdef add_placed(self, Py_ssize_t index, Py_ssize_t start, Py_ssize_t stop):
        """Write the formulas that stand before a node and in the part, each on a line."""
        cdef Py_ssize_t parent
        for parent, line in self.placed.get(index, ()):
            if start <= parent < stop:
                self.end_line()
                self.write(line)

    cdef add_formula(self, formula):
        if formula is not None:
            self.gap = True
            shown, is_line = formula
            if is_line:
                self.end_line()
                self.write(shown)
            else:
                self.line.append(shown)

    cdef add_text(self, Py_ssize_t index):
        cdef str before, text = self.texts[index]
        cdef int32_t other, link = self.links[index]
        cdef Py_ssize_t size = len(text)
        if self.judged and self.noise[index]:
            self.gap = True
            return
        if size == 0:
            return
        if link >= 0 and size <= MOST_OF_A_SIGN and not text[0].isalnum() and self.is_permalink(link):
            self.gap = True
            return
        if self.last >= 0:
            before, other = self.texts[self.last], self.links[self.last]
            self.line.append(joint_of(
                before[len(before) - 1], text[0], self.gap or (link >= 0 and other >= 0 and other != link),
                self.is_raised(index), self.is_raised(self.last),
            ))
        self.gap, self.last = False, index
        self.line.append(self.shown.get(index, text) if self.shown else text)

    cdef inline bint is_raised(self, Py_ssize_t text) noexcept:
        return self.kinds[self.parents[text]] & SUPERSCRIPT != 0

    cdef begin_block(self, Py_ssize_t index, int32_t kind):
        """Open a block-level element; return whether all of it is written."""
        cdef int32_t end = self.ends[index]
        if kind & CELL and index < self.row_end:
            self.end_cell()
            return False
        self.end_line()
        while self.lists and self.lists[len(self.lists) - 1] <= index:
            self.lists.pop()
        if kind & ROW and self.is_single_line(index + 1, end):
            self.row_end = end
        elif kind & LIST:
            self.lists.append(end)
        elif kind & ITEM:
            self.bullet = "  " * min(max(len(self.lists) - 1, 0), MOST_INDENTS) + BULLET
            self.item_end = end
        elif kind & PREFORMATTED and self.is_preformatted(index + 1, end):
            self.write(self.preformatted(index))
            return True
        return False

    cdef bint is_single_line(self, Py_ssize_t start, Py_ssize_t end) noexcept:
        """Return True if the cells of a row hold only inline nodes."""
        cdef Py_ssize_t index
        for index in range(start, end):
            if self.kinds[index] & BLOCK and not self.kinds[index] & CELL:
                return False
        return True

    cdef is_preformatted(self, Py_ssize_t start, Py_ssize_t end):
        """Return True if an element can be written as it is: it holds no noise and no block."""
        cdef Py_ssize_t index
        for index in range(start, end):
            if self.kinds[index] & BLOCK and not self.kinds[index] & BREAK:
                return False
            if self.judged and self.kinds[index] & TEXT_NODE and self.noise[index]:
                return False
        return True

    cdef end_block(self, Py_ssize_t end):
        if end < self.row_end:
            self.end_cell()
        else:
            self.end_line()
        if end >= self.item_end:
            self.bullet = ""  # of an item without text

    cdef end_cell(self):
        self.last, self.gap = -1, False
        if self.line:
            cell = " ".join("".join(self.line).split())
            if cell:
                self.row.append(cell)
            self.line = []

    cdef end_line(self):
        self.end_cell()
        if self.row:
            self.write("\t".join(self.row))
            self.row = []

    cdef write(self, text):
        if text:
            self.written.append(self.bullet + text)
            self.bullet = ""
