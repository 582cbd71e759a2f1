"""The posts of a thread: who wrote each and when, what of it is its text, and where it is linked to."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.date_parsing import CHANGED, iso_date
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.listings import POST, PageRecord, names_of, texts_of_most
from denoise_crawler.records.thread import DATE_ENDS, LONGER_THAN_DATES, find_date, thread_of

_MAX_USER_CHARACTERS = 40  # one letter stands for a picture
_MAX_USER_WORDS, _MOST_DIGITS = 3, 3  # digits for each letter
_SURE_USER, _SURER_USER = 0.5, 1.0  # of the best name, and of those for posts that have none
_TRIED = 3
_NAMED, _DECLARED, _DENIED, _CONSTANT, _AGREED, _BASE = 1.0, 0.3, 0.7, 1.2, 0.05, 0.7
_USER = re.compile(
    r"user|author|auteur|autor|nick|poster|member|creator|mitglied|profile?\b|ersteller|verfasser", re.IGNORECASE
)
_NO_USER = re.compile(
    r"title|titel|avatar|rank|locat|date|time|repl|quot|zitat|count|signat|sig\b|stat|button|icon|group|badge|role"
    r"|info_|extra|action|menu|like",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?:^|[/?&=])(?:users?|members?|profiles?|u|people|authors?|mitglied\w*|memberlist|viewprofile|~)(?:[/.?&=]|$)"
)
_LETTER = re.compile(r"[^\W\d_]")
_CLOCK_TIME = re.compile(r"\d[:.h]\d\d")
_OTHER_DAY = re.compile(
    rf"{CHANGED.pattern}|join|regist|member since|\bsince\b|\bseit\b|angemeldet|beigetreten|inscri|dabei"
    r"|beitritt|mitglied|зарегистр|注册|註冊",
    re.IGNORECASE,
)
_WORDS_BEFORE = 4  # nodes
_TIME_ATTRIBUTES = ("datetime", "title", "data-time", "data-datetime", "data-date", "content")
_CLOCK = re.compile(r"^\d{1,2}[:.]\d\d")
_SIGNATURE = re.compile(r"signatur|(?:^|[-_\s])sig(?:$|[-_\s])", re.IGNORECASE)
_QUOTE = re.compile(r"quote|zitat|citation", re.IGNORECASE)
_PERMANENT = re.compile(r"permalink|bookmark|postlink|post-?number|hashpermalink|postcounter", re.IGNORECASE)
_NUMBER = re.compile(r"\d{2,}")
_SHORTEST = 4  # characters; a shorter text may be what several posts say
_MAX_ATTRIBUTE = 200  # characters of an attribute


def users_of(page: Page) -> list[int]:
    """Return by post of the page's thread the text node that names its user, -1 where there is none."""
    nodes, thread, names = page.nodes, page.once(thread_of), page.once(names_of)
    by_name: dict[str, dict[int, int]] = defaultdict(dict)
    following = _next_texts(nodes)

    @cache  # elements in each other begin with the same text
    def is_name(text: int) -> bool:
        link = nodes.links[text]
        if link >= 0 and (nodes.address_of(link) or "").startswith("#"):
            return False  # "back to top"
        return _may_be_name(nodes.texts[text]) and not _leads_to_date(nodes, text, following)

    for number, (space, body) in enumerate(zip(thread.spaces, thread.bodies, strict=True)):
        closed = range(0) if thread.dates_inside else range(body, nodes.ends[body])
        for index in space:
            text = following[index]
            if nodes.tags[index] == TEXT or index in closed or text >= nodes.ends[index] or not is_name(text):
                continue
            for name in _user_names(nodes, names, index):
                by_name[name].setdefault(number, text)
    users = [-1] * len(thread.bodies)
    for place, (likeness, texts) in enumerate(_best_names(nodes, by_name, len(users))):
        if likeness < (_SURER_USER if place else _SURE_USER):
            break
        for number, text in texts.items():
            users[number] = text if users[number] < 0 else users[number]
    return users


