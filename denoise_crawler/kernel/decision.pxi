"""The page as a whole, the chances of its blocks, the cut, what belongs together: ``reference_decision.py``."""

# --- what the text of a page is as a whole: it tells an article from a forum thread, a shop or a list

cdef double PAGE_PARAGRAPH = 100.0  # characters outside links
cdef enum:
    SIBLINGS = 3  # elements of one kind below the same one are a list


def page_type_row(blocks, const double[::1] scores not None):
    """Return the numbers of ``PAGE_TYPE``: what the text of a page is as a whole, by the scores of its blocks."""
    cdef Page page = page_of(blocks, scores.shape[0])
    cdef Py_ssize_t index, count = page.count
    cdef double own, chance, whole = 0.0, in_links = 0.0, longest = 0.0, paragraphs = 0.0, held = 0.0, commas = 0.0
    cdef double content = 0.0, expected = 0.0, in_content = 0.0
    cdef double[:, ::1] so_far = np.zeros((2, count + 1))  # tokens that are likely content, all tokens
    numbers = np.zeros(len(shared.PAGE_TYPE), np.float32)
    cdef float[::1] row = numbers
    for index in range(count):
        own = page.characters[index] - page.linked[index]
        whole += page.characters[index]
        in_links += page.linked[index]
        longest = larger(longest, own)
        if own >= PAGE_PARAGRAPH:
            paragraphs += 1.0
            held += own
            commas += page.commas[index]
        chance = chance_of(scores[index])
        so_far[0, index + 1] = so_far[0, index] + page.tokens[index] * chance
        so_far[1, index + 1] = so_far[1, index] + page.tokens[index]
        content += chance > 0.5
        in_content += page.linked[index] * chance
        expected += page.characters[index] * chance
    whole = larger(whole, 1.0)
    row[0], row[1], row[2], row[3] = log1p(count), log1p(whole), in_links / whole, log1p(paragraphs)
    row[4], row[5], row[6] = held / whole, log1p(longest), commas / larger(held, 1.0)
    row[7], row[8] = log1p(so_far[0, count]), so_far[0, count] / larger(so_far[1, count], 1.0)
    row[9], row[10] = content / <double>count if count else 0.0, in_content / larger(expected, 1.0)
    fill_largest_lists(row, 11, page, so_far, whole)
    return numbers


cdef int fill_largest_lists(float[::1] row, Py_ssize_t at, Page page, double[:, ::1] so_far, double whole) except -1:
    """Fill a row with the two lists of alike elements that have most text outside links."""
    cdef Py_ssize_t index, kind, groups
    cdef double[:, ::1] below = page.below(page.so_far()), sums
    cdef int64_t[::1] keys = longs(page.size), members = longs(page.size), of = longs(page.size)
    cdef list found = []
    for index in range(page.size):  # elements with one path below the same element are of one kind
        keys[index] = page.parents[index] * (<int64_t>1 << 32) + page.paths[index] if page.last[index] > page.first[index] else -1
    groups = group(keys, members, of)
    sums = np.zeros((5, groups))  # elements, characters, those inside links, likely tokens, tokens
    for index in range(page.size):
        kind = of[index]
        sums[0, kind] += 1.0
        sums[1, kind] += below[0, index]
        sums[2, kind] += below[1, index]
        sums[3, kind] += so_far[0, page.last[index]] - so_far[0, page.first[index]]
        sums[4, kind] += so_far[1, page.last[index]] - so_far[1, page.first[index]]
    for kind in range(groups):
        if keys[members[kind]] != -1 and sums[0, kind] >= SIBLINGS:
            found.append((sums[2, kind] - sums[1, kind], keys[members[kind]], kind))
    found.sort()
    for _, _, kind in found[:2]:
        row[at], row[at + 1] = log1p(sums[0, kind]), sums[1, kind] / whole
        row[at + 2], row[at + 3] = log1p(sums[1, kind] / sums[0, kind]), sums[2, kind] / larger(sums[1, kind], 1.0)
        row[at + 4] = sums[3, kind] / larger(sums[4, kind], 1.0)
        at += 5
    return 0


