# cython: language_level=3
"""What a page declares, as ``page.self_description`` reads it, in one walk through its tree."""

from libc.string cimport strcmp
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Document, _Element, attributeValue, elementFactory, import_lxml__etree

from denoise_crawler.core.attributes cimport Hints, Names, Search, Words, is_plain, plain_value

import_lxml__etree()

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
    """Tell whether an attribute has a value."""
    if is_plain(attribute):
        return strcmp(plain_value(attribute), value) == 0
    return attributeValue(node, attribute) == value.decode("utf-8")


cdef class Signs:
    """How pages declare something: see ``page.self_description``; made once in a process.

    Args:
        meta: Makes a record of the attributes of a ``meta`` element.
        most: The most authors, dates and links to authors.
        most_texts: The most elements with a property that may be a text.
        properties: What stands in the name of such a property.
        addresses: What stands in the address of a page that may be an author's.
        program: What stands in the type of a script that declares nothing.
        hints: What else is looked for.
    """

    cdef object meta
    cdef Py_ssize_t most, most_texts
    cdef Words addresses, programs, properties
    cdef Hints hints

    def __cinit__(
        self,
        meta,
        Py_ssize_t most,
        Py_ssize_t most_texts,
        tuple properties not None,
        tuple addresses not None,
        str program not None,
        Hints hints not None,
    ):
        self.meta, self.most, self.most_texts, self.hints = meta, most, most_texts, hints
        self.addresses, self.programs, self.properties = Words(addresses), Words((program,)), Words(properties)


cdef class _Declared:
    """What a page declares, as far as it was found."""

    cdef list metas, scripts, titles, headings, times, styles, authors, dates, author_links, author_pages
    cdef list texts, bases
    cdef Signs signs
    cdef Names names
    cdef Search search
    cdef bint hinted
    cdef _Document document

    def __cinit__(self, _Document document, Signs signs):
        self.search = Search(signs.hints)
        self.metas, self.scripts, self.titles, self.headings, self.times = [], [], [], [], []
        self.authors, self.dates, self.author_links, self.author_pages = [], [], [], []
        self.styles, self.texts, self.bases = [], [], []
        self.document, self.signs, self.names = document, signs, Names(DECLARING, NOTHING)

    cdef int add(self, tree.xmlNode* node, bint inside, bint named) except -1:
        """Add an element: by its tag, where it stands in the page; by its attributes, if they were not looked at."""
        cdef int tag = self.names.of(node.name) if node.ns == NULL else NOTHING
        if not self.hinted:
            self.hinted = self.search.finds(node)
        if named and node.properties != NULL:
            self.add_named(node, tag)
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
        elif tag == STYLE:
            self.styles.append(elementFactory(self.document, node))
        elif tag == BASE:
            self.bases.append(elementFactory(self.document, node))
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
        self.metas.append(self.signs.meta(*parts))
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
            elif is_link and name == REL:
                if len(self.author_links) < self.signs.most and is_value(node, attribute, "author"):
                    self.author_links.append(elementFactory(self.document, node))
            elif is_link and name == HREF:
                if self.signs.addresses.stand_in_value(node, attribute):
                    self.author_pages.append((attributeValue(node, attribute), elementFactory(self.document, node)))
            attribute = attribute.next
        return 0


def declared(_Element root not None, Signs signs not None):
    """Return whether a page has a hint, and what it declares.

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
        found.hinted,
        found.metas,
        found.scripts,
        found.titles,
        found.headings,
        found.times,
        found.styles,
        found.bases,
        found.texts,
        found.authors,
        found.dates,
        found.author_links,
        found.author_pages,
    )