def _best_names(
    nodes: Nodes, by_name: dict[str, dict[int, int]], posts: int
) -> list[tuple[float, dict[int, int]]]:
    """Return the likeliest names with their texts by post; those that lead to the same texts agree."""
    agreeing = Counter(tuple(texts.values()) for texts in by_name.values())
    ranked = [
        (_user_likeness(nodes, name, texts, posts) + _AGREED * agreeing[tuple(texts.values())], name)
        for name, texts in by_name.items()
    ]
    return [(likeness, by_name[name]) for likeness, name in sorted(ranked, reverse=True)[:_TRIED]]


def _user_likeness(nodes: Nodes, name: str, texts: dict[int, int], posts: int) -> float:
    """Return how much the elements of this name look like those of users."""
    by_name = _NAMED * bool(_USER.search(name)) + _DECLARED * name.endswith("@author")
    by_name -= _DENIED * bool(_NO_USER.search(name))
    values = {collapse_spaces(nodes.texts[text]) for text in texts.values()}
    constant = _CONSTANT * (len(values) == 1 and len(texts) > 2)
    return len(texts) / posts * (_BASE + by_name - constant)


def _leads_to_date(nodes: Nodes, text: int, following: Sequence[int]) -> bool:
    """Return True if a text is a word before a date beside it: "edited" or "answered"."""
    behind = following[text + 1] if text + 1 < len(nodes) else len(nodes)
    beside = behind < nodes.ends[nodes.parents[text]]
    return beside and nodes.texts[text].islower() and _date_in(nodes, behind) is not None


def _user_names(nodes: Nodes, names: Sequence[Sequence[str]], index: int) -> Iterator[str]:
    yield from names[index]
    if nodes.tags[index] == "a" and _ADDRESS.search(nodes.elements[index].get("href", "")):
        yield "a user"
    elif not names[index]:
        above = nodes.parents[index]
        yield f"{nodes.tags[index]}<{next(iter(names[above]), nodes.tags[above])}"


def _may_be_name(text: str) -> bool:
    line = collapse_spaces(text) if len(text) < 10 * _MAX_USER_CHARACTERS else text
    if not 1 < len(line) <= _MAX_USER_CHARACTERS or _LETTER.search(line) is None:
        return False
    if line.count(" ") >= _MAX_USER_WORDS:
        return False  # a title
    if sum(map(str.isdigit, line)) > _MOST_DIGITS * len(_LETTER.findall(line)):
        return False  # the number of a document
    return find_date(line) is None and not _CLOCK.match(line)


def _next_texts(nodes: Nodes) -> list[int]:
    """Return by node the first text at or behind it."""
    firsts = list[int]()
    for index, text in enumerate(nodes.texts):
        if text and not text.isspace():
            firsts += [index] * (index + 1 - len(firsts))
    return firsts + [len(nodes)] * (len(nodes) - len(firsts))


def find_posts(page: Page) -> list[PageRecord]:
    """Return the posts of a thread in document order; none if the page has no thread.

    Example:
        >>> post = "<div class=post><a class=user>{}</a> <i>May {}, 2024</i><div class=body>{}</div></div>"
        >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
        >>> [record.values["user"] for record in find_posts(Page.parse("https://a.example/", html))]
        ['Ann', 'Bob']
    """
    nodes, thread = page.nodes, page.once(thread_of)
    often = texts_of_most(nodes, thread.bodies, _SHORTEST)
    posts = []
    for body, space, user in zip(thread.bodies, thread.spaces, page.once(users_of), strict=True):
        inside = range(body, nodes.ends[body])
        time = _time(nodes, space, inside)
        written = {"user": _text(nodes, user), "time": _moment(nodes, time), "link": _link(page, space, body)}
        values = {name: value for name, value in written.items() if value}
        who = frozenset({user, time} - {-1})
        left_out = tuple(_left_out(nodes, inside, often, who))
        posts.append(PageRecord(POST, inside, left_out, values, space, who))
    return posts


def _text(nodes: Nodes, index: int) -> str:
    return collapse_spaces(nodes.texts[index]) if index >= 0 else ""


