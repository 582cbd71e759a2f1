# cython: language_level=3
"""What the attributes of elements say, without an object for each element: what a page declares, hints of formulas."""

from libc.stdint cimport uint16_t, uint64_t
from libc.string cimport memset, strcmp
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Document, _Element, attributeValue, elementFactory, import_lxml__etree
from lxml.includes.tree cimport const_xmlChar

from denoise_crawler.core.nodes cimport TEXT, Columns

import_lxml__etree()

cdef enum:
    CACHED = 512
    SHIFT = 55  # leaves as many bits as number CACHED places
    MOST_WORDS = 16

# What names mean. Those of a meta element's attributes stand first, in the order of its record.
cdef enum:
    PROPERTY, NAME, ITEMPROP, HTTP_EQUIV, CONTENT, META_PARTS
    META, SCRIPT, TITLE, H1, TIME, A, TYPE, REL, HREF
    NOTHING

cdef uint64_t SPREAD = 0x9E3779B97F4A7C15
cdef dict DECLARING = {
    b"property": PROPERTY, b"name": NAME, b"itemprop": ITEMPROP, b"http-equiv": HTTP_EQUIV, b"content": CONTENT,
    b"meta": META, b"script": SCRIPT, b"title": TITLE, b"h1": H1, b"time": TIME, b"a": A,
    b"type": TYPE, b"rel": REL, b"href": HREF,
}


cdef class _Names:
    """What the names in a document mean. libxml2 keeps each name once, so its letters are looked at once."""

    cdef const_xmlChar* places[CACHED]
    cdef unsigned char found[CACHED]
    cdef dict meanings
    cdef unsigned char otherwise
    cdef int room

    def __cinit__(self, dict meanings, unsigned char otherwise):
        memset(self.places, 0, sizeof(self.places))
        self.meanings, self.otherwise, self.room = meanings, otherwise, CACHED // 2

    cdef inline int of(self, const_xmlChar* name) except -1:
        """Return what a name means."""
        cdef size_t place = (<uint64_t>name * SPREAD) >> SHIFT
        while self.places[place] != name:
            if self.places[place] == NULL:
                return self.add(name, place)
            place = (place + 1) % CACHED
        return self.found[place]

    cdef int add(self, const_xmlChar* name, size_t place) except -1:
        cdef unsigned char meaning = self.meanings.get(<bytes><const char*>name, self.otherwise)
        if self.room:
            self.places[place], self.found[place] = name, meaning
            self.room -= 1
        return meaning


cdef class _Words:
    """Some words, at least one of which is looked for in a value."""

    cdef tuple words
    cdef const char* starts[MOST_WORDS]
    cdef uint16_t firsts[256]  # by letter, a bit for each word that begins with it
    cdef uint16_t seconds[256]  # the same for the second letter; all words that have none
    cdef bint always  # a word is empty

    def __cinit__(self, tuple words not None):
        cdef int number, letter
        if len(words) > MOST_WORDS:
            raise ValueError("there are too many words")
        self.words = tuple([word.encode("utf-8") for word in words])
        self.always = b"" in self.words
        for number in range(len(self.words)):
            self.starts[number] = <bytes>self.words[number]
            self.firsts[<unsigned char>self.starts[number][0]] |= 1 << number
            for letter in range(256):
                if not self.starts[number][0] or self.starts[number][1] in (0, <char>letter):
                    self.seconds[letter] |= 1 << number

    cdef bint stand_in(self, const char* letter) noexcept:
        """Tell whether a value holds one of the words."""
        cdef int number, size
        cdef uint16_t begun
        cdef const char* word
        if self.always:
            return True
        while letter[0]:
            begun = self.firsts[<unsigned char>letter[0]] & self.seconds[<unsigned char>letter[1]]
            number = 0
            while begun:
                if begun & 1:
                    word, size = self.starts[number], 0
                    while word[size] and word[size] == letter[size]:
                        size += 1
                    if not word[size]:
                        return True
                begun >>= 1
                number += 1
            letter += 1
        return False

    cdef bint stand_in_value(self, tree.xmlNode* node, tree.xmlAttr* attribute) except -1:
        """Tell whether the value of an attribute holds one of the words."""
        cdef bytes value
        if is_plain(attribute):
            return self.stand_in(plain_value(attribute))
        value = attributeValue(node, attribute).encode("utf-8")
        return self.stand_in(value)


