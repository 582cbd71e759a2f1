# cython: language_level=3
"""XXH3 of 64 bits, as ``page.text.hash64`` takes it from the package ``xxhash``."""

from libc.stdint cimport uint32_t, uint64_t

cdef uint64_t hash_bytes(const unsigned char* data, Py_ssize_t size) noexcept nogil
cdef uint32_t hash32(str text) except? 0
