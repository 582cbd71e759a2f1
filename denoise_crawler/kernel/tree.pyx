# cython: language_level=3, boundscheck=True, wraparound=True, initializedcheck=True
"""The tree that libxml2 made, read once: its nodes, its attributes, and what the page declares.

``page.nodes`` and ``page.self_description`` read the same in Python.
"""

from array import array

from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
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

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)

# --- nodes: a struct for each, so that no stage asks Python for one

cdef enum:
    TEXT = 0  # the tag of runs of text


cdef struct Node:
    int32_t tag, parent, end, link, characters
    tree.xmlNode* place  # the element; of text the one it stands in


cdef class Columns:
    """The nodes of a page. Node 0 is the body, tag 0 that of runs of text.

    Elements are made when they are asked for. The columns keep their document; of a tree that somebody else may
    change they :meth:`hold` all elements.
    """

    cdef Node* nodes
    cdef readonly list marked  # by what the walk looked for, the nodes of the elements that have a hint of it
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t room
    cdef readonly list names, texts
    cdef _Document document
    cdef list held
    cdef dict known  # by set of tags, which of the names are in it
    cdef bint counted

    def __cinit__(self, _Element root not None, str text_tag not None):
        self.names, self.texts, self.known = [text_tag, "body"], [], {}
        self.document = root._doc
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

    def hold(self):
        """Hold all elements from now on, so that none is freed."""
        if self.held is None:
            self.held = [elementFactory(self.document, self.nodes[index].place) for index in range(self.count)]

    def are_in_tree(self):
        """Return True if all elements stand in their document, in their order.

        It reads none of them, only what the document holds now: elements that were taken out may be freed.
        """
        cdef tree.xmlNode* document = <tree.xmlNode*>self.document._c_doc
        cdef tree.xmlNode* node = document.children
        cdef Py_ssize_t index = 1
        cdef bint has_body = False
        while True:
            while index < self.count and self.nodes[index].tag == TEXT:
                index += 1
            if node == NULL or (has_body and index == self.count):
                return has_body and index == self.count
            has_body = has_body or node == self.nodes[0].place
            if index < self.count and node == self.nodes[index].place:
                index += 1
            if node.type == tree.XML_ELEMENT_NODE and node.children != NULL:
                node = node.children
                continue
            while node.next == NULL and node.parent != NULL and node.parent != document:
                node = node.parent
            node = node.next

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

    def tags(self):
        """Return the tag of each node."""
        cdef Py_ssize_t index
        cdef list names = self.names
        return [names[self.nodes[index].tag] for index in range(self.count)]

    def parents(self):
        """Return the parent of each node."""
        cdef Py_ssize_t index
        return [self.nodes[index].parent for index in range(self.count)]

    def ends(self):
        """Return the node behind the subtree of each node."""
        cdef Py_ssize_t index
        return [self.nodes[index].end for index in range(self.count)]

    def links(self):
        """Return the link that each node stands in."""
        cdef Py_ssize_t index
        return [self.nodes[index].link for index in range(self.count)]

    def fill(self, list of_names, int32_t[:, ::1] table not None):
        """Fill four rows by node: what ``of_names`` says of its tag, its parent, its end and its link."""
        cdef Py_ssize_t index
        cdef Node* node
        cdef int32_t[::1] by_name = array("i", of_names)
        if table.shape[0] != 4 or table.shape[1] != self.count or by_name.shape[0] != len(self.names):
            raise ValueError("the table does not fit the nodes")
        for index in range(self.count):
            node = &self.nodes[index]
            table[0, index], table[1, index] = by_name[node.tag], node.parent
            table[2, index], table[3, index] = node.end, node.link

    def attributes_of(self, Py_ssize_t index, dict readers not None):
        """Return the class and id of a node, and what ``readers`` make of other attributes; None if it has none."""
        cdef tree.xmlNode* node = self.at(index).place
        cdef tree.xmlAttr* attribute
        cdef const char* name
        cdef str class_name = "", identity = ""
        cdef int64_t bits = 0
        if node.type != tree.XML_ELEMENT_NODE or node.properties == NULL:
            return None
        attribute = node.properties
        while attribute != NULL:
            if attribute.type == tree.XML_ATTRIBUTE_NODE and attribute.ns == NULL:
                name = <const char*>attribute.name
                if strcmp(name, "class") == 0:
                    class_name = value_of(node, attribute)
                elif strcmp(name, "id") == 0:
                    identity = value_of(node, attribute)
                elif name[0] in b"rsahi":
                    reader = readers.get(name.decode("utf-8"))
                    if reader is not None:
                        bits |= <int64_t>reader(value_of(node, attribute))
            attribute = attribute.next
        return class_name, identity, bits

    def address_of(self, Py_ssize_t index):
        """Return the address of a link, None without one."""
        cdef tree.xmlNode* node = self.at(index).place
        cdef tree.xmlAttr* attribute = node.properties
        while attribute != NULL:
            if attribute.ns == NULL and strcmp(<const char*>attribute.name, "href") == 0:
                return value_of(node, attribute)
            attribute = attribute.next
        return None

    def length(self):
        """Return the number of characters in all texts."""
        cdef Py_ssize_t index, length = 0
        for index in range(self.count):
            length += len(<str>self.texts[index])
        return length

    def with_invisible(self):
        """Return the texts with a soft hyphen, or with a joiner or a mark of no width."""
        cdef Py_ssize_t index
        cdef list found = []
        cdef Py_UCS4 letter
        cdef str text
        for index in range(self.count):
            text = self.texts[index]
            if PyUnicode_IS_ASCII(text):
                continue
            for letter in text:
                if letter == 0xAD or 0x200B <= letter <= 0x200D or letter == 0x2060 or letter == 0xFEFF:
                    found.append(index)
                    break
        return found

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
        cdef Py_ssize_t index, inside
        cdef int64_t held
        cdef dict instead = {}
        cdef list texts = self.texts
        cdef Node* node
        for index in range(self.count):
            node = &self.nodes[index]
            if node.link == index and node.end - index > 1:
                held = 0
                for inside in range(index + 1, node.end):
                    held += len(<str>texts[inside])
                    if held > longest:
                        instead[index] = -1
                        break
        if not instead:
            return
        for index in sorted(instead):  # what stands instead of an outer link is known first
            link = self.nodes[self.nodes[<Py_ssize_t>index].parent].link
            instead[index] = instead.get(link, link)
        for index in range(self.count):
            node = &self.nodes[index]
            if node.link in instead:
                node.link = instead[node.link]

    def tagged(self, frozenset tags):
        """Return the nodes that have one of the ``tags``."""
        cdef Py_ssize_t index
        cdef list found = []
        cdef const unsigned char[::1] wanted = self.wanted(tags)
        for index in range(self.count):
            if wanted[self.nodes[index].tag]:
                found.append(index)
        return found

    def holds(self, Py_ssize_t start, Py_ssize_t stop, frozenset tags, *, bint other=False):
        """Return True if a node from ``start`` up to ``stop`` has one of the ``tags``, or any ``other``."""
        cdef Py_ssize_t index
        cdef const unsigned char[::1] wanted = self.wanted(tags)
        for index in range(max(start, 0), min(stop, self.count)):
            if wanted[self.nodes[index].tag] != other:
                return True
        return False

    def tags_between(self, Py_ssize_t start, Py_ssize_t stop):
        """Return the distinct tags of the nodes from ``start`` up to ``stop``."""
        cdef Py_ssize_t index
        cdef set found = set()
        cdef int32_t last = -1
        for index in range(max(start, 0), min(stop, self.count)):
            if self.nodes[index].tag != last:
                last = self.nodes[index].tag
                found.add(self.names[last])
        return frozenset(found)

    def lines(self, Py_ssize_t start, Py_ssize_t stop, frozenset inline, int64_t most):
        """Return the texts from ``start`` up to ``stop`` by line: what stands in one block, up to a line break.

        The text that exceeds ``most`` characters of all is the last.
        """
        cdef Py_ssize_t index, block, last = -1  # the block of the last text
        cdef list lines = [], line = []
        cdef const unsigned char[::1] is_inline = self.wanted(inline)
        for index in range(max(start, 0), min(stop, self.count)):
            if not is_inline[self.nodes[index].tag]:
                last = -1
            elif self.nodes[index].tag == TEXT and most >= 0:
                most -= len(<str>self.texts[index])
                block = self.nodes[index].parent
                while block > 0 and is_inline[self.nodes[block].tag]:
                    block = self.nodes[block].parent
                if block != last:
                    line = []
                    lines.append(line)
                line.append(index)
                last = block
        return lines

    def cells(self, Py_ssize_t table, frozenset cells, frozenset paragraphs, frozenset pictures):
        """Return of each cell of a table its row, the characters of its text, its paragraphs and its pictures."""
        cdef Py_ssize_t index, end = 0, row = -1
        cdef int64_t characters = 0, in_paragraphs = 0, in_pictures = 0
        cdef list found = []
        cdef const unsigned char[::1] is_cell = self.wanted(cells), is_paragraph = self.wanted(paragraphs)
        cdef const unsigned char[::1] is_picture = self.wanted(pictures)
        cdef Node* node
        for index in range(table + 1, self.at(table).end):
            node = &self.nodes[index]
            if is_cell[node.tag]:
                if end:
                    found.append((row, characters, in_paragraphs, in_pictures))
                row, end = node.parent, node.end
                characters = in_paragraphs = in_pictures = 0
            elif index < end:
                if node.tag == TEXT:
                    characters += len(<str>self.texts[index])
                in_paragraphs += is_paragraph[node.tag]
                in_pictures += is_picture[node.tag]
        if end:
            found.append((row, characters, in_paragraphs, in_pictures))
        return found

    cdef bytes wanted(self, frozenset tags):
        """Return by number of a tag whether it is one of the ``tags``."""
        found = self.known.get(tags)
        if found is None:
            found = self.known[tags] = bytes([name in tags for name in self.names])
        return found

    def tag_of(self, Py_ssize_t index):
        """Return the tag of a node."""
        return self.names[self.at(index).tag]

    def rename(self, Py_ssize_t index, str name not None):
        """Give a node another tag."""
        if name not in self.names:
            self.names.append(name)
        self.at(index).tag = <int32_t>self.names.index(name)
        self.known.clear()

    def end_of(self, Py_ssize_t index):
        """Return the node behind the subtree of a node."""
        return self.at(index).end

    def link_of(self, Py_ssize_t index):
        """Return the link that a node stands in; -1 without one."""
        return self.at(index).link

    cdef Node* at(self, Py_ssize_t index) except NULL:
        if not 0 <= index < self.count:
            raise IndexError(index)
        return &self.nodes[index]

    def count_tags(self):
        """Return how many nodes have each tag."""
        cdef Py_ssize_t index
        cdef int32_t[::1] counts = array("i", [0]) * len(self.names)
        cdef dict found = {}
        for index in range(self.count):
            counts[self.nodes[index].tag] += 1
        for name, count in zip(self.names, counts):
            if count:  # a name may stand there twice: that of the body is given
                found[name] = found.get(name, 0) + count
        return found


