"""The features of blocks: ``reference_features.py``."""

cdef dict PAGE_ROW = {name: number for number, name in enumerate(shared.PAGE)}
cdef dict SCORES_ROW = {name: number for number, name in enumerate(shared.SCORES)}
cdef double FEW_PAGES = 2.0  # a share of n pages is drawn towards nothing by n / (n + this)
cdef double NO_SCORE = -8.0  # that of a block that is not there
cdef double MOST_SCORE_TOKENS = 60.0  # that a block counts in a second look
cdef double MOST_EXPONENT = 700.0  # whose exponential is a number
cdef enum:
    LOGS = 8192
cdef double[LOGS] logs
for _number in range(LOGS):
    logs[_number] = log1p(_number)


cdef inline double log_of(double number) noexcept nogil:
    """Return the logarithm of 1 and a ``number``; most are small whole ones, which were calculated before."""
    cdef Py_ssize_t whole
    if 0.0 <= number < LOGS:
        whole = <Py_ssize_t>number
        if whole == number:
            return logs[whole]
    return log1p(number)


cdef inline double ratio(double part, double whole) noexcept nogil:
    """Return ``part / whole``, whose empty wholes count as 1."""
    return part / (whole if whole > 1.0 else 1.0)


cdef inline double within(double number, double least, double most) noexcept nogil:
    return least if number < least else most if number > most else number


cdef inline double larger(double one, double other) noexcept nogil:
    return one if one > other else other


cdef inline double chance_of(double score) noexcept nogil:
    """Return log odds as a chance."""
    return 1.0 / (1.0 + exp(within(-score, -MOST_EXPONENT, MOST_EXPONENT)))


cdef void fill(float[:, ::1] rows, Py_ssize_t row, double number) noexcept:
    """Fill a row with one number."""
    cdef Py_ssize_t index
    for index in range(rows.shape[1]):
        rows[row, index] = number


def page_table(
    blocks, headline, str description not None, const double[::1] named not None, const double[::1] kinds not None,
    const double[::1] units not None, const float[:, ::1] declared not None,
):
    """Return what a page alone says of its blocks, by feature."""
    cdef Page page = page_of(blocks)
    cdef Py_ssize_t index, place, row = len(shared.PAGE), count = page.count
    cdef Py_ssize_t best = headline.best, places = len(shared.PLACES), at_place
    cdef const double[::1] overlap = headline.overlap, first_heading = headline.first_heading
    cdef const double[::1] begin = begins(description, page.in_small_letters())
    cdef double[:, ::1] so_far = page.so_far(), below = page.below(so_far)
    cdef double unlinked = larger(so_far[0, count] - so_far[1, count], 1.0)
    cdef bint fits = named.shape[0] == page.size and units.shape[0] == count and best < count
    fits &= overlap.shape[0] == count and first_heading.shape[0] == count and declared.shape[1] in (1, count)
    check(fits, "the columns do not fit the page")
    table = np.empty((row + places + kinds.shape[0] + len(shared.SAID) + declared.shape[0], count), np.float32)
    cdef float[:, ::1] rows = table
    fill_own(rows, page, so_far, unlinked)
    fill_above(rows, page, below, named, unlinked)
    fill_names(rows, page, named)
    fill_title(rows, so_far, best)
    fill_repeated(rows, page, unlinked)
    for index in range(count):
        at_place = page.places[page.homes[index]]
        for place in range(places):
            rows[row + place, index] = at_place >> place & 1
    row += places
    for place in range(kinds.shape[0]):
        fill(rows, row + place, kinds[place])
    row += kinds.shape[0]
    for index in range(count):
        rows[row, index], rows[row + 1, index] = overlap[index], first_heading[index]
        rows[row + 2, index], rows[row + 3, index] = begin[index], units[index]
    row += len(shared.SAID)
    if declared.shape[1] == count:
        memcpy_rows(rows, row, declared)
    else:
        for place in range(declared.shape[0]):
            fill(rows, row + place, declared[place, 0])
    return table


cdef void memcpy_rows(float[:, ::1] rows, Py_ssize_t first, const float[:, ::1] others) noexcept:
    """Copy ``others`` to the rows from the ``first`` on."""
    if others.shape[0] and others.shape[1]:
        memcpy(&rows[first, 0], &others[0, 0], others.shape[0] * others.shape[1] * sizeof(float))


