# cython: language_level=3
"""The lines of a page and its block-level elements, as ``methods.fusion.blocks`` walks through them."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport strcmp
from lxml.includes cimport tree
from lxml.includes.tree cimport const_xmlChar
from lxml.includes.etreepublic cimport attributeValue, attributeValueFromNsName, import_lxml__etree

from denoise_crawler.core.nodes cimport TEXT, Columns, Node

import_lxml__etree()

cdef enum:
    INLINE = -1


cdef class Rules:
    """What tags and attributes mean; made once in a process.

    Args:
        inline: The tags of inline elements.
        codes: The number of each tag that has one.
        places: The bits of the places that a tag makes.
        readers: By attribute, what returns the bits of the places that a value makes.
        comment_place: Returns the bits of the places that class and id make.
        step: Returns the path one element further down from its parent's path, its tag, and its class and id.
        longest_names: How many characters of class and id are read.
    """

    cdef dict codes, places, readers
    cdef frozenset inline
    cdef object comment_place, step
    cdef Py_ssize_t longest_names

    def __init__(self, inline, dict codes, dict places, dict readers, comment_place, step, longest_names):
        self.inline, self.codes, self.places = frozenset(inline), codes, places
        self.readers, self.comment_place, self.step = readers, comment_place, step
        self.longest_names = longest_names

    def walk(
        self,
        Columns columns not None,
        int64_t[:, ::1] elements not None,
        uint32_t[::1] paths not None,
        int64_t[::1] homes not None,
    ):
        """Return the lines (their text nodes) and the names of the elements.

        Args:
            columns: The nodes of the page.
            elements: Filled with the elements' nodes, parents, places, tags, depths and ends.
            paths: Filled with the elements' paths.
            homes: Filled with the element that each line stands in.
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
            name = self.attributes(columns.nodes[0].place, &place)
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
                name = self.attributes(node.place, &place)
                elements[0, found], elements[1, found] = index, home
                elements[2, found], elements[3, found] = place, code
                elements[4, found], elements[5, found] = elements[4, home] + 1, node.end
                paths[found] = self.step(paths[home], columns.names[node.tag], name)
                names.append(name)
                found += 1
                end, line = node.end, None
                ends[levels] = <int32_t>end
                levels += 1
        finally:
            free(home_of)
            free(ends)
        return lines, names

    cdef int code(self, str tag) except -2:
        return INLINE if tag in self.inline else self.codes.get(tag, 0)

    cdef str attributes(self, tree.xmlNode* node, int64_t* places):
        """Add to ``places`` what the attributes say; return class and id."""
        cdef tree.xmlAttr* attribute
        cdef const char* name
        cdef str class_name = "", identity = "", names
        if node.type != tree.XML_ELEMENT_NODE or node.properties == NULL:
            return ""
        attribute = node.properties
        while attribute != NULL:
            if attribute.type == tree.XML_ATTRIBUTE_NODE and attribute.ns == NULL:
                name = <const char*>attribute.name
                if strcmp(name, "class") == 0:
                    class_name = attributeValue(node, attribute)
                elif strcmp(name, "id") == 0:
                    identity = attributeValue(node, attribute)
                elif name[0] in b"rsahi":
                    reader = self.readers.get(name.decode("utf-8"))
                    if reader is not None:
                        places[0] |= <int64_t>reader(attributeValue(node, attribute))
            attribute = attribute.next
        names = f"{class_name} {identity}" if identity else class_name
        if len(names) > self.longest_names:
            names = names[: self.longest_names]
        if names:
            places[0] |= <int64_t>self.comment_place(names)
        return names


def measure_lines(
    Columns columns not None,
    list lines not None,
    double[:, ::1] numbers not None,
    uint32_t[:, ::1] hashes not None,
    int64_t[::1] firsts not None,
    measure,
    address_hash,
):
    """Measure the lines of a page.

    Args:
        columns: The nodes of the page.
        lines: The text nodes of each line.
        numbers: Filled, for each line that has text, with its characters, tokens, commas, how it ends, and its
            linked characters.
        hashes: Filled with the hashes of these lines' texts, of these with each number alike, and of their links.
        firsts: Filled with the first node of each of these lines.
        measure: Returns the normalised text of a line and six measures, characters first.
        address_hash: Returns the hash of a link's address.

    Returns:
        The normalised texts, and the numbers of the lines that have text.
    """
    cdef list written = [], kept = [], texts = columns.texts
    cdef list line
    cdef str text, part
    cdef tuple measures
    cdef Py_ssize_t number, node, link, row = 0, count = len(lines)
    cdef int64_t linked, link_hash, characters
    if numbers.shape[0] != 5 or hashes.shape[0] != 3:
        raise ValueError("the tables do not fit the lines")
    if not numbers.shape[1] == hashes.shape[1] == firsts.shape[0] == count:
        raise ValueError("the tables do not fit the lines")
    for number in range(count):
        line = lines[number]
        text = texts[<Py_ssize_t>line[0]] if len(line) == 1 else "".join([texts[<Py_ssize_t>node] for node in line])
        text, measures = measure(text)
        if not text:
            continue
        characters = measures[0]
        numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row] = measures[:4]
        hashes[0, row], hashes[1, row] = measures[4], measures[5]
        linked = link_hash = 0
        for node in line:
            link = columns.nodes[node].link
            if link >= 0:
                part = texts[node]
                linked += len(part) - part.count(" ")
                if not link_hash:
                    link_hash = address_hash(
                        attributeValueFromNsName(columns.nodes[link].place, NULL, <const_xmlChar*>"href")
                    )
        if linked and (len(line) == 1 or linked > characters):
            linked = characters
        numbers[4, row], hashes[2, row], firsts[row] = linked, <uint32_t>link_hash, <Py_ssize_t>line[0]
        written.append(text)
        kept.append(number)
        row += 1
    return written, kept
