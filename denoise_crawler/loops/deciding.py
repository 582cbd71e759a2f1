"""What is taken of a page: the chances of its blocks, the cut, what belongs together, headings with sections."""

from __future__ import annotations

from math import exp, log

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check, group

# The log odds of a unit of data: what its own blocks say, what those around it say, and what is so of its kind.
# Cells and lines of code are short, and short blocks say little: data in the middle of content is content.
# Logistic regression over the tables of half of the sites of all gold sets, see docs/how-it-decides.md; gold texts
# that leave all code out, and those that write formulas in another way, say nothing of the other kinds.
_OWN = cython.declare(cython.double, 0.55)
_BEFORE = cython.declare(cython.double, 0.43)
_AFTER = cython.declare(cython.double, 0.25)
_OF_TABLES = cython.declare(cython.double, -0.33)
_OF_OTHERS = cython.declare(cython.double, 0.5)
_TABLE = cython.declare(cython.longlong, 0)  # kinds, by number of ``units.UNITS``
_FORMULA = cython.declare(cython.longlong, 2)
_DEFINITIONS = cython.declare(cython.longlong, 4)
_AROUND = cython.declare(cython.Py_ssize_t, 3)  # blocks on either side
_MOST_TOKENS = cython.declare(cython.double, 30.0)  # that one of them counts
_SUREST = cython.declare(cython.double, 0.995)
# What is said of a block by its style, at most; tokens.
_STYLE_SHARE = cython.declare(cython.double, 0.4)
_STYLE_PRIOR = cython.declare(cython.double, 30.0)
_TITLE_CHANCE = cython.declare(cython.double, 0.9)
_MOST_SCORE = cython.declare(cython.double, 700.0)  # whose exponential is a number
_REPEATED_CHARACTERS = cython.declare(cython.double, 40.0)
# A heading with a lower chance ("Related", "Comments") is not kept with what follows it; one with a higher chance
# does not go with it. Of those between, half and fewer stand in gold texts, see docs/how-it-decides.md.
_LEAST = cython.declare(cython.double, 0.12)
_SURE = cython.declare(cython.double, 0.73)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def chance_of(score: cython.double) -> cython.double:
    """Return log odds as a chance."""
    bounded: cython.double = -score if -score < _MOST_SCORE else _MOST_SCORE
    return 1.0 / (1.0 + exp(bounded if bounded > -_MOST_SCORE else -_MOST_SCORE))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def log_odds(chance: cython.double) -> cython.double:
    """Return a chance, within bounds, as log odds."""
    bounded: cython.double = chance if chance > 1.0 - _SUREST else 1.0 - _SUREST
    bounded = bounded if bounded < _SUREST else _SUREST
    return log(bounded / (1.0 - bounded))


@cython.cfunc
def check_ranges(
    ranges: cython.const[cython.longlong][:, ::1], column: cython.Py_ssize_t, count: cython.Py_ssize_t
):
    """Raise ValueError unless a pair of columns bounds blocks."""
    index: cython.Py_ssize_t
    fits: cython.bint = ranges.shape[0] == 0 or ranges.shape[1] > column + 1
    check(fits, "the parts of the page are not of this page")
    for index in range(ranges.shape[0]):
        fits &= 0 <= ranges[index, column] <= ranges[index, column + 1] <= count
    check(fits, "the parts of the page are not of this page")


