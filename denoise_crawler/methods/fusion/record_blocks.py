"""What is kept beside running text: fields of records, values of products, posts, comments where preferred.

The trees cannot learn it. Only the site can tell a field: it stands in the same place on nearly every page, each
time with another value. The values of a product stand beside its title or in rows of a label and a value. Hardly
any gold text has comments.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from itertools import chain, compress, islice
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.kernel.columns import PLACES
from denoise_crawler.kernel.names import DIGITS, comments_and_look, remembered
from denoise_crawler.methods.fusion.blocks import parts_of
from denoise_crawler.methods.fusion.features import Look
from denoise_crawler.page.text import letters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Flags, Numbers
    from denoise_crawler.page import Page

FIELD = "a field of the site's pages"
MIN_PAGES = 5
_USUAL = 0.8  # of the pages have the place
_FEW = 3.0  # elements of a page in one place; more are a list
_LIST_LINKS = 0.5
_SHARE = 0.15  # of the pages may have the same value, more where the place has many values …
_MANY_VALUES, _COMMON_SHARE = 0.5, 0.5  # of the place's text comes back at most; of the pages may have it then
_LONG, _LONG_SHARE = 40, 0.05  # … and no sentence that comes back, but for its numbers, is a value
_PRICED = 0.5  # of the pages have a price there, fewer the same
_PRICE_CHARACTERS = 60
_NEAR = 20  # blocks behind the main heading: prices elsewhere are advertisements
_CURRENCIES = "USD|EUR|GBP|CNY|RMB|PLN|BYN|RUB|UAH|KZT|CHF|SEK|NOK|DKK|CZK|INR|AUD|CAD|VND|ILS|HRK|Kn"
_PRICE = re.compile(
    rf"(?:[$€£¥￥₽₴₹₫₪]|\b(?:{_CURRENCIES}))\s?\d|\d\s?(?:[€£元₽₴₹₫₪]|zł|руб|kr\b|Kč|(?:{_CURRENCIES})\b)"
)


def record_fields(look: Look) -> NDArray[np.bool_] | None:
    """Return which blocks are fields of a record; None unless the site's pages have a price near their title."""
    blocks, site_stats, title = look.blocks, look.site_stats, look.headline.main
    if site_stats is None or site_stats.pages < MIN_PAGES or title < 0:
        return None
    least, home = _PRICED * site_stats.pages, blocks.elements
    usual = site_stats.path_pages[home] >= _USUAL * site_stats.pages
    priced = usual & (site_stats.masked >= least) & (site_stats.texts < least)
    near = slice(title, title + _NEAR + 1)
    if not priced[near].any() or not any(priced[block] for block in prices(blocks, near.start, near.stop)):
        return None
    whole = (blocks.linked == 0) | (blocks.linked == blocks.characters)  # else a label and a value
    again = np.where(whole, np.maximum(site_stats.masked, site_stats.shapes), site_stats.masked)
    sentence = (blocks.characters > _LONG) & (again >= _LONG_SHARE * site_stats.pages)
    varied = site_stats.path_repeated[home] < _MANY_VALUES * site_stats.path_characters[home]
    most = np.where(varied, _COMMON_SHARE, _SHARE) * site_stats.pages
    new = (site_stats.texts < most) & ~sentence
    few = site_stats.path_elements[home] <= _FEW * site_stats.path_pages[home]
    unlinked = site_stats.path_linked[home] <= _LIST_LINKS * site_stats.path_characters[home]
    fields: NDArray[np.bool_] = usual & new & (few | unlinked)
    return fields if fields.any() else None


def prices(blocks: Blocks, first: int, last: int) -> list[int]:
    """Return the short blocks from ``first`` up to ``last`` that have a price."""
    texts, inside = blocks.texts, slice(first, last)
    short = (blocks.characters[inside] <= _PRICE_CHARACTERS).nonzero()[0]
    # most texts have no number; with each as 0, those with others than 0 have another hash
    numbered = (blocks.masked_hashes[inside] != blocks.text_hashes[inside])[short].tolist()
    candidates = zip((short + first).tolist(), numbered, strict=True)
    return [block for block, has in candidates if (has or "0" in texts[block]) and _has_price(texts[block])]