cdef inline bint is_plain(tree.xmlAttr* attribute) noexcept:
    """Tell whether a value is one text; else it is put together from parts."""
    cdef tree.xmlNode* text = attribute.children
    return text == NULL or (text.next == NULL and text.type == tree.XML_TEXT_NODE)


cdef inline const char* plain_value(tree.xmlAttr* attribute) noexcept:
    if attribute.children == NULL or attribute.children.content == NULL:
        return ""
    return <const char*>attribute.children.content


cdef bint is_value(tree.xmlNode* node, tree.xmlAttr* attribute, const char* value) except -1:
    """Tell whether an attribute has a value."""
    if is_plain(attribute):
        return strcmp(plain_value(attribute), value) == 0
    return attributeValue(node, attribute) == value.decode("utf-8")


cdef class Hints:
    """Finds elements by hints in their attributes; made once in a process.

    Args:
        by_tag: By tag, the hints by attribute. Without any, each element with that tag is found.
        otherwise: The hints by attribute for elements with another tag.
    """

    cdef dict rows  # by tag, the words by the number of the attribute; None if each element is wanted
    cdef list other_row
    cdef dict numbers  # of attributes

    def __cinit__(self, dict by_tag not None, dict otherwise not None):
        names = {name for hints in (otherwise, *by_tag.values()) for name in hints}
        self.numbers = {name.encode("utf-8"): number for number, name in enumerate(sorted(names))}
        self.rows = {tag: self.row_of(hints) if hints else None for tag, hints in by_tag.items()}
        self.other_row = self.row_of(otherwise)

    cdef list row_of(self, dict hints):
        cdef list row = [None] * (len(self.numbers) + 1)
        for name, words in hints.items():
            row[self.numbers[name.encode("utf-8")]] = _Words(words)
        return row

    def find(self, Columns columns not None):
        """Return the nodes of the elements that have a hint."""
        cdef Py_ssize_t index
        cdef int number
        cdef tree.xmlNode* place
        cdef tree.xmlAttr* attribute
        cdef list row, found = []
        cdef list rows = [self.rows.get(name, self.other_row) for name in columns.names]
        cdef _Names names = _Names(self.numbers, len(self.numbers))
        cdef object words
        for index in range(columns.count):
            if columns.nodes[index].tag == TEXT:
                continue
            row = rows[columns.nodes[index].tag]
            if row is None:
                found.append(index)
                continue
            place = columns.nodes[index].place
            attribute = place.properties if place.type == tree.XML_ELEMENT_NODE else NULL
            while attribute != NULL:
                if attribute.ns == NULL:
                    words = row[names.of(attribute.name)]
                    if words is not None and (<_Words>words).stand_in_value(place, attribute):
                        found.append(index)
                        break
                attribute = attribute.next
        return found


cdef class Signs:
    """How pages declare something: see ``page.self_description``; made once in a process.

    Args:
        meta: Makes a record of the attributes of a ``meta`` element.
        most: The most authors, dates and links to authors.
        addresses: What stands in the address of a page that may be an author's.
        program: What stands in the type of a script that declares nothing.
    """

    cdef object meta
    cdef Py_ssize_t most
    cdef _Words addresses, programs

    def __cinit__(self, meta, Py_ssize_t most, tuple addresses not None, str program not None):
        self.meta, self.most = meta, most
        self.addresses, self.programs = _Words(addresses), _Words((program,))