cdef int fill_own(float[:, ::1] rows, Page page, double[:, ::1] so_far, double unlinked) except -1:
    """Fill the rows of what a block itself is, of the whole page, and of the place of a block in it."""
    cdef Py_ssize_t index, count = page.count
    cdef double longest = 0.0, characters, linked, total = larger(so_far[0, count], 1.0)
    cdef Py_ssize_t row = PAGE_ROW["characters"], of_place = PAGE_ROW["place"]
    for index in range(count):
        longest = larger(longest, page.characters[index] - page.linked[index])
    for index in range(count):
        characters, linked = page.characters[index], page.linked[index]
        rows[row, index] = log_of(characters)
        rows[row + 1, index] = ratio(linked, characters)
        rows[row + 2, index], rows[row + 3, index] = page.commas[index], page.closed[index]
        rows[row + 4, index] = page.tags[page.homes[index]]
        rows[row + 5, index] = page.depths[page.homes[index]]
        rows[row + 6, index] = ratio(characters - linked, longest)
        rows[of_place, index] = index / <double>count
        rows[of_place + 1, index] = so_far[0, index + 1] / total
    fill(rows, PAGE_ROW["page characters"], log_of(total))
    fill(rows, PAGE_ROW["page blocks"], log_of(count))
    fill(rows, PAGE_ROW["page link share"], so_far[1, count] / total)
    fill(rows, PAGE_ROW["page unlinked"], log_of(unlinked))
    fill(rows, PAGE_ROW["longest"], log_of(longest))
    return 0


cdef int fill_above(
    float[:, ::1] rows, Page page, double[:, ::1] below, const double[::1] named, double unlinked
) except -1:
    """Fill the rows of the elements above a block; the body has itself above it."""
    cdef Py_ssize_t index, at, level, row
    cdef float[:, ::1] said = np.empty((5, page.size), np.float32)
    cdef int64_t[::1] above = np.array(page.homes)
    for index in range(page.size):
        said[0, index] = log_of(below[0, index])
        said[1, index] = ratio(below[1, index], below[0, index])
        said[2, index] = (below[0, index] - below[1, index]) / unlinked
        said[3, index] = log_of(ratio(below[0, index], page.last[index] - page.first[index]))
        said[4, index] = named[index]
    for level in range(<Py_ssize_t>shared.LEVELS):
        row = PAGE_ROW[f"above {level} characters"]
        for index in range(page.count):
            at = above[index]
            rows[row, index], rows[row + 1, index], rows[row + 2, index] = said[0, at], said[1, at], said[2, at]
            rows[row + 3, index], rows[row + 4, index] = said[3, at], said[4, at]
            above[index] = max(page.parents[at], 0)
    return 0


cdef int fill_names(float[:, ::1] rows, Page page, const double[::1] named) except -1:
    """Fill the rows of what classes and ids say from the body down: in sum, at most, at least, the nearest."""
    cdef Py_ssize_t index, above, at, row = PAGE_ROW["names sum"]
    cdef double[:, ::1] said = np.empty((4, page.size))
    said[0, 0] = said[1, 0] = said[2, 0] = said[3, 0] = named[0]
    for index in range(1, page.size):  # parents come before children
        above = page.parents[index]
        said[0, index] = named[index] + said[0, above]
        said[1, index] = larger(named[index], said[1, above])
        said[2, index] = -larger(-named[index], -said[2, above])
        said[3, index] = named[index] if named[index] != 0.0 else said[3, above]
    for index in range(page.count):
        at = page.homes[index]
        rows[row, index], rows[row + 1, index] = said[0, at], said[1, at]
        rows[row + 2, index], rows[row + 3, index] = said[2, at], said[3, at]
    return 0


cdef int fill_title(float[:, ::1] rows, double[:, ::1] so_far, Py_ssize_t title) except -1:
    """Fill the rows of how far a block is from the title."""
    cdef Py_ssize_t index, row = PAGE_ROW["blocks to title"]
    cdef double characters
    for index in range(rows.shape[1]):
        if title < 0:
            rows[row, index] = rows[row + 1, index] = -99.0
            continue
        rows[row, index] = within(index - title, -60.0, 60.0)
        characters = log_of(fabs(so_far[0, index + 1] - so_far[0, title + 1]))
        rows[row + 1, index] = -characters if index < title else characters
    return 0


