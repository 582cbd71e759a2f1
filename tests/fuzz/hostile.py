"""Pages that are large, deep or strange in one way each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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


# By name: how the page is made. ``first`` and ``last`` stand in the text of all but those that ``CUT`` names.
HOSTILE: dict[str, Callable[[], str | bytes]] = {
    "a small page": lambda: around(""),
    "a million siblings": lambda: around("<p>a" * 1_000_000),
    "a million empty siblings": lambda: around("<br>" * 1_000_000),
    "200,000 siblings with words": lambda: around(sized(14, f"<p>{SENTENCE}</p>")),
    "100,000 links": lambda: around("".join(f"<a href=/{n}>Link {n}</a> " for n in range(100_000))),
    "50,000 list items, all different": lambda: around(
        "".join(f"<li class=c{n}><b>{n}</b> x" for n in range(50_000))
    ),
    "a text of 15 MB": lambda: around(sized(15, SENTENCE)),
    "a text of 50 MB": lambda: around(sized(50, SENTENCE)),
    "a word of 15 MB": lambda: around(sized(15, "a")),
    "Chinese of 5 million characters": lambda: around(sized(5, "据新华网报道昨天下午的会议在上海举行")),
    "one Chinese character 300,000 times": lambda: around("的" * 300_000),
    "white space of 15 MB": lambda: around(" \n" * 7_500_000),
    "50,000 levels": lambda: around("<div>" * 50_000 + SENTENCE + "</div>" * 50_000),
    "1,900 levels, text in each": lambda: around(f"<div>{SENTENCE}" * 1_900 + "</div>" * 1_900),
    "500,000 levels of b": lambda: around("<b>" * 500_000 + SENTENCE),
    "a thousand attributes on 200 elements": lambda: around(
        ("<p " + " ".join(f'a{n}="{n}"' for n in range(1_000)) + ">a") * 200
    ),
    "a million attributes on one element": lambda: around(
        "<p " + " ".join(f"a{n}" for n in range(1_000_000)) + ">a</p>"
    ),
    "an attribute of 15 MB": lambda: around(f'<p class="{sized(15, "abc ")}">a</p>'),
    "a style of 15 MB": lambda: around(f'<p style="{sized(15, "width :")}">a</p>'),
    "an address of 10 MB": lambda: around(f'<a href="{sized(10, "/../a?")}">a</a>' * 1),
    "entity bombs": lambda: ENTITIES + around("&a11;" * 1_000),
    "a million character references": lambda: around("&amp;&#x41;" * 500_000),
    "a table of 1,000 x 300": lambda: around("<table>" + ("<tr>" + "<td>1" * 300) * 1_000 + "</table>"),
    "a table 5,000 deep": lambda: around("<table><tr><td>" * 5_000 + SENTENCE),
    "colspan and rowspan of 999999999": lambda: around(
        "<table>" + "<tr><td colspan=999999999 rowspan=999999999>a<td>b" * 200 + "</table>"
    ),
    "lists in lists in quotes": lambda: around(
        "<ul><li><blockquote>a" * 1_500 + "</blockquote></li></ul>" * 1_500
    ),
    "misnested formatting": lambda: around("<b><i><a href=x><p>a</b></i>" * 20_000),
    "stray end tags": lambda: around("</p></div></b>" * 500_000),
    "a million comments": lambda: around("<!-- a -->" * 1_000_000),
    "an unclosed comment of 15 MB": lambda: around("") + "<!-- " + sized(15, "- -"),
    "unclosed tags": lambda: around("<p" * 1_000_000),
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
    "NUL bytes": lambda: around("\0" * 1_000_000),
    "lone surrogates": lambda: around("\ud800" * 1_000_000),
    "right-to-left marks": lambda: around("\u202e\u200f" * 1_000_000),
    "combining accents": lambda: around("e" + "\u0301" * 2_000_000),
    "backticks, stars and brackets": lambda: around(sized(2, "`*_[]()<>#|~\\!")),
    "digits of 5 MB": lambda: around(f"<p>{sized(5, '1')}</p>" + f'<p class="{sized(5, "1")}">x</p>'),
    "bytes that are no text": lambda: bytes(range(256)) * 40_000 + around("").encode(),
    "UTF-16 that says it is UTF-8": lambda: ("<meta charset=utf-8>" + around(sized(1, "中文"))).encode("utf-16"),
    "UTF-7 and ISO-2022 said": lambda: ('<meta charset="iso-2022-jp">' + around("\x1b$B" * 200_000)).encode(),
}
TOO_LARGE = {"a text of 50 MB"}  # skipped, and said so
NO_TEXT = {"bytes that are no text", "UTF-7 and ISO-2022 said"}  # whatever can be read of it
