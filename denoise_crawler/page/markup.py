"""What HTML's elements are, as far as text is concerned."""

from denoise_crawler.page import TEXT

# Elements (and text) that stand inside a line; every other element begins and ends one.
INLINE = frozenset(
    {
        TEXT,
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
    }
    | {
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "nobr",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
    }
    | {"strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
)
# Attributes that hold an address.
ADDRESSES = frozenset({"href", "src", "action", "background", "cite", "data", "data-src", "poster", "longdesc"})
