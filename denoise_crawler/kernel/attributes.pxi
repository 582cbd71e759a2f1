"""Names and words in the attributes of elements, without an object for each; what a page declares in them."""

cdef str value_of(tree.xmlNode* node, tree.xmlAttr* attribute):
    """Return the value of an attribute."""
    cdef tree.xmlNode* text = attribute.children
    cdef const unsigned char* letter
    if text != NULL and text.next == NULL and text.type == tree.XML_TEXT_NODE and text.content != NULL:
        letter = <const unsigned char*>text.content
        while 0 < letter[0] < 128:
            letter += 1
        if letter[0] == 0:
            return PyUnicode_DecodeASCII(
                <const char*>text.content, letter - <const unsigned char*>text.content, NULL
            )
    return attributeValue(node, attribute)


cdef enum:
    CACHED = 512
    SHIFT = 55  # leaves as many bits as number CACHED places
    MOST_WORDS = 32

cdef uint64_t SPREAD = 0x9E3779B97F4A7C15


cdef class Names:
    """What the names in a document mean. libxml2 keeps each name once, so its letters are looked at once."""

    cdef const_xmlChar* places[CACHED]
    cdef unsigned char found[CACHED]
    cdef dict meanings
    cdef unsigned char otherwise
    cdef int room

    def __cinit__(self, dict meanings, unsigned char otherwise):
        memset(self.places, 0, sizeof(self.places))
        self.meanings, self.otherwise, self.room = meanings, otherwise, CACHED // 2

    cdef int of(self, const_xmlChar* name) except -1:
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


cdef class Words:
    """Some words, at least one of which is looked for in a value."""

    cdef tuple words
    cdef const char* starts[MOST_WORDS]
    cdef uint32_t firsts[256]  # by letter, a bit for each word that begins with it
    cdef uint32_t seconds[256]  # the same for the second letter; all words that have none
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
        """Return True if a value holds one of the words."""
        cdef int number, size
        cdef uint32_t begun
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
        """Return True if the value of an attribute holds one of the words."""
        cdef bytes value
        if is_plain(attribute):
            return self.stand_in(plain_value(attribute))
        value = attributeValue(node, attribute).encode("utf-8")
        return self.stand_in(value)


cdef bint is_plain(tree.xmlAttr* attribute) noexcept:
    """Return True if a value is one text; else it is put together from parts."""
    cdef tree.xmlNode* text = attribute.children
    return text == NULL or (text.next == NULL and text.type == tree.XML_TEXT_NODE)


cdef const char* plain_value(tree.xmlAttr* attribute) noexcept:
    if attribute.children == NULL or attribute.children.content == NULL:
        return ""
    return <const char*>attribute.children.content


cdef class Hints:
    """Finds elements by hints in their attributes; made once in a process.

    Args:
        by_tag: By tag, the hints by attribute. Without any, each element with that tag is found.
        otherwise: The hints by attribute for elements with another tag.
    """

    cdef dict tags, attributes  # their numbers
    cdef list rows  # by tag, the words by attribute; None if each element is wanted; the last for other tags

    def __cinit__(self, dict by_tag not None, dict otherwise not None):
        names = {name for hints in (otherwise, *by_tag.values()) for name in hints}
        self.attributes = {name.encode("utf-8"): number for number, name in enumerate(sorted(names))}
        self.tags = {tag.encode("utf-8"): number for number, tag in enumerate(by_tag)}
        self.rows = [self.row_of(hints) if hints else None for hints in by_tag.values()]
        self.rows.append(self.row_of(otherwise))

    cdef list row_of(self, dict hints):
        cdef list row = [None] * len(self.attributes)
        for name, words in hints.items():
            row[self.attributes[name.encode("utf-8")]] = Words(words)
        return row

    def find(self, Columns columns not None):
        """Return the nodes of the elements that have a hint."""
        cdef Py_ssize_t index
        cdef Search search = Search(self)
        cdef list found = []
        for index in range(columns.count):
            if columns.nodes[index].tag != TEXT and search.finds(columns.nodes[index].place):
                found.append(index)
        return found


