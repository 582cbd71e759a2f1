"""The style tree of a site in columns: how pages are laid over one another, and how important their nodes are.

A tree has rows for its element nodes and rows for its style nodes. The children of a style node are rows in turn,
behind those above them, so who goes through the rows backwards sees children first. A style node that one page
alone has is *folded*: it has no rows below it, since the page's own tree has them.
"""

from __future__ import annotations

from math import log
from os import urandom

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check

# the columns of element nodes: a label, the first style node, the pages that have nothing below it, all its pages,
# whether its importance is out of date; where its features begin, how many they are, for how many there is room
LABEL = cython.declare(cython.Py_ssize_t, 0)
STYLES = cython.declare(cython.Py_ssize_t, 1)
EMPTY = cython.declare(cython.Py_ssize_t, 2)
PAGES = cython.declare(cython.Py_ssize_t, 3)
STALE = cython.declare(cython.Py_ssize_t, 4)
ROWS = cython.declare(cython.Py_ssize_t, 5)
COUNT = cython.declare(cython.Py_ssize_t, 6)
ROOM = cython.declare(cython.Py_ssize_t, 7)
# the columns of style nodes: the element node, its next style node, the length of the sequence, its first child
# (-1: folded); PAGES and STALE as above; and the style node in the tree of the one page that has it
ELEMENT = cython.declare(cython.Py_ssize_t, 0)
NEXT = cython.declare(cython.Py_ssize_t, 1)
SIZE = cython.declare(cython.Py_ssize_t, 2)
FIRST = cython.declare(cython.Py_ssize_t, 5)
OWN = cython.declare(cython.Py_ssize_t, 6)
# the columns of scores
IMPORTANCE = cython.declare(cython.Py_ssize_t, 0)
PEAK = cython.declare(cython.Py_ssize_t, 1)

# A feature's row: 32 bits of hash, 12 of its occurrences on a page, 20 of the pages with so many.
PAGES_BITS = cython.declare(cython.Py_ssize_t, 20)
FEATURE_BITS = cython.declare(cython.Py_ssize_t, 32)
MOST_OCCURRENCES = cython.declare(cython.ulonglong, (1 << 12) - 1)
MOST_PAGES = cython.declare(cython.ulonglong, (1 << 20) - 1)

_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
# a page cannot choose sequences that look alike: their keys are those of this process
_FACTOR = cython.declare(cython.ulonglong, int.from_bytes(urandom(8), "little") | 1)


def depth_of(ends: cython.const[cython.int][::1]):
    """Return the depth of the nodes whose subtrees end at ``ends``; raise ValueError if they are not nested."""
    count: cython.Py_ssize_t = ends.shape[0]
    node: cython.Py_ssize_t
    deepest: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    check(count > 0 and ends[0] == count, "the first node does not hold all others")
    open_ends: cython.longlong[::1] = memoryview(bytearray(8 * count + 8)).cast("q")
    open_ends[0] = count
    for node in range(count):
        while open_ends[depth] <= node:
            depth -= 1
        if not node < ends[node] <= open_ends[depth]:
            check(False, "nodes are not nested")
        if ends[node] > node + 1:
            depth += 1
            open_ends[depth] = ends[node]
            deepest = depth if depth > deepest else deepest
    return deepest


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def slot_of_style(element: cython.ulonglong, key: cython.ulonglong, bits: cython.int) -> cython.Py_ssize_t:
    """Return the slot of a sequence below an element node."""
    key = ((key ^ ((element * _FACTOR) & _MASK)) * _FACTOR) & _MASK
    return key >> (64 - bits)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def place_of(
    element: cython.Py_ssize_t,
    key: cython.ulonglong,
    size: cython.int,
    styles: cython.const[cython.int][:, ::1],
    keys: cython.const[cython.ulonglong][::1],
    slots: cython.const[cython.int][::1],
    bits: cython.int,
) -> cython.Py_ssize_t:
    """Return the slot that a style node has, or the free one that it would take."""
    slot: cython.Py_ssize_t = slot_of_style(element, key, bits)
    style: cython.Py_ssize_t
    while slots[slot]:
        style = slots[slot] - 1
        if keys[style] == key and styles[style, ELEMENT] == element and styles[style, SIZE] == size:
            break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


