"""The block-level elements of a page, its lines, what each line measures: ``reference.py``."""

cdef enum:
    IS_INLINE = -1
    IS_TEXT = -2


cdef int check_nodes(const int32_t[::1] tags, const int32_t[::1] parents, const int32_t[::1] ends, Py_ssize_t names) except -1:
    """Raise ValueError unless each node has a tag, stands behind its parent, and ends behind itself."""
    cdef Py_ssize_t index, count = tags.shape[0]
    check(count > 0 and parents.shape[0] == count and ends.shape[0] == count, "the columns do not fit each other")
    cdef bint fits = True
    for index in range(count):
        fits &= 0 <= tags[index] < names and index < ends[index] <= count
        fits &= 0 <= parents[index] < index or index == 0
    return check(fits, "a node has a tag, a parent or an end that is not there")


cdef str heading_of(
    Py_ssize_t index, const int32_t[::1] tags, const int32_t[::1] ends, list texts, const int64_t[:, ::1] meanings
):
    """Return the text of the heading that a node is, or that its text begins with; empty without one."""
    cdef Py_ssize_t at, near = naming.NEAR
    for at in range(index, min(<Py_ssize_t>ends[index], index + near)):
        if meanings[tags[at], 0] == IS_TEXT:
            break
        if meanings[tags[at], 2]:
            return "".join(texts[at : min(<Py_ssize_t>ends[at], at + near)])
    return ""


def blocks_of(nodes, frozenset title not None):
    """Cut the ``nodes`` of a page, whose title has these words, into blocks."""
    columns = nodes.columns
    cdef list texts = nodes.texts, names = columns.names, written = [""], contents
    cdef const int32_t[::1] tags = columns.tags, parents = columns.parents, ends = columns.ends, links = columns.links
    cdef Py_ssize_t count = tags.shape[0], number, size, line_count
    reader = nodes if nodes.compiled is None else nodes.compiled
    check_nodes(tags, parents, ends, len(names))
    check(links.shape[0] == count and len(texts) == count, "the columns of the nodes do not fit each other")
    elements, paths = np.empty((7, count), np.int64), np.empty(count, np.uint32)
    lines = np.empty((3, count), np.int64)  # first nodes, those behind the last, elements
    cdef const int64_t[:, ::1] meanings = np.array(list(map(naming.meaning_of, names)), np.int64)
    cdef int64_t[:, ::1] of_names = np.empty((3, count + 1), np.int64)  # bits of comments, hashes of words, of paths
    size, line_count = elements_of(
        names, texts, (tags, parents, ends), meanings, reader.attributes_of, title, elements, paths, written, of_names, lines
    )
    own, above, places, codes, depths, behind, named = elements[:, :size].copy()
    paths = paths[:size].copy()
    numbers, hashes = np.empty((5, line_count)), np.empty((3, line_count), np.uint32)
    contents = measure_lines(lines[:, :line_count], texts, links, reader.address_of, numbers, hashes)
    size = len(contents)
    starts, stops, homes = lines[:, :size].copy()
    characters, tokens, commas, closed, linked = numbers[:, :size]
    text_hashes, masked_hashes, link_hashes = [column[:size].copy() for column in hashes]
    styles, shapes = np.empty(size, np.uint32), np.empty(size, np.uint32)
    fill_styles(contents, of_names[1], named, homes, above, codes, characters, linked, styles)
    fill_shapes(contents, characters, linked, masked_hashes, homes, codes, shapes)
    around = Elements(
        own, above, starts.searchsorted(own), starts.searchsorted(behind), places, codes, written, named, paths, depths,
    )
    return Blocks(
        contents, starts, stops, homes, characters, linked, tokens, commas, closed, text_hashes, masked_hashes, link_hashes,
        styles, shapes, around,
    )


