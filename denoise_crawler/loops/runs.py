"""Runs of words: which words of a page stand in texts that it declares."""

from __future__ import annotations

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check, slot_of

_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_START = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
_SPREAD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
UNSAID = cython.declare(cython.double, -1.0)
_LEAST_SHARE = cython.declare(cython.double, 0.6)  # of the words of a row that is declared
_LEAST_ROWS = cython.declare(cython.longlong, 3)  # of what is no list and no table
_LEVELS = cython.declare(cython.Py_ssize_t, 5)  # from a block up to its row


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_sign(letter: cython.uint) -> cython.bint:
    """Tell whether a letter is a word: Chinese signs and Japanese kana."""
    if letter < 0x3040:
        return False
    if letter < 0xA000:
        return letter < 0x3100 or 0x3400 <= letter < 0x4DC0 or letter >= 0x4E00
    return 0xF900 <= letter < 0xFB00 or 0x20000 <= letter < 0x40000


def words_of(texts: list, words: cython.ulonglong[::1], bounds: cython.longlong[::1]) -> cython.Py_ssize_t:
    """Fill ``words`` with the hashes of the words of lower-case ``texts``; return how many there are.

    Those of text i stand from ``bounds[i]`` to ``bounds[i + 1]``.

    Raises:
        ValueError: There is no room for them.

    """
    count: cython.Py_ssize_t = 0
    number: cython.Py_ssize_t
    room: cython.Py_ssize_t = words.shape[0]
    code: cython.uint
    hashed: cython.ulonglong
    inside: cython.bint
    text: str
    check(bounds.shape[0] == len(texts) + 1, "the columns do not fit each other")
    bounds[0] = 0
    for number in range(len(texts)):
        text = texts[number]
        check(len(text) <= room - count, "there is no room for the words")
        hashed, inside = _START, False
        for letter in text:
            if letter.isalnum():
                code = ord(letter)
                if is_sign(code):
                    if inside:
                        words[count] = hashed
                        count += 1
                    words[count] = ((_START ^ code) * _SPREAD) & _MASK
                    count += 1
                    hashed, inside = _START, False
                else:
                    hashed = ((hashed ^ code) * _SPREAD) & _MASK
                    hashed ^= hashed >> 29
                    inside = True
            elif inside:
                words[count] = hashed
                count += 1
                hashed, inside = _START, False
        if inside:
            words[count] = hashed
            count += 1
        bounds[number + 1] = count
    return count


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def run_of(one: cython.ulonglong, two: cython.ulonglong, three: cython.ulonglong) -> cython.ulonglong:
    """Return the key of a run of three words, 0 for words that are missing; it is never 0."""
    key: cython.ulonglong = (((one * _SPREAD) & _MASK) ^ (one >> 31)) + two
    key = ((((key & _MASK) * _SPREAD) & _MASK) ^ ((key & _MASK) >> 31)) + three
    key = ((key & _MASK) * _SPREAD) & _MASK
    return key | 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def place_of(key: cython.ulonglong, keys: cython.ulonglong[::1], bits: cython.int) -> cython.Py_ssize_t:
    """Return the slot that a key has, or the free one that it would take."""
    slot: cython.Py_ssize_t = slot_of(key, bits)
    while keys[slot] and keys[slot] != key:
        slot = (slot + 1) & (keys.shape[0] - 1)
    return slot


@cython.cfunc
def add(
    key: cython.ulonglong,
    field: cython.longlong,
    keys: cython.ulonglong[::1],
    fields: cython.longlong[::1],
    bits: cython.int,
    totals: cython.longlong[::1],
):
    """Add a run of a field to the table."""
    slot: cython.Py_ssize_t = place_of(key, keys, bits)
    keys[slot] = key
    if not fields[slot] >> field & 1:
        fields[slot] |= cython.cast(cython.longlong, 1) << field
        totals[field] += 1


@cython.cfunc
@cython.exceptval(check=False)
def find(
    key: cython.ulonglong,
    keys: cython.ulonglong[::1],
    fields: cython.longlong[::1],
    seen: cython.longlong[::1],
    bits: cython.int,
    found: cython.longlong[::1],
) -> cython.longlong:
    """Return the fields that have a run, a bit for each; count those that are found for the first time."""
    field: cython.Py_ssize_t
    slot: cython.Py_ssize_t = place_of(key, keys, bits)
    if fields[slot] and not seen[slot]:
        seen[slot] = 1
        for field in range(found.shape[0]):
            found[field] += fields[slot] >> field & 1
    return fields[slot]


