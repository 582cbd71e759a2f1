# cython: language_level=3
"""The nodes of a tree, as ``page.nodes`` lists them, read from the tree that libxml2 made."""

from libc.string cimport memset
from lxml.includes cimport tree
from lxml.includes.tree cimport const_xmlChar
from lxml.includes.etreepublic cimport (
    _Document,
    _Element,
    attributeValueFromNsName,
    elementFactory,
    findChildForwards,
    import_lxml__etree,
    namespacedName,
    nextElement,
    tailOf,
    textOf,
)

import_lxml__etree()

cdef enum:
    SKIPPED = 1
    OPAQUE = 2
    BODY = 4
    LINK = 8
    NOSCRIPT = 16
    CACHED = 1024


cdef class _Columns:
    """The columns of the nodes so far, and the run of text that is open."""

    cdef readonly list tags, parents, ends, texts, links, elements
    cdef str text_tag
    cdef Py_ssize_t last  # the last run of text; 0 without one
    cdef bint gap  # white space followed the last text
    cdef dict pending  # by run, the texts to append

    def __cinit__(self, _Element root, str text_tag):
        self.tags, self.parents, self.ends = ["body"], [-1], [0]
        self.texts, self.links, self.elements = [""], [-1], [root]
        self.text_tag, self.pending = text_tag, {}

    cdef int add(self, Py_ssize_t parent, str text) except -1:
        """Add a text to node ``parent``."""
        cdef Py_ssize_t index
        cdef Py_UCS4 letter
        for letter in text:
            if not letter.isspace():
                break
        else:
            self.gap = True
            return 0
        if self.gap:
            self.add_space()
        index = len(self.tags)
        if self.last and self.last == index - 1 and <Py_ssize_t>self.parents[self.last] == parent:
            self.pending.setdefault(self.last, []).append(text)
            return 0
        self.last = index
        self.tags.append(self.text_tag)
        self.parents.append(parent)
        self.ends.append(index + 1)
        self.texts.append(text)
        self.links.append(self.links[parent])
        self.elements.append(self.elements[parent])
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
            text = self.texts[self.last]
            if not text[len(text) - 1].isspace():
                self.texts[self.last] = text + " "
        return 0

    cdef int close(self) except -1:
        """Finish the runs."""
        if self.gap:
            self.add_space()
        for index, parts in self.pending.items():
            self.texts[index] += "".join(parts)
        return 0


cdef class _Tags:
    """The tags of a document and what each means; libxml2 keeps each name once."""

    cdef const_xmlChar* places[CACHED]
    cdef Py_ssize_t numbers[CACHED]
    cdef list names, kinds
    cdef frozenset skipped, opaque

    def __cinit__(self, frozenset skipped, frozenset opaque):
        memset(self.places, 0, sizeof(self.places))
        self.names, self.kinds = [], []
        self.skipped, self.opaque = skipped, opaque

    cdef Py_ssize_t number(self, tree.xmlNode* node) except -1:
        cdef size_t place = (<size_t>node.name >> 3) % CACHED
        if self.places[place] == node.name and node.ns == NULL:
            return self.numbers[place]
        cdef str name = namespacedName(node)
        cdef int kind = 0
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
        self.names.append(name)
        self.kinds.append(kind)
        if node.ns == NULL:
            self.places[place], self.numbers[place] = node.name, len(self.names) - 1
        return len(self.names) - 1


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


def walk_tree(_Element root not None, frozenset skipped, frozenset opaque, str text_tag, is_no_notice, is_read):
    """Return the columns of the nodes of a tree, and its depth.

    Args:
        root: The root of the tree.
        skipped: The tags that are left out.
        opaque: The tags whose content is not for reading, mostly.
        text_tag: The tag of runs of text.
        is_no_notice: Tells of a ``noscript`` whether it is read all the same.
        is_read: Tells of an opaque element whether its content is read all the same.
    """
    cdef _Columns columns = _Columns(root, text_tag)
    cdef _Tags known = _Tags(skipped, opaque)
    cdef list tags = columns.tags, parents = columns.parents, ends = columns.ends, texts = columns.texts
    cdef list links = columns.links, elements = columns.elements
    cdef list roots = [root, *root.itersiblings("html")]  # the parser puts what follows </html> beside the root
    cdef list above = []  # the parents of the levels that are open
    cdef set swallowing = set()
    cdef Py_ssize_t parent = 0, depth = 0, deepest = 0, index, number, next_root = 0
    cdef int kind
    cdef tree.xmlNode* child
    cdef tree.xmlNode* holder = NULL  # the one whose children these are
    cdef tree.xmlNode* following = NULL
    cdef tree.xmlNode* inner
    cdef _Document document = root._doc
    cdef _Element element
    while True:
        if depth:
            child = following
        else:
            child = (<_Element>roots[next_root])._c_node if next_root < len(roots) else NULL
            next_root += 1
        if child == NULL:
            ends[parent] = len(tags)
            if not depth:
                break
            child, holder = holder, holder.parent
            parent = above.pop()
            depth -= 1
        elif child.type == tree.XML_ELEMENT_NODE:
            number = known.number(child)
            kind = known.kinds[number]
            if not kind & SKIPPED or (kind & NOSCRIPT and is_no_notice(elementFactory(document, child), swallowing)):
                element = elementFactory(document, child)
                if parent == 0 and (kind & BODY or not depth):  # what stands beside the body belongs to it
                    index = 0
                    if kind & BODY:
                        elements[0] = element
                else:
                    index = len(tags)
                    tags.append(known.names[number])
                    parents.append(parent)
                    ends.append(index + 1)
                    texts.append("")
                    is_link = kind & LINK and attributeValueFromNsName(child, NULL, <const_xmlChar*>"href") is not None
                    links.append(index if is_link else links[parent])
                    elements.append(element)
                if not kind & OPAQUE or is_read(element, swallowing):
                    if child.children != NULL:
                        columns.add_from(index, child, child.children, False)
                    inner = findChildForwards(child, 0)
                    if inner != NULL:
                        above.append(parent)
                        depth += 1
                        deepest = max(deepest, depth)
                        holder, parent, following = child, index, inner
                        continue
                ends[index] = len(tags)
        if child.next != NULL:
            columns.add_from(parent, child, child.next, True)
        if depth:
            following = nextElement(child)
    columns.close()
    return (tags, parents, ends, texts, links, elements), deepest


def count_characters(list texts not None):
    """Return the number of characters in each text, without white space."""
    cdef list counts = []
    cdef str text
    cdef Py_UCS4 letter
    cdef Py_ssize_t count
    for text in texts:
        count = len(text)
        for letter in text:
            if letter.isspace():
                count -= 1
        counts.append(count)
    return counts
