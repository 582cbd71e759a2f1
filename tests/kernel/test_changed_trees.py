"""What is compiled reads no element that was freed, and chosen words cost no more than others."""

import subprocess
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.output.writing import Content, Writing
from denoise_crawler.page import Page
from denoise_crawler.page.parsing import parse
from tests import roads
from tests.fuzz.hostile import KNOWN_NUMBER
from tests.strategies import html_pages

pytestmark = roads.is_built
# in a process of its own, which a use after free ends
CALLER = """
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page import Page

html = "".join(f"<div class=c{number}><p>Paragraph {number} of the story.</p></div>" for number in range(3_000))
page = Page.parse("https://a.example/1", html)
read_before = "before" in SAID and page.root
assert page.skipped is None
for ad in page.root.xpath("//div[contains(@class, 'c1')]"):
    ad.getparent().remove(ad)
del ad, read_before
denoiser = Denoiser("fusion")
denoiser.learn(page)
print(len(denoiser.clean(page).clean_page.text))
"""


@pytest.mark.parametrize("said", ["read before the nodes", "read when the nodes were known"])
def test_a_caller_who_takes_elements_out_of_the_tree_gets_the_text_of_the_nodes_that_were_read(said: str) -> None:
    program = CALLER.replace("SAID", repr(said))
    found = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={"DENOISE_CORE": mode})
        for mode in ("require", "off")
    ]
    assert [(one.returncode, one.stderr) for one in found] == [(0, "")] * 2
    assert found[0].stdout == found[1].stdout


def test_a_tree_that_nobody_else_reads_is_not_held_while_it_is_cleaned() -> None:
    page, denoiser = Page.parse("https://a.example/1", "<h1>A</h1><p>One<p>Two"), Denoiser("fusion")
    denoiser.learn(page)
    judgement = denoiser.judge(page)
    assert denoiser.write(page, judgement).clean_page.title == "A"
    assert all(Content(page, judgement.noise, Writing(form)).written() for form in ("markdown", "html", "blocks"))
    assert not page._holds_elements
    assert page.root is page.tree
    assert page._holds_elements


def rename(element: Any, random: Random) -> None:
    element.tag = random.choice(("p", "a", "td", "noscript", "script", "body", "P", "{names}a", "o.p"))


def move(element: Any, random: Random) -> None:
    other = etree.fromstring("<names><a/></names>") if random.random() < 0.5 else parse("<div></div>")
    assert other is not None
    other[0].append(element)
    others.append(other)


def set_attributes(element: Any, random: Random) -> None:
    for name in ("class", "id", "href", "style", "hidden", "{names}class", "itemprop"):
        element.set(name, random.choice(("nav menu", "content", "", "display:none", "author", "/")))


def add_entity(element: Any, random: Random) -> None:
    element.insert(0, etree.Entity(random.choice(("amp", "unknown", "#65"))))


def set_text(element: Any, random: Random) -> None:
    element.text, element.tail = random.choice(("words", None, " ")), random.choice(("words", None))


def take_out(element: Any, random: Random) -> None:
    element.clear() if random.random() < 0.5 else element.getparent().remove(element)


CHANGES = rename, move, set_attributes, add_entity, set_text, take_out
others: list[Any] = []  # documents that elements were moved to


def what_comes_out(html: str, moment: int, seed: int) -> list[object]:
    """Clean a page whose tree is changed before its nodes are read, then, when it is learned or judged."""
    root, random = parse(f"<p>{html}"), Random(seed)
    assert root is not None

    def change(now: int) -> None:
        elements = [one for one in root.iter() if isinstance(one.tag, str)] if now == moment else []
        for element in random.sample(elements, len(elements) // 3):
            if element.getparent() is not None:
                random.choice(CHANGES)(element, random)

    change(0)
    page, denoiser = Page("https://a.example/1", root), Denoiser("fusion")
    said: list[object] = [page.skipped]
    change(1)
    denoiser.learn(page)
    change(2)
    judgement = denoiser.judge(page)
    change(3)
    said += [judgement.noise, judgement.scores, denoiser.write(page, judgement).clean_page]
    said += [Content(page, judgement.noise, Writing(form)).written() for form in ("markdown", "html", "blocks")]
    return [*said, page.nodes.tags, page.nodes.texts, page.nodes.links]


@settings(max_examples=40)
@given(html=html_pages(60), moment=st.integers(0, 3), seed=st.integers(0, 99))
def test_a_tree_that_a_spider_changes_in_odd_ways_comes_out_as_in_python(
    html: str, moment: int, seed: int
) -> None:
    found = []
    for road in roads.ROADS:
        with pytest.MonkeyPatch.context() as patched:
            roads.take(road, patched)
            found.append(what_comes_out(html, moment, seed))
        others.clear()
    assert found[0] == found[1]


@settings(max_examples=40)
@given(html=html_pages(60), seed=st.integers(0, 99), change=st.sampled_from((*CHANGES, None)))
def test_a_page_is_intact_while_its_elements_stand_in_their_tree_in_order(
    html: str, seed: int, change: Any
) -> None:
    root, random = parse(f"<p>{html}"), Random(seed)
    assert root is not None
    page = Page.sharing("https://a.example/1", html, lambda: root)
    nodes = page.nodes
    known = [element for element, tag in zip(nodes.elements, nodes.tags, strict=True) if tag != "#text"]
    if page.skipped is not None:
        return
    assert page.is_intact
    elements = [one for one in root.iter() if isinstance(one.tag, str) and one.getparent() is not None]
    for element in random.sample(elements, len(elements) // 9) if change else ():
        if element.getparent() is not None:
            change(element, random)
    now = iter([one for top in (root, *root.itersiblings("html")) for one in top.iter()])
    in_order = all(any(one is element for one in now) for element in known[1:])
    assert page.is_intact == (in_order and known[0].getroottree().getroot() is root)
    others.clear()


MANY = 40_000
MOST = 10  # taken slots that a search meets; of keys that meet it is thousands
OTHER_SLOTS = """
import numpy as np
from denoise_crawler.kernel import judge
print(judge.slots_of(np.arange(1, 9, dtype=np.uint64), 63))
"""


def meeting_keys() -> np.ndarray:
    """Return keys that a known number sends into a few slots of a table of half a million."""
    keys = np.arange(1, MANY * 130, dtype=np.uint64)
    return keys[(keys * np.uint64(KNOWN_NUMBER) >> np.uint64(32)) % np.uint64(2**19) < 4_096][:MANY]


@pytest.mark.parametrize(
    "keys",
    [meeting_keys().astype(np.int64), np.arange(2**13) << 50, (np.arange(2**12) << 40) + (np.arange(2**12) << 52)],
    ids=["chosen", "alike but for the highest bits", "alike but for bits in the middle and above"],
)
def test_keys_that_are_chosen_to_meet_meet_no_more_than_others(keys: np.ndarray) -> None:
    bits, taken, met = (2 * len(keys)).bit_length(), set[int](), 0
    for slot in roads.functions(roads.COMPILED).slots_of(keys.view(np.uint64), bits):
        while slot in taken:
            slot, met = (slot + 1) % 2**bits, met + 1
        taken.add(slot)
    assert met < MOST * len(keys)


def test_no_two_processes_have_the_same_slots() -> None:
    said = [subprocess.check_output([sys.executable, "-c", OTHER_SLOTS], text=True) for _ in range(2)]
    assert said[0] != said[1]
