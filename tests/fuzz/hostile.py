"""Pages and archives that are large, deep or strange in one way each."""

import gzip
from collections.abc import Callable
from html import escape
from itertools import islice, product
from string import ascii_lowercase

import xxhash

from denoise_crawler.page import MAX_ATTRIBUTES, MAX_ELEMENTS, MAX_HTML_BYTES, MAX_TEXT_BYTES

SENTENCE = "The boats came home one by one, long before the evening bell. "
ENTITIES = (
    '<!DOCTYPE html [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    + "]>"
)


def sized(mega: float, part: str) -> str:
    """Return ``part`` over and over, ``mega`` million characters in all."""
    return part * int(mega * 1_000_000 / len(part))


def around(inner: str) -> str:
    """Return a page with ``inner`` between two paragraphs."""
    return f"<html><head><title>t</title></head><body><p>first {SENTENCE}</p>{inner}<p>last {SENTENCE}</p>"


def names(count: int) -> list[str]:
    """Return ``count`` words of four letters, all different."""
    return list(map("".join, islice(product(ascii_lowercase, repeat=4), count)))


KNOWN_NUMBER = 0x9E3779B97F4A7C15  # what tables of hashes are often multiplied by: anybody can look it up


def meeting_words(count: int, length: int = 7) -> list[str]:
    """Return words whose hashes, times a known number, fall into the first of 32 parts of a table."""
    found: list[str] = []
    for word in map("".join, product(ascii_lowercase, repeat=length)):
        if (xxhash.xxh32_intdigest(word.encode()) * KNOWN_NUMBER >> 32) & 0x7FFFF < 1 << 14:
            found.append(word)
            if len(found) == count:
                break
    return found


TAGS = MAX_ELEMENTS - 20  # as many as there may be besides those of ``around``


