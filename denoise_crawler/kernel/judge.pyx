# cython: language_level=3, wraparound=False, cdivision=True
"""The heart, compiled: what ``reference`` specifies, to the last bit.

The columns that come from Python are looked at once, where a function begins; all that follows trusts them. Tables
of hashes have a seed of their process, so that no page can choose hashes that meet in few slots.
"""

from os import urandom

import numpy as np
from xxhash import xxh3_64_intdigest

from cpython cimport array
from libc.math cimport exp, fabs, llrint, log, log1p
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel import names as naming
from denoise_crawler.kernel.columns import Blocks, Choice, Elements, Headline, SiteStats
from denoise_crawler.kernel.reference_text import rules_of  # sites have few style sheets

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    void* PyUnicode_DATA(object text)

cdef double UNSAID = shared.UNSAID
cdef double HUNDREDTHS = shared.HUNDREDTHS
cdef uint64_t SPREAD = shared.SPREAD


cdef int check(bint fits, str message) except -1:
    """Raise ValueError unless the columns fit: what follows reads and writes where these say."""
    if not fits:
        raise ValueError(message)
    return 0


# columns of zeros for a moment: an array of numpy costs twice as much
# an empty array has no memory: to fill it would be undefined
cdef array.array NO_DOUBLES = array.array("d"), NO_LONGS = array.array("q"), NO_MARKS = array.array("B")


cdef double[::1] doubles(Py_ssize_t count):
    return array.clone(NO_DOUBLES, count, count > 0)


cdef int64_t[::1] longs(Py_ssize_t count):
    return array.clone(NO_LONGS, count, count > 0)


cdef uint8_t[::1] marks(Py_ssize_t count):
    return array.clone(NO_MARKS, count, count > 0)


# --- hashes: XXH3 of 64 bits without a seed (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), for machines
# that store the lowest byte first. That of more than 240 bytes is left to the package ``xxhash``, as all in ``hashes``.

cdef uint64_t PRIME64_1 = 0x9E3779B185EBCA87U, PRIME64_2 = 0xC2B2AE3D27D4EB4FU, PRIME64_3 = 0x165667B19E3779F9U
cdef bytes SECRET_BYTES = bytes.fromhex(  # as the algorithm has it, as far as it is needed
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
)
cdef unsigned char SECRET[144]
memcpy(SECRET, <const unsigned char*>SECRET_BYTES, 144)


cdef inline uint64_t read64(const unsigned char* data) noexcept nogil:
    cdef uint64_t number
    memcpy(&number, data, 8)
    return number


cdef inline uint64_t read32(const unsigned char* data) noexcept nogil:
    cdef uint32_t number
    memcpy(&number, data, 4)
    return number


cdef inline uint64_t rotated(uint64_t number, int bits) noexcept nogil:
    return (number << bits) | (number >> (64 - bits))


cdef inline uint64_t swapped(uint64_t number) noexcept nogil:
    number = ((number & 0x00FF00FF00FF00FFU) << 8) | ((number >> 8) & 0x00FF00FF00FF00FFU)
    number = ((number & 0x0000FFFF0000FFFFU) << 16) | ((number >> 16) & 0x0000FFFF0000FFFFU)
    return (number << 32) | (number >> 32)


cdef inline uint64_t folded(uint64_t one, uint64_t other) noexcept nogil:
    """Return both halves of a product of 128 bits, one xor the other."""
    cdef uint64_t low = (one & 0xFFFFFFFFU) * (other & 0xFFFFFFFFU)
    cdef uint64_t cross = (one >> 32) * (other & 0xFFFFFFFFU)
    cdef uint64_t other_cross = (one & 0xFFFFFFFFU) * (other >> 32)
    cdef uint64_t high = (one >> 32) * (other >> 32)
    cdef uint64_t middle = (low >> 32) + (cross & 0xFFFFFFFFU) + other_cross
    return ((middle << 32) | (low & 0xFFFFFFFFU)) ^ (high + (cross >> 32) + (middle >> 32))


cdef inline uint64_t avalanche(uint64_t number) noexcept nogil:
    number ^= number >> 37
    number *= 0x165667919E3779F9U
    return number ^ (number >> 32)


cdef inline uint64_t avalanche64(uint64_t number) noexcept nogil:
    number ^= number >> 33
    number *= PRIME64_2
    number ^= number >> 29
    number *= PRIME64_3
    return number ^ (number >> 32)


cdef inline uint64_t mixed(const unsigned char* data, const unsigned char* secret) noexcept nogil:
    return folded(read64(data) ^ read64(secret), read64(data + 8) ^ read64(secret + 8))