def check_tree(elements, styles, keys, slots, bits: cython.int):
    """Raise ValueError unless there is a slot that is free, and a column for each that is used."""
    fits: cython.bint = 1 <= bits <= 30 and len(slots) == 1 << bits and len(styles) < len(slots)
    fits &= len(keys) == len(styles) and elements.shape[1] == ROOM + 1 and styles.shape[1] == OWN + 1
    check(fits, "the columns of a tree do not fit each other")


def lay(
    labels: cython.const[cython.int][::1],
    hashes: cython.const[cython.ulonglong][::1],
    ends: cython.const[cython.int][::1],
    collapse: cython.bint,
    elements: cython.int[:, ::1],
    styles: cython.int[:, ::1],
    keys: cython.ulonglong[::1],
    slots: cython.int[::1],
    bits: cython.int,
    places: cython.int[::1],
    parents: cython.int[::1],
):
    """Fill the tree of one page.

    Args:
        labels: By node the number of its label.
        hashes: By number the hash of a label.
        ends: By node where its subtree ends.
        collapse: Whether a run of equal siblings counts as one.
        elements: Room for a row for each node.
        styles: The same.
        keys: By style node the key of its sequence.
        slots: Numbers of style nodes, none is used.
        bits: There are ``2 ** bits`` slots.
        places: Is filled: by node, its element node.
        parents: Is filled: by node, the node it stands in.

    Returns:
        How many element nodes and style nodes there are.

    """
    count: cython.Py_ssize_t = ends.shape[0]
    node: cython.Py_ssize_t
    child: cython.Py_ssize_t
    element: cython.Py_ssize_t
    style: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    first: cython.Py_ssize_t
    used: cython.Py_ssize_t = 1
    made: cython.Py_ssize_t = 0
    size: cython.int
    last: cython.int
    key: cython.ulonglong
    new: cython.bint
    fits: cython.bint = labels.shape[0] == count and places.shape[0] == count and parents.shape[0] == count
    fits &= elements.shape[0] >= count and styles.shape[0] >= count
    check(fits, "the columns of the page do not fit each other")
    check_tree(elements, styles, keys, slots, bits)
    depth_of(ends)
    for node in range(count):
        fits &= 0 <= labels[node] < hashes.shape[0]
    check(fits, "a node has a label that is not there")
    places[0], parents[0] = 0, -1
    start_element(elements, 0, labels[0])
    for node in range(count):
        element = places[node]
        elements[element, PAGES] = 1
        if ends[node] == node + 1:
            elements[element, EMPTY] = 1
            continue
        size, last, key, child = 0, -1, _FACTOR, node + 1
        while child < ends[node]:
            if labels[child] != last or not collapse:
                last = labels[child]
                key = ((key ^ hashes[last]) * _FACTOR) & _MASK
                key ^= key >> 29
                size += 1
            child = ends[child]
        slot = place_of(element, key, size, styles, keys, slots, bits)
        new = slots[slot] == 0
        if new:
            style = made
            made += 1
            slots[slot] = made
            keys[style] = key
            start_style(styles, style, element, elements[element, STYLES], size)
            styles[style, FIRST] = used
            elements[element, STYLES] = style
            used += size
        first = styles[slots[slot] - 1, FIRST] - 1
        last, child = -1, node + 1
        while child < ends[node]:
            if labels[child] != last or not collapse:
                last = labels[child]
                first += 1
                if new:
                    start_element(elements, first, last)
            places[child], parents[child] = first, node
            child = ends[child]
    return used, made


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def start_element(elements: cython.int[:, ::1], element: cython.Py_ssize_t, label: cython.int) -> cython.void:
    """Write the row of an element node that no page has."""
    elements[element, LABEL] = label
    elements[element, STYLES] = -1
    elements[element, EMPTY] = 0
    elements[element, PAGES] = 0
    elements[element, STALE] = 1
    elements[element, ROWS] = 0
    elements[element, COUNT] = 0
    elements[element, ROOM] = 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def start_style(
    styles: cython.int[:, ::1],
    style: cython.Py_ssize_t,
    element: cython.Py_ssize_t,
    following: cython.int,
    size: cython.int,
) -> cython.void:
    """Write the row of a style node that one page has."""
    styles[style, ELEMENT] = element
    styles[style, NEXT] = following
    styles[style, SIZE] = size
    styles[style, PAGES] = 1
    styles[style, STALE] = 1
    styles[style, FIRST] = -1
    styles[style, OWN] = style


