# cython: language_level=3
"""The clean text of a page without formulas, as ``output.clean_text`` writes it."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from denoise_crawler.core.nodes cimport TEXT, Columns, Node

cdef enum:
    BLOCK = 1
    CELL = 2
    ROW = 4
    LIST = 8
    ITEM = 16
    PREFORMATTED = 32
    PICTURE = 64
    SUPERSCRIPT = 128
    ANNOTATION = 256
    PARENTHESIS = 512
    BREAK = 1024

cdef dict KINDS = {
    "tr": ROW, "li": ITEM, "pre": PREFORMATTED, "img": PICTURE,
    "sup": SUPERSCRIPT, "rt": ANNOTATION, "rp": PARENTHESIS,
}


cdef class Form:
    """What clean text looks like; made once in a process.

    Args:
        inline: The tags of what stands inside a line.
        cells: The tags of a table's cells.
        lists: The tags of lists.
        breaks: The tags that may stand in lines that are written as they are.
        preformatted: Returns the lines of an element that are written as they are.
        first_unspaced: The first letter of the scripts without spaces between words.
        bullet: What stands before an item of a list.
        most_indents: How many lists around another indent it.
    """

    cdef frozenset inline, cells, lists, breaks
    cdef object preformatted
    cdef Py_UCS4 first_unspaced
    cdef str bullet
    cdef Py_ssize_t most_indents

    def __cinit__(
        self,
        frozenset inline not None,
        frozenset cells not None,
        frozenset lists not None,
        frozenset breaks not None,
        preformatted,
        Py_UCS4 first_unspaced,
        str bullet not None,
        Py_ssize_t most_indents,
    ):
        self.inline, self.cells, self.lists, self.breaks = inline, cells, lists, breaks
        self.preformatted, self.first_unspaced = preformatted, first_unspaced
        self.bullet, self.most_indents = bullet, most_indents

    cdef int kind_of(self, str name) except -1:
        cdef int kind = KINDS.get(name, 0)
        if name not in self.inline:
            kind |= BLOCK
        if name in self.cells:
            kind |= CELL
        if name in self.lists:
            kind |= LIST
        if name in self.breaks:
            kind |= BREAK
        return kind

    def text_of(self, Columns columns not None, list noise, part not None):
        """Return the clean text of a subtree.

        Args:
            columns: The nodes of the page.
            noise: Whether each node is noise; None if all is kept.
            part: The subtree, a range of nodes.
        """
        cdef Py_ssize_t start = part.start, stop = part.stop, index
        cdef _Lines lines
        cdef int32_t* kinds
        if noise is not None and len(noise) != columns.count:
            raise ValueError("the judgement does not fit the nodes")
        if not 0 <= start <= stop <= columns.count:
            raise ValueError("the page has no such part")
        kinds = <int32_t*>malloc(len(columns.names) * sizeof(int32_t))
        try:
            if kinds == NULL:
                raise MemoryError
            for index in range(len(columns.names)):
                kinds[index] = self.kind_of(columns.names[index])
            lines = _Lines(self, columns, noise, stop - start)
            lines.kinds = kinds
            lines.write_part(start, stop)
            return "\n".join(lines.written)
        finally:
            free(kinds)


cdef class _Lines:
    """Writes lines while walking through the nodes."""

    cdef Form form
    cdef Columns columns
    cdef list noise, written, line, row
    cdef str bullet
    cdef int32_t* kinds  # by tag
    cdef int32_t* blocks  # ends of the open block-level elements
    cdef int32_t* lists  # ends of the lists that are open
    cdef Py_ssize_t open_blocks, open_lists, row_end, item_end
    cdef Py_ssize_t last  # the last text of the line; -1 without one
    cdef Py_UCS4 end  # its last letter
    cdef bint gap  # something was left out since then

    def __cinit__(self, Form form, Columns columns, list noise, Py_ssize_t size):
        self.form, self.columns, self.noise = form, columns, noise
        self.written, self.line, self.row, self.bullet, self.last = [], [], [], "", -1
        self.blocks = <int32_t*>malloc((size + 1) * sizeof(int32_t))
        self.lists = <int32_t*>malloc((size + 1) * sizeof(int32_t))
        if self.blocks == NULL or self.lists == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.blocks)
        free(self.lists)

    cdef int write_part(self, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t index = start
        cdef Py_ssize_t next_one
        cdef Node* node
        cdef int kind
        while index < stop:
            while self.open_blocks and self.blocks[self.open_blocks - 1] <= index:
                self.open_blocks -= 1
                self.end_block(self.blocks[self.open_blocks])
            node = &self.columns.nodes[index]
            next_one = index + 1
            if node.tag == TEXT:
                self.add_text(index, node)
            else:
                kind = self.kinds[node.tag]
                if kind & BLOCK:
                    self.blocks[self.open_blocks] = node.end
                    self.open_blocks += 1
                    if not kind & ITEM or index > start:
                        next_one = max(next_one, self.begin_block(index, node.end, kind))
                    if self.noise is not None and self.noise[index]:
                        next_one = max(next_one, node.end)
                elif kind & PICTURE:
                    self.gap = True
            index = next_one
        self.end_line()
        return 0

    cdef int add_text(self, Py_ssize_t index, Node* node) except -1:
        cdef str text
        if self.noise is not None and self.noise[index]:
            self.gap = True
            return 0
        text = self.columns.texts[index]
        joint = self.between(index, node, text)
        if joint is not None:
            self.line.append(joint)
        if self.is_bare_annotation(node.parent):
            text = f"({text.strip()})"
        self.line.append(text)
        return 0

    cdef bint is_bare_annotation(self, Py_ssize_t parent) noexcept:
        """Tell whether an element is a ruby annotation without parentheses."""
        cdef Py_ssize_t before
        if not self.kinds[self.columns.nodes[parent].tag] & ANNOTATION:
            return False
        before = self.columns.nodes[parent - 1].parent
        if before < 0:  # as a list counts from its end
            before += self.columns.count
        return not self.kinds[self.columns.nodes[before].tag] & PARENTHESIS

    cdef str between(self, Py_ssize_t index, Node* node, str text):
        """Return what to write between the last text of the line and a text: see ``output.inline``."""
        cdef Py_ssize_t last = self.last
        cdef Py_UCS4 begin = text[0], end = self.end, first_unspaced = self.form.first_unspaced
        cdef bint gap = self.gap
        cdef int32_t link, other
        self.gap, self.last, self.end = False, index, text[len(text) - 1]
        if last < 0 or not (begin.isalnum() and end.isalnum()):
            return None
        if end.isdecimal() and begin.isdecimal() and self.is_superscript(index) and not self.is_superscript(last):
            return "^"
        link, other = node.link, self.columns.nodes[last].link
        if (gap or (link >= 0 and 0 <= other != link)) and (end < first_unspaced or begin < first_unspaced):
            return " "
        return None

    cdef bint is_superscript(self, Py_ssize_t index) noexcept:
        return self.kinds[self.columns.nodes[self.columns.nodes[index].parent].tag] & SUPERSCRIPT != 0

    cdef Py_ssize_t begin_block(self, Py_ssize_t index, Py_ssize_t end, int kind) except -1:
        """Open a block-level element; return the end of the nodes that are now written."""
        if kind & CELL and index < self.row_end:
            self.end_cell()
            return 0
        self.end_line()
        while self.open_lists and self.lists[self.open_lists - 1] <= index:
            self.open_lists -= 1
        if kind & ROW and self.is_single_line_row(index, end):
            self.row_end = end
        elif kind & LIST:
            self.lists[self.open_lists] = <int32_t>end
            self.open_lists += 1
        elif kind & ITEM:
            self.bullet = "  " * min(self.open_lists - 1, self.form.most_indents) + self.form.bullet
            self.item_end = end
        elif kind & PREFORMATTED and self.is_preformatted(index, end):
            self.write(self.form.preformatted(self.columns[index]))
            return end
        return 0

    cdef bint is_single_line_row(self, Py_ssize_t row, Py_ssize_t end) noexcept:
        cdef Py_ssize_t index
        cdef int kind
        for index in range(row + 1, end):
            kind = self.kinds[self.columns.nodes[index].tag]
            if kind & BLOCK and not kind & CELL:
                return False
        return True

    cdef bint is_preformatted(self, Py_ssize_t above, Py_ssize_t end) except -1:
        cdef Py_ssize_t index
        cdef int kind
        for index in range(above + 1, end):
            kind = self.kinds[self.columns.nodes[index].tag]
            if kind & BLOCK and not kind & BREAK:
                return False
            if self.noise is not None and self.columns.nodes[index].tag == TEXT and self.noise[index]:
                return False
        return True

    cdef int end_block(self, Py_ssize_t end) except -1:
        if end < self.row_end:
            self.end_cell()
        else:
            self.end_line()
        if end >= self.item_end:
            self.bullet = ""  # of an item without text
        return 0

    cdef int end_cell(self) except -1:
        cdef str cell
        self.last, self.gap = -1, False
        if not self.line:
            return 0
        cell = " ".join("".join(self.line).split())
        if cell:
            self.row.append(cell)
        self.line = []
        return 0

    cdef int end_line(self) except -1:
        self.end_cell()
        if self.row:
            self.write("\t".join(self.row))
            self.row = []
        return 0

    cdef int write(self, str text) except -1:
        if text:
            self.written.append(self.bullet + text)
            self.bullet = ""
        return 0
