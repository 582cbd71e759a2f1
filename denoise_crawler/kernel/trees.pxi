"""Boosted trees, and both looks: the end of ``reference_features.py``."""

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
    #define INVERT(failed, v, left) ((masks *)(left))[v] = ~(failed)[v]
    #define UNROLLED _Pragma("GCC unroll 16")
    #else
    #define UNROLLED
    typedef struct { float of[8]; } floats;
    typedef struct { uint32_t of[8]; } masks;
    #define TEST(column, v, threshold, mask, failed) \\
        for (int i = 0; i < 8; i++) if ((column)[v].of[i] > (threshold)) (failed)[v].of[i] |= (mask)
    #define INVERT(failed, v, left) for (int i = 0; i < 8; i++) (left)[8 * (v) + i] = ~(failed)[v].of[i]
    #endif
    /* Find the scores of all trees for up to 32 rows: first which leaves of each tree are left for them, for which
       there is room, then the sums of the lowest ones, of some rows at a time. values has VECTORS vectors a feature,
       which begin at the places of splits, in bytes. */
    #define AT_ONCE 8
    #define TEST_SPLITS(vectors) \\
        for (size_t split = tree * splits; split < (tree + 1) * splits; split++) { \\
            const floats *column = (const floats *)((const char *)values + places[split]); \\
            UNROLLED for (int v = 0; v < vectors; v++) \\
                TEST(column, v, thresholds[split], ruled_out[split], failed); \\
        }
    #define ADD_TREES(name) \\
        static void name(const floats *values, size_t rows, size_t trees, size_t splits, const uint32_t *places, \\
                         const float *thresholds, const uint32_t *ruled_out, const double *leaves, size_t most, \\
                         uint32_t *left, double *total) { \\
            for (size_t tree = 0; tree < trees; tree++) { \\
                masks failed[VECTORS]; \\
                memset(failed, 0, sizeof failed); \\
                if (rows > 8) TEST_SPLITS(VECTORS) else TEST_SPLITS(1) \\
                UNROLLED for (int v = 0; v < VECTORS; v++) \\
                    INVERT(failed, v, left + tree * ROWS); \\
            } \\
            for (size_t first = 0; first < rows; first += AT_ONCE) { \\
                const uint32_t *bits = left + first; \\
                const double *own = leaves; \\
                double sums[AT_ONCE] = {0}; \\
                for (size_t tree = 0; tree < trees; tree++, bits += ROWS, own += most) \\
                    UNROLLED for (int row = 0; row < AT_ONCE; row++) \\
                        sums[row] += own[lowest_bit(bits[row])]; \\
                for (size_t row = first; row < rows && row < first + AT_ONCE; row++) \\
                    total[row] = sums[row - first]; \\
            } \\
        }
    typedef void (*AddTrees)(const floats *, size_t, size_t, size_t, const uint32_t *, const float *, const uint32_t *,
                             const double *, size_t, uint32_t *, double *);
    ADD_TREES(add_trees_anywhere)
    #if defined(__x86_64__) && defined(__GNUC__)
    /* newer processors have registers of eight numbers; a comparison gives the same there */
    __attribute__((target("avx2"))) ADD_TREES(add_trees_avx2)
    __attribute__((target("avx512f,avx512vl"))) ADD_TREES(add_trees_avx512)
    #define fastest_add_trees() (__builtin_cpu_supports("avx512vl") ? add_trees_avx512 \\
        : __builtin_cpu_supports("avx2") ? add_trees_avx2 : add_trees_anywhere)
    #else
    #define fastest_add_trees() add_trees_anywhere
    #endif
    """
    int ROWS
    int lowest_bit(unsigned int bits) nogil
    ctypedef struct floats
    ctypedef void (*AddTrees)(
        const floats*, size_t, size_t, size_t, const uint32_t*, const float*, const uint32_t*, const double*, size_t,
        uint32_t*, double*
    ) noexcept nogil
    AddTrees fastest_add_trees() nogil


cdef class Trees:
    """Boosted trees: every split is tested on every row, and the leaf is the first that no failed test rules out."""

    cdef const float[:, ::1] thresholds
    cdef const uint32_t[:, ::1] ruled_out, places
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
        cdef bint fits = leaves.shape[0] == trees and leaves.shape[1] >= shared.MAX_LEAVES
        fits &= thresholds.shape[0] == trees and thresholds.shape[1] == splits
        check(fits and ruled_out.shape[0] == trees and ruled_out.shape[1] == splits, "the arrays do not fit each other")
        for tree in range(trees):
            for split in range(splits):
                self.columns = max(self.columns, 1 + <size_t>(<uint32_t>features[tree, split]))  # below 0: a high one
        self.thresholds, self.leaves = thresholds, leaves
        self.places = np.multiply(features, ROWS * sizeof(float)).astype(np.uint32)
        self.ruled_out = np.bitwise_and(ruled_out, np.uint32(0x7FFFFFFF))  # so that a leaf is left

    def scores(self, const float[:, ::1] columns not None, Py_ssize_t sums=1):
        """Return the sum of what the trees give each row; or so many ``sums`` of as many trees each, in turn.

        ``columns`` is the table by feature.
        """
        cdef Py_ssize_t count = columns.shape[0], rows = columns.shape[1]
        cdef Py_ssize_t trees = self.places.shape[0], splits = self.places.shape[1]
        cdef Py_ssize_t first, some, column, at, each = trees // sums
        cdef float* values
        cdef void* room
        cdef AddTrees add_trees = fastest_add_trees()
        sum_of = np.zeros(sums * rows)
        cdef double[::1] total = sum_of
        check(<size_t>count >= self.columns, "a split has a feature that the table has not")
        check(sums > 0 and each * sums == trees, "the trees do not make so many sums")
        if not rows or not each or not splits:
            return sum_of
        room = malloc((count + each) * ROWS * sizeof(float) + 32)
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
                for at in range(sums):
                    add_trees(
                        <const floats*>values, some, each, splits, &self.places[at * each, 0],
                        &self.thresholds[at * each, 0], &self.ruled_out[at * each, 0], &self.leaves[at * each, 0],
                        self.leaves.shape[1], <uint32_t*>(values + count * ROWS), &total[at * rows + first],
                    )
                first += ROWS
        free(room)
        return sum_of


def look_at(blocks, const float[:, ::1] of_page not None, site_stats, tuple wishes not None, Trees trees):
    """Return all features by feature: those of a first look, and what a second sees of the scores of its ``trees``."""
    cdef Page page = page_of(blocks, of_page.shape[1])
    cdef Py_ssize_t local = of_page.shape[0] + len(shared.SITE) + 2
    table = np.empty((local + (0 if trees is None else len(shared.SCORES)), page.count), np.float32)
    cdef float[:, ::1] rows = table
    memcpy_rows(rows, 0, of_page)
    fill_site(rows, of_page.shape[0], page, site_stats)
    fill(rows, local - 2, wishes[0])
    fill(rows, local - 1, wishes[1])
    if trees is not None:
        fill_scores(rows, local, page, trees.scores(rows[:local]))
    return table