cdef str value_of(tree.xmlNode* node, tree.xmlAttr* attribute):
    """Return the value of an attribute."""
    cdef tree.xmlNode* text = attribute.children
    cdef const unsigned char* letter
    if text != NULL and text.next == NULL and text.type == tree.XML_TEXT_NODE and text.content != NULL:
        letter = <const unsigned char*>text.content
        while 0 < letter[0] < 128:
            letter += 1
        if letter[0] == 0:
            return PyUnicode_DecodeASCII(
                <const char*>text.content, letter - <const unsigned char*>text.content, NULL
            )
    return attributeValue(node, attribute)


def code_of(_Element block not None, str line_break not None):
    """Return what stands below a block of code: the texts, with a sign for each line break, tags and classes.

    The last is True if an element may have a style, or be hidden from those who listen.
    """
    cdef tree.xmlNode* above = block._c_node
    cdef tree.xmlNode* node = next_below(above, above)
    cdef tree.xmlAttr* attribute
    cdef const_xmlChar* last = NULL
    cdef list parts = [], classes = []
    cdef set tags = set()
    cdef bint is_break = False, is_styled = False
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
                    classes.append(value_of(node, attribute))
                is_styled = is_styled or attribute.name[0] in b"sa"
                attribute = attribute.next
        elif node.type in (tree.XML_TEXT_NODE, tree.XML_CDATA_SECTION_NODE):
            parts.append((<const char*>node.content).decode("utf-8"))
        node = next_below(node, above)
    return parts, tags, classes, is_styled


