# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What the first look says around each block, as ``methods.fusion.first_look`` has it."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from denoise_crawler.core.groups cimport Groups, grouped, larger, ratio, within

cdef enum:
    FIRST_LEVELS = 4


cdef class Features:
    """The columns of a page that say what is around a block."""

    cdef Py_ssize_t blocks, count
    cdef const double[::1] tokens
    cdef const int64_t[::1] elements, parents, first, last
    cdef const uint32_t[::1] paths
    cdef Groups on_path
    cdef int64_t* above  # by level and block, the elements above it

    def __cinit__(self, elements, tokens, parents, first, last, paths):
        cdef Py_ssize_t index, level
        cdef int64_t parent
        cdef int64_t* keys
        self.elements, self.tokens, self.parents, self.first, self.last = elements, tokens, parents, first, last
        self.paths = paths
        self.blocks, self.count = self.elements.shape[0], self.parents.shape[0]
        self.check(self.tokens.shape[0] == self.blocks and self.first.shape[0] == self.count > 0)
        self.check(self.last.shape[0] == self.paths.shape[0] == self.count)
        for index in range(self.count):
            self.check(self.parents[index] == -1 if index == 0 else 0 <= self.parents[index] < index)
        for index in range(self.blocks):
            self.check(0 <= self.elements[index] < self.count)
        self.above = <int64_t*>malloc((FIRST_LEVELS + 1) * (self.blocks + 1) * sizeof(int64_t))
        if self.above == NULL:
            raise MemoryError
        for index in range(self.blocks):
            self.above[index] = self.elements[index]
        for level in range(1, FIRST_LEVELS):
            for index in range(self.blocks):
                parent = self.parents[self.above[(level - 1) * self.blocks + index]]
                self.above[level * self.blocks + index] = parent if parent > 0 else 0
        keys = self.above + FIRST_LEVELS * self.blocks
        for index in range(self.blocks):
            keys[index] = self.paths[self.elements[index]]
        self.on_path = grouped(keys, self.blocks)

    def __dealloc__(self):
        free(self.above)
        free(self.on_path.of)

    cdef int check(self, bint fits) except -1:
        if not fits:
            raise ValueError("the columns of the page do not fit each other")
        return 0

    cdef int gather(self, float[:, ::1] rows, Py_ssize_t row, Py_ssize_t level, const double* column) noexcept:
        """Fill a row with what ``column`` says of the element some levels above each block."""
        cdef Py_ssize_t index
        cdef int64_t* above = self.above + level * self.blocks
        for index in range(self.blocks):
            rows[row, index] = <float>column[above[index]]
        return 0

    cdef int fill(self, float[:, ::1] rows, Py_ssize_t row, double number) noexcept:
        cdef Py_ssize_t index
        for index in range(self.blocks):
            rows[row, index] = <float>number
        return 0