def _time(nodes: Nodes, space: range, body: range) -> int:
    """Return the node that says when: before the text, else behind it, else in it; -1 without one.

    Dates of changes and of the day when a user joined are passed over, and of several that with a time counts.
    """
    around = (*range(body.start - 1, space.start - 1, -1), *range(body.stop, space.stop))
    for part in (around, body):
        dated = [index for index in part if _says_when(nodes, index) and not _is_of_another_day(nodes, index)]
        with_clock = (index for index in dated if _CLOCK_TIME.search(_moment(nodes, index)))
        if dated:
            return next(with_clock, dated[0])
    return -1


def _says_when(nodes: Nodes, index: int) -> bool:
    if nodes.tags[index] != TEXT:
        return nodes.tags[index] == "time" and bool(_machine_time(nodes, index))
    return _date_in(nodes, index) is not None


def _date_in(nodes: Nodes, index: int) -> str | None:
    return find_date(_text(nodes, index)[:LONGER_THAN_DATES])


def _is_of_another_day(nodes: Nodes, index: int) -> bool:
    """Return True if the words before a date say that it is not the day of the post."""
    text = _text(nodes, index)
    date = find_date(text) or ""
    before = text[: len(text) - len(date)] if date else ""
    for node in range(index - 1, max(index - _WORDS_BEFORE, 0), -1):
        if before.strip(DATE_ENDS):
            break
        before = _text(nodes, node)
        if _date_in(nodes, node):  # its words are its own
            return False
    return len(before) < LONGER_THAN_DATES and _OTHER_DAY.search(before) is not None


def _moment(nodes: Nodes, index: int) -> str:
    """Return the time that a node says, in ISO 8601 if it can be read, else as it is written."""
    if index < 0:
        return ""
    time = _machine_time(nodes, index) or _machine_time(nodes, nodes.parents[index])
    written = _date_in(nodes, index) or ""
    return time or iso_date(written) or written


def _machine_time(nodes: Nodes, index: int) -> str:
    """Return the time that an element has for machines: in ``datetime``, or where its title is a date."""
    if nodes.tags[index] == TEXT:
        return ""
    for name in _TIME_ATTRIBUTES:
        value = nodes.elements[index].get(name, "")[:_MAX_ATTRIBUTE].strip()
        if value and (time := iso_date(value)):
            return time
    return ""


def _left_out(nodes: Nodes, inside: range, often: frozenset[str], byline: frozenset[int]) -> Iterator[range]:
    """Yield the subtrees of a post that are not its text; what it quotes is its text."""
    end = inside.start + 1
    for index in inside:
        if index < end:
            continue
        names = "" if nodes.tags[index] == TEXT else _attributes(nodes, [index])
        if _SIGNATURE.search(names) or index in byline or _text(nodes, index) in often:
            end = nodes.ends[index]
            yield range(index, end)
        elif nodes.tags[index] == "blockquote" or _QUOTE.search(names):
            end = nodes.ends[index]


def _attributes(nodes: Nodes, indices: Iterable[int], attributes: Sequence[str] = ("class", "id")) -> str:
    return " ".join(
        nodes.elements[index].get(name, "")[:_MAX_ATTRIBUTE] for index in indices for name in attributes
    )


def _link(page: Page, space: range, body: int) -> str:
    """Return the address of a post: of the link that says so, one with its element's number, or its element."""
    nodes = page.nodes
    numbers = set(_NUMBER.findall(_attributes(nodes, (space.start, body), ("id",))))
    numbered = ""
    for index in space:
        if nodes.tags[index] != "a" or not (href := nodes.elements[index].get("href", "")):
            continue
        if _PERMANENT.search(_attributes(nodes, [index], ("class", "title", "rel"))):
            return page.absolute(href)
        if not numbered and not numbers.isdisjoint(_NUMBER.findall(href.partition("#")[2])):
            numbered = page.absolute(href)
    ids = (nodes.elements[index].get("id", "") for index in (body, space.start))
    own = next((f"{page.url.partition('#')[0]}#{one}" for one in ids if _NUMBER.search(one)), "")
    return numbered or own