# --- names and words in the attributes of elements, without an object for each element

cdef enum:
    CACHED = 512
    SHIFT = 55  # leaves as many bits as number CACHED places
    MOST_WORDS = 16

cdef uint64_t SPREAD = 0x9E3779B97F4A7C15


cdef class Names:
    """What the names in a document mean. libxml2 keeps each name once, so its letters are looked at once."""

    cdef const_xmlChar* places[CACHED]
    cdef unsigned char found[CACHED]
    cdef dict meanings
    cdef unsigned char otherwise
    cdef int room

    def __cinit__(self, dict meanings, unsigned char otherwise):
        memset(self.places, 0, sizeof(self.places))
        self.meanings, self.otherwise, self.room = meanings, otherwise, CACHED // 2

    cdef int of(self, const_xmlChar* name) except -1:
        """Return what a name means."""
        cdef size_t place = (<uint64_t>name * SPREAD) >> SHIFT
        while self.places[place] != name:
            if self.places[place] == NULL:
                return self.add(name, place)
            place = (place + 1) % CACHED
        return self.found[place]

    cdef int add(self, const_xmlChar* name, size_t place) except -1:
        cdef unsigned char meaning = self.meanings.get(<bytes><const char*>name, self.otherwise)
        if self.room:
            self.places[place], self.found[place] = name, meaning
            self.room -= 1
        return meaning


