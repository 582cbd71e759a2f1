# cython: language_level=3
"""Looks for names and words in the attributes of elements, without an object for each element."""

from libc.stdint cimport uint16_t
from lxml.includes cimport tree
from lxml.includes.tree cimport const_xmlChar

cdef enum:
    CACHED = 512
    SHIFT = 55  # leaves as many bits as number CACHED places
    MOST_WORDS = 16


cdef class Names:
    cdef const_xmlChar* places[CACHED]
    cdef unsigned char found[CACHED]
    cdef dict meanings
    cdef unsigned char otherwise
    cdef int room

    cdef int of(self, const_xmlChar* name) except -1
    cdef int add(self, const_xmlChar* name, size_t place) except -1


cdef class Words:
    cdef tuple words
    cdef const char* starts[MOST_WORDS]
    cdef uint16_t firsts[256]  # by letter, a bit for each word that begins with it
    cdef uint16_t seconds[256]  # the same for the second letter; all words that have none
    cdef bint always  # a word is empty

    cdef bint stand_in(self, const char* letter) noexcept
    cdef bint stand_in_value(self, tree.xmlNode* node, tree.xmlAttr* attribute) except -1


cdef class Hints:
    cdef dict tags, attributes  # their numbers
    cdef list rows  # by tag, the words by attribute; None if each element is wanted; the last for other tags

    cdef list row_of(self, dict hints)


cdef class Search:
    cdef Hints hints
    cdef Names tags, attributes

    cdef bint finds(self, tree.xmlNode* node) except -1


cdef bint is_plain(tree.xmlAttr* attribute) noexcept
cdef const char* plain_value(tree.xmlAttr* attribute) noexcept
