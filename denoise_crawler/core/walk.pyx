# cython: language_level=3
"""The walk through a tree that libxml2 made, as ``page.nodes`` walks."""

from libc.stdint cimport int32_t
from libc.string cimport memset, strcmp, strlen, strstr
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport (
    _Document,
    _Element,
    elementFactory,
    findChildForwards,
    import_lxml__etree,
    namespacedName,
    nextElement,
    tailOf,
    textOf,
)
from lxml.includes.tree cimport const_xmlChar

from denoise_crawler.core.nodes cimport TEXT, Columns, Node

import_lxml__etree()

cdef enum:
    SKIPPED = 1
    OPAQUE = 2
    BODY = 4
    LINK = 8
    NOSCRIPT = 16
    BLOCK = 32
    BUTTON = 64
    CELL = 128
    STEPS = 16
    CACHED = 1024


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

    cdef const_xmlChar* places[CACHED]
    cdef Py_ssize_t numbers[CACHED]
    cdef list names, kinds
    cdef dict known
    cdef frozenset skipped, opaque, blocks

    def __cinit__(self, list names, frozenset skipped, frozenset opaque, frozenset blocks):
        memset(self.places, 0, sizeof(self.places))
        self.names, self.kinds, self.known = names, [0] * len(names), {}
        self.skipped, self.opaque, self.blocks = skipped, opaque, blocks

    cdef Py_ssize_t number(self, tree.xmlNode* node) except -1:
        cdef size_t place = (<size_t>node.name >> 3) % CACHED
        if self.places[place] == node.name and node.ns == NULL:
            return self.numbers[place]
        cdef str name = namespacedName(node)
        cdef int kind = 0
        number = self.known.get(name)
        if number is not None:
            if node.ns == NULL:  # another name had its place
                self.places[place], self.numbers[place] = node.name, number
            return number
        if name in self.skipped:
            kind |= SKIPPED
        if name in self.opaque:
            kind |= OPAQUE
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
        self.known[name] = len(self.names)
        self.names.append(name)
        self.kinds.append(kind)
        if node.ns == NULL:
            self.places[place], self.numbers[place] = node.name, len(self.names) - 1
        return len(self.names) - 1


    cdef bint has_block(self, tree.xmlNode* above) except -1:
        """Tell whether a block stands below an element."""
        cdef tree.xmlNode* node = above.children
        while node != NULL:
            if node.type == tree.XML_ELEMENT_NODE:
                if <int>self.kinds[self.number(node)] & BLOCK:
                    return True
                if node.children != NULL:
                    node = node.children
                    continue
            while node.next == NULL:
                node = node.parent
                if node == above:
                    return False
            node = node.next
        return False


cdef bint is_longer(tree.xmlNode* above, Py_ssize_t most) noexcept nogil:
    """Tell whether more than ``most`` bytes of text stand below an element."""
    cdef tree.xmlNode* node = above.children
    cdef Py_ssize_t size = 0
    while node != NULL:
        if node.type == tree.XML_ELEMENT_NODE:
            if node.children != NULL:
                node = node.children
                continue
        elif node.content == NULL:
            return True  # no text, whatever it is
        else:
            size += strlen(<const char*>node.content)
            if size > most:
                return True
        while node.next == NULL:
            node = node.parent
            if node == above:
                return False
        node = node.next
    return False


cdef bint has_address(tree.xmlNode* link) noexcept nogil:
    """Tell whether a link has an address, if an empty one."""
    cdef tree.xmlAttr* attribute = link.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, "href") == 0:
            return True
        attribute = attribute.next
    return False


cdef bint is_blank(tree.xmlNode* node) noexcept nogil:
    """Tell whether a text is of plain white space, and no other text follows it."""
    cdef const_xmlChar* letter = node.content
    if node.type != tree.XML_TEXT_NODE or letter == NULL or letter[0] == 0:
        return False
    if node.next != NULL and node.next.type != tree.XML_ELEMENT_NODE:
        return False
    while letter[0] == 32 or 9 <= letter[0] <= 13:
        letter += 1
    return letter[0] == 0



