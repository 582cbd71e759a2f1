# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The numbers of ``methods.fusion.features`` and ``first_look``, a row for each feature, in the order of their names.

Sums are added up in the order of numpy. Logarithms are numpy's own: what they are taken of goes to ``logs``, and comes
back from there.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cdef enum:
    LEVELS = 6
    FIRST_LEVELS = 4
    BLOCK_LOGS = 10  # by block: characters, six of windows, characters to the title, two of its path
    ELEMENT_LOGS = 2
    PAGE_LOGS = 4


cdef struct Groups:
    Py_ssize_t count  # of groups
    int32_t* of  # by row its group


cdef inline double larger(double one, double other) noexcept nogil:
    return one if one > other else other


cdef inline double ratio(double part, double whole) noexcept nogil:
    return part / (whole if whole > 1.0 else 1.0)


cdef inline double within(double number, double least, double most) noexcept nogil:
    return least if number < least else most if number > most else number


cdef Groups grouped(const int64_t* keys, Py_ssize_t count) except *:
    """Number the distinct keys in the order of their coming."""
    cdef Groups groups
    cdef Py_ssize_t size = 16, row, place
    cdef int32_t* slots
    cdef int64_t* known
    groups.count = 0
    groups.of = NULL
    while size < 2 * count:
        size *= 2
    slots, known = <int32_t*>calloc(size, sizeof(int32_t)), <int64_t*>malloc((count + 1) * sizeof(int64_t))
    groups.of = <int32_t*>malloc((count + 1) * sizeof(int32_t))
    if slots == NULL or known == NULL or groups.of == NULL:
        free(slots)
        free(known)
        free(groups.of)
        raise MemoryError
    for row in range(count):
        place = <Py_ssize_t>((<uint64_t>keys[row] * <uint64_t>0x9E3779B97F4A7C15) >> 32) & (size - 1)
        while slots[place] and known[slots[place] - 1] != keys[row]:
            place = (place + 1) & (size - 1)
        if not slots[place]:
            known[groups.count] = keys[row]
            groups.count += 1
            slots[place] = <int32_t>groups.count
        groups.of[row] = slots[place] - 1
    free(slots)
    free(known)
    return groups


def main_region(
    const double[::1] characters not None,
    const double[::1] commas not None,
    const uint8_t[::1] repeated not None,
    const int64_t[::1] elements not None,
    const int64_t[::1] parents not None,
    const double[::1] link_shares not None,
    const double[::1] named not None,
    tuple weights not None,
    double least,
    double name_weight,
    double[::1] scores not None,
):
    """Fill the ``scores`` of the elements, relative to the best, and return which that is and its score."""
    cdef Py_ssize_t blocks = characters.shape[0], count = parents.shape[0], index, top = 0
    cdef double weight, best
    cdef double* given = <double*>malloc((blocks + count + 1) * sizeof(double))
    cdef double* sums = given + blocks
    cdef int64_t* current = <int64_t*>malloc((blocks + 1) * sizeof(int64_t))
    cdef uint8_t* holds = <uint8_t*>calloc(count + 1, 1)
    try:
        if given == NULL or current == NULL or holds == NULL:
            raise MemoryError
        if not commas.shape[0] == repeated.shape[0] == elements.shape[0] == blocks:
            raise ValueError("the columns of the blocks do not fit each other")
        if not link_shares.shape[0] == named.shape[0] == scores.shape[0] == count:
            raise ValueError("the columns of the elements do not fit each other")
        for index in range(blocks):
            if not 0 <= elements[index] < count:
                raise ValueError("a block stands in an element that is not there")
        for index in range(count):
            if not (parents[index] == -1 if index == 0 else 0 <= parents[index] < index):
                raise ValueError("an element stands in one that is not before it")
            scores[index] = 0.0
            if index:
                holds[parents[index]] = 1
        for index in range(blocks):
            given[index] = 0.0
            if characters[index] >= least and not repeated[index]:
                weight = characters[index] / 100.0
                given[index] = 1.0 + commas[index] + (weight if weight < 3.0 else 3.0)
            current[index] = elements[index]
            if not holds[current[index]]:
                current[index] = parents[current[index]] if parents[current[index]] > 0 else 0
        for weight in weights:
            memset(sums, 0, count * sizeof(double))
            for index in range(blocks):
                if current[index] >= 0:
                    sums[current[index]] += given[index] * weight
                    current[index] = parents[current[index]]
            for index in range(count):
                scores[index] += sums[index]
        best = -INFINITY
        for index in range(count):
            scores[index] *= 1.0 - link_shares[index]
            scores[index] *= 1.0 + name_weight * within(named[index], -1.0, 1.0)
            if scores[index] > best:
                best, top = scores[index], index
        best = best if best > 1e-9 else 1e-9
        for index in range(count):
            scores[index] /= best
    finally:
        free(given)
        free(current)
        free(holds)
    return top, best


