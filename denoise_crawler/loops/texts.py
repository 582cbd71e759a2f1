"""What is known of words and names, and what blocks look like."""

from __future__ import annotations

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check

_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_LEAST_LABEL = cython.declare(cython.Py_ssize_t, 3)  # characters
_LONGEST_LABEL = cython.declare(cython.Py_ssize_t, 80)
_LEAST_HEADING = cython.declare(cython.double, 10.0)


def words_of_names(names: str) -> tuple:
    """Return the words of classes and ids in small letters, each once and in their order.

    A word is two small letters or more, with the capital before them, or two capitals or more.
    """
    at: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(names)
    is_capital: cython.bint
    found: set = set()
    while at < count:
        start = at
        is_capital = "A" <= names[at] <= "Z"
        if is_capital:
            at += 1
        while at < count and "a" <= names[at] <= "z":
            at += 1
        if at - start - is_capital < 2:
            at = start + 1
            while is_capital and at < count and "A" <= names[at] <= "Z":
                at += 1
        if at - start > 1:
            found.add(names[start:at].lower())
    return tuple(sorted(found))


@cython.cfunc
@cython.exceptval(check=False)
def keep_highest(
    best: cython.double[:, ::1],
    column: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    number: cython.double,
) -> cython.void:
    """Put a number among the ``count`` rising ones of a column; if it is full, the lowest goes."""
    place: cython.Py_ssize_t
    if count < best.shape[1]:
        place = count
        while place > 0 and best[column, place - 1] > number:
            best[column, place] = best[column, place - 1]
            place -= 1
        best[column, place] = number
    elif number > best[column, 0]:
        place = 1
        while place < count and best[column, place] < number:
            best[column, place - 1] = best[column, place]
            place += 1
        best[column, place - 1] = number


def strongest(
    known: dict,
    names: list,
    find,
    said: tuple,
    log_odds: cython.const[cython.double][:, ::1],
    best: cython.double[:, ::1],
    sums: cython.double[::1],
):
    """Fill ``sums`` with the sums of the highest numbers of the columns of ``log_odds``.

    Args:
        known: By name the rows that it stands for.
        names: The names whose rows are looked at, each row once.
        find: Returns the rows of a name that is new.
        said: Rows that are looked at too.
        log_odds: The table.
        best: Room for the highest numbers of each column, which are added up in rising order.
        sums: What is filled.

    Raises:
        ValueError: A row is not there, or the columns do not fit each other.

    """
    column: cython.Py_ssize_t
    place: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t
    number: cython.double
    fits: cython.bint = best.shape[0] == log_odds.shape[1] and sums.shape[0] == best.shape[0] and best.shape[1] > 0
    check(fits, "the columns do not fit each other")
    seen: cython.uchar[::1] = bytearray(log_odds.shape[0])
    for at in range(len(names) + 1):
        rows = known.get(names[at]) if at < len(names) else said
        if rows is None:
            rows = find(names[at])
        for row in rows:
            place = row
            if not 0 <= place < log_odds.shape[0]:  # a call for each row would take longer than all else
                check(False, "there is no such row")
            if not seen[place]:
                seen[place] = 1
                for column in range(best.shape[0]):
                    keep_highest(best, column, count, log_odds[place, column])
                count = count + 1 if count < best.shape[1] else count
    for column in range(best.shape[0]):
        number = 0.0
        for kept in range(count):
            number += best[column, kept]
        sums[column] = number


def worth_of(known: dict, names: list, find, worth: cython.double[::1]):
    """Fill ``worth`` with what is ``known`` of each of the ``names``; ``find`` returns it of a new one."""
    index: cython.Py_ssize_t
    check(worth.shape[0] == len(names), "the columns do not fit each other")
    for index in range(worth.shape[0]):
        value = known.get(names[index])
        worth[index] = find(names[index]) if value is None else value