def chances(
    scores: cython.const[cython.double][::1],
    style: tuple,
    shift: cython.double,
    title: cython.Py_ssize_t,
    wished: cython.bint,
    found: cython.double[::1],
):
    """Fill by block how likely it is content: by the trees, its style, what is wished and the title.

    The more tokens of a style the site's other pages have, the more their mean score says. A title that is sure is
    content as it is wished: other pages may list it, which says nothing against it.

    Args:
        scores: The log odds that the trees give.
        style: The tokens of its style on other pages, and their mean score; empty without a site.
        shift: What is added to all log odds.
        title: The block that surely is the title, below 0 if none is.
        wished: Whether the title is wished.
        found: What is filled.

    """
    index: cython.Py_ssize_t
    share: cython.double
    known: cython.const[cython.double][::1] = style[0] if style else scores
    means: cython.const[cython.double][::1] = style[1] if style else scores
    count: cython.Py_ssize_t = scores.shape[0]
    fits: cython.bint = found.shape[0] == count
    check(fits and known.shape[0] == count and means.shape[0] == count, "the columns do not fit the page")
    check(title < count, "the columns do not fit the page")
    for index in range(count):
        share = 0.0
        if style:
            share = _STYLE_SHARE * known[index] / (known[index] + _STYLE_PRIOR)
        found[index] = chance_of((1.0 - share) * scores[index] + share * means[index] + shift)
    if title >= 0:
        if not wished:
            found[title] = 0.0
        elif found[title] < _TITLE_CHANCE:
            found[title] = _TITLE_CHANCE


def of_units(
    own: cython.const[cython.double][::1],
    tokens: cython.const[cython.double][::1],
    units: cython.const[cython.longlong][:, ::1],
    silent: cython.const[cython.longlong][::1],
    joint: cython.double[::1],
):
    """Fill the chances of blocks, their ``own`` if they are in no unit, else that of the unit.

    That is the mean over its tokens; for tables, code and formulas what stands around the unit counts as well.

    Args:
        own: By block, its own chance.
        tokens: By block, its words.
        units: Of each its kind, by number, its first block and that behind its last.
        silent: The blocks whose own chances say nothing.
        joint: What is filled.

    """
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    left: cython.Py_ssize_t
    count: cython.Py_ssize_t = own.shape[0]
    kind: cython.longlong
    words: cython.double
    said: cython.double
    before: cython.double
    after: cython.double
    fits: cython.bint = tokens.shape[0] == count and joint.shape[0] == count
    for index in range(silent.shape[0]):
        fits &= 0 <= silent[index] < count
    check(fits, "the columns do not fit the page")
    check_ranges(units, 1, count)
    quiet: cython.uchar[::1] = memoryview(bytearray(count + 1))
    for index in range(silent.shape[0]):
        quiet[silent[index]] = 1
    for index in range(count):
        joint[index] = own[index]
    for index in range(units.shape[0]):
        kind = units[index, 0]
        words = said = 0.0
        for at in range(units[index, 1], units[index, 2]):
            if not quiet[at]:
                words += tokens[at]
                said += own[at] * tokens[at]
        if kind == _DEFINITIONS:
            if words == 0.0:
                for at in range(units[index, 1], units[index, 2]):
                    words += 1.0
                    said += own[at]
            said = said / words if words > 0.0 else 0.0
        else:
            said = _OWN * log_odds(said / words) if words > 0.0 else 0.0
            said += _OF_TABLES if kind == _TABLE else _OF_OTHERS
            at, left = units[index, 1], _AROUND
            words = before = 0.0
            while at > 0 and left:
                at -= 1
                if not quiet[at]:
                    left -= 1
                    words += counted(tokens[at])
                    before += own[at] * counted(tokens[at])
            before = log_odds(before / words) if words > 0.0 else 0.0
            at, left = units[index, 2], _AROUND
            words = after = 0.0
            while at < count and left:
                if not quiet[at]:
                    left -= 1
                    words += counted(tokens[at])
                    after += own[at] * counted(tokens[at])
                at += 1
            after = log_odds(after / words) if words > 0.0 else 0.0
            said = chance_of(said + _BEFORE * before + _AFTER * after)
        for at in range(units[index, 1], units[index, 2]):
            joint[at] = said


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def counted(tokens: cython.double) -> cython.double:
    """Return what a block beside a unit counts."""
    return (tokens if tokens < _MOST_TOKENS else _MOST_TOKENS) + 1.0


