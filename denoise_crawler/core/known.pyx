# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What is known of a site: its hashes by number, and sums over its pages. See ``methods.fusion.site_sums``."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free

from denoise_crawler.core.groups cimport Groups, grouped, slot_of


def count_shared(
    const uint8_t[::1] marked not None,
    const int32_t[::1] paths not None,
    const int32_t[::1] ends not None,
    double[::1] shared not None,
):
    """Count the ``marked`` paths of each page: their numbers one page after the other, and where each page ends."""
    cdef Py_ssize_t page, index = 0
    cdef int64_t count
    if ends.shape[0] != shared.shape[0]:
        raise ValueError("the columns of the pages do not fit each other")
    for page in range(ends.shape[0]):
        if not index <= ends[page] <= paths.shape[0]:
            raise ValueError("a page ends where there are no paths")
        count = 0
        while index < ends[page]:
            if not 0 <= paths[index] < marked.shape[0]:
                raise ValueError("a page has a path that is not there")
            count += marked[paths[index]]
            index += 1
        shared[page] = count


def add_repeated(
    const uint8_t[::1] repeated not None,
    const int32_t[::1] homes not None,
    const int32_t[::1] texts not None,
    const int32_t[::1] characters not None,
    double[::1] sums not None,
):
    """Add to ``sums`` by home the ``characters`` of the blocks whose text is ``repeated``."""
    cdef Py_ssize_t block
    if not homes.shape[0] == texts.shape[0] == characters.shape[0]:
        raise ValueError("the columns of the blocks do not fit each other")
    for block in range(homes.shape[0]):
        if not (0 <= texts[block] < repeated.shape[0] and 0 <= homes[block] < sums.shape[0]):
            raise ValueError("a block has a text or a home that is not there")
        if repeated[texts[block]]:
            sums[homes[block]] += characters[block]


def add_below(double[::1] sums not None, const int64_t[::1] parents not None):
    """Add to each place the sums of all places below it; parents come before children."""
    cdef Py_ssize_t place, count = parents.shape[0]
    if sums.shape[0] < count:
        raise ValueError("the sums do not fit the places")
    for place in range(count - 1, 0, -1):
        if not 0 <= parents[place] < sums.shape[0]:
            raise ValueError("a place stands in one that is not there")
        sums[parents[place]] += sums[place]


def group(
    const int64_t[::1] keys not None,
    int64_t[::1] first not None,
    int64_t[::1] of not None,
):
    """Fill ``first`` by group of equal keys with its first row, ``of`` by row with its group; return the groups."""
    cdef Py_ssize_t row, count = keys.shape[0], known = 0
    cdef Groups groups
    if not first.shape[0] == of.shape[0] == count:
        raise ValueError("the columns do not fit each other")
    if not count:
        return 0
    groups = grouped(&keys[0], count)
    for row in range(count):
        of[row] = groups.of[row]
        if of[row] == known:
            first[known] = row
            known += 1
    free(groups.of)
    return known


cdef class Table:
    """Distinct hashes, numbered from 1 on in the order of their coming; 0 stands for all others."""

    cdef uint32_t* hashes  # by number - 1
    cdef int32_t* slots  # open addressing: numbers, 0 for a free slot
    cdef Py_ssize_t count, room, size
    cdef int bits  # of the size
    cdef readonly Py_ssize_t collisions  # slots that other hashes had taken, in all searches

    def __cinit__(self):
        self.hashes, self.slots, self.count, self.room, self.size = NULL, NULL, 0, 0, 0
        self.collisions = 0
        self.make_room(1)

    def __dealloc__(self):
        PyMem_Free(self.hashes)
        PyMem_Free(self.slots)

    def __len__(self):
        return self.count

    def find(self, const uint32_t[::1] wanted not None, int64_t[::1] numbers not None):
        """Fill the ``numbers`` of ``wanted`` hashes."""
        cdef Py_ssize_t index
        if numbers.shape[0] != wanted.shape[0]:
            raise ValueError("the columns do not fit each other")
        for index in range(wanted.shape[0]):
            numbers[index] = self.slots[self.slot(wanted[index])]

    def add(self, const uint32_t[::1] wanted not None, int64_t[::1] numbers not None):
        """Fill the ``numbers`` of ``wanted`` hashes, given to those that have none."""
        cdef Py_ssize_t index, slot
        if numbers.shape[0] != wanted.shape[0]:
            raise ValueError("the columns do not fit each other")
        for index in range(wanted.shape[0]):
            slot = self.slot(wanted[index])
            if not self.slots[slot]:
                if self.count == self.room:
                    self.make_room(self.count + 1)
                    slot = self.slot(wanted[index])
                self.hashes[self.count] = wanted[index]
                self.count += 1
                self.slots[slot] = <int32_t>self.count
            numbers[index] = self.slots[slot]

    def __sizeof__(self):
        """Return the bytes held."""
        return object.__sizeof__(self) + self.room * sizeof(uint32_t) + self.size * sizeof(int32_t)

    cdef Py_ssize_t slot(self, uint32_t key) noexcept:
        """Return the slot of a hash, or the free one that it would take."""
        cdef Py_ssize_t slot = slot_of(key, self.bits)
        while self.slots[slot] and self.hashes[self.slots[slot] - 1] != key:
            slot = (slot + 1) & (self.size - 1)
            self.collisions += 1
        return slot

    cdef int make_room(self, Py_ssize_t count) except -1:
        """Make room for so many hashes: three quarters of the slots at most are taken."""
        cdef Py_ssize_t size = 16, number
        cdef int bits = 4
        cdef uint32_t* hashes
        cdef int32_t* slots
        while 3 * size < 4 * count:
            size, bits = 2 * size, bits + 1
        if size > 1 << 30:
            raise MemoryError
        hashes = <uint32_t*>PyMem_Realloc(self.hashes, 3 * size // 4 * sizeof(uint32_t))
        if hashes == NULL:
            raise MemoryError
        self.hashes = hashes
        slots = <int32_t*>PyMem_Calloc(size, sizeof(int32_t))
        if slots == NULL:
            raise MemoryError
        PyMem_Free(self.slots)
        self.slots, self.size, self.bits, self.room = slots, size, bits, 3 * size // 4
        for number in range(self.count):
            self.slots[self.slot(self.hashes[number])] = <int32_t>(number + 1)
        return 0