def match(
    elements: cython.const[cython.int][:, ::1],
    styles: cython.const[cython.int][:, ::1],
    keys: cython.const[cython.ulonglong][::1],
    known_styles: cython.const[cython.int][:, ::1],
    known_keys: cython.const[cython.ulonglong][::1],
    slots: cython.const[cython.int][::1],
    bits: cython.int,
    found: cython.int[::1],
    folded: cython.int[:, ::1],
):
    """Find the nodes of one page's tree in another tree.

    Args:
        elements: The page's tree.
        styles: The same.
        keys: The same.
        known_styles: The other tree.
        known_keys: The same.
        slots: The same.
        bits: The same.
        found: By element node of the page, the row in the other tree, -1 for none: filled below those that are
            filled already.
        folded: Is filled with style nodes of the page and the folded ones that they are in the other tree.

    Returns:
        How many are ``folded``.

    """
    element: cython.Py_ssize_t
    style: cython.Py_ssize_t
    known: cython.Py_ssize_t
    child: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    fits: cython.bint = found.shape[0] == elements.shape[0] and folded.shape[0] >= styles.shape[0]
    check(fits and folded.shape[1] == 2, "the columns do not fit each other")
    for element in range(elements.shape[0]):
        if found[element] < 0:
            continue
        style = elements[element, STYLES]
        while style >= 0:
            known = slots[
                place_of(found[element], keys[style], styles[style, SIZE], known_styles, known_keys, slots, bits)
            ]
            known -= 1
            if known >= 0 and known_styles[known, PAGES] > 0:
                if known_styles[known, FIRST] < 0:
                    folded[count, 0], folded[count, 1] = style, known
                    count += 1
                else:
                    for child in range(styles[style, SIZE]):
                        found[styles[style, FIRST] + child] = known_styles[known, FIRST] + child
            style = styles[style, NEXT]
    return count