cdef class Words:
    """Some words, at least one of which is looked for in a value."""

    cdef tuple words
    cdef const char* starts[MOST_WORDS]
    cdef uint16_t firsts[256]  # by letter, a bit for each word that begins with it
    cdef uint16_t seconds[256]  # the same for the second letter; all words that have none
    cdef bint always  # a word is empty

    def __cinit__(self, tuple words not None):
        cdef int number, letter
        if len(words) > MOST_WORDS:
            raise ValueError("there are too many words")
        self.words = tuple([word.encode("utf-8") for word in words])
        self.always = b"" in self.words
        for number in range(len(self.words)):
            self.starts[number] = <bytes>self.words[number]
            self.firsts[<unsigned char>self.starts[number][0]] |= 1 << number
            for letter in range(256):
                if not self.starts[number][0] or self.starts[number][1] in (0, <char>letter):
                    self.seconds[letter] |= 1 << number

    cdef bint stand_in(self, const char* letter) noexcept:
        """Return True if a value holds one of the words."""
        cdef int number, size
        cdef uint16_t begun
        cdef const char* word
        if self.always:
            return True
        while letter[0]:
            begun = self.firsts[<unsigned char>letter[0]] & self.seconds[<unsigned char>letter[1]]
            number = 0
            while begun:
                if begun & 1:
                    word, size = self.starts[number], 0
                    while word[size] and word[size] == letter[size]:
                        size += 1
                    if not word[size]:
                        return True
                begun >>= 1
                number += 1
            letter += 1
        return False

    cdef bint stand_in_value(self, tree.xmlNode* node, tree.xmlAttr* attribute) except -1:
        """Return True if the value of an attribute holds one of the words."""
        cdef bytes value
        if is_plain(attribute):
            return self.stand_in(plain_value(attribute))
        value = attributeValue(node, attribute).encode("utf-8")
        return self.stand_in(value)


cdef bint is_plain(tree.xmlAttr* attribute) noexcept:
    """Return True if a value is one text; else it is put together from parts."""
    cdef tree.xmlNode* text = attribute.children
    return text == NULL or (text.next == NULL and text.type == tree.XML_TEXT_NODE)