cdef bint begins_with_figure(tree.xmlNode* above) noexcept nogil:
    """Tell whether the text of an element may begin with a figure; where that takes long to find, it may."""
    cdef tree.xmlNode* node = above.children
    cdef const unsigned char* letter
    cdef Py_ssize_t steps
    for steps in range(STEPS):
        if node == NULL:
            return False
        if node.type == tree.XML_ELEMENT_NODE:
            if node.children != NULL:
                node = node.children
                continue
        elif node.type == tree.XML_TEXT_NODE:
            letter = <const unsigned char*>node.content
            while letter != NULL and (letter[0] == 32 or 9 <= letter[0] <= 13):
                letter += 1
            if letter != NULL and letter[0]:  # 194 and 225 to 227 begin the other spaces of Unicode
                return b"0" <= letter[0] <= b"9" or letter[0] == 194 or 225 <= letter[0] <= 227
        elif node.type != tree.XML_COMMENT_NODE and node.type != tree.XML_PI_NODE:
            return True  # no text that can be read here
        while node != above and node.next == NULL:
            node = node.parent
        node = NULL if node == above else node.next
    return True


cdef bint may_be_named(tree.xmlNode* node) noexcept nogil:
    """Tell whether a class may name the numbers of lines."""
    cdef tree.xmlAttr* attribute = node.properties
    cdef const char* value
    while attribute != NULL:
        if strcmp(<const char*>attribute.name, "class") == 0:
            if attribute.children == NULL:
                return False
            if attribute.children.next != NULL or attribute.children.content == NULL:
                return True
            value = <const char*>attribute.children.content
            return (
                strstr(value, "ln") != NULL or strstr(value, "linen") != NULL or strstr(value, "line-n") != NULL
                or strstr(value, "gutter") != NULL or strstr(value, "num") != NULL
            )
        attribute = attribute.next
    return False


def walk_tree(
    _Element root not None,
    frozenset skipped,
    frozenset opaque,
    frozenset blocks,
    str text_tag,
    Py_ssize_t notice,
    is_no_notice,
    is_read,
    are_line_numbers,
    bint is_shared,
):
    """Return the columns of the nodes of a tree, and its depth.

    Args:
        root: The root of the tree.
        skipped: The tags that are left out.
        opaque: The tags whose content is not for reading, mostly.
        blocks: Tags that no opaque element holds, unless it was never closed.
        text_tag: The tag of runs of text.
        notice: How many bytes a ``noscript`` may hold that is surely not read.
        is_no_notice: Tells of any other whether it is read all the same.
        is_read: Tells of an opaque element whether its content is read all the same; asked of buttons and of those
            that hold a block.
        are_line_numbers: Tells whether an element holds nothing but numbers of lines of code.
        is_shared: Whether somebody else may change the tree.
    """
    cdef Columns columns = Columns(root, text_tag, is_shared)
    cdef _Runs runs = _Runs(columns)
    cdef _Tags known = _Tags(columns.names, skipped, opaque, blocks)
    cdef list roots = [root, *root.itersiblings("html")]  # the parser puts what follows </html> beside the root
    cdef list above = []  # the parents of the levels that are open
    cdef set swallowing = set()
    cdef Py_ssize_t parent = 0, depth = 0, deepest = 0, index, number, next_root = 0
    cdef int kind
    cdef bint is_link
    cdef tree.xmlNode* child
    cdef tree.xmlNode* holder = NULL  # the one whose children these are
    cdef tree.xmlNode* following = NULL
    cdef tree.xmlNode* inner
    cdef _Document document = root._doc
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
            parent = above.pop()
            depth -= 1
        elif child.type == tree.XML_ELEMENT_NODE:
            number = known.number(child)
            kind = known.kinds[number]
            if not kind & SKIPPED or (
                kind & NOSCRIPT
                and (swallowing or is_longer(child, notice))
                and is_no_notice(elementFactory(document, child), swallowing)
            ):
                if parent == 0 and (kind & BODY or not depth):  # what stands beside the body belongs to it
                    index = 0
                    if kind & BODY:
                        columns.nodes[0].place = child
                        if is_shared:
                            columns.held.append(elementFactory(document, child))
                else:
                    index = columns.add_node(<int32_t>number, parent, columns.nodes[parent].link, child)
                    columns.texts.append("")
                    if kind & LINK and has_address(child):
                        columns.nodes[index].link = <int32_t>index
                if not kind & OPAQUE or (
                    (kind & BUTTON or swallowing or known.has_block(child))
                    and is_read(elementFactory(document, child), swallowing)
                ):
                    if (
                        (kind & CELL or may_be_named(child))
                        and begins_with_figure(child)
                        and are_line_numbers(elementFactory(document, child))
                    ):
                        inner = NULL
                    else:
                        if child.children != NULL:
                            runs.add_from(index, child, child.children, False)
                        inner = findChildForwards(child, 0)
                    if inner != NULL:
                        above.append(parent)
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
    return columns, deepest
