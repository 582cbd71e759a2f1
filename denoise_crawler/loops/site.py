"""What is known of a site: sums over its pages."""

from __future__ import annotations

from math import log

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check, counts_of, find, group

PARAGRAPH = 80.0  # characters outside links
_PARAGRAPH = cython.declare(cython.double, PARAGRAPH)
HUNDREDTHS = cython.declare(cython.double, 100.0)
_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.cfunc
@cython.exceptval(check=False)
def know_half(
    pages: cython.const[cython.double][::1],
    characters: cython.const[cython.double][::1],
    linked: cython.const[cython.double][::1],
) -> cython.bint:
    """Tell whether ``pages`` know half of the running text of a page: of blocks of a paragraph's characters."""
    index: cython.Py_ssize_t
    running: cython.double
    half: cython.double = 0.0
    known: cython.double = 0.0
    for index in range(pages.shape[0]):
        running = characters[index] - linked[index]
        if running >= _PARAGRAPH:
            half += running / 2.0
            if pages[index] > 0.0:
                known += running
    return half > 0.0 and known >= half


@cython.ccall
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


@cython.ccall
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


def said_of_page(
    blocks: tuple,
    elements: tuple,
    counted: tuple,
    summed: tuple,
    at_places: tuple,
    pages: tuple,
    silent: tuple,
    own: tuple,
    spread: cython.ulonglong,
    by_block: tuple,
    by_element: tuple,
    kinds: cython.double[::1],
):
    """Fill what the pages of a site say of the blocks and elements of a page.

    A table is the hashes, slots and bits that :func:`keys.find` takes.

    Args:
        blocks: Of each the hashes of its text, its masked text, its link, its style and its shape; its element,
            its characters and those inside links.
        elements: Of each the hash of its path, its first block and that behind its last.
        counted: Of texts, masked texts, links and shapes at their places: a table with the pages that have each.
        summed: Of paths: a table, the sums of each, and the characters of texts that come back there. Of styles:
            a table and the sums. Of texts, whether each comes back.
        at_places: By shape its path; as :func:`shapes_at` takes them, its values and sums.
        pages: As for :func:`alike`: paths, ends, rows, kinds, the row that is left out, the least share.
        silent: Of each page that says nothing of texts, links and places, the numbers of what ``counted`` counts.
        own: Of the page itself, empty columns if it is not known: its paths and what it adds to their sums, its
            styles and what it adds to theirs; the paths, texts and characters of its blocks, the parents of paths.
        spread: What a hash of a path and a shape is multiplied with.
        by_block: By block what is counted, four columns; two of its style's sums, the second of which becomes the
            mean score; three of those at its place, the last of which becomes their sameness.
        by_element: By element the number of its path; four of its sums; the characters that come back.
        kinds: The means of the kinds of alike pages.

    Returns:
        How many pages are built as the page is, and whether pages know half of its running text.

    """
    texts, masked, links, styles, shapes, homes, characters, linked = blocks
    keys: cython.uint[::1] = memoryview(bytearray(4 * len(homes) or 4)).cast("I")[: len(homes)]
    numbers: cython.longlong[::1] = memoryview(bytearray(8 * len(homes) or 8)).cast("q")[: len(homes)]
    found, style_sums, place_sums = by_block
    paths, path_sums, again = by_element
    hashes_of_paths, first, last = elements
    path_table, of_paths, of_texts, style_table, of_styles, repeated = summed
    check(len(characters) == len(homes) == len(linked), "the columns of the blocks do not fit each other")
    hashes, slots, bits = path_table
    find(hashes, slots, bits, hashes_of_paths, paths)
    place_keys(shapes, homes, hashes_of_paths, spread, keys)
    for at, wanted in enumerate((texts, masked, links, keys)):
        hashes, slots, bits, counts = counted[at]
        counts_of(hashes, slots, bits, wanted, counts, tuple([page[at] for page in silent]), found[at])
    own_paths, own_sums, own_styles, own_style_sums, own_homes, own_texts, own_characters, parents = own
    without_own(of_paths, paths, own_paths, own_sums, path_sums)
    come_back: cython.double[::1] = memoryview(bytearray(8 * len(of_texts) or 8)).cast("d")[: len(of_texts)]
    add_repeated(repeated, own_homes, own_texts, own_characters, come_back)
    add_below(come_back, parents)
    without(of_texts, come_back, paths, again)
    hashes, slots, bits = style_table
    find(hashes, slots, bits, styles, numbers)
    without_own(of_styles, numbers, own_styles, own_style_sums, style_sums)
    gather(paths, homes, numbers)
    path_of, values, sums = at_places
    shapes_at(counts, path_of, values, sums, tuple([page[3] for page in silent]), numbers, place_sums)
    as_shares(style_sums, place_sums)
    page_paths, ends, rows, of_pages, left_out, least = pages
    similar = alike(
        (hashes_of_paths, paths, first, last), page_paths, ends, rows, of_pages, left_out, least, kinds
    )
    return similar, know_half(found[0], characters, linked)


