# cython: language_level=3, boundscheck=True, wraparound=True, initializedcheck=True
"""The tree that libxml2 made, read once: its nodes, its attributes, and what the page declares.

``page.nodes`` and ``page.self_description`` read the same in Python.
"""

from array import array

from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset, strcmp, strlen
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport (
    _Document,
    _Element,
    attributeValue,
    elementFactory,
    findChildForwards,
    import_lxml__etree,
    namespacedName,
    nextElement,
    tailOf,
    textOf,
)
from lxml.includes.tree cimport const_xmlChar

import_lxml__etree()

include "nodes.pxi"
include "attributes.pxi"


# --- the walk, as ``page.nodes`` walks

cdef enum:
    SKIPPED = 1
    OPAQUE = 2
    BODY = 4
    LINK = 8
    NOSCRIPT = 16
    BLOCK = 32
    BUTTON = 64
    CELL = 128
    HEADING = 256
    STEPS = 16
    CACHED_TAGS = 1024


cdef class _Runs:
    """The run of text that is open, and those that are longer than one text."""

    cdef Columns columns
    cdef Py_ssize_t last  # the last run of text; 0 without one
    cdef bint gap  # white space followed the last text
    cdef dict pending  # by run, the texts to append

    def __cinit__(self, Columns columns):
        self.columns, self.pending = columns, {}

    cdef int add(self, Py_ssize_t parent, str text) except -1:
        """Add a text to node ``parent``."""
        cdef Py_ssize_t index
        cdef Py_UCS4 letter
        cdef Node* above
        for letter in text:
            if not letter.isspace():
                break
        else:
            self.gap = True
            return 0
        if self.gap:
            self.add_space()
        index = self.columns.count
        if self.last and self.last == index - 1 and self.columns.nodes[self.last].parent == parent:
            self.pending.setdefault(self.last, []).append(text)
            return 0
        self.last = index
        above = &self.columns.nodes[parent]
        self.columns.add_node(TEXT, parent, above.link, above.place)
        self.columns.texts.append(text)
        return 0

    cdef int add_from(self, Py_ssize_t parent, tree.xmlNode* node, tree.xmlNode* first, bint is_tail) except -1:
        """Add the text in ``node``, or its tail, to node ``parent``; ``first`` is what the text begins with."""
        cdef str text
        if is_blank(first):
            self.gap = True
            return 0
        text = tailOf(node) if is_tail else textOf(node)
        return self.add(parent, text) if text else 0

    cdef int add_space(self) except -1:
        """End the last run with a space."""
        cdef str text
        self.gap = False
        if self.last in self.pending:
            text = self.pending[self.last][-1]
            if not text[len(text) - 1].isspace():
                self.pending[self.last].append(" ")
        elif self.last:
            text = self.columns.texts[self.last]
            if not text[len(text) - 1].isspace():
                self.columns.texts[self.last] = text + " "
        return 0

    cdef int close(self) except -1:
        """Finish the runs."""
        if self.gap:
            self.add_space()
        for index, parts in self.pending.items():
            self.columns.texts[index] += "".join(parts)
        return 0


cdef class _Tags:
    """The tags of a document and what each means; libxml2 keeps each name once."""

    cdef const_xmlChar* places[CACHED_TAGS]
    cdef Py_ssize_t numbers[CACHED_TAGS]
    cdef int cached[CACHED_TAGS]  # kinds
    cdef int kind  # of the tag whose number was asked for last
    cdef list names, kinds
    cdef dict known
    cdef frozenset skipped, opaque, blocks, headings

    def __cinit__(self, list names, frozenset skipped, frozenset opaque, frozenset blocks, frozenset headings):
        memset(self.places, 0, sizeof(self.places))
        self.names, self.kinds, self.known = names, [0] * len(names), {}
        self.skipped, self.opaque, self.blocks, self.headings = skipped, opaque, blocks, headings

    cdef Py_ssize_t number(self, tree.xmlNode* node) except -1:
        """Return the number of the tag of an element, and note its kind."""
        cdef size_t place = (<size_t>node.name >> 3) % CACHED_TAGS
        if self.places[place] == node.name and node.ns == NULL:
            self.kind = self.cached[place]
            return self.numbers[place]
        cdef str name = namespacedName(node)
        number = self.known.get(name)
        if number is None:
            number = self.known[name] = len(self.names)
            self.names.append(name)
            self.kinds.append(self.kind_of(name))
        self.kind = self.kinds[number]
        if node.ns == NULL:  # another name may have had its place
            self.places[place], self.numbers[place], self.cached[place] = node.name, number, self.kind
        return number

    cdef int kind_of(self, str name) except -1:
        cdef int kind = 0
        if name in self.skipped:
            kind |= SKIPPED
        if name in self.opaque:
            kind |= OPAQUE
        if name in self.headings:
            kind |= HEADING
        if name == "body":
            kind |= BODY
        elif name == "a":
            kind |= LINK
        elif name == "noscript":
            kind |= NOSCRIPT
        elif name == "button":
            kind |= BUTTON
        elif name == "td" or name == "th":
            kind |= CELL
        elif name in self.blocks:
            kind |= BLOCK
        return kind

    cdef bint is_heading(self, tree.xmlNode* node) except -1:
        """Return True for an element that is a heading."""
        if node.type == tree.XML_ELEMENT_NODE:
            self.number(node)
        return node.type == tree.XML_ELEMENT_NODE and self.kind & HEADING

    cdef bint has_block(self, tree.xmlNode* above) except -1:
        """Return True if a block stands below an element."""
        cdef tree.xmlNode* node = next_below(above, above)
        while node != NULL:
            if node.type == tree.XML_ELEMENT_NODE:
                self.number(node)
                if self.kind & BLOCK:
                    return True
            node = next_below(node, above)
        return False


