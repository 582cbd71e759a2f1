# cython: language_level=3
"""The block-level elements of a page and its lines, as ``methods.fusion.blocks`` walks through them."""

from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, strcmp
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport attributeValue, import_lxml__etree

from denoise_crawler.core.hashing cimport hash_bytes
from denoise_crawler.core.nodes cimport TEXT, Columns, Node

import_lxml__etree()

cdef enum:
    INLINE = -1
    LONGEST_STEP = 1_200  # bytes of tag, class and id; a longer one is hashed in Python
    REMEMBERED = 16_384


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


cdef Py_ssize_t write_number(uint32_t number, unsigned char* to) noexcept nogil:
    """Write a number in decimal digits; return how many."""
    cdef unsigned char[10] digits
    cdef Py_ssize_t count = 0, index
    while True:
        digits[count] = <unsigned char>(48 + number % 10)
        number //= 10
        count += 1
        if not number:
            break
    for index in range(count):
        to[index] = digits[count - 1 - index]
    return count


cdef extern from "Python.h":
    void* PyUnicode_1BYTE_DATA(object text)


cdef class Rules:
    """What tags and attributes mean; made once in a process.

    Args:
        inline: The tags of inline elements.
        codes: The number of each tag that has one.
        places: The bits of the places that a tag makes.
        readers: By attribute, what returns the bits of the places that a value makes.
        comment_place: Returns the bits of the places that class and id make.
        step: Returns the path one element further down from its parent's path, its tag, and its class and id; it
            is called where these are not all ASCII.
        longest_names: How many characters of class and id are read.
        own: The tags of headings, those of elements that are named after the page, how many nodes on an element
            begins with its heading, the longest heading, and what returns class and id without the words that
            these gave them.
    """

    cdef dict codes, places, readers
    cdef frozenset inline
    cdef object comment_place, step
    cdef Py_ssize_t longest_names, near, longest_heading
    cdef frozenset headings, wholes
    cdef object spoken_names
    cdef dict remembered  # by names, the bits of the places they make

    def __init__(self, inline, dict codes, dict places, dict readers, comment_place, step, longest_names, tuple own):
        self.inline, self.codes, self.places = frozenset(inline), codes, places
        self.readers, self.comment_place, self.step = readers, comment_place, step
        self.longest_names = longest_names
        self.headings, self.wholes, self.near, self.longest_heading, self.spoken_names = own
        self.remembered = {}

    def walk(
        self,
        Columns columns not None,
        int64_t[:, ::1] elements not None,
        uint32_t[::1] paths not None,
        int64_t[::1] homes not None,
        frozenset title not None,
    ):
        """Return the lines (their text nodes) and the names of the elements.

        Args:
            columns: The nodes of the page.
            elements: Filled with the elements' nodes, parents, places, tags, depths and ends.
            paths: Filled with the elements' paths.
            homes: Filled with the element that each line stands in.
            title: The words of the page's title.
        """
        cdef Py_ssize_t count = columns.count, index, home, found = 1, end = count, levels = 1
        cdef int64_t place = 0
        cdef list lines = [], names = [], line = None
        cdef list codes = [self.code(tag) for tag in columns.names]
        cdef list tag_places = [self.places.get(tag, 0) for tag in columns.names]
        cdef int code
        cdef str name
        cdef Node* node
        cdef int32_t* home_of = NULL
        cdef int32_t* ends = NULL
        if elements.shape[0] != 6 or elements.shape[1] != count or paths.shape[0] != count or homes.shape[0] != count:
            raise ValueError("the columns do not fit each other")
        home_of, ends = <int32_t*>malloc(count * sizeof(int32_t)), <int32_t*>malloc(count * sizeof(int32_t))
        try:
            if home_of == NULL or ends == NULL:
                raise MemoryError
            name = self.attributes(columns, 0, &place, title)
            names.append(name)
            elements[0, 0], elements[1, 0], elements[2, 0], elements[4, 0], elements[5, 0] = 0, -1, place, 0, count
            elements[3, 0] = self.codes["body"]
            paths[0] = 0
            home_of[0], ends[0] = 0, <int32_t>count
            for index in range(1, count):
                node = &columns.nodes[index]
                while index >= end:
                    levels -= 1
                    end, line = ends[levels - 1], None
                home = home_of[node.parent]
                if node.tag == TEXT:
                    if line is None:
                        line = []
                        homes[len(lines)] = home
                        lines.append(line)
                    line.append(index)
                    home_of[index] = 0
                    continue
                code = codes[node.tag]
                if code == INLINE:
                    home_of[index] = <int32_t>home
                    continue
                home_of[index] = <int32_t>found
                place = elements[2, home] | <int64_t>tag_places[node.tag]
                name = self.attributes(columns, index, &place, title)
                elements[0, found], elements[1, found] = index, home
                elements[2, found], elements[3, found] = place, code
                elements[4, found], elements[5, found] = elements[4, home] + 1, node.end
                paths[found] = self.next_path(paths[home], columns.names[node.tag], name)
                names.append(name)
                found += 1
                end, line = node.end, None
                ends[levels] = <int32_t>end
                levels += 1
        finally:
            free(home_of)
            free(ends)
        return lines, names

    cdef uint32_t next_path(self, uint32_t path, str tag, str names) except? 0:
        """Return the path one element further down; digits in class and id do not count."""
        cdef unsigned char[LONGEST_STEP + 32] written
        cdef Py_ssize_t size
        cdef const unsigned char* letters
        cdef Py_ssize_t index
        if not tag.isascii() or not names.isascii() or len(tag) + len(names) > LONGEST_STEP:
            return <uint32_t>self.step(path, tag, names)
        size = write_number(path, written)
        written[size] = b" "
        size += 1
        letters = <const unsigned char*>PyUnicode_1BYTE_DATA(tag)
        memcpy(written + size, letters, len(tag))
        size += len(tag)
        written[size] = b" "
        size += 1
        letters = <const unsigned char*>PyUnicode_1BYTE_DATA(names)
        for index in range(len(names)):
            if not b"0" <= letters[index] <= b"9":
                written[size] = letters[index]
                size += 1
        return <uint32_t>hash_bytes(written, size)

    cdef int64_t named_place(self, str names) except -1:
        """Return the bits of the places that class and id make."""
        found = self.remembered.get(names)
        if found is None:
            found = self.comment_place(names)
            if len(names) <= 200:  # what is remembered must be bounded
                if len(self.remembered) >= REMEMBERED:
                    self.remembered.clear()
                self.remembered[names] = found
        return found

    cdef int code(self, str tag) except -2:
        return INLINE if tag in self.inline else self.codes.get(tag, 0)

    cdef str heading_of(self, Columns columns, Py_ssize_t index):
        """Return the text of the heading that a node is, or that its text begins with; empty without one."""
        cdef Py_ssize_t at, last = min(<Py_ssize_t>columns.nodes[index].end, index + self.near), end
        for at in range(index, last):
            if columns.nodes[at].tag == TEXT:
                break
            if <str>columns.names[columns.nodes[at].tag] in self.headings:
                end = min(<Py_ssize_t>columns.nodes[at].end, at + self.near)
                return ("".join(columns.texts[at:end]))[: self.longest_heading]
        return ""

    cdef str attributes(self, Columns columns, Py_ssize_t index, int64_t* places, frozenset title):
        """Add to ``places`` what the attributes say; return class and id."""
        cdef tree.xmlNode* node = columns.nodes[index].place
        cdef tree.xmlAttr* attribute
        cdef const char* name
        cdef str class_name = "", identity = "", names, tag, heading
        if node.type != tree.XML_ELEMENT_NODE or node.properties == NULL:
            return ""
        attribute = node.properties
        while attribute != NULL:
            if attribute.type == tree.XML_ATTRIBUTE_NODE and attribute.ns == NULL:
                name = <const char*>attribute.name
                if strcmp(name, "class") == 0:
                    class_name = value_of(node, attribute)
                elif strcmp(name, "id") == 0:
                    identity = value_of(node, attribute)
                elif name[0] in b"rsahi":
                    reader = self.readers.get(name.decode("utf-8"))
                    if reader is not None:
                        places[0] |= <int64_t>reader(value_of(node, attribute))
            attribute = attribute.next
        class_name, identity = class_name[: self.longest_names], identity[: self.longest_names]
        names = f"{class_name} {identity}" if identity else class_name
        if names:
            heading, tag = self.heading_of(columns, index) if identity else "", columns.names[columns.nodes[index].tag]
            if heading or tag in self.wholes:
                names = self.spoken_names(tag, class_name, identity, heading, title)
        if len(names) > self.longest_names:
            names = names[: self.longest_names]
        if names:
            places[0] |= self.named_place(names)
        return names


