"""Which HTML elements are inline, and which attributes hold URLs."""

from denoise_crawler.page import TEXT

# Text and elements inside a line; every other element starts and ends a line.
INLINE = frozenset(
    {TEXT, "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font"}
    | {"i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span"}
    | {"strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
)
URL_ATTRIBUTES = frozenset(
    {"href", "src", "action", "background", "cite", "data", "data-src", "poster", "longdesc"}
)
