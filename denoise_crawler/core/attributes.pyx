# cython: language_level=3
"""What the attributes of elements say, without an object for each element: what a page declares, hints of formulas."""

from libc.string cimport strcmp, strstr
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport (
    _Document,
    _Element,
    attributeValue,
    attributeValueFromNsName,
    elementFactory,
    import_lxml__etree,
)
from lxml.includes.tree cimport const_xmlChar

from denoise_crawler.core.nodes cimport TEXT, Columns

import_lxml__etree()


def hinted(Columns columns not None, dict hints, tuple of_all):
    """Return the nodes of elements that have one of some hints in an attribute.

    Args:
        columns: The nodes of the page.
        hints: By tag, the hints by attribute; an empty hint says that each element with that tag is wanted.
        of_all: The hints in the class of an element with another tag.
    """
    cdef Py_ssize_t index
    cdef list found = []
    cdef list of_tag = [_hints_of(hints.get(name, {"class": of_all})) for name in columns.names]
    for index in range(columns.count):
        if columns.nodes[index].tag != TEXT and has_hint(columns.nodes[index].place, of_tag[columns.nodes[index].tag]):
            found.append(index)
    return found


cdef tuple _hints_of(dict hints):
    return tuple([(name.encode("utf-8"), tuple([one.encode("utf-8") for one in hints[name]])) for name in hints])


cdef bint has_hint(tree.xmlNode* node, tuple hints) except -1:
    """Tell whether one of an element's attributes holds a hint for it."""
    cdef tree.xmlAttr* attribute
    cdef tree.xmlNode* text
    cdef bytes name, hint
    cdef tuple wanted
    cdef str value
    if not hints:
        return True
    if node.type != tree.XML_ELEMENT_NODE:
        return False
    attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL:
            for name, wanted in hints:
                if strcmp(<const char*>attribute.name, <const char*>name):
                    continue
                text = attribute.children
                if text == NULL or text.content == NULL:
                    break
                if text.next != NULL or text.type != tree.XML_TEXT_NODE:  # it is put together from parts
                    value = attributeValue(node, attribute)
                    return any([hint.decode("utf-8") in value for hint in wanted])
                for hint in wanted:
                    if strstr(<const char*>text.content, <const char*>hint) != NULL:
                        return True
                break
        attribute = attribute.next
    return False


cdef str attribute_of(tree.xmlNode* node, const char* name):
    """Return the value of an attribute, empty without it."""
    value = attributeValueFromNsName(node, NULL, <const_xmlChar*>name)
    return "" if value is None else value


cdef bint has_value(tree.xmlNode* node, const char* name, const char* value):
    """Tell whether an attribute has a value."""
    cdef tree.xmlAttr* attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, name) == 0:
            if attribute.children == NULL or attribute.children.content == NULL:
                return False
            if attribute.children.next != NULL or attribute.children.type != tree.XML_TEXT_NODE:
                return attribute_of(node, name) == value.decode("utf-8")
            return strcmp(<const char*>attribute.children.content, value) == 0
        attribute = attribute.next
    return False


cdef class _Declared:
    """What a page declares, as far as it was found."""

    cdef list metas, scripts, titles, headings, times, authors, dates, author_links, author_pages
    cdef tuple addresses
    cdef _Document document
    cdef object meta
    cdef Py_ssize_t most

    def __cinit__(self, _Document document, meta, Py_ssize_t most, tuple addresses):
        self.metas, self.scripts, self.titles, self.headings, self.times = [], [], [], [], []
        self.authors, self.dates, self.author_links, self.author_pages = [], [], [], []
        self.addresses = _hints_of({"href": addresses})
        self.document, self.meta, self.most = document, meta, most

    cdef int add(self, tree.xmlNode* node) except -1:
        """Add an element of the page."""
        cdef const char* name = <const char*>node.name
        if node.ns != NULL:
            return 0
        if strcmp(name, "meta") == 0:
            self.metas.append(
                self.meta(
                    attribute_of(node, "property"),
                    attribute_of(node, "name"),
                    attribute_of(node, "itemprop"),
                    attribute_of(node, "http-equiv"),
                    attribute_of(node, "content"),
                )
            )
        elif strcmp(name, "script") == 0:
            if kind := attribute_of(node, "type"):
                self.scripts.append((kind, elementFactory(self.document, node)))
        elif strcmp(name, "title") == 0:
            self.titles.append(elementFactory(self.document, node))
        elif strcmp(name, "h1") == 0:
            self.headings.append(elementFactory(self.document, node))
        elif strcmp(name, "time") == 0:
            self.times.append(elementFactory(self.document, node))
        return 0

    cdef int add_named(self, tree.xmlNode* node) except -1:
        """Add an element of the document, the page and what stands beside it."""
        if node.properties == NULL:
            return 0
        if len(self.authors) < self.most and has_value(node, "itemprop", "author"):
            self.authors.append(elementFactory(self.document, node))
        elif len(self.dates) < self.most and has_value(node, "itemprop", "datePublished"):
            self.dates.append(elementFactory(self.document, node))
        if node.ns == NULL and strcmp(<const char*>node.name, "a") == 0:
            if len(self.author_links) < self.most and has_value(node, "rel", "author"):
                self.author_links.append(elementFactory(self.document, node))
            if has_hint(node, self.addresses):
                self.author_pages.append((attribute_of(node, "href"), elementFactory(self.document, node)))
        return 0


def declared(_Element root not None, meta, Py_ssize_t most, tuple addresses not None):
    """Return what a page declares: see ``page.self_description``.

    Args:
        root: The root of the tree. Names are looked for in its whole document, all else in and below it.
        meta: Makes a record of the attributes of a ``meta`` element.
        most: The most authors, dates and links to authors.
        addresses: What stands in the address of a page that may be an author's.
    """
    cdef _Declared found = _Declared(root._doc, meta, most, addresses)
    cdef tree.xmlNode* top = root._c_node
    cdef tree.xmlNode* node = root._doc._c_doc.children
    cdef bint inside = False, was_inside = False
    cdef int walk
    for walk in range(2):
        while node != NULL:
            if node == top:
                inside = was_inside = True
            if node.type == tree.XML_ELEMENT_NODE:
                if inside:
                    found.add(node)
                if not walk:
                    found.add_named(node)
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