cdef int fill_repeated(float[:, ::1] rows, Page page, double unlinked) except -1:
    """Fill the rows of what comes back within the page."""
    cdef Py_ssize_t index, row = PAGE_ROW["times on page"], count = page.count
    cdef int64_t[::1] keys = longs(count), first = longs(count), of = longs(count)
    cdef double[::1] times, held
    for index in range(count):
        keys[index] = page.texts[index]
    times = doubles(group(keys, first, of))
    for index in range(count):
        times[of[index]] += 1.0
    for index in range(count):
        rows[row, index] = within(times[of[index]], 0.0, 5.0)
    of = page.by_path()
    times, held = doubles(page.path_count), doubles(page.path_count)
    for index in range(count):
        times[of[index]] += 1.0
        held[of[index]] += page.characters[index] - page.linked[index]
    for index in range(count):
        rows[row + 1, index] = log_of(times[of[index]])
        rows[row + 2, index] = held[of[index]] / unlinked
        rows[row + 3, index] = log_of(held[of[index]] / times[of[index]])
    return 0


# --- what its site says of each

cdef int fill_site(float[:, ::1] rows, Py_ssize_t row, Page page, site_stats) except -1:
    """Fill the rows of ``SITE``, from ``row`` on; nothing is known without ``site_stats``."""
    cdef Py_ssize_t index, number, home, count = page.count, size = page.size
    if site_stats is None:
        for number in range(<Py_ssize_t>len(shared.SITE)):
            fill(rows, row + number, UNSAID)
        fill(rows, row, 0.0)
        return 0
    cdef double pages = site_stats.pages
    cdef const double[::1] texts = site_stats.texts, masked = site_stats.masked, links = site_stats.links
    cdef const double[::1] shapes = site_stats.shapes, held = site_stats.shapes_held
    cdef const double[::1] repeated = site_stats.shapes_repeated, sameness = site_stats.sameness
    cdef const double[::1] on_path = site_stats.path_pages, elements = site_stats.path_elements
    cdef const double[::1] characters = site_stats.path_characters, linked = site_stats.path_linked
    cdef const double[::1] again = site_stats.path_repeated
    cdef bint fits = pages > 0.0
    for name in ("texts", "masked", "links", "shapes", "shapes_held", "shapes_repeated", "sameness"):
        fits &= len(getattr(site_stats, name)) == count
    for name in ("path_pages", "path_elements", "path_characters", "path_linked", "path_repeated"):
        fits &= len(getattr(site_stats, name)) == size
    check(fits, "the columns of the site do not fit the page")
    cdef float[:, ::1] said = np.empty((5, size), np.float32)
    for number in range(1, 5):
        fill(said, number, UNSAID)
    for index in range(size):
        said[0, index] = on_path[index] / pages
        if on_path[index] > 0.0:
            said[1, index] = log_of(ratio(elements[index], on_path[index]))
            said[2, index] = log_of(ratio(characters[index], elements[index]))
        if characters[index] > 0.0:
            said[3, index] = ratio(linked[index], characters[index])
            said[4, index] = ratio(again[index], characters[index])
    for index in range(count):
        home = page.homes[index]
        rows[row, index] = within(pages, 0.0, 20.0)
        rows[row + 1, index] = texts[index] / pages
        rows[row + 2, index] = within(texts[index], 0.0, 6.0)
        rows[row + 3, index] = within(masked[index], 0.0, 6.0)
        rows[row + 4, index] = masked[index] / pages
        rows[row + 5, index] = links[index] / pages if page.links[index] else UNSAID
        for number in range(5):
            rows[row + 6 + number, index] = said[number, home]
        rows[row + 11, index] = within(shapes[index], 0.0, 12.0)
        rows[row + 12, index] = within(shapes[index] / (on_path[home] + FEW_PAGES), 0.0, 1.0)
        rows[row + 13, index] = repeated[index] / (held[index] + FEW_PAGES)
        rows[row + 14, index] = sameness[index] if held[index] > 1.0 else UNSAID
    return 0


# --- what a second look sees: the scores of the first

