# cython: language_level=3, wraparound=False, cdivision=True
"""The heart, compiled: what ``reference`` specifies, to the last bit.

The columns that come from Python are looked at once, where a function begins; all that follows trusts them. Tables
of hashes have a seed of their process, so that no page can choose hashes that meet in few slots. The files that are
included stand beside those of the reference: ``features.pxi`` compiles what ``reference_features.py`` says.
"""

from os import urandom

import numpy as np

from cpython cimport array
from libc.math cimport exp, fabs, llrint, log, log1p
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel import names as naming
from denoise_crawler.kernel.columns import Blocks, Choice, Elements, Headline, SiteStats
# few pages have units or declare rows, and sites have few style sheets
from denoise_crawler.kernel.reference_decision import joint_chances
from denoise_crawler.kernel.reference_declared import row_shares
from denoise_crawler.kernel.reference_text import rules_of

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    void* PyUnicode_DATA(object text)

cdef double UNSAID = shared.UNSAID
cdef double HUNDREDTHS = shared.HUNDREDTHS
cdef uint64_t SPREAD = shared.SPREAD


cdef int check(bint fits, str message) except -1:
    """Raise ValueError unless the columns fit: what follows reads and writes where these say."""
    if not fits:
        raise ValueError(message)
    return 0


# columns of zeros for a moment: an array of numpy costs twice as much
# an empty array has no memory: to fill it would be undefined
cdef array.array NO_DOUBLES = array.array("d"), NO_LONGS = array.array("q"), NO_MARKS = array.array("B")


cdef double[::1] doubles(Py_ssize_t count):
    return array.clone(NO_DOUBLES, count, count > 0)


cdef int64_t[::1] longs(Py_ssize_t count):
    return array.clone(NO_LONGS, count, count > 0)


cdef uint8_t[::1] marks(Py_ssize_t count):
    return array.clone(NO_MARKS, count, count > 0)


include "hashes.pxi"


# --- the columns of a page, as all that follows reads them

cdef class Page:
    """The columns of a page's blocks and of the elements around them, which fit each other."""

    cdef Py_ssize_t count, size  # blocks, elements
    cdef list contents  # the texts of the blocks
    cdef const double[::1] characters, linked, tokens, commas, closed
    cdef const int64_t[::1] homes, parents, first, last, places, tags, depths
    cdef const uint32_t[::1] texts, masked, links, styles, shapes, paths
    cdef list small  # the texts in small letters
    cdef double[:, ::1] running  # sums of characters and of those inside links
    cdef int64_t[::1] path_of  # by block, the number of its path
    cdef Py_ssize_t path_count

    def __cinit__(self, blocks):
        around = blocks.around
        self.contents, self.homes, self.characters, self.linked = (
            blocks.texts, blocks.elements, blocks.characters, blocks.linked
        )
        self.tokens, self.commas, self.closed = blocks.tokens, blocks.commas, blocks.closed
        self.texts, self.masked, self.links = blocks.text_hashes, blocks.masked_hashes, blocks.link_hashes
        self.styles, self.shapes = blocks.styles, blocks.shapes
        self.parents, self.first, self.last, self.places = around.parents, around.first, around.last, around.places
        self.tags, self.depths, self.paths = around.tags, around.depths, around.paths
        self.count, self.size = self.homes.shape[0], self.parents.shape[0]
        self.running = self.path_of = None
        for column in (
            blocks.texts, blocks.characters, blocks.linked, blocks.tokens, blocks.commas, blocks.closed,
            blocks.text_hashes, blocks.masked_hashes, blocks.link_hashes, blocks.styles, blocks.shapes,
        ):
            check(len(column) == self.count, "the columns of the blocks do not fit each other")
        for column in (around.first, around.last, around.places, around.tags, around.depths, around.paths):
            check(len(column) == self.size, "the columns of the elements do not fit each other")
        self.check_places()

    cdef int check_places(self) except -1:
        cdef Py_ssize_t index
        cdef bint fits = self.size > 0 and self.parents[0] == -1
        for index in range(self.size):
            fits &= 0 <= self.parents[index] < index or index == 0
            fits &= 0 <= self.first[index] <= self.last[index] <= self.count
        for index in range(self.count):
            fits &= 0 <= self.homes[index] < self.size
        return check(fits, "a block or an element stands in one that is not there")

    cdef list in_small_letters(self):
        """Return the texts in small letters."""
        if self.small is None:
            self.small = [(<str>text).lower() for text in self.contents]
        return self.small

    cdef double[:, ::1] so_far(self):
        """Return the running sums of characters and of those inside links, which begin with 0."""
        cdef Py_ssize_t index
        if self.running is None:
            self.running = np.zeros((2, self.count + 1))
            for index in range(self.count):
                self.running[0, index + 1] = self.running[0, index] + self.characters[index]
                self.running[1, index + 1] = self.running[1, index] + self.linked[index]
        return self.running

    cdef int64_t[::1] by_path(self):
        """Return by block the number of its path, from 0 up to ``path_count``."""
        cdef Py_ssize_t index
        cdef int64_t[::1] keys
        if self.path_of is None:
            keys, self.path_of = longs(self.count), longs(self.count)
            for index in range(self.count):
                keys[index] = self.paths[self.homes[index]]
            self.path_count = group(keys, longs(self.count), self.path_of)
        return self.path_of

    cdef double[:, ::1] below(self, double[:, ::1] so_far):
        """Return by element its characters and those inside links."""
        cdef Py_ssize_t index
        cdef double[:, ::1] sums = np.zeros((2, self.size))
        for index in range(self.size):
            sums[0, index] = so_far[0, self.last[index]] - so_far[0, self.first[index]]
            sums[1, index] = so_far[1, self.last[index]] - so_far[1, self.first[index]]
        return sums


cdef Page page_of(blocks, Py_ssize_t count=-1):
    """Return the columns of a page, which keeps them; it must have as many blocks as another column."""
    page = blocks.__dict__.get("read")
    if page is None:
        page = blocks.__dict__["read"] = Page(blocks)
    check(count < 0 or (<Page>page).count == count, "the columns do not fit the page")
    return page


include "blocks.pxi"
include "declared.pxi"
include "features.pxi"
include "site.pxi"
include "trees.pxi"
include "decision.pxi"
include "text.pxi"
