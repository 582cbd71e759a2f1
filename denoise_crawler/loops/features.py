"""The features of blocks: what a page alone says of each, and what its site says.

A feature is one name in ``PAGE`` or ``SITE`` and one loop, which fills the row of that name. Trainer and judge
read the names from here.
"""

from __future__ import annotations

from math import exp, fabs, log1p

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check, group

LEVELS = 3  # elements above a block that are looked at
SIBLINGS = cython.declare(cython.double, 3.0)  # elements of one kind below the same one are a list
OF_ABOVE = ("characters", "link share", "share of text", "mean block", "names")
OF_SITE = ("presence", "elements", "length", "link share", "repeated")
PAGE = (
    *("characters", "link share", "commas", "closed", "tag", "depth", "of longest"),
    *("page characters", "page blocks", "page link share", "page unlinked", "longest"),
    *("place", "place by characters"),
    *(f"above {level} {name}" for level in range(LEVELS) for name in OF_ABOVE),
    *("names sum", "names most", "names least", "names nearest"),
    *("blocks to title", "characters to title"),
    *("times on page", "blocks on path", "share of text on path", "mean text on path"),
)
SITE = (
    *("site pages", "site text", "site text pages", "site masked text pages", "site masked text", "site link"),
    *(f"site above 0 {name}" for name in OF_SITE),
    *("place shape pages", "place shape", "place repeated", "place sameness"),
)
# what a second look sees: the scores of the first
NEIGHBOURS = (1, 2, 3, 4)
WINDOWS = (3, 8, 20)
SCORE_LEVELS = 4
SCORES = (
    "score",
    *(f"score {distance:+}" for near in NEIGHBOURS for distance in (-near, near)),
    *(f"{side} {width} likely" for width in WINDOWS for side in ("before", "after")),
    *(f"above {level} {name}" for level in range(SCORE_LEVELS) for name in ("likely", "tokens")),
    *("same path likely", "same path blocks"),
    *("score rank", "page likely tokens", "page likely share", "likely so far", "highest score"),
)
PAGE_TYPE = (
    *("blocks", "characters", "link share"),
    *("paragraphs", "share in paragraphs", "longest", "commas in paragraphs"),
    *("content tokens", "content share", "content blocks", "content link share"),
    *(f"list {place} {name}" for place in (1, 2) for name in ("size", "share", "mean", "link share", "content")),
)
PAGE_ROW = {name: number for number, name in enumerate(PAGE)}
SITE_ROW = {name: number for number, name in enumerate(SITE)}
SCORES_ROW = {name: number for number, name in enumerate(SCORES)}
UNKNOWN = cython.declare(cython.double, -1.0)
# A share of n pages is drawn towards nothing by n / (n + this): one of two pages says less than six of twelve.
FEW_PAGES = cython.declare(cython.double, 2.0)
# by level, the rows of what is said of the element there
_ABOVE = [[PAGE_ROW[f"above {level} {name}"] for name in OF_ABOVE] for level in range(LEVELS)]
_PARAGRAPH = cython.declare(cython.double, 100.0)  # characters outside links
_LEAST_TITLE = cython.declare(cython.double, 0.3)  # what a block that is the title has more of
# of the second look: the score of a block that is not there, the most tokens that a block counts
_NO_SCORE = cython.declare(cython.double, -8.0)
_MOST_TOKENS = cython.declare(cython.double, 60.0)
_PATHS = cython.declare(cython.longlong, 1 << 32)


def room(count, letter):
    """Return ``count`` numbers, all 0, of 8 bytes each."""
    return memoryview(bytearray(8 * count)).cast(letter)


def logs(count):
    """Return the logarithms of 1 and the ``count - 1`` numbers behind it."""
    numbers = room(count, "d")
    for number in range(count):
        numbers[number] = log1p(number)
    return numbers


_MOST = cython.declare(cython.double, 8192.0)
_LOGS = cython.declare(cython.double[::1], logs(8192))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def log_of(number: cython.double) -> cython.double:
    """Return the logarithm of 1 and a ``number``; most are small whole ones, which were calculated before."""
    whole: cython.Py_ssize_t
    if 0.0 <= number < _MOST:
        whole = cython.cast(cython.Py_ssize_t, number)
        if whole == number:
            return _LOGS[whole]
    return log1p(number)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def ratio(part: cython.double, whole: cython.double) -> cython.double:
    """Return ``part / whole``, whose empty wholes count as 1."""
    return part / (whole if whole > 1.0 else 1.0)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def within(number: cython.double, least: cython.double, most: cython.double) -> cython.double:
    """Return the number between two others that is nearest to a ``number``."""
    return least if number < least else most if number > most else number


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def larger(one: cython.double, other: cython.double) -> cython.double:
    """Return the larger of two numbers."""
    return one if one > other else other


def check_page(blocks: tuple, elements: tuple):
    """Raise ValueError unless each block and each element stands in an element that is there, before it."""
    homes: cython.const[cython.longlong][::1] = blocks[4]
    parents: cython.const[cython.longlong][::1] = elements[0]
    first: cython.const[cython.longlong][::1] = elements[1]
    last: cython.const[cython.longlong][::1] = elements[2]
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = parents.shape[0]
    fits: cython.bint = count > 0 and parents[0] == -1
    for column in blocks:
        fits &= len(column) == homes.shape[0]
    for column in elements:
        fits &= len(column) == count
    check(fits, "the columns of the page do not fit each other")
    for index in range(count):
        fits &= (0 <= parents[index] < index) or index == 0
        fits &= 0 <= first[index] <= last[index] <= homes.shape[0]
    for index in range(homes.shape[0]):
        fits &= 0 <= homes[index] < count
    check(fits, "a block or an element stands in one that is not there")