cdef tree.xmlNode* next_below(tree.xmlNode* node, tree.xmlNode* above) noexcept nogil:
    """Return what follows a node in the order of the document, NULL if nothing does below the element ``above``."""
    if node.type == tree.XML_ELEMENT_NODE and node.children != NULL:
        return node.children
    while node != above:
        if node.next != NULL:
            return node.next
        node = node.parent
    return NULL


cdef bint is_longer(tree.xmlNode* above, Py_ssize_t most) noexcept nogil:
    """Return True if more than ``most`` bytes of text stand below an element."""
    cdef tree.xmlNode* node = next_below(above, above)
    cdef Py_ssize_t size = 0
    while node != NULL:
        if node.type != tree.XML_ELEMENT_NODE:
            if node.content == NULL:
                return True  # no text, whatever it is
            size += strlen(<const char*>node.content)
            if size > most:
                return True
        node = next_below(node, above)
    return False


cdef bint is_blank(tree.xmlNode* node) noexcept nogil:
    """Return True if a text is of plain white space, and no other text follows it."""
    cdef const_xmlChar* letter = node.content
    if node.type != tree.XML_TEXT_NODE or letter == NULL or letter[0] == 0:
        return False
    if node.next != NULL and node.next.type != tree.XML_ELEMENT_NODE:
        return False
    while letter[0] == 32 or 9 <= letter[0] <= 13:
        letter += 1
    return letter[0] == 0


cdef bint begins_with_figure(tree.xmlNode* above) noexcept nogil:
    """Return True if the text of an element may begin with a figure; where that takes long to find, it may."""
    cdef tree.xmlNode* node = next_below(above, above)
    cdef const unsigned char* letter
    cdef Py_ssize_t steps
    for steps in range(STEPS):
        if node == NULL:
            return False
        if node.type == tree.XML_TEXT_NODE:
            letter = <const unsigned char*>node.content
            while letter != NULL and (letter[0] in b" .:|" or 9 <= letter[0] <= 13):
                letter += 1
            if letter != NULL and letter[0]:  # 194 and 225 to 227 begin the other spaces of Unicode
                return b"0" <= letter[0] <= b"9" or letter[0] == 194 or 225 <= letter[0] <= 227
        elif node.type not in (tree.XML_ELEMENT_NODE, tree.XML_COMMENT_NODE, tree.XML_PI_NODE):
            return True  # no text that can be read here
        node = next_below(node, above)
    return True


cdef bint is_first_of_two(tree.xmlNode* cell) noexcept nogil:
    """Return True if an element is the first of two in its row."""
    cdef tree.xmlNode* other = cell.prev
    cdef int following = 0
    while other != NULL and other.type != tree.XML_ELEMENT_NODE:
        other = other.prev
    if other != NULL:
        return False
    other = cell.next
    while other != NULL and following < 2:
        following += other.type == tree.XML_ELEMENT_NODE
        other = other.next
    return following == 1


