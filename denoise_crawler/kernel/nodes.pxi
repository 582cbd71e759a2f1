"""The nodes of a page: a struct for each, so that no stage asks Python for one."""

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

    def fill(self, int32_t[:, ::1] table not None):
        """Fill four rows by node: the number of its tag among the names, its parent, its end and its link."""
        cdef Py_ssize_t index
        cdef Node* node
        if table.shape[0] != 4 or table.shape[1] != self.count:
            raise ValueError("the table does not fit the nodes")
        for index in range(self.count):
            node = &self.nodes[index]
            table[0, index], table[1, index] = node.tag, node.parent
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
                        bits |= <int64_t>(reader(value_of(node, attribute)) or 0)
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
