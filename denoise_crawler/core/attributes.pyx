# cython: language_level=3
"""Looks for names and words in the attributes of elements, without an object for each element."""

from libc.stdint cimport uint16_t, uint64_t
from libc.string cimport memset
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport attributeValue, import_lxml__etree
from lxml.includes.tree cimport const_xmlChar

from denoise_crawler.core.nodes cimport TEXT, Columns

import_lxml__etree()

cdef uint64_t SPREAD = 0x9E3779B97F4A7C15


cdef class Names:
    """What the names in a document mean. libxml2 keeps each name once, so its letters are looked at once."""

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
        """Tell whether a value holds one of the words."""
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
        """Tell whether the value of an attribute holds one of the words."""
        cdef bytes value
        if is_plain(attribute):
            return self.stand_in(plain_value(attribute))
        value = attributeValue(node, attribute).encode("utf-8")
        return self.stand_in(value)


cdef bint is_plain(tree.xmlAttr* attribute) noexcept:
    """Tell whether a value is one text; else it is put together from parts."""
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

    def __cinit__(self, dict by_tag not None, dict otherwise not None):
        names = {name for hints in (otherwise, *by_tag.values()) for name in hints}
        self.attributes = {name.encode("utf-8"): number for number, name in enumerate(sorted(names))}
        self.tags = {tag.encode("utf-8"): number for number, tag in enumerate(by_tag)}
        self.rows = [self.row_of(hints) if hints else None for hints in by_tag.values()]
        self.rows.append(self.row_of(otherwise))

    cdef list row_of(self, dict hints):
        cdef list row = [None] * (len(self.attributes) + 1)
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

    def __cinit__(self, Hints hints):
        self.hints, self.tags = hints, Names(hints.tags, len(hints.tags))
        self.attributes = Names(hints.attributes, len(hints.attributes))

    cdef bint finds(self, tree.xmlNode* node) except -1:
        """Tell whether an element has a hint."""
        cdef tree.xmlAttr* attribute
        cdef list row
        cdef object words
        if node.type != tree.XML_ELEMENT_NODE:
            return False
        row = self.hints.rows[self.tags.of(node.name) if node.ns == NULL else -1]
        if row is None:
            return True
        attribute = node.properties
        while attribute != NULL:
            words = row[self.attributes.of(attribute.name)]
            if words is not None and attribute.ns == NULL and (<Words>words).stand_in_value(node, attribute):
                return True
            attribute = attribute.next
        return False