def walk_tree(
    _Element root not None,
    frozenset skipped,
    frozenset opaque,
    frozenset blocks,
    frozenset headings,
    str text_tag,
    Py_ssize_t notice,
    is_no_notice,
    is_read,
    are_line_numbers,
    tuple looked_for not None,
):
    """Return the columns of the nodes of a tree, and its depth.

    Args:
        root: The root of the tree.
        skipped: The tags that are left out.
        opaque: The tags whose content is not for reading, mostly.
        blocks: Tags that no opaque element holds, unless it was never closed.
        headings: Tags in which a button is read.
        text_tag: The tag of runs of text.
        notice: How many bytes a ``noscript`` may hold that is surely not read.
        is_no_notice: Returns True for any other that is read all the same.
        is_read: Returns True for an opaque element whose content is read all the same; asked of buttons in headings
            and of those that hold a block.
        are_line_numbers: Returns True if an element holds nothing but numbers of lines of code.
        looked_for: Hints of each kind of element that is looked for, behind those of all kinds.
    """
    cdef Columns columns = Columns(root, text_tag)
    cdef _Runs runs = _Runs(columns)
    cdef _Tags known = _Tags(columns.names, skipped, opaque, blocks, headings)
    cdef list roots = [root, *root.itersiblings("html")]  # the parser puts what follows </html> beside the root
    cdef list searches = [Search(hints) for hints in looked_for]
    cdef Search sieve = searches.pop(0) if searches else None
    cdef set swallowing = set()
    cdef Py_ssize_t parent = 0, depth = 0, deepest = 0, index, number, next_root = 0
    cdef int kind
    cdef tree.xmlNode* child
    cdef tree.xmlNode* holder = NULL  # the one whose children these are
    cdef tree.xmlNode* following = NULL
    cdef tree.xmlNode* inner
    cdef _Document document = root._doc
    columns.marked = [[] for _ in searches]
    while True:
        if depth:
            child = following
        else:
            child = (<_Element>roots[next_root])._c_node if next_root < len(roots) else NULL
            next_root += 1
        if child == NULL:
            columns.nodes[parent].end = <int32_t>columns.count
            if not depth:
                break
            child, holder = holder, holder.parent
            parent = max(columns.nodes[parent].parent, 0)
            depth -= 1
        elif child.type == tree.XML_ELEMENT_NODE:
            number = known.number(child)
            kind = known.kind
            if not kind & SKIPPED or (
                kind & NOSCRIPT
                and (swallowing or is_longer(child, notice))
                and is_no_notice(elementFactory(document, child), swallowing)
            ):
                if parent == 0 and (kind & BODY or not depth):  # what stands beside the body belongs to it
                    index = 0
                    if kind & BODY:
                        columns.nodes[0].place = child
                else:
                    index = columns.add_node(<int32_t>number, parent, columns.nodes[parent].link, child)
                    columns.texts.append("")
                    if kind & LINK and has_address(child):
                        columns.nodes[index].link = <int32_t>index
                    if sieve is not None and sieve.finds(child):
                        note_marks(columns, searches, index)
                if not kind & OPAQUE or (
                    (swallowing or known.has_block(child) or (kind & BUTTON and known.is_heading(child.parent)))
                    and is_read(elementFactory(document, child), swallowing)
                ):
                    if (
                        (may_be_named(child) or (kind & CELL and is_first_of_two(child)))
                        and begins_with_figure(child)
                        and are_line_numbers(elementFactory(document, child))
                    ):
                        inner = NULL
                    else:
                        if child.children != NULL:
                            runs.add_from(index, child, child.children, False)
                        inner = findChildForwards(child, 0)
                    if inner != NULL:
                        depth += 1
                        deepest = max(deepest, depth)
                        holder, parent, following = child, index, inner
                        continue
                columns.nodes[index].end = <int32_t>columns.count
        if child.next != NULL:
            runs.add_from(parent, child, child.next, True)
        if depth:
            following = nextElement(child)
    runs.close()
    for number in range(len(searches)):
        if (<Search>searches[number]).finds(columns.nodes[0].place):
            columns.marked[number].insert(0, 0)
    return columns, deepest


cdef int note_marks(Columns columns, list searches, Py_ssize_t index) except -1:
    """Note of what is looked for that an element has a hint of it."""
    cdef Py_ssize_t number
    for number in range(len(searches)):
        if (<Search>searches[number]).finds(columns.nodes[index].place):
            (<list>columns.marked[number]).append(index)
    return 0


# --- code, as ``output.content.code`` reads it

cdef Words OF_SELECTION = Words(("user-select",))


def code_of(_Element block not None, str line_break not None):
    """Return what stands below a block of code: the texts, with a sign for each line break, tags, counted classes.

    The last are the elements that may number lines or be hidden: by a style, or from those who listen.
    """
    cdef tree.xmlNode* above = block._c_node
    cdef tree.xmlNode* node = next_below(above, above)
    cdef tree.xmlAttr* attribute
    cdef const_xmlChar* last = NULL
    cdef list parts = [], odd = []
    cdef dict classes = {}
    cdef set tags = set()
    cdef bint is_break = False
    while node != NULL:
        if node.type == tree.XML_ELEMENT_NODE:
            if node.name != last:
                last, is_break = node.name, strcmp(<const char*>node.name, "br") == 0
                tags.add(namespacedName(node))
            if is_break:
                parts.append(line_break)
            attribute = node.properties
            while attribute != NULL:
                if strcmp(<const char*>attribute.name, "class") == 0:
                    name = value_of(node, attribute)
                    classes[name] = classes.get(name, 0) + 1
                elif strcmp(<const char*>attribute.name, "aria-hidden") == 0 or (
                    strcmp(<const char*>attribute.name, "style") == 0
                    and (begins_with_figure(node) or OF_SELECTION.stand_in_value(node, attribute))
                ):
                    odd.append(elementFactory(block._doc, node))
                attribute = attribute.next
        elif node.type in (tree.XML_TEXT_NODE, tree.XML_CDATA_SECTION_NODE):
            parts.append((<const char*>node.content).decode("utf-8"))
        node = next_below(node, above)
    return parts, tags, classes, odd
