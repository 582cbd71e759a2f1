"""The posts of a thread: texts that take turns with the dates of their posts; who wrote each, when, and where."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise

from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.date_parsing import AGO, CHANGED, iso_date
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.listings import POST, PageRecord, alike_elements, names_of, outermost, texts_of_most

_LONG = 61  # characters of a text that is more than a date
_TIMES = frozenset({"time"})
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|märz|mai|okt|dez|janv|févr|mars|avril|juin|juil|août|déc"
    r"|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|mrt|mei|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек|stycz|lut|kwi"
    r"|maj|cze|lip|sie|wrz|paź|lis|gru)"
)
_DAY = r"(?:yesterday|today|gestern|heute|hier|ayer|hoy|ieri|oggi)"
_DATE = re.compile(
    r"(?<!\d)(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))(?!\d)"
    r"|\d{4}\s?年\s?\d{1,2}\s?月"
    rf"|\b{_MONTH}\w*\.?,?\s+\d{{1,4}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-]+{_MONTH}\w*\b"
    rf"|{AGO}|^{_DAY}\W*$|\b{_DAY}(?:\W+\w{{1,2}})?\W*\d{{1,2}}[:.h]\d\d",
    re.IGNORECASE,
)
_IN_DATES = re.compile("|".join((r"\d", "ago", "vor", "il y a", "hace", _DAY)))
_ENDS = " ·|-–—,"
_OFTEN, _SHORT = 2, 60  # a short text that stands more often is no prose
_DATE_INSIDE = 0.6  # what holds the date as well is less likely the text of a post alone
_NAMED_WORTH = 1.3
_POST_NAMES = re.compile(r"post|messag|msg|content|comment|text|body|repl|answer|entry", re.IGNORECASE)
_MAX_USER_CHARACTERS = 40  # one letter stands for a picture
_MAX_USER_WORDS, _MOST_DIGITS = 3, 3  # digits for each letter
_SURE_USER, _SURER_USER = 0.5, 1.0  # of the best name, and of those for posts that have none
_TRIED = 3
_SAID, _DECLARED, _DENIED, _CONSTANT, _AGREED, _BASE = 1.0, 0.3, 0.7, 1.2, 0.05, 0.7
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


@lru_cache(maxsize=4_096)  # a page is asked for the same texts several times
def find_date(text: str) -> str | None:
    """Return a short text from its date on, None if it is long or has no date.

    Texts are remembered, so pass no more of a long one than its beginning.

    Example:
        >>> find_date("Posted on 12.03.2020, 19:29"), find_date("3 hours ago"), find_date("A story.")
        ('12.03.2020, 19:29', '3 hours ago', None)
    """
    if len(text) >= _LONG or not _IN_DATES.search(text.lower()):
        return None  # most texts, and the search for all dates is slow
    date = _DATE.search(text)
    return text[date.start() :].strip(_ENDS) if date else None


@dataclass(frozen=True, slots=True, eq=False)
class PrefixSums:
    """Running sums by node of prose, characters and dates; ``sums[end] - sums[start]`` is that of a range."""

    prose: Sequence[int]
    characters: Sequence[int]
    dates: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """The posts of a page: the elements with their texts (``bodies``), and the nodes that are each post's own.

    ``spaces[i]`` goes from where the post before ends to the end of the largest element with this post alone.
    ``dates_inside`` is True if the bodies hold the dates of their posts, and so what else is said of them;
    ``likeness`` (0 to 1.3) how much they look like posts.
    """

    bodies: list[int]
    spaces: list[range]
    dates_inside: bool
    likeness: float


def thread_of(page: Page) -> Thread:
    """Find the posts of ``page``; none if it has no thread."""
    nodes, sums = page.nodes, page.once(_prefix_sums_of)
    best, bodies = 0.0, list[int]()
    for name, members in page.once(alike_elements).items():
        if len(members) < 2 or len(candidates := outermost(nodes, members)) < 2:
            continue
        worth = _NAMED_WORTH if _POST_NAMES.search(name) else 1.0
        likeness = worth * _likeness(nodes, sums, candidates, best / worth)
        if likeness > best:
            best, bodies = likeness, candidates
    with_date = sum([sums.dates[nodes.ends[body]] > sums.dates[body] for body in bodies])
    return Thread(bodies, _spaces(nodes, bodies), 2 * with_date > len(bodies), best)


def _prefix_sums_of(page: Page) -> PrefixSums:
    nodes = page.nodes
    texts = [text and " ".join(text.split()) for text in nodes.texts]
    often = Counter([text for text in texts if text and len(text) <= _SHORT])
    dated = [0 < len(text) < _LONG and find_date(text) is not None for text in texts]
    for index in nodes.tagged(_TIMES):
        dated[index] = nodes.ends[index] == index + 1
    prose = [
        0 if not text or link >= 0 or has_date or often.get(text, 0) > _OFTEN else characters
        for text, link, has_date, characters in zip(texts, nodes.links, dated, page.characters, strict=True)
    ]
    sums = [list(accumulate(numbers, initial=0)) for numbers in (prose, page.characters, map(int, dated))]
    return PrefixSums(*sums)


def _likeness(nodes: Nodes, sums: PrefixSums, bodies: Sequence[int], least: float) -> float:
    """Return how much elements look like the texts of posts: full of prose, little else, dates between them.

    0 if they have too little prose for ``least``, however much looks like posts otherwise.
    """
    ends, sum_of_prose = nodes.ends, sums.prose
    prose = [sum_of_prose[ends[body]] - sum_of_prose[body] for body in bodies]
    if (total := sum(prose)) <= least * sum_of_prose[-1]:
        return 0.0
    spans = [(body, ends[body]) for body in bodies]
    held = [sums.characters[end] - sums.characters[start] for start, end in spans]
    coverage = total / sum_of_prose[-1]
    density = sum([one / every for one, every in zip(prose, held, strict=True) if every]) / sum(map(bool, held))
    borders = zip([0, *[end for _, end in spans]], [*bodies, len(nodes)], strict=True)
    between = [sums.dates[start] > sums.dates[end] for end, start in borders]
    inside = sum([1 / dates for start, end in spans if (dates := sums.dates[end] - sums.dates[start])])
    count = len(bodies)
    turns = max(sum(between[:-1]), sum(between[1:]), _DATE_INSIDE * inside) / count
    return coverage * density**2 * turns * count / (count + 1)


def _spaces(nodes: Nodes, bodies: Sequence[int]) -> list[range]:
    """Return the own nodes of each post; what stands before the first is as long as before the others."""
    own = [_own_element(nodes, bodies, number) for number in range(len(bodies))]
    gaps = [after.start - before.stop for before, after in pairwise(own)]
    starts = [max(own[0].start - min(gaps, default=0), 0), *[one.stop for one in own[:-1]]] if own else []
    return [range(start, one.stop) for start, one in zip(starts, own, strict=True)]


def _own_element(nodes: Nodes, bodies: Sequence[int], number: int) -> range:
    """Return the largest element that holds this body and no other."""
    index = bodies[number]
    before = bodies[number - 1] if number else -1
    behind = bodies[number + 1] if number + 1 < len(bodies) else len(nodes)
    while (above := nodes.parents[index]) > max(before, 0) and nodes.ends[above] <= behind:
        index = above
    return range(index, nodes.ends[index])


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
    by_name = _SAID * bool(_USER.search(name)) + _DECLARED * name.endswith("@author")
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
    return find_date(_text(nodes, index)[:_LONG])


def _is_of_another_day(nodes: Nodes, index: int) -> bool:
    """Return True if the words before a date say that it is not the day of the post."""
    text = _text(nodes, index)
    date = find_date(text) or ""
    before = text[: len(text) - len(date)] if date else ""
    for node in range(index - 1, max(index - _WORDS_BEFORE, 0), -1):
        if before.strip(_ENDS):
            break
        before = _text(nodes, node)
        if _date_in(nodes, node):  # its words are its own
            return False
    return len(before) < _LONG and _OTHER_DAY.search(before) is not None


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


def _left_out(nodes: Nodes, inside: range, often: frozenset[str], said: frozenset[int]) -> Iterator[range]:
    """Yield the subtrees of a post that are not its text; what it quotes is its text."""
    end = inside.start + 1
    for index in inside:
        if index < end:
            continue
        names = "" if nodes.tags[index] == TEXT else _attributes(nodes, [index])
        if _SIGNATURE.search(names) or index in said or _text(nodes, index) in often:
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
