# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The numbers of ``methods.fusion.features`` that a page alone says: a row for each feature, in the order of their names.

Sums are added up in the order of numpy. Logarithms are numpy's own: what they are taken of goes to ``logs``, and
comes back from there.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from denoise_crawler.core.groups cimport Groups, grouped, larger, ratio, within

cdef enum:
    BLOCK_LOGS = 10  # by block: characters, six of windows, characters to the title, two of its path
    ELEMENT_LOGS = 2
    PAGE_LOGS = 4


def add_up(
    const double[::1] characters not None,
    const double[::1] linked not None,
    const int64_t[::1] first not None,
    const int64_t[::1] last not None,
    double[:, ::1] by_block not None,
    double[:, ::1] by_element not None,
):
    """Fill the running sums of characters and of those inside links, and both and their ratio by element."""
    cdef Py_ssize_t index, blocks = characters.shape[0], count = first.shape[0]
    if not linked.shape[0] == blocks == by_block.shape[1] - 1 or by_block.shape[0] != 2:
        raise ValueError("the columns of the blocks do not fit each other")
    if not last.shape[0] == count == by_element.shape[1] or by_element.shape[0] != 3:
        raise ValueError("the columns of the elements do not fit each other")
    by_block[0, 0] = by_block[1, 0] = 0.0
    for index in range(blocks):
        by_block[0, index + 1] = by_block[0, index] + characters[index]
        by_block[1, index + 1] = by_block[1, index] + linked[index]
    for index in range(count):
        if not (0 <= first[index] <= blocks and 0 <= last[index] <= blocks):
            raise ValueError("an element holds blocks that are not there")
        by_element[0, index] = by_block[0, last[index]] - by_block[0, first[index]]
        by_element[1, index] = by_block[1, last[index]] - by_block[1, first[index]]
        by_element[2, index] = ratio(by_element[1, index], by_element[0, index])


