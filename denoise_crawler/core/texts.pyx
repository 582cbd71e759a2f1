# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Hashes of texts, and what blocks say by their words, as ``methods.fusion.declared`` finds it."""

from os import urandom

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    void* PyUnicode_1BYTE_DATA(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    uint32_t PyUnicode_READ(int kind, const void* data, Py_ssize_t index) nogil
    uint32_t Py_UNICODE_TOLOWER(uint32_t letter) nogil
    bint Py_UNICODE_ISALNUM(uint32_t letter) nogil

# --- XXH3 of 64 bits without a seed (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), for machines that store
# the lowest byte first: the check of the core finds others. ``page.text.hash64`` takes it from the package ``xxhash``.

cdef enum:
    SECRET_SIZE = 192
    STRIPE = 64
    STRIPES = 16  # in a block: (SECRET_SIZE - STRIPE) / 8
    BLOCK = 1024

cdef uint64_t PRIME32_1 = 0x9E3779B1, PRIME32_2 = 0x85EBCA77, PRIME32_3 = 0xC2B2AE3D
cdef uint64_t PRIME64_1 = 0x9E3779B185EBCA87U, PRIME64_2 = 0xC2B2AE3D27D4EB4FU, PRIME64_3 = 0x165667B19E3779F9U
cdef uint64_t PRIME64_4 = 0x85EBCA77C2B2AE63U, PRIME64_5 = 0x27D4EB2F165667C5U
cdef bytes SECRET_BYTES = bytes.fromhex(  # as the algorithm has it
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
cdef unsigned char SECRET[192]
memcpy(SECRET, <const unsigned char*>SECRET_BYTES, 192)


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


cdef inline void add_stripe(uint64_t* sums, const unsigned char* data, const unsigned char* secret) noexcept nogil:
    cdef int lane
    cdef uint64_t number, keyed
    for lane in range(8):
        number = read64(data + 8 * lane)
        keyed = number ^ read64(secret + 8 * lane)
        sums[lane ^ 1] += number
        sums[lane] += (keyed & 0xFFFFFFFFU) * (keyed >> 32)


cdef uint64_t hash_long(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    """Hash more than 240 bytes."""
    cdef uint64_t[8] sums
    cdef uint64_t sum = <uint64_t>size * PRIME64_1
    cdef Py_ssize_t blocks = (size - 1) // BLOCK, block, stripe
    cdef int lane
    sums[0], sums[1], sums[2], sums[3] = PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3
    sums[4], sums[5], sums[6], sums[7] = PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1
    for block in range(blocks):
        for stripe in range(STRIPES):
            add_stripe(sums, data + BLOCK * block + STRIPE * stripe, SECRET + 8 * stripe)
        for lane in range(8):
            sums[lane] ^= sums[lane] >> 47
            sums[lane] ^= read64(SECRET + SECRET_SIZE - STRIPE + 8 * lane)
            sums[lane] *= PRIME32_1
    for stripe in range((size - 1 - BLOCK * blocks) // STRIPE):
        add_stripe(sums, data + BLOCK * blocks + STRIPE * stripe, SECRET + 8 * stripe)
    add_stripe(sums, data + size - STRIPE, SECRET + SECRET_SIZE - STRIPE - 7)
    for lane in range(4):
        sum += folded(sums[2 * lane] ^ read64(SECRET + 11 + 16 * lane), sums[2 * lane + 1] ^ read64(SECRET + 19 + 16 * lane))
    return avalanche(sum)


cdef uint64_t hash_bytes(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    if size <= 16:
        return hash_short(data, size)
    return hash_middle(data, size) if size <= 240 else hash_long(data, size)


def hash64(bytes data not None):
    """Return the hash of ``data``."""
    return hash_bytes(data, len(data))


cdef uint32_t hash32(str text) except? 0:
    """Return the low half of the hash of a text, in UTF-8, as ``page.text.hash32`` does."""
    cdef bytes data
    if PyUnicode_IS_ASCII(text):
        return <uint32_t>hash_bytes(<const unsigned char*>PyUnicode_1BYTE_DATA(text), len(text))
    data = text.encode("utf-8", "surrogatepass")
    return <uint32_t>hash_bytes(data, len(data))


# --- the words of a text and of a title

# A page cannot choose words that meet in few slots; no result depends on which slots they have.
cdef uint64_t multiplier = int.from_bytes(urandom(8), "little") | 1


cdef inline Py_ssize_t slot_of(uint64_t key, int bits) noexcept nogil:
    """Return the slot of a key among 2**bits."""
    key *= multiplier
    key = (key ^ (key >> 32)) * multiplier  # so that keys at even distances are spread as well,
    key = (key ^ (key >> 32)) * multiplier  # and keys that differ in their highest bits only
    return <Py_ssize_t>(key >> (64 - bits))

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
