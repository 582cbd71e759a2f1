"""The method as plain Python and numpy, to be read. ``judge`` is the same, compiled; this runs where it is not.

A page becomes lines of text, which are its blocks, and the block-level elements around them (this file). Each
block is compared with what the page declares of itself (``reference_declared``), and with what comes back on the
other pages of its site (``reference_site``). That makes each block a row of numbers; trees score it, first by
itself, then knowing the scores of all others (``reference_features``). The likeliest blocks are taken, with what
belongs to them (``reference_decision``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel import names as naming
from denoise_crawler.kernel.hashes import hash32, joined
from denoise_crawler.kernel.reference_decision import (
    content_chances,
    decide,
    joint_chances,
    lines_around_text,
    most_f1,
    page_type_row,
    take,
    verdicts,
)
from denoise_crawler.kernel.reference_declared import agreement, calls_in, headline_of, word_hashes
from denoise_crawler.kernel.reference_features import Trees, look_at, page_table
from denoise_crawler.kernel.reference_site import SiteSums
from denoise_crawler.kernel.reference_text import rules_of, texts_of

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Elements, Flags, Hashes, Indices, Numbers

__all__ = [
    "SiteSums", "Trees", "agreement", "blocks_of", "calls_in", "content_chances", "decide", "headline_of",
    "joint_chances", "lines_around_text", "look_at", "most_f1", "page_table", "page_type_row", "rules_of", "take",
    "texts_of", "verdicts", "word_hashes",
]  # fmt: skip


def blocks_of(nodes: Any, title: frozenset[str]) -> Blocks:
    """Cut a page into blocks, from its nodes in document order; ``title`` are the words of its title."""
    columns = nodes.columns
    codes = np.array([naming.meaning_of(name)[0] for name in columns.names], np.int64)[columns.tags]
    codes[0] = max(codes[0], 0)  # all stands in the first node, whatever it is
    is_element = codes >= 0
    own, homes = np.flatnonzero(is_element), _homes(is_element, columns.parents)
    rows = _measured(_lines(codes, own, columns.ends), nodes)
    begin, end, texts, *measures = map(list, zip(*rows, strict=True)) if rows else ([] for _ in range(11))
    characters, linked, tokens, commas, closed = (np.array(column, np.float64) for column in measures[:5])
    hashes, masked, links = (np.array(column, np.uint32) for column in measures[5:])
    starts, ends = np.array(begin, np.int64), np.array(end, np.int64)
    around, place = _elements(nodes, own, homes, starts, title), homes[starts]
    styles = _styles(texts, characters, linked, place, around)
    shapes = _shapes(texts, characters, linked, masked, around.tags[place] == shared.H1)
    numbers = characters, linked, tokens, commas, closed
    return shared.Blocks(texts, starts, ends, place, *numbers, hashes, masked, links, styles, shapes, around)


# --- lines of text, and what each measures


def _homes(is_element: Flags, parents: Any) -> Indices:
    """Return by node the number of the block-level element that it is or stands in."""
    nearest = np.where(is_element, np.arange(len(is_element)), np.maximum(parents, 0))
    while not is_element[nearest].all():  # each step doubles how far up all have gone
        nearest = nearest[nearest]
    homes: Indices = (np.cumsum(is_element) - 1)[nearest]
    return homes


def _lines(codes: Indices, elements: Indices, ends: Any) -> list[list[int]]:
    """Return the text nodes of each line, which begins and ends where block-level elements do."""
    size = len(codes) + 1
    borders = np.cumsum(np.bincount(elements, minlength=size) + np.bincount(ends[elements], minlength=size))
    texts = np.flatnonzero(codes == naming.IS_TEXT)
    begin, nodes = np.flatnonzero(np.diff(borders[texts], prepend=0)).tolist(), texts.tolist()
    return [nodes[first:last] for first, last in pairwise([*begin, len(nodes)])]


def _measured(lines: list[list[int]], nodes: Any) -> list[tuple[Any, ...]]:
    """Return of each line with text its first node, that behind its last and the text, then what it measures.

    That is its characters without white space, those inside links, its tokens and commas, and whether it ends as a
    sentence does; the hashes of the text, of the same with every number alike, and of its first link.
    """
    found, written, links = list[tuple[Any, ...]](), nodes.texts, nodes.columns.links.tolist()
    for line in lines:
        words = "".join([written[node] for node in line]).split()
        if not words:
            continue
        text = " ".join(words)
        characters = len(text) - len(words) + 1
        linked, link = 0, 0
        for node in line:
            if links[node] >= 0:
                linked += len(written[node]) - written[node].count(" ")
                link = link or _link_hash(nodes.address_of(links[node]))
        linked = characters if linked and len(line) == 1 else min(linked, characters)
        tokens = characters if _is_of_ideographs(text, characters) else len(words)
        commas, closed, own = sum(map(text.count, shared.COMMAS)), text[-1] in shared.SENTENCE_ENDS, hash32(text)
        has_number = len(text) <= shared.LONGEST_MASKED and naming.DIGITS.search(text)
        masked = hash32(naming.DIGITS.sub("0", text)) if has_number else own
        found.append((line[0], line[-1] + 1, text, characters, linked, tokens, commas, closed, own, masked, link))
    return found


def _link_hash(address: str | None) -> int:
    return hash32(address) if address else 0


def _is_of_ideographs(text: str, characters: int) -> bool:
    """Return True if more than a third of a text are Chinese signs and kana; each of these is a token."""
    return not text.isascii() and 3 * sum(map(len, naming.IDEOGRAPH.findall(text))) > characters


# --- block-level elements and their names


def _elements(nodes: Any, own: Indices, homes: Indices, starts: Indices, title: frozenset[str]) -> Elements:
    """Return the block-level elements, which are the nodes ``own``.

    ``homes`` are the numbers of elements by node, ``starts`` the first node of each block.
    """
    columns, names, named, labels = nodes.columns, {"": 0}, list[int](), [hash32("")]
    meanings = [naming.meaning_of(name) for name in columns.names]
    tags, ends, parents = columns.tags[own], columns.ends[own], homes[np.maximum(columns.parents[own], 0)]
    parents[0] = -1
    titles = np.flatnonzero(columns.tags == (columns.names.index("h1") if "h1" in columns.names else -1))
    title_at = int(titles[0]) if len(titles) else len(homes)
    # what holds the first h1 is no comment, and its names say nothing of comments
    places, depths, paths = list[int](), list[int](), list[int]()
    rows = zip(own.tolist(), ends.tolist(), parents.tolist(), tags.tolist(), strict=True)
    for node, end, parent, tag in rows:
        is_body = parent < 0
        place = 0 if is_body else places[parent] | meanings[tag][1]
        name, bits = _names(nodes, node, columns.names[tag], title)
        comments = naming.comments_and_look(name)[0] if name else 0
        named.append(names.setdefault(name, len(names)))
        if named[-1] == len(labels):
            labels.append(hash32(naming.DIGITS.sub("", name)))
        places.append(place | bits | (0 if node <= title_at < end else comments))
        depths.append(0 if is_body else depths[parent] + 1)
        paths.append(0 if is_body else joined(joined(paths[parent], meanings[tag][4]), labels[named[-1]]))
    return shared.Elements(
        nodes=own,
        parents=parents,
        first=starts.searchsorted(own),
        last=starts.searchsorted(ends),
        places=np.array(places, np.int64),
        tags=np.array([meaning[0] for meaning in meanings], np.int64)[tags],
        names=list(names),
        named=np.array(named, np.int64),
        paths=np.array(paths, np.uint32),
        depths=np.array(depths, np.int64),
    )


def _names(nodes: Any, node: int, tag: str, title: frozenset[str]) -> tuple[str, int]:
    """Return the class and id of an element, without what the page's text made, and its attributes' places."""
    if (attributes := nodes.attributes_of(node, naming.READ)) is None:
        return "", 0
    class_name, identity, bits = attributes
    class_name, identity = class_name[: naming.LONGEST_NAMES], identity[: naming.LONGEST_NAMES]
    name = f"{class_name} {identity}" if identity else class_name
    if name:
        heading = _heading_of(nodes, node)[: naming.LONGEST_HEADING] if identity else ""
        if heading or naming.meaning_of(tag)[3]:
            name = naming.spoken_names(tag, class_name, identity, heading, title)
    return naming.DIGITS.sub("0", name[: naming.LONGEST_NAMES]), bits  # of the ids of posts, the words remain


def _heading_of(nodes: Any, node: int) -> str:
    """Return the text of the heading that an element is, or that its text begins with; empty without one."""
    columns = nodes.columns
    for at in range(node, min(int(columns.ends[node]), node + naming.NEAR)):
        code, _, is_heading, *_ = naming.meaning_of(columns.names[columns.tags[at]])
        if code == naming.IS_TEXT:
            break
        if is_heading:
            return "".join(nodes.texts[at : min(int(columns.ends[at]), at + naming.NEAR)])
    return ""


# --- what blocks look like, and what they have in common with others


def _styles(texts: list[str], characters: Numbers, linked: Numbers, place: Indices, around: Elements) -> Hashes:
    """Return by block the hash of its style.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether it
    is all capitals, and how long it is, roughly.
    """
    used, block_of = np.unique(place, return_inverse=True)
    own, above = (around.named[which] for which in (used, np.maximum(around.parents[used], 0)))
    of_names = np.array([naming.comments_and_look(name)[1] for name in around.names], np.uint64)
    looks = (of_names[own] * np.uint64(33) + of_names[above]) * np.uint64(64) + around.tags[used].astype(np.uint64)
    kind = (linked >= shared.STYLE_LINKED * np.maximum(characters, 1.0)).astype(np.uint64)
    kind += np.array([2 * text.isupper() for text in texts], np.uint64)
    for length in shared.STYLE_LENGTHS:
        kind += np.where(characters >= length, 4, 0).astype(np.uint64)
    both = looks[block_of] * np.uint64(16) + kind + np.uint64(1)
    return _upper_half(both)


def _upper_half(keys: Any) -> Hashes:
    hashes: Hashes = ((keys * np.uint64(shared.SPREAD)) >> np.uint64(32)).astype(np.uint32)
    return hashes


def _shapes(texts: list[str], characters: Numbers, linked: Numbers, masked: Hashes, in_title: Flags) -> Hashes:
    """Return by block the hash of what its text has in common with those of its like on other pages.

    That is the text with all numbers alike ("updated on 3 May" and "updated on 7 May"); of a text that ends with a
    link, what stands before it ("Read more: …"); of one that quotes the page's heading, what stands around it
    ("Read all reviews of …").
    """
    headings = np.flatnonzero(in_title & (characters >= shared.LEAST_HEADING))
    quoted = texts[headings[0]] if len(headings) else ""
    longest, shapes = len(quoted) + shared.LONGEST_LABEL, masked.tolist()
    before = (characters - linked).tolist()
    is_label = (
        (linked > 0) & (characters - linked >= shared.LEAST_LABEL) & (characters - linked <= shared.LONGEST_LABEL)
    ).tolist()
    for block, text in enumerate(texts):
        if quoted and len(quoted) < len(text) <= longest and quoted in text:
            shapes[block] = naming.label_hash(" … ".join(text.split(quoted)))
        elif is_label[block]:
            shapes[block] = naming.label_hash("".join(text.split())[: int(before[block])])
    return np.array(shapes, np.uint32)