cdef const char* plain_value(tree.xmlAttr* attribute) noexcept:
    if attribute.children == NULL or attribute.children.content == NULL:
        return ""
    return <const char*>attribute.children.content


cdef class Hints:
    """Finds elements by hints in their attributes; made once in a process.

    Args:
        by_tag: By tag, the hints by attribute. Without any, each element with that tag is found.
        otherwise: The hints by attribute for elements with another tag.
    """

    cdef dict tags, attributes  # their numbers
    cdef list rows  # by tag, the words by attribute; None if each element is wanted; the last for other tags

    def __cinit__(self, dict by_tag not None, dict otherwise not None):
        names = {name for hints in (otherwise, *by_tag.values()) for name in hints}
        self.attributes = {name.encode("utf-8"): number for number, name in enumerate(sorted(names))}
        self.tags = {tag.encode("utf-8"): number for number, tag in enumerate(by_tag)}
        self.rows = [self.row_of(hints) if hints else None for hints in by_tag.values()]
        self.rows.append(self.row_of(otherwise))

    cdef list row_of(self, dict hints):
        cdef list row = [None] * len(self.attributes)
        for name, words in hints.items():
            row[self.attributes[name.encode("utf-8")]] = Words(words)
        return row

    def find(self, Columns columns not None):
        """Return the nodes of the elements that have a hint."""
        cdef Py_ssize_t index
        cdef Search search = Search(self)
        cdef list found = []
        for index in range(columns.count):
            if columns.nodes[index].tag != TEXT and search.finds(columns.nodes[index].place):
                found.append(index)
        return found


cdef class Search:
    """Looks for hints in the elements of a document."""

    cdef Hints hints
    cdef Names tags, attributes
    cdef int wanted  # attributes: those with a hint have smaller numbers

    def __cinit__(self, Hints hints):
        self.wanted = len(hints.attributes)
        self.hints, self.tags = hints, Names(hints.tags, len(hints.tags))
        self.attributes = Names(hints.attributes, len(hints.attributes))

    cdef bint finds(self, tree.xmlNode* node) except -1:
        """Return True if an element has a hint."""
        cdef tree.xmlAttr* attribute
        cdef list row
        cdef object words
        cdef int number
        if node.type != tree.XML_ELEMENT_NODE:
            return False
        row = self.hints.rows[self.tags.of(node.name) if node.ns == NULL else -1]
        if row is None:
            return True
        attribute = node.properties
        while attribute != NULL:
            number = self.attributes.of(attribute.name)
            if number < self.wanted and attribute.ns == NULL:
                words = row[number]
                if words is not None and (<Words>words).stand_in_value(node, attribute):
                    return True
            attribute = attribute.next
        return False


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
    cdef frozenset skipped, opaque, blocks

    def __cinit__(self, list names, frozenset skipped, frozenset opaque, frozenset blocks):
        memset(self.places, 0, sizeof(self.places))
        self.names, self.kinds, self.known = names, [0] * len(names), {}
        self.skipped, self.opaque, self.blocks = skipped, opaque, blocks

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


cdef bint has_address(tree.xmlNode* link) noexcept nogil:
    """Return True if a link has an address, if an empty one."""
    cdef tree.xmlAttr* attribute = link.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, "href") == 0:
            return True
        attribute = attribute.next
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
            while letter != NULL and (letter[0] == 32 or 9 <= letter[0] <= 13):
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


cdef Words OF_LINE_NUMBERS = Words(
    ("ln", "linen", "line-n", "gutter", "num", "ts_count", "t_count", "ts-count", "t-count")
)


