import json
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from denoise_crawler.commands import report as command
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import StoreError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.explanation import MAX_REASONS
from denoise_crawler.page import Page
from denoise_crawler.report import Bounds, Plan, RunFigures, write_report
from denoise_crawler.report.explorer import TreeData
from denoise_crawler.report.figures import PageFigures, SiteFigures, Sizes, findings
from denoise_crawler.report.rendering import MAX_BLOCKS, NODE, json_data, page_view
from denoise_crawler.store import SiteState, Store, is_store
from denoise_crawler.store.store import ParkedPage
from examples.demo_site.replies import article_path, articles, respond
from tests.scrapy_process import denoise
from tests.strategies import html_pages

Opened: TypeAlias = Callable[[Path], Store]

BASE, SITE = "https://ledger.example", "ledger.example"


def demo_pages(number: int) -> list[tuple[str, str]]:
    paths = [article_path(article) for article in articles()[:number]]
    return [(BASE + path, respond(path, BASE).body.decode()) for path in paths]


def reported(folder: Path, pages: list[tuple[str, str]], **options: object) -> RunFigures:
    sited = [(SITE, url, html) for url, html in pages]
    plan = Plan(lambda: iter(sited), MethodChoice(str(options.pop("method", "fusion"))), **options)  # type: ignore[arg-type]
    folder.mkdir(exist_ok=True)
    return write_report(folder, plan, RunFigures(["pages"], plan.choice.name, "now", "0"))


def data_of(html: str, name: str) -> object:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def tree_of(folder: Path) -> TreeData:
    return msgspec.convert(data_of((folder / "tree.html").read_text("utf-8"), "tree-data"), TreeData)


def store_with(path: Path, method: str, pages: list[tuple[str, str]], *, parked: int = 0) -> None:
    """Leave in a store what a crawl would: knowledge, progress and pages that wait."""
    learner = MethodChoice(method).new()
    for url, html in pages:
        learner.observe(Page.parse(url, html, site=SITE))
    store = Store(path, owner="test")
    store.save_knowledge(SITE, learner.store_key, learner.to_bytes(), lambda parts: parts[-1])
    store.save_state(SITE, learner.store_key, SiteState(len(pages), ready=False))
    for url, html in pages[:parked]:
        store.park(ParkedPage(SITE, url, html, url.encode()), b"item")
    store.close()


# --- of pages


def test_a_report_of_pages_shows_the_site_its_tree_and_each_page(tmp_path: Path) -> None:
    run = reported(tmp_path, demo_pages(8), bounds=Bounds(pages=3))
    (site,) = run.sites
    folder = tmp_path / site.folder
    assert sorted(file.name for file in folder.iterdir()) == [
        "index.html",
        "page-001.html",
        "page-002.html",
        "page-003.html",
        "tree.html",
    ]
    index = (tmp_path / "index.html").read_text("utf-8")
    assert "8 pages of 1 site" in index
    assert f'href="{site.folder}/index.html"' in index
    page = (folder / "page-001.html").read_text("utf-8")
    assert articles()[0].title in page
    assert 'href="page-002.html"' in page
    assert "The first 3 of 8." in (folder / "index.html").read_text("utf-8")


def test_the_shares_of_pages_site_and_run_are_those_of_the_clean_pages(tmp_path: Path) -> None:
    pages = demo_pages(6)
    run = reported(tmp_path, pages)
    denoiser = Denoiser()
    read = [Page.parse(url, html, site=SITE) for url, html in pages]
    for page in read:
        denoiser.learn(page)
    shares = [denoiser.clean(page).clean_page.noise_ratio for page in read]
    assert [figures.sizes.noise_share for figures in run.sites[0].shown] == pytest.approx(shares, abs=1e-3)
    assert run.sizes.kept == sum(figures.sizes.kept for figures in run.sites[0].shown)
    assert run.sizes.html_bytes == sum(len(html.encode()) for _, html in pages)


def test_each_block_says_why_and_names_an_element_of_the_painted_page() -> None:
    denoiser = Denoiser()
    read = [Page.parse(url, html) for url, html in demo_pages(6)]
    for page in read:
        denoiser.learn(page)
    view = page_view(denoiser.clean(read[0]))
    assert {block.kept for block in view.blocks} == {True, False}
    assert all(block.reason for block in view.blocks)
    assert all(f'{NODE}="{block.node}"' in view.painted for block in view.blocks if block.node)


