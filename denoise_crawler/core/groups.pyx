# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rows with equal keys."""

from os import urandom

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

# a page cannot choose words that meet in few slots; keys are numbered as they come, so no result depends on it
multiplier = int.from_bytes(urandom(8), "little") | 1


cdef Groups grouped(const int64_t* keys, Py_ssize_t count) except *:
    """Number the distinct keys in the order of their coming."""
    cdef Groups groups
    cdef Py_ssize_t size = 16, row, place
    cdef int bits = 4
    cdef int32_t* slots
    cdef int64_t* known
    groups.count = 0
    groups.of = NULL
    while size < 2 * count:
        size, bits = 2 * size, bits + 1
    slots, known = <int32_t*>calloc(size, sizeof(int32_t)), <int64_t*>malloc((count + 1) * sizeof(int64_t))
    groups.of = <int32_t*>malloc((count + 1) * sizeof(int32_t))
    if slots == NULL or known == NULL or groups.of == NULL:
        free(slots)
        free(known)
        free(groups.of)
        raise MemoryError
    for row in range(count):
        place = slot_of(<uint64_t>keys[row], bits)
        while slots[place] and known[slots[place] - 1] != keys[row]:
            place = (place + 1) & (size - 1)
        if not slots[place]:
            known[groups.count] = keys[row]
            groups.count += 1
            slots[place] = <int32_t>groups.count
        groups.of[row] = slots[place] - 1
    free(slots)
    free(known)
    return groups