def add_up(blocks: tuple, elements: tuple, by_block: cython.double[:, ::1], by_element: cython.double[:, ::1]):
    """Fill the running sums of characters and of those inside links, and both and their ratio by element.

    All loops below trust columns that were added up.

    Args:
        blocks: Of each its characters, those inside links, its commas, how it ends, its element, its text's hash.
        elements: Of each its parent, its first block, that behind its last, its tag, its depth, its path's hash.
        by_block: Two columns, which begin with 0.
        by_element: Three columns.

    Raises:
        ValueError: Columns differ in length, or a block or an element stands in one that is not there before it.

    """
    characters: cython.const[cython.double][::1] = blocks[0]
    linked: cython.const[cython.double][::1] = blocks[1]
    first: cython.const[cython.longlong][::1] = elements[1]
    last: cython.const[cython.longlong][::1] = elements[2]
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = characters.shape[0]
    check_page(blocks, elements)
    fits: cython.bint = by_block.shape[0] == 2 and by_block.shape[1] == count + 1
    fits &= by_element.shape[0] == 3 and by_element.shape[1] == first.shape[0]
    check(fits, "the columns of the page do not fit each other")
    by_block[0, 0] = by_block[1, 0] = 0.0
    for index in range(count):
        by_block[0, index + 1] = by_block[0, index] + characters[index]
        by_block[1, index + 1] = by_block[1, index] + linked[index]
    for index in range(first.shape[0]):
        by_element[0, index] = by_block[0, last[index]] - by_block[0, first[index]]
        by_element[1, index] = by_block[1, last[index]] - by_block[1, first[index]]
        by_element[2, index] = ratio(by_element[1, index], by_element[0, index])


@cython.cfunc
@cython.exceptval(check=False)
def fill(rows: cython.float[:, ::1], row: cython.Py_ssize_t, number: cython.double) -> cython.void:
    """Fill a row with one number."""
    index: cython.Py_ssize_t
    for index in range(rows.shape[1]):
        rows[row, index] = number


@cython.cfunc
@cython.exceptval(check=False)
def gather(
    rows: cython.float[:, ::1],
    row: cython.Py_ssize_t,
    column: cython.const[cython.double][::1],
    at: cython.const[cython.longlong][::1],
) -> cython.void:
    """Fill a row with what ``column`` says of the elements ``at``."""
    index: cython.Py_ssize_t
    for index in range(rows.shape[1]):
        rows[row, index] = column[at[index]]


@cython.cfunc
@cython.exceptval(check=False)
def copy(one: cython.const[cython.longlong][::1], other: cython.longlong[::1]) -> cython.void:
    """Write ``one`` column to the ``other``."""
    index: cython.Py_ssize_t
    for index in range(one.shape[0]):
        other[index] = one[index]


@cython.cfunc
@cython.exceptval(check=False)
def go_up(at: cython.longlong[::1], parents: cython.const[cython.longlong][::1]) -> cython.void:
    """Go from the elements ``at`` to those above them; the body has itself above it."""
    index: cython.Py_ssize_t
    for index in range(at.shape[0]):
        at[index] = parents[at[index]] if at[index] else 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def unlinked_of(
    running: cython.const[cython.double][::1], links: cython.const[cython.double][::1]
) -> cython.double:
    """Return the characters of the page outside links."""
    count: cython.Py_ssize_t = running.shape[0] - 1
    return larger(running[count] - links[count], 1.0)


def title_of(
    characters: cython.const[cython.double][::1],
    linked: cython.const[cython.double][::1],
    homes: cython.const[cython.longlong][::1],
    tags: cython.const[cython.longlong][::1],
    overlap: cython.const[cython.double][::1],
    heading: cython.longlong,
    first_heading: cython.double[::1],
):
    """Return the block that is the title, -1 if none is like it, and fill which blocks are ``h1``.

    Args:
        characters: Of each block.
        linked: Of each block, its characters inside links.
        homes: Of each block, the element that it stands in.
        tags: Of each element.
        overlap: By block, how much it resembles the title.
        heading: The tag of an ``h1``.
        first_heading: What is filled.

    """
    index: cython.Py_ssize_t
    best: cython.Py_ssize_t = -1
    chance: cython.double
    most: cython.double = _LEAST_TITLE
    count: cython.Py_ssize_t = homes.shape[0]
    fits: cython.bint = overlap.shape[0] == count and first_heading.shape[0] == count
    fits &= characters.shape[0] == count and linked.shape[0] == count
    for index in range(count):
        fits &= 0 <= homes[index] < tags.shape[0]
    check(fits, "the columns of the page do not fit each other")
    for index in range(count):
        first_heading[index] = 1.0 if tags[homes[index]] == heading else 0.0
        chance = overlap[index] + 0.3 * first_heading[index] - 0.5 * linked[index] / larger(characters[index], 1.0)
        if chance > most:
            most, best = chance, index
    return best


