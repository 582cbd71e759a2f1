# cython: language_level=3, boundscheck=False, wraparound=False
"""How elements look by their attributes, as ``methods.style_tree.digest`` reads it."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy, strlen
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport attributeValue, import_lxml__etree
from lxml.includes.tree cimport const_xmlChar

from denoise_crawler.core.attributes cimport Names, is_plain, plain_value
from denoise_crawler.core.nodes cimport TEXT, Columns

import_lxml__etree()

cdef enum:
    NONE = 255  # what a name means that is none of those that are read
    HREF = 254
    SRC = 253
    WIDEST = 64


def outline(
    Columns columns not None, tuple names not None, int longest, int32_t[::1] looks, int32_t[::1] ends,
    int32_t[::1] linked, dict links, dict sources,
):
    """Read how each node looks.

    Args:
        columns: The nodes of a page.
        names: The attributes that say how an element looks.
        longest: The most letters of a value that are read.
        looks: Is filled: by node, the number of its look. That of text is 0.
        ends: Is filled: by node, where its subtree ends.
        linked: Is filled: by node, the link that it stands in, -1 for none.
        links: Is filled: by link, its ``href``.
        sources: Is filled: by element without children, its ``src``.

    Returns:
        By number, the tag and the attributes of a look.

    """
    cdef dict meanings = {name.encode(): number for number, name in enumerate(names)}, numbers = {}
    cdef list found = [(columns.names[TEXT], ())]
    cdef Names known
    cdef Py_ssize_t index, size, length
    cdef int meaning, parts, part
    cdef tree.xmlNode* node
    cdef tree.xmlAttr* attribute
    cdef const char* value
    cdef bytes text, key
    cdef bytearray buffer = bytearray(4 * (longest + 8) * (len(names) + 1))
    cdef char* letters = buffer
    cdef list own
    if looks.shape[0] != columns.count or ends.shape[0] != columns.count or linked.shape[0] != columns.count:
        raise ValueError("the columns do not fit the nodes")
    if len(names) > WIDEST:
        raise ValueError("there are too many names")
    meanings[b"href"], meanings[b"src"] = HREF, SRC
    known = Names(meanings, NONE)
    for index in range(columns.count):
        ends[index], linked[index] = columns.nodes[index].end, columns.nodes[index].link
        if columns.nodes[index].tag == TEXT:
            looks[index] = 0
            continue
        node = columns.nodes[index].place
        memcpy(letters, &columns.nodes[index].tag, sizeof(int32_t))
        size, parts = sizeof(int32_t), 0
        attribute = node.properties if node.type == tree.XML_ELEMENT_NODE else NULL
        while attribute != NULL:
            meaning = known.of(attribute.name) if attribute.ns == NULL else NONE
            if meaning == HREF:
                if columns.nodes[index].link == index:
                    links[index] = attributeValue(node, attribute)
            elif meaning == SRC:
                if columns.nodes[index].end == index + 1:
                    sources[index] = attributeValue(node, attribute)
            elif meaning != NONE and parts < len(names):
                if is_plain(attribute):
                    value = plain_value(attribute)
                else:
                    text = attributeValue(node, attribute).encode("utf-8", "surrogatepass")
                    value = text
                length = min(<Py_ssize_t>strlen(value), 4 * longest)
                letters[size], parts = <char>(meaning + 1), parts + 1
                memcpy(letters + size + 1, value, length)
                letters[size + 1 + length] = 0
                size += length + 2
            attribute = attribute.next
        key = letters[:size]
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(found)
            own = []
            attribute = node.properties if parts else NULL
            while attribute != NULL and len(own) < parts:
                meaning = known.of(attribute.name) if attribute.ns == NULL else NONE
                if meaning < SRC:
                    own.append((names[meaning], attributeValue(node, attribute)[:longest]))
                attribute = attribute.next
            found.append((columns.names[columns.nodes[index].tag], tuple(own)))
        looks[index] = number
    return found
