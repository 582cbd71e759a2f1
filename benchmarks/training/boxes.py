"""Gold pages with boxes planted between their paragraphs: advertisements, forms, notices, comments; facts, tables.

Gold sets are mostly of articles whose boxes stand beside them. Here each kind of box stands where sites of today
have it, in several languages, wrapped in many ways, so that no single class or word decides.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from lxml import etree
from msgspec.structs import replace

from benchmarks.training.examples import DrawnWords, gold_paragraphs, without
from denoise_crawler.evaluation import GoldPage
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

COUNTS = 0.5  # of another page
_MOST_BOXES = 3
_SHORT_SHARE, _SHORT = 0.35, 4  # of the pages are cut to a few paragraphs
_COMMENTS_SHARE = 0.4
_CONTENT_SHARE, _LAST_SHARE = 0.45, 0.2  # of the boxes are content, of these stand behind the last paragraph
_NAMED_SHARE = 0.6  # of the boxes have a class that says what they are
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

_WORDS = json.loads(Path(__file__).with_name("box_words.json").read_text("utf-8"))
_SAYINGS: dict[str, dict[str, list[str]]] = _WORDS["sayings"]  # by language and kind of box
_NAMES: dict[str, list[str]] = _WORDS["names"]  # by kind, its classes


class _Box:
    """What a box is made of: the words of a language, drawn words of the page, and chance."""

    def __init__(self, chance: random.Random, language: str, words: DrawnWords) -> None:
        self.chance, self._sayings, self.words = chance, _SAYINGS.get(language, _SAYINGS["en"]), words

    def say(self, kind: str) -> str:
        """Return one of the sayings of a kind."""
        return self.chance.choice(self._sayings[kind]).replace("{}", str(self.chance.randint(2, 28)))

    def is_so(self, share: float) -> bool:
        """Draw."""
        return self.chance.random() < share

    def element(self, tags: str, kind: str = "", text: str = "") -> etree._Element:
        """Return an element of one of the ``tags``, whose class may say of which ``kind`` it is."""
        made = etree.Element(self.chance.choice(tags.split("|")))
        made.text = text
        if kind and self.is_so(_NAMED_SHARE):
            made.set(self.chance.choice(("class", "class", "class", "id")), self.chance.choice(_NAMES[kind]))
        elif self.is_so(0.5):
            made.set("class", f"css-{''.join(self.chance.choices(_DIGITS, k=6))}")
        return made

    def add(self, parent: etree._Element, tags: str, text: str = "", kind: str = "") -> etree._Element:
        """Add an element to another."""
        made = self.element(tags, kind, text)
        parent.append(made)
        return made

    def link(self, parent: etree._Element, text: str) -> None:
        """Add a link."""
        etree.SubElement(parent, "a", href=f"/{hash64(text):x}").text = text


def _advertisement(box: _Box) -> etree._Element:
    made = box.element("div|div|aside|section", "ad")
    box.add(made, "span|div|p|small", box.say("ad"))
    inner = box.add(made, "div") if box.is_so(0.4) else made
    for _ in range(box.chance.randint(1, 2)):
        box.add(inner, "p|p|h3|div", box.words.draw(box.chance, 4, 25))
    if box.is_so(0.5):
        box.link(box.add(inner, "p|div"), box.words.draw(box.chance, 2, 4))
    return made


def _letter(box: _Box) -> etree._Element:
    made = box.element("div|aside|section|form", "letter")
    if box.is_so(0.6):
        box.add(made, "h3|h4|p|div", box.words.draw(box.chance, 2, 6))
    box.add(made, "p|p|div|span", box.say("letter"))
    form = made if made.tag == "form" else box.add(made, "form|form|div")
    if box.is_so(0.6):
        box.add(form, "label|p", box.say("mail"))
    etree.SubElement(form, "input", type="email" if box.is_so(0.7) else "text", name="email")
    box.add(form, "button|span|div", box.say("send"))
    return made


def _notice(kind: str) -> Callable[[_Box], etree._Element]:
    def make(box: _Box) -> etree._Element:
        made = box.element("div|div|aside|section|p", kind)
        sayings = [box.say(kind) for _ in range(box.chance.randint(1, 3))]
        if box.is_so(0.2):
            sayings.append(box.words.draw(box.chance, 4, 15))
        if made.tag == "p" and box.is_so(0.4):
            box.add(made, "strong|em|b", " ".join(dict.fromkeys(sayings)))
            return made
        if made.tag == "p" or (len(sayings) == 1 and box.is_so(0.5)):
            made.text = " ".join(dict.fromkeys(sayings))
            return made
        for saying in dict.fromkeys(sayings):
            box.add(made, "p|p|div|h3|span", saying)
        if box.is_so(0.4):
            box.link(box.add(made, "p|div"), box.words.draw(box.chance, 1, 4))
        return made

    return make


def _modal(box: _Box) -> etree._Element:
    made = box.element("div", "modal")
    inner = box.add(made, "div")
    box.add(inner, "h1|h2|h3|h4", box.words.draw(box.chance, 2, 6))
    for _ in range(box.chance.randint(1, 3)):
        box.add(inner, "p", box.say(box.chance.choice(("letter", "consent", "wall", "appeal"))))
    return made


def _related(box: _Box) -> etree._Element:
    made = box.element("div|aside|section", "more")
    box.add(made, "h3|h4|p|strong|div", box.say("more"))
    entries = box.add(made, "ul|div|div")
    for _ in range(box.chance.randint(1, 5)):
        entry = box.add(entries, "li" if entries.tag == "ul" else "div|p")
        box.link(entry, box.words.draw(box.chance, 4, 12))
        if box.is_so(0.3):
            box.add(entry, "p|span|time", box.words.draw(box.chance, 2, 20))
    return made


def _wire(box: _Box) -> etree._Element:
    made = box.element("aside|div|section", "wire")
    box.add(made, "h3|h4|div", box.words.draw(box.chance, 1, 4))
    for _ in range(box.chance.randint(2, 6)):
        entry = box.add(made, "div|article|li")
        box.link(box.add(entry, "h4|h3|p|strong"), box.words.draw(box.chance, 4, 12))
        box.add(entry, "p|p|div", box.words.draw(box.chance, 15, 70))
        if box.is_so(0.5):
            box.add(entry, "span|time|p", box.say("ago"))
    return made


def _share(box: _Box) -> etree._Element:
    made = box.element("ul|div", "share")
    for _ in range(box.chance.randint(2, 5)):
        entry = box.add(made, "li" if made.tag == "ul" else "span|div")
        box.link(entry, box.say("share"))
    return made


def comments(box: _Box) -> etree._Element:
    """Return comments of readers in one of many shapes."""
    chance, made = box.chance, box.element("section|div|div|aside", "comments")
    if box.is_so(0.8):
        box.add(made, "h2|h3|h4|div|p|span", box.say("comments"))
    entries = box.add(made, "ol|ul|div|div", kind="comments") if box.is_so(0.7) else made
    tag = "li" if entries.tag in ("ol", "ul") else chance.choice(("div", "div", "article", "section"))
    name = box.element(tag, "comments").get("class", "")
    head, body = chance.choice(("div", "header", "p", "h4", "span")), chance.choice(("p", "p", "div"))
    user, time = chance.choice(("a", "b", "span", "strong", "cite")), chance.choice(("time", "span", "small", "a"))
    time, is_behind, is_inner = time if box.is_so(0.8) else "", box.is_so(0.2), box.is_so(0.5)
    button = chance.choice(("a", "button", "span", "div", ""))
    for _ in range(chance.randint(1, 9)):
        entry = etree.SubElement(entries, tag, {"class": name} if name else {})
        if box.is_so(0.1):
            entry.set("id", f"c-{chance.randint(100, 9999)}")
        first = _head_of_comment(box, head, user, time)
        text = etree.Element("div") if is_inner else entry
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            etree.SubElement(text, body).text = box.words.draw(chance, 4, 60)
        if is_inner:
            entry.append(text)
        entry.insert(len(entry) if is_behind else 0, first)
        if button:
            etree.SubElement(entry, button).text = box.say("reply")
    if box.is_so(0.3):
        box.add(made, "p|button|div", box.say("comments"))
    return made


def _head_of_comment(box: _Box, head: str, user: str, time: str) -> etree._Element:
    made = etree.Element(head)
    who = etree.SubElement(made, user)
    who.text, who.tail = box.words.draw(box.chance, 1, 2).rstrip(".。"), box.chance.choice((" ", " · ", ", "))
    if time:
        etree.SubElement(made, time).text = box.say("ago")
    return made


# --- boxes that are content


def _facts(box: _Box) -> etree._Element:
    made = box.element("aside|aside|div|section", "facts")
    if box.is_so(0.7):
        box.add(made, "h3|h4|p|strong", box.say("facts") if box.is_so(0.4) else box.words.draw(box.chance, 1, 6))
    if box.is_so(0.5):
        entries = box.add(made, "ul")
        for _ in range(box.chance.randint(2, 5)):
            box.add(entries, "li", box.words.draw(box.chance, 4, 14))
    else:
        for _ in range(box.chance.randint(1, 3)):
            box.add(made, "p", box.words.draw(box.chance, 12, 45))
    return made


def _callout(box: _Box) -> etree._Element:
    made = box.element("aside|div|div|blockquote|section", "note")
    if box.is_so(0.7):
        head = box.say("note") if box.is_so(0.5) else box.words.draw(box.chance, 1, 6).rstrip(".。")
        box.add(made, "strong|p|div|span|h3|h4", head)
    for _ in range(box.chance.randint(1, 2)):
        box.add(made, "p|p|div", box.words.draw(box.chance, 8, 40))
    return made


def _table(box: _Box) -> etree._Element:
    made, columns = box.element("table", "facts" if box.is_so(0.3) else ""), box.chance.choice((2, 2, 3, 4))
    value = box.say("facts") if box.is_so(0.2) else ""
    for row in range(box.chance.randint(3, 9)):
        line = etree.SubElement(made, "tr")
        for column in range(columns):
            cell = etree.SubElement(line, "th" if not row or (not column and box.is_so(0.3)) else "td")
            numeric = column and row and box.is_so(0.6)
            number = f"{box.chance.randint(1, 4000)} {box.chance.choice(('€', 'kg', '%', 'cm', ''))}".strip()
            cell.text = value if value and column == columns - 1 and row else number if numeric else (
                box.words.draw(box.chance, 1, 4).rstrip(".。")
            )  # fmt: skip
    return made


def _definitions(box: _Box) -> etree._Element:
    made = box.element("dl", "facts")
    for _ in range(box.chance.randint(2, 7)):
        etree.SubElement(made, "dt").text = box.words.draw(box.chance, 1, 3).rstrip(".。")
        etree.SubElement(made, "dd").text = box.words.draw(box.chance, 1, 10).rstrip(".。")
    return made


_NOISE: Sequence[Callable[[_Box], etree._Element]] = (
    _advertisement, _advertisement, _letter, _letter,
    _notice("appeal"), _notice("wall"), _notice("consent"), _notice("script"), _related, _wire, _share,
)  # fmt: skip
_CONTENT = _facts, _facts, _callout, _callout, _table, _definitions


def boxed(page: GoldPage, address: str, number: int = 0, *, may_have_comments: bool = True) -> GoldPage | None:
    """Return a page with boxes, and those that are content in its gold; None if it has no paragraph of its gold.

    The same for ever: chance is drawn from the address and a ``number``.
    """
    root = Page.parse(address, page.html, site=page.site).root
    if root is None or not (paragraphs := gold_paragraphs(root, page.gold or "")):
        return None
    chance = random.Random(hash64(f"boxed {address} {number}"))
    language = (root.get("lang") or "").lower()[:2]
    words = DrawnWords(page.gold or "")
    if words.are_signs and language not in ("zh", "ja"):
        language = "zh"
    elif language not in _SAYINGS or chance.random() < 0.1:
        language = chance.choice(("en", "en", *_SAYINGS)) if not words.are_signs else language
    box, gold = _Box(chance, language, words), page.gold or ""
    if len(paragraphs) > 1 and chance.random() < _SHORT_SHARE:
        left = chance.randint(1, _SHORT)
        gold, paragraphs = without(gold, paragraphs[left:]), paragraphs[:left]
    for _ in range(chance.randint(1, _MOST_BOXES)):
        if chance.random() < _CONTENT_SHARE:
            made = chance.choice(_CONTENT)(box)
            gold += "\n" + "\n".join(text for one in made.iter() if (text := one.text))
            # what stands before the first paragraph or behind the last is less often content
            is_last = len(paragraphs) == 1 or chance.random() < _LAST_SHARE
            _put(made, paragraphs[-1 if is_last else chance.randrange(len(paragraphs) - 1)])
        else:
            made = chance.choice(_NOISE)(box)
            at = chance.choice((0.0, 0.3, 0.5, 0.8, 1.0, 1.0))
            beside = paragraphs[round(at * (len(paragraphs) - 1))]
            _put(made, beside, before=at == 0.0 and chance.random() < 0.5)
    if may_have_comments and chance.random() < _COMMENTS_SHARE:
        beside = paragraphs[-1]
        if (
            chance.random() < 0.6
            and (above := beside.getparent()) is not None
            and above.tag not in ("body", "html", "td")
        ):
            beside = above
        _put(comments(box), beside)
    if chance.random() < 0.1 and (body := next(root.iter("body"), None)) is not None:
        body.append(_modal(box))
    return replace(page, gold=gold, html=str(etree.tostring(root, encoding="unicode", method="html")))


def _put(made: etree._Element, beside: etree._Element, *, before: bool = False) -> None:
    if (parent := beside.getparent()) is None:
        return
    if before:
        parent.insert(parent.index(beside), made)
        return
    made.tail, beside.tail = beside.tail, None
    parent.insert(parent.index(beside) + 1, made)
