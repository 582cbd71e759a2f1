# cython: language_level=3
"""The nodes of a page as the compiled core keeps them: a struct for each, so that no stage asks Python for one."""

from libc.stdint cimport int32_t, int64_t
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Document

cdef enum:
    TEXT = 0  # the tag of runs of text


cdef struct Node:
    int32_t tag, parent, end, link, characters
    tree.xmlNode* place  # the element; of text the one it stands in


cdef class Columns:
    cdef Node* nodes
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t room
    cdef readonly list names, texts
    cdef _Document document
    cdef list held
    cdef dict known  # by set of tags, which of the names are in it
    cdef bint counted

    cdef Py_ssize_t add_node(self, int32_t tag, Py_ssize_t parent, int32_t link, tree.xmlNode* place) except -1
    cdef int count_characters(self) except -1
    cdef bytes wanted(self, frozenset tags)
    cdef Node* at(self, Py_ssize_t index) except NULL