def most_f1(
    chances: cython.const[cython.double][::1],
    tokens: cython.const[cython.double][::1],
    shift: cython.double,
    taken: cython.uchar[::1],
):
    """Take the likeliest blocks, as many as make the expected F1 of the text largest.

    With p the chance and n the tokens of a block that is 2·Σ p·n over those taken, by Σ n over those taken plus
    Σ p·n over all.

    Args:
        chances: By block, how likely it is content.
        tokens: By block, its words.
        shift: What is added to the log odds first.
        taken: Whether each block is taken; it is filled.

    Returns:
        The F1 to be expected without the shift (1 where there is nothing to take and nothing is), and the lowest
        chance that is taken.

    """
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    last: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = chances.shape[0]
    odds: cython.double
    whole: cython.double = 0.0
    held: cython.double = 0.0
    hits: cython.double = 0.0
    best: cython.double = -1.0
    lowest: cython.double = 1.0
    factor: cython.double = exp(shift)
    check(tokens.shape[0] == count and taken.shape[0] == count, "the columns do not fit the page")
    moved: list = []
    for index in range(count):
        odds = chances[index]
        if shift != 0.0:
            odds = odds * factor
            odds = odds / (1.0 - chances[index] + odds)
        moved.append(-odds)
        whole += odds * tokens[index]
        taken[index] = 0
    order: list = sorted(range(count), key=moved.__getitem__)
    for index in range(count):
        at = order[index]
        odds = moved[at]
        hits -= odds * tokens[at]
        held += tokens[at]
        odds = held + whole if held + whole > 1e-9 else 1e-9
        if 2.0 * hits / odds > best:
            best, last = 2.0 * hits / odds, index + 1
    whole = held = hits = 0.0
    for index in range(last):
        at = order[index]
        taken[at] = 1
        lowest = chances[at] if chances[at] < lowest else lowest
    for index in range(count):
        whole += chances[index] * tokens[index]
        if taken[index]:
            hits += chances[index] * tokens[index]
            held += tokens[index]
    return (2.0 * hits / (held + whole) if held + whole > 0.0 else 1.0), lowest


def take(
    blocks: tuple,
    elements: tuple,
    parts: tuple,
    chances: cython.const[cython.double][::1],
    wanted: cython.const[cython.uchar][::1],
    title: cython.Py_ssize_t,
    repeating: cython.bint,
    marks: tuple,
):
    """Take what belongs to the likely blocks, nothing twice, and headings with their sections.

    A unit is taken if half of its tokens are likely or any of its blocks is wanted, a list with the paragraph that
    introduces it.

    Args:
        blocks: Of each its tokens, its characters, the hash of its text, its element.
        elements: Of each its parent, the hash of its path, its places.
        parts: The units, as for :func:`of_units`; of each introduced list its first block and that behind its
            last; of each heading these and the end of its section.
        chances: By block, how likely it is content.
        wanted: Whether each block is taken in any case.
        title: The block that surely is the title, below 0 if none is.
        repeating: Whether the page repeats itself, so that what is taken twice stays.
        marks: Four columns: the likely blocks; those to take of the units, those that are not taken twice, and
            those with their sections, which are filled.

    """
    tokens: cython.const[cython.double][::1] = blocks[0]
    units: cython.const[cython.longlong][:, ::1] = parts[0]
    lists: cython.const[cython.longlong][:, ::1] = parts[1]
    headings: cython.const[cython.longlong][:, ::1] = parts[2]
    likely: cython.const[cython.uchar][::1]
    best: cython.uchar[::1]
    once: cython.uchar[::1]
    taken: cython.uchar[::1]
    likely, best, once, taken = marks
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    count: cython.Py_ssize_t = chances.shape[0]
    held: cython.double
    kept: cython.bint
    fits: cython.bint = wanted.shape[0] == count and title < count
    for column in (*blocks, *marks):
        fits &= len(column) == count
    check(fits, "the columns do not fit the page")
    check_ranges(units, 1, count)
    check_ranges(lists, 0, count)
    check_ranges(headings, 0, count)
    for index in range(count):
        best[index] = likely[index]
    for index in range(lists.shape[0]):
        at = lists[index, 0] - 1
        if at >= 0 and best[at]:
            for at in range(lists[index, 0], lists[index, 1]):
                best[at] = 1
    for index in range(units.shape[0]):
        held, kept = 0.0, False
        for at in range(units[index, 1], units[index, 2]):
            held += tokens[at] if best[at] else -tokens[at]
            kept |= wanted[at] != 0
        kept |= held >= 0.0
        for at in range(units[index, 1], units[index, 2]):
            best[at] = kept
    fixed: cython.uchar[::1] = memoryview(bytearray(count + 1))
    for index in range(count):
        fixed[index] = wanted[index]
    for index in range(count):
        best[index] |= wanted[index]
        once[index] = best[index]
    if not repeating:
        take_once(blocks, elements, units, best, once)
    for index in range(units.shape[0]):
        for at in range(units[index, 1], units[index, 2]):
            fixed[at] |= units[index, 0] != _FORMULA
    if title >= 0:
        fixed[title] = 1
    for index in range(count):
        taken[index] = once[index]
    if headings.shape[0]:
        with_sections(headings, chances, fixed, once, taken)