cdef class _Declared:
    """What a page declares, as far as it was found."""

    cdef list metas, scripts, titles, headings, times, authors, dates, author_links, author_pages
    cdef Signs signs
    cdef _Names names
    cdef _Document document

    def __cinit__(self, _Document document, Signs signs):
        self.metas, self.scripts, self.titles, self.headings, self.times = [], [], [], [], []
        self.authors, self.dates, self.author_links, self.author_pages = [], [], [], []
        self.document, self.signs, self.names = document, signs, _Names(DECLARING, NOTHING)

    cdef int add(self, tree.xmlNode* node, bint inside, bint named) except -1:
        """Add an element: by its tag, where it stands in the page; by its attributes, if they were not looked at."""
        cdef int tag = self.names.of(node.name) if node.ns == NULL else NOTHING
        if named and node.properties != NULL:
            self.add_named(node, tag == A)
        if not inside or tag >= A:
            return 0
        if tag == META:
            self.add_meta(node)
        elif tag == SCRIPT:
            self.add_script(node)
        elif tag == TITLE:
            self.titles.append(elementFactory(self.document, node))
        elif tag == H1:
            self.headings.append(elementFactory(self.document, node))
        elif tag == TIME:
            self.times.append(elementFactory(self.document, node))
        return 0

    cdef int add_meta(self, tree.xmlNode* node) except -1:
        cdef list parts = [""] * META_PARTS
        cdef tree.xmlAttr* attribute = node.properties
        cdef int part
        while attribute != NULL:
            if attribute.ns == NULL:
                part = self.names.of(attribute.name)
                if part < META_PARTS:
                    parts[part] = attributeValue(node, attribute)
            attribute = attribute.next
        self.metas.append(self.signs.meta(*parts))
        return 0

    cdef int add_script(self, tree.xmlNode* node) except -1:
        cdef tree.xmlAttr* attribute = node.properties
        while attribute != NULL:
            if attribute.ns == NULL and self.names.of(attribute.name) == TYPE:
                if not self.signs.programs.stand_in_value(node, attribute):
                    if kind := attributeValue(node, attribute):
                        self.scripts.append((kind, elementFactory(self.document, node)))
                return 0
            attribute = attribute.next
        return 0

    cdef int add_named(self, tree.xmlNode* node, bint is_link) except -1:
        """Add an element of the document, the page and what stands beside it."""
        cdef tree.xmlAttr* attribute = node.properties
        cdef int name
        while attribute != NULL:
            name = self.names.of(attribute.name) if attribute.ns == NULL else NOTHING
            if name == ITEMPROP:
                if len(self.authors) < self.signs.most and is_value(node, attribute, "author"):
                    self.authors.append(elementFactory(self.document, node))
                elif len(self.dates) < self.signs.most and is_value(node, attribute, "datePublished"):
                    self.dates.append(elementFactory(self.document, node))
            elif is_link and name == REL:
                if len(self.author_links) < self.signs.most and is_value(node, attribute, "author"):
                    self.author_links.append(elementFactory(self.document, node))
            elif is_link and name == HREF:
                if self.signs.addresses.stand_in_value(node, attribute):
                    self.author_pages.append((attributeValue(node, attribute), elementFactory(self.document, node)))
            attribute = attribute.next
        return 0


def declared(_Element root not None, Signs signs not None):
    """Return what a page declares.

    Args:
        root: The root of the tree. Names are looked for in its whole document, all else in and below it.
        signs: How pages declare something.
    """
    cdef _Declared found = _Declared(root._doc, signs)
    cdef tree.xmlNode* top = root._c_node
    cdef tree.xmlNode* node = root._doc._c_doc.children
    cdef bint inside = False, was_inside = False
    cdef int walk
    for walk in range(2):
        while node != NULL:
            if node == top:
                inside = was_inside = True
            if node.type == tree.XML_ELEMENT_NODE:
                found.add(node, inside, not walk)
                if node.children != NULL:
                    node = node.children
                    continue
            while True:
                if node == top:
                    inside = False
                    if walk:
                        node = NULL
                        break
                if node.next != NULL:
                    node = node.next
                    break
                node = node.parent
                if node == NULL or node.type != tree.XML_ELEMENT_NODE:
                    node = NULL
                    break
        if was_inside:
            break
        node = top  # it was taken out of its document
    return (
        found.metas,
        found.scripts,
        found.titles,
        found.headings,
        found.times,
        found.authors,
        found.dates,
        found.author_links,
        found.author_pages,
    )
