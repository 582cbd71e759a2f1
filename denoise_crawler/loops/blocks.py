"""The blocks of a page: its block-level elements, its lines, what each line measures, and verdicts by node."""

from __future__ import annotations

from denoise_crawler.loops import cython
from denoise_crawler.loops.hashes import hash32
from denoise_crawler.loops.keys import check


def check_nodes(
    names: cython.Py_ssize_t,
    tags: cython.const[cython.int][::1],
    parents: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
):
    """Raise ValueError unless each node has a tag, stands behind its parent, and ends behind itself."""
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = tags.shape[0]
    fits: cython.bint = count > 0 and parents.shape[0] == count and ends.shape[0] == count
    check(fits, "the columns of the nodes do not fit each other")
    for index in range(count):
        fits &= 0 <= tags[index] < names and index < ends[index] <= count
        fits &= 0 <= parents[index] < index or index == 0
    check(fits, "a node has a tag, a parent or an end that is not there")


@cython.cfunc
def heading_of(
    index: cython.Py_ssize_t,
    tags: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    texts: list,
    meanings: cython.const[cython.longlong][:, ::1],
    near: cython.Py_ssize_t,
):
    """Return the text of the heading that a node is, or that its text begins with; empty without one."""
    at: cython.Py_ssize_t
    last: cython.Py_ssize_t = min(ends[index], index + near)
    end: cython.Py_ssize_t
    for at in range(index, last):
        if meanings[0, tags[at]] == -2:
            break
        if meanings[2, tags[at]]:
            end = min(ends[at], at + near)
            return "".join(texts[at:end])
    return ""


@cython.cfunc
def first_tagged(name: str, names: list, tags: cython.const[cython.int][::1]) -> cython.Py_ssize_t:
    """Return the first node with a tag, or the number of nodes if none has it."""
    index: cython.Py_ssize_t
    tag: cython.Py_ssize_t = names.index(name) if name in names else -1
    for index in range(tags.shape[0]):
        if tags[index] == tag:
            return index
    return tags.shape[0]


def walk(
    names: list,
    tags: cython.const[cython.int][::1],
    parents: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    texts: list,
    meanings: cython.const[cython.longlong][:, ::1],
    attributes,
    rules: tuple,
    title,
    elements: cython.longlong[:, ::1],
    paths: cython.uint[::1],
    homes: cython.longlong[::1],
):
    """Fill the columns of the block-level elements, and the home of each line.

    Args:
        names: The tags there are.
        tags: By node, which of these it has.
        parents: By node, its parent.
        ends: By node, the node behind its subtree.
        texts: By node, its text.
        meanings: By tag its code (−1 of inline elements, −2 of text), the bits of the places it makes, whether it
            is a heading's, whether its class and id are made from the page's title.
        attributes: Returns the class and id of a node, and the bits of its other attributes; None if it has none.
        rules: What returns class and id without the words that heading and title gave them; what returns the bits
            that class and id make, and both without digits; the most characters of class and id, of a heading;
            how many nodes on an element begins with its heading; what reads the other attributes.
        title: The words of the page's title.
        elements: Filled with the elements' nodes, parents, places, tags, depths and ends.
        paths: Filled with the elements' paths.
        homes: Filled with the element that each line stands in.

    Returns:
        The lines (their text nodes), and the class and id of each element.

    """
    count: cython.Py_ssize_t = tags.shape[0]
    fits: cython.bint = elements.shape[0] == 6 and elements.shape[1] == count and paths.shape[0] == count
    fits &= homes.shape[0] == count and len(texts) == count
    fits &= meanings.shape[0] == 4 and meanings.shape[1] == len(names)
    check(fits, "the columns do not fit each other")
    check_nodes(len(names), tags, parents, ends)
    index: cython.Py_ssize_t
    home: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = count
    levels: cython.Py_ssize_t = 0
    longest: cython.Py_ssize_t = rules[2]
    longest_heading: cython.Py_ssize_t = rules[3]
    near: cython.Py_ssize_t = rules[4]
    place: cython.longlong
    code: cython.longlong
    home_of: cython.int[::1] = memoryview(bytearray(4 * count)).cast("i")
    open_ends: cython.int[::1] = memoryview(bytearray(4 * count)).cast("i")
    lines: list = []
    written: list = []
    line: list = []
    class_name: str
    identity: str
    heading: str
    own: str
    is_open: cython.bint = False
    spoken, said, readers = rules[0], rules[1], rules[5]
    # what holds the first h1 is no comment, and its names say nothing of comments
    title_at: cython.Py_ssize_t = first_tagged("h1", names, tags)
    for index in range(count):
        while index >= end:
            levels -= 1
            end, is_open = open_ends[levels - 1], False
        home = home_of[parents[index]] if index else 0
        code = meanings[0, tags[index]] if index else 0
        if code == -2:
            if not is_open:
                line, is_open = [], True
                homes[len(lines)] = home
                lines.append(line)
            line.append(index)
            continue
        if code == -1:
            home_of[index] = home
            continue
        place = (elements[2, home] | meanings[1, tags[index]]) if index else 0
        has = attributes(index, readers)
        own = without_digits = ""
        if has is not None:
            class_name, identity, bits = has
            place |= bits
            class_name, identity = class_name[:longest], identity[:longest]
            own = f"{class_name} {identity}" if identity else class_name
            if own:
                heading = ""
                if identity:
                    heading = heading_of(index, tags, ends, texts, meanings, near)[:longest_heading]
                if heading or meanings[3, tags[index]]:
                    own = spoken(names[tags[index]], class_name, identity, heading, title)
                own = own[:longest]
            if own:
                bits, without_digits = said(own)
                if not index <= title_at < ends[index]:
                    place |= bits
        elements[0, found], elements[1, found] = index, home if index else -1
        elements[2, found], elements[3, found] = place, meanings[0, tags[index]]
        elements[4, found], elements[5, found] = (elements[4, home] + 1 if index else 0), ends[index]
        paths[found] = hash32(f"{paths[home]} {names[tags[index]]} {without_digits}") if index else 0
        home_of[index] = found
        written.append(own)
        found += 1
        end, is_open = ends[index], False
        open_ends[levels] = end
        levels += 1
    return lines, written


