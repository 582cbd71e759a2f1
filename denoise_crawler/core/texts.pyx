# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What blocks say by their words and their look, as ``methods.fusion.title`` and ``styles`` find it."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

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
    MOST_LETTERS = 32
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


def strongest(
    dict known not None,
    list names not None,
    find,
    said not None,
    const double[:, ::1] log_odds not None,
    Py_ssize_t most,
    double[::1] sums not None,
):
    """Fill ``sums`` with the sum of the ``most`` highest numbers of each column of ``log_odds``.

    Args:
        known: By name the rows that it stands for.
        names: The names whose rows are looked at, each row once.
        find: Returns the rows of a name that is new.
        said: Rows that are looked at too.
        log_odds: The table.
        most: How many numbers of a column are added up, from the lowest of these to the highest.
        sums: What is filled.
    """
    cdef Py_ssize_t columns = log_odds.shape[1], index, column, place, count = 0
    cdef PyObject* rows
    cdef double number
    cdef double* best
    cdef unsigned char* seen
    if sums.shape[0] != columns or most < 1:
        raise ValueError("the columns do not fit each other")
    best = <double*>malloc(columns * most * sizeof(double))
    seen = <unsigned char*>calloc(log_odds.shape[0] + 1, 1)
    try:
        if best == NULL or seen == NULL:
            raise MemoryError
        for index in range(len(names) + 1):
            if index == len(names):
                found = said
            else:
                rows = PyDict_GetItemWithError(known, names[index])
                found = <object>rows if rows != NULL else find(names[index])
            for row in <tuple?>found:
                place = row
                if not 0 <= place < log_odds.shape[0]:
                    raise ValueError("there is no such row")
                if seen[place]:
                    continue
                seen[place] = 1
                for column in range(columns):
                    keep_highest(best + column * most, min(count, most), most, log_odds[place, column])
                count += 1
        for column in range(columns):
            number = best[column * most] if count else 0.0
            for place in range(1, min(count, most)):
                number += best[column * most + place]
            sums[column] = number
    finally:
        free(best)
        free(seen)


cdef inline void keep_highest(double* numbers, Py_ssize_t count, Py_ssize_t most, double number) noexcept nogil:
    """Put a number among ``count`` rising ones; if there are ``most`` of them, the lowest goes."""
    cdef Py_ssize_t place
    if count < most:
        place = count
        while place and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number
    elif number > numbers[0]:
        place = 1
        while place < most and numbers[place] < number:
            numbers[place - 1] = numbers[place]
            place += 1
        numbers[place - 1] = number


def worth_of(dict known not None, list names not None, find, double[::1] worth not None):
    """Fill ``worth`` with what is ``known`` of each of the ``names``; ``find`` returns it of those that are new."""
    cdef Py_ssize_t index
    cdef PyObject* value
    if worth.shape[0] != len(names):
        raise ValueError("the columns do not fit each other")
    for index in range(len(names)):
        value = PyDict_GetItemWithError(known, names[index])
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