@remembered
def _has_price(text: str) -> bool:
    return _PRICE.search(text) is not None  # a shop names the same products, and their prices, on many pages


def field_reason(look: Look, block: int) -> str:
    """Return why a field was kept."""
    site_stats, home = look.site_stats, look.blocks.elements[block]
    assert site_stats is not None  # noqa: S101
    have = int(site_stats.path_pages[home])
    return f"{FIELD}: {have} of {site_stats.pages} others have a value of their own in this place"


VALUE = "a value of the product: its price, a code or its maker"
MAX_VALUES = 8
_BEFORE, _BEHIND = 6, 40  # blocks around the title
_LABEL_CHARACTERS, _VALUE_CHARACTERS = 60, 40
_LONGEST_SHARE = 3  # a block that has a declared value is at most so many times as long
_CODE_OR_MAKER = (
    r"\W*(?:(?:manufacturer|mfr|item|part|product|article|catalog\w*|style|model|ad|web|artikel|produk\w*|prodotto|produto"
    r"|código|codice|kód|kod|id|numero|número|číslo|nº|référence|referencia|bestell\w*|hersteller\w*)\W{1,3}){0,3}"
    r"(?:asin|sku|mpn|gtin\w*|ean\w*|upc|isbn\w*|model\w*|number|no|nr|code|kods|kod\w*|\w*kood|kód|číslo|id|#|nummer|\w*nummer"
    r"|référence|reference|referencia|ref|articolo|produto|produk\w*|prodotto|артикул|арт|код|型号|货号|品番"
    r"|brand|manufacturer|maker|marke|marca|marque|hersteller|бренд|производитель|品牌)\b"
)
_LABEL, _ASCII_LABEL = re.compile(_CODE_OR_MAKER, re.IGNORECASE), re.compile(_CODE_OR_MAKER)
_SAID = re.compile(r"\w{2}")
_IS_VALUE = re.compile(r"[\d:]")


def product_values(look: Look, declared: Collection[str]) -> NDArray[np.bool_]:
    """Return which blocks of a product's page hold one of its values and are not on all pages of the site.

    Args:
        look: What is known of the page.
        declared: Values that the page declares in JSON-LD: their letters and digits, in small letters.
    """
    blocks, title = look.blocks, look.headline.main
    values = np.zeros(len(blocks), bool)
    if title < 0:
        return values
    short = blocks.characters <= _LABEL_CHARACTERS
    first = max(title - _BEFORE, 0)
    priced = prices(blocks, first, title + _BEHIND)
    # the first of the products that are related to this one
    end = next((block for block in priced if block > title and blocks.linked[block]), title + _BEHIND)
    values[[block for block in priced if block < end]] = True
    for block in (np.flatnonzero(short[first:end]) + first).tolist() if declared else ():
        values[block] |= _holds(blocks.texts[block], declared)
    unlinked = short & (2 * blocks.linked <= blocks.characters)
    others = unlinked.nonzero()[0].tolist()
    ends = map(_end_of_label, map(blocks.texts.__getitem__, others))
    rows = (row for block, end in zip(others, ends, strict=True) if end and (row := _row(blocks, block, end)))
    for row in islice(rows, MAX_VALUES):
        values[row] = True
    return values & ~look.everywhere


def _holds(text: str, declared: Collection[str]) -> bool:
    bare = letters(text)
    return any(value in bare and len(bare) < _LONGEST_SHARE * len(value) for value in declared)


def _row(blocks: Blocks, block: int, end: int) -> list[int]:
    """Return the blocks of the row that begins with a label of a code or a maker, up to ``end`` of its text."""
    texts, characters = blocks.texts, blocks.characters
    behind = texts[block][end:]
    if _SAID.search(behind):
        return [block] if _IS_VALUE.search(behind) else []
    is_short = block + 1 < len(texts) and characters[block + 1] <= _VALUE_CHARACTERS
    return [block, block + 1] if is_short else []