@cython.cfunc
def masked(text: str):
    """Return a text with one 0 in the place of each number."""
    at: cython.Py_ssize_t
    start: cython.Py_ssize_t = 0
    one: cython.Py_UCS4
    in_number: cython.bint = False
    parts: list = []
    for at in range(len(text)):
        one = text[at]
        if 48 <= ord(one) <= 57 or (ord(one) > 127 and one.isdecimal()):
            if not in_number:
                parts.append(text[start:at])
            in_number, start = True, at + 1
        else:
            in_number = False
    parts.append(text[start:])
    return "0".join(parts)


@cython.cfunc
def measure(
    text: str,
    row: cython.Py_ssize_t,
    letters: tuple,
    longest_masked: cython.Py_ssize_t,
    numbers: cython.double[:, ::1],
    hashes: cython.uint[:, ::1],
):
    """Return the normalised text; fill its characters, tokens, commas, how it ends, and its two hashes."""
    commas: str = letters[0]
    ends: str = letters[1]
    characters: cython.Py_ssize_t = 0
    words: cython.Py_ssize_t = 0
    found: cython.Py_ssize_t = 0
    ideographs: cython.Py_ssize_t = 0
    one: cython.Py_UCS4
    last: cython.Py_UCS4 = " "
    letter: cython.uint
    in_word: cython.bint = False
    has_number: cython.bint = False
    is_odd: cython.bint = False  # the white space before is no single space
    is_same: cython.bint = True  # but for white space around the text
    for one in text:
        letter = ord(one)
        if letter == 32 or one.isspace():
            is_odd |= letter != 32 or not in_word
            in_word = False
            continue
        if not in_word:
            is_same &= not is_odd or not words
            words += 1
            in_word, is_odd = True, False
        characters += 1
        last = one
        if letter < 128:
            if letter == 44:
                found += 1
            elif 48 <= letter <= 57:
                has_number = True
            continue
        has_number |= one.isdecimal()
        found += one in commas
        ideographs += 0x3040 <= letter <= 0x30FF or 0x3400 <= letter <= 0x9FFF
    if not words:
        return ""
    text = text.strip() if is_same else " ".join(text.split())
    numbers[0, row], numbers[2, row], numbers[3, row] = characters, found, last in ends
    numbers[1, row] = characters if 3 * ideographs > characters else words
    hashes[0, row] = hash32(text)
    hashes[1, row] = hash32(masked(text)) if has_number and len(text) <= longest_masked else hashes[0, row]
    return text