def page_of_blocks(number: int) -> str:
    return "".join(f"<div><p>Block {one} of a long page, which says enough.</p></div>" for one in range(number))


def assert_blocks_are_listed(page: str, blocks: int) -> None:
    """Check the list of a page of ``blocks``: up to 3,000, each with its element, 2,000 of them with a reason."""
    listed = min(blocks, MAX_BLOCKS)
    assert f"of {listed:,} kept" in page
    assert ("1,000 more not listed" in page) == (blocks == 4_000)
    items = re.findall(r'<li class="(?:kept|noise)"><button type="button" data-node="(\d+)">(.*?)</li>', page)
    assert len(items) == listed
    for number, (node, said) in enumerate(items):
        assert f"Block {number} of a long page" in said
        assert ('<span class="reason"></span>' in said) == (number >= MAX_REASONS)
        assert f"{NODE}=&quot;{node}&quot;" in page


@pytest.mark.parametrize(("blocks", "method"), [(2_000, "link_ratio"), (3_000, "style_tree"), (4_000, "fusion")])
def test_a_page_of_thousands_of_blocks_is_shown(tmp_path: Path, blocks: int, method: str) -> None:
    pages = [(f"{BASE}/{number}", page_of_blocks(blocks)) for number in range(2)]
    run = reported(tmp_path, pages, method=method)
    (site,) = run.sites
    assert [page.error for page in site.shown] == [None, None]
    assert_blocks_are_listed((tmp_path / site.folder / "page-001.html").read_text("utf-8"), blocks)


def test_the_tree_says_where_a_node_stands_how_often_and_what_it_says(tmp_path: Path) -> None:
    pages = demo_pages(8)
    run = reported(tmp_path, pages, bounds=Bounds(pages=5))
    data = tree_of(tmp_path / run.sites[0].folder)
    assert data.pages == 8
    assert data.labels[data.names[0]] == "body"
    assert data.counts[0] == 8
    assert data.places[0] == [1, 2, 3, 4, 5]
    headline = data.strings.index(articles()[0].title)
    (node,) = [
        node
        for node, texts in enumerate(data.texts)
        if headline in texts and data.labels[data.names[node]].startswith("h1")
    ]
    assert 1 in data.places[node]
    assert data.peaks[node] >= data.threshold


def test_sites_beyond_the_bound_are_in_the_table_alone(tmp_path: Path) -> None:
    sited = [(f"site{number}", f"https://site{number}/", "<p>Some words</p>") for number in range(4)]
    plan = Plan(lambda: iter(sited), MethodChoice("link_ratio"), Bounds(sites=2))
    run = write_report(tmp_path, plan, RunFigures([], "link_ratio", "now", "0"))
    assert [site.detailed for site in run.sites] == [True, True, False, False]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["001-site0", "002-site1", "index.html"]
    assert "site3" in (tmp_path / "index.html").read_text("utf-8")


def test_the_report_is_the_same_whatever_the_number_of_workers(tmp_path: Path) -> None:
    pages = [*demo_pages(6), (f"{BASE}/empty", "")]
    sited = [(f"site{number % 2}.example", url, html) for number, (url, html) in enumerate(pages)]
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        plan = Plan(lambda: iter(sited), MethodChoice("fusion"), Bounds(pages=2), workers=workers)
        run = write_report(folder, plan, RunFigures(["pages"], "fusion", "now", "0"))
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        written.append((run, {path.relative_to(folder): path.read_text("utf-8") for path in files}))
    assert written[0] == written[1]
    assert len(written[0][1]) == 1 + 2 * 4


def test_a_page_that_cannot_be_judged_is_told_and_the_others_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("denoise_crawler.methods", fromlist=["METHODS"]).METHODS, "odd", OddMethod)
    run = reported(
        tmp_path, [(f"{BASE}/{name}", f"<p>{name} words</p>") for name in ("good", "bad")], method="odd"
    )
    (site,) = run.sites
    assert (site.pages, site.failed) == (2, 1)
    assert "ValueError: bad page" in (tmp_path / site.folder / "page-002.html").read_text("utf-8")
    assert (tmp_path / site.folder / "page-001.html").exists()


