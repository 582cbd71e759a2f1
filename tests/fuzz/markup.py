"""HTML built at random: a grammar of what pages hold, sound or broken, by any ``random.Random``.

Hypothesis drives it with its own source of randomness, and so can make a failing page small.
"""

import json
from random import Random

_BLOCKS = [
    *("div", "p", "section", "article", "main", "nav", "header", "footer", "aside", "ul", "ol", "li", "dl", "dt"),
    *("dd", "blockquote", "pre", "h1", "h2", "h3", "h6"),
]
_TABLES = ["table", "thead", "tbody", "tr", "td", "th", "caption", "col"]
_INLINE = [
    *("span", "a", "b", "i", "em", "strong", "code", "br", "img", "wbr", "small", "sub", "q", "time", "font"),
    *("ruby", "rt"),
]
_ODD = [
    *("form", "input", "button", "select", "option", "textarea", "iframe", "object", "svg", "math", "canvas"),
    *("video", "noscript", "template", "title", "base", "frameset", "frame", "noframes", "plaintext", "xmp"),
    *("center", "marquee", "head", "body", "html", "meta", "link", "script", "style", "x-y", "o:p"),
]
_VOID = frozenset(["br", "img", "wbr", "col", "input", "base", "meta", "link", "frame"])
_CLASSES = [
    *("nav", "menu", "sidebar", "article-body", "post", "comment-list", "ad", "banner", "price", "product"),
    *("review", "related", "content", "title", "post-123456", "c-a1b2c3d4e5", "hidden"),
]
_ADDRESSES = (
    *("/a", "b.html?x=1&y=2", "#top", "http://[bad", "https://other.example/p", "javascript:alert(1)", "//h", ""),
    *("data:text/html,<script>", "http://a\x00b", "http://\ud800", " /spaced ", "mailto:a@b", "//" * 300),
)
_STYLES = ("display:none", "width:100%", "height:1e999px", "left:-9999px;top:0", ";;;:", "width:" + "9" * 400)
_NUMBERS = ("0", "1", "600", "50%", "-1", "99999999999999999999", "1e9", "", "NaN", "٣")
_SENTENCES = (
    "The boats came home one by one, long before the evening bell.",
    "据新华网报道，昨天下午的会议在上海举行，来自各地的代表参加了会议。",
    "Все права защищены. Перепечатка запрещена.",
    "שלום עולם، مرحبا بالعالم",
    "東京タワーへ行きました。",
    "© 2031 The Harbour Ledger",
    "Read more",
    "By Ann Example | 14 March 2031 10:03",
    "$ 19.99 USD",
)
_SCRAPS = (
    *("&amp;", "&lt;script&gt;", "&#0;", "&#xD800;", "&#x10FFFF;", "&#99999999999;", "&nosuch;", "&", "<", ">"),
    "</",
    *("\0", "\ud800", "\udfff\ud800", "\u202e", "\u200f", "\u200b", "\ufeff", "\u2028", "\x1b", "\x85", "\xa0"),
    *("\U0010ffff", "e" + "\u0301" * 50, "👩‍👩‍👧‍👦", "ﷺ", "İ", "ß", "٣", "a" * 300, "的" * 80, "_*[]`~\\", "|"),
    *("]]>", "-->"),
    *("1.", "# ", "- ", "> ", "***", "\r\n\r\n", "\t", "      "),
)
_RAW = (
    *("<!-- a comment -->", "<!--", "<!-- -- > -->", "<![CDATA[ data ]]>", "<?php echo 1 ?>", "<!DOCTYPE html>"),
    '<!DOCTYPE x [<!ENTITY a "&#97;"><!ENTITY b "&a;&a;">]>',
    '<?xml version="1.0" encoding="utf-16"?>',
    *("<script>var a = '<p>';</script>", "<script>", "<style>p{}</style>", "<textarea>", "</p></div></table>"),
    *("</body></html>", "<>", "< p>", "<p/", '<p class="'),
)
_MICRODATA = ("author", "datePublished", "name", "articleBody")


def page(random: Random, most: int = 60) -> str:
    """Return a page of at most ``most`` pieces: elements, texts and oddities, some never closed."""
    pieces: list[str] = ["<html><head>", *_head(random), "</head><body>"] if random.random() < 0.5 else []
    open_tags: list[str] = []
    for _ in range(random.randint(1, most)):
        kind = random.random()
        if kind < 0.35:
            tag = _tag(random)
            pieces.append(_start(random, tag))
            if tag not in _VOID:
                open_tags.append(tag)
        elif kind < 0.55 and open_tags:
            pieces.append(f"</{open_tags.pop(random.randint(-2, -1) if len(open_tags) > 1 else -1)}>")
        elif kind < 0.92:
            pieces.append(text(random))
        else:
            pieces.append(random.choice(_RAW))
    if random.random() < 0.5:
        pieces += [f"</{tag}>" for tag in reversed(open_tags)]
    return "".join(pieces)