def measure_lines(
    lines: list,
    texts: list,
    links: cython.const[cython.int][::1],
    address,
    letters: tuple,
    longest_masked: cython.Py_ssize_t,
    numbers: cython.double[:, ::1],
    hashes: cython.uint[:, ::1],
    firsts: cython.longlong[::1],
):
    """Measure the lines of a page.

    Args:
        lines: The text nodes of each line.
        texts: By node, its text.
        links: By node, the link it stands in, −1 without one.
        address: Returns the address of a link, None without one.
        letters: The commas of all scripts, and what a sentence may end with.
        longest_masked: How many characters a text may have whose numbers are masked.
        numbers: Filled, for each line that has text, with its characters, tokens, commas, how it ends, and its
            linked characters.
        hashes: Filled with the hashes of these lines' texts, of these with each number alike, of their links.
        firsts: Filled with the first node of each of these lines.

    Returns:
        The normalised texts, and the numbers of the lines that have text.

    """
    number: cython.Py_ssize_t
    node: cython.Py_ssize_t
    link: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(lines)
    row: cython.Py_ssize_t = 0
    linked: cython.Py_ssize_t
    link_hash: cython.uint
    line: list
    text: str
    written: list = []
    kept: list = []
    fits: cython.bint = numbers.shape[0] == 5 and hashes.shape[0] == 3 and links.shape[0] == len(texts)
    fits &= numbers.shape[1] == count and hashes.shape[1] == count and firsts.shape[0] == count
    check(fits, "the tables do not fit the lines")
    for number in range(count):
        line = lines[number]
        text = texts[line[0]] if len(line) == 1 else "".join([texts[one] for one in line])
        text = measure(text, row, letters, longest_masked, numbers, hashes)
        if not text:
            continue
        linked = link_hash = 0
        for node in line:
            link = links[node]
            if link >= 0:
                own: str = texts[node]
                linked += len(own) - own.count(" ")
                if not link_hash:
                    href = address(link)
                    link_hash = hash32(href) if href else 0
        if linked and (len(line) == 1 or linked > numbers[0, row]):
            numbers[4, row] = numbers[0, row]
        else:
            numbers[4, row] = linked
        hashes[2, row], firsts[row] = link_hash, line[0]
        written.append(text)
        kept.append(number)
        row += 1
    return written, kept


def judged(
    parents: cython.const[cython.int][::1],
    lines: list,
    taken: cython.const[cython.uchar][::1],
    chances: cython.const[cython.double][::1],
    scores: list,
):
    """Return noise and scores by node: an element has the highest score of its text.

    An element is noise if all its text is; one without text goes with its parent.

    Args:
        parents: By node, its parent.
        lines: The text nodes of each block.
        taken: Whether each block is taken.
        chances: How likely each block is content.
        scores: The same as objects, so that many nodes have one.

    """
    count: cython.Py_ssize_t = parents.shape[0]
    index: cython.Py_ssize_t
    block: cython.Py_ssize_t
    node: cython.Py_ssize_t
    line: list
    fits: cython.bint = taken.shape[0] == len(lines) and chances.shape[0] == len(lines)
    fits &= len(scores) == len(lines)
    for index in range(1, count):
        fits &= 0 <= parents[index] < index
    check(fits, "the judgement does not fit the blocks")
    best: cython.int[::1] = memoryview(bytearray(4 * count)).cast(
        "i"
    )  # the block, from 1, that gives a node its score
    holds: cython.uchar[::1] = bytearray(count)  # 1: text of a block, 2: text that is kept
    for block in range(taken.shape[0]):
        line = lines[block]
        for node in line:
            if not 0 <= node < count:
                raise ValueError("a block has a node that is not there")
            best[node], holds[node] = block + 1, 3 if taken[block] else 1
    for index in range(count - 1, 0, -1):
        node = parents[index]
        holds[node] |= holds[index]
        if best[index] and (not best[node] or chances[best[index] - 1] > chances[best[node] - 1]):
            best[node] = best[index]
    noise: list = []
    by_node: list = []
    for index in range(count):
        if not holds[index] and index:
            holds[index] = holds[parents[index]] & 2
        noise.append(not holds[index] & 2)
        by_node.append(scores[best[index] - 1] if best[index] else 0.0)
    return noise, by_node
