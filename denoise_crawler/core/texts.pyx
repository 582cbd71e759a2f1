# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What blocks say by their words and their look, as ``methods.fusion.title`` and ``styles`` find it."""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from denoise_crawler.core.hashing cimport hash_bytes

cdef extern from "Python.h":
    void* PyUnicode_1BYTE_DATA(object text)

cdef enum:
    SLOTS = 2048
    MOST_LETTERS = 32
    LONGEST = 1000  # letters: a set of the words of such a text has room in the slots


cdef class WordSets:
    """Compares the words of texts with those of one title; ``wanted`` are the words of the title."""

    cdef uint64_t[SLOTS] title, text  # hashes of words, at the place that the lowest bits say or behind it
    cdef uint32_t[SLOTS] in_title, in_text  # whether a place is taken: by the text with this number
    cdef frozenset wanted

    def __cinit__(self, wanted not None):
        cdef Py_ssize_t place
        cdef bytes encoded
        cdef uint64_t word
        self.wanted = frozenset(wanted)
        if len(self.wanted) > LONGEST:
            raise ValueError("the title has too many words")
        for place in range(SLOTS):
            self.in_title[place] = self.in_text[place] = 0
        for one in self.wanted:
            encoded = one.encode("utf-8", "surrogatepass")
            word = hash_bytes(encoded, len(encoded))
            place = slot(self.title, self.in_title, 1, word)
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
            words: Returns the distinct words of a text; it is called for those that are not ASCII.
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
            if len(text) <= LONGEST and text.isascii():
                count = self.count_words(text, <uint32_t>(index + 1), &common)
            else:
                own = words(text)
                count, common = len(own), len(self.wanted.intersection(own))
            if common:
                found[index] = <double>(2 * common) / <double>(count + len(self.wanted))

    cdef Py_ssize_t count_words(self, str text, uint32_t number, Py_ssize_t* common) noexcept:
        """Return how many distinct words an ASCII text has; ``common`` is how many of these the title has."""
        cdef const unsigned char* letters = <const unsigned char*>PyUnicode_1BYTE_DATA(text)
        cdef unsigned char[LONGEST] word
        cdef Py_ssize_t index, size = 0, count = 0, length = len(text), place
        cdef unsigned char letter
        cdef uint64_t key
        common[0] = 0
        for index in range(length + 1):
            letter = letters[index] if index < length else 32
            if 65 <= letter <= 90:
                letter += 32
            if 97 <= letter <= 122 or 48 <= letter <= 57 or letter == 95:
                word[size] = letter
                size += 1
                continue
            if not size:
                continue
            key = hash_bytes(word, size)
            size = 0
            place = slot(self.text, self.in_text, number, key)
            if self.in_text[place] == number:
                continue
            self.text[place], self.in_text[place] = key, number
            count += 1
            common[0] += self.in_title[slot(self.title, self.in_title, 1, key)]
        return count


cdef inline Py_ssize_t slot(uint64_t* keys, uint32_t* taken, uint32_t number, uint64_t key) noexcept nogil:
    """Return the place of a key among those of one ``number``, or the free one where it belongs."""
    cdef Py_ssize_t place = <Py_ssize_t>(key & (SLOTS - 1))
    while taken[place] == number and keys[place] != key:
        place = (place + 1) & (SLOTS - 1)
    return place


def worth_of(dict known not None, list names not None, find, double[::1] worth not None):
    """Fill ``worth`` with what is ``known`` of each of the ``names``; ``find`` returns it of those that are new."""
    cdef Py_ssize_t index
    cdef PyObject* value
    if worth.shape[0] != len(names):
        raise ValueError("the columns do not fit each other")
    for index in range(len(names)):
        value = PyDict_GetItem(known, names[index])
        worth[index] = <double><object>value if value != NULL else find(names[index])


def styles_of(
    list texts not None,
    list names not None,
    const int64_t[::1] elements not None,
    const int64_t[::1] parents not None,
    const int64_t[::1] tags not None,
    const double[::1] characters not None,
    const double[::1] linked not None,
    const int64_t[::1] lengths not None,
    double all_linked,
    uint64_t spread,
    look,
    uint32_t[::1] styles not None,
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
    """
    cdef Py_ssize_t index, count = len(texts), step
    cdef int64_t element, above, last = -1
    cdef uint64_t looks = 0, own
    cdef str text
    if not elements.shape[0] == characters.shape[0] == linked.shape[0] == styles.shape[0] == count:
        raise ValueError("the columns of the blocks do not fit each other")
    if not len(names) == parents.shape[0] == tags.shape[0]:
        raise ValueError("the columns of the elements do not fit each other")
    for index in range(count):
        element = elements[index]
        if not 0 <= element < len(names):
            raise ValueError("a block stands in an element that is not there")
        if element != last:
            above = parents[element] if parents[element] > 0 else 0
            if above >= len(names):
                raise ValueError("an element stands in one that is not there")
            looks, last = look(tags[element], names[element], names[above]), element
        text = texts[index]
        own = linked[index] >= all_linked * (characters[index] if characters[index] > 1.0 else 1.0)
        own += 2 * <uint64_t>(<bint>text.isupper())
        for step in range(lengths.shape[0]):
            own += 4 * (characters[index] >= <double>lengths[step])
        styles[index] = <uint32_t>(((looks * 16 + own + 1) * spread) >> 32)


def count_letters(list texts not None, tuple wanted not None):
    """Return how often the letters of each of some strings stand in ``texts``, as one count a string."""
    cdef unsigned char[128] number_of  # by letter of ASCII, the number of its string; 0 if it is in none
    cdef Py_UCS4[MOST_LETTERS] others
    cdef Py_ssize_t[MOST_LETTERS] numbers
    cdef Py_ssize_t[MOST_LETTERS] found
    cdef Py_ssize_t number, other, count = 0
    cdef Py_UCS4 letter, highest = 0
    cdef str text
    if sum(map(len, wanted)) + len(wanted) >= MOST_LETTERS:
        raise ValueError("too many letters")
    memset(number_of, 0, sizeof(number_of))
    memset(found, 0, sizeof(found))
    for number in range(len(wanted)):
        for letter in <str>wanted[number]:
            if letter < 128:
                number_of[letter] = <unsigned char>(number + 1)
            else:
                others[count], numbers[count] = letter, number + 1
                highest = max(highest, letter)
                count += 1
    for text in texts:
        for letter in text:
            if letter < 128:
                found[number_of[letter]] += 1
            elif letter <= highest:
                for other in range(count):
                    if others[other] == letter:
                        found[numbers[other]] += 1
    return tuple([found[number + 1] for number in range(len(wanted))])