def merge(
    elements: cython.int[:, ::1],
    styles: cython.int[:, ::1],
    keys: cython.ulonglong[::1],
    slots: cython.int[::1],
    bits: cython.int,
    owners: cython.ulonglong[::1],
    scores: cython.double[:, ::1],
    used: cython.Py_ssize_t,
    made: cython.Py_ssize_t,
    others: cython.const[cython.int][:, ::1],
    other_styles: cython.const[cython.int][:, ::1],
    other_keys: cython.const[cython.ulonglong][::1],
    other_scores: cython.const[cython.double][:, ::1],
    tops: cython.const[cython.longlong][::1],
    bases: cython.const[cython.longlong][::1],
    pages: cython.const[cython.ulonglong][::1],
    joined: cython.int[:, ::1],
):
    """Add one page's tree to a site's.

    Args:
        elements: The site's tree, with room for all that may come.
        styles: The same.
        keys: The same.
        slots: The same.
        bits: The same.
        owners: By folded style node the key of its page.
        scores: By style node its importance and the highest below it.
        used: How many element nodes the site has.
        made: How many style nodes it has.
        others: The tree of the page, and behind it those of pages that have style nodes of the site folded.
        other_styles: The same.
        other_keys: The same.
        other_scores: The same.
        tops: By tree its first element node.
        bases: By tree its first style node.
        pages: By tree the key of its page.
        joined: Is filled with the element nodes of the site that a page came to, and its own.

    Returns:
        How many element nodes and style nodes the site has, and how many are ``joined``.

    """
    waiting: cython.Py_ssize_t = 1
    count: cython.Py_ssize_t = 0
    tree: cython.Py_ssize_t
    owner: cython.Py_ssize_t
    element: cython.Py_ssize_t
    other: cython.Py_ssize_t
    theirs: cython.Py_ssize_t
    style: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    child: cython.Py_ssize_t
    first: cython.Py_ssize_t
    size: cython.int
    fits: cython.bint = joined.shape[0] >= others.shape[0] and joined.shape[1] == 2 and tops.shape[0] > 0
    check(fits and used > 0 and elements.shape[0] >= used, "the columns do not fit each other")
    check_tree(elements, styles, keys, slots, bits)
    stack: cython.longlong[:, ::1] = memoryview(bytearray(24 * (others.shape[0] + 1))).cast(
        "q", (others.shape[0] + 1, 3)
    )
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, tops[0], 0
    while waiting:
        waiting -= 1
        element, other, tree = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        joined[count, 0], joined[count, 1] = element, other
        count += 1
        elements[element, PAGES] += 1
        elements[element, STALE] = 1
        elements[element, EMPTY] += others[other, EMPTY]
        theirs = others[other, STYLES]
        while theirs >= 0:
            size = other_styles[theirs, SIZE]
            slot = place_of(element, other_keys[theirs], size, styles, keys, slots, bits)
            style = slots[slot] - 1
            if style < 0 or styles[style, PAGES] == 0:
                if style < 0:
                    if made == styles.shape[0]:
                        check(False, "there is no room for a style node")
                    style = made
                    made += 1
                    slots[slot] = made
                    keys[style] = other_keys[theirs]
                    start_style(styles, style, element, elements[element, STYLES], size)
                    elements[element, STYLES] = style
                styles[style, PAGES], styles[style, FIRST], styles[style, STALE] = 1, -1, 0
                styles[style, OWN] = theirs - bases[tree]
                owners[style] = pages[tree]
                scores[style, IMPORTANCE] = other_scores[theirs, IMPORTANCE]
                scores[style, PEAK] = other_scores[theirs, PEAK]
            else:
                if styles[style, FIRST] < 0:
                    owner = 0
                    while owner < pages.shape[0] and pages[owner] != owners[style]:
                        owner += 1
                    if owner == pages.shape[0] or used + size > elements.shape[0]:
                        check(False, "the tree of a page is missing, or there is no room for an element node")
                    first = other_styles[bases[owner] + styles[style, OWN], FIRST]
                    for child in range(size):
                        start_element(elements, used + child, others[first + child, LABEL])
                        stack[waiting, 0] = used + child
                        stack[waiting, 1], stack[waiting, 2] = first + child, owner
                        waiting += 1
                    styles[style, FIRST] = used
                    used += size
                styles[style, PAGES] += 1
                styles[style, STALE] = 1
                for child in range(size):
                    stack[waiting, 0] = styles[style, FIRST] + child
                    stack[waiting, 1], stack[waiting, 2] = other_styles[theirs, FIRST] + child, tree
                    waiting += 1
            theirs = other_styles[theirs, NEXT]
    return used, made, count


def take_out(
    elements: cython.int[:, ::1],
    styles: cython.int[:, ::1],
    keys: cython.const[cython.ulonglong][::1],
    slots: cython.const[cython.int][::1],
    bits: cython.int,
    others: cython.const[cython.int][:, ::1],
    other_styles: cython.const[cython.int][:, ::1],
    other_keys: cython.const[cython.ulonglong][::1],
    joined: cython.int[:, ::1],
):
    """Subtract one page's tree from a site's that it was added to.

    Args:
        elements: The site's tree.
        styles: The same.
        keys: The same.
        slots: The same.
        bits: The same.
        others: The page's tree.
        other_styles: The same.
        other_keys: The same.
        joined: Is filled as :func:`merge` does.

    Returns:
        How many are ``joined``, and how many element nodes of the site are left without pages.

    """
    waiting: cython.Py_ssize_t = 1
    count: cython.Py_ssize_t = 0
    left: cython.Py_ssize_t = 0
    element: cython.Py_ssize_t
    other: cython.Py_ssize_t
    theirs: cython.Py_ssize_t
    style: cython.Py_ssize_t
    child: cython.Py_ssize_t
    fits: cython.bint = joined.shape[0] >= others.shape[0] and joined.shape[1] == 2
    check(fits, "the columns do not fit each other")
    check_tree(elements, styles, keys, slots, bits)
    stack: cython.longlong[:, ::1] = memoryview(bytearray(16 * (others.shape[0] + 1))).cast(
        "q", (others.shape[0] + 1, 2)
    )
    stack[0, 0], stack[0, 1] = 0, 0
    while waiting:
        waiting -= 1
        element, other = stack[waiting, 0], stack[waiting, 1]
        joined[count, 0], joined[count, 1] = element, other
        count += 1
        elements[element, PAGES] -= 1
        elements[element, STALE] = 1
        elements[element, EMPTY] -= others[other, EMPTY]
        left += elements[element, PAGES] == 0
        theirs = others[other, STYLES]
        while theirs >= 0:
            style = slots[
                place_of(element, other_keys[theirs], other_styles[theirs, SIZE], styles, keys, slots, bits)
            ]
            style -= 1
            if style < 0 or styles[style, PAGES] == 0:
                check(False, "the page is not in the tree")
            styles[style, PAGES] -= 1
            styles[style, STALE] = 1
            if styles[style, FIRST] >= 0:
                for child in range(styles[style, SIZE]):
                    stack[waiting, 0] = styles[style, FIRST] + child
                    stack[waiting, 1] = other_styles[theirs, FIRST] + child
                    waiting += 1
            theirs = other_styles[theirs, NEXT]
    return count, left


