# cython: language_level=3
"""What the lines of a page measure, as ``methods.fusion.blocks`` measures them."""

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport strcmp
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport attributeValue, import_lxml__etree

from denoise_crawler.core.hashing cimport hash_bytes
from denoise_crawler.core.nodes cimport Columns

import_lxml__etree()


cdef class Measures:
    """Measures lines as ``methods.fusion.blocks`` does; made once in a process.

    Args:
        commas: The commas of all scripts.
        ends: What a sentence may end with.
        ideographs: Pairs of first and last letter of the scripts that have no spaces.
        longest_masked: How many characters a text may have whose numbers are masked.
    """

    cdef str commas, ends
    cdef Py_UCS4[8] bounds
    cdef Py_ssize_t scripts, longest_masked, room
    cdef unsigned char* written  # a text in UTF-8, and as far behind it the same with its numbers masked

    def __cinit__(self, str commas not None, ends, tuple ideographs not None, Py_ssize_t longest_masked):
        cdef Py_ssize_t index
        if len(ideographs) > 4:
            raise ValueError("there are too many scripts")
        self.commas, self.ends, self.longest_masked = commas, "".join(ends), longest_masked
        self.scripts = len(ideographs)
        for index in range(self.scripts):
            self.bounds[2 * index], self.bounds[2 * index + 1] = ideographs[index]

    def __dealloc__(self):
        free(self.written)

    def lines(
        self,
        Columns columns not None,
        list lines not None,
        double[:, ::1] numbers not None,
        uint32_t[:, ::1] hashes not None,
        int64_t[::1] firsts not None,
    ):
        """Measure the lines of a page.

        Args:
            columns: The nodes of the page.
            lines: The text nodes of each line.
            numbers: Filled, for each line that has text, with its characters, tokens, commas, how it ends, and its
                linked characters.
            hashes: Filled with the hashes of these lines' texts, of these with each number alike, of their links.
            firsts: Filled with the first node of each of these lines.

        Returns:
            The normalised texts, and the numbers of the lines that have text.
        """
        cdef list written = [], kept = [], texts = columns.texts
        cdef list line
        cdef str text
        cdef Py_ssize_t number, node, link, row = 0, count = len(lines)
        cdef int64_t linked
        cdef uint32_t link_hash
        if numbers.shape[0] != 5 or hashes.shape[0] != 3:
            raise ValueError("the tables do not fit the lines")
        if not numbers.shape[1] == hashes.shape[1] == firsts.shape[0] == count:
            raise ValueError("the tables do not fit the lines")
        for number in range(count):
            line = lines[number]
            text = texts[<Py_ssize_t>line[0]]
            if len(line) > 1:
                text = "".join([texts[<Py_ssize_t>node] for node in line])
            text = self.measure(text, &numbers[0, row], numbers.shape[1], &hashes[0, row])
            if not text:
                continue
            linked = link_hash = 0
            for node in line:
                link = columns.nodes[node].link
                if link >= 0:
                    linked += without_spaces(texts[node])
                    if not link_hash:
                        link_hash = address_hash(columns.nodes[link].place)
            if linked and (len(line) == 1 or linked > numbers[0, row]):
                linked = <int64_t>numbers[0, row]
            numbers[4, row], hashes[2, row], firsts[row] = linked, link_hash, <Py_ssize_t>line[0]
            written.append(text)
            kept.append(number)
            row += 1
        return written, kept

    cdef str measure(self, str text, double* numbers, Py_ssize_t step, uint32_t* hashes):
        """Return the normalised text; fill its characters, tokens, commas, how it ends, and its two hashes."""
        cdef Py_ssize_t characters = 0, words = 0, commas = 0, ideographs = 0, index
        cdef bint in_word = False, in_number = False, is_same = True
        cdef Py_UCS4 letter, last = 0
        cdef unsigned char* at
        cdef unsigned char* masked
        self.make_room(4 * len(text) + 8)
        at, masked = self.written, self.written + self.room
        for letter in text:
            if letter <= 32 and (letter == 32 or 9 <= letter <= 13 or 28 <= letter <= 31) or (
                letter > 127 and letter.isspace()
            ):
                is_same &= letter == 32 and in_word
                in_word = in_number = False
                continue
            if not in_word:
                if words:
                    at[0] = masked[0] = 32
                    at += 1
                    masked += 1
                words += 1
                in_word = True
            characters += 1
            last = letter
            if letter < 128:
                at[0] = <unsigned char>letter
                at += 1
                if 48 <= letter <= 57:
                    if not in_number:
                        masked[0] = 48
                        masked += 1
                    in_number = True
                    continue
                masked[0] = <unsigned char>letter
                masked += 1
                commas += letter == 44
                in_number = False
                continue
            at = encoded(<uint32_t>letter, at)
            if letter.isdecimal():
                if not in_number:
                    masked[0] = 48
                    masked += 1
                in_number = True
                continue
            in_number = False
            masked = encoded(<uint32_t>letter, masked)
            commas += letter in self.commas
            for index in range(self.scripts):
                ideographs += self.bounds[2 * index] <= letter <= self.bounds[2 * index + 1]
        if not words:
            return ""
        numbers[0], numbers[2 * step], numbers[3 * step] = characters, commas, last in self.ends
        numbers[step] = characters if ideographs > characters // 3 else words
        hashes[0] = hashes[step] = <uint32_t>hash_bytes(self.written, at - self.written)
        if characters + words - 1 <= self.longest_masked:
            hashes[step] = <uint32_t>hash_bytes(self.written + self.room, masked - self.written - self.room)
        if is_same and in_word:
            return text
        return self.written[: at - self.written].decode("utf-8", "surrogatepass")

    cdef int make_room(self, Py_ssize_t size) except -1:
        cdef unsigned char* grown
        if size > self.room:
            grown = <unsigned char*>realloc(self.written, 4 * size)
            if grown == NULL:
                raise MemoryError
            self.written, self.room = grown, 2 * size
        elif self.room > 1 << 20 and size < 1 << 16:  # after a text of a megabyte
            free(self.written)
            self.written, self.room = NULL, 0
            self.make_room(1 << 16)
        return 0


