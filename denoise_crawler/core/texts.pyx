# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What blocks say by their words, as ``methods.fusion.title`` finds it."""

from libc.stdint cimport uint32_t, uint64_t

from denoise_crawler.core.groups cimport slot_of
from denoise_crawler.core.hashing cimport hash_bytes

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    uint32_t PyUnicode_READ(int kind, const void* data, Py_ssize_t index) nogil
    uint32_t Py_UNICODE_TOLOWER(uint32_t letter) nogil
    bint Py_UNICODE_ISALNUM(uint32_t letter) nogil

cdef enum:
    SLOT_BITS = 11
    SLOTS = 1 << SLOT_BITS
    LONGEST = 1000  # letters: a set of the words of such a text has room in the slots
    LONGEST_BEGINNING = 64
    SIGMA = 0x3A3  # what it becomes in small letters depends on its place
    DOTTED_I = 0x130  # becomes two letters

cdef unsigned char[256] SMALL, IN_WORD  # by letter of Latin-1: its small letter; the same, or 0 if no word has it
for _letter in range(256):
    SMALL[_letter] = <unsigned char>Py_UNICODE_TOLOWER(_letter)
    IN_WORD[_letter] = SMALL[_letter] if _letter == 95 or Py_UNICODE_ISALNUM(SMALL[_letter]) else 0


cdef inline uint32_t small(uint32_t letter) noexcept nogil:
    return SMALL[letter] if letter < 256 else Py_UNICODE_TOLOWER(letter)


cdef bint is_plain(str text) noexcept:
    """Tell whether each letter of a text has one small letter, whatever stands beside it."""
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* letters = PyUnicode_DATA(text)
    cdef Py_ssize_t index
    cdef uint32_t letter
    if kind > 1:
        for index in range(len(text)):
            letter = PyUnicode_READ(kind, letters, index)
            if letter == SIGMA or letter == DOTTED_I:
                return False
    return True