def agreement(
    rows: cython.float[:, ::1],
    shown: tuple,
    declared: tuple,
    aside: cython.longlong,
    blocks: cython.const[cython.longlong][::1],
    elements: tuple,
):
    """Fill the ``rows`` of how blocks agree with declared texts.

    A run of three words may reach from one block into the next; a text of one or two words is found where one
    block or two hold it alone.

    Args:
        rows: By field the share of each block's words that stand in it, then by field the share of its runs that
            the page shows, then the share of the rows of the list around it that are declared.
        shown: The words of the page and the bounds of its blocks among them, as :func:`words_of` fills both.
        declared: The words of what it declares, the bounds of the texts, and the field of each.
        aside: The fields that say nothing of rows, a bit for each.
        blocks: The element of each block.
        elements: Of each its parent, its first block, that behind its last, and whether it is a row.

    Raises:
        ValueError: The columns do not fit each other.

    """
    words: cython.const[cython.ulonglong][::1] = shown[0]
    bounds: cython.const[cython.longlong][::1] = shown[1]
    said: cython.const[cython.ulonglong][::1] = declared[0]
    ends: cython.const[cython.longlong][::1] = declared[1]
    field_of: cython.const[cython.longlong][::1] = declared[2]
    count: cython.Py_ssize_t = rows.shape[1]
    kinds: cython.Py_ssize_t = (rows.shape[0] - 1) >> 1
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    field: cython.Py_ssize_t
    size: cython.Py_ssize_t = 16
    bits: cython.int = 4
    held: cython.longlong
    there: cython.longlong = 0
    fits: cython.bint = rows.shape[0] == 2 * kinds + 1 and 0 < kinds < 60 and bounds.shape[0] == count + 1
    fits &= blocks.shape[0] == count and ends.shape[0] == field_of.shape[0] + 1
    check(fits and are_bounds(bounds, words.shape[0]) and are_bounds(ends, said.shape[0]), "the texts do not fit")
    while size < 2 * (said.shape[0] + 1):
        size, bits = 2 * size, bits + 1
    keys: cython.ulonglong[::1] = memoryview(bytearray(8 * size)).cast("Q")
    fields: cython.longlong[::1] = memoryview(bytearray(8 * size)).cast("q")
    seen: cython.longlong[::1] = memoryview(bytearray(8 * size)).cast("q")
    totals: cython.longlong[::1] = memoryview(bytearray(8 * kinds)).cast("q")
    found: cython.longlong[::1] = memoryview(bytearray(8 * kinds)).cast("q")
    covered: cython.longlong[::1] = memoryview(bytearray(8 * (words.shape[0] + 2))).cast("q")
    for index in range(field_of.shape[0]):
        field = field_of[index]
        check(0 <= field < kinds, "there is no such field")
        there |= cython.cast(cython.longlong, 1) << field
        if ends[index + 1] - ends[index] == 1:
            add(run_of(said[ends[index]], 0, 0), field, keys, fields, bits, totals)
        elif ends[index + 1] - ends[index] == 2:
            add(run_of(said[ends[index]], said[ends[index] + 1], 0), field, keys, fields, bits, totals)
        for at in range(ends[index], ends[index + 1] - 2):
            add(run_of(said[at], said[at + 1], said[at + 2]), field, keys, fields, bits, totals)
    for at in range(words.shape[0] - 2):
        held = find(run_of(words[at], words[at + 1], words[at + 2]), keys, fields, seen, bits, found)
        covered[at] |= held
        covered[at + 1] |= held
        covered[at + 2] |= held
    for index in range(count):
        at = bounds[index]
        if bounds[index + 1] == at + 1:
            covered[at] |= find(run_of(words[at], 0, 0), keys, fields, seen, bits, found)
        if at < bounds[index + 1] <= at + 2 and ends_at(bounds, index, at + 2):
            held = find(run_of(words[at], words[at + 1], 0), keys, fields, seen, bits, found)
            covered[at] |= held
            covered[at + 1] |= held
    for field in range(kinds):
        for index in range(count):
            rows[field, index] = UNSAID
            rows[kinds + field, index] = UNSAID
        if there >> field & 1:
            for index in range(count):
                held = 0
                for at in range(bounds[index], bounds[index + 1]):
                    held += covered[at] >> field & 1
                size = bounds[index + 1] - bounds[index]
                rows[field, index] = held / cython.cast(cython.double, size if size else 1)
                rows[kinds + field, index] = found[field] / cython.cast(
                    cython.double, totals[field] if totals[field] else 1
                )
    row_shares(rows, 2 * kinds, covered, (there | aside) ^ aside, bounds, blocks, elements)