class OddMethod(MethodChoice("link_ratio").new().__class__):  # type: ignore[misc]
    name = "odd"

    def judge(self, page: Page) -> object:
        if page.url.endswith("bad"):
            raise ValueError("bad page")
        return super().judge(page)


def test_a_long_page_is_not_worth_a_look_for_its_length_but_one_whose_noise_stays_is() -> None:
    def page(name: str, visible: int, kept: int) -> PageFigures:
        return PageFigures(f"{BASE}/{name}", name, Sizes(visible=visible, kept=kept))

    usual = [page(str(number), 5_000, 1_000) for number in range(5)]
    site = SiteFigures("a", "a", shown=[*usual, page("thread", 40_000, 36_000), page("left", 5_000, 4_900)])
    (finding,) = findings([site])
    assert (finding.page.url, finding.kind) == (f"{BASE}/left", "less removed")
    assert finding.why == "100 characters removed, much less than the 4,000 of its site"


def test_the_start_page_names_pages_that_are_unlike_their_site_or_doubtful(tmp_path: Path) -> None:
    pages = demo_pages(8)
    prose = "<p>" + "Der Rat stimmte nach langer Debatte für die neue Brücke über den Fluss. " * 30 + "</p>"
    odd = f"<html lang=de><head><title>Die Brücke</title></head><body><article>{prose}</article></body></html>"
    run = reported(tmp_path, [*pages, (f"{BASE}/odd", odd), (f"{BASE}/empty", "")])
    why = {one.page.url: one.why for one in run.worth_a_look}
    assert "much less than the" in why[f"{BASE}/odd"] or "its language is de" in why[f"{BASE}/odd"]
    assert why[f"{BASE}/empty"].startswith("nothing to read: empty")
    unsure = [one for one in run.worth_a_look if one.kind == "unsure"]
    assert all(re.match(r"its text is about \d\d% right: about [\d,]+ of ", one.why) for one in unsure)
    odd_page = (tmp_path / run.sites[0].folder / "page-009.html").read_text("utf-8")
    assert re.search(r"Confidence 0\.\d\d: about \d+ % of the text is expected to be right", odd_page)
    index = (tmp_path / "index.html").read_text("utf-8")
    assert index.index("Pages worth a look") < index.index('id="sites"') < index.index("This run")
    assert 'page-009.html">Die Brücke</a>' in index


def test_lines_that_stay_on_many_pages_are_worth_a_look(tmp_path: Path) -> None:
    line = "<p>This line of the template looks like any sentence of the story, and it stays.</p>"
    pages = [
        (f"{BASE}/{n}", f"<article>{line}<p>Story number {n} says that {n} boats sank.</p></article>")
        for n in range(6)
    ]
    run = reported(tmp_path, pages, method="link_ratio")
    assert "1 line of its text also on other pages, one on 6 of 6" in run.worth_a_look[0].why


def test_a_giant_text_is_cut_and_says_so(tmp_path: Path) -> None:
    html = "".join(
        f"<p>Paragraph {number} of a text that is far too long for a pane of a browser.</p>"
        for number in range(9_000)
    )
    run = reported(tmp_path, [(f"{BASE}/long", html)], method="link_ratio")
    page = (tmp_path / run.sites[0].folder / "page-001.html").read_text("utf-8")
    pane = page.partition('class="text-box"')[2].partition("</section>")[0]
    assert len(pane.encode()) < 400_000
    assert re.search(r"And [\d,]+ more lines|And [\d,]+ lines more|more\.", pane)


def test_the_tree_says_whose_verdicts_its_colours_are(tmp_path: Path) -> None:
    for method, said in (("fusion", True), ("style_tree", False)):
        run = reported(tmp_path / method, demo_pages(4), method=method)
        tree = (tmp_path / method / run.sites[0].folder / "tree.html").read_text("utf-8")
        assert ("These colours are verdicts of the method <code>style_tree</code>" in tree) == said


# --- of a store


@pytest.fixture
def opened() -> Iterator[Opened]:
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(Store(path, read_only=True)))


def test_a_store_is_shown_with_progress_waiting_pages_and_never_written(
    tmp_path: Path, opened: Callable[[Path], Store]
) -> None:
    path = tmp_path / "store.sqlite"
    store_with(path, "fusion", demo_pages(6), parked=2)
    before = path.read_bytes()
    assert is_store(path)
    view = opened(path)
    waiting = [(page.url, page.html) for page in view.all_pages()]
    run = reported(tmp_path / "report", waiting, store=view)
    (site,) = run.sites
    assert (site.pages, site.waiting, site.pages_seen, site.ready, site.pages_known) == (2, 2, 6, False, 6)
    assert "warming up, 6 seen, 2 items waiting" in (tmp_path / "report" / "index.html").read_text("utf-8")
    assert path.read_bytes() == before