cdef class Features:
    """The columns of a page that its features are made of: those of ``Blocks``, ``Elements`` and ``Evidence``."""

    cdef Py_ssize_t blocks, count
    cdef const double[::1] characters, linked, commas, closed, tokens
    cdef const int64_t[::1] elements, parents, first, last, places, tags, depths
    cdef const uint32_t[::1] paths, texts
    cdef const double[::1] character_sums, linked_sums, element_characters, element_linked, link_shares, named
    cdef double unlinked
    cdef Groups on_path
    cdef int64_t* above  # by level and block, the elements above it
    cdef double* rows  # by block, what is worked out once

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

    def region(
        self,
        float[:, ::1] rows not None,
        Py_ssize_t row,
        const double[::1] scores not None,
        Py_ssize_t top,
        Py_ssize_t first,
        Py_ssize_t last,
        double log_score,
    ):
        """Fill the rows of the main region; return the next row."""
        cdef Py_ssize_t index, level, blocks = self.blocks, behind, before = 0, meeting, count = 0, at
        cdef double total = larger(self.character_sums[blocks], 1.0), share
        cdef double* best
        cdef int64_t* chain
        cdef int64_t distance, levels
        self.check(rows.shape[1] == blocks and rows.shape[0] >= row + 11)
        self.check(scores.shape[0] == self.count and 0 <= top < self.count)
        best = <double*>malloc((self.count + 1) * sizeof(double))
        chain = <int64_t*>malloc((self.count + 1) * sizeof(int64_t))
        if best == NULL or chain == NULL:
            free(best)
            free(chain)
            raise MemoryError
        for index in range(self.count):
            best[index] = scores[index]
            if self.parents[index] >= 0:
                best[index] = larger(best[index], best[self.parents[index]])
        at = top
        while at >= 0:
            chain[count] = at
            count += 1
            at = self.parents[at]
        for level in range(FIRST_LEVELS):
            self.gather(rows, row + level, level, &scores[0])
        self.gather(rows, row + 4, 0, best)
        share = (self.element_characters[top] - self.element_linked[top]) / self.unlinked
        behind = count
        for index in range(blocks):
            while behind and self.first[chain[behind - 1]] <= index:
                behind -= 1
            while before < count and self.last[chain[before]] <= index:
                before += 1
            meeting = chain[min(max(behind, before), count - 1)]
            levels = self.depths[self.elements[index]] - self.depths[meeting]
            distance = min(index - first, 0) + max(index - last + 1, 0)
            rows[row + 5, index] = 1.0 if first <= index < last else 0.0
            rows[row + 6, index] = <float>min(levels, 25)
            rows[row + 7, index] = <float>within(<double>distance, -50.0, 50.0)
            rows[row + 8, index] = <float>(self.element_characters[meeting] / total)
            rows[row + 9, index] = <float>log_score
            rows[row + 10, index] = <float>share
        free(best)
        free(chain)
        return row + 11

    def take_site_logs(self, double[::1] logs not None, tuple standing not None):
        """Fill ``logs``, two by element, with what :meth:`site` needs the logarithms of."""
        cdef Py_ssize_t index
        cdef const double[::1] pages = standing[0], elements = standing[1], characters = standing[2]
        self.check(logs.shape[0] == 2 * self.count == 2 * pages.shape[0])
        self.check(elements.shape[0] == characters.shape[0] == self.count)
        for index in range(self.count):
            logs[index] = ratio(elements[index], pages[index])
            logs[self.count + index] = ratio(characters[index], elements[index])

    def site(
        self,
        float[:, ::1] rows not None,
        Py_ssize_t row,
        const double[::1] logs not None,
        double pages,
        tuple by_block not None,
        tuple by_element not None,
        const uint32_t[::1] links not None,
    ):
        """Fill the rows of what the site says; return the next row."""
        cdef Py_ssize_t index, level, low, high, blocks = self.blocks, count = self.count, column
        cdef const double[::1] texts = by_block[0], masked = by_block[1], with_link = by_block[2]
        cdef const double[::1] on_path = by_element[0], characters = by_element[2], linked = by_element[3]
        cdef const double[::1] repeated = by_element[4]
        cdef double* numbers
        cdef double* sums
        cdef double share
        self.check(rows.shape[1] == blocks and rows.shape[0] >= row + 29 and logs.shape[0] == 2 * count)
        self.check(texts.shape[0] == masked.shape[0] == with_link.shape[0] == links.shape[0] == blocks)
        self.check(on_path.shape[0] == characters.shape[0] == linked.shape[0] == repeated.shape[0] == count)
        numbers, sums = <double*>malloc(6 * count * sizeof(double)), <double*>malloc((blocks + 1) * sizeof(double))
        if numbers == NULL or sums == NULL:
            free(numbers)
            free(sums)
            raise MemoryError
        sums[0] = 0.0
        for index in range(blocks):
            share = texts[index] / pages
            sums[index + 1] = (1.0 if share > 1.0 else share) * self.characters[index]
            if index:
                sums[index + 1] += sums[index]
        for index in range(blocks):
            low, high = max(index - 3, 0), min(index + 4, blocks)
            rows[row, index] = <float>(20.0 if pages > 20.0 else pages)
            rows[row + 1, index] = <float>(texts[index] / pages)
            rows[row + 2, index] = <float>(6.0 if texts[index] > 6.0 else texts[index])
            rows[row + 3, index] = <float>(6.0 if masked[index] > 6.0 else masked[index])
            rows[row + 4, index] = <float>(masked[index] / pages)
            rows[row + 5, index] = <float>(with_link[index] / pages if links[index] else -1.0)
            share = ratio(sums[high] - sums[low], self.character_sums[high] - self.character_sums[low])
            rows[row + 6, index] = <float>share
        for index in range(count):
            numbers[index] = on_path[index] / pages
            numbers[count + index] = logs[index] if on_path[index] > 0 else -1.0
            numbers[2 * count + index] = logs[count + index] if on_path[index] > 0 else -1.0
            numbers[3 * count + index] = ratio(linked[index], characters[index]) if characters[index] > 0 else -1.0
            numbers[4 * count + index] = ratio(repeated[index], characters[index]) if characters[index] > 0 else -1.0
            numbers[5 * count + index] = ratio(
                sums[self.last[index]] - sums[self.first[index]], self.element_characters[index]
            )
        row += 7
        for level in range(FIRST_LEVELS):
            for column in range(5):
                self.gather(rows, row, level, numbers + column * count)
                row += 1
        for level in (1, 2):
            self.gather(rows, row, level, numbers + 5 * count)
            row += 1
        free(numbers)
        free(sums)
        return row

    def surroundings(
        self,
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
        cdef Py_ssize_t index, width, low, high, distance, at, level, blocks = self.blocks, group, first = 0, last
        cdef Py_ssize_t member, count = self.count, found = 0, row = 1
        cdef double whole, best = -8.0, all_tokens
        cdef double* sums
        cdef Groups alike
        cdef int64_t* keys
        cdef int64_t* sizes
        cdef int32_t* members
        self.check(rows.shape[1] == blocks and rows.shape[0] == 34)
        self.check(scores.shape[0] == chances.shape[0] == order.shape[0] == blocks)
        self.check(tokens.shape[0] == likely.shape[0] == blocks + 1)
        self.check(element_tokens.shape[0] == element_chances.shape[0] == count and log_sizes.shape[0] > count)
        for index in range(blocks):
            self.check(0 <= order[index] < blocks)
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
            self.gather(rows, row, level, &element_chances[0])
            row += 1
        sums = <double*>calloc(4 * (max(self.on_path.count, count) + 1), sizeof(double))
        keys = <int64_t*>malloc((count + 1) * sizeof(int64_t))
        sizes = <int64_t*>calloc(count + 1, sizeof(int64_t))
        members = <int32_t*>malloc(2 * (count + 1) * sizeof(int32_t))
        alike.of = NULL
        try:
            if sums == NULL or keys == NULL or sizes == NULL or members == NULL:
                raise MemoryError
            for index in range(blocks):
                group = 2 * self.on_path.of[index]
                sums[group] += self.tokens[index]
                sums[group + 1] += self.tokens[index] * chances[index]
            for index in range(blocks):
                group = 2 * self.on_path.of[index]
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
            self.fill(rows, row, log_tokens)
            self.fill(rows, row + 1, likely[blocks] / all_tokens)
            self.fill(rows, row + 2, <double>found / <double>blocks)
            self.fill(rows, row + 3, best)
            for index in range(blocks):
                rows[row + 4, order[index]] = <float>(<double>index / <double>blocks)
                rows[row + 5, index] = <float>(likely[index] / whole)
                rows[row + 6, index] = <float>within(<double>(index - first), -60.0, 60.0)
                rows[row + 7, index] = <float>within(<double>(index - last), -60.0, 60.0)
                rows[row + 8, index] = <float>(self.tokens[index] * chances[index] / whole)
            row += 9
            # the lists that it stands in
            for index in range(count):
                keys[index] = -1
                if self.last[index] > self.first[index]:
                    keys[index] = self.parents[index] * (<int64_t>1 << 32) + <int64_t>self.paths[index]
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
                at = self.parents[index]
                if at >= 0:
                    members[2 * index], members[2 * index + 1] = members[2 * at], members[2 * at + 1]
                if index and self.last[index] > self.first[index] and sizes[alike.of[index]] >= siblings:
                    members[2 * index] = <int32_t>index
                    if members[2 * index + 1] < 0:
                        members[2 * index + 1] = <int32_t>index
            for level in range(2):
                for index in range(blocks):
                    member = members[2 * self.elements[index] + level]
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

    def largest_lists(
        self,
        const double[::1] likely_sums not None,
        const double[::1] element_tokens not None,
        Py_ssize_t siblings,
        Py_ssize_t most,
    ):
        """Return the lists of alike elements that have most text outside links, at most ``most`` of them.

        Each is its number of elements, and their characters, linked characters, likely tokens and tokens.
        """
        cdef Py_ssize_t index, group, count = self.count
        cdef Groups alike
        cdef int64_t* keys = <int64_t*>malloc((count + 1) * sizeof(int64_t))
        cdef double* sums = <double*>calloc(5 * (count + 1), sizeof(double))
        cdef list found = []
        alike.of = NULL
        self.check(likely_sums.shape[0] == self.blocks + 1 and element_tokens.shape[0] == count)
        try:
            if keys == NULL or sums == NULL:
                raise MemoryError
            for index in range(count):
                keys[index] = -1
                if self.last[index] > self.first[index]:
                    keys[index] = self.parents[index] * (<int64_t>1 << 32) + <int64_t>self.paths[index]
            alike = grouped(keys, count)
            for index in range(count):
                group = 5 * alike.of[index]
                sums[group] += 1.0
                sums[group + 1] += self.element_characters[index]
                sums[group + 2] += self.element_linked[index]
                sums[group + 3] += likely_sums[self.last[index]] - likely_sums[self.first[index]]
                sums[group + 4] += element_tokens[index]
            for index in range(count):
                group = 5 * alike.of[index]
                if keys[index] != -1 and sums[group] >= siblings:
                    said = tuple([sums[group + column] for column in range(5)])
                    found.append((sums[group + 2] - sums[group + 1], keys[index], said))
                    sums[group] = 0.0
        finally:
            free(keys)
            free(sums)
            free(alike.of)
        return [said for _, _, said in sorted(found)[:most]]


def count_shared(
    const uint32_t[::1] paths not None,
    const int64_t[::1] numbers not None,
    const int64_t[::1] first not None,
    const int64_t[::1] last not None,
    const int64_t[::1] known_paths not None,
    const int64_t[::1] known_pages not None,
    Py_ssize_t most,
    double[::1] shared not None,
):
    """Count the places of a page that known pages have, too.

    Args:
        paths: The paths of the page's elements.
        numbers: The number of each path; 0 for one that no page has.
        first: The first block below each element.
        last: The block behind the last one.
        known_paths: The paths of all known pages, by number.
        known_pages: Whose they are.
        most: The highest number of a path.
        shared: Filled with how many of its places each page shares.

    Returns:
        How many distinct places with text the page has.
    """
    cdef Py_ssize_t count = paths.shape[0], index, held = 0
    cdef Groups distinct
    cdef int64_t* keys = <int64_t*>malloc((count + 1) * sizeof(int64_t))
    cdef uint8_t* marked = <uint8_t*>calloc(most + 1, 1)
    distinct.of = NULL
    distinct.count = 0
    try:
        if keys == NULL or marked == NULL:
            raise MemoryError
        if not numbers.shape[0] == first.shape[0] == last.shape[0] == count:
            raise ValueError("the columns of the elements do not fit each other")
        if known_pages.shape[0] != known_paths.shape[0]:
            raise ValueError("the columns of the known pages do not fit each other")
        for index in range(count):
            if last[index] > first[index]:
                if not 0 <= numbers[index] <= most:
                    raise ValueError("a path has a number that is not there")
                keys[held] = paths[index]
                held += 1
                marked[numbers[index]] = 1
        marked[0] = 0
        distinct = grouped(keys, held)
        for index in range(shared.shape[0]):
            shared[index] = 0.0
        for index in range(known_paths.shape[0]):
            if not 0 <= known_paths[index] <= most or not 0 <= known_pages[index] < shared.shape[0]:
                raise ValueError("a known page has a path that is not there")
            shared[known_pages[index]] += marked[known_paths[index]]
    finally:
        free(keys)
        free(marked)
        free(distinct.of)
    return distinct.count