cdef tuple elements_of(
    list names, list texts, tuple columns, const int64_t[:, ::1] meanings, attributes, frozenset title,
    int64_t[:, ::1] elements, uint32_t[::1] paths, list written, int64_t[:, ::1] of_names, int64_t[:, ::1] lines,
):
    """Fill the columns of block-level elements and of lines; return how many of both there are.

    Of elements these are their nodes, parents, places, tags, depths, ends and the numbers of their classes and ids,
    which are ``written``.
    """
    cdef const int32_t[::1] tags, parents, ends
    tags, parents, ends = columns
    cdef Py_ssize_t index, home, title_at, found = 0, levels = 0, line = -1, count = tags.shape[0], end = count
    cdef Py_ssize_t longest = naming.LONGEST_NAMES, longest_heading = naming.LONGEST_HEADING
    cdef int64_t place, code, number
    cdef int64_t[::1] home_of = longs(count), open_ends = longs(count + 1)
    cdef str class_name, identity, heading, own, alike
    cdef dict numbers = {"": 0}
    cdef bint is_open = False
    spoken_names, read, comments_and_look = naming.spoken_names, naming.READ, naming.comments_and_look
    of_names[0, 0], of_names[1, 0], of_names[2, 0] = 0, comments_and_look("")[1], hash32("")
    # what holds the first h1 is no comment, and its names say nothing of comments
    title_at = first_tagged(names.index("h1") if "h1" in names else -1, tags)
    for index in range(count):
        while index >= end:
            levels -= 1
            end, is_open = open_ends[levels - 1], False
        home = home_of[parents[index]] if index else 0
        code = meanings[tags[index], 0] if index else 0
        if code == IS_TEXT:
            if not is_open:
                line, is_open = line + 1, True
                lines[0, line], lines[2, line] = index, home
            lines[1, line] = index + 1
            continue
        if code == IS_INLINE:
            home_of[index] = home
            continue
        place = elements[2, home] | meanings[tags[index], 1] if index else 0
        number = 0
        has = attributes(index, read)
        if has is not None:
            class_name, identity, bits = has
            place |= <int64_t>bits
            class_name, identity = class_name[:longest], identity[:longest]
            own = f"{class_name} {identity}" if identity else class_name
            if own:
                heading = heading_of(index, tags, ends, texts, meanings)[:longest_heading] if identity else ""
                if heading or meanings[tags[index], 3]:
                    own = spoken_names(names[tags[index]], class_name, identity, heading, title)
                own = own[:longest]
            known = numbers.get(own)
            if known is None:
                alike = with_numbers_alike(own)
                known = numbers.get(alike)
                if known is None:
                    known = numbers[alike] = len(written)
                    written.append(alike)
                    of_names[0, known], of_names[1, known] = comments_and_look(alike)
                    of_names[2, known] = masked_hash(alike, False)
                numbers[own] = known
            number = known
            if not index <= title_at < ends[index]:
                place |= of_names[0, number]
        elements[0, found], elements[1, found] = index, home if index else -1
        elements[2, found], elements[3, found] = place, meanings[tags[index], 0]
        elements[4, found], elements[5, found] = (elements[4, home] + 1 if index else 0), ends[index]
        elements[6, found] = number
        paths[found] = joined(joined(paths[home], meanings[tags[index], 4]), of_names[2, number]) if index else 0
        home_of[index] = found
        found += 1
        end, is_open = ends[index], False
        open_ends[levels] = end
        levels += 1
    return found, line + 1


cdef Py_ssize_t first_tagged(Py_ssize_t tag, const int32_t[::1] tags) noexcept:
    """Return the first node with a tag, or the number of nodes if none has it."""
    cdef Py_ssize_t index
    for index in range(tags.shape[0]):
        if tags[index] == tag:
            return index
    return tags.shape[0]


cdef str COMMAS = shared.COMMAS, SENTENCE_ENDS = shared.SENTENCE_ENDS
cdef Py_ssize_t LONGEST_MASKED = shared.LONGEST_MASKED


cdef list measure_lines(
    int64_t[:, :] lines, list texts, const int32_t[::1] links, address, double[:, ::1] numbers, uint32_t[:, ::1] hashes
):
    """Fill, for each line that has text, its numbers and hashes; return the normalised texts.

    The numbers are its characters, tokens, commas, how it ends, and its linked characters; the hashes those of its
    text, of this with each number alike, of its link. The columns of lines without text are left out.
    """
    cdef Py_ssize_t number, node, first, end, link, linked, row = 0
    cdef uint32_t link_hash
    cdef list written = []
    cdef str text, own
    for number in range(lines.shape[1]):
        first, end = lines[0, number], lines[1, number]
        text = texts[first] if end == first + 1 else "".join(texts[first:end])  # elements have none
        text = measure(text, row, numbers, hashes)
        if not text:
            continue
        linked = link_hash = 0
        for node in range(first, end):
            link, own = links[node], texts[node]
            if link >= 0 and own:
                linked += len(own) - own.count(" ")
                if not link_hash:
                    href = address(link)
                    link_hash = hash32(href) if href else 0
        if linked and (end == first + 1 or linked > numbers[0, row]):
            numbers[4, row] = numbers[0, row]
        else:
            numbers[4, row] = linked
        hashes[2, row] = link_hash
        lines[0, row], lines[1, row], lines[2, row] = first, end, lines[2, number]
        written.append(text)
        row += 1
    return written