def fill_slots(
    styles: cython.const[cython.int][:, ::1],
    keys: cython.const[cython.ulonglong][::1],
    slots: cython.int[::1],
    bits: cython.int,
    count: cython.Py_ssize_t,
):
    """Write the numbers of the first ``count`` style nodes to ``slots``, which are free."""
    style: cython.Py_ssize_t
    check(0 <= count <= styles.shape[0] and count < slots.shape[0], "the table does not fit its slots")
    check(1 <= bits <= 30 and slots.shape[0] == 1 << bits, "the table does not fit its slots")
    for style in range(count):
        slots[place_of(styles[style, ELEMENT], keys[style], styles[style, SIZE], styles, keys, slots, bits)] = (
            style + 1
        )


def add_features(
    elements: cython.int[:, ::1],
    rows: cython.ulonglong[::1],
    used: cython.Py_ssize_t,
    others: cython.const[cython.int][:, ::1],
    other_rows: cython.const[cython.ulonglong][::1],
    joined: cython.const[cython.int][:, ::1],
    start: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
):
    """Add the features of element nodes of pages to those of the site's that they came to.

    Args:
        elements: The element nodes of the site.
        rows: Their features, and room for more.
        used: How much of it is used.
        others: The element nodes of the pages.
        other_rows: Their features.
        joined: Element nodes of the site, and those that came to them.
        start: The first of these that is added.
        count: How many of these there are.

    Returns:
        How many are added before there is no more room, and how much room is used.

    """
    pair: cython.Py_ssize_t
    element: cython.Py_ssize_t
    mine: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    end: cython.Py_ssize_t
    theirs: cython.Py_ssize_t
    their_first: cython.Py_ssize_t
    their_end: cython.Py_ssize_t
    missing: cython.Py_ssize_t
    room: cython.Py_ssize_t
    check(
        0 <= start <= count <= joined.shape[0] and 0 <= used <= rows.shape[0], "the columns do not fit each other"
    )
    for pair in range(start, count):
        element = joined[pair, 0]
        their_first = others[joined[pair, 1], ROWS]
        their_end = their_first + others[joined[pair, 1], COUNT]
        if their_end == their_first:
            continue
        first = elements[element, ROWS]
        end = first + elements[element, COUNT]
        missing, mine = 0, first
        for theirs in range(their_first, their_end):
            while mine < end and rows[mine] >> PAGES_BITS < other_rows[theirs] >> PAGES_BITS:
                mine += 1
            missing += mine == end or rows[mine] >> PAGES_BITS != other_rows[theirs] >> PAGES_BITS
        if end - first + missing > elements[element, ROOM]:
            room = end - first + missing
            room += room >> 2 if end > first else 0
            if used + room > rows.shape[0]:
                return pair, used
            for mine in range(first, end):
                rows[used + mine - first] = rows[mine]
            end += used - first
            first = used
            used += room
            elements[element, ROWS], elements[element, ROOM] = first, room
        elements[element, COUNT] += missing
        mine, theirs, last = end, their_end, end + missing
        while theirs > their_first:
            if mine > first and rows[mine - 1] >> PAGES_BITS > other_rows[theirs - 1] >> PAGES_BITS:
                mine -= 1
                last -= 1
                rows[last] = rows[mine]
                continue
            theirs -= 1
            last -= 1
            if mine > first and rows[mine - 1] >> PAGES_BITS == other_rows[theirs] >> PAGES_BITS:
                mine -= 1
                rows[last] = rows[mine] + (other_rows[theirs] & MOST_PAGES)
            else:
                rows[last] = other_rows[theirs]
    return count, used