@remembered
def _end_of_label(text: str) -> int:
    """Return where the label of a code or a maker ends that a text begins with; 0 without one."""
    # small letters that are compared one by one: twice as fast
    label = _ASCII_LABEL.match(text.lower()) if text.isascii() else _LABEL.match(text)
    return label.end() if label else 0


_FEWEST_CARDS, _LARGEST_CARD, _LEAST_LINKED = 2, 12, 3.0  # cards, blocks of one, linked characters in it


def related_products(look: Look) -> Flags:
    """Return which blocks of a product's page are cards of other products: alike, each with a link and a price."""
    blocks, around, title = look.blocks, look.blocks.around, look.headline.main
    others = np.zeros(len(blocks), bool)
    alike = _alike(blocks, prices(blocks, title + 1, len(blocks)) if title >= 0 else [])
    linked = np.concatenate(([0.0], np.cumsum(blocks.linked)))
    is_linked = (linked[around.last] - linked[around.first] >= _LEAST_LINKED).tolist()
    first, last, parents = around.first.tolist(), around.last.tolist(), around.parents.tolist()
    for alike_prices in alike:
        for block in alike_prices if len(alike_prices) >= _FEWEST_CARDS else ():
            element = int(blocks.elements[block])
            while (above := parents[element]) > 0 and first[above] > title:
                many = bisect_left(alike_prices, last[above]) - bisect_left(alike_prices, first[above]) > 1
                if last[above] - first[above] > _LARGEST_CARD or (many and is_linked[element]):
                    break
                element = above
            if last[element] - first[element] <= _LARGEST_CARD and is_linked[element]:
                others[first[element] : last[element]] = True
    return others


POST = "the text of a post"
_LIKELY = 0.3  # chance of all that the posts say, from which they are the text: below, they are no posts
_FEWEST_POSTS = 2
_LEAST_TITLE, _LONGEST_TITLE = 4, 150  # tokens, characters
_NUMBER = re.compile(r"\d")
_WORDS_BESIDE = 60  # characters that a line of user and time has besides: "posted by … on …"


def posts(page: Page, look: Look, chances: Numbers) -> tuple[Flags, Flags]:
    """Return which blocks of a thread are the texts of its posts, and which others of posts are no text.

    Posts are alike, so either all of them are the text or none is. If they are, what stands between them is not:
    who wrote them and when, buttons, signatures; but most posts must say who wrote them and when, and what stands
    between may have no more text than they do. ``chances`` are those of the blocks.
    """
    from denoise_crawler.records.posts import find_posts  # few pages are threads

    blocks, written = look.blocks, page.once(find_posts)
    (inside, own), byline = np.zeros((2, len(page.nodes)), bool), np.zeros(len(page.nodes) + 1)
    for post in written:
        own[post.own.start : post.own.stop] = inside[post.inside.start : post.inside.stop] = True
        for part in post.left_out:
            inside[part.start : part.stop] = False
        for index in post.byline:
            byline[index + 1] = page.characters[index]
    so_far = byline.cumsum()
    byline = so_far[blocks.ends] - so_far[blocks.starts]
    heads = (byline > 0.0) & (blocks.characters <= byline + _WORDS_BESIDE)
    texts = inside[blocks.starts] & ~heads if len(written) >= _FEWEST_POSTS else np.zeros(len(blocks), bool)
    expected = blocks.tokens * chances
    if expected[texts].sum() < _LIKELY * blocks.tokens[texts].sum():
        texts[:] = False
    between, signed = own[blocks.starts] & ~texts, sum({"user", "time"} <= {*post.values} for post in written)
    is_less = expected[between].sum() < expected[texts].sum()
    if is_less and 2 * signed > len(written) and not are_entries(page, blocks, between, len(written)):
        heads |= between
    return texts, heads


