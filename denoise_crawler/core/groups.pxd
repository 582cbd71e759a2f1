# cython: language_level=3
"""The slot of a key in a table."""

from libc.stdint cimport uint64_t


cdef uint64_t multiplier  # odd, drawn by each process for itself


cdef inline Py_ssize_t slot_of(uint64_t key, int bits) noexcept nogil:
    """Return the slot of a key among 2**bits."""
    key *= multiplier
    key = (key ^ (key >> 32)) * multiplier  # so that keys at even distances are spread as well,
    key = (key ^ (key >> 32)) * multiplier  # and keys that differ in their highest bits only
    return <Py_ssize_t>(key >> (64 - bits))
