# cython: language_level=3
"""The columns of a page that its features are made of."""

from libc.stdint cimport int64_t, uint32_t

from denoise_crawler.core.groups cimport Groups

cdef enum:
    LEVELS = 6
    FIRST_LEVELS = 4


cdef class Features:
    cdef Py_ssize_t blocks, count
    cdef const double[::1] characters, linked, commas, closed, tokens
    cdef const int64_t[::1] elements, parents, first, last, places, tags, depths
    cdef const uint32_t[::1] paths, texts
    cdef const double[::1] character_sums, linked_sums, element_characters, element_linked, link_shares, named
    cdef double unlinked
    cdef Groups on_path
    cdef int64_t* above  # by level and block, the elements above it
    cdef double* rows  # by block, what is worked out once

    cdef int check(self, bint fits) except -1
    cdef int gather(self, float[:, ::1] rows, Py_ssize_t row, Py_ssize_t level, const double* column) noexcept
    cdef int fill(self, float[:, ::1] rows, Py_ssize_t row, double number) noexcept
    cdef int names(self, float[:, ::1] rows, Py_ssize_t row) except -1
