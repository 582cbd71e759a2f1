"""Keys that are equal, and hashes by number: tables of open addressing."""

from __future__ import annotations

from os import urandom

from denoise_crawler.loops import cython

_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
# a page cannot choose keys that meet in few slots; they are numbered as they come, so no result depends on it
_FACTOR = cython.declare(cython.ulonglong, int.from_bytes(urandom(8), "little") | 1)


@cython.ccall
def check(fits: cython.bint, message):
    """Raise ValueError unless the columns fit: the loops read and write where these say."""
    if not fits:
        raise ValueError(message)


@cython.cfunc
@cython.exceptval(check=False)
def slot_of(key: cython.ulonglong, bits: cython.int) -> cython.Py_ssize_t:
    """Return the slot of a key among ``2 ** bits``."""
    key = (key * _FACTOR) & _MASK
    key = ((key ^ (key >> 32)) * _FACTOR) & _MASK  # so that keys at even distances are spread as well,
    key = ((key ^ (key >> 32)) * _FACTOR) & _MASK  # and keys that differ in their highest bits only
    return key >> (64 - bits)


def slots_of(keys: cython.const[cython.ulonglong][::1], bits: cython.int):
    """Return the slot of each key among ``2 ** bits``."""
    check(1 <= bits <= 63, "there is no such number of slots")
    return [slot_of(keys[index], bits) for index in range(keys.shape[0])]


@cython.ccall
def group(
    keys: cython.const[cython.longlong][::1], first: cython.longlong[::1], of: cython.longlong[::1]
) -> cython.Py_ssize_t:
    """Fill ``first`` by group of equal ``keys`` with its first row, ``of`` by row with its group.

    Return how many groups there are. They are numbered as they come.
    """
    count: cython.Py_ssize_t = keys.shape[0]
    check(of.shape[0] == count and first.shape[0] == count, "the columns do not fit each other")
    bits: cython.int = 4
    size: cython.Py_ssize_t = 16
    while size < 2 * count:
        size, bits = 2 * size, bits + 1
    slots: cython.longlong[::1] = memoryview(bytearray(8 * size)).cast("q")  # 1 + the first row with a key
    groups: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    other: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    for row in range(count):
        slot = slot_of(keys[row], bits)
        while slots[slot] and keys[slots[slot] - 1] != keys[row]:
            slot = (slot + 1) & (size - 1)
        if slots[slot]:
            other = slots[slot] - 1
            of[row] = of[other]
        else:
            slots[slot] = row + 1
            of[row] = groups
            first[groups] = row
            groups += 1
    return groups


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def place_of(
    key: cython.uint,
    hashes: cython.const[cython.uint][::1],
    slots: cython.const[cython.int][::1],
    bits: cython.int,
) -> cython.Py_ssize_t:
    """Return the slot that a hash has, or the free one that it would take."""
    slot: cython.Py_ssize_t = slot_of(key, bits)
    while slots[slot] and hashes[slots[slot] - 1] != key:
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


def check_table(hashes, slots, bits: cython.int, count: cython.Py_ssize_t):
    """Raise ValueError unless a table has a slot that is free."""
    size: cython.Py_ssize_t = len(slots)
    fits: cython.bint = 1 <= bits <= 30 and size == 1 << bits
    check(fits and 0 <= count <= len(hashes) < size, "the table does not fit its slots")


@cython.ccall
def find(
    hashes: cython.const[cython.uint][::1],
    slots: cython.const[cython.int][::1],
    bits: cython.int,
    wanted: cython.const[cython.uint][::1],
    numbers: cython.longlong[::1],
):
    """Fill the ``numbers`` of ``wanted`` hashes, 0 for those that have none.

    Args:
        hashes: The hash of number 1, 2, …, and room for more.
        slots: Open addressing: numbers, 0 for a free slot.
        bits: There are ``2 ** bits`` slots.
        wanted: Hashes.
        numbers: A number for each.

    """
    index: cython.Py_ssize_t
    check(numbers.shape[0] == wanted.shape[0], "the columns do not fit each other")
    check_table(hashes, slots, bits, 0)
    for index in range(wanted.shape[0]):
        numbers[index] = slots[place_of(wanted[index], hashes, slots, bits)]


def add(
    hashes: cython.uint[::1],
    slots: cython.int[::1],
    bits: cython.int,
    count: cython.Py_ssize_t,
    wanted: cython.const[cython.uint][::1],
    numbers: cython.longlong[::1],
    start: cython.Py_ssize_t,
):
    """Fill the ``numbers`` of ``wanted`` hashes from ``start`` on, given to those that have none.

    Args:
        hashes: As for :func:`find`.
        slots: As for :func:`find`.
        bits: As for :func:`find`.
        count: How many hashes have a number.
        wanted: As for :func:`find`.
        numbers: As for :func:`find`.
        start: The first that is filled.

    Returns:
        How many hashes have a number, and how many ``numbers`` are filled before there is no more room.

    """
    index: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    check(numbers.shape[0] == wanted.shape[0] and start >= 0, "the columns do not fit each other")
    check_table(hashes, slots, bits, count)
    for index in range(start, wanted.shape[0]):
        slot = place_of(wanted[index], hashes, slots, bits)
        if not slots[slot]:
            if count == hashes.shape[0]:
                return count, index
            hashes[count] = wanted[index]
            count += 1
            slots[slot] = count
        numbers[index] = slots[slot]
    return count, wanted.shape[0]


def fill_slots(
    hashes: cython.const[cython.uint][::1], slots: cython.int[::1], bits: cython.int, count: cython.Py_ssize_t
):
    """Write the numbers of the first ``count`` hashes to ``slots``, which are free."""
    index: cython.Py_ssize_t
    check_table(hashes, slots, bits, count)
    for index in range(count):
        slots[place_of(hashes[index], hashes, slots, bits)] = index + 1


@cython.ccall
def counts_of(
    hashes: cython.const[cython.uint][::1],
    slots: cython.const[cython.int][::1],
    bits: cython.int,
    wanted: cython.const[cython.uint][::1],
    counts: cython.const[cython.double][::1],
    left_out: tuple,
    found: cython.double[::1],
):
    """Fill ``found`` with the ``counts`` of ``wanted`` hashes, less one for each of ``left_out`` that has it.

    Args:
        hashes: As for :func:`find`.
        slots: As for :func:`find`.
        bits: As for :func:`find`.
        wanted: As for :func:`find`.
        counts: By number, first that of hashes without one.
        left_out: Columns of numbers, each number once.
        found: A count for each.

    """
    index: cython.Py_ssize_t
    number: cython.Py_ssize_t
    numbers: cython.const[cython.int][::1]
    check(found.shape[0] == wanted.shape[0], "the columns do not fit each other")
    check_table(hashes, slots, bits, 0)
    fits: cython.bint = counts.shape[0] > 0
    for one in left_out:
        numbers = one
        for index in range(numbers.shape[0]):
            fits &= 0 <= numbers[index] < counts.shape[0]
    check(fits, "a number has no count")
    less: cython.int[::1] = memoryview(bytearray(4 * counts.shape[0])).cast("i")
    for one in left_out:
        numbers = one
        for index in range(numbers.shape[0]):
            less[numbers[index]] += 1
    for index in range(wanted.shape[0]):
        number = slots[place_of(wanted[index], hashes, slots, bits)]
        fits &= number < counts.shape[0]
        found[index] = counts[number] - less[number] if fits else 0.0
    check(fits, "a number has no count")
