# cython: language_level=3
"""The lines of a page and its block-level elements, as ``methods.fusion.blocks`` walks through them."""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport strcmp
from lxml.includes cimport tree
from lxml.includes.tree cimport const_xmlChar
from lxml.includes.etreepublic cimport _Element, attributeValue, attributeValueFromNsName, import_lxml__etree

import_lxml__etree()

cdef enum:
    INLINE = -1


cdef class Rules:
    """What tags and attributes mean; made once in a process.

    Args:
        text_tag: The tag of runs of text.
        inline: The tags of inline elements.
        codes: The number of each tag that has one.
        places: The bits of the places that a tag makes.
        readers: By attribute, what returns the bits of the places that a value makes.
        comment_place: Returns the bits of the places that class and id make.
        step: Returns the path one element further down from its parent's path, its tag, and its class and id.
        longest_names: How many characters of class and id are read.
    """

    cdef str text_tag
    cdef dict meanings, codes, places, readers
    cdef frozenset inline
    cdef object comment_place, step
    cdef Py_ssize_t longest_names

    def __init__(self, str text_tag, inline, dict codes, dict places, dict readers, comment_place, step, longest_names):
        self.text_tag, self.inline, self.codes, self.places = text_tag, frozenset(inline), codes, places
        self.readers, self.comment_place, self.step = readers, comment_place, step
        self.longest_names = longest_names

    def walk(
        self,
        list tags not None,
        list parents not None,
        list ends not None,
        list elements not None,
        int64_t[:, ::1] columns not None,
        uint32_t[::1] paths not None,
        int64_t[::1] home_of not None,
    ):
        """Return the lines (their text nodes), the element each stands in, and the names of the elements.

        Args:
            tags: The tags of the nodes; as the next three, a column of ``Nodes``.
            parents: The parent of each node.
            ends: The end of each node's subtree.
            elements: The elements of the nodes.
            columns: Filled with the elements' nodes, parents, places, tags and depths.
            paths: Filled with the elements' paths.
            home_of: Filled with the element that each node stands in.
        """
        cdef Py_ssize_t count = len(tags), index, home, elements_found = 1, parent, end = count
        cdef int64_t place = 0, code
        cdef list lines = [], homes = [], names = [], line = None
        cdef list open_ends = [count]
        cdef dict codes = {}  # by tag, INLINE or the number; a tag that a page makes up is not remembered longer
        cdef str tag, name
        if not (len(parents) == len(ends) == len(elements) == home_of.shape[0] == paths.shape[0] == count):
            raise ValueError("the columns do not fit each other")
        if columns.shape[0] != 5 or columns.shape[1] != count:
            raise ValueError("the columns do not fit each other")
        name = self.attributes(elements[0], &place)
        names.append(name)
        columns[0, 0], columns[1, 0], columns[2, 0], columns[4, 0] = 0, -1, place, 0
        columns[3, 0] = self.codes["body"]
        paths[0] = 0
        home_of[0] = 0
        for index in range(1, count):
            while index >= end:
                open_ends.pop()
                end, line = open_ends[len(open_ends) - 1], None
            tag = tags[index]
            home = home_of[<Py_ssize_t>parents[index]]
            if tag is self.text_tag:
                if line is None:
                    line = []
                    lines.append(line)
                    homes.append(home)
                line.append(index)
                home_of[index] = 0
                continue
            found = codes.get(tag)
            if found is None:
                found = codes[tag] = INLINE if tag in self.inline else self.codes.get(tag, 0)
            code = found
            if code == INLINE:
                home_of[index] = home
                continue
            home_of[index] = elements_found
            place = columns[2, home] | <int64_t>self.places.get(tag, 0)
            name = self.attributes(elements[index], &place)
            columns[0, elements_found], columns[1, elements_found] = index, home
            columns[2, elements_found], columns[3, elements_found] = place, code
            columns[4, elements_found] = columns[4, home] + 1
            paths[elements_found] = self.step(paths[home], tag, name)
            names.append(name)
            elements_found += 1
            end, line = ends[index], None
            open_ends.append(end)
        return lines, homes, names

    cdef str attributes(self, _Element element, int64_t* places):
        """Add to ``places`` what the attributes say; return class and id."""
        cdef tree.xmlNode* node = element._c_node
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
    list lines not None,
    list texts not None,
    list links not None,
    list elements not None,
    int64_t[:, ::1] table not None,
    measure,
    address_hash,
):
    """Measure the lines of a page.

    Args:
        lines: The text nodes of each line.
        texts: The texts of the nodes; as the next two, a column of ``Nodes``.
        links: The link of each node.
        elements: The elements of the nodes.
        table: Filled with the measures of each line that has text, its linked characters and the hash of its link.
        measure: Returns the normalised text of a line and six measures, characters first.
        address_hash: Returns the hash of a link's address.

    Returns:
        The normalised texts, and the numbers of the lines that have text.
    """
    cdef list written = [], kept = []
    cdef list line
    cdef str text, part
    cdef tuple measures
    cdef Py_ssize_t number, node, link, row = 0, column
    cdef int64_t linked, link_hash
    cdef tree.xmlNode* anchor
    if table.shape[0] != len(lines) or table.shape[1] != 8:
        raise ValueError("the table does not fit the lines")
    for number in range(len(lines)):
        line = lines[number]
        text = texts[<Py_ssize_t>line[0]] if len(line) == 1 else "".join([texts[<Py_ssize_t>node] for node in line])
        text, measures = measure(text)
        if not text:
            continue
        for column in range(6):
            table[row, column] = measures[column]
        linked = link_hash = 0
        for node in line:
            link = links[node]
            if link >= 0:
                part = texts[node]
                linked += len(part) - part.count(" ")
                if not link_hash:
                    anchor = (<_Element>elements[link])._c_node
                    link_hash = address_hash(attributeValueFromNsName(anchor, NULL, <const_xmlChar*>"href"))
        if linked and (len(line) == 1 or linked > table[row, 0]):
            linked = table[row, 0]
        table[row, 6], table[row, 7] = linked, link_hash
        written.append(text)
        kept.append(number)
        row += 1
    return written, kept