@cython.cfunc
def without(
    sums: cython.const[cython.double][::1],
    own: cython.double[::1],
    wanted: cython.const[cython.longlong][::1],
    found: cython.double[::1],
):
    """Fill ``found`` with the cells ``wanted`` of ``sums``, less those of a page's ``own``."""
    index: cython.Py_ssize_t
    fits: cython.bint = found.shape[0] == wanted.shape[0] and own.shape[0] == sums.shape[0] > 0
    for index in range(wanted.shape[0]):
        fits &= 0 <= wanted[index] < sums.shape[0]
    check(fits, "there is no such path, or the columns do not fit each other")
    own[0] = 0.0  # what stands nowhere
    for index in range(wanted.shape[0]):
        found[index] = sums[wanted[index]] - own[wanted[index]]


@cython.cfunc
def as_shares(styles: cython.double[:, ::1], places: cython.double[:, ::1]):
    """Turn the scores of styles into means by token, and the entropy at places into sameness."""
    index: cython.Py_ssize_t
    most: cython.double
    check(styles.shape[0] == 2 and places.shape[0] == 3, "the columns do not fit each other")
    for index in range(styles.shape[1]):
        most = styles[0, index] if styles[0, index] > 1.0 else 1.0
        styles[1, index] /= HUNDREDTHS * most
    for index in range(places.shape[1]):
        most = places[0, index] if places[0, index] > 1.0 else 1.0
        most = places[0, index] * log(most)
        places[2, index] /= most if most > 1e-9 else 1e-9


@cython.cfunc
def place_keys(
    shapes: cython.const[cython.uint][::1],
    homes: cython.const[cython.longlong][::1],
    paths: cython.const[cython.uint][::1],
    spread: cython.ulonglong,
    keys: cython.uint[::1],
):
    """Fill ``keys`` with hashes of shapes at their places, the paths of their ``homes``."""
    index: cython.Py_ssize_t
    path: cython.ulonglong
    fits: cython.bint = homes.shape[0] == shapes.shape[0] and keys.shape[0] == shapes.shape[0]
    check(fits, "the columns of the blocks do not fit each other")
    for index in range(homes.shape[0]):
        fits &= 0 <= homes[index] < paths.shape[0]
    check(fits, "a block stands in an element that is not there")
    for index in range(homes.shape[0]):
        path = paths[homes[index]]
        keys[index] = ((((path << 32) | shapes[index]) * spread) & _MASK) >> 32


@cython.cfunc
def gather(
    column: cython.const[cython.longlong][::1],
    at: cython.const[cython.longlong][::1],
    found: cython.longlong[::1],
):
    """Fill ``found`` with the cells ``at`` of a column, which are there."""
    index: cython.Py_ssize_t
    for index in range(found.shape[0]):
        found[index] = column[at[index]]


