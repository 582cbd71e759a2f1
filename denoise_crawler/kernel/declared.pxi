"""How blocks agree with texts that the page declares, with its title and its description: ``reference_declared.py``.

Calls on the reader stand here as well.
"""

cdef uint64_t START = 0xCBF29CE484222325U


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
        field, at, size = fields[index], ends[index], ends[index + 1] - ends[index]
        check(0 <= field < kinds, "there is no such field")
        there |= <int64_t>1 << field
        if size == 1 or size == 2:
            runs.add(run_of(said[at], said[at + 1] if size == 2 else 0, 0), field)
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
        inside = np.asarray(covered)[:words.shape[0]] & (there & ~aside) > 0
        table[2 * kinds] = row_shares(inside, np.asarray(bounds), blocks.elements, blocks.around)
    return table


cdef bint ends_at(const int64_t[::1] bounds, Py_ssize_t index, int64_t end) noexcept:
    """Return True if the block ``index``, or the next one with words, ends at a word."""
    if bounds[index + 1] < end:
        index += 1
        while index + 1 < bounds.shape[0] and bounds[index + 1] < end:
            index += 1
    return index + 1 < bounds.shape[0] and bounds[index + 1] == end


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
    text = "".join(lines)
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