@cython.cfunc
@cython.exceptval(check=False)
def are_bounds(bounds: cython.const[cython.longlong][::1], count: cython.Py_ssize_t) -> cython.bint:
    """Tell whether bounds rise from 0 to ``count``."""
    index: cython.Py_ssize_t
    fits: cython.bint = bounds.shape[0] > 0 and bounds[0] == 0 and bounds[bounds.shape[0] - 1] == count
    for index in range(bounds.shape[0] - 1):
        fits &= bounds[index] <= bounds[index + 1]
    return fits


@cython.cfunc
@cython.exceptval(check=False)
def ends_at(
    bounds: cython.const[cython.longlong][::1], index: cython.Py_ssize_t, end: cython.longlong
) -> cython.bint:
    """Tell whether the block ``index``, or the next one with words, ends at a word."""
    if bounds[index + 1] < end:
        index += 1
        while index + 1 < bounds.shape[0] and bounds[index + 1] < end:
            index += 1
    return index + 1 < bounds.shape[0] and bounds[index + 1] == end


@cython.cfunc
def row_shares(
    rows: cython.float[:, ::1],
    row: cython.Py_ssize_t,
    covered: cython.longlong[::1],
    wanted: cython.longlong,
    bounds: cython.const[cython.longlong][::1],
    blocks: cython.const[cython.longlong][::1],
    elements: tuple,
):
    """Fill a row with the share of the rows of the list around each block that stand in fields ``wanted``.

    The row around a block is the nearest item or table row above it, else the element that it stands in.
    """
    parents: cython.const[cython.longlong][::1] = elements[0]
    first: cython.const[cython.longlong][::1] = elements[1]
    last: cython.const[cython.longlong][::1] = elements[2]
    is_row: cython.const[cython.uchar][::1] = elements[3]
    count: cython.Py_ssize_t = blocks.shape[0]
    size: cython.Py_ssize_t = parents.shape[0]
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    words: cython.longlong
    listed: cython.bint
    fits: cython.bint = size > 0 and first.shape[0] == size and last.shape[0] == size and is_row.shape[0] == size
    check(fits, "the columns of the page do not fit each other")
    for index in range(size):
        fits &= (0 <= parents[index] < index) or index == 0
        fits &= 0 <= first[index] <= last[index] <= count
    for index in range(count):
        fits &= 0 <= blocks[index] < size
    check(fits, "a block or an element stands in one that is not there")
    until: cython.longlong[::1] = memoryview(bytearray(8 * covered.shape[0])).cast("q")
    members: cython.longlong[::1] = memoryview(bytearray(8 * size)).cast("q")
    agreeing: cython.longlong[::1] = memoryview(bytearray(8 * size)).cast("q")
    for index in range(covered.shape[0] - 2):
        until[index + 1] = until[index] + (1 if covered[index] & wanted else 0)
    for index in range(1, size):
        words = bounds[last[index]] - bounds[first[index]]
        if words:
            members[parents[index]] += 1
            if until[bounds[last[index]]] - until[bounds[first[index]]] >= _LEAST_SHARE * words:
                agreeing[parents[index]] += 1
    for index in range(count):
        at, listed = blocks[index], False
        for _ in range(_LEVELS):
            if is_row[at]:
                listed = True
                break
            at = parents[at] if at else 0
        if not listed:
            at = blocks[index]
        at = parents[at] if at else 0
        rows[row, index] = UNSAID
        if wanted and (listed or members[at] >= _LEAST_ROWS):
            rows[row, index] = agreeing[at] / cython.cast(cython.double, members[at] if members[at] else 1)