cdef int fill_scores(float[:, ::1] rows, Py_ssize_t first, Page page, const double[::1] scores) except -1:
    """Fill the rows of ``SCORES``, from the ``first`` on."""
    cdef Py_ssize_t index, count = page.count
    cdef double[::1] weights = doubles(count), likely = doubles(count)
    cdef double[:, ::1] so_far = np.zeros((2, count + 1))  # running sums of both
    rows = rows[first : first + <Py_ssize_t>len(shared.SCORES)]
    for index in range(count):
        weights[index] = within(page.tokens[index], 0.0, MOST_SCORE_TOKENS) + 1.0
        likely[index] = weights[index] / (1.0 + exp(within(-scores[index], -MOST_EXPONENT, MOST_EXPONENT)))
        so_far[0, index + 1] = so_far[0, index] + likely[index]
        so_far[1, index + 1] = so_far[1, index] + weights[index]
        rows[0, index] = scores[index]
    fill_neighbours(rows, scores, so_far)
    fill_likely_above(rows, page, weights, likely)
    fill_likely_alike(rows, page, weights, likely)
    fill_likely_page(rows, scores, so_far)
    return 0


cdef int fill_neighbours(float[:, ::1] rows, const double[::1] scores, double[:, ::1] so_far) except -1:
    """Fill the rows of the blocks before and after a block: their scores, how likely their text is content."""
    cdef Py_ssize_t index, at, distance, row, width, before, after, count = scores.shape[0]
    for near in shared.NEIGHBOURS:
        for distance in (-near, near):
            row = SCORES_ROW[f"score {distance:+}"]
            for index in range(count):
                at = index + distance
                rows[row, index] = scores[at] if 0 <= at < count else NO_SCORE
    for width in shared.WINDOWS:
        before, after = SCORES_ROW[f"before {width} likely"], SCORES_ROW[f"after {width} likely"]
        for index in range(count):
            at = index - width if index > width else 0
            rows[before, index] = ratio(so_far[0, index] - so_far[0, at], so_far[1, index] - so_far[1, at])
            at = index + width + 1 if index + width + 1 < count else count
            rows[after, index] = ratio(so_far[0, at] - so_far[0, index + 1], so_far[1, at] - so_far[1, index + 1])
    return 0


cdef int fill_likely_above(float[:, ::1] rows, Page page, double[::1] weights, double[::1] likely) except -1:
    """Fill the rows of how likely the rest of a block's element, and of those above it, is content."""
    cdef Py_ssize_t index, at, level, row
    cdef double[:, ::1] below = np.zeros((2, page.size))
    cdef int64_t[::1] above = np.array(page.homes)
    for index in range(page.count):
        below[0, page.homes[index]] += likely[index]
        below[1, page.homes[index]] += weights[index]
    for index in range(page.size - 1, 0, -1):
        below[0, page.parents[index]] += below[0, index]
        below[1, page.parents[index]] += below[1, index]
    for level in range(<Py_ssize_t>shared.SCORE_LEVELS):
        row = SCORES_ROW[f"above {level} likely"]
        for index in range(page.count):
            at = above[index]
            rows[row, index] = ratio(below[0, at] - likely[index], below[1, at] - weights[index])
            rows[row + 1, index] = log_of(below[1, at])
            above[index] = max(page.parents[at], 0)
    return 0


cdef int fill_likely_alike(float[:, ::1] rows, Page page, double[::1] weights, double[::1] likely) except -1:
    """Fill the rows of how likely the other blocks on a block's path are content."""
    cdef Py_ssize_t index, row = SCORES_ROW["same path likely"], count = page.count
    cdef int64_t[::1] of = page.by_path()
    cdef double[:, ::1] sums = np.zeros((3, page.path_count))
    for index in range(count):
        sums[0, of[index]] += 1.0
        sums[1, of[index]] += likely[index]
        sums[2, of[index]] += weights[index]
    for index in range(count):
        rows[row, index] = ratio(sums[1, of[index]] - likely[index], sums[2, of[index]] - weights[index])
        rows[row + 1, index] = log_of(sums[0, of[index]])
    return 0


cdef int fill_likely_page(float[:, ::1] rows, const double[::1] scores, double[:, ::1] so_far) except -1:
    """Fill the rows of what is likely content of the whole page, and where a block stands in it."""
    cdef Py_ssize_t index, row = SCORES_ROW["score rank"], count = scores.shape[0]
    cdef const int64_t[::1] order = highest_first(scores)
    if not count:
        return 0
    for index in range(count):
        rows[row, order[index]] = index / <double>count
        rows[row + 3, index] = so_far[0, index] / larger(so_far[0, count], 1e-9)
    fill(rows, row + 1, log_of(so_far[0, count]))
    fill(rows, row + 2, ratio(so_far[0, count], so_far[1, count]))
    fill(rows, row + 4, scores[order[0]])
    return 0
