# cython: language_level=3
"""What the compiled loops call without objects."""

from libc.stdint cimport uint32_t

cdef uint32_t hash32(str text) except? 0