def styles_of(
    texts: list,
    names: list,
    elements: cython.const[cython.longlong][::1],
    parents: cython.const[cython.longlong][::1],
    tags: cython.const[cython.longlong][::1],
    characters: cython.const[cython.double][::1],
    linked: cython.const[cython.double][::1],
    lengths: tuple,
    all_linked: cython.double,
    spread: cython.ulonglong,
    look,
    styles: cython.uint[::1],
):
    """Fill ``styles`` with the hash of what each block looks like.

    Args:
        texts: The texts of the blocks.
        names: The class and id of each element.
        elements: The element that each block stands in.
        parents: The parent of each element.
        tags: The tag of each element.
        characters: The characters of each block.
        linked: Those inside links.
        lengths: The characters that part short blocks from longer ones.
        all_linked: The share of linked characters from which on a block is a link.
        spread: What the parts are multiplied with.
        look: Returns the hash of a tag, its names and those above.
        styles: What is filled.

    Raises:
        ValueError: The columns do not fit each other.

    """
    index: cython.Py_ssize_t
    element: cython.Py_ssize_t
    above: cython.Py_ssize_t
    last: cython.Py_ssize_t = -1
    count: cython.Py_ssize_t = elements.shape[0]
    looks: cython.ulonglong = 0
    own: cython.ulonglong
    length: cython.double
    fits: cython.bint = len(texts) == count and characters.shape[0] == count and linked.shape[0] == count
    fits &= parents.shape[0] == len(names) and tags.shape[0] == len(names) and styles.shape[0] == count
    check(fits, "the columns of the page do not fit each other")
    for index in range(count):
        fits &= 0 <= elements[index] < parents.shape[0]
    for index in range(parents.shape[0]):
        fits &= parents[index] < parents.shape[0]
    check(fits, "a block or an element stands in one that is not there")
    for index in range(count):
        element = elements[index]
        if element != last:
            above = parents[element] if parents[element] > 0 else 0
            looks = look(tags[element], names[element], names[above])
            last = element
        own = 1 if linked[index] >= all_linked * (characters[index] if characters[index] > 1.0 else 1.0) else 0
        own += 2 if texts[index].isupper() else 0
        for length in lengths:
            own += 4 if characters[index] >= length else 0
        styles[index] = (((looks * 16 + own + 1) * spread) & _MASK) >> 32


def shapes_of(
    texts: list,
    characters: cython.const[cython.double][::1],
    linked: cython.const[cython.double][::1],
    masked: cython.const[cython.uint][::1],
    homes: cython.const[cython.longlong][::1],
    tags: cython.const[cython.longlong][::1],
    heading: cython.longlong,
    hash_of,
    shapes: cython.uint[::1],
):
    """Fill ``shapes`` with the hash of what each text has in common with those of its like on other pages.

    That is its masked hash; of a text that ends with a link, what stands before it, if that is a label; of one
    that quotes the first heading that is long enough to be the page's own, what stands around it.

    Args:
        texts: The texts of the blocks.
        characters: The characters of each block.
        linked: Those inside links.
        masked: The hash of each text with all numbers alike.
        homes: The element that each block stands in.
        tags: The tag of each element.
        heading: The tag of a heading.
        hash_of: Returns the hash of a label.
        shapes: What is filled.

    Raises:
        ValueError: The columns do not fit each other.

    """
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = shapes.shape[0]
    before: cython.Py_ssize_t
    fits: cython.bint = len(texts) == count and characters.shape[0] == count and linked.shape[0] == count
    fits &= masked.shape[0] == count and homes.shape[0] == count
    check(fits, "the columns of the page do not fit each other")
    for index in range(count):
        fits &= 0 <= homes[index] < tags.shape[0]
    check(fits, "a block stands in an element that is not there")
    quoted: str = ""
    for index in range(count):
        if tags[homes[index]] == heading and characters[index] >= _LEAST_HEADING:
            quoted = texts[index]
            break
    longest: cython.Py_ssize_t = len(quoted) + _LONGEST_LABEL
    for index in range(count):
        shapes[index] = masked[index]
        text: str = texts[index]
        if quoted and len(quoted) < len(text) <= longest and quoted in text:
            shapes[index] = hash_of(" … ".join(text.split(quoted)))
        elif linked[index] > 0.0:
            before = cython.cast(cython.Py_ssize_t, characters[index] - linked[index])
            if _LEAST_LABEL <= before <= _LONGEST_LABEL:
                shapes[index] = hash_of("".join(text.split())[:before])