@cython.cfunc
def take_once(
    blocks: tuple,
    elements: tuple,
    units: cython.const[cython.longlong][:, ::1],
    best: cython.uchar[::1],
    once: cython.uchar[::1],
):
    """Leave out of the ``best`` blocks what is taken already: long texts elsewhere, units with the same texts.

    A refrain comes back among the lines of its song, in the same series: in one element, and alike.
    """
    characters: cython.const[cython.double][::1]
    texts: cython.const[cython.uint][::1]
    homes: cython.const[cython.longlong][::1]
    _, characters, texts, homes = blocks
    parents: cython.const[cython.longlong][::1]
    paths: cython.const[cython.uint][::1]
    places: cython.const[cython.longlong][::1]
    parents, paths, places = elements
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    other: cython.Py_ssize_t
    size: cython.Py_ssize_t = 0
    held: cython.double
    count: cython.Py_ssize_t = best.shape[0]
    fits: cython.bint = paths.shape[0] == parents.shape[0] and places.shape[0] == parents.shape[0]
    for index in range(count):
        fits &= 0 <= homes[index] < parents.shape[0]
    check(fits, "a block stands in an element that is not there")
    space: cython.longlong[::1] = memoryview(bytearray(32 * count or 8)).cast("q")
    for index in range(count):
        if best[index] and characters[index] >= _REPEATED_CHARACTERS:
            space[size] = texts[index]
            space[3 * count + size] = index
            size += 1
    group(space[:size], space[count : count + size], space[2 * count : 2 * count + size])
    for index in range(size):
        at = space[3 * count + index]
        other = space[3 * count + space[count + space[2 * count + index]]]
        at, other = homes[at], homes[other]
        fits = parents[at] == parents[other] and paths[at] == paths[other] and places[at] == places[other]
        once[space[3 * count + index]] = fits
    seen = set()
    for index in range(units.shape[0]):
        held, fits = 0.0, units[index, 1] < count and best[units[index, 1]]
        for at in range(units[index, 1], units[index, 2]):
            held += characters[at]
        if fits and held >= _REPEATED_CHARACTERS:
            own = tuple([texts[at] for at in range(units[index, 1], units[index, 2])])
            fits = own not in seen
            seen.add(own)
        for at in range(units[index, 1], units[index, 2]):
            once[at] = fits