cdef inline uint64_t hash_short(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    """Hash at most 16 bytes."""
    cdef uint64_t low, high, number
    if size > 8:
        low = read64(data) ^ read64(SECRET + 24) ^ read64(SECRET + 32)
        high = read64(data + size - 8) ^ read64(SECRET + 40) ^ read64(SECRET + 48)
        return avalanche(<uint64_t>size + swapped(low) + high + folded(low, high))
    if size > 3:
        number = read32(data + size - 4) + (read32(data) << 32)
        number ^= read64(SECRET + 8) ^ read64(SECRET + 16)
        number ^= rotated(number, 49) ^ rotated(number, 24)
        number *= 0x9FB21C651E98DF25U
        number ^= (number >> 35) + <uint64_t>size
        number *= 0x9FB21C651E98DF25U
        return number ^ (number >> 28)
    if size:
        number = (<uint64_t>data[0] << 16) | (<uint64_t>data[size >> 1] << 24) | data[size - 1] | (<uint64_t>size << 8)
        return avalanche64(number ^ read32(SECRET) ^ read32(SECRET + 4))
    return avalanche64(read64(SECRET + 56) ^ read64(SECRET + 64))


cdef inline uint64_t hash_middle(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    """Hash 17 to 240 bytes."""
    cdef uint64_t sum = <uint64_t>size * PRIME64_1
    cdef Py_ssize_t step
    if size <= 128:
        for step in range((size - 1) // 32, -1, -1):
            sum += mixed(data + 16 * step, SECRET + 32 * step)
            sum += mixed(data + size - 16 * (step + 1), SECRET + 32 * step + 16)
        return avalanche(sum)
    for step in range(8):
        sum += mixed(data + 16 * step, SECRET + 16 * step)
    sum = avalanche(sum)
    for step in range(8, size // 16):
        sum += mixed(data + 16 * step, SECRET + 16 * (step - 8) + 3)
    return avalanche(sum + mixed(data + size - 16, SECRET + 136 - 17))


cdef uint64_t hash_bytes(const unsigned char* data, Py_ssize_t size) except? 0:
    if size <= 16:
        return hash_short(data, size)
    return hash_middle(data, size) if size <= 240 else xxh3_64_intdigest(data[:size])


def hash64(bytes data not None):
    """Return the hash of ``data``."""
    return hash_bytes(data, len(data))


cdef uint32_t hash32(str text) except? 0:
    """Return the low half of the hash of a text, in UTF-8."""
    cdef bytes data
    if PyUnicode_IS_ASCII(text):
        return <uint32_t>hash_bytes(<const unsigned char*>PyUnicode_DATA(text), len(text))
    data = text.encode("utf-8", "surrogatepass")
    return <uint32_t>hash_bytes(data, len(data))


# --- keys that are equal, and hashes by number: tables of open addressing

cdef uint64_t multiplier = int.from_bytes(urandom(8), "little") | 1


cdef inline Py_ssize_t slot_of(uint64_t key, int bits) noexcept nogil:
    """Return the slot of a key among 2**bits."""
    key *= multiplier
    key = (key ^ (key >> 32)) * multiplier  # so that keys at even distances are spread as well,
    key = (key ^ (key >> 32)) * multiplier  # and keys that differ in their highest bits only
    return <Py_ssize_t>(key >> (64 - bits))


def slots_of(const uint64_t[::1] keys not None, int bits):
    """Return the slot of each key among ``2 ** bits``."""
    check(1 <= bits <= 63, "there is no such number of slots")
    return [slot_of(keys[index], bits) for index in range(keys.shape[0])]


cdef Py_ssize_t group(const int64_t[::1] keys, int64_t[::1] first, int64_t[::1] of) except -1:
    """Fill ``first`` by group of equal ``keys`` with its first row, ``of`` by row with its group.

    Return how many groups there are. They are numbered as they come.
    """
    cdef Py_ssize_t row, slot, size = 16, groups = 0, count = keys.shape[0]
    cdef int bits = 4
    while size < 2 * count:
        size, bits = 2 * size, bits + 1
    cdef int64_t[::1] slots = longs(size)  # 1 + the first row with a key
    for row in range(count):
        slot = slot_of(keys[row], bits)
        while slots[slot] and keys[slots[slot] - 1] != keys[row]:
            slot = (slot + 1) & (size - 1)
        if slots[slot]:
            of[row] = of[slots[slot] - 1]
        else:
            slots[slot] = row + 1
            of[row] = groups
            first[groups] = row
            groups += 1
    return groups


cdef const int64_t[::1] highest_first(const double[::1] numbers):
    """Return the rows of ``numbers``, the highest first; equal ones in their order."""
    return np.negative(numbers).argsort(kind="stable")


# --- the columns of a page, as all that follows reads them

cdef class Page:
    """The columns of a page's blocks and of the elements around them, which fit each other."""

    cdef Py_ssize_t count, size  # blocks, elements
    cdef list contents  # the texts of the blocks
    cdef const double[::1] characters, linked, tokens, commas, closed
    cdef const int64_t[::1] homes, parents, first, last, places, tags, depths
    cdef const uint32_t[::1] texts, masked, links, styles, shapes, paths
    cdef list small  # the texts in small letters
    cdef double[:, ::1] running  # sums of characters and of those inside links
    cdef int64_t[::1] path_of  # by block, the number of its path
    cdef Py_ssize_t path_count

    def __cinit__(self, blocks):
        around = blocks.around
        self.contents, self.homes, self.characters, self.linked = (
            blocks.texts, blocks.elements, blocks.characters, blocks.linked
        )
        self.tokens, self.commas, self.closed = blocks.tokens, blocks.commas, blocks.closed
        self.texts, self.masked, self.links = blocks.text_hashes, blocks.masked_hashes, blocks.link_hashes
        self.styles, self.shapes = blocks.styles, blocks.shapes
        self.parents, self.first, self.last, self.places = around.parents, around.first, around.last, around.places
        self.tags, self.depths, self.paths = around.tags, around.depths, around.paths
        self.count, self.size = self.homes.shape[0], self.parents.shape[0]
        self.running = self.path_of = None
        for column in (
            blocks.texts, blocks.characters, blocks.linked, blocks.tokens, blocks.commas, blocks.closed,
            blocks.text_hashes, blocks.masked_hashes, blocks.link_hashes, blocks.styles, blocks.shapes,
        ):
            check(len(column) == self.count, "the columns of the blocks do not fit each other")
        for column in (around.first, around.last, around.places, around.tags, around.depths, around.paths):
            check(len(column) == self.size, "the columns of the elements do not fit each other")
        self.check_places()

    cdef int check_places(self) except -1:
        cdef Py_ssize_t index
        cdef bint fits = self.size > 0 and self.parents[0] == -1
        for index in range(self.size):
            fits &= 0 <= self.parents[index] < index or index == 0
            fits &= 0 <= self.first[index] <= self.last[index] <= self.count
        for index in range(self.count):
            fits &= 0 <= self.homes[index] < self.size
        return check(fits, "a block or an element stands in one that is not there")

    cdef list in_small_letters(self):
        """Return the texts in small letters."""
        if self.small is None:
            self.small = [(<str>text).lower() for text in self.contents]
        return self.small

    cdef double[:, ::1] so_far(self):
        """Return the running sums of characters and of those inside links, which begin with 0."""
        cdef Py_ssize_t index
        if self.running is None:
            self.running = np.zeros((2, self.count + 1))
            for index in range(self.count):
                self.running[0, index + 1] = self.running[0, index] + self.characters[index]
                self.running[1, index + 1] = self.running[1, index] + self.linked[index]
        return self.running

    cdef int64_t[::1] by_path(self):
        """Return by block the number of its path, from 0 up to ``path_count``."""
        cdef Py_ssize_t index
        cdef int64_t[::1] keys
        if self.path_of is None:
            keys, self.path_of = longs(self.count), longs(self.count)
            for index in range(self.count):
                keys[index] = self.paths[self.homes[index]]
            self.path_count = group(keys, longs(self.count), self.path_of)
        return self.path_of

    cdef double[:, ::1] below(self, double[:, ::1] so_far):
        """Return by element its characters and those inside links."""
        cdef Py_ssize_t index
        cdef double[:, ::1] sums = np.zeros((2, self.size))
        for index in range(self.size):
            sums[0, index] = so_far[0, self.last[index]] - so_far[0, self.first[index]]
            sums[1, index] = so_far[1, self.last[index]] - so_far[1, self.first[index]]
        return sums


cdef Page page_of(blocks, Py_ssize_t count=-1):
    """Return the columns of a page, which keeps them; it must have as many blocks as another column."""
    page = blocks.__dict__.get("read")
    if page is None:
        page = blocks.__dict__["read"] = Page(blocks)
    check(count < 0 or (<Page>page).count == count, "the columns do not fit the page")
    return page


# --- blocks: the block-level elements of a page, its lines, what each line measures

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
    cdef int64_t[:, ::1] meanings = np.empty((len(names), 4), np.int64)
    for number in range(len(names)):
        meanings[number, 0], meanings[number, 1], meanings[number, 2], meanings[number, 3] = naming.meaning_of(names[number])
    size, line_count = elements_of(
        names, texts, (tags, parents, ends), meanings, reader.attributes_of, title, elements, paths, written, lines
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
    fill_styles(contents, written, named, homes, above, codes, characters, linked, styles)
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
    int64_t[:, ::1] elements, uint32_t[::1] paths, list written, int64_t[:, ::1] lines,
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
    cdef str class_name, identity, heading, own
    cdef dict numbers = {"": 0}
    cdef list comments = [0], without_digits = [""]  # by number
    cdef bint is_open = False
    comments_and_labels, spoken_names, read = naming.comments_and_labels, naming.spoken_names, naming.READ
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
                known = numbers[own] = len(written)
                written.append(own)
                bits, label = comments_and_labels[own]
                comments.append(bits)
                without_digits.append(label)
            number = known
            if not index <= title_at < ends[index]:
                place |= <int64_t>comments[number]
        elements[0, found], elements[1, found] = index, home if index else -1
        elements[2, found], elements[3, found] = place, meanings[tags[index], 0]
        elements[4, found], elements[5, found] = (elements[4, home] + 1 if index else 0), ends[index]
        elements[6, found] = number
        paths[found] = path_hash(paths[home], names[tags[index]], without_digits[number]) if index else 0
        home_of[index] = found
        found += 1
        end, is_open = ends[index], False
        open_ends[levels] = end
        levels += 1
    return found, line + 1


cdef enum:
    LONGEST_STEP = 1200  # letters


cdef uint32_t path_hash(uint32_t above, str tag, str names) except? 0:
    """Return the hash of a path: of that of the path above, a tag and names. Most are ASCII, and no object is made."""
    cdef unsigned char step[LONGEST_STEP + 12]
    cdef Py_ssize_t at = 10, of_tag = len(tag), of_names = len(names)
    if of_tag + of_names > LONGEST_STEP or not PyUnicode_IS_ASCII(tag) or not PyUnicode_IS_ASCII(names):
        return hash32(f"{above} {tag} {names}")
    memcpy(step + 11, PyUnicode_DATA(tag), of_tag)
    memcpy(step + 12 + of_tag, PyUnicode_DATA(names), of_names)
    step[10] = step[11 + of_tag] = b" "
    while True:
        at -= 1
        step[at] = 48 + above % 10
        above //= 10
        if not above:
            return <uint32_t>hash_bytes(step + at, 12 + of_tag + of_names - at)


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
    hashes[1, row] = masked_hash(text) if has_number and len(text) <= LONGEST_MASKED else hashes[0, row]
    return text


cdef uint32_t masked_hash(str text) except? 0:
    """Return the hash of a text with one 0 in the place of each number. Most are ASCII, and no object is made."""
    cdef unsigned char written[256]
    cdef const unsigned char* letters
    cdef Py_ssize_t at, size = 0
    cdef bint in_number = False
    if len(text) > 256 or not PyUnicode_IS_ASCII(text):
        return hash32(naming.DIGITS.sub("0", text))
    letters = <const unsigned char*>PyUnicode_DATA(text)
    for at in range(len(text)):
        if 48 <= letters[at] <= 57:
            size += not in_number
            in_number, written[size - 1] = True, 48
        else:
            in_number, written[size] = False, letters[at]
            size += 1
    return <uint32_t>hash_bytes(written, size)


cdef int fill_styles(
    list texts, list names, const int64_t[::1] named, const int64_t[::1] homes, const int64_t[::1] parents,
    const int64_t[::1] tags, const double[::1] characters, const double[::1] linked, uint32_t[::1] styles,
) except -1:
    """Fill ``styles`` with the hash of what each block looks like.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether
    it is all capitals, and how long it is, roughly.
    """
    cdef Py_ssize_t index, element, above, last = -1, last_above = -1
    cdef uint64_t look = 0, own
    cdef double length, all_linked = shared.STYLE_LINKED
    look_of, lengths = naming.look_of, shared.STYLE_LENGTHS
    for index in range(homes.shape[0]):
        element = homes[index]
        above = named[max(parents[element], 0)]
        if last < 0 or tags[element] != tags[last] or named[element] != named[last] or above != last_above:
            look = look_of(tags[element], names[named[element]], names[above])
        last, last_above = element, above
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


# --- calls on the reader

cdef enum:
    CALL_KEYS = 4096


cdef struct Stem:
    int sign, size, following  # by number: its sign, its letters, the next stem that may begin with the same two
    uint32_t third  # its third letter, 0 if it has two


cdef list SIGNS = list(naming.CALLS), STEMS = [one for some in naming.CALLS.values() for one in some]
cdef Stem[256] stems
cdef int[CALL_KEYS] first_stem  # by the key of two letters, 1 + the first stem that may begin with them


cdef inline uint32_t call_key(Py_UCS4 one, Py_UCS4 two) noexcept nogil:
    return (<uint32_t>one * 31 + <uint32_t>two) % CALL_KEYS


cdef int number_stems() except -1:
    cdef int number = 0, sign
    cdef uint32_t key
    cdef str stem
    check(len(STEMS) <= 256, "there are too many stems")
    for sign in range(<int>len(SIGNS)):
        for stem in naming.CALLS[SIGNS[sign]]:
            key = call_key(stem[0], stem[1])
            stems[number].sign, stems[number].size, stems[number].following = sign, <int>len(stem), first_stem[key]
            stems[number].third = <uint32_t><Py_UCS4>stem[2] if len(stem) > 2 else 0
            number += 1
            first_stem[key] = number
    return 0


number_stems()


def calls_in(blocks):
    """Return the calls on the reader: those of each block, of which some count, and those in the box around it."""
    cdef Page page = page_of(blocks)
    cdef Py_ssize_t index, at, most = naming.LONGEST_CALL, begin = 0
    cdef int number
    cdef int64_t there = 1  # the signs that are on the page, a bit each; the first is in any
    cdef Py_UCS4 before, letter
    cdef str text
    cdef list lines = [
        small if len(one) <= most else "" for one, small in zip(page.contents, page.in_small_letters())
    ]
    cdef int64_t[::1] ends = longs(len(STEMS))  # by stem, where it ended last
    table = np.zeros((2, page.count), np.float32)
    cdef float[:, ::1] calls = table
    for index in range(len(lines)):
        text = lines[index]
        if not PyUnicode_IS_ASCII(text):
            for number in range(1, <int>len(SIGNS)):
                if <str>SIGNS[number] in text:
                    there |= <int64_t>1 << number
    for index in range(len(lines)):
        text, before, at = lines[index], 0, -1
        for letter in text:
            number = first_stem[call_key(before, letter)]
            while number:
                number -= 1
                if (
                    (not stems[number].third or (at + 2 < len(text) and <uint32_t>text[at + 2] == stems[number].third))
                    and at >= 0 and there >> stems[number].sign & 1 and begin + at >= ends[number]
                    and text.startswith(<str>STEMS[number], at)
                ):
                    calls[0, index] += 1.0
                    ends[number] = begin + at + stems[number].size
                number = stems[number].following
            before = letter
            at += 1
        begin += len(text)
    fill_calls_around(calls, page)
    return table


cdef int fill_calls_around(float[:, ::1] calls, Page page) except -1:
    """Bound the calls of each block, and add up those in the element above its own, if that is a box."""
    cdef Py_ssize_t index, above
    cdef double most = naming.MOST_CALLS, box = naming.BOX
    cdef double[:, ::1] so_far = page.so_far()
    cdef double[::1] held = doubles(page.count + 1)
    for index in range(page.count):
        calls[0, index] = within(calls[0, index], 0.0, most)
        held[index + 1] = held[index] + calls[0, index]
    for index in range(page.count if held[page.count] else 0):
        above = max(page.parents[page.homes[index]], 0)
        calls[1, index] = calls[0, index]
        if so_far[0, page.last[above]] - so_far[0, page.first[above]] <= box:
            calls[1, index] = within(held[page.last[above]] - held[page.first[above]], 0.0, 2.0 * most)
    return 0


# --- how blocks agree with texts that the page declares: runs of words

cdef uint64_t START = 0xCBF29CE484222325U
cdef enum:
    LEVELS_TO_ROW = 5  # from a block up to its row
    LEAST_ROWS = 3  # of what is no list and no table
cdef double LEAST_SHARE = 0.6  # of the words of a row that is declared


cdef inline bint is_sign(uint32_t letter) noexcept nogil:
    """Return True if a letter is a word: Chinese signs and Japanese kana."""
    if letter < 0x3040:
        return False
    if letter < 0xA000:
        return letter < 0x3100 or 0x3400 <= letter < 0x4DC0 or letter >= 0x4E00
    return 0xF900 <= letter < 0xFB00 or 0x20000 <= letter < 0x40000


cdef bint[128] ALNUM
for _number in range(128):
    ALNUM[_number] = chr(_number).isalnum()


cdef inline bint is_alnum(Py_UCS4 letter) noexcept:
    return ALNUM[letter] if letter < 128 else letter.isalnum()


def word_hashes(list texts not None):
    """Return the hashes of the words of ``texts``; those of text i stand from ``bounds[i]`` to ``bounds[i + 1]``."""
    return words_in([(<str>text).lower() for text in texts])


cdef tuple words_in(list lower):
    cdef Py_ssize_t number, count = 0
    cdef str text
    cdef Py_UCS4 letter
    cdef uint32_t code
    cdef uint64_t hashed
    cdef bint inside
    found, starts = np.empty(sum(map(len, lower)), np.uint64), np.zeros(len(lower) + 1, np.int64)
    cdef uint64_t[::1] words = found
    cdef int64_t[::1] bounds = starts
    for number in range(len(lower)):
        text = lower[number]
        hashed, inside = START, False
        for letter in text:
            if is_alnum(letter):
                code = <uint32_t>letter
                if is_sign(code):
                    if inside:
                        words[count] = hashed
                        count += 1
                    words[count] = (START ^ code) * SPREAD
                    count += 1
                    hashed, inside = START, False
                else:
                    hashed = (hashed ^ code) * SPREAD
                    hashed ^= hashed >> 29
                    inside = True
            elif inside:
                words[count] = hashed
                count += 1
                hashed, inside = START, False
        if inside:
            words[count] = hashed
            count += 1
        bounds[number + 1] = count
    return found[:count], starts


cdef inline uint64_t run_of(uint64_t one, uint64_t two, uint64_t three) noexcept nogil:
    """Return the key of a run of three words, 0 for words that are missing; it is never 0."""
    cdef uint64_t key = ((one * SPREAD) ^ (one >> 31)) + two
    key = ((key * SPREAD) ^ (key >> 31)) + three
    return (key * SPREAD) | 1


cdef class Runs:
    """Runs of words by the fields that declare them, a bit for each field."""

    cdef uint64_t[::1] keys
    cdef int64_t[::1] fields, seen, totals, found
    cdef int bits

    def __cinit__(self, Py_ssize_t most, Py_ssize_t kinds):
        self.bits = 4
        while 1 << self.bits < 2 * (most + 1):
            self.bits += 1
        self.keys = np.zeros(1 << self.bits, np.uint64)
        self.fields, self.seen = longs(1 << self.bits), longs(1 << self.bits)
        self.totals, self.found = longs(kinds), longs(kinds)  # runs by field: all, and those that the page shows

    cdef Py_ssize_t slot(self, uint64_t key) noexcept:
        cdef Py_ssize_t slot = slot_of(key, self.bits)
        while self.keys[slot] and self.keys[slot] != key:
            slot = (slot + 1) & (self.keys.shape[0] - 1)
        return slot

    cdef void add(self, uint64_t key, int64_t field) noexcept:
        cdef Py_ssize_t slot = self.slot(key)
        self.keys[slot] = key
        if not self.fields[slot] >> field & 1:
            self.fields[slot] |= <int64_t>1 << field
            self.totals[field] += 1

    cdef int64_t find(self, uint64_t key) noexcept:
        """Return the fields that have a run; count those that are found for the first time."""
        cdef Py_ssize_t field, slot = self.slot(key)
        if self.fields[slot] and not self.seen[slot]:
            self.seen[slot] = 1
            for field in range(self.found.shape[0]):
                self.found[field] += self.fields[slot] >> field & 1
        return self.fields[slot]


def agreement(blocks, list texts not None, list fields not None, Py_ssize_t kinds, int64_t aside):
    """Return how blocks agree with declared texts."""
    cdef Page page = page_of(blocks)
    cdef const uint64_t[::1] words, said
    cdef const int64_t[::1] bounds, ends
    cdef Py_ssize_t index, at, size
    cdef int64_t field, held, there = 0
    words, bounds = words_in(page.in_small_letters())
    said, ends = word_hashes(texts)
    check(len(fields) == len(texts) and 0 < kinds < 60, "the columns do not fit each other")
    cdef Runs runs = Runs(said.shape[0], kinds)
    cdef int64_t[::1] covered = longs(words.shape[0] + 2)
    table = np.full((2 * kinds + 1, page.count), UNSAID, np.float32)
    cdef float[:, ::1] rows = table
    for index in range(len(texts)):
        field, at = fields[index], ends[index]
        check(0 <= field < kinds, "there is no such field")
        there |= <int64_t>1 << field
        if ends[index + 1] - at == 1:
            runs.add(run_of(said[at], 0, 0), field)
        elif ends[index + 1] - at == 2:
            runs.add(run_of(said[at], said[at + 1], 0), field)
        for at in range(ends[index], ends[index + 1] - 2):
            runs.add(run_of(said[at], said[at + 1], said[at + 2]), field)
    for at in range(words.shape[0] - 2):
        held = runs.find(run_of(words[at], words[at + 1], words[at + 2]))
        covered[at] |= held
        covered[at + 1] |= held
        covered[at + 2] |= held
    for index in range(page.count):
        at = bounds[index]
        if bounds[index + 1] == at + 1:
            covered[at] |= runs.find(run_of(words[at], 0, 0))
        if at < bounds[index + 1] <= at + 2 and ends_at(bounds, index, at + 2):
            held = runs.find(run_of(words[at], words[at + 1], 0))
            covered[at] |= held
            covered[at + 1] |= held
    for field in range(kinds):
        if there >> field & 1:
            for index in range(page.count):
                held = 0
                for at in range(bounds[index], bounds[index + 1]):
                    held += covered[at] >> field & 1
                size = bounds[index + 1] - bounds[index]
                rows[field, index] = held / <double>(size if size else 1)
                rows[kinds + field, index] = runs.found[field] / <double>(runs.totals[field] if runs.totals[field] else 1)
    if there & ~aside:
        fill_declared_rows(rows, 2 * kinds, page, covered, there & ~aside, bounds)
    return table


cdef bint ends_at(const int64_t[::1] bounds, Py_ssize_t index, int64_t end) noexcept:
    """Return True if the block ``index``, or the next one with words, ends at a word."""
    if bounds[index + 1] < end:
        index += 1
        while index + 1 < bounds.shape[0] and bounds[index + 1] < end:
            index += 1
    return index + 1 < bounds.shape[0] and bounds[index + 1] == end


cdef int fill_declared_rows(
    float[:, ::1] rows, Py_ssize_t row, Page page, int64_t[::1] covered, int64_t wanted, const int64_t[::1] bounds
) except -1:
    """Fill a row with the share of the rows of the list around each block that stand in fields ``wanted``.

    The row around a block is the nearest item or table row above it, else the element that it stands in.
    """
    cdef Py_ssize_t index, at, level
    cdef int64_t words, item = shared.LI, definition = shared.DD, cell = shared.TD
    cdef bint listed
    cdef int64_t[::1] until = longs(covered.shape[0]), members = longs(page.size), agreeing = longs(page.size)
    cdef uint8_t[::1] is_row = marks(page.size)
    for index in range(page.size):
        if page.tags[index] == item or page.tags[index] == definition:
            is_row[index] = 1
        elif page.tags[index] == cell and page.parents[index] > 0:
            is_row[page.parents[index]] = 1
    for index in range(covered.shape[0] - 2):
        until[index + 1] = until[index] + (covered[index] & wanted != 0)
    for index in range(1, page.size):
        words = bounds[page.last[index]] - bounds[page.first[index]]
        if words:
            members[page.parents[index]] += 1
            if until[bounds[page.last[index]]] - until[bounds[page.first[index]]] >= LEAST_SHARE * words:
                agreeing[page.parents[index]] += 1
    for index in range(page.count):
        at, listed = page.homes[index], False
        for level in range(LEVELS_TO_ROW):
            if is_row[at]:
                listed = True
                break
            at = max(page.parents[at], 0)
        if not listed:
            at = page.homes[index]
        at = max(page.parents[at], 0)
        if listed or members[at] >= LEAST_ROWS:
            rows[row, index] = agreeing[at] / <double>(members[at] if members[at] else 1)
    return 0


# --- the title among the blocks: words that texts have in common

cdef Py_ssize_t TITLE_CHARACTERS = shared.TITLE_CHARACTERS, BEGINNING = shared.BEGINNING
cdef double LEAST_TITLE = shared.LEAST_TITLE  # what a block that is the title has more of
cdef enum:
    LETTERS = 3  # a text of less is no title
    MOST_PARTS = 4096  # of a text


cdef inline Py_ssize_t with_part(uint64_t* parts, Py_ssize_t count, uint64_t part) noexcept nogil:
    """Add a part unless it is there; return how many there are."""
    cdef Py_ssize_t index
    for index in range(count):
        if parts[index] == part:
            return count
    parts[count] = part
    return count + 1 if count + 1 < MOST_PARTS else count


cdef Py_ssize_t parts_of_title(str text, bint in_pairs, uint64_t* parts) except -1:
    """Fill the distinct words of a text in small letters, or the pairs of these, as numbers; return how many."""
    cdef Py_ssize_t count = 0
    cdef uint64_t word = 0
    cdef Py_UCS4 letter
    cdef bint is_behind = False  # another letter
    for letter in text:
        if in_pairs:
            word = (word << 32) | <uint64_t>letter
            if is_behind:
                count = with_part(parts, count, word)
            is_behind = True
        elif is_alnum(letter) or letter == "_":
            word = ((word if word else START) ^ <uint64_t>letter) * SPREAD
            word ^= word >> 29
        elif word:
            count, word = with_part(parts, count, word), 0
    return with_part(parts, count, word) if word and not in_pairs else count


def headline_of(str title not None, blocks):
    """Find the ``title`` of a page among its blocks."""
    cdef Page page = page_of(blocks)
    cdef Py_ssize_t index, at, of_title, own, common, best = -1, main = -1
    cdef double chance, most = LEAST_TITLE, longest
    cdef int64_t heading = shared.H1
    cdef uint64_t[2 * MOST_PARTS] parts
    cdef list texts = page.in_small_letters()
    title = title[:TITLE_CHARACTERS]
    longest = 2.0 * len(title) + 10.0
    cdef bint in_pairs = naming.IDEOGRAPH.search(title) is not None
    overlaps, headings = np.zeros(page.count), np.zeros(page.count)
    cdef double[::1] overlap = overlaps, first_heading = headings
    of_title = parts_of_title(title.lower(), in_pairs, parts)
    for index in range(page.count if of_title else 0):
        if LETTERS < page.characters[index] <= longest:
            common, own = 0, parts_of_title(texts[index], in_pairs, parts + MOST_PARTS)
            for at in range(own):
                common += with_part(parts, of_title, parts[MOST_PARTS + at]) == of_title
            overlap[index] = 2 * common / <double>(own + of_title)
    for index in range(page.count):
        first_heading[index] = page.tags[page.homes[index]] == heading
        if main < 0 and first_heading[index]:
            main = index
        chance = overlap[index] + 0.3 * first_heading[index]
        chance = chance - 0.5 * page.linked[index] / larger(page.characters[index], 1.0)
        if chance > most:
            most, best = chance, index
    return Headline(overlaps, headings, best, best if main < 0 else main)


cdef object begins(str description, list texts):  # in small letters
    """Return 1 for blocks that hold the beginning of the page's description, else 0; −1 without one."""
    cdef str text, beginning = description[:BEGINNING].lower()
    if 2 * len(beginning) < BEGINNING:
        return np.full(len(texts), UNSAID)
    return np.array([beginning in <str>text for text in texts], np.float64)


# --- the features of blocks: what a page alone says of each

cdef dict PAGE_ROW = {name: number for number, name in enumerate(shared.PAGE)}
cdef dict SITE_ROW = {name: number for number, name in enumerate(shared.SITE)}
cdef dict SCORES_ROW = {name: number for number, name in enumerate(shared.SCORES)}
cdef double FEW_PAGES = 2.0  # a share of n pages is drawn towards nothing by n / (n + this)
cdef double NO_SCORE = -8.0  # that of a block that is not there
cdef double MOST_SCORE_TOKENS = 60.0  # that a block counts in a second look
cdef double MOST_EXPONENT = 700.0  # whose exponential is a number
cdef enum:
    LOGS = 8192
cdef double[LOGS] logs
for _number in range(LOGS):
    logs[_number] = log1p(_number)


cdef inline double log_of(double number) noexcept nogil:
    """Return the logarithm of 1 and a ``number``; most are small whole ones, which were calculated before."""
    cdef Py_ssize_t whole
    if 0.0 <= number < LOGS:
        whole = <Py_ssize_t>number
        if whole == number:
            return logs[whole]
    return log1p(number)


cdef inline double ratio(double part, double whole) noexcept nogil:
    """Return ``part / whole``, whose empty wholes count as 1."""
    return part / (whole if whole > 1.0 else 1.0)


cdef inline double within(double number, double least, double most) noexcept nogil:
    return least if number < least else most if number > most else number


cdef inline double larger(double one, double other) noexcept nogil:
    return one if one > other else other


cdef inline double chance_of(double score) noexcept nogil:
    """Return log odds as a chance."""
    return 1.0 / (1.0 + exp(within(-score, -MOST_EXPONENT, MOST_EXPONENT)))


cdef void fill(float[:, ::1] rows, Py_ssize_t row, double number) noexcept:
    """Fill a row with one number."""
    cdef Py_ssize_t index
    for index in range(rows.shape[1]):
        rows[row, index] = number


def page_table(
    blocks, headline, str description not None, const double[::1] named not None, const double[::1] kinds not None,
    const double[::1] units not None, const float[:, ::1] declared not None,
):
    """Return what a page alone says of its blocks, by feature."""
    cdef Page page = page_of(blocks)
    cdef Py_ssize_t index, place, row = len(shared.PAGE), count = page.count
    cdef Py_ssize_t best = headline.best, places = len(shared.PLACES), at_place
    cdef const double[::1] overlap = headline.overlap, first_heading = headline.first_heading
    cdef const double[::1] begin = begins(description, page.in_small_letters())
    cdef double[:, ::1] so_far = page.so_far(), below = page.below(so_far)
    cdef double unlinked = larger(so_far[0, count] - so_far[1, count], 1.0)
    cdef bint fits = named.shape[0] == page.size and units.shape[0] == count and best < count
    fits &= overlap.shape[0] == count and first_heading.shape[0] == count and declared.shape[1] in (1, count)
    check(fits, "the columns do not fit the page")
    table = np.empty((row + places + kinds.shape[0] + len(shared.SAID) + declared.shape[0], count), np.float32)
    cdef float[:, ::1] rows = table
    fill_own(rows, page, so_far, unlinked)
    fill_above(rows, page, below, named, unlinked)
    fill_names(rows, page, named)
    fill_title(rows, so_far, best)
    fill_repeated(rows, page, unlinked)
    for index in range(count):
        at_place = page.places[page.homes[index]]
        for place in range(places):
            rows[row + place, index] = at_place >> place & 1
    row += places
    for place in range(kinds.shape[0]):
        fill(rows, row + place, kinds[place])
    row += kinds.shape[0]
    for index in range(count):
        rows[row, index], rows[row + 1, index] = overlap[index], first_heading[index]
        rows[row + 2, index], rows[row + 3, index] = begin[index], units[index]
    row += len(shared.SAID)
    if declared.shape[1] == count:
        memcpy_rows(rows, row, declared)
    else:
        for place in range(declared.shape[0]):
            fill(rows, row + place, declared[place, 0])
    return table


cdef void memcpy_rows(float[:, ::1] rows, Py_ssize_t first, const float[:, ::1] others) noexcept:
    """Copy ``others`` to the rows from the ``first`` on."""
    if others.shape[0] and others.shape[1]:
        memcpy(&rows[first, 0], &others[0, 0], others.shape[0] * others.shape[1] * sizeof(float))


cdef int fill_own(float[:, ::1] rows, Page page, double[:, ::1] so_far, double unlinked) except -1:
    """Fill the rows of what a block itself is, of the whole page, and of the place of a block in it."""
    cdef Py_ssize_t index, count = page.count
    cdef double longest = 0.0, characters, linked, total = larger(so_far[0, count], 1.0)
    cdef Py_ssize_t row = PAGE_ROW["characters"], of_place = PAGE_ROW["place"]
    for index in range(count):
        longest = larger(longest, page.characters[index] - page.linked[index])
    for index in range(count):
        characters, linked = page.characters[index], page.linked[index]
        rows[row, index] = log_of(characters)
        rows[row + 1, index] = ratio(linked, characters)
        rows[row + 2, index], rows[row + 3, index] = page.commas[index], page.closed[index]
        rows[row + 4, index] = page.tags[page.homes[index]]
        rows[row + 5, index] = page.depths[page.homes[index]]
        rows[row + 6, index] = ratio(characters - linked, longest)
        rows[of_place, index] = index / <double>count
        rows[of_place + 1, index] = so_far[0, index + 1] / total
    fill(rows, PAGE_ROW["page characters"], log_of(total))
    fill(rows, PAGE_ROW["page blocks"], log_of(count))
    fill(rows, PAGE_ROW["page link share"], so_far[1, count] / total)
    fill(rows, PAGE_ROW["page unlinked"], log_of(unlinked))
    fill(rows, PAGE_ROW["longest"], log_of(longest))
    return 0


cdef int fill_above(
    float[:, ::1] rows, Page page, double[:, ::1] below, const double[::1] named, double unlinked
) except -1:
    """Fill the rows of the elements above a block; the body has itself above it."""
    cdef Py_ssize_t index, at, level, row
    cdef float[:, ::1] said = np.empty((5, page.size), np.float32)
    cdef int64_t[::1] above = np.array(page.homes)
    for index in range(page.size):
        said[0, index] = log_of(below[0, index])
        said[1, index] = ratio(below[1, index], below[0, index])
        said[2, index] = (below[0, index] - below[1, index]) / unlinked
        said[3, index] = log_of(ratio(below[0, index], page.last[index] - page.first[index]))
        said[4, index] = named[index]
    for level in range(<Py_ssize_t>shared.LEVELS):
        row = PAGE_ROW[f"above {level} characters"]
        for index in range(page.count):
            at = above[index]
            rows[row, index], rows[row + 1, index], rows[row + 2, index] = said[0, at], said[1, at], said[2, at]
            rows[row + 3, index], rows[row + 4, index] = said[3, at], said[4, at]
            above[index] = max(page.parents[at], 0)
    return 0


cdef int fill_names(float[:, ::1] rows, Page page, const double[::1] named) except -1:
    """Fill the rows of what classes and ids say from the body down: in sum, at most, at least, the nearest."""
    cdef Py_ssize_t index, above, at, row = PAGE_ROW["names sum"]
    cdef double[:, ::1] said = np.empty((4, page.size))
    said[0, 0] = said[1, 0] = said[2, 0] = said[3, 0] = named[0]
    for index in range(1, page.size):  # parents come before children
        above = page.parents[index]
        said[0, index] = named[index] + said[0, above]
        said[1, index] = larger(named[index], said[1, above])
        said[2, index] = -larger(-named[index], -said[2, above])
        said[3, index] = named[index] if named[index] != 0.0 else said[3, above]
    for index in range(page.count):
        at = page.homes[index]
        rows[row, index], rows[row + 1, index] = said[0, at], said[1, at]
        rows[row + 2, index], rows[row + 3, index] = said[2, at], said[3, at]
    return 0


cdef int fill_title(float[:, ::1] rows, double[:, ::1] so_far, Py_ssize_t title) except -1:
    """Fill the rows of how far a block is from the title."""
    cdef Py_ssize_t index, row = PAGE_ROW["blocks to title"]
    cdef double characters
    for index in range(rows.shape[1]):
        if title < 0:
            rows[row, index] = rows[row + 1, index] = -99.0
            continue
        rows[row, index] = within(index - title, -60.0, 60.0)
        characters = log_of(fabs(so_far[0, index + 1] - so_far[0, title + 1]))
        rows[row + 1, index] = -characters if index < title else characters
    return 0


cdef int fill_repeated(float[:, ::1] rows, Page page, double unlinked) except -1:
    """Fill the rows of what comes back within the page."""
    cdef Py_ssize_t index, row = PAGE_ROW["times on page"], count = page.count
    cdef int64_t[::1] keys = longs(count), first = longs(count), of = longs(count)
    cdef double[::1] times, held
    for index in range(count):
        keys[index] = page.texts[index]
    times = doubles(group(keys, first, of))
    for index in range(count):
        times[of[index]] += 1.0
    for index in range(count):
        rows[row, index] = within(times[of[index]], 0.0, 5.0)
    of = page.by_path()
    times, held = doubles(page.path_count), doubles(page.path_count)
    for index in range(count):
        times[of[index]] += 1.0
        held[of[index]] += page.characters[index] - page.linked[index]
    for index in range(count):
        rows[row + 1, index] = log_of(times[of[index]])
        rows[row + 2, index] = held[of[index]] / unlinked
        rows[row + 3, index] = log_of(held[of[index]] / times[of[index]])
    return 0


# --- what its site says of each

cdef int fill_site(float[:, ::1] rows, Py_ssize_t row, Page page, site_stats) except -1:
    """Fill the rows of ``SITE``, from ``row`` on; nothing is known without ``site_stats``."""
    cdef Py_ssize_t index, number, home, count = page.count, size = page.size
    if site_stats is None:
        for number in range(<Py_ssize_t>len(shared.SITE)):
            fill(rows, row + number, UNSAID)
        fill(rows, row, 0.0)
        return 0
    cdef double pages = site_stats.pages
    cdef const double[::1] texts = site_stats.texts, masked = site_stats.masked, links = site_stats.links
    cdef const double[::1] shapes = site_stats.shapes, held = site_stats.shapes_held
    cdef const double[::1] repeated = site_stats.shapes_repeated, sameness = site_stats.sameness
    cdef const double[::1] on_path = site_stats.path_pages, elements = site_stats.path_elements
    cdef const double[::1] characters = site_stats.path_characters, linked = site_stats.path_linked
    cdef const double[::1] again = site_stats.path_repeated
    cdef bint fits = pages > 0.0
    for name in ("texts", "masked", "links", "shapes", "shapes_held", "shapes_repeated", "sameness"):
        fits &= len(getattr(site_stats, name)) == count
    for name in ("path_pages", "path_elements", "path_characters", "path_linked", "path_repeated"):
        fits &= len(getattr(site_stats, name)) == size
    check(fits, "the columns of the site do not fit the page")
    cdef float[:, ::1] said = np.empty((5, size), np.float32)
    for number in range(1, 5):
        fill(said, number, UNSAID)
    for index in range(size):
        said[0, index] = on_path[index] / pages
        if on_path[index] > 0.0:
            said[1, index] = log_of(ratio(elements[index], on_path[index]))
            said[2, index] = log_of(ratio(characters[index], elements[index]))
        if characters[index] > 0.0:
            said[3, index] = ratio(linked[index], characters[index])
            said[4, index] = ratio(again[index], characters[index])
    for index in range(count):
        home = page.homes[index]
        rows[row, index] = within(pages, 0.0, 20.0)
        rows[row + 1, index] = texts[index] / pages
        rows[row + 2, index] = within(texts[index], 0.0, 6.0)
        rows[row + 3, index] = within(masked[index], 0.0, 6.0)
        rows[row + 4, index] = masked[index] / pages
        rows[row + 5, index] = links[index] / pages if page.links[index] else UNSAID
        for number in range(5):
            rows[row + 6 + number, index] = said[number, home]
        rows[row + 11, index] = within(shapes[index], 0.0, 12.0)
        rows[row + 12, index] = within(shapes[index] / (on_path[home] + FEW_PAGES), 0.0, 1.0)
        rows[row + 13, index] = repeated[index] / (held[index] + FEW_PAGES)
        rows[row + 14, index] = sameness[index] if held[index] > 1.0 else UNSAID
    return 0


# --- what a second look sees: the scores of the first

cdef int fill_scores(float[:, ::1] rows, Py_ssize_t first, Page page, const double[::1] scores) except -1:
    """Fill the rows of ``SCORES``, from the ``first`` on."""
    cdef Py_ssize_t index, count = page.count
    cdef double[::1] weights = doubles(count), likely = doubles(count)
    cdef double[:, ::1] so_far = np.zeros((2, count + 1))  # running sums of both
    rows = rows[first : first + <Py_ssize_t>len(shared.SCORES)]
    for index in range(count):
        weights[index] = within(page.tokens[index], 0.0, MOST_SCORE_TOKENS) + 1.0
        likely[index] = weights[index] / (1.0 + exp(within(-scores[index], -MOST_EXPONENT, MOST_EXPONENT)))
        so_far[0, index + 1] = so_far[0, index] + likely[index]
        so_far[1, index + 1] = so_far[1, index] + weights[index]
        rows[0, index] = scores[index]
    fill_neighbours(rows, scores, so_far)
    fill_likely_above(rows, page, weights, likely)
    fill_likely_alike(rows, page, weights, likely)
    fill_likely_page(rows, scores, so_far)
    return 0


cdef int fill_neighbours(float[:, ::1] rows, const double[::1] scores, double[:, ::1] so_far) except -1:
    """Fill the rows of the blocks before and after a block: their scores, how likely their text is content."""
    cdef Py_ssize_t index, at, distance, row, width, before, after, count = scores.shape[0]
    for near in shared.NEIGHBOURS:
        for distance in (-near, near):
            row = SCORES_ROW[f"score {distance:+}"]
            for index in range(count):
                at = index + distance
                rows[row, index] = scores[at] if 0 <= at < count else NO_SCORE
    for width in shared.WINDOWS:
        before, after = SCORES_ROW[f"before {width} likely"], SCORES_ROW[f"after {width} likely"]
        for index in range(count):
            at = index - width if index > width else 0
            rows[before, index] = ratio(so_far[0, index] - so_far[0, at], so_far[1, index] - so_far[1, at])
            at = index + width + 1 if index + width + 1 < count else count
            rows[after, index] = ratio(so_far[0, at] - so_far[0, index + 1], so_far[1, at] - so_far[1, index + 1])
    return 0


cdef int fill_likely_above(float[:, ::1] rows, Page page, double[::1] weights, double[::1] likely) except -1:
    """Fill the rows of how likely the rest of a block's element, and of those above it, is content."""
    cdef Py_ssize_t index, at, level, row
    cdef double[:, ::1] below = np.zeros((2, page.size))
    cdef int64_t[::1] above = np.array(page.homes)
    for index in range(page.count):
        below[0, page.homes[index]] += likely[index]
        below[1, page.homes[index]] += weights[index]
    for index in range(page.size - 1, 0, -1):
        below[0, page.parents[index]] += below[0, index]
        below[1, page.parents[index]] += below[1, index]
    for level in range(<Py_ssize_t>shared.SCORE_LEVELS):
        row = SCORES_ROW[f"above {level} likely"]
        for index in range(page.count):
            at = above[index]
            rows[row, index] = ratio(below[0, at] - likely[index], below[1, at] - weights[index])
            rows[row + 1, index] = log_of(below[1, at])
            above[index] = max(page.parents[at], 0)
    return 0


cdef int fill_likely_alike(float[:, ::1] rows, Page page, double[::1] weights, double[::1] likely) except -1:
    """Fill the rows of how likely the other blocks on a block's path are content."""
    cdef Py_ssize_t index, row = SCORES_ROW["same path likely"], count = page.count
    cdef int64_t[::1] of = page.by_path()
    cdef double[:, ::1] sums = np.zeros((3, page.path_count))
    for index in range(count):
        sums[0, of[index]] += 1.0
        sums[1, of[index]] += likely[index]
        sums[2, of[index]] += weights[index]
    for index in range(count):
        rows[row, index] = ratio(sums[1, of[index]] - likely[index], sums[2, of[index]] - weights[index])
        rows[row + 1, index] = log_of(sums[0, of[index]])
    return 0


cdef int fill_likely_page(float[:, ::1] rows, const double[::1] scores, double[:, ::1] so_far) except -1:
    """Fill the rows of what is likely content of the whole page, and where a block stands in it."""
    cdef Py_ssize_t index, row = SCORES_ROW["score rank"], count = scores.shape[0]
    cdef const int64_t[::1] order = highest_first(scores)
    if not count:
        return 0
    for index in range(count):
        rows[row, order[index]] = index / <double>count
        rows[row + 3, index] = so_far[0, index] / larger(so_far[0, count], 1e-9)
    fill(rows, row + 1, log_of(so_far[0, count]))
    fill(rows, row + 2, ratio(so_far[0, count], so_far[1, count]))
    fill(rows, row + 4, scores[order[0]])
    return 0


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


# --- what is known of a site: sums over its pages

cdef double SCALE = shared.SCALE
cdef int64_t OFTEN = shared.OFTEN
cdef double PARAGRAPH = shared.PARAGRAPH
cdef enum:  # what is summed by path
    PAGES, ELEMENTS, CHARACTERS, LINKED, HELD, REPEATED, ENTROPY, OF_PATHS


cdef class Sums:
    """Sums by hash. The hashes are numbered from 1 on in the order of their coming; 0 stands for all others."""

    cdef uint32_t[::1] hashes  # by number
    cdef int64_t[:, ::1] sums
    cdef int32_t[::1] slots  # open addressing: numbers, 0 for a free slot
    cdef int bits
    cdef Py_ssize_t count

    def __cinit__(self, Py_ssize_t columns):
        self.hashes, self.sums = np.zeros(13, np.uint32), np.zeros((13, columns), np.int64)
        self.slots, self.bits = np.zeros(16, np.int32), 4

    cdef Py_ssize_t slot(self, uint32_t key) noexcept:
        """Return the slot that a hash has, or the free one that it would take."""
        cdef Py_ssize_t slot = slot_of(key, self.bits)
        while self.slots[slot] and self.hashes[self.slots[slot]] != key:
            slot = (slot + 1) & (self.slots.shape[0] - 1)
        return slot

    cdef Py_ssize_t number(self, uint32_t key) noexcept:
        return self.slots[self.slot(key)]

    cdef Py_ssize_t add(self, uint32_t key) except -1:
        """Return the number of a hash, which is given to it if it has none."""
        cdef Py_ssize_t number, slot = self.slot(key)
        if self.slots[slot]:
            return self.slots[slot]
        self.count += 1
        if self.count == self.hashes.shape[0]:  # three quarters of the slots are taken
            self.bits += 1
            more = ((3 << (self.bits - 2)) + 1) - self.hashes.shape[0]
            self.hashes = np.concatenate((self.hashes, np.zeros(more, np.uint32)))
            self.sums = np.concatenate((self.sums, np.zeros((more, self.sums.shape[1]), np.int64)))
            self.slots = np.zeros(1 << self.bits, np.int32)
            for number in range(1, self.count):
                self.slots[self.slot(self.hashes[number])] = <int32_t>number
            slot = self.slot(key)
        self.hashes[self.count] = key
        self.slots[slot] = <int32_t>self.count
        return self.count

    cdef int32_t[::1] add_all(self, const uint32_t[::1] keys):
        cdef Py_ssize_t index
        cdef int32_t[::1] numbers = np.empty(keys.shape[0], np.int32)
        for index in range(keys.shape[0]):
            numbers[index] = <int32_t>self.add(keys[index])
        return numbers

    cdef int count_once(self, const int32_t[::1] numbers, int64_t sign) except -1:
        """Count one page more or less for each of the ``numbers``, once if they come twice."""
        cdef Py_ssize_t index
        cdef uint8_t[::1] seen = marks(self.count + 1)
        for index in range(numbers.shape[0]):
            if not seen[numbers[index]]:
                seen[numbers[index]] = 1
                self.sums[numbers[index], 0] += sign
        return 0


cdef class Counted:
    """A page as it is counted: the columns of its sketch, and the numbers of its hashes."""

    cdef const int64_t[::1] homes, parents, elements, characters, linked, style_tokens, style_scores
    cdef int32_t[::1] texts, masked, links, paths, styles, places
    cdef int64_t[::1] own, in_links  # by path, the characters at it and below it, and those inside links

    def __cinit__(self, page not None):
        cdef Py_ssize_t index, paths = len(page.paths), blocks = len(page.texts)
        cdef bint fits = True
        self.homes, self.parents, self.elements = page.homes, page.parents, page.elements
        self.characters, self.linked = page.characters, page.linked
        self.style_tokens, self.style_scores = page.style_tokens, page.style_scores
        for column in (page.homes, page.characters, page.linked, page.shapes):
            fits &= len(column) == blocks
        fits &= self.parents.shape[0] == paths and self.elements.shape[0] == paths
        fits &= len(page.styles) == len(page.style_tokens) == len(page.style_scores)
        check(fits, "the columns of the page do not fit each other")
        for index in range(paths):
            fits &= 0 <= self.parents[index] < index or index == 0
        for index in range(blocks):
            fits &= 0 <= self.homes[index] < paths
        check(fits, "a block or a path stands on one that is not there")
        self.own, self.in_links = longs(paths), longs(paths)
        for index in range(blocks):
            self.own[self.homes[index]] += self.characters[index]
            self.in_links[self.homes[index]] += self.linked[index]
        for index in range(paths - 1, 0, -1):
            self.own[self.parents[index]] += self.own[index]
            self.in_links[self.parents[index]] += self.in_links[index]


cdef inline int64_t entropy_of(int64_t count) noexcept nogil:
    """Return what a shape on so many pages adds to the entropy: a whole number, so that no order of pages counts."""
    return llrint(count * log(<double>count) * SCALE) if count > 1 else 0


cdef inline uint32_t place_key(uint64_t path, uint32_t shape) noexcept nogil:
    """Return the hash of a shape at its place."""
    return <uint32_t>((((path << 32) | shape) * SPREAD) >> 32)


cdef class SiteSums:
    """Sums over the sketches of a site's pages, kept up to date page by page, and what they say of one page.

    What a page itself adds is taken out while the others are asked, and put back. The hashes of a page that was
    removed keep their numbers.
    """

    cdef dict pages  # by key, in the order of their coming
    cdef Sums texts, masked, links, paths, styles, places
    cdef int32_t[::1] path_of  # by shape at a place, the number of its path
    cdef uint8_t[::1] come_back  # by text
    cdef int64_t[::1] again  # by path, the characters of texts that come back
    cdef bint is_fresh  # both were worked out since the last change

    def __cinit__(self):
        self.pages = {}
        self.texts, self.masked, self.links, self.places = Sums(1), Sums(1), Sums(1), Sums(1)
        self.paths, self.styles = Sums(OF_PATHS), Sums(2)
        self.path_of = np.zeros(16, np.int32)

    def __len__(self):
        return len(self.pages)

    def __contains__(self, key):
        return key in self.pages

    def add(self, page not None):
        """Count a page, which is not counted yet."""
        cdef Counted counted = Counted(page)
        cdef const uint32_t[::1] shapes = page.shapes, texts = page.texts, paths = page.paths
        cdef Py_ssize_t index, number, known = self.places.count
        check(page.key not in self.pages, "the page was counted already")
        counted.texts, counted.masked = self.texts.add_all(texts), self.masked.add_all(page.masked)
        counted.links, counted.styles = self.links.add_all(page.links), self.styles.add_all(page.styles)
        counted.paths = self.paths.add_all(paths)
        counted.places = np.empty(len(texts), np.int32)
        for index in range(texts.shape[0]):
            number = self.places.add(
                place_key(paths[counted.homes[index]], shapes[index] if shapes[index] else texts[index])
            )
            if number >= self.path_of.shape[0]:
                self.path_of = np.concatenate((self.path_of, np.zeros(self.path_of.shape[0], np.int32)))
            if number > known:
                known, self.path_of[number] = number, counted.paths[counted.homes[index]]
            counted.places[index] = <int32_t>number
        self.pages[page.key] = counted
        self.count(counted, 1)
        self.is_fresh = False

    def remove(self, key):
        """Take the page with this key out."""
        self.count(self.pages.pop(key), -1)
        self.is_fresh = False

    cdef int count(self, Counted page, int64_t sign) except -1:
        """Count a page once more, or once less."""
        cdef Py_ssize_t index
        cdef int64_t* sums
        self.count_texts(page, sign)
        for index in range(page.paths.shape[0]):
            sums = &self.paths.sums[page.paths[index], 0]
            sums[PAGES] += sign
            sums[ELEMENTS] += sign * page.elements[index]
            sums[CHARACTERS] += sign * page.own[index]
            sums[LINKED] += sign * page.in_links[index]
        for index in range(page.styles.shape[0]):
            self.styles.sums[page.styles[index], 0] += sign * page.style_tokens[index]
            self.styles.sums[page.styles[index], 1] += sign * page.style_scores[index]
        return 0

    cdef int count_texts(self, Counted page, int64_t sign) except -1:
        """Count what a copy of a page says nothing of: its texts, links and shapes."""
        cdef Py_ssize_t index, number
        cdef int64_t before, after
        cdef int64_t* sums
        cdef uint8_t[::1] seen = marks(self.places.count + 1)
        self.texts.count_once(page.texts, sign)
        self.masked.count_once(page.masked, sign)
        self.links.count_once(page.links, sign)
        for index in range(page.places.shape[0]):
            number = page.places[index]
            if seen[number]:
                continue
            seen[number] = 1
            before = self.places.sums[number, 0]
            after = before + sign
            self.places.sums[number, 0] = after
            sums = &self.paths.sums[self.path_of[number], 0]
            sums[HELD] += sign
            sums[REPEATED] += (after if after >= OFTEN else 0) - (before if before >= OFTEN else 0)
            sums[ENTROPY] += entropy_of(after) - entropy_of(before)
        return 0

    cdef int refresh(self) except -1:
        """Work out which texts come back, and by path the characters of those."""
        cdef Py_ssize_t number
        cdef double least = max(<double>shared.REPEATED_PAGES, <double>shared.REPEATED_SHARE * len(self.pages))
        if self.is_fresh:
            return 0
        self.come_back, self.again = marks(self.texts.count + 1), longs(self.paths.count + 1)
        for number in range(1, self.texts.count + 1):
            self.come_back[number] = self.texts.sums[number, 0] >= least
        for page in self.pages.values():
            self.add_again(page, 1)
        self.is_fresh = True
        return 0

    cdef int add_again(self, Counted page, int64_t sign) except -1:
        """Add the characters of texts that come back on a page to those of its paths, and of the paths above."""
        cdef Py_ssize_t index
        cdef int64_t[::1] held = longs(page.paths.shape[0])
        for index in range(page.texts.shape[0]):
            if self.come_back[page.texts[index]]:
                held[page.homes[index]] += page.characters[index]
        for index in range(page.paths.shape[0] - 1, -1, -1):
            if index:
                held[page.parents[index]] += held[index]
            self.again[page.paths[index]] += sign * held[index]
        return 0

    @property
    def repeated(self):
        """How many texts come back."""
        self.refresh()
        return int(np.count_nonzero(self.come_back))

    def novelty(self, blocks):
        """Return the share of the characters of ``blocks`` on paths that none of the pages has; 0 without any."""
        cdef Page page = page_of(blocks)
        cdef Py_ssize_t index
        cdef double characters = 0.0, new = 0.0
        for index in range(page.count):
            characters += page.characters[index]
            if not self.paths.sums[self.paths.number(page.paths[page.homes[index]]), PAGES]:
                new += page.characters[index]
        return new / characters if characters else 0.0

    def site_stats_for(self, blocks, own):
        """Return what the pages but ``own`` (a key, or None) say of a page with these ``blocks``.

        The texts, links and shapes of copies say nothing of it.
        """
        cdef Page page = page_of(blocks)
        cdef Counted known = None if own is None else self.pages[own]
        cdef list copies = []
        self.refresh()
        if known is not None:
            self.count(known, -1)
            self.add_again(known, -1)
        try:
            site_stats = self.others_of(page, known)
            if self.know_half(page):
                copies = self.copies_of(page, known)
            if copies:
                for one in copies:
                    self.count_texts(one, -1)
                site_stats = self.others_of(page, known)
        finally:
            for one in copies:
                self.count_texts(one, 1)
            if known is not None:
                self.count(known, 1)
                self.add_again(known, 1)
        return site_stats

    cdef bint know_half(self, Page page):
        """Return True if the pages know half of the running text: of blocks of a paragraph's characters."""
        cdef Py_ssize_t index
        cdef double running, half = 0.0, known = 0.0
        for index in range(page.count):
            running = page.characters[index] - page.linked[index]
            if running >= PARAGRAPH:
                half += running / 2.0
                if self.texts.sums[self.texts.number(page.texts[index]), 0]:
                    known += running
        return half > 0.0 and known >= half

    cdef list copies_of(self, Page page, Counted own):
        """Return the pages, few of all, that hold half of the running text of a page and more.

        Theirs is the same article, not the same template.
        """
        cdef Py_ssize_t index, number
        cdef double running, half = 0.0, held
        cdef double[::1] sizes = doubles(self.texts.count + 1), left
        cdef Counted other
        cdef list found = []
        for index in range(page.count):
            running = page.characters[index] - page.linked[index]
            if running >= PARAGRAPH:
                half += running / 2.0
                number = self.texts.number(page.texts[index])
                if self.texts.sums[number, 0]:
                    sizes[number] = running
        for other in self.pages.values():
            if other is own:
                continue
            held, left = 0.0, sizes.copy()
            for index in range(other.texts.shape[0]):
                held += left[other.texts[index]]
                left[other.texts[index]] = 0.0
            if held >= half:
                found.append(other)
        return found if len(found) <= max(1.0, <double>shared.MOST_COPIES * len(self.pages)) else []

    cdef object others_of(self, Page page, Counted own):
        """Return what all pages that are counted now say of a page."""
        cdef Py_ssize_t index, number, count = page.count, size = page.size
        cdef int64_t* sums
        cdef double most
        by_block, by_element = np.zeros((9, count)), np.zeros((5, size))
        cdef double[:, ::1] block = by_block, element = by_element
        cdef int64_t[::1] paths = longs(size)
        for index in range(size):
            paths[index] = number = self.paths.number(page.paths[index])
            sums = &self.paths.sums[number, 0]
            element[0, index], element[1, index] = sums[PAGES], sums[ELEMENTS]
            element[2, index], element[3, index], element[4, index] = sums[CHARACTERS], sums[LINKED], self.again[number]
        for index in range(count):
            block[0, index] = self.texts.sums[self.texts.number(page.texts[index]), 0]
            block[1, index] = self.masked.sums[self.masked.number(page.masked[index]), 0]
            block[2, index] = self.links.sums[self.links.number(page.links[index]), 0]
            number = self.styles.number(page.styles[index])
            block[3, index] = self.styles.sums[number, 0]
            block[4, index] = self.styles.sums[number, 1] / (HUNDREDTHS * larger(block[3, index], 1.0))
            number = self.places.number(place_key(page.paths[page.homes[index]], page.shapes[index]))
            block[5, index] = self.places.sums[number, 0]
            sums = &self.paths.sums[paths[page.homes[index]], 0]
            block[6, index], block[7, index] = sums[HELD], sums[REPEATED]
            most = larger(sums[HELD], 1.0)
            most = sums[HELD] * log(most)
            block[8, index] = sums[ENTROPY] / SCALE / larger(most, 1e-9)
        return SiteStats(len(self.pages) - (own is not None), *by_block, *by_element)


# --- boosted trees

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int lowest_bit(unsigned int bits) {
        unsigned long place; _BitScanForward(&place, bits); return (int)place;
    }
    #else
    #define lowest_bit(bits) __builtin_ctz(bits)
    #endif

    /* 32 rows at a time, as four vectors of eight: what is ruled out for them stays in registers. Of the last rows
       as many vectors as there are. */
    #define VECTORS 4
    #define ROWS (8 * VECTORS)
    #if defined(__GNUC__)
    typedef float floats __attribute__((vector_size(32), may_alias));
    typedef uint32_t masks __attribute__((vector_size(32), may_alias));
    #define TEST(column, v, threshold, mask, failed) (failed)[v] |= \\
        (masks)((column)[v] > ((threshold) - (floats){0})) & ((mask) - (masks){0})
    #define INVERT(failed, v, left) ((masks *)(left))[v] = ~(failed)[v]
    #define UNROLLED _Pragma("GCC unroll 16")
    #else
    #define UNROLLED
    typedef struct { float of[8]; } floats;
    typedef struct { uint32_t of[8]; } masks;
    #define TEST(column, v, threshold, mask, failed) \\
        for (int i = 0; i < 8; i++) if ((column)[v].of[i] > (threshold)) (failed)[v].of[i] |= (mask)
    #define INVERT(failed, v, left) for (int i = 0; i < 8; i++) (left)[8 * (v) + i] = ~(failed)[v].of[i]
    #endif
    /* Find the scores of all trees for up to 32 rows: first which leaves of each tree are left for them, for which
       there is room, then the sums of the lowest ones, of some rows at a time. values has VECTORS vectors a feature,
       which begin at the places of splits, in bytes. */
    #define AT_ONCE 8
    #define TEST_SPLITS(vectors) \\
        for (size_t split = tree * splits; split < (tree + 1) * splits; split++) { \\
            const floats *column = (const floats *)((const char *)values + places[split]); \\
            UNROLLED for (int v = 0; v < vectors; v++) \\
                TEST(column, v, thresholds[split], ruled_out[split], failed); \\
        }
    #define ADD_TREES(name) \\
        static void name(const floats *values, size_t rows, size_t trees, size_t splits, const uint32_t *places, \\
                         const float *thresholds, const uint32_t *ruled_out, const double *leaves, size_t most, \\
                         uint32_t *left, double *total) { \\
            for (size_t tree = 0; tree < trees; tree++) { \\
                masks failed[VECTORS]; \\
                memset(failed, 0, sizeof failed); \\
                if (rows > 8) TEST_SPLITS(VECTORS) else TEST_SPLITS(1) \\
                UNROLLED for (int v = 0; v < VECTORS; v++) \\
                    INVERT(failed, v, left + tree * ROWS); \\
            } \\
            for (size_t first = 0; first < rows; first += AT_ONCE) { \\
                const uint32_t *bits = left + first; \\
                const double *own = leaves; \\
                double sums[AT_ONCE] = {0}; \\
                for (size_t tree = 0; tree < trees; tree++, bits += ROWS, own += most) \\
                    UNROLLED for (int row = 0; row < AT_ONCE; row++) \\
                        sums[row] += own[lowest_bit(bits[row])]; \\
                for (size_t row = first; row < rows && row < first + AT_ONCE; row++) \\
                    total[row] = sums[row - first]; \\
            } \\
        }
    typedef void (*AddTrees)(const floats *, size_t, size_t, size_t, const uint32_t *, const float *, const uint32_t *,
                             const double *, size_t, uint32_t *, double *);
    ADD_TREES(add_trees_anywhere)
    #if defined(__x86_64__) && defined(__GNUC__)
    /* newer processors have registers of eight numbers; a comparison gives the same there */
    __attribute__((target("avx2"))) ADD_TREES(add_trees_avx2)
    __attribute__((target("avx512f,avx512vl"))) ADD_TREES(add_trees_avx512)
    #define fastest_add_trees() (__builtin_cpu_supports("avx512vl") ? add_trees_avx512 \\
        : __builtin_cpu_supports("avx2") ? add_trees_avx2 : add_trees_anywhere)
    #else
    #define fastest_add_trees() add_trees_anywhere
    #endif
    """
    int ROWS
    int lowest_bit(unsigned int bits) nogil
    ctypedef struct floats
    ctypedef void (*AddTrees)(
        const floats*, size_t, size_t, size_t, const uint32_t*, const float*, const uint32_t*, const double*, size_t,
        uint32_t*, double*
    ) noexcept nogil
    AddTrees fastest_add_trees() nogil


cdef class Trees:
    """Boosted trees: every split is tested on every row, and the leaf is the first that no failed test rules out."""

    cdef const float[:, ::1] thresholds
    cdef const uint32_t[:, ::1] ruled_out, places
    cdef const double[:, ::1] leaves
    cdef size_t columns  # a table has at least so many

    def __cinit__(
        self,
        const int32_t[:, ::1] features not None,
        const float[:, ::1] thresholds not None,
        const uint32_t[:, ::1] ruled_out not None,
        const double[:, ::1] leaves not None,
    ):
        cdef Py_ssize_t tree, split, trees = features.shape[0], splits = features.shape[1]
        cdef bint fits = leaves.shape[0] == trees and leaves.shape[1] >= shared.MAX_LEAVES
        fits &= thresholds.shape[0] == trees and thresholds.shape[1] == splits
        check(fits and ruled_out.shape[0] == trees and ruled_out.shape[1] == splits, "the arrays do not fit each other")
        for tree in range(trees):
            for split in range(splits):
                self.columns = max(self.columns, 1 + <size_t>(<uint32_t>features[tree, split]))  # below 0: a high one
        self.thresholds, self.leaves = thresholds, leaves
        self.places = np.multiply(features, ROWS * sizeof(float)).astype(np.uint32)
        self.ruled_out = np.bitwise_and(ruled_out, np.uint32(0x7FFFFFFF))  # so that a leaf is left

    def scores(self, const float[:, ::1] columns not None, Py_ssize_t sums=1):
        """Return the sum of what the trees give each row; or so many ``sums`` of as many trees each, in turn.

        ``columns`` is the table by feature.
        """
        cdef Py_ssize_t count = columns.shape[0], rows = columns.shape[1]
        cdef Py_ssize_t trees = self.places.shape[0], splits = self.places.shape[1]
        cdef Py_ssize_t first, some, column, at, each = trees // sums
        cdef float* values
        cdef void* room
        cdef AddTrees add_trees = fastest_add_trees()
        sum_of = np.zeros(sums * rows)
        cdef double[::1] total = sum_of
        check(<size_t>count >= self.columns, "a split has a feature that the table has not")
        check(sums > 0 and each * sums == trees, "the trees do not make so many sums")
        if not rows or not each or not splits:
            return sum_of
        room = malloc((count + each) * ROWS * sizeof(float) + 32)
        if room == NULL:
            raise MemoryError("there is no room for 32 rows")
        values = <float*>((<size_t>room + 31) & ~<size_t>31)
        memset(values, 0, count * ROWS * sizeof(float))
        with nogil:
            first = 0
            while first < rows:
                some = min(rows - first, ROWS)
                for column in range(count):
                    memcpy(values + column * ROWS, &columns[column, first], some * sizeof(float))
                for at in range(sums):
                    add_trees(
                        <const floats*>values, some, each, splits, &self.places[at * each, 0],
                        &self.thresholds[at * each, 0], &self.ruled_out[at * each, 0], &self.leaves[at * each, 0],
                        self.leaves.shape[1], <uint32_t*>(values + count * ROWS), &total[at * rows + first],
                    )
                first += ROWS
        free(room)
        return sum_of


def look_at(blocks, const float[:, ::1] of_page not None, site_stats, tuple wishes not None, Trees trees):
    """Return all features by feature: those of a first look, and what a second sees of the scores of its ``trees``."""
    cdef Page page = page_of(blocks, of_page.shape[1])
    cdef Py_ssize_t local = of_page.shape[0] + len(shared.SITE) + 2
    table = np.empty((local + (0 if trees is None else len(shared.SCORES)), page.count), np.float32)
    cdef float[:, ::1] rows = table
    memcpy_rows(rows, 0, of_page)
    fill_site(rows, of_page.shape[0], page, site_stats)
    fill(rows, local - 2, wishes[0])
    fill(rows, local - 1, wishes[1])
    if trees is not None:
        fill_scores(rows, local, page, trees.scores(rows[:local]))
    return table


# --- what is taken of a page: the chances of its blocks, the cut, what belongs together, headings with sections

cdef double OF_OWN = shared.OF_OWN, OF_BEFORE = shared.OF_BEFORE, OF_AFTER = shared.OF_AFTER
cdef double OF_TABLES = shared.OF_TABLES, OF_OTHERS = shared.OF_OTHERS
cdef Py_ssize_t AROUND = shared.AROUND
cdef double MOST_UNIT_TOKENS = shared.MOST_UNIT_TOKENS, SUREST = shared.SUREST
cdef double STYLE_SHARE = shared.STYLE_SHARE, STYLE_PRIOR = shared.STYLE_PRIOR, TITLE_CHANCE = shared.TITLE_CHANCE
cdef double LEAST_REPEATED = shared.LEAST_REPEATED
cdef double LEAST_HEADING = shared.LEAST_HEADING_CHANCE, SURE_HEADING = shared.SURE_HEADING_CHANCE
cdef int64_t TABLE = shared.UNITS.index(shared.TABLE), FORMULA = shared.UNITS.index(shared.FORMULA)
cdef int64_t DEFINITIONS = shared.UNITS.index(shared.DEFINITIONS)


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


cdef inline double log_odds(double chance) noexcept nogil:
    """Return a chance, within bounds, as log odds."""
    chance = within(chance, 1.0 - SUREST, SUREST)
    return log(chance / (1.0 - chance))


def joint_chances(
    const double[::1] own not None, const double[::1] tokens not None, const int64_t[:, ::1] units not None,
    const int64_t[::1] silent not None,
):
    """Return the chances of blocks, their ``own`` if they are in no unit, else that of the unit."""
    cdef Py_ssize_t index, at, count = own.shape[0]
    cdef double words, mean
    cdef bint fits = tokens.shape[0] == count
    cdef uint8_t[::1] quiet = marks(count)
    for index in range(silent.shape[0]):
        fits &= 0 <= silent[index] < count
    check(fits, "the columns do not fit the page")
    check_ranges(units, 1, count)
    for index in range(silent.shape[0]):
        quiet[silent[index]] = 1
    found = np.array(own)
    cdef double[::1] joint = found
    for index in range(units.shape[0]):
        words = mean = 0.0
        for at in range(units[index, 1], units[index, 2]):
            if not quiet[at]:
                words += tokens[at]
                mean += own[at] * tokens[at]
        if units[index, 0] == DEFINITIONS:
            if words == 0.0:
                mean = 0.0
                for at in range(units[index, 1], units[index, 2]):
                    words += 1.0
                    mean += own[at]
            mean = mean / words if words > 0.0 else 0.0
        else:
            mean = OF_OWN * log_odds(mean / words) if words > 0.0 else 0.0
            mean += OF_TABLES if units[index, 0] == TABLE else OF_OTHERS
            mean += OF_BEFORE * around(own, tokens, quiet, units[index, 1] - 1, -1)
            mean = chance_of(mean + OF_AFTER * around(own, tokens, quiet, units[index, 2], 1))
        for at in range(units[index, 1], units[index, 2]):
            joint[at] = mean
    return found


cdef double around(
    const double[::1] own, const double[::1] tokens, uint8_t[::1] quiet, Py_ssize_t at, Py_ssize_t step
) noexcept:
    """Return what the nearest blocks on one side of a unit say, as log odds."""
    cdef Py_ssize_t left = AROUND
    cdef double words = 0.0, mean = 0.0
    while 0 <= at < own.shape[0] and left:
        if not quiet[at]:
            left -= 1
            words += within(tokens[at], 0.0, MOST_UNIT_TOKENS) + 1.0
            mean += own[at] * (within(tokens[at], 0.0, MOST_UNIT_TOKENS) + 1.0)
        at += step
    return log_odds(mean / words) if words > 0.0 else 0.0


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
    cdef const uint8_t[::1] first = likely.view(np.uint8), always = wanted.view(np.uint8)
    check(first.shape[0] == count and always.shape[0] == count and title < count, "the columns do not fit the page")
    check_ranges(units, 1, count)
    check_ranges(lists, 0, count)
    check_ranges(headings, 0, count)
    check_ranges(headings, 1, count)
    steps = np.empty((3, count), np.bool_)
    cdef uint8_t[:, ::1] step = steps.view(np.uint8)
    cdef uint8_t[::1] best = step[0], once = step[1], taken = step[2], fixed = np.array(always)
    for index in range(count):
        best[index] = first[index]
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


# --- the clean text of a page: block-level elements on lines of their own, tabs between the cells of a row

cdef int32_t TEXT_NODE = shared.TEXT_NODE, BLOCK = shared.BLOCK, CELL = shared.CELL, ROW = shared.ROW
cdef int32_t LIST = shared.LIST, ITEM = shared.ITEM, PREFORMATTED = shared.PREFORMATTED, BREAK = shared.BREAK
cdef int32_t PICTURE = shared.PICTURE, SUPERSCRIPT = shared.SUPERSCRIPT
cdef str BULLET = shared.BULLET
cdef Py_ssize_t MOST_INDENTS = shared.MOST_INDENTS, MOST_OF_A_SIGN = shared.MOST_OF_A_SIGN


cdef str joint_of(Py_UCS4 end, Py_UCS4 begin, bint parted, bint raised, bint was_raised):
    """Return what to write between two texts of a line, as ``joint`` of ``reference_text`` does."""
    if not (begin.isalnum() and end.isalnum()):
        return ""
    if raised and not was_raised and end.isdecimal() and begin.isdecimal():
        return "^"
    return " " if parted and (end < 0x2E80 or begin < 0x2E80) else ""


def texts_of(
    list texts not None, tuple columns not None, list noise not None, tuple formulas not None, preformatted, is_permalink,
    parts,
):
    """Return the clean texts of parts of a page."""
    cdef Py_ssize_t start, stop
    cdef Lines lines = Lines(texts, columns, noise, formulas, preformatted, is_permalink)
    cdef list found = []
    for start, stop in parts:
        check(0 <= start <= stop <= len(texts), "the page has no such part")
        found.append(lines.text_of(start, stop))
    return found


cdef class Lines:
    """Writes lines while walking through the nodes."""

    cdef list texts
    cdef const int32_t[::1] kinds
    cdef const int32_t[::1] parents
    cdef const int32_t[::1] ends
    cdef const int32_t[::1] links
    cdef list noise
    cdef bint judged
    cdef dict shown
    cdef dict formulas
    cdef dict placed
    cdef object preformatted
    cdef object is_permalink
    cdef Py_ssize_t first  # of the part
    cdef list written
    cdef list line
    cdef list row  # the cells before, of a row that is one line
    cdef str bullet
    cdef int32_t[::1] open_ends  # of the block-level elements that are open
    cdef Py_ssize_t open_count
    cdef int32_t[::1] list_ends
    cdef Py_ssize_t list_count
    cdef Py_ssize_t row_end
    cdef Py_ssize_t item_end
    cdef Py_ssize_t last  # the last text of the line, if there is any
    cdef bint any_text
    cdef Py_UCS4 end  # its last letter
    cdef bint gap  # something was left out since then

    def __cinit__(self, list texts, tuple columns, list noise, tuple formulas, preformatted, is_permalink):
        cdef Py_ssize_t index, count = len(texts)
        cdef bint fits
        self.texts, self.noise, self.judged, self.preformatted = texts, noise, len(noise) > 0, preformatted
        self.kinds, self.parents, self.ends, self.links = columns
        self.shown, self.formulas, self.placed = formulas
        self.is_permalink = is_permalink
        check(len(noise) == count or not self.judged, "the judgement does not fit the nodes")
        fits = self.kinds.shape[0] == count and self.parents.shape[0] == count
        fits &= self.ends.shape[0] == count and self.links.shape[0] == count
        fits &= count > 0 and not self.kinds[0] & TEXT_NODE
        check(fits, "the columns of the page do not fit each other")
        for index in range(count):
            fits &= self.parents[index] < index < self.ends[index] <= count and (index == 0 or self.parents[index] >= 0)
        check(fits, "a node stands in one that is not there")
        self.open_ends = np.zeros(count + 1, np.int32)
        self.list_ends = np.zeros(count + 1, np.int32)
        self.begin(0)

    cdef begin(self, Py_ssize_t start):
        """Begin a part."""
        self.first = start
        self.written, self.line, self.row, self.bullet = [], [], [], ""
        self.open_count = self.list_count = self.row_end = self.item_end = self.last = 0
        self.any_text = self.gap = False
        self.end = " "

    cdef text_of(self, Py_ssize_t start, Py_ssize_t stop):
        """Return the text of a part. An item of a list has no bullet if it is the whole part."""
        cdef Py_ssize_t index = start
        cdef int32_t kind
        self.begin(start)
        while index < stop:
            kind = self.kinds[index]
            if self.placed and not kind & TEXT_NODE:
                self.add_placed(index, stop)
            while self.open_count > 0 and self.open_ends[self.open_count - 1] <= index:
                self.open_count -= 1
                self.end_block(self.open_ends[self.open_count])
            if kind & TEXT_NODE:
                self.add_text(index)
            elif self.formulas and index in self.formulas:
                self.add_formula(self.formulas[index])
                index = self.ends[index]
                continue
            elif kind & BLOCK:
                self.open_ends[self.open_count] = self.ends[index]
                self.open_count += 1
                if (index > start or not kind & ITEM) and self.begin_block(index, kind):
                    index = self.ends[index]
                    continue
                if self.judged and self.noise[index]:
                    index = self.ends[index]
                    continue
            elif kind & PICTURE:
                self.gap = True
            index += 1
        if self.placed:
            self.add_placed(stop, stop)
        self.end_line()
        return "\n".join(self.written)

    cdef add_placed(self, Py_ssize_t index, Py_ssize_t stop):
        """Write the formulas that stand before a node and in the part, each on a line."""
        cdef Py_ssize_t parent
        for parent, line in self.placed.get(index, ()):
            if self.first <= parent < stop:
                self.end_line()
                self.write(line)

    cdef add_formula(self, formula):
        if formula is not None:
            self.gap = True
            shown, is_line = formula
            if is_line:
                self.end_line()
                self.write(shown)
            else:
                self.line.append(shown)

    cdef add_text(self, Py_ssize_t index):
        cdef str text = self.texts[index]
        cdef Py_UCS4 end = self.end
        cdef int32_t link = self.links[index]
        cdef int32_t other = self.links[self.last]
        cdef bint parted = self.gap
        cdef Py_ssize_t size = len(text)
        if self.judged and self.noise[index]:
            self.gap = True
            return
        if size == 0:
            return
        if link >= 0 and size <= MOST_OF_A_SIGN and not text[0].isalnum() and self.is_permalink(link):
            self.gap = True
            return
        if self.any_text:
            parted = parted or (link >= 0 and other >= 0 and other != link)
            between = joint_of(end, text[0], parted, self.is_raised(index), self.is_raised(self.last))
            if between:
                self.line.append(between)
        self.any_text, self.gap, self.last, self.end = True, False, index, text[size - 1]
        self.line.append(self.shown.get(index, text) if self.shown else text)

    cdef inline bint is_raised(self, Py_ssize_t text) noexcept:
        return self.kinds[self.parents[text]] & SUPERSCRIPT != 0

    cdef begin_block(self, Py_ssize_t index, int32_t kind):
        """Open a block-level element; return whether all of it is written."""
        cdef int32_t end = self.ends[index]
        if kind & CELL and index < self.row_end:
            self.end_cell()
            return False
        self.end_line()
        while self.list_count > 0 and self.list_ends[self.list_count - 1] <= index:
            self.list_count -= 1
        if kind & ROW and self.is_single_line(index + 1, end):
            self.row_end = end
        elif kind & LIST:
            self.list_ends[self.list_count] = end
            self.list_count += 1
        elif kind & ITEM:
            self.bullet = "  " * min(max(self.list_count - 1, 0), MOST_INDENTS) + BULLET
            self.item_end = end
        elif kind & PREFORMATTED and self.is_preformatted(index + 1, end):
            self.write(self.preformatted(index))
            return True
        return False

    cdef bint is_single_line(self, Py_ssize_t start, Py_ssize_t end) noexcept:
        """Return True if the cells of a row hold only inline nodes."""
        cdef Py_ssize_t index
        for index in range(start, end):
            if self.kinds[index] & BLOCK and not self.kinds[index] & CELL:
                return False
        return True

    cdef is_preformatted(self, Py_ssize_t start, Py_ssize_t end):
        """Return True if an element can be written as it is: it holds no noise and no block."""
        cdef Py_ssize_t index
        for index in range(start, end):
            if self.kinds[index] & BLOCK and not self.kinds[index] & BREAK:
                return False
            if self.judged and self.kinds[index] & TEXT_NODE and self.noise[index]:
                return False
        return True

    cdef end_block(self, Py_ssize_t end):
        if end < self.row_end:
            self.end_cell()
        else:
            self.end_line()
        if end >= self.item_end:
            self.bullet = ""  # of an item without text

    cdef end_cell(self):
        self.any_text = self.gap = False
        if self.line:
            cell = " ".join("".join(self.line).split())
            if cell:
                self.row.append(cell)
            self.line = []

    cdef end_line(self):
        self.end_cell()
        if self.row:
            self.write("\t".join(self.row))
            self.row = []

    cdef write(self, text):
        if text:
            self.written.append(self.bullet + text)
            self.bullet = ""