@cython.cfunc
def alike(
    page: tuple,
    paths: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    rows: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.double][:, ::1],
    left_out: cython.Py_ssize_t,
    least: cython.double,
    means: cython.double[::1],
):
    """Return how many pages are built as a page is, and fill the ``means`` of their kinds.

    Each counts by the share of places that it has in common with the page, if that is not below ``least``.

    Args:
        page: Of the elements of the page, the hash and the number of each one's path, its first block and that
            behind its last; those without blocks do not count.
        paths: The numbers of the places of one page after the other.
        ends: Where each page ends.
        rows: The pages that count.
        kinds: By row, the kinds of each page.
        left_out: The row that does not count either, -1 for none.
        least: The lowest share that counts.
        means: A number for each kind.

    """
    hashes: cython.const[cython.uint][::1]
    numbers: cython.const[cython.longlong][::1]
    first: cython.const[cython.longlong][::1]
    last: cython.const[cython.longlong][::1]
    hashes, numbers, first, last = page
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    row: cython.Py_ssize_t
    most: cython.longlong = 0
    shared: cython.double
    places: cython.double
    share: cython.double
    total: cython.double = 0.0
    count: cython.Py_ssize_t = hashes.shape[0]
    fits: cython.bint = numbers.shape[0] == count and first.shape[0] == count and last.shape[0] == count
    fits &= kinds.shape[1] == means.shape[0]
    check(fits, "the columns of the pages do not fit each other")
    at = 0
    for index in range(ends.shape[0]):
        fits &= at <= ends[index] <= paths.shape[0]
        at = ends[index]
    for index in range(rows.shape[0]):
        fits &= 0 <= rows[index] < ends.shape[0] and rows[index] < kinds.shape[0]
    check(fits, "a page ends where there are no paths")
    for index in range(paths.shape[0]):
        fits &= paths[index] >= 0
        most = paths[index] if paths[index] > most else most
    for index in range(count):
        fits &= numbers[index] >= 0
        most = numbers[index] if numbers[index] > most else most
    check(fits, "a page has a path that is not there")
    keys: cython.longlong[::1] = memoryview(bytearray(24 * count or 8)).cast("q")
    marked: cython.uchar[::1] = bytearray(most + 1)
    at = 0
    for index in range(count):
        if last[index] > first[index]:
            keys[at] = hashes[index]
            at += 1
            marked[numbers[index]] = 1
    marked[0] = 0
    places = group(keys[:at], keys[count : count + at], keys[2 * count : 2 * count + at])
    for row in range(means.shape[0]):
        means[row] = 0.0
    for index in range(rows.shape[0]):
        row = rows[index]
        if row == left_out:
            continue
        shared = 0.0
        at = ends[row - 1] if row else 0
        share = places + (ends[row] - at)
        while at < ends[row]:
            shared += marked[paths[at]]
            at += 1
        share -= shared
        share = shared / (share if share > 1.0 else 1.0)
        if share >= least:
            total += share
            for at in range(means.shape[0]):
                means[at] += share * kinds[row, at]
    for at in range(means.shape[0]):
        means[at] /= HUNDREDTHS * (total if total > 1e-9 else 1e-9)
    return total


@cython.ccall
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
    fits &= own_sums.shape[0] == own.shape[0] and own_sums.shape[1] == columns
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


@cython.ccall
def shapes_at(
    counts: cython.const[cython.double][::1],
    homes: cython.const[cython.int][::1],
    values: cython.const[cython.double][:, ::1],
    sums: cython.const[cython.double][:, ::1],
    left_out: tuple,
    wanted: cython.const[cython.longlong][::1],
    found: cython.double[:, ::1],
):
    """Fill the rows of ``found`` with the ``sums`` of the places ``wanted``, without what is ``left_out``.

    Args:
        counts: By shape the pages that have it.
        homes: By shape its place.
        values: By sum and by number of pages, what a shape of so many pages adds.
        sums: By sum and by place.
        left_out: Of each page that does not count, its shapes.
        wanted: A place for each column of ``found``.
        found: What is filled.

    """
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    shape: cython.Py_ssize_t
    now: cython.Py_ssize_t
    then: cython.Py_ssize_t
    numbers: cython.const[cython.int][::1]
    rows: cython.Py_ssize_t = sums.shape[0]
    places: cython.Py_ssize_t = sums.shape[1]
    fits: cython.bint = values.shape[0] == rows and found.shape[0] == rows and found.shape[1] == wanted.shape[0]
    check(fits and counts.shape[0] <= homes.shape[0], "the columns do not fit each other")
    for one in left_out:
        numbers = one
        for index in range(numbers.shape[0]):
            shape = numbers[index]
            fits &= 0 <= shape < counts.shape[0]
            if fits:
                fits &= 0 <= homes[shape] < places and 0 <= counts[shape] < values.shape[1]
    for index in range(wanted.shape[0]):
        fits &= 0 <= wanted[index] < places
    check(fits, "there is no such shape or place, or a shape stands on more pages than there are")
    gone: cython.double[::1] = memoryview(bytearray(8 * rows * places or 8)).cast("d")
    less: cython.int[::1] = memoryview(bytearray(4 * counts.shape[0] or 4)).cast("i")
    for one in left_out:
        numbers = one
        for index in range(numbers.shape[0]):
            less[numbers[index]] += 1
    for one in left_out:
        numbers = one
        for index in range(numbers.shape[0]):
            shape = numbers[index]
            now = cython.cast(cython.Py_ssize_t, counts[shape])
            then = now - less[shape] if now > less[shape] else 0
            if less[shape]:
                for row in range(rows):
                    gone[row * places + homes[shape]] += values[row, now] - values[row, then]
            less[shape] = 0
    for index in range(wanted.shape[0]):
        for row in range(rows):
            found[row, index] = sums[row, wanted[index]] - gone[row * places + wanted[index]]