cdef class Search:
    """Looks for hints in the elements of a document."""

    cdef Hints hints
    cdef Names tags, attributes
    cdef int wanted  # attributes: those with a hint have smaller numbers

    def __cinit__(self, Hints hints):
        self.wanted = len(hints.attributes)
        self.hints, self.tags = hints, Names(hints.tags, len(hints.tags))
        self.attributes = Names(hints.attributes, len(hints.attributes))

    cdef bint finds(self, tree.xmlNode* node) except -1:
        """Return True if an element has a hint."""
        cdef tree.xmlAttr* attribute
        cdef list row
        cdef object words
        cdef int number
        if node.type != tree.XML_ELEMENT_NODE:
            return False
        row = self.hints.rows[self.tags.of(node.name) if node.ns == NULL else -1]
        if row is None:
            return True
        attribute = node.properties
        while attribute != NULL:
            number = self.attributes.of(attribute.name)
            if number < self.wanted and attribute.ns == NULL:
                words = row[number]
                if words is not None and (<Words>words).stand_in_value(node, attribute):
                    return True
            attribute = attribute.next
        return False


cdef bint has_address(tree.xmlNode* link) noexcept nogil:
    """Return True if a link has an address, if an empty one."""
    cdef tree.xmlAttr* attribute = link.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, "href") == 0:
            return True
        attribute = attribute.next
    return False


cdef Words OF_LINE_NUMBERS = Words(
    ("ln", "linen", "line-n", "gutter", "num", "ts_count", "t_count", "ts-count", "t-count")
)


cdef bint may_be_named(tree.xmlNode* node) noexcept:
    """Return True if a class may name the numbers of lines."""
    cdef tree.xmlAttr* attribute = node.properties
    while attribute != NULL:
        if strcmp(<const char*>attribute.name, "class") == 0:
            return not is_plain(attribute) or OF_LINE_NUMBERS.stand_in(plain_value(attribute))
        attribute = attribute.next
    return False


# --- what a page declares, as ``page.self_description`` reads it, in one walk

# What names mean. Those of a meta element's attributes stand first, in the order of its record.
cdef enum:
    PROPERTY, NAME, ITEMPROP, HTTP_EQUIV, CONTENT, META_PARTS
    META, SCRIPT, TITLE, H1, TIME, STYLE, BASE, A, TYPE, REL, HREF
    NOTHING

cdef dict DECLARING = {
    b"property": PROPERTY, b"name": NAME, b"itemprop": ITEMPROP, b"http-equiv": HTTP_EQUIV, b"content": CONTENT,
    b"meta": META, b"script": SCRIPT, b"title": TITLE, b"h1": H1, b"time": TIME, b"style": STYLE,
    b"base": BASE, b"a": A, b"type": TYPE, b"rel": REL, b"href": HREF,
}


cdef bint is_value(tree.xmlNode* node, tree.xmlAttr* attribute, const char* value) except -1:
    """Return True if an attribute has a value."""
    if is_plain(attribute):
        return strcmp(plain_value(attribute), value) == 0
    return attributeValue(node, attribute) == value.decode("utf-8")


cdef class Signs:
    """How pages declare something: see ``page.self_description``; made once in a process.

    Args:
        meta: The record of the attributes of a ``meta`` element, a named tuple.
        most: The most authors, dates and links to authors.
        most_texts: The most elements with a property that may be a text.
        properties: What stands in the name of such a property.
        addresses: What stands in the address of a page that may be an author's.
        program: What stands in the type of a script that declares nothing.
    """

    cdef object meta
    cdef Py_ssize_t most, most_texts
    cdef Words addresses, programs, properties

    def __cinit__(
        self,
        meta,
        Py_ssize_t most,
        Py_ssize_t most_texts,
        tuple properties not None,
        tuple addresses not None,
        str program not None,
    ):
        self.meta, self.most, self.most_texts = meta, most, most_texts
        self.addresses, self.programs, self.properties = Words(addresses), Words((program,)), Words(properties)