cdef bint may_be_named(tree.xmlNode* node) noexcept:
    """Return True if a class may name the numbers of lines."""
    cdef tree.xmlAttr* attribute = node.properties
    while attribute != NULL:
        if strcmp(<const char*>attribute.name, "class") == 0:
            return not is_plain(attribute) or OF_LINE_NUMBERS.stand_in(plain_value(attribute))
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
    tuple looked_for not None,
):
    """Return the columns of the nodes of a tree, and its depth.

    Args:
        root: The root of the tree.
        skipped: The tags that are left out.
        opaque: The tags whose content is not for reading, mostly.
        blocks: Tags that no opaque element holds, unless it was never closed.
        text_tag: The tag of runs of text.
        notice: How many bytes a ``noscript`` may hold that is surely not read.
        is_no_notice: Returns True for any other that is read all the same.
        is_read: Returns True for an opaque element whose content is read all the same; asked of buttons and of those
            that hold a block.
        are_line_numbers: Returns True if an element holds nothing but numbers of lines of code.
        looked_for: Hints of each kind of element that is looked for.
    """
    cdef Columns columns = Columns(root, text_tag)
    cdef _Runs runs = _Runs(columns)
    cdef _Tags known = _Tags(columns.names, skipped, opaque, blocks)
    cdef list roots = [root, *root.itersiblings("html")]  # the parser puts what follows </html> beside the root
    cdef list searches = [Search(hints) for hints in looked_for]
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
                    note_marks(columns, searches, index)
                if not kind & OPAQUE or (
                    (kind & BUTTON or swallowing or known.has_block(child))
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


# --- what a page declares, as ``page.self_description`` reads it, in one walk

# What names mean. Those of a meta element's attributes stand first, in the order of its record.
cdef enum:
    PROPERTY, NAME, ITEMPROP, HTTP_EQUIV, CONTENT, META_PARTS
    META, SCRIPT, TITLE, H1, TIME, STYLE, BASE, A, TYPE, REL, HREF
    NOTHING

cdef dict DECLARING = {
    b"property": PROPERTY, b"name": NAME, b"itemprop": ITEMPROP, b"http-equiv": HTTP_EQUIV, b"content": CONTENT,
    b"meta": META, b"script": SCRIPT, b"title": TITLE, b"h1": H1, b"time": TIME, b"style": STYLE,
    b"base": BASE, b"a": A, b"type": TYPE, b"rel": REL, b"href": HREF,
}


cdef bint is_value(tree.xmlNode* node, tree.xmlAttr* attribute, const char* value) except -1:
    """Return True if an attribute has a value."""
    if is_plain(attribute):
        return strcmp(plain_value(attribute), value) == 0
    return attributeValue(node, attribute) == value.decode("utf-8")


cdef class Signs:
    """How pages declare something: see ``page.self_description``; made once in a process.

    Args:
        meta: The record of the attributes of a ``meta`` element, a named tuple.
        most: The most authors, dates and links to authors.
        most_texts: The most elements with a property that may be a text.
        properties: What stands in the name of such a property.
        addresses: What stands in the address of a page that may be an author's.
        program: What stands in the type of a script that declares nothing.
    """

    cdef object meta
    cdef Py_ssize_t most, most_texts
    cdef Words addresses, programs, properties

    def __cinit__(
        self,
        meta,
        Py_ssize_t most,
        Py_ssize_t most_texts,
        tuple properties not None,
        tuple addresses not None,
        str program not None,
    ):
        self.meta, self.most, self.most_texts = meta, most, most_texts
        self.addresses, self.programs, self.properties = Words(addresses), Words((program,)), Words(properties)


cdef class _Declared:
    """What a page declares, as far as it was read."""

    cdef list metas, scripts, texts, authors, dates, changes, author_links, author_pages
    cdef list by_tag  # titles, headings, times, styles, bases
    cdef Signs signs
    cdef Names names
    cdef _Document document

    def __cinit__(self, _Document document, Signs signs):
        self.metas, self.scripts, self.texts, self.by_tag = [], [], [], [[] for _ in range(TITLE, A)]
        self.authors, self.dates, self.changes, self.author_links, self.author_pages = [], [], [], [], []
        self.document, self.signs, self.names = document, signs, Names(DECLARING, NOTHING)

    cdef int add(self, tree.xmlNode* node, bint inside, bint named) except -1:
        """Add an element: by its tag, where it stands in the page; by its attributes, if they were not looked at."""
        cdef int tag = self.names.of(node.name) if node.ns == NULL else NOTHING
        if named and node.properties != NULL:
            self.add_named(node, tag)
        if not inside or tag < META or tag >= A:  # elements too may be called "name" or "content"
            return 0
        if tag == META:
            self.add_meta(node)
        elif tag == SCRIPT:
            self.add_script(node)
        else:
            (<list>self.by_tag[tag - TITLE]).append(elementFactory(self.document, node))
        return 0

    cdef int add_meta(self, tree.xmlNode* node) except -1:
        cdef list parts = [""] * META_PARTS
        cdef tree.xmlAttr* attribute = node.properties
        cdef int part
        while attribute != NULL:
            part = self.names.of(attribute.name)
            if part < META_PARTS and attribute.ns == NULL:
                parts[part] = attributeValue(node, attribute)
            attribute = attribute.next
        self.metas.append(tuple.__new__(self.signs.meta, parts))
        return 0

    cdef int add_script(self, tree.xmlNode* node) except -1:
        cdef tree.xmlAttr* attribute = node.properties
        while attribute != NULL:
            if self.names.of(attribute.name) == TYPE and attribute.ns == NULL:
                if not self.signs.programs.stand_in_value(node, attribute):
                    if kind := attributeValue(node, attribute):
                        self.scripts.append((kind, elementFactory(self.document, node)))
                return 0
            attribute = attribute.next
        return 0

    cdef int add_named(self, tree.xmlNode* node, int tag) except -1:
        """Add an element of the document, the page and what stands beside it."""
        cdef tree.xmlAttr* attribute = node.properties
        cdef int name
        cdef bint is_link = tag == A
        while attribute != NULL:
            name = self.names.of(attribute.name)
            if name == NOTHING or attribute.ns != NULL:
                attribute = attribute.next
                continue
            if tag != META and (name == ITEMPROP or name == PROPERTY) and len(self.texts) < self.signs.most_texts:
                if self.signs.properties.stand_in_value(node, attribute):
                    self.texts.append((attributeValue(node, attribute), elementFactory(self.document, node)))
            if name == ITEMPROP:
                if len(self.authors) < self.signs.most and is_value(node, attribute, "author"):
                    self.authors.append(elementFactory(self.document, node))
                elif len(self.dates) < self.signs.most and is_value(node, attribute, "datePublished"):
                    self.dates.append(elementFactory(self.document, node))
                elif len(self.changes) < self.signs.most and is_value(node, attribute, "dateModified"):
                    self.changes.append(elementFactory(self.document, node))
            elif is_link and name == REL:
                if len(self.author_links) < self.signs.most and is_value(node, attribute, "author"):
                    self.author_links.append(elementFactory(self.document, node))
            elif is_link and name == HREF:
                if self.signs.addresses.stand_in_value(node, attribute):
                    self.author_pages.append((attributeValue(node, attribute), elementFactory(self.document, node)))
            attribute = attribute.next
        return 0


def declared(_Element root not None, Signs signs not None):
    """Return what a page declares.

    Args:
        root: The root of the tree. Names are looked for in its whole document, all else in and below it.
        signs: How pages declare something.
    """
    cdef _Declared page = _Declared(root._doc, signs)
    cdef tree.xmlNode* top = root._c_node
    cdef tree.xmlNode* node = root._doc._c_doc.children
    cdef bint inside = False, was_inside = False
    cdef int walk
    for walk in range(2):
        while node != NULL:
            if node == top:
                inside = was_inside = True
            if node.type == tree.XML_ELEMENT_NODE:
                page.add(node, inside, not walk)
                if node.children != NULL:
                    node = node.children
                    continue
            while True:
                if node == top:
                    inside = False
                    if walk:
                        node = NULL
                        break
                if node.next != NULL:
                    node = node.next
                    break
                node = node.parent
                if node == NULL or node.type != tree.XML_ELEMENT_NODE:
                    node = NULL
                    break
        if was_inside:
            break
        node = top  # it was taken out of its document
    return (
        page.metas, page.scripts, *page.by_tag, page.texts,
        page.authors, page.dates, page.changes, page.author_links, page.author_pages,
    )