def surroundings(
    Features page not None,
    float[:, ::1] rows not None,
    tuple looked not None,
    const int64_t[::1] order not None,
    double log_tokens,
    const double[::1] log_sizes not None,
    Py_ssize_t siblings,
):
    """Fill the rows of what the first look says around each block.

    Args:
        rows: The table, by feature.
        looked: Scores, chances, token sums, likely sums, and by element tokens and chances.
        order: The blocks by falling score.
        log_tokens: The logarithm of the tokens that are likely content.
        log_sizes: The logarithms of the numbers up to that of elements.
        siblings: How many elements of one kind are a list.
    """
    cdef const double[::1] scores = looked[0], chances = looked[1], tokens = looked[2], likely = looked[3]
    cdef const double[::1] element_tokens = looked[4], element_chances = looked[5]
    cdef Py_ssize_t index, width, low, high, distance, at, level, blocks = page.blocks, group, first = 0, last
    cdef Py_ssize_t member, count = page.count, found = 0, row = 1
    cdef double whole, best = -8.0, all_tokens
    cdef double* sums
    cdef Groups alike
    cdef int64_t* keys
    cdef int64_t* sizes
    cdef int32_t* members
    page.check(rows.shape[1] == blocks and rows.shape[0] == 34)
    page.check(scores.shape[0] == chances.shape[0] == order.shape[0] == blocks)
    page.check(tokens.shape[0] == likely.shape[0] == blocks + 1)
    page.check(element_tokens.shape[0] == element_chances.shape[0] == count and log_sizes.shape[0] > count)
    for index in range(blocks):
        page.check(0 <= order[index] < blocks)
    # near
    for index in range(blocks):
        rows[0, index] = <float>within(scores[index], -8.0, 8.0)
        best = larger(best, scores[index])
    for distance in (-3, -2, -1, 1, 2, 3):
        for index in range(blocks):
            at = index + distance
            rows[row, index] = rows[0, at] if 0 <= at < blocks else -9.0
        row += 1
    for width in (3, 8, 20):
        for index in range(blocks):
            low, high = max(index - width, 0), min(index + width + 1, blocks)
            rows[row, index] = <float>ratio(likely[high] - likely[low], tokens[high] - tokens[low])
        row += 1
    # above
    for level in range(FIRST_LEVELS):
        page.gather(rows, row, level, &element_chances[0])
        row += 1
    sums = <double*>calloc(4 * (max(page.on_path.count, count) + 1), sizeof(double))
    keys = <int64_t*>malloc((count + 1) * sizeof(int64_t))
    sizes = <int64_t*>calloc(count + 1, sizeof(int64_t))
    members = <int32_t*>malloc(2 * (count + 1) * sizeof(int32_t))
    alike.of = NULL
    try:
        if sums == NULL or keys == NULL or sizes == NULL or members == NULL:
            raise MemoryError
        for index in range(blocks):
            group = 2 * page.on_path.of[index]
            sums[group] += page.tokens[index]
            sums[group + 1] += page.tokens[index] * chances[index]
        for index in range(blocks):
            group = 2 * page.on_path.of[index]
            rows[row, index] = <float>ratio(sums[group + 1], sums[group])
        row += 1
        # the page
        last = blocks - 1
        for index in range(blocks):
            if chances[index] > 0.5:
                if not found:
                    first = index
                last = index
                found += 1
        whole, all_tokens = larger(likely[blocks], 1.0), larger(tokens[blocks], 1.0)
        page.fill(rows, row, log_tokens)
        page.fill(rows, row + 1, likely[blocks] / all_tokens)
        page.fill(rows, row + 2, <double>found / <double>blocks)
        page.fill(rows, row + 3, best)
        for index in range(blocks):
            rows[row + 4, order[index]] = <float>(<double>index / <double>blocks)
            rows[row + 5, index] = <float>(likely[index] / whole)
            rows[row + 6, index] = <float>within(<double>(index - first), -60.0, 60.0)
            rows[row + 7, index] = <float>within(<double>(index - last), -60.0, 60.0)
            rows[row + 8, index] = <float>(page.tokens[index] * chances[index] / whole)
        row += 9
        # the lists that it stands in
        for index in range(count):
            keys[index] = -1
            if page.last[index] > page.first[index]:
                keys[index] = page.parents[index] * (<int64_t>1 << 32) + <int64_t>page.paths[index]
        alike = grouped(keys, count)
        memset(sums, 0, 3 * alike.count * sizeof(double))
        for index in range(count):
            group = alike.of[index]
            sizes[group] += 1
            sums[3 * group] += element_tokens[index]
            sums[3 * group + 1] += element_tokens[index] * element_chances[index]
            sums[3 * group + 2] += 1.0 if element_chances[index] > 0.5 else 0.0
        for index in range(count):
            members[2 * index] = members[2 * index + 1] = -1
            at = page.parents[index]
            if at >= 0:
                members[2 * index], members[2 * index + 1] = members[2 * at], members[2 * at + 1]
            if index and page.last[index] > page.first[index] and sizes[alike.of[index]] >= siblings:
                members[2 * index] = <int32_t>index
                if members[2 * index + 1] < 0:
                    members[2 * index + 1] = <int32_t>index
        for level in range(2):
            for index in range(blocks):
                member = members[2 * page.elements[index] + level]
                if member < 0:
                    for at in range(5):
                        rows[row + at, index] = -1.0
                    continue
                group = alike.of[member]
                rows[row, index] = <float>log_sizes[sizes[group]]
                rows[row + 1, index] = <float>ratio(sums[3 * group + 1], sums[3 * group])
                rows[row + 2, index] = <float>(sums[3 * group + 2] / <double>sizes[group])
                rows[row + 3, index] = <float>(sums[3 * group] / all_tokens)
                rows[row + 4, index] = <float>element_chances[member]
            row += 5
    finally:
        free(sums)
        free(keys)
        free(sizes)
        free(members)
        free(alike.of)