def page(
    rows: cython.float[:, ::1],
    blocks: tuple,
    elements: tuple,
    sums: tuple,
    named: cython.const[cython.double][::1],
    title: cython.Py_ssize_t,
    places: cython.const[cython.longlong][::1],
    of_places: cython.Py_ssize_t,
    kinds: cython.const[cython.double][::1],
    said: tuple,
):
    """Fill the ``rows`` of what the page alone says, but for those behind the last that is given here.

    Args:
        rows: A row for each name of ``PAGE``, place, kind and column of ``said``; a column for each block.
        blocks: As :func:`add_up` takes them.
        elements: As :func:`add_up` takes them.
        sums: What :func:`add_up` fills: two columns by block, three by element.
        named: Of each element, how much its class and id speak for content.
        title: The block that is the title, below 0 if none is.
        places: By element what it stands in, a bit for each place.
        of_places: How many places there are.
        kinds: How much the page speaks for each kind.
        said: Columns of numbers by block, one number for all.

    Raises:
        ValueError: The columns do not fit each other.

    """
    characters: cython.const[cython.double][::1]
    linked: cython.const[cython.double][::1]
    commas: cython.const[cython.double][::1]
    closed: cython.const[cython.double][::1]
    homes: cython.const[cython.longlong][::1]
    texts: cython.const[cython.uint][::1]
    parents: cython.const[cython.longlong][::1]
    first: cython.const[cython.longlong][::1]
    last: cython.const[cython.longlong][::1]
    tags: cython.const[cython.longlong][::1]
    depths: cython.const[cython.longlong][::1]
    paths: cython.const[cython.uint][::1]
    running: cython.const[cython.double][::1]
    links: cython.const[cython.double][::1]
    below: cython.const[cython.double][::1]
    links_below: cython.const[cython.double][::1]
    shares: cython.const[cython.double][::1]
    characters, linked, commas, closed, homes, texts = blocks
    parents, first, last, tags, depths, paths = elements
    running, links, below, links_below, shares = sums
    count: cython.Py_ssize_t = homes.shape[0]
    unlinked: cython.double = unlinked_of(running, links)
    row: cython.Py_ssize_t = len(PAGE)
    column: cython.const[cython.double][::1]
    index: cython.Py_ssize_t
    fits: cython.bint = rows.shape[0] >= len(PAGE) + of_places + kinds.shape[0] + len(said)
    fits &= rows.shape[1] == count and title < count and 0 <= of_places < 63
    fits &= places.shape[0] == parents.shape[0]
    for one in said:
        fits &= len(one) == count
    fits &= running.shape[0] == count + 1 and links.shape[0] == count + 1
    fits &= below.shape[0] == parents.shape[0] and links_below.shape[0] == parents.shape[0]
    fits &= shares.shape[0] == parents.shape[0] and named.shape[0] == parents.shape[0]
    check(fits, "the columns of the page do not fit each other")
    own_rows(rows, characters, linked, commas, closed, homes, tags, depths)
    page_rows(rows, running, links, unlinked)
    above_rows(rows, homes, parents, first, last, below, links_below, shares, named, unlinked)
    name_rows(rows, homes, parents, named)
    title_rows(rows, running, title)
    repetition_rows(rows, characters, linked, homes, texts, paths, unlinked)
    bits(rows, row, of_places, places, homes)
    row += of_places
    for index in range(kinds.shape[0]):
        fill(rows, row, kinds[index])
        row += 1
    for one in said:
        column = one
        for index in range(count):
            rows[row, index] = column[index]
        row += 1


@cython.cfunc
def own_rows(
    rows: cython.float[:, ::1],
    characters: cython.const[cython.double][::1],
    linked: cython.const[cython.double][::1],
    commas: cython.const[cython.double][::1],
    closed: cython.const[cython.double][::1],
    homes: cython.const[cython.longlong][::1],
    tags: cython.const[cython.longlong][::1],
    depths: cython.const[cython.longlong][::1],
):
    """Fill the rows of what a block itself is."""
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = rows.shape[1]
    longest: cython.double = 0.0
    row: cython.Py_ssize_t = PAGE_ROW["characters"]
    for index in range(count):
        rows[row, index] = log_of(characters[index])
        longest = larger(longest, characters[index] - linked[index])
    row = PAGE_ROW["link share"]
    for index in range(count):
        rows[row, index] = ratio(linked[index], characters[index])
    row = PAGE_ROW["commas"]
    for index in range(count):
        rows[row, index] = commas[index]
    row = PAGE_ROW["closed"]
    for index in range(count):
        rows[row, index] = closed[index]
    row = PAGE_ROW["tag"]
    for index in range(count):
        rows[row, index] = tags[homes[index]]
    row = PAGE_ROW["depth"]
    for index in range(count):
        rows[row, index] = depths[homes[index]]
    row = PAGE_ROW["of longest"]
    for index in range(count):
        rows[row, index] = ratio(characters[index] - linked[index], longest)
    fill(rows, PAGE_ROW["longest"], log_of(longest))


@cython.cfunc
def page_rows(
    rows: cython.float[:, ::1],
    running: cython.const[cython.double][::1],
    links: cython.const[cython.double][::1],
    unlinked: cython.double,
):
    """Fill the rows of the whole page, and of the place of a block in it."""
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = rows.shape[1]
    total: cython.double = larger(running[count], 1.0)
    blocks: cython.double = count
    fill(rows, PAGE_ROW["page characters"], log_of(total))
    fill(rows, PAGE_ROW["page blocks"], log_of(blocks))
    fill(rows, PAGE_ROW["page link share"], links[count] / total)
    fill(rows, PAGE_ROW["page unlinked"], log_of(unlinked))
    row: cython.Py_ssize_t = PAGE_ROW["place"]
    for index in range(count):
        rows[row, index] = index / blocks
    row = PAGE_ROW["place by characters"]
    for index in range(count):
        rows[row, index] = running[index + 1] / total