cdef class WordSets:
    """Compares the words of texts with those of one title; ``wanted`` are the words of the title.

    Words are pairs of letters, or what ``\\w+`` finds.
    """

    cdef uint64_t[SLOTS] title, text  # keys of words, at their slot or behind it
    cdef uint32_t[SLOTS] in_title, in_text  # whether a place is taken: by the text with this number
    cdef frozenset wanted
    cdef bint pairs
    cdef readonly Py_ssize_t collisions  # slots that other words had taken, in all searches

    def __cinit__(self, wanted not None, bint pairs):
        cdef Py_ssize_t place
        cdef bytes encoded
        cdef uint64_t word
        self.wanted, self.pairs = frozenset(wanted), pairs
        if len(self.wanted) > LONGEST:
            raise ValueError("the title has too many words")
        for one in self.wanted:
            if pairs:
                word = pair_key(ord(one[0]), ord(one[1]))
            else:
                encoded = one.encode("utf-32-le", "surrogatepass")
                word = hash_bytes(encoded, len(encoded))
            place = self.slot(self.title, self.in_title, 1, word)
            self.title[place], self.in_title[place] = word, 1

    def overlap(
        self, list texts not None, const double[::1] characters not None, double least, double most, words,
        double[::1] found not None,
    ):
        """Fill by text 2·|A ∩ B| / (|A| + |B|) over the words of text and title.

        Args:
            texts: The texts.
            characters: How long each is.
            least: Texts of as many characters or less are left out.
            most: So are those of more.
            words: Returns the distinct words of a text; it is called for those whose small letters are not plain.
            found: What is filled; texts that are left out keep what stands there.
        """
        cdef Py_ssize_t index, common, count
        cdef str text
        if not len(texts) == characters.shape[0] == found.shape[0]:
            raise ValueError("the columns do not fit each other")
        for index in range(len(texts)):
            if not least < characters[index] <= most:
                continue
            text = texts[index]
            common = 0
            if len(text) > LONGEST or not is_plain(text):
                own = words(text)
                count, common = len(own), len(self.wanted.intersection(own))
            elif self.pairs:
                count = self.count_pairs(text, <uint32_t>(index + 1), &common)
            else:
                count = self.count_words(text, <uint32_t>(index + 1), &common)
            if common:
                found[index] = <double>(2 * common) / <double>(count + len(self.wanted))

    cdef Py_ssize_t count_words(self, str text, uint32_t number, Py_ssize_t* common) noexcept:
        """Return how many distinct words a text has; ``common`` is how many of these the title has."""
        cdef int kind = PyUnicode_KIND(text)
        cdef const void* letters = PyUnicode_DATA(text)
        cdef uint32_t[LONGEST] word
        cdef Py_ssize_t index, size = 0, count = 0, length = len(text)
        cdef uint32_t letter
        for index in range(length + 1):
            letter = PyUnicode_READ(kind, letters, index) if index < length else 0
            if letter < 256:
                letter = IN_WORD[letter]
            else:
                letter = Py_UNICODE_TOLOWER(letter)
                letter = letter if Py_UNICODE_ISALNUM(letter) else 0
            if letter:
                word[size] = letter
                size += 1
            elif size:
                count += self.is_new(hash_bytes(<const unsigned char*>word, 4 * size), number, common)
                size = 0
        return count

    cdef Py_ssize_t count_pairs(self, str text, uint32_t number, Py_ssize_t* common) noexcept:
        """Do the same for pairs of letters."""
        cdef int kind = PyUnicode_KIND(text)
        cdef const void* letters = PyUnicode_DATA(text)
        cdef Py_ssize_t index, count = 0
        cdef uint32_t letter, before = 0
        for index in range(len(text)):
            letter = small(PyUnicode_READ(kind, letters, index))
            if index:
                count += self.is_new(pair_key(before, letter), number, common)
            before = letter
        return count

    cdef bint is_new(self, uint64_t key, uint32_t number, Py_ssize_t* common) noexcept:
        """Tell whether a word is the first of its kind in the text with this ``number``; it is in ``common`` then."""
        cdef Py_ssize_t place = self.slot(self.text, self.in_text, number, key)
        if self.in_text[place] == number:
            return False
        self.text[place], self.in_text[place] = key, number
        common[0] += self.in_title[self.slot(self.title, self.in_title, 1, key)]
        return True

    cdef Py_ssize_t slot(self, uint64_t* keys, uint32_t* taken, uint32_t number, uint64_t key) noexcept:
        """Return the place of a key among those of one ``number``, or the free one where it belongs."""
        cdef Py_ssize_t place = slot_of(key, SLOT_BITS)
        while taken[place] == number and keys[place] != key:
            place = (place + 1) & (SLOTS - 1)
            self.collisions += 1
        return place


cdef inline uint64_t pair_key(uint32_t one, uint32_t other) noexcept nogil:
    return (<uint64_t>one << 32) | other


def begins(list texts not None, str beginning not None, double[::1] found not None):
    """Fill by text whether its small letters hold ``beginning``, which is in small letters and not empty."""
    cdef Py_ssize_t index, size = len(beginning)
    cdef uint32_t[LONGEST_BEGINNING] wanted
    cdef str text
    if len(texts) != found.shape[0] or not 0 < size <= LONGEST_BEGINNING:
        raise ValueError("the columns do not fit each other")
    for index in range(size):
        wanted[index] = ord(beginning[index])
    for index in range(len(texts)):
        text = texts[index]
        if len(text) < size:
            found[index] = 0.0
        elif is_plain(text):
            found[index] = holds(text, wanted, size)
        else:
            found[index] = beginning in text.lower()


cdef bint holds(str text, const uint32_t* wanted, Py_ssize_t size) noexcept:
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* letters = PyUnicode_DATA(text)
    cdef const unsigned char* latin = <const unsigned char*>letters
    cdef Py_ssize_t at, index, last = len(text) - size
    for at in range(last + 1):
        if (SMALL[latin[at]] if kind == 1 else small(PyUnicode_READ(kind, letters, at))) != wanted[0]:
            continue
        index = 1
        while index < size and small(PyUnicode_READ(kind, letters, at + index)) == wanted[index]:
            index += 1
        if index == size:
            return True
    return False