cdef str measure(str text, Py_ssize_t row, double[:, ::1] numbers, uint32_t[:, ::1] hashes):
    """Return the normalised text; fill its characters, tokens, commas, how it ends, and its two hashes."""
    cdef Py_ssize_t characters = 0, words = 0, commas = 0, ideographs = 0
    cdef Py_UCS4 one, last = " "
    cdef uint32_t letter
    cdef bint in_word = False, has_number = False
    cdef bint is_odd = False  # the white space before is no single space
    cdef bint is_same = True  # but for white space around the text
    for one in text:
        letter = <uint32_t>one
        if letter == 32 or ((letter < 32 or letter > 127) and one.isspace()):
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
                commas += 1
            elif 48 <= letter <= 57:
                has_number = True
            continue
        if one.isdecimal():
            has_number = True
        commas += one in COMMAS
        ideographs += 0x3040 <= letter <= 0x30FF or 0x3400 <= letter <= 0x9FFF
    if not words:
        return ""
    text = text.strip() if is_same else " ".join(text.split())
    numbers[0, row], numbers[2, row], numbers[3, row] = characters, commas, last in SENTENCE_ENDS
    numbers[1, row] = characters if 3 * ideographs > characters else words
    hashes[0, row] = hash32(text)
    hashes[1, row] = masked_hash(text, True) if has_number and len(text) <= LONGEST_MASKED else hashes[0, row]
    return text


cdef Py_ssize_t mask_numbers(str text, bint is_kept, unsigned char* written) noexcept:
    """Write an ASCII text with one 0 in the place of each number, or nothing if none ``is_kept``; return its size."""
    cdef const unsigned char* letters = <const unsigned char*>PyUnicode_DATA(text)
    cdef Py_ssize_t at, size = 0
    cdef bint in_number = False
    for at in range(len(text)):
        if 48 <= letters[at] <= 57:
            written[size] = 48
            size += is_kept and not in_number
            in_number = True
        else:
            in_number, written[size] = False, letters[at]
            size += 1
    return size


cdef uint32_t masked_hash(str text, bint is_kept) except? 0:
    """Return the hash of a text with its numbers masked. Most are ASCII, and no object is made."""
    cdef unsigned char written[256]
    if len(text) > 256 or not PyUnicode_IS_ASCII(text):
        return hash32(naming.DIGITS.sub("0" if is_kept else "", text))
    return hash_bytes(written, mask_numbers(text, is_kept, written))


cdef str with_numbers_alike(str names):
    """Return a class and id with one 0 in the place of each number: of the ids of posts, the words remain."""
    cdef unsigned char written[256]
    if len(names) > 256 or not PyUnicode_IS_ASCII(names):
        return naming.DIGITS.sub("0", names)
    return (<char*>written)[:mask_numbers(names, True, written)].decode("ascii")


cdef int fill_styles(
    list texts, const int64_t[::1] looks, const int64_t[::1] named, const int64_t[::1] homes, const int64_t[::1] parents,
    const int64_t[::1] tags, const double[::1] characters, const double[::1] linked, uint32_t[::1] styles,
) except -1:
    """Fill ``styles`` with the hash of what each block looks like.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether
    it is all capitals, and how long it is, roughly.
    """
    cdef Py_ssize_t index, element, last = -1
    cdef uint64_t look = 0, own
    cdef double length, all_linked = shared.STYLE_LINKED
    lengths = shared.STYLE_LENGTHS
    for index in range(homes.shape[0]):
        element = homes[index]
        if element != last:
            look = <uint64_t>looks[named[element]] * 33 + <uint64_t>looks[named[max(parents[element], 0)]]
            look, last = look * 64 + <uint64_t>tags[element], element
        own = 1 if linked[index] >= all_linked * larger(characters[index], 1.0) else 0
        own += 2 if (<str>texts[index]).isupper() else 0
        for length in lengths:
            own += 4 if characters[index] >= length else 0
        styles[index] = <uint32_t>(((look * 16 + own + 1) * SPREAD) >> 32)
    return 0


cdef int fill_shapes(
    list texts, const double[::1] characters, const double[::1] linked, const uint32_t[::1] masked,
    const int64_t[::1] homes, const int64_t[::1] tags, uint32_t[::1] shapes,
) except -1:
    """Fill ``shapes`` with the hash of what each text has in common with its like on other pages.

    That is the text with all numbers alike ("updated on 3 May" and "updated on 7 May"); of a text that ends with
    a link, what stands before it ("Read more: …"); of one that quotes the page's heading, what stands around it
    ("Read all reviews of …").
    """
    cdef Py_ssize_t index, before, longest
    cdef Py_ssize_t least_label = shared.LEAST_LABEL, longest_label = shared.LONGEST_LABEL
    cdef double least_heading = shared.LEAST_HEADING
    cdef int64_t heading = shared.H1
    cdef str text, quoted = ""
    label_hash = naming.label_hash
    for index in range(homes.shape[0]):
        if tags[homes[index]] == heading and characters[index] >= least_heading:
            quoted = texts[index]
            break
    longest = len(quoted) + longest_label
    for index in range(homes.shape[0]):
        shapes[index] = masked[index]
        text = texts[index]
        if quoted and len(quoted) < len(text) <= longest and quoted in text:
            shapes[index] = label_hash(" … ".join(text.split(quoted)))
        elif linked[index] > 0.0:
            before = <Py_ssize_t>(characters[index] - linked[index])
            if least_label <= before <= longest_label:
                shapes[index] = label_hash("".join(text.split())[:before])
    return 0