def remove_features(
    elements: cython.int[:, ::1],
    rows: cython.ulonglong[::1],
    others: cython.const[cython.int][:, ::1],
    other_rows: cython.const[cython.ulonglong][::1],
    joined: cython.const[cython.int][:, ::1],
    count: cython.Py_ssize_t,
):
    """Subtract what :func:`add_features` added."""
    pair: cython.Py_ssize_t
    element: cython.Py_ssize_t
    mine: cython.Py_ssize_t
    kept: cython.Py_ssize_t
    theirs: cython.Py_ssize_t
    their_end: cython.Py_ssize_t
    row: cython.ulonglong
    check(count <= joined.shape[0], "the columns do not fit each other")
    for pair in range(count):
        element = joined[pair, 0]
        theirs = others[joined[pair, 1], ROWS]
        their_end = theirs + others[joined[pair, 1], COUNT]
        if their_end == theirs:
            continue
        kept = elements[element, ROWS]
        for mine in range(elements[element, ROWS], elements[element, ROWS] + elements[element, COUNT]):
            row = rows[mine]
            if theirs < their_end and row >> PAGES_BITS == other_rows[theirs] >> PAGES_BITS:
                row -= other_rows[theirs] & MOST_PAGES
                theirs += 1
            if row & MOST_PAGES:
                rows[kept] = row
                kept += 1
        elements[element, COUNT] = kept - elements[element, ROWS]


def move_features(
    elements: cython.int[:, ::1],
    count: cython.Py_ssize_t,
    rows: cython.const[cython.ulonglong][::1],
    moved: cython.ulonglong[::1],
):
    """Write the features of ``count`` element nodes to ``moved``, without gaps; return how many they are."""
    element: cython.Py_ssize_t
    row: cython.Py_ssize_t
    used: cython.Py_ssize_t = 0
    for element in range(count):
        if used + elements[element, COUNT] > moved.shape[0]:
            check(False, "there is no room for the features")
        for row in range(elements[element, COUNT]):
            moved[used + row] = rows[elements[element, ROWS] + row]
        elements[element, ROWS], elements[element, ROOM] = used, elements[element, COUNT]
        used += elements[element, COUNT]
    return used


