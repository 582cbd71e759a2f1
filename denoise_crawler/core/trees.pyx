# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The scores of boosted trees, as ``BoostedTrees._scores`` adds them up: tree by tree, in double precision."""

from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int lowest_bit(unsigned int bits) {
        unsigned long place; _BitScanForward(&place, bits); return (int)place;
    }
    #else
    #define lowest_bit(bits) __builtin_ctz(bits)
    #endif

    /* Rule out the leaves of mask for all rows whose value is above a threshold. */
    #define RULE_OUT(name) \\
        static void name(const float *column, float threshold, unsigned int mask, unsigned int *failed, size_t rows) { \\
            for (size_t row = 0; row < rows; row++) failed[row] |= column[row] > threshold ? mask : 0; \\
        }
    typedef void (*Rule)(const float *, float, unsigned int, unsigned int *, size_t);
    RULE_OUT(rule_out_anywhere)
    #if defined(__x86_64__) && defined(__GNUC__)
    /* on newer processors eight rows at once; a comparison gives the same there */
    __attribute__((target("avx2"))) RULE_OUT(rule_out_avx2)
    #define fastest_rule_out() (__builtin_cpu_supports("avx2") ? rule_out_avx2 : rule_out_anywhere)
    #else
    #define fastest_rule_out() rule_out_anywhere
    #endif
    """
    int lowest_bit(unsigned int bits) nogil
    ctypedef void (*Rule)(const float*, float, unsigned int, unsigned int*, size_t) noexcept nogil
    Rule fastest_rule_out() nogil


def add_scores(
    const float[:, ::1] columns not None,
    const int32_t[:, ::1] features not None,
    const float[:, ::1] thresholds not None,
    const uint32_t[:, ::1] ruled_out not None,
    const double[:, ::1] leaves not None,
    double[::1] total not None,
):
    """Add to ``total`` the score that each row gets from each tree.

    ``columns`` is the table by feature. ``features``, ``thresholds`` and ``ruled_out`` have a row for each tree and a
    column for each split; ``leaves`` has the scores of each tree's leaves from left to right.
    """
    cdef Py_ssize_t rows = columns.shape[1], trees = features.shape[0], splits = features.shape[1]
    cdef Py_ssize_t row, tree, split
    cdef uint32_t mask
    cdef uint32_t* failed
    cdef Rule rule_out = fastest_rule_out()
    if total.shape[0] != rows or leaves.shape[0] != trees or leaves.shape[1] < 32:
        raise ValueError("the arrays do not fit each other")
    if (thresholds.shape[0], thresholds.shape[1]) != (trees, splits):
        raise ValueError("the arrays do not fit each other")
    if (ruled_out.shape[0], ruled_out.shape[1]) != (trees, splits):
        raise ValueError("the arrays do not fit each other")
    for tree in range(trees):
        for split in range(splits):
            if not 0 <= features[tree, split] < columns.shape[0]:
                raise ValueError("a split has a feature that the table has not")
    if not rows:
        return
    failed = <uint32_t*>malloc(rows * sizeof(uint32_t))
    if failed == NULL:
        raise MemoryError
    with nogil:
        for tree in range(trees):
            memset(failed, 0, rows * sizeof(uint32_t))
            for split in range(splits):
                mask = ruled_out[tree, split]
                if not mask:
                    continue
                rule_out(&columns[features[tree, split], 0], thresholds[tree, split], mask, failed, rows)
            for row in range(rows):
                total[row] += leaves[tree, lowest_bit(~failed[row]) if ~failed[row] else 31]
        free(failed)


def leaves_of(
    const float[:, ::1] columns not None,
    const int32_t[:, ::1] features not None,
    const float[:, ::1] thresholds not None,
    const uint32_t[:, ::1] ruled_out not None,
    const double[:, ::1] leaves not None,
    double[:, ::1] by_tree not None,
):
    """Fill ``by_tree`` with what each tree gives each row; the other arguments are those of :func:`add_scores`."""
    cdef Py_ssize_t rows = columns.shape[1], trees = features.shape[0], splits = features.shape[1]
    cdef Py_ssize_t row, tree, split
    cdef uint32_t failed
    if by_tree.shape[0] != trees or by_tree.shape[1] != rows or leaves.shape[0] != trees or leaves.shape[1] < 32:
        raise ValueError("the arrays do not fit each other")
    if (thresholds.shape[0], thresholds.shape[1]) != (trees, splits):
        raise ValueError("the arrays do not fit each other")
    if (ruled_out.shape[0], ruled_out.shape[1]) != (trees, splits):
        raise ValueError("the arrays do not fit each other")
    for tree in range(trees):
        for split in range(splits):
            if not 0 <= features[tree, split] < columns.shape[0]:
                raise ValueError("a split has a feature that the table has not")
        for row in range(rows):
            failed = 0
            for split in range(splits):
                if columns[features[tree, split], row] > thresholds[tree, split]:
                    failed |= ruled_out[tree, split]
            by_tree[tree, row] = leaves[tree, lowest_bit(~failed) if ~failed else 31]