def with_sections(
    headings: cython.const[cython.longlong][:, ::1],
    chances: cython.const[cython.double][::1],
    fixed: cython.const[cython.uchar][::1],
    before: cython.const[cython.uchar][::1],
    taken: cython.uchar[::1],
):
    """Keep headings before blocks that are taken, drop those whose section is not; ``fixed`` blocks stay.

    Args:
        headings: Of each its first block, that behind its last, and the end of its section.
        chances: By block, how likely it is content.
        fixed: Whether the verdict on each block stands.
        before: What was taken before.
        taken: The same, which is changed.

    """
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    nearest: cython.Py_ssize_t
    count: cython.Py_ssize_t = chances.shape[0]
    following: cython.Py_ssize_t = count  # the next heading that is kept
    chance: cython.double
    stays: cython.bint
    fits: cython.bint = fixed.shape[0] >= count and before.shape[0] == count and taken.shape[0] == count
    check(fits, "the columns do not fit the page")
    check_ranges(headings, 0, count)
    check_ranges(headings, 1, count)
    nexts: cython.longlong[::1] = memoryview(bytearray(8 * (count + 1))).cast("q")
    for index in range(headings.shape[0]):
        for at in range(headings[index, 0], headings[index, 1]):
            taken[at] = 0
    nexts[count] = count  # by block, the first from there on that is taken and no heading
    for index in range(count - 1, -1, -1):
        nexts[index] = index if taken[index] else nexts[index + 1]
    for index in range(headings.shape[0] - 1, -1, -1):
        first, last = headings[index, 0], headings[index, 1]
        chance, stays = 0.0, last >= headings[index, 2]
        for at in range(first, last):
            taken[at] = before[at]
            stays |= fixed[at] != 0
            chance = chances[at] if chances[at] > chance else chance
        if not stays:
            nearest = nexts[last] if nexts[last] < following else following
            if nearest == last and chance >= _LEAST:
                for at in range(first, last):
                    taken[at] = 1
            elif nearest >= headings[index, 2] and chance < _SURE:
                for at in range(first, last):
                    taken[at] = 0
        if first < last and taken[first]:
            following = first


def headings(
    tags: cython.const[cython.int][::1],
    levels: cython.const[cython.longlong][::1],
    elements: tuple,
    blocks: tuple,
    codes: tuple,
):
    """Return the headings with text: of each its first block, that behind its last, the end of its section.

    Args:
        tags: By node, the number of its tag.
        levels: By number of a tag the level of a heading, 0 for other tags.
        elements: Of each its node, its first block, that behind its last, the code of its tag.
        blocks: Of each its characters, and those inside links.
        codes: The lowest and the highest code of a heading.

    Returns:
        The headings, and the numbers of those that are links, for the most part.

    """
    nodes: cython.const[cython.longlong][::1]
    first: cython.const[cython.longlong][::1]
    last: cython.const[cython.longlong][::1]
    kinds: cython.const[cython.longlong][::1]
    nodes, first, last, kinds = elements
    characters: cython.const[cython.double][::1]
    linked: cython.const[cython.double][::1]
    characters, linked = blocks
    lowest: cython.longlong
    highest: cython.longlong
    lowest, highest = codes
    index: cython.Py_ssize_t
    at: cython.Py_ssize_t
    level: cython.Py_ssize_t
    end: cython.longlong
    held: cython.double
    count: cython.Py_ssize_t = characters.shape[0]
    fits: cython.bint = linked.shape[0] == count and first.shape[0] == nodes.shape[0]
    fits &= last.shape[0] == nodes.shape[0] and kinds.shape[0] == nodes.shape[0]
    check(fits, "the columns do not fit the page")
    for index in range(nodes.shape[0]):
        fits &= 0 <= nodes[index] < tags.shape[0] and 0 <= first[index] <= last[index] <= count
    for index in range(tags.shape[0]):
        fits &= 0 <= tags[index] < levels.shape[0]
    for index in range(levels.shape[0]):
        fits &= 0 <= levels[index] < 8
    check(fits, "the columns do not fit the page")
    ends: cython.longlong[::1] = memoryview(bytearray(64)).cast("q")
    for level in range(8):
        ends[level] = count  # where the next heading of that level or a higher one begins
    found: list = []
    links: list = []
    for index in range(nodes.shape[0] - 1, -1, -1):
        if lowest <= kinds[index] <= highest and first[index] < last[index]:
            level = levels[tags[nodes[index]]]
            end = ends[level] if ends[level] > last[index] else last[index]
            found.append((first[index], last[index], end))
            while level < 8:
                ends[level] = first[index]
                level += 1
            held = 0.0
            for at in range(first[index], last[index]):
                held += 2.0 * linked[at] - characters[at]
            if held >= 0.0:
                links.append(len(found))
    found.reverse()
    return found, [len(found) - number for number in links]