def lines_around_text(blocks):
    """Return the first short blocks of each path where much of the text outside links stands between such."""
    cdef Page page = page_of(blocks)
    cdef double[:, ::1] so_far = page.so_far()
    cdef int64_t[::1] of = page.by_path()
    cdef Py_ssize_t index, last, others, behind
    cdef double longest = shared.LONGEST_LINE
    cdef double least = shared.LEAST_BETWEEN * (so_far[0, page.count] - so_far[1, page.count])
    cdef dict on_path = {}
    cdef list found = [], lines
    for index in range(page.count):
        if page.characters[index] <= longest:
            on_path.setdefault(of[index], []).append(index)
    for lines in on_path.values():
        others = len(lines) - 1
        if others:  # the last post is as long as the mean of the others
            index, last = lines[0], lines[others]
            behind = min(last + 1 + (last - index) // others, page.count)
            if so_far[0, behind] - so_far[1, behind] - (so_far[0, index] - so_far[1, index]) >= least:
                found.append(lines[:shared.MOST_LINES])
    return found[:shared.MOST_PATHS]


# --- what is taken of a page: the chances of its blocks, the cut, what belongs together, headings with sections

cdef double STYLE_SHARE = shared.STYLE_SHARE, STYLE_PRIOR = shared.STYLE_PRIOR, TITLE_CHANCE = shared.TITLE_CHANCE
cdef double LEAST_REPEATED = shared.LEAST_REPEATED
cdef double LEAST_HEADING = shared.LEAST_HEADING_CHANCE, SURE_HEADING = shared.SURE_HEADING_CHANCE
cdef int64_t FORMULA = shared.UNITS.index(shared.FORMULA)


cdef int check_ranges(const int64_t[:, ::1] ranges, Py_ssize_t column, Py_ssize_t count) except -1:
    """Raise ValueError unless a pair of columns bounds blocks."""
    cdef Py_ssize_t index
    cdef bint fits = ranges.shape[0] == 0 or ranges.shape[1] > column + 1
    check(fits, "the parts of the page are not of this page")
    for index in range(ranges.shape[0]):
        fits &= 0 <= ranges[index, column] <= ranges[index, column + 1] <= count
    return check(fits, "the parts of the page are not of this page")


def content_chances(const double[::1] scores not None, site_stats, double shift, Py_ssize_t title, bint wished):
    """Return by block how likely it is content: by the trees, its style, what is wished and the title."""
    cdef Py_ssize_t index, count = scores.shape[0]
    cdef double share = 0.0
    cdef bint has_styles = site_stats is not None
    cdef const double[::1] known = site_stats.style_tokens if has_styles else scores
    cdef const double[::1] means = site_stats.style_scores if has_styles else scores
    check(known.shape[0] == count and means.shape[0] == count and title < count, "the columns do not fit the page")
    found = np.empty(count)
    cdef double[::1] chances = found
    for index in range(count):
        if has_styles:
            share = STYLE_SHARE * known[index] / (known[index] + STYLE_PRIOR)
        chances[index] = chance_of((1.0 - share) * scores[index] + share * means[index] + shift)
    if title >= 0:
        chances[title] = larger(chances[title], TITLE_CHANCE) if wished else 0.0
    return found


def most_f1(const double[::1] chances not None, const double[::1] tokens not None, double shift=0.0):
    """Take the likeliest blocks, as many as make the expected F1 of the text largest."""
    cdef Py_ssize_t index, at, last = 0, count = chances.shape[0]
    cdef double odds, whole = 0.0, held = 0.0, hits = 0.0, best = -1.0, lowest = 1.0, factor = exp(shift)
    check(tokens.shape[0] == count, "the columns do not fit the page")
    found = np.zeros(count, np.bool_)
    cdef uint8_t[::1] taken = found.view(np.uint8)
    cdef double[::1] moved = doubles(count)
    cdef const int64_t[::1] order
    for index in range(count):
        odds = chances[index]
        if shift != 0.0:
            odds = odds * factor
            odds = odds / (1.0 - chances[index] + odds)
        moved[index] = odds
        whole += odds * tokens[index]
    order = highest_first(moved)
    for index in range(count):
        at = order[index]
        hits += moved[at] * tokens[at]
        held += tokens[at]
        odds = 2.0 * hits / larger(held + whole, 1e-9)
        if odds > best:
            best, last = odds, index + 1
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
    return found, (2.0 * hits / (held + whole) if held + whole > 0.0 else 1.0), lowest


def take(
    blocks, parts, likely not None, wanted not None, const double[::1] chances not None, Py_ssize_t title=-1,
    bint repeating=True,
):
    """Take what belongs to the likely blocks, nothing twice, and headings with their sections."""
    cdef Page page = page_of(blocks, chances.shape[0])
    cdef const int64_t[:, ::1] units = parts.units, lists = parts.lists, headings = parts.headings
    cdef Py_ssize_t index, at, count = page.count
    cdef double held
    cdef bint kept
    cdef const uint8_t[::1] always = wanted.view(np.uint8)
    check(len(likely) == count and always.shape[0] == count and title < count, "the columns do not fit the page")
    check_ranges(units, 1, count)
    check_ranges(lists, 0, count)
    check_ranges(headings, 0, count)
    check_ranges(headings, 1, count)
    steps = np.array((likely, likely, likely), np.bool_)
    cdef uint8_t[:, ::1] step = steps.view(np.uint8)
    cdef uint8_t[::1] best = step[0], once = step[1], taken = step[2], fixed = np.array(always)
    for index in range(lists.shape[0]):
        at = lists[index, 0] - 1
        if at >= 0 and best[at]:
            for at in range(lists[index, 0], lists[index, 1]):
                best[at] = 1
    for index in range(units.shape[0]):
        held, kept = 0.0, False
        for at in range(units[index, 1], units[index, 2]):
            held += page.tokens[at] if best[at] else -page.tokens[at]
            kept |= always[at] != 0
        kept |= held >= 0.0
        for at in range(units[index, 1], units[index, 2]):
            best[at] = kept
            fixed[at] |= units[index, 0] != FORMULA
    for index in range(count):
        best[index] |= always[index]
        once[index] = best[index]
    if not repeating:
        take_once(page, units, best, once)
    if title >= 0:
        fixed[title] = 1
    for index in range(count):
        taken[index] = once[index]
    if headings.shape[0]:
        take_headings(headings, chances, fixed, once, taken)
    return steps[0], steps[1], steps[2]


cdef int take_once(Page page, const int64_t[:, ::1] units, uint8_t[::1] best, uint8_t[::1] once) except -1:
    """Leave out of the ``best`` blocks what is taken already: long texts elsewhere, units with the same texts.

    A refrain comes back among the lines of its song, in the same series: in one element, and alike.
    """
    cdef Py_ssize_t index, at, other, size = 0
    cdef int64_t[::1] keys = longs(page.count), rows = longs(page.count), first = longs(page.count)
    cdef int64_t[::1] of = longs(page.count)
    cdef double held
    cdef bint stays
    for index in range(page.count):
        if best[index] and page.characters[index] >= LEAST_REPEATED:
            keys[size], rows[size] = page.texts[index], index
            size += 1
    group(keys[:size], first[:size], of[:size])
    for index in range(size):
        at, other = page.homes[rows[index]], page.homes[rows[first[of[index]]]]
        once[rows[index]] = (
            page.parents[at] == page.parents[other] and page.paths[at] == page.paths[other]
            and page.places[at] == page.places[other]
        )
    seen = set()
    for index in range(units.shape[0]):
        held, stays = 0.0, units[index, 1] < page.count and best[units[index, 1]]
        for at in range(units[index, 1], units[index, 2]):
            held += page.characters[at]
        if stays and held >= LEAST_REPEATED:
            own = tuple([page.texts[at] for at in range(units[index, 1], units[index, 2])])
            stays = own not in seen
            seen.add(own)
        for at in range(units[index, 1], units[index, 2]):
            once[at] = stays
    return 0


cdef int take_headings(
    const int64_t[:, ::1] headings, const double[::1] chances, const uint8_t[::1] fixed, const uint8_t[::1] before,
    uint8_t[::1] taken,
) except -1:
    """Keep headings before blocks that are taken, drop those whose section is not; ``fixed`` blocks stay."""
    cdef Py_ssize_t index, at, first, last, nearest, count = chances.shape[0]
    cdef Py_ssize_t following = count  # the next heading that is kept
    cdef double chance
    cdef bint stays
    cdef int64_t[::1] nexts = longs(count + 1)  # by block, the first from there on that is taken and no heading
    for index in range(headings.shape[0]):
        for at in range(headings[index, 0], headings[index, 1]):
            taken[at] = 0
    nexts[count] = count
    for index in range(count - 1, -1, -1):
        nexts[index] = index if taken[index] else nexts[index + 1]
    for index in range(headings.shape[0] - 1, -1, -1):
        first, last = headings[index, 0], headings[index, 1]
        chance, stays = 0.0, last >= headings[index, 2]
        for at in range(first, last):
            taken[at] = before[at]
            stays |= fixed[at] != 0
            chance = larger(chances[at], chance)
        if not stays:
            nearest = nexts[last] if nexts[last] < following else following
            if nearest == last and chance >= LEAST_HEADING:
                for at in range(first, last):
                    taken[at] = 1
            elif nearest >= headings[index, 2] and chance < SURE_HEADING:
                for at in range(first, last):
                    taken[at] = 0
        if first < last and taken[first]:
            following = first
    return 0


def decide(
    blocks, const double[::1] scores not None, site_stats, parts, wanted not None, double favour, bint wished,
    Py_ssize_t title, double shift, bint repeating,
):
    """Decide what to take of a page."""
    own = content_chances(scores, site_stats, favour, title, wished)
    chances = joint_chances(own, blocks.tokens, parts.units, parts.silent)
    likely, expected, bar = most_f1(chances, blocks.tokens, shift)
    best, once, taken = take(blocks, parts, likely, wanted, chances, title, repeating)
    return Choice(own, chances, likely, best, once, taken, bar, expected)


def verdicts(nodes, blocks, taken not None, const double[::1] chances not None):
    """Return noise and scores by node: an element has the highest score of its text."""
    cdef const int32_t[::1] parents = nodes.columns.parents
    cdef const int64_t[::1] starts = blocks.starts, ends = blocks.ends
    cdef Py_ssize_t index, block, node, count = parents.shape[0]
    cdef const uint8_t[::1] kept = taken.view(np.uint8)
    cdef list texts = nodes.texts, noise = [], by_node = []
    cdef list scores = np.asarray(chances).tolist()  # so that many nodes have one object
    cdef bint fits = kept.shape[0] == starts.shape[0] == ends.shape[0] == chances.shape[0] and len(texts) == count
    cdef int64_t[::1] best = longs(count)  # the block, from 1, that gives a node its score
    cdef uint8_t[::1] holds = marks(count)  # 1: text of a block, 2: text that is kept
    for index in range(1, count):
        fits &= 0 <= parents[index] < index
    check(fits, "the judgement does not fit the blocks")
    for block in range(starts.shape[0]):
        check(0 <= starts[block] and ends[block] <= count, "a block has a node that is not there")
        for node in range(starts[block], ends[block]):
            if len(<str>texts[node]):  # elements have none
                best[node], holds[node] = block + 1, 3 if kept[block] else 1
    for index in range(count - 1, 0, -1):
        node = parents[index]
        holds[node] |= holds[index]
        if best[index] and (not best[node] or chances[best[index] - 1] > chances[best[node] - 1]):
            best[node] = best[index]
    for index in range(count):
        if not holds[index] and index:
            holds[index] = holds[parents[index]] & 2
        noise.append(not holds[index] & 2)
        by_node.append(scores[best[index] - 1] if best[index] else 0.0)
    return noise, by_node
