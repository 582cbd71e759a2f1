# cython: language_level=3
"""The nodes of a tree, as ``page.nodes`` lists them, read from the tree that libxml2 made."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset, strcmp, strstr
from lxml.includes cimport tree
from lxml.includes.tree cimport const_xmlChar
from lxml.includes.etreepublic cimport (
    _Document,
    _Element,
    attributeValue,
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
    BLOCK = 32
    BUTTON = 64
    CACHED = 1024


cdef class Columns:
    """The nodes of a page. Node 0 is the body, tag 0 that of runs of text.

    Elements are made when they are asked for. The columns keep their document; of a tree that somebody else may
    change they hold all elements, so that none is freed.
    """

    def __cinit__(self, _Element root not None, str text_tag not None, bint is_shared):
        self.names, self.texts = [text_tag, "body"], []
        self.document = root._doc
        self.held = [] if is_shared else None
        self.add_node(1, -1, -1, root._c_node)
        self.texts.append("")

    def __dealloc__(self):
        free(self.nodes)

    cdef Py_ssize_t add_node(self, int32_t tag, Py_ssize_t parent, int32_t link, tree.xmlNode* place) except -1:
        """Add a node and return its number; its text is added by the caller."""
        cdef Node* grown
        cdef Node* node
        if self.count == self.room:
            grown = <Node*>realloc(self.nodes, max(2 * self.room, 512) * sizeof(Node))
            if grown == NULL:
                raise MemoryError
            self.nodes, self.room = grown, max(2 * self.room, 512)
        node = &self.nodes[self.count]
        node.tag, node.parent, node.end = tag, <int32_t>parent, <int32_t>self.count + 1
        node.link, node.characters, node.place = link, 0, place
        self.count += 1
        if self.held is not None:
            self.held.append(elementFactory(self.document, place))
        return self.count - 1

    cdef int count_characters(self) except -1:
        """Count the characters in each text, without white space."""
        cdef Py_ssize_t index, count
        cdef str text
        cdef Py_UCS4 letter
        if self.counted:
            return 0
        for index in range(self.count):
            if self.nodes[index].tag == TEXT:
                text = self.texts[index]
                count = len(text)
                for letter in text:
                    if letter <= 32:
                        count -= letter == 32 or 9 <= letter <= 13 or 28 <= letter <= 31
                    elif letter > 127 and letter.isspace():
                        count -= 1
                self.nodes[index].characters = <int32_t>count
        self.counted = True
        return 0

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        """Return the element of a node, or of some in a row."""
        cdef Py_ssize_t number
        if isinstance(index, slice):
            return [elementFactory(self.document, self.nodes[<Py_ssize_t>one].place) for one in range(self.count)[index]]
        number = index
        if number < 0:
            number += self.count
        if not 0 <= number < self.count:
            raise IndexError(index)
        return elementFactory(self.document, self.nodes[number].place)

    def __iter__(self):
        cdef Py_ssize_t index
        for index in range(self.count):
            yield elementFactory(self.document, self.nodes[index].place)

    def lists(self):
        """Return the tags, parents, ends, texts and links."""
        cdef list tags = [], parents = [], ends = [], links = []
        cdef Py_ssize_t index
        cdef Node* node
        for index in range(self.count):
            node = &self.nodes[index]
            tags.append(self.names[node.tag])
            parents.append(node.parent)
            ends.append(node.end)
            links.append(node.link)
        return tags, parents, ends, self.texts, links

    def characters(self):
        """Return the number of characters in each text, without white space."""
        cdef Py_ssize_t index
        self.count_characters()
        return [self.nodes[index].characters for index in range(self.count)]

    def counts(self, list noise):
        """Return the characters: all, those outside links, and of both those that are no ``noise``."""
        cdef Py_ssize_t index
        cdef int64_t every = 0, unlinked = 0, kept = 0, unlinked_kept = 0
        cdef Node* node
        cdef bint stays
        self.count_characters()
        if noise is not None and len(noise) != self.count:
            raise ValueError("the judgement does not fit the nodes")
        for index in range(self.count):
            node = &self.nodes[index]
            if not node.characters:
                continue
            stays = noise is None or not noise[index]
            every += node.characters
            if stays:
                kept += node.characters
            if node.link < 0:
                unlinked += node.characters
                if stays:
                    unlinked_kept += node.characters
        return every, unlinked, kept, unlinked_kept

    def leave_out_links(self, int64_t longest):
        """Take links that hold more than ``longest`` characters: what is in them is not linked."""
        cdef Py_ssize_t index
        cdef int64_t until = 0
        cdef dict instead = {}
        cdef list opened = []  # the links whose end has not come, with the characters before each
        cdef Node* node
        for index in range(self.count):
            while opened and <Py_ssize_t>opened[len(opened) - 1][1] <= index:
                self.close_link(opened, until, longest, instead)
            if self.nodes[index].link == index:
                opened.append((index, self.nodes[index].end, until))
            until += len(<str>self.texts[index])
        while opened:
            self.close_link(opened, until, longest, instead)
        if not instead:
            return
        for index in sorted(instead):  # what stands instead of an outer link is known first
            link = self.nodes[self.nodes[<Py_ssize_t>index].parent].link
            instead[index] = instead.get(link, link)
        for index in range(self.count):
            node = &self.nodes[index]
            if node.link in instead:
                node.link = instead[node.link]

    cdef int close_link(self, list opened, int64_t until, int64_t longest, dict instead) except -1:
        index, _, before = opened.pop()
        if until - <int64_t>before > longest:
            instead[index] = -1
        return 0

    def tagged(self, frozenset tags):
        """Return the nodes that have one of the ``tags``."""
        cdef Py_ssize_t index
        cdef list found = [], wanted = [name in tags for name in self.names]
        if not any(wanted):
            return found
        for index in range(self.count):
            if wanted[self.nodes[index].tag]:
                found.append(index)
        return found

    def count_tags(self):
        """Return how many nodes have each tag."""
        cdef Py_ssize_t index
        cdef list counts = [0] * len(self.names)
        for index in range(self.count):
            counts[self.nodes[index].tag] += 1
        return dict(zip(self.names, counts))

    def hinted(self, dict hints, tuple of_all):
        """Return the nodes of elements that have one of some hints in an attribute.

        Args:
            hints: By tag, the hints by attribute; an empty hint says that each element with that tag is wanted.
            of_all: The hints in the class of an element with another tag.
        """
        cdef Py_ssize_t index
        cdef list found = []
        cdef list of_tag = [_hints_of(hints.get(name, {"class": of_all})) for name in self.names]
        for index in range(self.count):
            if self.nodes[index].tag != TEXT and has_hint(self.nodes[index].place, of_tag[self.nodes[index].tag]):
                found.append(index)
        return found


cdef tuple _hints_of(dict hints):
    return tuple([(name.encode("utf-8"), tuple([one.encode("utf-8") for one in hints[name]])) for name in hints])


cdef bint has_hint(tree.xmlNode* node, tuple hints) except -1:
    """Tell whether one of an element's attributes holds a hint for it."""
    cdef tree.xmlAttr* attribute
    cdef tree.xmlNode* text
    cdef bytes name, hint
    cdef tuple wanted
    cdef str value
    if not hints:
        return True
    if node.type != tree.XML_ELEMENT_NODE:
        return False
    attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL:
            for name, wanted in hints:
                if strcmp(<const char*>attribute.name, <const char*>name):
                    continue
                text = attribute.children
                if text == NULL or text.content == NULL:
                    break
                if text.next != NULL or text.type != tree.XML_TEXT_NODE:  # it is put together from parts
                    value = attributeValue(node, attribute)
                    return any([hint.decode("utf-8") in value for hint in wanted])
                for hint in wanted:
                    if strstr(<const char*>text.content, <const char*>hint) != NULL:
                        return True
                break
        attribute = attribute.next
    return False


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