@cython.cfunc
@cython.exceptval(check=False)
def rate_features(
    rows: cython.const[cython.ulonglong][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    pages: cython.Py_ssize_t,
    at_most: cython.Py_ssize_t,
    presence: cython.bint,
    logs: cython.const[cython.double][::1],
) -> cython.double:
    """Return ``1 − Σ H(a_i)/l`` over the ``at_most`` features with the lowest hashes."""
    total: cython.double = 0.0
    occurrences: cython.double
    spread: cython.double
    having: cython.double
    count: cython.Py_ssize_t
    on: cython.Py_ssize_t
    features: cython.Py_ssize_t = 0
    feature: cython.ulonglong
    while first < end and features < at_most:
        feature = rows[first] >> FEATURE_BITS
        occurrences, spread, on = 0.0, 0.0, 0
        while first < end and rows[first] >> FEATURE_BITS == feature:
            count = (rows[first] >> PAGES_BITS) & MOST_OCCURRENCES
            having = rows[first] & MOST_PAGES
            on += rows[first] & MOST_PAGES
            occurrences += count * having
            spread += count * logs[count] * having
            first += 1
        if presence or spread == 0.0:
            total += logs[on] / logs[pages] if on < logs.shape[0] else log(on) / logs[pages]
        else:
            total += (log(occurrences) - spread / occurrences) / logs[pages]
        features += 1
    return 1.0 - total / features


def rate(
    elements: cython.int[:, ::1],
    styles: cython.int[:, ::1],
    scores: cython.double[:, ::1],
    style_scores: cython.double[:, ::1],
    rows: cython.const[cython.ulonglong][::1],
    gamma: cython.double,
    single_page: cython.double,
    presence: cython.bint,
    data_node: cython.bint,
    at_most: cython.Py_ssize_t,
    logs: cython.const[cython.double][::1],
):
    """Compute the importances that are out of date, and the highest in each subtree, children first.

    Sums over style nodes are compensated (Neumaier), so that they do not depend on the order of the pages.

    Args:
        elements: The tree.
        styles: The same.
        scores: Is filled: by element node, its importance and the highest below it.
        style_scores: The same of style nodes; those of folded ones are given.
        rows: The features.
        gamma: The damping γ.
        single_page: The NodeImp of an inner node on one page.
        presence: Whether each page with a feature weighs the same.
        data_node: Whether every element node also has the importance of its own text.
        at_most: The most features that count.
        logs: The logarithm of each number of occurrences, and of each number of pages.

    """
    element: cython.Py_ssize_t
    style: cython.Py_ssize_t
    first: cython.Py_ssize_t
    pages: cython.Py_ssize_t
    length: cython.Py_ssize_t
    total: cython.double
    data: cython.double
    former: cython.double
    below: cython.double
    below_rest: cython.double
    own: cython.double
    own_rest: cython.double
    peak: cython.double
    damping: cython.double
    share: cython.double
    term: cython.double
    added: cython.double
    fits: cython.bint = scores.shape[0] >= elements.shape[0] and style_scores.shape[0] >= styles.shape[0]
    check(fits, "the columns of the tree do not fit each other")
    for element in range(elements.shape[0] - 1, -1, -1):
        if not elements[element, STALE]:
            continue
        elements[element, STALE] = 0
        pages = elements[element, PAGES]
        if pages == 0:
            continue
        if pages >= logs.shape[0]:
            check(False, "there are more pages than logarithms")
        total = elements[element, EMPTY]
        length = 1 if elements[element, EMPTY] else 0
        style = elements[element, STYLES]
        while style >= 0:
            if styles[style, PAGES]:
                total += styles[style, PAGES]
                length += 1
                if styles[style, STALE]:
                    rate_style(scores, style_scores, style, styles[style, FIRST], styles[style, SIZE])
                    styles[style, STALE] = 0
            style = styles[style, NEXT]
        data = 0.0
        if elements[element, COUNT] and (data_node or total == elements[element, EMPTY]):
            data = 1.0
            if pages > 1:
                first = elements[element, ROWS]
                data = rate_features(rows, first, first + elements[element, COUNT], pages, at_most, presence, logs)
        if total == elements[element, EMPTY]:
            scores[element, IMPORTANCE] = scores[element, PEAK] = data
            continue
        below, below_rest, own, own_rest, peak = 0.0, 0.0, 0.0, 0.0, 0.0
        if elements[element, EMPTY]:
            share = elements[element, EMPTY] / total
            own = share * log(share)
        style = elements[element, STYLES]
        while style >= 0:
            if styles[style, PAGES]:
                share = styles[style, PAGES] / total
                term = share * log(share)
                added = own + term
                own_rest += (own - added) + term if abs(own) >= abs(term) else (term - added) + own
                own = added
                term = share * style_scores[style, IMPORTANCE]
                added = below + term
                below_rest += (below - added) + term if below >= term else (term - added) + below
                below = added
                if style_scores[style, PEAK] > peak:
                    peak = style_scores[style, PEAK]
            style = styles[style, NEXT]
        own = single_page if pages < 2 else -(own + own_rest) / logs[pages]
        if pages > 1:
            own = 1.0 if own > 1.0 else 0.0 if own < 0.0 else own  # collapsed, one page can have several sequences
        damping = gamma**length
        former = (1.0 - damping) * own + damping * (below + below_rest)
        if data_node and elements[element, COUNT] and former + data != 0.0:
            share = data / (former + data)
            former = (1.0 - share) * former + share * data
        scores[element, IMPORTANCE] = former
        scores[element, PEAK] = former if former > peak else peak


@cython.cfunc
@cython.exceptval(check=False)
def rate_style(
    scores: cython.const[cython.double][:, ::1],
    style_scores: cython.double[:, ::1],
    style: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Set the importance of a style node, the mean over its element nodes, and the highest below it."""
    child: cython.Py_ssize_t
    total: cython.double = 0.0
    rest: cython.double = 0.0
    peak: cython.double = 0.0
    term: cython.double
    added: cython.double
    for child in range(first, first + size):
        term = scores[child, IMPORTANCE]
        added = total + term
        rest += (total - added) + term if total >= term else (term - added) + total
        total = added
        if scores[child, PEAK] > peak:
            peak = scores[child, PEAK]
    style_scores[style, IMPORTANCE] = (total + rest) / size
    style_scores[style, PEAK] = peak
