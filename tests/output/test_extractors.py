"""Other libraries as writers: real ones, on the pages of the bundled site and in real crawls of it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from lxml import etree
from scrapy.settings import Settings

from denoise_crawler import denoise_pages
from denoise_crawler.batch import clean_pages
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import ExtractorError, ExtractorOptionsError, SettingError
from denoise_crawler.evaluation import mean, score
from denoise_crawler.output.extractors import EXTRACTORS, MAX_MARKUP_CHARACTERS, check, run_extractor
from denoise_crawler.output.safe_markup import clean_document
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from examples.demo_site.articles import gold_text
from examples.demo_site.replies import article_path, articles, respond
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.commands.test_clean_command import denoise, lines
from tests.conftest import Project
from tests.programs import run_python
from tests.strategies import html_pages

BASE = "https://news.example"
ENGLISH = [article for article in articles() if article.lang == "en"][:24]
NAMES = list(EXTRACTORS)
MODULES = {
    "trafilatura": "trafilatura",
    "readability": "readability",
    "resiliparse": "resiliparse.extract.html2text",
    "html_text": "html_text",
}
WRITES_NOTHING: dict[str, object] = {"prune_xpath": "//body"}
PARAGRAPH = "<p>The harbour was quiet, and the boats came home one by one, long before the evening bell.</p>"


class NoAddress:
    """What trafilatura looks addresses up in, and what it cannot."""

    def __contains__(self, url: object) -> bool:
        if str(url).startswith(BASE):
            raise RuntimeError("no such list")
        return False

    def __bool__(self) -> bool:
        return True


def pages(count: int = 16) -> list[tuple[str, bytes]]:
    found = ENGLISH[:count]
    return [(BASE + article_path(story), respond(article_path(story), BASE).body) for story in found]


def by(extractor: str, **options: object) -> Writing:
    return Writing(extractor=extractor, extractor_options=options)


def read(**given: Any) -> DenoiseSettings:
    return DenoiseSettings.from_settings(Settings(given))


# --- what comes out


@pytest.mark.parametrize("name", NAMES)
def test_each_library_writes_the_article_and_names_itself(name: str) -> None:
    found = list(denoise_pages(pages(), writing=by(name)))
    assert {page.method for page in found} == {f"fusion+{name}"}
    assert mean(score(page.text, gold_text(story)) for page, story in zip(found, ENGLISH, strict=False)).f1 > 0.9
    assert "All rights reserved" not in "".join(page.text for page in found)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_noise_the_library_does_not_see(name: str) -> None:
    page = Page.parse(BASE, f"<article>{PARAGRAPH * 5}<p>{'This paragraph is noise. ' * 9}</p></article>")
    noise = [False] * len(page.nodes)
    assert "This paragraph" in run_extractor(page, noise, name, {})
    noise[-2:] = [True, True]
    assert "This paragraph" not in run_extractor(page, noise, name, {})


def test_an_extractor_keeps_its_markdown_xml_and_metadata() -> None:
    told = next(index for index, (_, html) in enumerate(pages()) if b"ld+json" in html)
    xml = list(denoise_pages(pages(), writing=by("trafilatura", output_format="xml", with_metadata=True)))[told]
    document = etree.fromstring(xml.text)
    assert document.get("title") == ENGLISH[told].title
    assert document.get("author") == ENGLISH[told].author
    assert document.get("sitename")
    markdown = list(
        denoise_pages(pages(), writing=by("trafilatura", output_format="markdown", with_metadata=True))
    )
    assert markdown[told].text.startswith("---\ntitle: ")


def test_readability_gives_its_own_html_when_asked_for_it_and_text_otherwise() -> None:
    html = next(denoise_pages(pages(), writing=by("readability", html_partial=True))).text
    text = next(denoise_pages(pages(), writing=by("readability"))).text
    assert html.startswith("<div>")
    assert "<p>" not in text


# --- what is handed over


def test_the_head_keeps_what_tells_of_the_page_and_nothing_else() -> None:
    html = """<html lang="en"><head><meta charset="gb2312"><meta http-equiv="refresh" content="1">
        <title>A title</title>
        <meta property="og:title" content="T"><link rel="canonical" href="/c"><link rel="stylesheet" href="/s.css">
        <style>p { color: red }</style><script>run()</script>
        <script type="application/ld+json">{"a": "<b>"}</script>
        </head><body><svg><title>drawing</title></svg><p>Text</p><script type="application/ld+json">[]</script>"""
    assert clean_document(Page.parse(BASE, html)) == (
        '<html lang="en"><head><meta charset="utf-8"><title>A title</title><meta property="og:title" content="T">'
        f'<link rel="canonical" href="{BASE}/c">'
        '<script type="application/ld+json">{"a": "<b>"}</script><script type="application/ld+json">[]</script>'
        "</head><body><svg></svg><p>Text</p></body></html>"
    )


def test_a_title_that_was_never_closed_is_left_out() -> None:
    assert "words" not in clean_document(Page.parse(BASE, f"<head><title>{'words ' * 500}</head>"), [True, True])


@given(html_pages())
def test_a_page_is_never_changed_and_each_library_gives_text(html: str) -> None:
    page = Page.parse(BASE, html)
    before = None if page.root is None else etree.tostring(page.root)
    for name in ("resiliparse", "html_text"):
        assert isinstance(run_extractor(page, None, name, {}), str)
    assert before == (None if page.root is None else etree.tostring(page.root))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "html",
    [
        f"{'<div>' * 3000}{PARAGRAPH * 3}",
        "<div>".join([PARAGRAPH] * 3000),
        "<ul><li>".join([PARAGRAPH] * 900),
        "\0\x01 no html",
        "",
    ],
    ids=["deep", "text at every level", "lists", "bytes", "empty"],
)
def test_strange_pages_are_written_or_left_to_us(name: str, html: str) -> None:
    found = next(denoise_pages([(BASE, html)], method="link_ratio", writing=by(name)))
    assert bool(found.text) == bool(html)


def test_a_library_is_not_asked_for_what_would_take_it_too_long() -> None:
    html = f'{PARAGRAPH}<img src="data:image/png;base64,{"A" * MAX_MARKUP_CHARACTERS}">'
    found = next(denoise_pages([(BASE, html)], method="link_ratio", writing=by("html_text")))
    assert found.method == "link_ratio"
    assert found.text


# --- what goes wrong


def test_where_the_library_writes_nothing_the_text_is_our_own() -> None:
    ours = list(denoise_pages(pages()))
    assert list(denoise_pages(pages(), writing=by("trafilatura", **WRITES_NOTHING))) == ours


def test_where_the_library_raises_the_text_is_our_own() -> None:
    assert list(denoise_pages(pages(), writing=by("trafilatura", url_blacklist=NoAddress()))) == list(
        denoise_pages(pages())
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_library_is_told_with_the_extra_that_brings_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, MODULES[name], None)
    extra = name.replace("_", "-")
    for use in (
        lambda: check(name, {}),
        lambda: denoise_pages([], writing=by(name)),
        lambda: clean_pages(list, writing=by(name)),
        lambda: Denoiser(writing=by(name)),
    ):
        with pytest.raises(ExtractorError, match=rf"pip install 'denoise-crawler\[{extra}\]'"):
            use()
    with pytest.raises(SettingError, match=rf"DENOISE_EXTRACTOR is '{name}'.*denoise-crawler\[{extra}\]"):
        read(DENOISE_EXTRACTOR=name)


def test_a_library_is_not_imported_before_it_is_chosen(project: Project) -> None:
    project.write("own.py", "import denoise_crawler.crawl.settings, sys\nprint(*sys.modules)\n")
    done = run_python(project.folder / "own.py")
    assert set(MODULES.values()).isdisjoint(done.stdout.split())


def test_an_unknown_extractor_is_an_error() -> None:
    with pytest.raises(ExtractorError, match="'newspaper' is no extractor; there are trafilatura, readability"):
        denoise_pages([], writing=by("newspaper"))


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("trafilatura", {"format": "markdown"}, "fails with these options: TypeError: .*format"),
        ("trafilatura", {"output_format": "pdf"}, "fails with these options"),
        ("trafilatura", {"output_format": "python"}, "gives|fails"),
        ("readability", {"summary": True}, "fails with these options: TypeError: .*summary"),
        ("resiliparse", {"skip_elements": ["!"]}, "fails with these options"),
        ("html_text", {"html": "<p>"}, "fails with these options: TypeError: .*html"),
    ],
)
def test_options_that_a_library_does_not_take_are_an_error(
    name: str, options: dict[str, object], said: str
) -> None:
    with pytest.raises(ExtractorOptionsError, match=said):
        check(name, options)
    with pytest.raises(SettingError, match=f"DENOISE_EXTRACTOR_OPTIONS is .*{said}"):
        read(DENOISE_EXTRACTOR=name, DENOISE_EXTRACTOR_OPTIONS=options)


# --- settings, crawls, commands


def test_the_settings_say_who_writes() -> None:
    assert read().writing.extractor is None
    assert read(DENOISE_EXTRACTOR="").writing.extractor is None
    found = read(
        DENOISE_EXTRACTOR="trafilatura", DENOISE_EXTRACTOR_OPTIONS='{"output_format": "markdown"}'
    ).writing
    assert (found.extractor, found.extractor_options) == ("trafilatura", {"output_format": "markdown"})
    with pytest.raises(SettingError, match="set it to one of trafilatura, readability, resiliparse, html_text"):
        read(DENOISE_EXTRACTOR="newspaper")
    with pytest.raises(SettingError, match=r"DENOISE_EXTRACTOR_OPTIONS is .* set it to a dict"):
        read(DENOISE_EXTRACTOR="trafilatura", DENOISE_EXTRACTOR_OPTIONS="fast")


@pytest.fixture
def crawls(project: Project, server: DemoServer) -> Project:
    project.spider(SPIDER, [server.url + article_path(story) for story in ENGLISH[:8]])
    return project


@pytest.mark.parametrize("name", NAMES)
def test_in_a_crawl_the_library_writes_the_text(crawls: Project, name: str) -> None:
    fields = 'DENOISE_EXTRA_FIELDS={"method": "by"}'
    items = crawls.crawl(
        "articles", "-s", "DENOISE_WARMUP_PAGES=8", "-s", f"DENOISE_EXTRACTOR={name}", "-s", fields
    )
    assert [item["by"] for item in items] == [f"fusion+{name}"] * 8
    assert all(score(item["text"], gold_text(story)).f1 > 0.8 for item, story in zip(items, ENGLISH, strict=False))
    assert "denoise/extractor_fallbacks" not in crawls.stats


def test_in_a_crawl_our_own_text_is_counted_and_told(crawls: Project) -> None:
    options = f"DENOISE_EXTRACTOR_OPTIONS={json.dumps(WRITES_NOTHING)}"
    items = crawls.crawl("articles", "-s", "DENOISE_EXTRACTOR=trafilatura", "-s", options)
    assert all(item["text"] for item in items)
    assert crawls.stats["denoise/extractor_fallbacks"] == len(items) == 8
    assert crawls.log.count("trafilatura wrote nothing of http") == 1


def test_the_clean_command_takes_an_extractor(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, (_, html) in enumerate(pages(4)):
        (folder / f"{number}.html").write_bytes(html)
    done = denoise(tmp_path, "clean", folder, "-o", "out.jsonl", "--extractor", "trafilatura", "--workers", "1")
    assert {line["method"] for line in lines(tmp_path / "out.jsonl")} == {"fusion+trafilatura"}
    assert "(fusion+trafilatura, 1 worker)" in done.stderr
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = s\n")
    own = f"DENOISE_EXTRACTOR = 'trafilatura'\nDENOISE_EXTRACTOR_OPTIONS = {WRITES_NOTHING}\n"
    (tmp_path / "s.py").write_text(own)
    done = denoise(tmp_path, "clean", folder, "-o", "own.jsonl", "--workers", "1")
    assert {line["method"] for line in lines(tmp_path / "own.jsonl")} == {"fusion"}
    assert "trafilatura wrote nothing, so the text is our own: 4 pages" in done.stderr
    denoise(tmp_path, "clean", folder, "-o", "other.jsonl", "--extractor", "resiliparse", "--workers", "1")
    assert {line["method"] for line in lines(tmp_path / "other.jsonl")} == {"fusion+resiliparse"}