def judged_nodes(Columns columns not None, list lines not None, taken, chances):
    """Return noise and scores by node, as ``Fusion`` has them, from the blocks ``taken`` and their ``chances``.

    Args:
        columns: The nodes of the page.
        lines: The text nodes of each block.
        taken: Whether each block is taken, as bytes.
        chances: How likely each block is content.
    """
    cdef const uint8_t[::1] kept = taken
    cdef const double[::1] scores = chances
    cdef Py_ssize_t count = columns.count, index, block, node
    cdef list noise = [], by_node = []
    cdef list line, numbers = [0.0, *chances.tolist()]  # each is one object, however many nodes have it
    cdef int32_t* best  # the block that a node has its score from, counted from 1; 0 for none
    cdef unsigned char* holds  # 1: text of a block, 2: text that is kept
    cdef Node* nodes = columns.nodes
    if not kept.shape[0] == scores.shape[0] == len(lines):
        raise ValueError("the judgement does not fit the blocks")
    best, holds = <int32_t*>malloc(count * sizeof(int32_t)), <unsigned char*>malloc(count)
    try:
        if best == NULL or holds == NULL:
            raise MemoryError
        for index in range(count):
            best[index], holds[index] = 0, 0
        for block in range(len(lines)):
            line = lines[block]
            for node in line:
                if not 0 <= node < count:
                    raise ValueError("a block has a node that is not there")
                best[node], holds[node] = <int32_t>block + 1, 3 if kept[block] else 1
        for index in range(count - 1, 0, -1):
            node = nodes[index].parent
            holds[node] |= holds[index]
            if best[index] and (not best[node] or scores[best[index] - 1] > scores[best[node] - 1]):
                best[node] = best[index]
        for index in range(count):
            if not holds[index] and index:  # one without text goes with its parent
                holds[index] = 2 * (not noise[nodes[index].parent])
            noise.append(not holds[index] & 2)
            by_node.append(numbers[best[index]])
    finally:
        free(best)
        free(holds)
    return noise, by_node