@cython.cfunc
def above_rows(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    parents: cython.const[cython.longlong][::1],
    first: cython.const[cython.longlong][::1],
    last: cython.const[cython.longlong][::1],
    below: cython.const[cython.double][::1],
    links_below: cython.const[cython.double][::1],
    shares: cython.const[cython.double][::1],
    named: cython.const[cython.double][::1],
    unlinked: cython.double,
):
    """Fill the rows of the elements above a block."""
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = parents.shape[0]
    held: cython.double
    space: cython.double[::1] = room(3 * count, "d")
    lengths: cython.double[::1] = space[:count]
    texts: cython.double[::1] = space[count : 2 * count]
    means: cython.double[::1] = space[2 * count :]
    for index in range(count):
        held = last[index] - first[index]
        lengths[index] = log_of(below[index])
        texts[index] = (below[index] - links_below[index]) / unlinked
        means[index] = log_of(ratio(below[index], held))
    at: cython.longlong[::1] = room(homes.shape[0], "q")
    copy(homes, at)
    for of_characters, of_links, of_text, of_mean, of_names in _ABOVE:
        gather(rows, of_characters, lengths, at)
        gather(rows, of_links, shares, at)
        gather(rows, of_text, texts, at)
        gather(rows, of_mean, means, at)
        gather(rows, of_names, named, at)
        go_up(at, parents)


@cython.cfunc
def name_rows(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    parents: cython.const[cython.longlong][::1],
    named: cython.const[cython.double][::1],
):
    """Fill the rows of what classes and ids say from the body down: in sum, at most, at least, the nearest."""
    index: cython.Py_ssize_t
    above: cython.Py_ssize_t
    count: cython.Py_ssize_t = parents.shape[0]
    space: cython.double[::1] = room(4 * count, "d")
    total: cython.double[::1] = space[:count]
    most: cython.double[::1] = space[count : 2 * count]
    least: cython.double[::1] = space[2 * count : 3 * count]
    nearest: cython.double[::1] = space[3 * count :]
    total[0] = most[0] = least[0] = nearest[0] = named[0]
    for index in range(1, count):  # parents come before children
        above = parents[index]
        total[index] = named[index] + total[above]
        most[index] = larger(named[index], most[above])
        least[index] = -larger(-named[index], -least[above])
        nearest[index] = named[index] if named[index] != 0.0 else nearest[above]
    gather(rows, PAGE_ROW["names sum"], total, homes)
    gather(rows, PAGE_ROW["names most"], most, homes)
    gather(rows, PAGE_ROW["names least"], least, homes)
    gather(rows, PAGE_ROW["names nearest"], nearest, homes)


@cython.cfunc
def title_rows(rows: cython.float[:, ::1], running: cython.const[cython.double][::1], title: cython.Py_ssize_t):
    """Fill the rows of how far a block is from the title."""
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t = PAGE_ROW["blocks to title"]
    by_characters: cython.Py_ssize_t = PAGE_ROW["characters to title"]
    distance: cython.double
    characters: cython.double
    if title < 0:
        fill(rows, row, -99.0)
        fill(rows, by_characters, -99.0)
        return
    for index in range(rows.shape[1]):
        distance = index - title
        rows[row, index] = within(distance, -60.0, 60.0)
        characters = log_of(fabs(running[index + 1] - running[title + 1]))
        rows[by_characters, index] = -characters if distance < 0.0 else characters


@cython.cfunc
def repetition_rows(
    rows: cython.float[:, ::1],
    characters: cython.const[cython.double][::1],
    linked: cython.const[cython.double][::1],
    homes: cython.const[cython.longlong][::1],
    texts: cython.const[cython.uint][::1],
    paths: cython.const[cython.uint][::1],
    unlinked: cython.double,
):
    """Fill the rows of what comes back within the page."""
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    groups: cython.Py_ssize_t
    count: cython.Py_ssize_t = rows.shape[1]
    space: cython.longlong[::1] = room(3 * count, "q")
    keys: cython.longlong[::1] = space[:count]
    first: cython.longlong[::1] = space[count : 2 * count]
    of: cython.longlong[::1] = space[2 * count :]
    for index in range(count):
        keys[index] = texts[index]
    groups = group(keys, first, of)
    times: cython.double[::1] = room(groups, "d")
    for index in range(count):
        times[of[index]] += 1.0
    row = PAGE_ROW["times on page"]
    for index in range(count):
        rows[row, index] = times[of[index]] if times[of[index]] < 5.0 else 5.0
    for index in range(count):
        keys[index] = paths[homes[index]]
    groups = group(keys, first, of)
    times = room(groups, "d")
    held: cython.double[::1] = room(groups, "d")
    for index in range(count):
        times[of[index]] += 1.0
        held[of[index]] += characters[index] - linked[index]
    row = PAGE_ROW["blocks on path"]
    for index in range(count):
        rows[row, index] = log_of(times[of[index]])
    row = PAGE_ROW["share of text on path"]
    for index in range(count):
        rows[row, index] = held[of[index]] / unlinked
    row = PAGE_ROW["mean text on path"]
    for index in range(count):
        rows[row, index] = log_of(held[of[index]] / times[of[index]])