cdef inline unsigned char* encoded(uint32_t letter, unsigned char* at) noexcept nogil:
    """Write a letter beyond ASCII in UTF-8; return where the next one goes."""
    if letter < 0x800:
        at[0], at[1] = <unsigned char>(0xC0 | letter >> 6), <unsigned char>(0x80 | letter & 0x3F)
        return at + 2
    if letter < 0x10000:
        at[0], at[1] = <unsigned char>(0xE0 | letter >> 12), <unsigned char>(0x80 | letter >> 6 & 0x3F)
        at[2] = <unsigned char>(0x80 | letter & 0x3F)
        return at + 3
    at[0], at[1] = <unsigned char>(0xF0 | letter >> 18), <unsigned char>(0x80 | letter >> 12 & 0x3F)
    at[2], at[3] = <unsigned char>(0x80 | letter >> 6 & 0x3F), <unsigned char>(0x80 | letter & 0x3F)
    return at + 4


cdef Py_ssize_t without_spaces(str text) except -1:
    cdef Py_ssize_t count = len(text)
    cdef Py_UCS4 letter
    for letter in text:
        count -= letter == 32
    return count


cdef uint32_t address_hash(tree.xmlNode* link) except? 0:
    """Return the hash of a link's address, 0 for an empty one."""
    cdef tree.xmlAttr* attribute = link.properties
    cdef bytes address
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, "href") == 0:
            address = attributeValue(link, attribute).encode("utf-8", "surrogatepass")
            return <uint32_t>hash_bytes(address, len(address)) if address else 0
        attribute = attribute.next
    return 0