def are_entries(page: Page, blocks: Blocks, between: Flags, posts: int) -> bool:
    """Return True if what looks like posts are the entries of a blog, a list or a live report.

    Of these every second has a title of its own, a heading or a link to another page, or two of three a line.
    """
    from denoise_crawler.records.thread import find_date

    if 3 * _lines_above(page, blocks) >= 2 * posts:
        return True
    long = between & (blocks.tokens >= _LEAST_TITLE)
    linked = np.flatnonzero(long & (blocks.linked >= blocks.characters)).tolist()
    links = ((block, page.nodes.link_of(int(blocks.starts[block]))) for block in linked)
    away = [block for block, link in links if link >= 0 and "#" not in (page.nodes.address_of(link) or "#")]
    headings = [block for block in page.once(parts_of).headings[:, 0].tolist() if long[block]]
    titles = {blocks.texts[block] for block in (*away, *headings)}
    return 2 * sum(find_date(title) is None for title in titles) >= posts


def _lines_above(page: Page, blocks: Blocks) -> int:
    """Return above how many posts a line stands that no other has: words alone, no link.

    Above posts of a thread their authors stand, whose ranks, places and counts of posts come back or have numbers.
    """
    from denoise_crawler.records.thread import thread_of

    thread, lines = page.once(thread_of), list[set[str]]()
    may_be = (blocks.tokens >= _LEAST_TITLE) & (blocks.linked == 0.0) & (blocks.characters <= _LONGEST_TITLE)
    for body, space in zip(thread.bodies, thread.spaces, strict=True):
        above = slice(*np.searchsorted(blocks.starts, (space.start, body)).tolist())
        texts = compress(blocks.texts[above], may_be[above].tolist())
        lines.append({text for text in texts if not _NUMBER.search(text)})
    posts_with = Counter(chain(*lines))
    return sum(any(posts_with[line] == 1 for line in above) for above in lines)


COMMENT = "a comment of a reader, which the text is to keep"
_NEVER = sum(1 << PLACES.index(place) for place in ("nav", "aside", "form", "hidden"))
_OF_OTHER_PAGES = re.compile(r"recent|latest|widget|sidebar", re.IGNORECASE)
_LEAST_MEAN, _LEAST = 5.0, 25.0  # tokens, of the blocks that look alike
_OFTEN = 2  # a text that stands more often is a button


def comments(look: Look) -> Flags:
    """Return which blocks are comments: the text of elements so named, but for names, dates and buttons.

    Those say little, each alike. An element that holds the title is no comment, whatever its name.
    """
    blocks = look.blocks
    inside = _in_comments(blocks, look.headline.best)
    unlinked = 2.0 * blocks.linked <= blocks.characters
    allowed = (blocks.around.places[blocks.elements] & _NEVER) == 0
    _, which, counts = np.unique(blocks.text_hashes, return_inverse=True, return_counts=True)
    candidates = np.flatnonzero(inside & unlinked & allowed & (counts[which] <= _OFTEN))
    result = np.zeros(len(blocks), bool)
    for group in _alike(blocks, candidates.tolist()):
        tokens = float(blocks.tokens[group].sum())
        result[group] = tokens >= max(_LEAST, _LEAST_MEAN * len(group))
    return result


def _in_comments(blocks: Blocks, title: int) -> Flags:
    around = blocks.around
    inside, elsewhere = np.zeros(len(blocks), bool), np.zeros(len(blocks), bool)
    columns = around.first.tolist(), around.last.tolist(), around.named.tolist()
    for first, last, number in zip(*columns, strict=True):
        if (names := around.names[number]) and not first <= title < last:
            inside[first:last] |= comments_and_look(names)[0] > 0
            elsewhere[first:last] |= _OF_OTHER_PAGES.search(names) is not None
    return inside & ~elsewhere


def _alike(blocks: Blocks, some: list[int]) -> Iterable[list[int]]:
    """Return ``some`` blocks by what they and the element above them look like."""
    around, alike = blocks.around, defaultdict[tuple[int, str, str], list[int]](list)
    for block, home in zip(some, blocks.elements[some].tolist(), strict=True):
        own, outer = (around.names[around.named[one]] for one in (home, max(int(around.parents[home]), 0)))
        alike[int(around.tags[home]), DIGITS.sub("", own), DIGITS.sub("", outer)].append(block)
    return alike.values()
