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
    cdef Py_ssize_t start, stop
    cdef Lines lines = Lines(texts, columns, noise, formulas, preformatted, is_permalink)
    cdef list found = []
    for start, stop in parts:
        check(0 <= start <= stop <= len(texts), "the page has no such part")
        found.append(lines.text_of(start, stop))
    return found


cdef class Lines:
    """Writes lines while walking through the nodes."""

    cdef list texts
    cdef const int32_t[::1] kinds
    cdef const int32_t[::1] parents
    cdef const int32_t[::1] ends
    cdef const int32_t[::1] links
    cdef list noise
    cdef bint judged
    cdef dict shown
    cdef dict formulas
    cdef dict placed
    cdef object preformatted
    cdef object is_permalink
    cdef Py_ssize_t first  # of the part
    cdef list written
    cdef list line
    cdef list row  # the cells before, of a row that is one line
    cdef str bullet
    cdef int32_t[::1] open_ends  # of the block-level elements that are open
    cdef Py_ssize_t open_count
    cdef int32_t[::1] list_ends
    cdef Py_ssize_t list_count
    cdef Py_ssize_t row_end
    cdef Py_ssize_t item_end
    cdef Py_ssize_t last  # the last text of the line, if there is any
    cdef bint any_text
    cdef Py_UCS4 end  # its last letter
    cdef bint gap  # something was left out since then

    def __cinit__(self, list texts, tuple columns, list noise, tuple formulas, preformatted, is_permalink):
        cdef Py_ssize_t index, count = len(texts)
        cdef bint fits
        self.texts, self.noise, self.judged, self.preformatted = texts, noise, len(noise) > 0, preformatted
        self.kinds, self.parents, self.ends, self.links = columns
        self.shown, self.formulas, self.placed = formulas
        self.is_permalink = is_permalink
        check(len(noise) == count or not self.judged, "the judgement does not fit the nodes")
        fits = self.kinds.shape[0] == count and self.parents.shape[0] == count
        fits &= self.ends.shape[0] == count and self.links.shape[0] == count
        fits &= count > 0 and not self.kinds[0] & TEXT_NODE
        check(fits, "the columns of the page do not fit each other")
        for index in range(count):
            fits &= self.parents[index] < index < self.ends[index] <= count and (index == 0 or self.parents[index] >= 0)
        check(fits, "a node stands in one that is not there")
        self.open_ends = np.zeros(count + 1, np.int32)
        self.list_ends = np.zeros(count + 1, np.int32)
        self.begin(0)

    cdef begin(self, Py_ssize_t start):
        """Begin a part."""
        self.first = start
        self.written, self.line, self.row, self.bullet = [], [], [], ""
        self.open_count = self.list_count = self.row_end = self.item_end = self.last = 0
        self.any_text = self.gap = False
        self.end = " "

    cdef text_of(self, Py_ssize_t start, Py_ssize_t stop):
        """Return the text of a part. An item of a list has no bullet if it is the whole part."""
        cdef Py_ssize_t index = start
        cdef int32_t kind
        self.begin(start)
        while index < stop:
            kind = self.kinds[index]
            if self.placed and not kind & TEXT_NODE:
                self.add_placed(index, stop)
            while self.open_count > 0 and self.open_ends[self.open_count - 1] <= index:
                self.open_count -= 1
                self.end_block(self.open_ends[self.open_count])
            if kind & TEXT_NODE:
                self.add_text(index)
            elif self.formulas and index in self.formulas:
                self.add_formula(self.formulas[index])
                index = self.ends[index]
                continue
            elif kind & BLOCK:
                self.open_ends[self.open_count] = self.ends[index]
                self.open_count += 1
                if (index > start or not kind & ITEM) and self.begin_block(index, kind):
                    index = self.ends[index]
                    continue
                if self.judged and self.noise[index]:
                    index = self.ends[index]
                    continue
            elif kind & PICTURE:
                self.gap = True
            index += 1
        if self.placed:
            self.add_placed(stop, stop)
        self.end_line()
        return "\n".join(self.written)

    cdef add_placed(self, Py_ssize_t index, Py_ssize_t stop):
        """Write the formulas that stand before a node and in the part, each on a line."""
        cdef Py_ssize_t parent
        for parent, line in self.placed.get(index, ()):
            if self.first <= parent < stop:
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
        cdef str text = self.texts[index]
        cdef Py_UCS4 end = self.end
        cdef int32_t link = self.links[index]
        cdef int32_t other = self.links[self.last]
        cdef bint parted = self.gap
        cdef Py_ssize_t size = len(text)
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
            between = joint_of(end, text[0], parted, self.is_raised(index), self.is_raised(self.last))
            if between:
                self.line.append(between)
        self.any_text, self.gap, self.last, self.end = True, False, index, text[size - 1]
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
        while self.list_count > 0 and self.list_ends[self.list_count - 1] <= index:
            self.list_count -= 1
        if kind & ROW and self.is_single_line(index + 1, end):
            self.row_end = end
        elif kind & LIST:
            self.list_ends[self.list_count] = end
            self.list_count += 1
        elif kind & ITEM:
            self.bullet = "  " * min(max(self.list_count - 1, 0), MOST_INDENTS) + BULLET
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
        self.any_text = self.gap = False
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
