# cython: language_level=3
"""Rows with equal keys, and small sums that several modules need."""

from libc.stdint cimport int32_t, int64_t, uint64_t


cdef struct Groups:
    Py_ssize_t count  # of groups
    int32_t* of  # by row its group; the caller frees it


cdef uint64_t multiplier  # odd, drawn by each process for itself


cdef Groups grouped(const int64_t* keys, Py_ssize_t count) except *


cdef inline Py_ssize_t slot_of(uint64_t key, int bits) noexcept nogil:
    """Return the slot of a key among 2**bits."""
    key *= multiplier
    key = (key ^ (key >> 32)) * multiplier  # so that keys at even distances are spread as well,
    key = (key ^ (key >> 32)) * multiplier  # and keys that differ in their highest bits only
    return <Py_ssize_t>(key >> (64 - bits))


cdef inline double larger(double one, double other) noexcept nogil:
    return one if one > other else other


cdef inline double ratio(double part, double whole) noexcept nogil:
    return part / (whole if whole > 1.0 else 1.0)


cdef inline double within(double number, double least, double most) noexcept nogil:
    return least if number < least else most if number > most else number
