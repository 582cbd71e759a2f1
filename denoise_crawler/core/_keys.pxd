# cython: language_level=3
"""What other loops call of ``loops/keys.py`` without objects."""

cpdef Py_ssize_t group(const long long[::1] keys, long long[::1] first, long long[::1] of) except? -1
cdef Py_ssize_t slot_of(unsigned long long key, int bits) noexcept