@cython.cfunc
@cython.exceptval(check=False)
def bits(
    rows: cython.float[:, ::1],
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    numbers: cython.const[cython.longlong][::1],
    homes: cython.const[cython.longlong][::1],
) -> cython.void:
    """Fill ``count`` rows from the ``first`` on, each with a bit of the ``numbers`` of the blocks' elements."""
    index: cython.Py_ssize_t
    bit: cython.Py_ssize_t
    for bit in range(count):
        for index in range(homes.shape[0]):
            rows[first + bit, index] = (numbers[homes[index]] >> bit) & 1


@cython.cfunc
def alike_siblings(
    parents: cython.const[cython.longlong][::1],
    first: cython.const[cython.longlong][::1],
    last: cython.const[cython.longlong][::1],
    paths: cython.const[cython.uint][::1],
    keys: cython.longlong[::1],
    members: cython.longlong[::1],
    kinds: cython.longlong[::1],
):
    """Give elements with one path below the same element one number, and return how many numbers there are.

    It fills the ``keys`` and the ``kinds`` (the numbers) of elements, and the first of the ``members`` of each
    kind. The key of elements without text is -1.
    """
    index: cython.Py_ssize_t
    above: cython.longlong
    for index in range(parents.shape[0]):
        above = parents[index]
        keys[index] = above * _PATHS + paths[index] if last[index] > first[index] else -1
    return group(keys, members, kinds)


@cython.cfunc
@cython.exceptval(check=False)
def add_by_kind(
    kinds: cython.longlong[::1],
    below: cython.const[cython.double][::1],
    links_below: cython.const[cython.double][::1],
    sizes: cython.double[::1],
    characters: cython.double[::1],
    linked: cython.double[::1],
) -> cython.void:
    """Add up the elements of each kind, their characters and those inside links."""
    index: cython.Py_ssize_t
    for index in range(kinds.shape[0]):
        sizes[kinds[index]] += 1.0
        characters[kinds[index]] += below[index]
        linked[kinds[index]] += links_below[index]


def site_rows(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    links: cython.const[cython.uint][::1],
    pages: cython.double,
    standing: tuple,
):
    """Fill the ``rows`` of ``SITE``, with what ``pages`` of the site say.

    Args:
        rows: A row for each name, a column for each block.
        homes: Of each block, the element that it stands in.
        links: Of each block, the hash of its first link's address; 0 without one.
        pages: How many pages there are, 0 if the site is not known.
        standing: Three tuples of columns, as :func:`site` and :func:`places` take them; empty without a site.

    """
    index: cython.Py_ssize_t
    if standing:
        of_blocks, of_elements, at_place = standing
        site(rows, homes, links, pages, of_blocks, of_elements)
        places(rows, homes, of_elements[0], at_place)
    else:
        for index in range(rows.shape[0]):
            fill(rows, index, UNKNOWN)
        fill(rows, SITE_ROW["site pages"], 0.0)


@cython.cfunc
def site(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    links: cython.const[cython.uint][::1],
    pages: cython.double,
    by_block: tuple,
    by_element: tuple,
):
    """Fill those ``rows`` of ``SITE`` that say what other ``pages`` of the site say.

    Args:
        rows: A row for each name, a column for each block.
        homes: Of each block, the element that it stands in.
        links: Of each block, the hash of its first link's address; 0 without one.
        pages: How many pages there are.
        by_block: How many pages have its text, its masked text, its link.
        by_element: Summed over the pages with its path: pages, elements, characters, linked and repeated ones.

    """
    texts: cython.const[cython.double][::1]
    masked: cython.const[cython.double][::1]
    with_link: cython.const[cython.double][::1]
    on_path: cython.const[cython.double][::1]
    held: cython.const[cython.double][::1]
    path_characters: cython.const[cython.double][::1]
    path_linked: cython.const[cython.double][::1]
    path_repeated: cython.const[cython.double][::1]
    texts, masked, with_link = by_block
    on_path, held, path_characters, path_linked, path_repeated = by_element
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    count: cython.Py_ssize_t = homes.shape[0]
    size: cython.Py_ssize_t = on_path.shape[0]
    fits: cython.bint = rows.shape[0] == len(SITE) and rows.shape[1] == count and links.shape[0] == count
    for column in by_block:
        fits &= len(column) == count
    for column in by_element:
        fits &= len(column) == size
    for index in range(count):
        fits &= 0 <= homes[index] < size
    check(fits and pages > 0.0, "the columns of the site do not fit the page")
    fill(rows, SITE_ROW["site pages"], pages if pages < 20.0 else 20.0)
    row = SITE_ROW["site text"]
    for index in range(count):
        rows[row, index] = texts[index] / pages
    row = SITE_ROW["site text pages"]
    for index in range(count):
        rows[row, index] = texts[index] if texts[index] < 6.0 else 6.0
    row = SITE_ROW["site masked text pages"]
    for index in range(count):
        rows[row, index] = masked[index] if masked[index] < 6.0 else 6.0
    row = SITE_ROW["site masked text"]
    for index in range(count):
        rows[row, index] = masked[index] / pages
    row = SITE_ROW["site link"]
    for index in range(count):
        rows[row, index] = with_link[index] / pages if links[index] else UNKNOWN
    space: cython.double[::1] = room(5 * size, "d")
    presence: cython.double[::1] = space[:size]
    elements_there: cython.double[::1] = space[size : 2 * size]
    lengths: cython.double[::1] = space[2 * size : 3 * size]
    link_shares: cython.double[::1] = space[3 * size : 4 * size]
    shares: cython.double[::1] = space[4 * size :]
    for index in range(size):
        presence[index] = on_path[index] / pages
        elements_there[index] = lengths[index] = link_shares[index] = shares[index] = UNKNOWN
        if on_path[index] > 0.0:
            elements_there[index] = log_of(ratio(held[index], on_path[index]))
            lengths[index] = log_of(ratio(path_characters[index], held[index]))
        if path_characters[index] > 0.0:
            link_shares[index] = ratio(path_linked[index], path_characters[index])
            shares[index] = ratio(path_repeated[index], path_characters[index])
    gather(rows, SITE_ROW["site above 0 presence"], presence, homes)
    gather(rows, SITE_ROW["site above 0 elements"], elements_there, homes)
    gather(rows, SITE_ROW["site above 0 length"], lengths, homes)
    gather(rows, SITE_ROW["site above 0 link share"], link_shares, homes)
    gather(rows, SITE_ROW["site above 0 repeated"], shares, homes)