cdef class Features:
    """The columns of a page that its features are made of: those of ``Blocks``, ``Elements`` and ``Evidence``."""

    def __cinit__(self, tuple blocks not None, tuple elements not None, tuple evidence not None):
        cdef Py_ssize_t index, level
        cdef int64_t parent
        cdef int64_t* keys
        self.characters, self.linked, self.commas, self.closed, self.tokens, self.elements, self.texts = blocks
        self.parents, self.first, self.last, self.places, self.tags, self.depths, self.paths = elements
        self.character_sums, self.linked_sums, self.element_characters = evidence[:3]
        self.element_linked, self.link_shares, self.named, self.unlinked = evidence[3:]
        self.blocks, self.count = self.characters.shape[0], self.parents.shape[0]
        for column in blocks:
            self.check(len(column) == self.blocks)
        for column in (*elements, *evidence[2:6]):
            self.check(len(column) == self.count)
        self.check(self.character_sums.shape[0] == self.linked_sums.shape[0] == self.blocks + 1)
        self.check(self.count > 0)
        for index in range(self.count):
            self.check(self.parents[index] == -1 if index == 0 else 0 <= self.parents[index] < index)
            self.check(0 <= self.first[index] <= self.last[index])
            self.check(self.last[index] <= self.blocks)
        for index in range(self.blocks):
            self.check(0 <= self.elements[index] < self.count)
        self.above = <int64_t*>malloc((LEVELS + 1) * (self.blocks + 1) * sizeof(int64_t))
        if self.above == NULL:
            raise MemoryError
        for index in range(self.blocks):
            self.above[index] = self.elements[index]
        for level in range(1, LEVELS):
            for index in range(self.blocks):
                parent = self.parents[self.above[(level - 1) * self.blocks + index]]
                self.above[level * self.blocks + index] = parent if parent > 0 else 0
        keys = self.above + LEVELS * self.blocks
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

    def count_page_logs(self):
        """Return how many logarithms :meth:`page` needs."""
        return BLOCK_LOGS * self.blocks + ELEMENT_LOGS * self.count + PAGE_LOGS

    def take_page_logs(self, double[::1] logs not None, Py_ssize_t title):
        """Fill ``logs`` with what :meth:`page` needs the logarithms of; ``title`` is the block that is the title."""
        cdef Py_ssize_t index, width, low, high, after, blocks = self.blocks, group
        cdef double inside, longest = 0.0
        cdef const double[::1] sums = self.character_sums, links = self.linked_sums
        cdef double* at = &logs[0]
        cdef double* unlinked
        cdef int64_t* times
        self.check(logs.shape[0] == BLOCK_LOGS * blocks + ELEMENT_LOGS * self.count + PAGE_LOGS and title < blocks)
        for index in range(blocks):
            at[index] = self.characters[index]
            longest = larger(longest, self.characters[index] - self.linked[index])
        at += blocks
        for width in (3, 8):
            for index in range(blocks):
                low, high = max(index - width, 0), min(index + width + 1, blocks)
                after = min(index + 1, blocks)
                at[index] = (sums[high] - sums[low]) - (links[high] - links[low])
                at[blocks + index] = (sums[index] - sums[low]) - (links[index] - links[low])
                at[2 * blocks + index] = (sums[high] - sums[after]) - (links[high] - links[after])
            at += 3 * blocks
        for index in range(blocks):
            at[index] = fabs(sums[index + 1] - sums[title + 1]) if title >= 0 else 0.0
        at += blocks
        unlinked = <double*>calloc(self.on_path.count + 1, sizeof(double))
        times = <int64_t*>calloc(self.on_path.count + 1, sizeof(int64_t))
        if unlinked == NULL or times == NULL:
            free(unlinked)
            free(times)
            raise MemoryError
        for index in range(blocks):
            group = self.on_path.of[index]
            unlinked[group] += self.characters[index] - self.linked[index]
            times[group] += 1
        for index in range(blocks):
            group = self.on_path.of[index]
            at[index] = <double>times[group]
            at[blocks + index] = unlinked[group] / <double>times[group]
        free(unlinked)
        free(times)
        at += 2 * blocks
        for index in range(self.count):
            at[index] = self.element_characters[index]
            at[self.count + index] = ratio(
                self.element_characters[index], <double>(self.last[index] - self.first[index])
            )
        at += 2 * self.count
        at[0], at[1], at[2], at[3] = larger(sums[blocks], 1.0), <double>blocks, self.unlinked, longest

    def page(
        self,
        float[:, ::1] rows not None,
        double[::1] logs not None,
        Py_ssize_t places,
        const double[::1] kinds not None,
        const double[::1] overlap not None,
        const double[::1] first_heading not None,
        Py_ssize_t title,
        tuple said not None,
    ):
        """Fill the rows of the page alone; ``said`` are those made of the page's description and linked data."""
        cdef Py_ssize_t index, bit, level, width, low, high, distance, at, row = 0, blocks = self.blocks, number
        cdef double total = larger(self.character_sums[blocks], 1.0), longest = 0.0, inside, value
        cdef const double[::1] sums = self.character_sums, links = self.linked_sums, column
        cdef double* log = &logs[0]
        cdef double* element_logs
        cdef double* page_logs
        cdef Groups alike
        cdef int64_t* keys
        cdef double* unlinked
        cdef int64_t* times
        self.check(logs.shape[0] == BLOCK_LOGS * blocks + ELEMENT_LOGS * self.count + PAGE_LOGS and title < blocks)
        self.check(overlap.shape[0] == first_heading.shape[0] == blocks == rows.shape[1])
        self.check(rows.shape[0] == 72 + places + kinds.shape[0] + len(said))
        element_logs = log + BLOCK_LOGS * blocks
        page_logs = element_logs + ELEMENT_LOGS * self.count
        for index in range(blocks):
            longest = larger(longest, self.characters[index] - self.linked[index])
        longest = larger(longest, 1.0)
        # its own
        for index in range(blocks):
            number = self.elements[index]
            rows[0, index] = <float>log[index]
            rows[1, index] = <float>ratio(self.linked[index], self.characters[index])
            rows[2, index], rows[3, index] = <float>self.commas[index], <float>self.closed[index]
            rows[4, index], rows[5, index] = <float>self.tags[number], <float>self.depths[number]
            rows[6, index] = <float>((self.characters[index] - self.linked[index]) / longest)
        row = 7
        for bit in range(places):
            for index in range(blocks):
                rows[row, index] = <float>((self.places[self.elements[index]] >> bit) & 1)
            row += 1
        # the page
        self.fill(rows, row, page_logs[0])
        self.fill(rows, row + 1, page_logs[1])
        self.fill(rows, row + 2, links[blocks] / total)
        self.fill(rows, row + 3, page_logs[2])
        self.fill(rows, row + 4, page_logs[3])
        row += 5
        for index in range(kinds.shape[0]):
            self.fill(rows, row, kinds[index])
            row += 1
        for index in range(blocks):
            rows[row, index] = <float>(<double>index / <double>blocks)
            rows[row + 1, index] = <float>(sums[index + 1] / total)
        row += 2
        # above
        for level in range(LEVELS):
            self.gather(rows, row, level, element_logs)
            self.gather(rows, row + 1, level, &self.link_shares[0])
            for index in range(blocks):
                number = self.above[level * blocks + index]
                value = (self.element_characters[number] - self.element_linked[number]) / self.unlinked
                rows[row + 2, index] = <float>value
            self.gather(rows, row + 3, level, element_logs + self.count)
            row += 4
        self.names(rows, row)
        row += 4
        for level in range(FIRST_LEVELS):
            self.gather(rows, row, level, &self.named[0])
            row += 1
        # around
        log += blocks
        for width in (3, 8):
            for index in range(blocks):
                low, high = max(index - width, 0), min(index + width + 1, blocks)
                inside = sums[high] - sums[low]
                rows[row, index] = <float>log[index]
                rows[row + 1, index] = <float>ratio(links[high] - links[low], inside)
                rows[row + 2, index] = <float>log[blocks + index]
                rows[row + 3, index] = <float>log[2 * blocks + index]
            row += 4
            log += 3 * blocks
        for distance in (-2, -1, 1, 2):
            for index in range(blocks):
                at = index + distance
                if 0 <= at < blocks:
                    rows[row, index] = <float>logs[at]
                    rows[row + 1, index] = rows[1, at]
                else:
                    rows[row, index] = rows[row + 1, index] = -1.0
                if -2 < distance < 2:
                    rows[row + 2, index] = 0.0
                    if 0 <= at < blocks and self.on_path.of[at] == self.on_path.of[index]:
                        rows[row + 2, index] = 1.0
            row += 3 if -2 < distance < 2 else 2
        # the headline, and what the page says of itself
        for index in range(blocks):
            rows[row, index], rows[row + 1, index] = <float>overlap[index], <float>first_heading[index]
            if title < 0:
                rows[row + 2, index] = rows[row + 3, index] = -99.0
            else:
                rows[row + 2, index] = <float>within(<double>(index - title), -60.0, 60.0)
                rows[row + 3, index] = <float>(log[index] if index > title else -log[index] if index < title else 0.0)
        row += 4
        log += blocks
        for column in said:
            self.check(column.shape[0] == blocks)
            for index in range(blocks):
                rows[row, index] = <float>column[index]
            row += 1
        # what comes back
        keys = <int64_t*>malloc((blocks + 1) * sizeof(int64_t))
        if keys == NULL:
            raise MemoryError
        for index in range(blocks):
            keys[index] = self.texts[index]
        try:
            alike = grouped(keys, blocks)
        finally:
            free(keys)
        times = <int64_t*>calloc(alike.count + 1, sizeof(int64_t))
        unlinked = <double*>calloc(self.on_path.count + 1, sizeof(double))
        if times == NULL or unlinked == NULL:
            free(times)
            free(unlinked)
            free(alike.of)
            raise MemoryError
        for index in range(blocks):
            times[alike.of[index]] += 1
            unlinked[self.on_path.of[index]] += self.characters[index] - self.linked[index]
        for index in range(blocks):
            rows[row, index] = <float>min(times[alike.of[index]], 5)
            rows[row + 1, index] = <float>log[index]
            rows[row + 2, index] = <float>(unlinked[self.on_path.of[index]] / self.unlinked)
            rows[row + 3, index] = <float>log[blocks + index]
        free(times)
        free(unlinked)
        free(alike.of)
        return row + 4

    cdef int names(self, float[:, ::1] rows, Py_ssize_t row) except -1:
        """Fill the rows of what classes and ids say, joined as ``Elements.ancestors`` joins (pointer jumping)."""
        cdef Py_ssize_t count = self.count, index, other
        cdef double* buffer = <double*>malloc(8 * (count + 1) * sizeof(double))
        cdef int64_t* above = <int64_t*>malloc(2 * (count + 1) * sizeof(int64_t))
        cdef double* total = buffer
        cdef double* most = total + count + 1
        cdef double* least = most + count + 1
        cdef double* nearest = least + count + 1
        cdef double* before = nearest + count + 1  # of each of the four, what it was a step ago
        cdef int64_t* jumped = above + count + 1
        cdef Py_ssize_t size = count + 1
        cdef bint more
        if buffer == NULL or above == NULL:
            free(buffer)
            free(above)
            raise MemoryError
        for index in range(count):
            total[index] = most[index] = least[index] = nearest[index] = self.named[index]
            above[index] = count if self.parents[index] < 0 else self.parents[index]
        total[count] = nearest[count] = 0.0
        most[count], least[count] = -INFINITY, INFINITY
        above[count] = count
        while True:
            more = False
            for index in range(size):
                more |= above[index] != count
            if not more:
                break
            for index in range(4 * size):
                before[index] = buffer[index]
            for index in range(size):
                other = above[index]
                total[index] = before[index] + before[other]
                most[index] = larger(before[size + index], before[size + other])
                least[index] = -larger(-before[2 * size + index], -before[2 * size + other])
                if before[3 * size + index] == 0.0:
                    nearest[index] = before[3 * size + other]
                jumped[index] = above[other]
            for index in range(size):
                above[index] = jumped[index]
        self.gather(rows, row, 0, total)
        self.gather(rows, row + 1, 0, most)
        self.gather(rows, row + 2, 0, least)
        self.gather(rows, row + 3, 0, nearest)
        free(buffer)
        free(above)
        return 0