cdef class _Declared:
    """What a page declares, as far as it was read."""

    cdef list metas, scripts, texts, authors, dates, changes, author_links, author_pages
    cdef list by_tag  # titles, headings, times, styles, bases
    cdef Signs signs
    cdef Names names
    cdef _Document document

    def __cinit__(self, _Document document, Signs signs):
        self.metas, self.scripts, self.texts, self.by_tag = [], [], [], [[] for _ in range(TITLE, A)]
        self.authors, self.dates, self.changes, self.author_links, self.author_pages = [], [], [], [], []
        self.document, self.signs, self.names = document, signs, Names(DECLARING, NOTHING)

    cdef int add(self, tree.xmlNode* node, bint inside, bint named) except -1:
        """Add an element: by its tag, where it stands in the page; by its attributes, if they were not looked at."""
        cdef int tag = self.names.of(node.name) if node.ns == NULL else NOTHING
        if named and node.properties != NULL:
            self.add_named(node, tag)
        if not inside or tag < META or tag >= A:  # elements too may be called "name" or "content"
            return 0
        if tag == META:
            self.add_meta(node)
        elif tag == SCRIPT:
            self.add_script(node)
        else:
            (<list>self.by_tag[tag - TITLE]).append(elementFactory(self.document, node))
        return 0

    cdef int add_meta(self, tree.xmlNode* node) except -1:
        cdef list parts = [""] * META_PARTS
        cdef tree.xmlAttr* attribute = node.properties
        cdef int part
        while attribute != NULL:
            part = self.names.of(attribute.name)
            if part < META_PARTS and attribute.ns == NULL:
                parts[part] = attributeValue(node, attribute)
            attribute = attribute.next
        self.metas.append(tuple.__new__(self.signs.meta, parts))
        return 0

    cdef int add_script(self, tree.xmlNode* node) except -1:
        cdef tree.xmlAttr* attribute = node.properties
        while attribute != NULL:
            if self.names.of(attribute.name) == TYPE and attribute.ns == NULL:
                if not self.signs.programs.stand_in_value(node, attribute):
                    if kind := attributeValue(node, attribute):
                        self.scripts.append((kind, elementFactory(self.document, node)))
                return 0
            attribute = attribute.next
        return 0

    cdef int add_named(self, tree.xmlNode* node, int tag) except -1:
        """Add an element of the document, the page and what stands beside it."""
        cdef tree.xmlAttr* attribute = node.properties
        cdef int name
        cdef bint is_link = tag == A
        while attribute != NULL:
            name = self.names.of(attribute.name)
            if name == NOTHING or attribute.ns != NULL:
                attribute = attribute.next
                continue
            if tag != META and (name == ITEMPROP or name == PROPERTY) and len(self.texts) < self.signs.most_texts:
                if self.signs.properties.stand_in_value(node, attribute):
                    self.texts.append((attributeValue(node, attribute), elementFactory(self.document, node)))
            if name == ITEMPROP:
                if len(self.authors) < self.signs.most and is_value(node, attribute, "author"):
                    self.authors.append(elementFactory(self.document, node))
                elif len(self.dates) < self.signs.most and is_value(node, attribute, "datePublished"):
                    self.dates.append(elementFactory(self.document, node))
                elif len(self.changes) < self.signs.most and is_value(node, attribute, "dateModified"):
                    self.changes.append(elementFactory(self.document, node))
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
    cdef _Declared page = _Declared(root._doc, signs)
    cdef tree.xmlNode* top = root._c_node
    cdef tree.xmlNode* node = root._doc._c_doc.children
    cdef bint inside = False, was_inside = False
    cdef int walk
    for walk in range(2):
        while node != NULL:
            if node == top:
                inside = was_inside = True
            if node.type == tree.XML_ELEMENT_NODE:
                page.add(node, inside, not walk)
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
        page.metas, page.scripts, *page.by_tag, page.texts,
        page.authors, page.dates, page.changes, page.author_links, page.author_pages,
    )