@cython.cfunc
def places(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    on_path: cython.const[cython.double][::1],
    at_place: tuple,
):
    """Fill those ``rows`` of ``SITE`` that say what other pages have at a block's place.

    Args:
        rows: A row for each name, a column for each block.
        homes: Of each block, the element that it stands in.
        on_path: By element, how many pages have its path.
        at_place: By block, how many pages have its shape there; how many shapes they have there, how many of
            these on several pages, and how much these are the same.

    """
    shapes: cython.const[cython.double][::1]
    held: cython.const[cython.double][::1]
    repeated: cython.const[cython.double][::1]
    sameness: cython.const[cython.double][::1]
    shapes, held, repeated, sameness = at_place
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    count: cython.Py_ssize_t = homes.shape[0]
    share: cython.double
    fits: cython.bint = rows.shape[1] == count
    for column in at_place:
        fits &= len(column) == count
    check(fits, "the columns of the places do not fit the page")
    row = SITE_ROW["place shape pages"]
    for index in range(count):
        rows[row, index] = shapes[index] if shapes[index] < 12.0 else 12.0
    row = SITE_ROW["place shape"]
    for index in range(count):
        share = shapes[index] / (on_path[homes[index]] + FEW_PAGES)
        rows[row, index] = share if share < 1.0 else 1.0
    row = SITE_ROW["place repeated"]
    for index in range(count):
        rows[row, index] = repeated[index] / (held[index] + FEW_PAGES)
    row = SITE_ROW["place sameness"]
    for index in range(count):
        rows[row, index] = sameness[index] if held[index] > 1.0 else UNKNOWN


def score_rows(
    rows: cython.float[:, ::1],
    scores: cython.const[cython.double][::1],
    tokens: cython.const[cython.double][::1],
    homes: cython.const[cython.longlong][::1],
    parents: cython.const[cython.longlong][::1],
    paths: cython.const[cython.uint][::1],
):
    """Fill the ``rows`` of ``SCORES``: what the scores of a first look say of each block's surroundings.

    A block counts by its tokens, ``_MOST_TOKENS`` at most, and 1. How likely it is content is the logistic
    function of its score.

    Args:
        rows: A row for each name, a column for each block.
        scores: By block, the log odds that it is content.
        tokens: By block, its words.
        homes: By block, the element that it stands in.
        parents: By element, its parent.
        paths: By element, the hash of its path.

    """
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = scores.shape[0]
    fits: cython.bint = rows.shape[0] == len(SCORES) and rows.shape[1] == count and tokens.shape[0] == count
    fits &= homes.shape[0] == count and paths.shape[0] == parents.shape[0]
    for index in range(parents.shape[0]):
        fits &= (0 <= parents[index] < index) or index == 0
    for index in range(count):
        fits &= 0 <= homes[index] < parents.shape[0]
    check(fits, "the columns of the page do not fit each other")
    space: cython.double[::1] = room(4 * count + 2, "d")
    weights: cython.double[::1] = space[:count]
    likely: cython.double[::1] = space[count : 2 * count]  # weights that are likely content
    so_far: cython.double[::1] = space[2 * count : 3 * count + 1]  # running sums of both
    weights_so_far: cython.double[::1] = space[3 * count + 1 :]
    for index in range(count):
        weights[index] = (tokens[index] if tokens[index] < _MOST_TOKENS else _MOST_TOKENS) + 1.0
        likely[index] = weights[index] / (1.0 + exp(within(-scores[index], -700.0, 700.0)))
        so_far[index + 1] = so_far[index] + likely[index]
        weights_so_far[index + 1] = weights_so_far[index] + weights[index]
        rows[0, index] = scores[index]
    neighbour_rows(rows, scores)
    window_rows(rows, so_far, weights_so_far)
    likely_above_rows(rows, homes, parents, weights, likely)
    likely_alike_rows(rows, homes, paths, weights, likely)
    likely_page_rows(rows, scores, so_far, weights_so_far[count])


