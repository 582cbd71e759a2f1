"""Boxes in articles of which one page alone is known: what ``fusion`` keeps of those that are no part of the text.

Pages are made here, with other words, class names and languages than the boxes of ``benchmarks.training``: 40 with
readers' comments, 42 with boxes that must go, 32 with boxes that must stay. And 20 short pages of one site, all
known, that end with the same sentence; documents with the same headings and last lines, two to eleven known.

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
_FORMS = _MADE["forms"]  # headings of documents, and the lines below them that are always the same
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


def _short_pages() -> list[Page]:
    inside = [[*(f"<p>{one}</p>" for one in _prose(n, 1 + n % 3)), f"<p>{_LINE}</p>"] for n in range(len(_TOPICS))]
    return [Page.parse(f"https://valley.example/{n}", _page(n, one)) for n, one in enumerate(inside)]


def _texts(options: dict[str, object], pages: Sequence[Page], known: Sequence[Page] = ()) -> list[str]:
    """Return the texts of ``pages`` of a site of which some are ``known``."""
    knowledge = InMemoryKnowledge()
    learner = Denoiser(MethodChoice(options=options), knowledge=knowledge)
    for page in known:
        learner.learn(page)
    learner.save()
    knowing = Denoiser(MethodChoice(options=options), knowledge=knowledge)
    return [knowing.clean(page).clean_page.text for page in pages]


def _lost(options: dict[str, object], form: Sequence[tuple[str, str]]) -> Iterator[bool]:
    """Yield whether a document has fewer lines with two to eleven others known than cold."""
    pages = []
    for number in range(12):
        sections = zip(form, _prose(number, len(form)), strict=True)
        inside = [f"<h3>{heading}</h3><p>{same or own}</p>" for (heading, same), own in sections]
        pages.append(Page.parse(f"https://valley.example/{number}", _page(number, inside)))
    for number, page in enumerate(pages):
        others = [*pages[:number], *pages[number + 1 :]]
        texts = (_texts(options, [page], others[:amount])[0] for amount in range(len(pages)))
        cold, _, *known = (set(text.splitlines()) for text in texts)
        yield from (not cold <= lines for lines in known)


def measured(options: dict[str, object], *, show: bool = False) -> dict[str, tuple[int, int]]:
    """Return by what is measured how many pages keep it, and of how many."""
    denoiser, said = Denoiser(MethodChoice(options=options)), [f"{one}." for _, one, _ in _COMMENTS]

    def share(html: str, words: Sequence[str]) -> float:
        page = Page.parse("https://valley.example/2031/news", html)
        flat = " ".join(denoiser.clean(page).clean_page.text.split())
        return sum(one in flat for one in words) / len(words)

    def kept(boxes: Sequence[str]) -> list[tuple[str, bool]]:
        return [(box, share(html, _words_of(box)) >= 0.5) for box in boxes for html in _with_box(box)]

    wrong = {
        "comments kept": [(one, share(html, said) > 0.0) for one in _THREADS for html in _with_comments(one)],
        "boxes kept that must go": kept(_GO),
        "boxes gone that must stay": [(box, not is_kept) for box, is_kept in kept(_STAY)],
    }
    pages = _short_pages()
    wrong["sentence of all short pages kept"] = [(_LINE, _LINE in text) for text in _texts(options, pages, pages)]
    lost = [(form[0][0], one) for form in _FORMS for one in _lost(options, form)]
    wrong["documents that lose a line to those known"] = lost
    for name, rows in wrong.items() if show else ():
        for box in dict.fromkeys(box for box, is_wrong in rows if is_wrong):
            print(f"{name}: {box[:100]}")
    return {name: (sum(is_wrong for _, is_wrong in rows), len(rows)) for name, rows in wrong.items()}


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
