# cython: language_level=3, boundscheck=False, wraparound=False
"""The hashes of the words of a page, as ``page.text.words`` cuts them."""

from libc.stdint cimport uint32_t

from denoise_crawler.core.hashing cimport hash_bytes

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    uint32_t PyUnicode_READ(int kind, const void* data, Py_ssize_t index) nogil
    bint Py_UNICODE_ISALNUM(uint32_t letter) nogil

cdef enum:
    LONGEST = 256  # bytes of a word that is hashed where it is put together

cdef unsigned char[128] IN_WORD
for _letter in range(128):
    IN_WORD[_letter] = Py_UNICODE_ISALNUM(_letter)


cdef bint stands_alone(uint32_t letter, const uint32_t[:, ::1] ranges) noexcept:
    cdef Py_ssize_t row
    for row in range(ranges.shape[0]):
        if ranges[row, 0] <= letter <= ranges[row, 1]:
            return True
    return False


cdef int encoded(uint32_t letter, unsigned char* place) noexcept:
    """Write a letter as UTF-8; return how many bytes it takes."""
    if letter < 0x80:
        place[0] = letter
        return 1
    if letter < 0x800:
        place[0], place[1] = 0xC0 | letter >> 6, 0x80 | letter & 0x3F
        return 2
    if letter < 0x10000:
        place[0], place[1], place[2] = 0xE0 | letter >> 12, 0x80 | letter >> 6 & 0x3F, 0x80 | letter & 0x3F
        return 3
    place[0], place[1] = 0xF0 | letter >> 18, 0x80 | letter >> 12 & 0x3F
    place[2], place[3] = 0x80 | letter >> 6 & 0x3F, 0x80 | letter & 0x3F
    return 4


cdef class Found:
    """Hashes, with room for more."""

    cdef bytearray room
    cdef Py_ssize_t count

    def __cinit__(self):
        self.room, self.count = bytearray(4096), 0

    cdef int add(self, uint32_t hashed) except -1:
        if 4 * self.count == len(self.room):
            self.room.extend(bytes(len(self.room)))
        (<uint32_t*><char*>self.room)[self.count] = hashed
        self.count += 1
        return 0


cdef bint add_words(Found found, str text, const uint32_t[:, ::1] ranges) except -1:
    """Add the hashes of the words of a text in small letters; tell whether it has no letters of ``ranges``."""
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* letters = PyUnicode_DATA(text)
    cdef Py_ssize_t index, begin = -1, count = len(text), before = found.count
    cdef unsigned char[LONGEST] word
    cdef Py_ssize_t size = 0
    cdef uint32_t letter
    cdef bytes long_word
    for index in range(count + 1):
        letter = PyUnicode_READ(kind, letters, index) if index < count else 0
        if letter >= 0x3000 and stands_alone(letter, ranges):
            found.count = before
            return False
        if IN_WORD[letter] if letter < 128 else Py_UNICODE_ISALNUM(letter):
            if begin < 0:
                begin, size = index, 0
            if size <= LONGEST - 4:
                size += encoded(letter, word + size)
            else:
                size = LONGEST
        elif begin >= 0:
            if size <= LONGEST - 4:
                found.add(<uint32_t>hash_bytes(word, size))
            else:
                long_word = text[begin:index].encode("utf-8", "surrogatepass")
                found.add(<uint32_t>hash_bytes(long_word, len(long_word)))
            begin = -1
    return True


def word_hashes(list texts not None, leaves, const uint32_t[:, ::1] ranges, otherwise):
    """Hash the words of some texts of a page.

    Args:
        texts: The texts by node.
        leaves: The nodes whose texts are hashed.
        ranges: The first and last letters of alphabets whose letters are words or parts of such.
        otherwise: Returns the hashes of a text in such an alphabet.

    Returns:
        How many hashes each leaf has, and the hashes.

    """
    cdef Found found = Found()
    cdef Py_ssize_t before, place = 0
    cdef str text
    cdef bytearray sizes = bytearray(4 * len(leaves))
    cdef uint32_t* size = <uint32_t*><char*>sizes
    for leaf in leaves:
        text, before = texts[leaf], found.count
        if text and not add_words(found, text.lower(), ranges):
            for hashed in otherwise(text):
                found.add(hashed)
        size[place] = <uint32_t>(found.count - before)
        place += 1
    return sizes, bytes(found.room[: 4 * found.count])
