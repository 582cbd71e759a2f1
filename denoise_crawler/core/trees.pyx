# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The scores of boosted trees, as ``BoostedTrees.by_tree`` adds them up: tree by tree, in double precision."""

from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int lowest_bit(unsigned int bits) {
        unsigned long place; _BitScanForward(&place, bits); return (int)place;
    }
    #else
    #define lowest_bit(bits) __builtin_ctz(bits)
    #endif

    /* 32 rows at a time, as four vectors of eight: what is ruled out for them stays in registers. Of the last rows
       as many vectors as there are. */
    #define VECTORS 4
    #define ROWS (8 * VECTORS)
    #if defined(__GNUC__)
    typedef float floats __attribute__((vector_size(32), may_alias));
    typedef uint32_t masks __attribute__((vector_size(32), may_alias));
    #define TEST(column, v, threshold, mask, failed) (failed)[v] |= \\
        (masks)((column)[v] > ((threshold) - (floats){0})) & ((mask) - (masks){0})
    #else
    typedef struct { float of[8]; } floats;
    typedef struct { uint32_t of[8]; } masks;
    #define TEST(column, v, threshold, mask, failed) \\
        for (int i = 0; i < 8; i++) if ((column)[v].of[i] > (threshold)) (failed)[v].of[i] |= (mask)
    #endif
    /* Add the scores of all trees to those of up to 32 rows; values has VECTORS vectors for each feature. */
    #define ADD_TREES(name) \\
        static void name(const floats *values, size_t rows, size_t trees, size_t splits, const int32_t *features, \\
                         const float *thresholds, const uint32_t *ruled_out, const double *leaves, size_t most, \\
                         double *total) { \\
            for (size_t tree = 0; tree < trees; tree++, leaves += most) { \\
                masks failed[VECTORS]; \\
                memset(failed, 0, sizeof failed); \\
                for (size_t split = 0; split < splits; split++, features++, thresholds++, ruled_out++) { \\
                    const floats *column = values + (size_t)*features * VECTORS; \\
                    TEST(column, 0, *thresholds, *ruled_out, failed); \\
                    if (rows > 8) TEST(column, 1, *thresholds, *ruled_out, failed); \\
                    if (rows > 16) { \\
                        TEST(column, 2, *thresholds, *ruled_out, failed); \\
                        TEST(column, 3, *thresholds, *ruled_out, failed); \\
                    } \\
                } \\
                for (size_t row = 0; row < rows; row++) \\
                    total[row] += leaves[lowest_bit(~((const uint32_t *)failed)[row] | 0x80000000u)]; \\
            } \\
        }
    typedef void (*AddTrees)(const floats *, size_t, size_t, size_t, const int32_t *, const float *, const uint32_t *,
                             const double *, size_t, double *);
    ADD_TREES(add_trees_anywhere)
    #if defined(__x86_64__) && defined(__GNUC__)
    /* newer processors have registers of eight numbers; a comparison gives the same there */
    __attribute__((target("avx2"))) ADD_TREES(add_trees_avx2)
    #define fastest_add_trees() (__builtin_cpu_supports("avx2") ? add_trees_avx2 : add_trees_anywhere)
    #else
    #define fastest_add_trees() add_trees_anywhere
    #endif
    """
    int ROWS
    int lowest_bit(unsigned int bits) nogil
    ctypedef struct floats
    ctypedef void (*AddTrees)(
        const floats*, size_t, size_t, size_t, const int32_t*, const float*, const uint32_t*, const double*, size_t,
        double*
    ) noexcept nogil
    AddTrees fastest_add_trees() nogil


cdef class Trees:
    """Some trees, tested once to fit each other.

    Args:
        features: By tree and split, the number of the feature that it tests.
        thresholds: What values above fail.
        ruled_out: The leaves that a failed test rules out, one bit each.
        leaves: The scores of each tree's leaves from left to right.
    """

    cdef const int32_t[:, ::1] features
    cdef const float[:, ::1] thresholds
    cdef const uint32_t[:, ::1] ruled_out
    cdef const double[:, ::1] leaves
    cdef size_t columns  # a table has at least so many

    def __cinit__(
        self,
        const int32_t[:, ::1] features not None,
        const float[:, ::1] thresholds not None,
        const uint32_t[:, ::1] ruled_out not None,
        const double[:, ::1] leaves not None,
    ):
        cdef Py_ssize_t tree, split, trees = features.shape[0], splits = features.shape[1]
        if leaves.shape[0] != trees or leaves.shape[1] < 32:
            raise ValueError("the arrays do not fit each other")
        if (thresholds.shape[0], thresholds.shape[1]) != (trees, splits):
            raise ValueError("the arrays do not fit each other")
        if (ruled_out.shape[0], ruled_out.shape[1]) != (trees, splits):
            raise ValueError("the arrays do not fit each other")
        for tree in range(trees):
            for split in range(splits):
                self.columns = max(self.columns, 1 + <size_t>(<uint32_t>features[tree, split]))  # below 0: a high one
        self.features, self.thresholds, self.ruled_out, self.leaves = features, thresholds, ruled_out, leaves

    def add_scores(self, const float[:, ::1] columns not None, double[::1] total not None):
        """Add to ``total`` the score that each row gets from each tree; ``columns`` is the table by feature."""
        cdef Py_ssize_t count = columns.shape[0], rows = columns.shape[1]
        cdef Py_ssize_t trees = self.features.shape[0], splits = self.features.shape[1]
        cdef Py_ssize_t first, some, column
        cdef float* values
        cdef void* room
        cdef AddTrees add_trees = fastest_add_trees()
        if total.shape[0] != rows:
            raise ValueError("the arrays do not fit each other")
        self.check(count)
        if not rows or not trees or not splits:
            return
        room = malloc(count * ROWS * sizeof(float) + 32)
        if room == NULL:
            raise MemoryError("there is no room for 32 rows")
        values = <float*>((<size_t>room + 31) & ~<size_t>31)
        memset(values, 0, count * ROWS * sizeof(float))
        with nogil:
            first = 0
            while first < rows:
                some = min(rows - first, ROWS)
                for column in range(count):
                    memcpy(values + column * ROWS, &columns[column, first], some * sizeof(float))
                add_trees(
                    <const floats*>values, some, trees, splits, &self.features[0, 0], &self.thresholds[0, 0],
                    &self.ruled_out[0, 0], &self.leaves[0, 0], self.leaves.shape[1], &total[first],
                )
                first += ROWS
        free(room)

    def fill(self, const float[:, ::1] columns not None, double[:, ::1] by_tree not None):
        """Fill ``by_tree`` with what each tree gives each row of the table ``columns``, which is by feature."""
        cdef Py_ssize_t rows = columns.shape[1], trees = self.features.shape[0], splits = self.features.shape[1]
        cdef Py_ssize_t row, tree, split
        cdef uint32_t failed
        if by_tree.shape[0] != trees or by_tree.shape[1] != rows:
            raise ValueError("the arrays do not fit each other")
        self.check(columns.shape[0])
        for tree in range(trees):
            for row in range(rows):
                failed = 0
                for split in range(splits):
                    if columns[self.features[tree, split], row] > self.thresholds[tree, split]:
                        failed |= self.ruled_out[tree, split]
                by_tree[tree, row] = self.leaves[tree, lowest_bit(~failed) if ~failed else 31]

    cdef int check(self, size_t columns) except -1:
        if columns < self.columns:
            raise ValueError("a split has a feature that the table has not")
        return 0
