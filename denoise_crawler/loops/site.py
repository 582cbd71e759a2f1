"""What is known of a site: sums over its pages."""

from __future__ import annotations

from denoise_crawler.loops import cython


def check(fits: cython.bint, message):
    """Raise ValueError unless the columns fit: the loops read and write where these say."""
    if not fits:
        raise ValueError(message)


def count_shared(
    marked: cython.const[cython.uchar][::1],
    paths: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    shared: cython.double[::1],
):
    """Count the ``marked`` paths of each page: numbers of one page after the other, and where each page ends."""
    page: cython.Py_ssize_t
    index: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    fits: cython.bint = ends.shape[0] == shared.shape[0]
    check(fits, "the columns of the pages do not fit each other")
    for page in range(ends.shape[0]):
        fits &= index <= ends[page] <= paths.shape[0]
        index = ends[page]
    check(fits, "a page ends where there are no paths")
    for index in range(paths.shape[0]):
        fits &= 0 <= paths[index] < marked.shape[0]
    check(fits, "a page has a path that is not there")
    index = 0
    for page in range(ends.shape[0]):
        count = 0
        while index < ends[page]:
            count += marked[paths[index]]
            index += 1
        shared[page] = count


def add_repeated(
    repeated: cython.const[cython.uchar][::1],
    homes: cython.const[cython.int][::1],
    texts: cython.const[cython.int][::1],
    characters: cython.const[cython.int][::1],
    sums: cython.double[::1],
):
    """Add to ``sums`` by home the ``characters`` of the blocks whose text is ``repeated``."""
    block: cython.Py_ssize_t
    fits: cython.bint = homes.shape[0] == texts.shape[0] and homes.shape[0] == characters.shape[0]
    check(fits, "the columns of the blocks do not fit each other")
    for block in range(homes.shape[0]):
        fits &= 0 <= texts[block] < repeated.shape[0] and 0 <= homes[block] < sums.shape[0]
    check(fits, "a block has a text or a home that is not there")
    for block in range(homes.shape[0]):
        if repeated[texts[block]]:
            sums[homes[block]] += characters[block]


def add_below(sums: cython.double[::1], parents: cython.const[cython.longlong][::1]):
    """Add to each place the sums of all places below it; parents come before children."""
    place: cython.Py_ssize_t
    count: cython.Py_ssize_t = parents.shape[0]
    fits: cython.bint = sums.shape[0] >= count
    check(fits, "the sums do not fit the places")
    for place in range(1, count):
        fits &= 0 <= parents[place] < sums.shape[0]
    check(fits, "a place stands in one that is not there")
    for place in range(count - 1, 0, -1):
        sums[parents[place]] += sums[place]


def without_own(
    sums: cython.const[cython.double][:, ::1],
    wanted: cython.const[cython.longlong][::1],
    own: cython.const[cython.int][::1],
    own_sums: cython.const[cython.double][:, ::1],
    found: cython.double[:, ::1],
):
    """Fill ``found`` by column with the rows ``wanted`` of ``sums``, less ``own_sums``, of the rows ``own``."""
    index: cython.Py_ssize_t
    column: cython.Py_ssize_t
    row: cython.Py_ssize_t
    columns: cython.Py_ssize_t = sums.shape[1]
    fits: cython.bint = found.shape[0] == columns and found.shape[1] == wanted.shape[0]
    fits &= own_sums.shape[0] == own.shape[0] and (own_sums.shape[1] == columns or own.shape[0] == 0)
    check(fits, "the columns do not fit each other")
    for index in range(own.shape[0]):
        fits &= 0 <= own[index] < sums.shape[0]
    for index in range(wanted.shape[0]):
        fits &= 0 <= wanted[index] < sums.shape[0]
    check(fits, "there is no such row")
    place: cython.int[::1] = memoryview(bytearray(4 * sums.shape[0] or 4)).cast("i")  # 1 + that among its own
    for index in range(own.shape[0]):
        place[own[index]] = index + 1
    for index in range(wanted.shape[0]):
        row = wanted[index]
        for column in range(columns):
            found[column, index] = sums[row, column]
            if place[row]:
                found[column, index] -= own_sums[place[row] - 1, column]


def shapes_at(
    counts: cython.const[cython.double][::1],
    homes: cython.const[cython.int][::1],
    left_out: cython.const[cython.int][::1],
    values: cython.const[cython.double][:, ::1],
    sums: cython.const[cython.double][:, ::1],
    wanted: cython.const[cython.longlong][::1],
    found: cython.double[:, ::1],
):
    """Fill the rows of ``found`` with the ``sums`` of the places ``wanted``, without what is ``left_out``.

    Args:
        counts: By shape the pages that have it.
        homes: By shape its place.
        left_out: Shapes of pages that do not count, rising, as often as they have them.
        values: By sum and by number of pages, what a shape of so many pages adds.
        sums: By sum and by place.
        wanted: A place for each column of ``found``.
        found: What is filled.

    """
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    shape: cython.Py_ssize_t
    now: cython.Py_ssize_t
    then: cython.Py_ssize_t
    rows: cython.Py_ssize_t = sums.shape[0]
    places: cython.Py_ssize_t = sums.shape[1]
    fits: cython.bint = values.shape[0] == rows and found.shape[0] == rows and found.shape[1] == wanted.shape[0]
    check(fits and counts.shape[0] == homes.shape[0], "the columns do not fit each other")
    for index in range(left_out.shape[0]):
        fits &= 0 <= left_out[index] < counts.shape[0]
    check(fits, "there is no such shape")
    for index in range(left_out.shape[0]):
        fits &= 0 <= homes[left_out[index]] < places and 0 <= counts[left_out[index]] < values.shape[1]
    for index in range(wanted.shape[0]):
        fits &= 0 <= wanted[index] < places
    check(fits, "there is no such place, or a shape stands on more pages than there are")
    gone: cython.double[::1] = memoryview(bytearray(8 * rows * places or 8)).cast("d")
    index = 0
    while index < left_out.shape[0]:
        shape = left_out[index]
        now = then = cython.cast(cython.Py_ssize_t, counts[shape])
        while index < left_out.shape[0] and left_out[index] == shape:
            then = then - 1 if then > 0 else 0
            index += 1
        for row in range(rows):
            gone[row * places + homes[shape]] += values[row, now] - values[row, then]
    for index in range(wanted.shape[0]):
        for row in range(rows):
            found[row, index] = sums[row, wanted[index]] - gone[row * places + wanted[index]]