@cython.cfunc
def neighbour_rows(rows: cython.float[:, ::1], scores: cython.const[cython.double][::1]):
    """Fill the rows of the scores of the blocks before and after a block."""
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    row: cython.Py_ssize_t
    count: cython.Py_ssize_t = scores.shape[0]
    distance: cython.Py_ssize_t
    for near in NEIGHBOURS:
        for distance in (-near, near):
            row = SCORES_ROW[f"score {distance:+}"]
            for index in range(count):
                at = index + distance
                rows[row, index] = scores[at] if 0 <= at < count else _NO_SCORE


@cython.cfunc
def window_rows(
    rows: cython.float[:, ::1],
    so_far: cython.const[cython.double][::1],
    weights_so_far: cython.const[cython.double][::1],
):
    """Fill the rows of how likely the text before and after a block is content."""
    index: cython.Py_ssize_t
    end: cython.Py_ssize_t
    width: cython.Py_ssize_t
    before: cython.Py_ssize_t
    after: cython.Py_ssize_t
    count: cython.Py_ssize_t = rows.shape[1]
    for width in WINDOWS:
        before, after = SCORES_ROW[f"before {width} likely"], SCORES_ROW[f"after {width} likely"]
        for index in range(count):
            end = index - width if index > width else 0
            rows[before, index] = ratio(so_far[index] - so_far[end], weights_so_far[index] - weights_so_far[end])
            end = index + width + 1 if index + width + 1 < count else count
            rows[after, index] = ratio(
                so_far[end] - so_far[index + 1], weights_so_far[end] - weights_so_far[index + 1]
            )


@cython.cfunc
def likely_above_rows(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    parents: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    likely: cython.const[cython.double][::1],
):
    """Fill the rows of how likely the rest of a block's element, and of those above it, is content."""
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    of_tokens: cython.Py_ssize_t
    count: cython.Py_ssize_t = homes.shape[0]
    size: cython.Py_ssize_t = parents.shape[0]
    space: cython.double[::1] = room(2 * size, "d")
    below: cython.double[::1] = space[:size]
    weights_below: cython.double[::1] = space[size:]
    for index in range(count):
        below[homes[index]] += likely[index]
        weights_below[homes[index]] += weights[index]
    for index in range(size - 1, 0, -1):
        below[parents[index]] += below[index]
        weights_below[parents[index]] += weights_below[index]
    at: cython.longlong[::1] = room(count, "q")
    copy(homes, at)
    for level in range(SCORE_LEVELS):
        row, of_tokens = SCORES_ROW[f"above {level} likely"], SCORES_ROW[f"above {level} tokens"]
        for index in range(count):
            rows[row, index] = ratio(below[at[index]] - likely[index], weights_below[at[index]] - weights[index])
            rows[of_tokens, index] = log_of(weights_below[at[index]])
        go_up(at, parents)


@cython.cfunc
def likely_alike_rows(
    rows: cython.float[:, ::1],
    homes: cython.const[cython.longlong][::1],
    paths: cython.const[cython.uint][::1],
    weights: cython.const[cython.double][::1],
    likely: cython.const[cython.double][::1],
):
    """Fill the rows of how likely the other blocks on a block's path are content."""
    index: cython.Py_ssize_t
    row: cython.Py_ssize_t
    count: cython.Py_ssize_t = homes.shape[0]
    space: cython.longlong[::1] = room(3 * count, "q")
    keys: cython.longlong[::1] = space[:count]
    first: cython.longlong[::1] = space[count : 2 * count]
    of: cython.longlong[::1] = space[2 * count :]
    for index in range(count):
        keys[index] = paths[homes[index]]
    groups: cython.Py_ssize_t = group(keys, first, of)
    sums: cython.double[::1] = room(3 * groups, "d")
    times: cython.double[::1] = sums[:groups]
    held: cython.double[::1] = sums[groups : 2 * groups]
    whole: cython.double[::1] = sums[2 * groups :]
    for index in range(count):
        times[of[index]] += 1.0
        held[of[index]] += likely[index]
        whole[of[index]] += weights[index]
    row = SCORES_ROW["same path likely"]
    for index in range(count):
        rows[row, index] = ratio(held[of[index]] - likely[index], whole[of[index]] - weights[index])
        rows[row + 1, index] = log_of(times[of[index]])


@cython.cfunc
def likely_page_rows(
    rows: cython.float[:, ::1],
    scores: cython.const[cython.double][::1],
    so_far: cython.const[cython.double][::1],
    whole: cython.double,
):
    """Fill the rows of what is likely content of the whole page, and where a block stands in it."""
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = scores.shape[0]
    row: cython.Py_ssize_t = SCORES_ROW["score rank"]
    highest: cython.double = scores[0] if count else 0.0
    order: list = sorted(range(count), key=[-score for score in scores].__getitem__)
    for index in range(count):
        rows[row, order[index]] = index / cython.cast(cython.double, count)
        highest = larger(highest, scores[index])
    fill(rows, SCORES_ROW["page likely tokens"], log_of(so_far[count]))
    fill(rows, SCORES_ROW["page likely share"], ratio(so_far[count], whole))
    row = SCORES_ROW["likely so far"]
    for index in range(count):
        rows[row, index] = so_far[index] / larger(so_far[count], 1e-9)
    fill(rows, SCORES_ROW["highest score"], highest)


