"""What is written below a folder stays there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from denoise_crawler.errors import LinkedOutputError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.safe_markup import write_below
from denoise_crawler.report import Plan, RunFigures, write_report
from tests.report.test_report import SITE, demo_pages
from tests.scrapy_command import denoise

if TYPE_CHECKING:
    from pathlib import Path


def test_files_are_written_in_the_folder_and_in_folders_made_below_it(tmp_path: Path) -> None:
    write_below(tmp_path, "a.html", "one \ud800")
    write_below(tmp_path, "site/b.html", "two")
    assert (tmp_path / "a.html").read_text() == "one ?"
    assert (tmp_path / "site" / "b.html").read_text() == "two"


@pytest.mark.parametrize("name", ["../a", "x/../../a", "/a", "x/y/a", ".."])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LinkedOutputError, match="does not lie in"):
        write_below(tmp_path / "out", name, "text")
    assert not list(tmp_path.rglob("a"))


def test_a_report_is_not_written_through_a_link(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "precious.html"
    out.mkdir()
    elsewhere.write_text("precious")
    (out / "index.html").symlink_to(elsewhere)
    pages = [(SITE, url, html) for url, html in demo_pages(2)]
    with pytest.raises(LinkedOutputError, match=r"index\.html is a link"):
        write_report(
            out, Plan(lambda: iter(pages), MethodChoice("fusion")), RunFigures(["pages"], "fusion", "now", "0")
        )
    assert elsewhere.read_text() == "precious"


def test_clean_pages_are_not_written_through_a_link_and_the_command_says_so(tmp_path: Path) -> None:
    pages, out, elsewhere = tmp_path / "www.site.example", tmp_path / "out", tmp_path / "elsewhere"
    for folder in (pages, out, elsewhere):
        folder.mkdir()
    (pages / "one.html").write_text("<h1>One</h1><p>Some words to read on this page.")
    (out / "www.site.example").symlink_to(elsewhere)
    process = denoise(tmp_path, "clean", pages, "--as", "html", "-O", out, "--workers", "1", code=1)
    assert "www.site.example is a link, which is not followed" in process.stderr
    assert not list(elsewhere.iterdir())
