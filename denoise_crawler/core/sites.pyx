# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What depends on what is known of the site: the rows of ``methods.fusion.features`` for it, and the main region."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from denoise_crawler.core.features cimport FIRST_LEVELS, Features
from denoise_crawler.core.groups cimport Groups, grouped, larger, ratio, within


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


def region(
    Features page not None,
    float[:, ::1] rows not None,
    Py_ssize_t row,
    const double[::1] scores not None,
    Py_ssize_t top,
    Py_ssize_t first,
    Py_ssize_t last,
    double log_score,
):
    """Fill the rows of the main region; return the next row."""
    cdef Py_ssize_t index, level, blocks = page.blocks, behind, before = 0, meeting, count = 0, at
    cdef double total = larger(page.character_sums[blocks], 1.0), share
    cdef double* best
    cdef int64_t* chain
    cdef int64_t distance, levels
    page.check(rows.shape[1] == blocks and rows.shape[0] >= row + 11)
    page.check(scores.shape[0] == page.count and 0 <= top < page.count)
    best = <double*>malloc((page.count + 1) * sizeof(double))
    chain = <int64_t*>malloc((page.count + 1) * sizeof(int64_t))
    if best == NULL or chain == NULL:
        free(best)
        free(chain)
        raise MemoryError
    for index in range(page.count):
        best[index] = scores[index]
        if page.parents[index] >= 0:
            best[index] = larger(best[index], best[page.parents[index]])
    at = top
    while at >= 0:
        chain[count] = at
        count += 1
        at = page.parents[at]
    for level in range(FIRST_LEVELS):
        page.gather(rows, row + level, level, &scores[0])
    page.gather(rows, row + 4, 0, best)
    share = (page.element_characters[top] - page.element_linked[top]) / page.unlinked
    behind = count
    for index in range(blocks):
        while behind and page.first[chain[behind - 1]] <= index:
            behind -= 1
        while before < count and page.last[chain[before]] <= index:
            before += 1
        meeting = chain[min(max(behind, before), count - 1)]
        levels = page.depths[page.elements[index]] - page.depths[meeting]
        distance = min(index - first, 0) + max(index - last + 1, 0)
        rows[row + 5, index] = 1.0 if first <= index < last else 0.0
        rows[row + 6, index] = <float>min(levels, 25)
        rows[row + 7, index] = <float>within(<double>distance, -50.0, 50.0)
        rows[row + 8, index] = <float>(page.element_characters[meeting] / total)
        rows[row + 9, index] = <float>log_score
        rows[row + 10, index] = <float>share
    free(best)
    free(chain)
    return row + 11


def take_site_logs(Features page not None, double[::1] logs not None, tuple standing not None):
    """Fill ``logs``, two by element, with what :meth:`site` needs the logarithms of."""
    cdef Py_ssize_t index
    cdef const double[::1] pages = standing[0], elements = standing[1], characters = standing[2]
    page.check(logs.shape[0] == 2 * page.count == 2 * pages.shape[0])
    page.check(elements.shape[0] == characters.shape[0] == page.count)
    for index in range(page.count):
        logs[index] = ratio(elements[index], pages[index])
        logs[page.count + index] = ratio(characters[index], elements[index])


def site(
    Features page not None,
    float[:, ::1] rows not None,
    Py_ssize_t row,
    const double[::1] logs not None,
    double pages,
    tuple by_block not None,
    tuple by_element not None,
    const uint32_t[::1] links not None,
):
    """Fill the rows of what the site says; return the next row."""
    cdef Py_ssize_t index, level, low, high, blocks = page.blocks, count = page.count, column
    cdef const double[::1] texts = by_block[0], masked = by_block[1], with_link = by_block[2]
    cdef const double[::1] on_path = by_element[0], characters = by_element[2], linked = by_element[3]
    cdef const double[::1] repeated = by_element[4]
    cdef double* numbers
    cdef double* sums
    cdef double share
    page.check(rows.shape[1] == blocks and rows.shape[0] >= row + 29 and logs.shape[0] == 2 * count)
    page.check(texts.shape[0] == masked.shape[0] == with_link.shape[0] == links.shape[0] == blocks)
    page.check(on_path.shape[0] == characters.shape[0] == linked.shape[0] == repeated.shape[0] == count)
    numbers, sums = <double*>malloc(6 * count * sizeof(double)), <double*>malloc((blocks + 1) * sizeof(double))
    if numbers == NULL or sums == NULL:
        free(numbers)
        free(sums)
        raise MemoryError
    sums[0] = 0.0
    for index in range(blocks):
        share = texts[index] / pages
        sums[index + 1] = (1.0 if share > 1.0 else share) * page.characters[index]
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
        share = ratio(sums[high] - sums[low], page.character_sums[high] - page.character_sums[low])
        rows[row + 6, index] = <float>share
    for index in range(count):
        numbers[index] = on_path[index] / pages
        numbers[count + index] = logs[index] if on_path[index] > 0 else -1.0
        numbers[2 * count + index] = logs[count + index] if on_path[index] > 0 else -1.0
        numbers[3 * count + index] = ratio(linked[index], characters[index]) if characters[index] > 0 else -1.0
        numbers[4 * count + index] = ratio(repeated[index], characters[index]) if characters[index] > 0 else -1.0
        numbers[5 * count + index] = ratio(
            sums[page.last[index]] - sums[page.first[index]], page.element_characters[index]
        )
    row += 7
    for level in range(FIRST_LEVELS):
        for column in range(5):
            page.gather(rows, row, level, numbers + column * count)
            row += 1
    for level in (1, 2):
        page.gather(rows, row, level, numbers + 5 * count)
        row += 1
    free(numbers)
    free(sums)
    return row
