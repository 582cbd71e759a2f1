# cython: language_level=3
"""What other loops call of ``loops/keys.py`` without objects."""

cpdef check(bint fits, object message)
cpdef Py_ssize_t group(const long long[::1] keys, long long[::1] first, long long[::1] of) except? -1
cdef Py_ssize_t slot_of(unsigned long long key, int bits) noexcept
cpdef find(
    const unsigned int[::1] hashes, const int[::1] slots, int bits, const unsigned int[::1] wanted, long long[::1] numbers
)
cpdef counts_of(
    const unsigned int[::1] hashes,
    const int[::1] slots,
    int bits,
    const unsigned int[::1] wanted,
    const double[::1] counts,
    tuple left_out,
    double[::1] found,
)
