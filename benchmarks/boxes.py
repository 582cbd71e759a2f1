"""Boxes in articles of which one page alone is known: what ``fusion`` keeps of those that are no part of the text.

Pages are made here, with other words, class names and languages than the boxes of ``benchmarks.training``: 40 with
readers' comments, 42 with boxes that must go, 32 with boxes that must stay. And 20 short pages of one site, all
known, that end with the same sentence.

    python -m benchmarks.boxes [--weights FILE] [--show]
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page

_MADE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_TOPICS, _SENTENCES = _MADE["topics"], _MADE["sentences"]
_COMMENTS, _THREADS = _MADE["comments"], _MADE["threads"]  # {u} is a name, {t} a time, {c} what is said
_GO, _STAY = _MADE["go"], _MADE["stay"]  # boxes
_ENTRY = re.compile(r"\{\*(.*)\}", re.DOTALL)  # of a thread
_LEAST_WORDS = 3  # of a text by which a box is known
_LINE = "All views in these columns are those of the writers alone and not of the society that prints them."


def _prose(number: int, paragraphs: int) -> list[str]:
    words, found = _TOPICS[number % len(_TOPICS)].split(), []
    for paragraph in range(paragraphs):
        chosen = [_SENTENCES[(paragraph * 3 + number + step) % len(_SENTENCES)] for step in range(3)]
        turned = words[paragraph % 4 :] + words[: paragraph % 4]
        found.append(" ".join(chosen).format(*turned))
    return found


def _page(number: int, inside: Sequence[str], behind: str = "") -> str:
    title = " ".join(_TOPICS[number % len(_TOPICS)].split()[:2]).capitalize()
    return (
        f"<html><head><title>News of the {title} | The Valley Observer</title></head><body><div class='masthead'>"
        "<a href='/'>The Valley Observer</a><ul><li><a href='/local'>Local</a><li><a href='/culture'>Culture</a>"
        "<li><a href='/sport'>Sport</a></ul></div><div class='page-wrap'><div class='col-a'>"
        f"<h1>News of the {title}</h1><div class='dateline'>Ilse Marek, 14 October 2031</div><div class='story'>"
        f"{''.join(inside)}</div>{behind}</div></div><div class='colophon'><p>© 2031 The Valley Observer. All"
        " rights reserved.</p><a href='/imprint'>Imprint</a> <a href='/privacy'>Privacy</a></div></body></html>"
    )  # fmt: skip


def _thread(shape: str) -> str:
    def entries(written: re.Match[str]) -> str:
        made = (written[1].replace("{u}", u).replace("{c}", f"{c}.").replace("{t}", t) for u, c, t in _COMMENTS)
        return "".join(made)

    return _ENTRY.sub(entries, shape)


def _words_of(box: str) -> list[str]:
    """Return the texts of a box that have some words."""
    found = [" ".join(text.split()) for text in Page.parse("https://a.example/", f"<div>{box}</div>").nodes.texts]
    return [text for text in found if len(text.split()) >= _LEAST_WORDS] or [text for text in found if text]


def _with_box(box: str) -> Iterator[str]:
    """Yield a page with a box in the middle of its text, and one with it at the end."""
    for number, place in enumerate((3, 6)):
        inside = [f"<p>{one}</p>" for one in _prose(len(box) + number, 6)]
        inside.insert(place, box)
        yield _page(len(box) + number, inside)


def _with_comments(shape: str) -> Iterator[str]:
    for paragraphs, is_inside in product((1, 4), (True, False)):
        inside, thread = [f"<p>{one}</p>" for one in _prose(len(shape), paragraphs)], _thread(shape)
        yield _page(len(shape), [*inside, thread] if is_inside else inside, "" if is_inside else thread)


def _short_pages() -> list[str]:
    return [
        _page(number, [*(f"<p>{one}</p>" for one in _prose(number, 1 + number % 3)), f"<p>{_LINE}</p>"])
        for number in range(len(_TOPICS))
    ]  # fmt: skip


def _kept(text: str, words: Sequence[str]) -> float:
    """Return the share of ``words`` that stand in a text."""
    flat = " ".join(text.split())
    return sum(one in flat for one in words) / len(words)


def measured(options: dict[str, object], *, show: bool = False) -> dict[str, tuple[int, int]]:
    """Return by what is measured how many pages keep it, and of how many."""
    denoiser = Denoiser(MethodChoice(options=options))

    def text_of(html: str) -> str:
        return denoiser.clean(Page.parse("https://valley.example/2031/news", html)).clean_page.text

    found: dict[str, tuple[int, int]] = {}
    said = [f"{one}." for _, one, _ in _COMMENTS]
    comments = [(shape, _kept(text_of(html), said) > 0) for shape in _THREADS for html in _with_comments(shape)]
    gone = [(box, _kept(text_of(html), _words_of(box)) >= 0.5) for box in _GO for html in _with_box(box)]
    stay = [(box, _kept(text_of(html), _words_of(box)) >= 0.5) for box in _STAY for html in _with_box(box)]
    found["comments kept"] = sum(kept for _, kept in comments), len(comments)
    found["boxes kept that must go"] = sum(kept for _, kept in gone), len(gone)
    found["boxes gone that must stay"] = sum(not kept for _, kept in stay), len(stay)
    known, pages = InMemoryKnowledge(), [
        Page.parse(f"https://valley.example/{number}", html) for number, html in enumerate(_short_pages())
    ]  # fmt: skip
    learner = Denoiser(MethodChoice(options=options), knowledge=known)
    for page in pages:
        learner.learn(page)
    learner.save()
    knowing = Denoiser(MethodChoice(options=options), knowledge=known)
    texts = [knowing.clean(page).clean_page.text for page in pages]
    found["sentence of all short pages kept"] = sum(_LINE in text for text in texts), len(texts)
    if show:
        for name, rows in (("comments kept", comments), ("kept", gone)):
            for box in dict.fromkeys(box for box, kept in rows if kept):
                print(f"{name} {sum(kept for one, kept in rows if one == box)}: {box[:100]}")
        for box in dict.fromkeys(box for box, kept in stay if not kept):
            print(f"gone: {box[:100]}")
    return found


def main() -> None:
    """Measure, and print."""
    parser = ArgumentParser(prog="python -m benchmarks.boxes", description=__doc__)
    parser.add_argument("--weights", metavar="FILE", help="weights other than those of the package")
    parser.add_argument("--show", action="store_true", help="print which boxes are kept and which go")
    given = parser.parse_args()
    options: dict[str, object] = {"title": "leave"} | ({"weights": given.weights} if given.weights else {})
    for name, (count, of) in measured(options, show=given.show).items():
        print(f"{name}: {count} of {of}")


if __name__ == "__main__":
    main()