def test_a_store_without_tree_or_pages_says_so_and_what_to_do(
    tmp_path: Path, opened: Callable[[Path], Store]
) -> None:
    store_with(tmp_path / "store.sqlite", "fusion", demo_pages(3))
    run = reported(tmp_path / "report", [], store=opened(tmp_path / "store.sqlite"))
    folder = tmp_path / "report" / run.sites[0].folder
    assert not (folder / "tree.html").exists()
    said = (folder / "index.html").read_text("utf-8")
    assert "The store holds no style tree of this site" in said
    assert "Name pages on the command line" in said


def test_the_tree_of_a_store_is_explored_with_the_words_of_pages_named_beside_it(
    tmp_path: Path, opened: Callable[[Path], Store]
) -> None:
    pages = demo_pages(9)
    store_with(tmp_path / "store.sqlite", "style_tree", pages)
    store = opened(tmp_path / "store.sqlite")
    alone = reported(tmp_path / "alone", [], store=store)
    beside = reported(tmp_path / "beside", pages[:2], store=store)
    data = tree_of(tmp_path / "alone" / alone.sites[0].folder)
    assert data.pages == 9
    assert not data.strings
    assert "It keeps hashes, not words" in (tmp_path / "alone" / alone.sites[0].folder / "tree.html").read_text()
    data = tree_of(tmp_path / "beside" / beside.sites[0].folder)
    assert data.pages == 9
    assert articles()[0].title in data.strings


def test_a_store_that_cannot_be_read_is_named(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 2000)
    with pytest.raises(StoreError, match=r"store\.sqlite cannot be read"):
        opened(path)
    assert not is_store(tmp_path / "nothing")


# --- what must always hold


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_data_in_a_page_comes_back_as_it_was_and_can_end_no_script(value: object) -> None:
    written = str(json_data(value))
    assert not set("<>&\u2028\u2029").intersection(written)
    assert json.loads(written) == value


@settings(max_examples=15)
@given(st.lists(st.tuples(st.text(max_size=20), html_pages()), min_size=1, max_size=3))
def test_any_pages_give_a_report(tmp_path_factory: pytest.TempPathFactory, pages: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("report")
    run = reported(folder, [(BASE + "/" + path, html) for path, html in pages], method="style_tree")
    assert run.pages == len(pages)
    assert not run.sites[0].failed
    assert (folder / "index.html").exists()


# --- the command


def test_the_command_writes_a_report_of_pages_and_of_a_store(tmp_path: Path) -> None:
    pages = demo_pages(4)
    lines = [json.dumps({"url": url, "html": html}) for url, html in pages]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    done = denoise(tmp_path, "report", "pages.jsonl", "-o", "out", "--pages", 2)
    assert "4 pages of 1 site in" in done.stderr
    assert (tmp_path / "out" / "index.html").exists()
    assert len(list((tmp_path / "out").glob("*/page-*.html"))) == 2
    store_with(tmp_path / ".scrapy" / "denoise.sqlite", "fusion", pages, parked=1)
    denoise(tmp_path, "report", "-o", "of-store")
    assert "warming up, 4 seen" in (tmp_path / "of-store" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "out"], "there is no store"),
        (["nothing.jsonl", "-o", "out"], "nothing.jsonl is not there"),
        (["page.html", "-o", "full"], "full is not empty"),
        (["page.html", "-o", "out", "--method", "magic"], "DENOISE_METHOD is 'magic': set it to one of"),
        (["a.sqlite", "b.sqlite", "-o", "out"], "are both stores: name one"),
    ],
)
def test_what_the_command_cannot_do_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "page.html").write_text("<p>Words")
    for name in ("a.sqlite", "b.sqlite"):
        Store(tmp_path / name).close()
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() or b"SQLite format 3\0")
    parser = ArgumentParser()
    command.add_arguments(parser)
    with pytest.raises(UsageError, match=re.escape(said)) as raised:
        command.run(parser.parse_args(arguments), Settings())
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()
