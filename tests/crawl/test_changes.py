"""Two crawls of a site with the same store: which pages are marked unchanged, in real crawls over loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from denoise_crawler.demo.replies import articles
from tests.article_spider import SPIDER
from tests.conftest import SETTINGS
from tests.loopback import HTML, Answer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Project

BY_ADDON = (
    SETTINGS
    + """
ADDONS = {"denoise_crawler.Addon": 300}
DENOISE_CHANGES = "mark"
DENOISE_EXTRA_FIELDS = {name: name for name in ("unchanged", "content_hash", "near_duplicate_of", "soft_404")}
"""
)
STORIES = [article for article in articles() if article.lang == "en"][:20]
NOT_FOUND = "<h1>Oh no</h1><p>We looked everywhere, but there is no such story. Try the front page.</p>"


class Site:
    """A news site whose furniture differs in each of its editions."""

    def __init__(self) -> None:
        self.edition = 1
        self.edited: set[int] = set()

    def answer(self, path: str) -> Answer:
        name = path.strip("/")
        if not name.isdigit() or int(name) >= len(STORIES):
            return Answer(200, HTML, self.page("Not here", NOT_FOUND, 99).encode())
        number = int(name)
        story = STORIES[number]
        paragraphs = [line for block in story.paragraphs if block.kind == "text" for line in block.lines]
        if number in self.edited:
            paragraphs[1] = paragraphs[1].replace(".", ", the police said on Sunday.", 1)
        body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        stamp = (
            f"<p class=meta>Updated {3 * self.edition} minutes ago</p><p class=views>{self.edition}17 views</p>"
        )
        return Answer(200, HTML, self.page(story.title, f"<h1>{story.title}</h1>{stamp}{body}", number).encode())

    def page(self, title: str, content: str, number: int) -> str:
        edition = self.edition
        menu = "".join(
            f"<li><a href=/{edition}/{word}>{word} {edition}</a></li>" for word in ("News", "Sport", "Arts")
        )
        ad = (
            f"<div class=ad>Offer {edition}{number}: save {edition + number % 7} % on boots, this week only!</div>"
        )
        shown = [(number + edition * step) % 20 for step in range(1, 6)]
        others = "".join(f"<li><a href=/{other}>{STORIES[other].title}</a></li>" for other in shown)
        return (
            f"<html><head><title>{title}</title></head><body><nav><ul>{menu}</ul></nav>{ad}"
            f"<main>{content}</main><aside><h2>Most read</h2><ul>{others}</ul></aside>"
            f"<footer>Page made at 1{edition}:03. Edition {edition}.</footer></body></html>"
        )


@pytest.fixture
def site() -> Iterator[tuple[Site, str]]:
    made = Site()
    with serving(made.answer) as served:
        yield made, served.url


def crawl(
    project: Project, url: str, feed: str, *arguments: str, pages: int = len(STORIES)
) -> list[dict[str, Any]]:
    project.write("project_settings.py", BY_ADDON)
    project.write("test_spiders.py", SPIDER)
    project.write("urls.json", json.dumps([f"{url}/{number}" for number in range(pages)]))
    items = project.crawl("articles", "-s", "DENOISE_STORE=kept.sqlite", *arguments, feed=feed)
    return sorted(items, key=lambda item: int(item["url"].rpartition("/")[2]))


def test_stories_have_what_the_site_needs() -> None:
    assert len(STORIES) == 20
    assert all(sum(block.kind == "text" for block in story.paragraphs) > 2 for story in STORIES)


def test_nothing_is_marked_changed_where_only_menus_advertisements_and_time_stamps_are_new(
    project: Project, site: tuple[Site, str]
) -> None:
    made, url = site
    first = crawl(project, url, "first.jsonl")
    assert [item["unchanged"] for item in first] == [None] * 20
    made.edition = 2
    second = crawl(project, url, "second.jsonl")
    assert [item["unchanged"] for item in second] == [True] * 20
    assert project.stats["denoise/unchanged"] == 20


def test_exactly_the_pages_are_marked_changed_whose_text_is_new(project: Project, site: tuple[Site, str]) -> None:
    made, url = site
    crawl(project, url, "first.jsonl")
    made.edition, made.edited = 2, {3, 8, 14}
    second = crawl(project, url, "second.jsonl")
    assert {number for number, item in enumerate(second) if not item["unchanged"]} == made.edited
    third = crawl(project, url, "third.jsonl")
    assert all(item["unchanged"] for item in third)


def test_worker_processes_share_what_was_seen(project: Project, site: tuple[Site, str]) -> None:
    made, url = site
    crawl(project, url, "first.jsonl", "-s", "DENOISE_WORKERS=2")
    made.edition, made.edited = 2, {4, 11}
    second = crawl(project, url, "second.jsonl", "-s", "DENOISE_WORKERS=2")
    assert {number for number, item in enumerate(second) if not item["unchanged"]} == made.edited


def test_items_of_unchanged_pages_are_dropped_on_wish(project: Project, site: tuple[Site, str]) -> None:
    made, url = site
    crawl(project, url, "first.jsonl")
    made.edition, made.edited = 2, {5}
    second = crawl(project, url, "second.jsonl", "-s", "DENOISE_CHANGES=drop")
    assert [item["url"] for item in second] == [f"{url}/5"]
    assert project.stats["denoise/unchanged_dropped"] == 19
    assert project.stats["item_dropped_reasons_count/UnchangedItem"] == 19
    assert "19 were dropped, as their page is unchanged" in project.log


def test_the_error_page_under_many_addresses_is_a_soft_404(project: Project, site: tuple[Site, str]) -> None:
    _, url = site
    items = crawl(project, url, "out.jsonl", pages=26)
    assert [item["soft_404"] for item in items[:20]] == [False] * 20
    assert [item["soft_404"] for item in items[20:]] == [False, False, True, True, True, True]


def test_a_history_that_cannot_be_opened_costs_only_the_marks(project: Project, site: tuple[Site, str]) -> None:
    _, url = site
    (project.folder / "kept.sqlite.pages").write_bytes(b"no SQLite file" * 100)
    items = crawl(project, url, "out.jsonl", pages=8)
    assert [(bool(item["text"]), item["unchanged"]) for item in items] == [(True, None)] * 8
    assert project.log.count("kept.sqlite.pages cannot be used (file is not a database)") == 1


def test_without_the_setting_no_file_is_made_and_nothing_is_marked(
    project: Project, site: tuple[Site, str]
) -> None:
    _, url = site
    items = crawl(project, url, "out.jsonl", "-s", "DENOISE_CHANGES=no", pages=8)
    assert all(item["unchanged"] is None and item["content_hash"] is None for item in items)
    assert not (project.folder / "kept.sqlite.pages").exists()