def up_to_every_limit() -> str:
    """Return a page that has as much of everything as a page may have."""
    text = "据新华网报道昨天下午的会议"[: (MAX_TEXT_BYTES // 3 - 300) // TAGS]
    kinds = ("class", "id", "title", "lang", "dir")[: MAX_ATTRIBUTES // TAGS]
    page = around(
        "".join(f"<p {' '.join(f'{kind}={name}{kind}' for kind in kinds)}>{text}" for name in names(TAGS))
    )
    return page + "<script>" + "x" * (MAX_HTML_BYTES - len(page.encode()) - 100)


# What regular expressions that are superlinear take long for, over and over.
LIKE_CHARACTERS = (
    *" \n1aAx的é_-.,:;/\\|<([{\"'&=#*$", "1 ", "1,", "1.", "1:", "a ", "a.", "a-", "A ", "A. ", ", ", ": ", " \n",
    "<a", "a=b ", "1a", "& ", "的 ", "的1",
)  # fmt: skip
_PLACES = (
    "<title>{}</title>", '<meta name="author" content="{}">', '<meta name="date" content="{}">',
    '<meta itemprop="priceCurrency" content="{}">', '<meta property="og:title" content="{}">',
    "<style>.a { width: {} } {}</style>", "<h1>{}</h1>", '<p class="byline">By {}</p>', "<time>{}</time>",
    '<span class="price">{}</span>', "<p>{}</p>", "<p>{}<sup>{}</sup></p>", "<pre>{}</pre>",
    '<pre><span aria-hidden="true">{}</span>x = 1\n</pre>', "<table><tr><th>{}<td>{}</table>", "<ul><li>{}</ul>",
    '<p><a href="{}">a</a></p>', '<p><a href="/a">{}</a></p>', '<img src="/a.png" alt="{}">', '<img srcset="{}">',
    '<p style="{}">a</p>', '<p class="{}">a</p>', "<math><annotation>{}</annotation></math>",
    "<dl><dt>{}<dd>{}</dl>", '<div itemprop="recipeIngredient">{}</div>', "<noscript>{}</noscript>",
)  # fmt: skip


def runs_in_every_place(length: int) -> list[str]:
    """Return a page for each of the like characters, with long runs of them in all places."""
    runs = (escape(unit * (length // len(unit)) + "!") for unit in LIKE_CHARACTERS)
    return [around("".join(place.replace("{}", run) for place in _PLACES)) for run in runs]


def site_of_meeting_words(pages: int) -> list[str]:
    """Return pages of one site, each of as many words that meet as a page may have, none on two of them."""
    words = meeting_words(pages * TAGS)
    return [around("".join(f"<p class=b>{word}" for word in words[number::pages])) for number in range(pages)]


# By name: how the page is made, or several of one site. What is above a limit is skipped, what is just below is
# measured as well.
HOSTILE: dict[str, Callable[[], str | bytes | list[str]]] = {
    "a small page": lambda: around(""),
    "a million siblings": lambda: around("<p>a" * 1_000_000),
    "a million empty siblings": lambda: around("<br>" * 1_000_000),
    "every limit at once": up_to_every_limit,
    "line breaks, a letter before each": lambda: around("x<br>" * TAGS),
    "paragraphs of a letter": lambda: around("<p>a" * TAGS),
    "paragraphs with classes and ids of their own": lambda: around(
        "".join(f"<p class={name * 12} id={name * 9}x>报{name}道" for name in names(TAGS))
    ),
    "words whose hashes met, six pages": lambda: site_of_meeting_words(6),
    "classes and words whose hashes met": lambda: around(
        "".join(map("<p class={}>{}".format, meeting_words(TAGS), reversed(meeting_words(TAGS))))
    ),
    "paragraphs of different kana": lambda: around(
        "".join(
            f"<p class={name}>" + "".join(chr(0x3041 + (place * step + step) % 180) for step in range(1, 12))
            for place, name in enumerate(names(TAGS))
        )
    ),
    "calls to the reader in every paragraph": lambda: around(("<p>" + "subscribe " * 4) * (TAGS // 2)),
    "a thread of posts of a line": lambda: around(
        "".join(f"<p class=post{n % 50}>May {n % 28 + 1}, 2024<p>Is it open at {n}?" for n in range(TAGS // 2))
    ),
    "links, all different": lambda: around("".join(f"<a href=/{name}>{name}</a> " for name in names(TAGS // 2))),
    "links never closed": lambda: around(
        "".join(f"<a href=/{name * 14} class={name * 4}>报{name}道" for name in names(TAGS))
    ),
    "pictures, all different": lambda: around(
        f"<base href=http://{'a' * 900}/>" + "".join(f"<img src={name} class={name}>" for name in names(TAGS))
    ),
    "list items, all different": lambda: around(
        "".join(f"<li class={name}><b>{name}</b> x" for name in names(TAGS // 3))
    ),
    "cells of a table": lambda: around("<table>" + ("<tr>" + "<td>1" * 100) * (TAGS // 101)),
    "levels with classes of their own": lambda: around(
        ("".join(f"<div class={name}>x" for name in names(1_900)) + "</div>" * 1_900) * (TAGS // 3_800)
    ),
    "videos never closed before line breaks": lambda: around("<video>" * 1_900 + "<br>" * (TAGS - 1_900)),
    "tags that a title swallowed as entities": lambda: "<title>" + "&lt;p>a" * TAGS,
    "attributes": lambda: around(
        ("<p " + " ".join(f"{name}={name}" for name in names(500)) + ">a") * (MAX_ATTRIBUTES // 500)
    ),
    "a text of 1.5 MB": lambda: around(sized(MAX_TEXT_BYTES / 1e6 - 0.01, SENTENCE)),
    "words of a letter": lambda: around(sized(MAX_TEXT_BYTES / 1e6 - 0.01, "a b ")),
    "different words": lambda: around(" ".join(f"{name}x" for name in names(MAX_TEXT_BYTES // 6 - 100))),
    "Chinese of 500,000 characters": lambda: around(
        sized(MAX_TEXT_BYTES / 3e6 - 0.01, "据新华网报道昨天下午的会议在上海举行")
    ),
    "different Chinese characters": lambda: around(
        "".join(chr(0x4E00 + place * 7_919 % 20_000) for place in range(MAX_TEXT_BYTES // 3 - 1_000))
    ),
    "characters of four bytes": lambda: around(sized(MAX_TEXT_BYTES / 5e6 * 2 - 0.01, "\U0001f600 ")),
    "a script of 8 MB": lambda: around(f"<script>{'x' * (MAX_HTML_BYTES - 400)}</script>"),
    "data of 2 MB": lambda: around(f'<script type="application/ld+json">[{"{}," * 600_000}1]</script>'),
    "100,000 links": lambda: around("".join(f"<a href=/{n}>Link {n}</a> " for n in range(100_000))),
    "a text of 50 MB": lambda: around(sized(50, SENTENCE)),
    "a word of 1.4 MB": lambda: around(sized(1.4, "a")),
    "Chinese of 5 million characters": lambda: around(sized(5, "据新华网报道昨天下午的会议在上海举行")),
    "one Chinese character 300,000 times": lambda: around("的" * 300_000),
    "white space of 7.9 MB": lambda: around(" \n" * 3_950_000),
    "19,000 levels": lambda: around("<div>" * 19_000 + SENTENCE + "</div>" * 19_000),
    "1,900 levels, text in each": lambda: around(f"<div>{SENTENCE}" * 1_900 + "</div>" * 1_900),
    "39,000 levels of b": lambda: around("<b>" * 39_000 + SENTENCE),
    "a thousand attributes on 95 elements": lambda: around(
        ("<p " + " ".join(f'a{n}="{n}"' for n in range(1_000)) + ">a") * 95
    ),
    "a million attributes on one element": lambda: around(
        "<p " + " ".join(f"a{n}" for n in range(1_000_000)) + ">a</p>"
    ),
    "an attribute of 7.9 MB": lambda: around(f'<p class="{sized(7.9, "abc ")}">a</p>'),
    "a style of 7.9 MB": lambda: around(f'<p style="{sized(7.9, "width :")}">a</p>'),
    "an address of 7.9 MB": lambda: around(f'<a href="{sized(7.9, "/../a?")}">a</a>'),
    "entity bombs": lambda: ENTITIES + around("&a11;" * 1_000),
    "a million character references": lambda: around("&amp;&#x41;" * 500_000),
    "a table 5,000 deep": lambda: around("<table><tr><td>" * 5_000 + SENTENCE),
    "colspan and rowspan of 999999999": lambda: around(
        "<table>" + "<tr><td colspan=999999999 rowspan=999999999>a<td>b" * 200 + "</table>"
    ),
    "lists in lists in quotes": lambda: around(
        "<ul><li><blockquote>a" * 1_500 + "</blockquote></li></ul>" * 1_500
    ),
    "misnested formatting": lambda: around("<b><i><a href=x><p>a</b></i>" * 6_600),
    "stray end tags": lambda: around("</p></div></b>" * 13_000),
    "39,000 comments": lambda: around("<!-- a -->" * 39_000),
    "an unclosed comment of 7.9 MB": lambda: around("") + "<!-- " + sized(7.9, "- -"),
    "unclosed tags": lambda: around("<p" * 39_000),
    "JSON-LD of 1 MB nested lists": lambda: around(
        '<script type="application/ld+json">' + "[" * 1_000_000 + "</script>"
    ),
    "JSON-LD with 300,000 spaces inside": lambda: around(
        '<script type="application/ld+json">[1' + " " * 300_000 + "x]</script>"
    ),
    "a heading with a picture named ### 300,000 times": lambda: around(
        f'<h2>a <img src=a.png alt="{"#" * 300_000}"> b</h2>'
    ),
    "JSON-LD with a headline of angle brackets": lambda: around(
        '<script type="application/ld+json">{"@type":"Article","headline":"' + "&lt;" * 400_000 + '"}</script>'
    ),
    "an author of 1 MB": lambda: around(f'<meta name="author" content="{sized(1, "a-")}">'),
    "runs of like characters in 26 places": lambda: runs_in_every_place(4_000),
    "digits and spaces before a line of code": lambda: around(
        f"<pre><span aria-hidden=true>{'1' * 20_000}{' ' * 20_000}x</span>x = 1\n</pre>"
    ),
    "nested microdata that holds only markup": lambda: around(
        "<div itemprop=description>" * 500 + "&amp;lt;a&amp;gt; " * 44_000
    ),
    "a currency of digits and spaces": lambda: around(
        '<script type="application/ld+json">{"@type":"Product","name":"t","offers":{"@type":"Offer","price":"5",'
        f'"priceCurrency":"{"1 " * 20_000}"}}}}</script>'
    ),
    "NUL bytes": lambda: around("\0" * 1_000_000),
    "lone surrogates": lambda: around("\ud800" * 490_000),
    "right-to-left marks": lambda: around("\u202e\u200f" * 240_000),
    "combining accents": lambda: around("e" + "\u0301" * 740_000),
    "backticks, stars and brackets": lambda: around(sized(0.5, "`*_[]()<>#|~\\!")),
    "digits": lambda: around(f"<p>{sized(1.4, '1')}</p>" + f'<p class="{sized(5, "1")}">x</p>'),
    "bytes that are no text": lambda: bytes(range(256)) * 3_000 + around("").encode(),
    "UTF-16 that says it is UTF-8": lambda: ("<meta charset=utf-8>" + around(sized(0.49, "中文"))).encode(
        "utf-16"
    ),
    "UTF-7 and ISO-2022 said": lambda: ('<meta charset="iso-2022-jp">' + around("\x1b$B" * 200_000)).encode(),
}


def record(headers: str, body: bytes) -> bytes:
    """Return a Tianwang record of a page with some HTTP headers."""
    raw = f"HTTP/1.1 200 OK\r\nContent-Type: text/html{headers}\r\n\r\n".encode() + body
    return b"version: 1.0\nurl: http://hostile.example/\nlength: %d\n\n%b\n" % (len(raw), raw)


def brotli_bomb() -> bytes:
    """Return four gigabytes, compressed."""
    from brotli import Compressor

    compressor, zeros = Compressor(quality=1), b" " * (1 << 24)
    parts = [
        compressor.process(b"<p>first"),
        *(compressor.process(zeros) for _ in range(256)),
        compressor.finish(),
    ]
    return b"".join(parts)


def gzip_bomb(size: int) -> bytes:
    """Return that many bytes, compressed."""
    return gzip.compress(b"<p>first" + b" " * size)


# By name: how the archive is made. Behind each stands a sound page, which must be read.
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "brotli that unpacks to 4 GB": lambda: record("\r\nContent-Encoding: br", brotli_bomb()),
    "gzip that unpacks to 1 GB": lambda: record("\r\nContent-Encoding: gzip", gzip_bomb(1 << 30)),
    "an HTTP header folded 1.2 million times": lambda: record("\r\nX: a" + "\r\n b" * 1_250_000, b"<p>first"),
    "an HTTP header of 60 MB": lambda: record(f"\r\nX: {'a' * 60_000_000}", b"<p>first"),
    "4 million HTTP headers": lambda: record("\r\nX: a" * 4_000_000, b"<p>first"),
    "charset=punycode": lambda: record("; charset=punycode", b"<p>first \xe9-" + b"abc9" * 1_000_000),
    "charset=idna": lambda: record("; charset=idna", b"<p>first \xe9" + b"a." * 1_000_000),
    "a page of 60 MB": lambda: record("", b"<p>first" + b"<br>x" * 12_000_000),
    "10 MB between two records": lambda: b"version of nothing: \n" * 500_000,
}