def repeated(random: Random, most: int = 60) -> str:
    """Return a page whose parts repeat: lists and records, nests, or one part over and over."""
    part = page(random, min(most, 6))
    times = random.choice((2, 3, 8, 30, 60))
    if random.random() < 0.3:
        tag = _tag(random)
        return f"<{tag}>" * times + part + f"</{tag}>" * random.choice((0, times))
    return "".join(part.replace("one", f"one {number}") for number in range(times))


def text(random: Random) -> str:
    """Return some words, and now and then what no text should hold."""
    if random.random() < 0.3:
        return "".join(random.choice(_SCRAPS) for _ in range(random.randint(1, 4)))
    return " ".join(random.choice(_SENTENCES) for _ in range(random.choice((1, 1, 1, 2, 6))))


def encoded(random: Random, markup: str) -> str | bytes:
    """Return ``markup`` as text, or as bytes of some encoding that it may lie about."""
    if random.random() < 0.4:
        return markup
    real = random.choice(("utf-8", "utf-8", "gb18030", "big5", "shift_jis", "utf-16", "utf-16-be", "cp1251"))
    said = random.choice(
        ("utf-8", "gb2312", "utf-16", "utf-7", "iso-2022-jp", "x-user-defined", "nonsense", "\0", "")
    )
    return f'<meta charset="{said}">{markup}'.encode(real, "replace")


def _tag(random: Random) -> str:
    kind = random.random()
    tags = _BLOCKS if kind < 0.5 else _INLINE if kind < 0.75 else _TABLES if kind < 0.88 else _ODD
    tag = random.choice(tags)
    return tag.upper() if kind < 0.02 else tag


def _start(random: Random, tag: str) -> str:
    attributes = "".join(_attribute(random) for _ in range(random.choice((0, 0, 1, 1, 2, 5))))
    return f"<{tag}{attributes}>"


def _attribute(random: Random) -> str:
    name = random.choice(
        [
            *("class", "id", "style", "href", "src", "width", "height", "lang", "dir", "itemprop", "rel", "start"),
            *("colspan", "datetime", "x:y", "on=", "alt"),
        ]
    )
    values = {
        "class": _CLASSES, "id": _CLASSES, "style": _STYLES, "href": _ADDRESSES, "src": _ADDRESSES,
        "itemprop": _MICRODATA, "rel": ("author", "nofollow", "canonical"),
    }.get(name, _NUMBERS)  # fmt: skip
    value = random.choice(values) if random.random() < 0.9 else text(random)
    quote = random.choice(('"', '"', "'", ""))
    return f" {name}={quote}{value}{quote}"


def _head(random: Random) -> list[str]:
    parts = [f"<title>{text(random)}</title>"] if random.random() < 0.7 else []
    if random.random() < 0.3:
        parts.append(f'<base href="{random.choice(_ADDRESSES)}">')
    if random.random() < 0.4:
        name = random.choice(("og:title", "author", "article:published_time", "date", "og:locale", "dc.creator"))
        parts.append(f'<meta property="{name}" content="{text(random)}">')
    if random.random() < 0.4:
        parts.append(f'<script type="application/ld+json">{_json_ld(random)}</script>')
    return parts


def _json_ld(random: Random) -> str:
    odd = random.choice(
        (None, 1, [], {}, "x", [[]], {"@id": "#a"}, [{"name": ["n"]}], "\ud800", 1e300, {"@value": 3})
    )
    item = {
        "@type": random.choice(("NewsArticle", "Product", "WebPage", ["Article", 1], None, {})),
        "headline": random.choice(("A headline", odd)),
        "author": random.choice(({"name": "Ann"}, odd)),
        "datePublished": random.choice(("2031-03-14T10:03:00Z", "0000-00-00", "9999-12-31T23:59:60+99:99", odd)),
    }
    graph = random.choice((item, [item], {"@graph": [item, odd]}, {"mainEntity": item}, odd))
    written = json.dumps(graph)
    return random.choice(
        (written, written[:-3], f"<!-- {written} -->", "[" * 500, f"/*<![CDATA[*/{written}/*]]>*/")
    )
