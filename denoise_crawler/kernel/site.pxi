"""What is known of a site, sums over its pages: ``reference_site.py``."""

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

    cdef int count_pages(self, const int32_t[::1] numbers, int64_t sign) except -1:
        """Count one page more or less for each of the ``numbers``, which are distinct."""
        cdef Py_ssize_t index
        for index in range(numbers.shape[0]):
            self.sums[numbers[index], 0] += sign
        return 0


cdef int32_t[::1] each_once(const int32_t[::1] numbers, Py_ssize_t most):
    """Return the ``numbers``, none above ``most``, each once."""
    cdef Py_ssize_t index, count = 0
    cdef uint8_t[::1] seen = marks(most + 1)
    distinct = np.empty(numbers.shape[0], np.int32)
    cdef int32_t[::1] found = distinct
    for index in range(numbers.shape[0]):
        if not seen[numbers[index]]:
            seen[numbers[index]] = 1
            found[count] = numbers[index]
            count += 1
    return distinct[:count].copy()


cdef class Counted:
    """A page as it is counted: the columns of its sketch, and the numbers of its hashes."""

    cdef const int32_t[::1] homes, parents, elements, characters, linked, style_tokens, style_scores
    cdef int32_t[::1] texts, masked, links, paths, styles
    cdef int32_t[::1] distinct, places  # of texts, and of shapes at their places, each once
    cdef int32_t[::1] own, in_links  # by path, the characters at it and below it, and those inside links

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
        self.own, self.in_links = np.zeros((2, paths), np.int32)
        for index in range(blocks):
            self.own[self.homes[index]] += self.characters[index]
            self.in_links[self.homes[index]] += self.linked[index]
        for index in range(paths - 1, 0, -1):
            self.own[self.parents[index]] += self.own[index]
            self.in_links[self.parents[index]] += self.in_links[index]


cdef inline int64_t entropy_of(int64_t count) noexcept nogil:
    """Return what a shape on so many pages adds to the entropy: a whole number, so that no order of pages counts."""
    return llrint(count * log(<double>count) * SCALE) if count > 1 else 0


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
        counted.distinct = each_once(counted.texts, self.texts.count)
        cdef int32_t[::1] places = np.empty(len(texts), np.int32)
        for index in range(texts.shape[0]):
            number = self.places.add(
                joined(paths[counted.homes[index]], shapes[index] if shapes[index] else texts[index])
            )
            if number >= self.path_of.shape[0]:
                self.path_of = np.concatenate((self.path_of, np.zeros(self.path_of.shape[0], np.int32)))
            if number > known:
                known, self.path_of[number] = number, counted.paths[counted.homes[index]]
            places[index] = <int32_t>number
        counted.places = each_once(places, self.places.count)
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
        self.texts.count_pages(page.distinct, sign)
        self.masked.count_pages(page.masked, sign)
        self.links.count_pages(page.links, sign)
        for index in range(page.places.shape[0]):
            number = page.places[index]
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

    cdef list copies_of(self, Page page, Counted own):
        """Return the pages, few of all, that hold half of the running text of a page and more.

        Theirs is the same article, not the same template.
        """
        cdef Py_ssize_t index, number
        cdef double running, half = 0.0, held = 0.0
        cdef double[::1] sizes
        cdef dict known = {}
        cdef Counted other
        cdef list found = []
        for index in range(page.count):
            running = page.characters[index] - page.linked[index]
            if running >= PARAGRAPH:
                half += running / 2.0
                number = self.texts.number(page.texts[index])
                if self.texts.sums[number, 0]:
                    held += running
                    known[number] = running
        if not half or held < half:
            return found
        sizes = doubles(self.texts.count + 1)
        for number, running in known.items():
            sizes[number] = running
        for other in self.pages.values():
            if other is own:
                continue
            held = 0.0
            for index in range(other.distinct.shape[0]):
                held += sizes[other.distinct[index]]
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
            number = self.places.number(joined(page.paths[page.homes[index]], page.shapes[index]))
            block[5, index] = self.places.sums[number, 0]
            sums = &self.paths.sums[paths[page.homes[index]], 0]
            block[6, index], block[7, index] = sums[HELD], sums[REPEATED]
            most = larger(sums[HELD], 1.0)
            most = sums[HELD] * log(most)
            block[8, index] = sums[ENTROPY] / SCALE / larger(most, 1e-9)
        return SiteStats(len(self.pages) - (own is not None), *by_block, *by_element)