def page_type(
    row: cython.float[::1],
    blocks: tuple,
    elements: tuple,
    sums: tuple,
    tokens: cython.const[cython.double][::1],
    scores: cython.const[cython.double][::1],
):
    """Fill a ``row`` with what the text of a page is as a whole: the numbers of ``PAGE_TYPE``.

    Args:
        row: A number for each name.
        blocks: As for :func:`page`.
        elements: As for :func:`page`.
        sums: As for :func:`page`.
        tokens: By block, its words.
        scores: By block, the log odds that it is content.

    """
    characters: cython.const[cython.double][::1]
    linked: cython.const[cython.double][::1]
    commas: cython.const[cython.double][::1]
    characters, linked, commas = blocks[:3]
    index: cython.Py_ssize_t
    own: cython.double
    chance: cython.double
    whole: cython.double = 0.0
    in_links: cython.double = 0.0
    longest: cython.double = 0.0
    paragraphs: cython.double = 0.0
    held: cython.double = 0.0
    found: cython.double = 0.0
    words: cython.double = 0.0
    content: cython.double = 0.0
    expected: cython.double = 0.0
    in_content: cython.double = 0.0
    count: cython.Py_ssize_t = characters.shape[0]
    fits: cython.bint = row.shape[0] == len(PAGE_TYPE) and tokens.shape[0] == count
    check(fits and scores.shape[0] == count, "the columns of the page do not fit each other")
    likely: cython.double[::1] = room(count + 1, "d")  # running sums
    running: cython.double[::1] = room(count + 1, "d")
    for index in range(count):
        own = characters[index] - linked[index]
        whole += characters[index]
        in_links += linked[index]
        longest = larger(longest, own)
        if own >= _PARAGRAPH:
            paragraphs += 1.0
            held += own
            found += commas[index]
        chance = 1.0 / (1.0 + exp(within(-scores[index], -700.0, 700.0)))
        likely[index + 1] = likely[index] + tokens[index] * chance
        running[index + 1] = running[index] + tokens[index]
        words += 1.0
        content += 1.0 if chance > 0.5 else 0.0
        in_content += linked[index] * chance
        expected += characters[index] * chance
    row[0] = log1p(words)
    whole = larger(whole, 1.0)
    row[1] = log1p(whole)
    row[2] = in_links / whole
    row[3] = log1p(paragraphs)
    row[4] = held / whole
    row[5] = log1p(longest)
    row[6] = found / larger(held, 1.0)
    row[7] = log1p(likely[count])
    row[8] = likely[count] / larger(running[count], 1.0)
    row[9] = content / words if count else 0.0
    row[10] = in_content / larger(expected, 1.0)
    largest_lists(row, 11, elements, sums, likely, running)


@cython.cfunc
def largest_lists(
    row: cython.float[::1],
    at: cython.Py_ssize_t,
    elements: tuple,
    sums: tuple,
    likely: cython.double[::1],
    tokens: cython.double[::1],
):
    """Fill a row with the two lists of alike elements that have most text outside links.

    Both ``likely`` and ``tokens`` are running sums by block: of the tokens expected to be content, and of all.
    """
    parents: cython.const[cython.longlong][::1]
    first: cython.const[cython.longlong][::1]
    last: cython.const[cython.longlong][::1]
    paths: cython.const[cython.uint][::1] = elements[5]
    running: cython.const[cython.double][::1] = sums[0]
    below: cython.const[cython.double][::1] = sums[2]
    links_below: cython.const[cython.double][::1] = sums[3]
    parents, first, last = elements[:3]
    index: cython.Py_ssize_t
    kind: cython.Py_ssize_t
    count: cython.Py_ssize_t = parents.shape[0]
    fits: cython.bint = likely.shape[0] == running.shape[0] and below.shape[0] == count
    check(fits and links_below.shape[0] == count, "the columns of the page do not fit each other")
    kinds: cython.longlong[::1] = room(3 * count, "q")
    keys: cython.longlong[::1] = kinds[:count]
    of: cython.longlong[::1] = kinds[count : 2 * count]
    members: cython.longlong[::1] = kinds[2 * count :]
    groups: cython.Py_ssize_t = alike_siblings(parents, first, last, paths, keys, members, of)
    space: cython.double[::1] = room(5 * groups, "d")
    sizes: cython.double[::1] = space[:groups]
    characters: cython.double[::1] = space[groups : 2 * groups]
    linked: cython.double[::1] = space[2 * groups : 3 * groups]
    content: cython.double[::1] = space[3 * groups : 4 * groups]
    words: cython.double[::1] = space[4 * groups :]
    add_by_kind(of, below, links_below, sizes, characters, linked)
    for index in range(count):
        content[of[index]] += likely[last[index]] - likely[first[index]]
        words[of[index]] += tokens[last[index]] - tokens[first[index]]
    found = []
    for kind in range(groups):
        index = members[kind]
        if keys[index] != -1 and sizes[kind] >= SIBLINGS:
            found.append((linked[kind] - characters[kind], keys[index], kind))
    found.sort()
    for index in range(2):
        if index < len(found):
            kind = found[index][2]
            row[at] = log1p(sizes[kind])
            row[at + 1] = characters[kind] / larger(running[running.shape[0] - 1], 1.0)
            row[at + 2] = log1p(characters[kind] / sizes[kind])
            row[at + 3] = linked[kind] / larger(characters[kind], 1.0)
            row[at + 4] = content[kind] / larger(words[kind], 1.0)
        else:
            row[at] = row[at + 1] = row[at + 2] = row[at + 3] = row[at + 4] = 0.0
        at += 5