def walk_tree(
    _Element root not None,
    frozenset skipped,
    frozenset opaque,
    frozenset blocks,
    str text_tag,
    is_no_notice,
    is_read,
    bint is_shared,
):
    """Return the columns of the nodes of a tree, and its depth.

    Args:
        root: The root of the tree.
        skipped: The tags that are left out.
        opaque: The tags whose content is not for reading, mostly.
        blocks: Tags that no opaque element holds, unless it was never closed.
        text_tag: The tag of runs of text.
        is_no_notice: Tells of a ``noscript`` whether it is read all the same.
        is_read: Tells of an opaque element whether its content is read all the same; asked of buttons and of those
            that hold a block.
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
            if not kind & SKIPPED or (kind & NOSCRIPT and is_no_notice(elementFactory(document, child), swallowing)):
                if parent == 0 and (kind & BODY or not depth):  # what stands beside the body belongs to it
                    index = 0
                    if kind & BODY:
                        columns.nodes[0].place = child
                        if is_shared:
                            columns.held.append(elementFactory(document, child))
                else:
                    index = columns.add_node(<int32_t>number, parent, columns.nodes[parent].link, child)
                    columns.texts.append("")
                    if kind & LINK and attributeValueFromNsName(child, NULL, <const_xmlChar*>"href") is not None:
                        columns.nodes[index].link = <int32_t>index
                if not kind & OPAQUE or (
                    (kind & BUTTON or swallowing or known.has_block(child))
                    and is_read(elementFactory(document, child), swallowing)
                ):
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
