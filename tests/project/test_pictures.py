"""The pictures in README and docs, and the docs as a site. ``DENOISE_WRITE_DOCS=1`` takes the pictures anew."""

import os
import re
from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageColor

from denoise_crawler.denoiser import Cleaned, Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.painted import PAINT, painted_html
from denoise_crawler.output.writing import RENDERINGS
from denoise_crawler.page import Page
from denoise_crawler.report import Bounds, Plan, RunFigures, write_report
from examples.demo_site.articles import article_path, articles, load_json
from examples.demo_site.pages import article_page
from examples.demo_site.replies import respond
from tests.chromium import DESKTOP, PHONE, faults, opened, overflow, photograph, photograph_for_docs
from tests.conftest import ROOT
from tests.programs import run_python
from tests.scrapy_process import denoise_here

BASE, SITE = "https://ledger.example", "ledger.example"
WINDOW = {"width": 1280, "height": 860}
SHOWN = 0  # the story in the pictures


def stories() -> list[tuple[str, str]]:
    """Return address and page of each English story, with the style sheet and the pictures of the site inside."""
    style = (files("examples.demo_site") / "site.css").read_text("utf-8")
    made = [(BASE + article_path(one), article_page(one, BASE)) for one in articles() if one.lang == "en"]
    return [(at, _inlined(html.replace("</head>", f"<style>{style}</style></head>", 1))) for at, html in made]


def _inlined(html: str) -> str:
    def data(found: re.Match[str]) -> str:
        return f'src="data:image/svg+xml;base64,{b64encode(respond(found[1], BASE).body).decode()}"'

    return re.sub(r'src="(/images/[^"]+\.svg)"', data, html)


@pytest.fixture(scope="module")
def cleaned() -> Cleaned:
    return cleaned_by("fusion")


def cleaned_by(method: str, shown: int = SHOWN) -> Cleaned:
    denoiser = Denoiser(method)
    pages = [Page.parse(at, html) for at, html in stories()]
    for page in pages:
        denoiser.learn(page)
    return denoiser.clean(pages[shown])


HERO = """<!DOCTYPE html><meta charset=utf-8><title>Before and after</title><style>
body{margin:0;display:grid;grid-template-columns:660px 1fr;gap:20px;padding:16px;font:17px/1.5 sans-serif}
h1{font-size:17px;margin:0 0 8px;color:#4d5a67}
div{height:560px;overflow:hidden;border:1px solid #c5ced7;border-radius:6px}
iframe{border:0;width:1000px;height:900px;transform:scale(.66);transform-origin:0 0}
pre{margin:0;padding:14px 18px;white-space:pre-wrap;font:inherit;color:#10203a}
</style>
<section><h1>The page, its noise faded</h1><div><iframe sandbox srcdoc="%s"></iframe></div></section>
<section><h1>The text of its item</h1><div><pre>%s</pre></div></section>"""
HIDDEN = "<style>#cookie-banner,figure,#denoise-legend{display:none!important}</style></head>"


def test_the_readme_begins_with_a_page_and_its_text(browser: Any, tmp_path: Path) -> None:
    without_picture = next(number for number, (_, html) in enumerate(stories()) if "<figure" not in html)
    cleaned = cleaned_by("fusion", without_picture)
    assert cleaned.judgement is not None
    painted = painted_html(cleaned.page, cleaned.judgement).replace("</head>", HIDDEN, 1)
    file = tmp_path / "hero.html"
    file.write_text(HERO % (escape(painted), escape(cleaned.clean_page.text.replace("\n", "\n\n"))), "utf-8")
    with opened(browser, file.as_uri(), {"width": 1280, "height": 632}) as page:
        assert cleaned.clean_page.title in page.inner_text("pre")
        photograph_for_docs(page, "before-after")


def bars() -> str:
    """Return the bars of the README, of the lines of noise left in the table of ``docs/figures.md``."""
    table = (ROOT / "docs" / "figures.md").read_text("utf-8").partition("| noise left |")[2].partition("\n\n")[0]
    left = {
        name: float(share) for name, share in re.findall(r"^\| ([^|]+) \|.* ([\d.]+) % \|$", table, re.MULTILINE)
    }
    rows = {
        "denoise_crawler, site known": left["all"],
        "denoise_crawler, one page": left["none"],
        "readability": left["readability"],
        "trafilatura": left["trafilatura, which sees one page"],
    }
    longest, drawn = max(rows.values()), []
    for row, (name, share) in enumerate(rows.items()):
        y, width, colour = 44 + 28 * row, max(2, round(430 * share / longest)), "#2a5db0" if row < 2 else "#9aa3ab"
        drawn.append(
            f'<text x="212" y="{y + 14}" text-anchor="end">{name}</text><rect x="220" y="{y}" width="{width}" '
            f'height="18" fill="{colour}"/><text x="{228 + width}" y="{y + 14}">{100 * share:.0f}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {52 + 28 * len(rows)}" '
        'font-family="sans-serif" font-size="14"><style>svg{background:#fff}text{fill:#18212b}</style>'
        '<text x="10" y="24" font-weight="bold">'
        "Lines of noise left in 10,000: 634 pages of 29 blogs and documentations</text>"
        f"{''.join(drawn)}</svg>\n"
    )


def test_the_bars_of_the_readme_are_the_figures() -> None:
    file = ROOT / "docs" / "noise-left.svg"
    if os.environ.get("DENOISE_WRITE_DOCS"):
        file.write_text(bars(), "utf-8")
    assert file.read_text("utf-8") == bars()


def test_the_picture_of_the_readme_keeps_no_line_of_noise(cleaned: Cleaned, browser: Any, tmp_path: Path) -> None:
    words, text = load_json("texts.json"), cleaned.clean_page.text
    assert [advertisement for advertisement in words["ads"]["en"] if advertisement in text] == []
    assert [one for one in ("follow", "read_more", "newsletter_text") if words["words"]["en"][one] in text] == []
    assert cleaned.judgement is not None
    file = tmp_path / "painted.html"
    file.write_text(painted_html(cleaned.page, cleaned.judgement, method="fusion"), "utf-8")
    with opened(browser, file.as_uri(), WINDOW) as page:
        photograph_for_docs(page, "painted-by-fusion")


def test_the_picture_of_a_painted_page_names_the_method_that_judged(browser: Any, tmp_path: Path) -> None:
    judged = cleaned_by("style_tree")
    file = tmp_path / "painted.html"
    file.write_text(RENDERINGS["painted"](judged.page, judged.judgement, judged.clean_page.method), "utf-8")
    with opened(browser, file.as_uri(), WINDOW) as page:
        assert page.inner_text("#denoise-legend summary") == "style_tree"
        photograph_for_docs(page, "painted-page")


@pytest.mark.parametrize("name", ["painted-page", "painted-by-fusion"])
def test_a_picture_of_a_painted_page_in_the_docs_has_the_colours_of_the_painter(name: str) -> None:
    picture = Image.open(ROOT / "docs" / f"{name}.png").convert("RGB")
    shown = {colour for _, colour in picture.getcolors(1 << 24)}
    lines = set(re.findall(r"--denoise-(?:line|back):(#[0-9a-f]{6})", PAINT))
    assert len(lines) == 3
    assert {ImageColor.getrgb(line) for line in lines} <= shown


def test_two_small_pages_become_a_style_tree_with_its_numbers(browser: Any, tmp_path: Path) -> None:
    menu, foot = '<div class="menu"><a href="/">Home</a></div>', '<div class="foot">© The Ledger</div>'
    mains = {
        "a": "<h1>Ferry treaty</h1><p>The strait opens again.",
        "b": '<h1>Night train</h1><img class="wide" src="/train.jpg"><p>It runs three times a week.',
    }
    for name, main in mains.items():
        html = f'<title>Page {name.upper()}</title>{menu}<div class="main">{main}</div>{foot}'
        (tmp_path / f"{name}.html").write_text(html, "utf-8")
    drawn = tmp_path / "both.html"
    assert denoise_here("tree", "--pages", tmp_path / "a.html", tmp_path / "b.html", "-O", drawn) == 0
    with opened(browser, drawn.as_uri(), {"width": 1400, "height": 860}) as page:
        assert faults(page) == []
        *alone, both = page.locator(".drawing").all()
        assert [one.locator("h2").inner_text() for one in alone] == ["Page A", "Page B"]
        assert "CompImp" not in alone[0].inner_text()
        main = both.locator(".node.kept", has_text="div.main").inner_text()
        assert main.splitlines() == [
            "div.main",
            "2 pages · CompImp 0.93",
            "(1 − 0.9²)·1.00 + 0.9²·(1/2·0.93 + 1/2·0.90)",
        ]
        assert (
            both.locator(".node.noise", has_text="div.menu").inner_text().splitlines()[1]
            == "2 pages · CompImp 0.00"
        )
        photograph_for_docs(page, "two-pages")


def test_the_pictures_of_the_report_are_of_the_same_pages(browser: Any, tmp_path: Path) -> None:
    sited = [(SITE, at, html) for at, html in stories()]
    plan = Plan(lambda: iter(sited), MethodChoice("fusion"), Bounds(pages=8))
    run = write_report(tmp_path, plan, RunFigures(["pages.jsonl"], "fusion", "2031-03-14 09:00 UTC", "0.1.0"))
    folder = run.sites[0].folder
    for name, file, size in (
        ("report-start", "index.html", WINDOW),
        ("report-site", f"{folder}/index.html", WINDOW),
        ("report-page", f"{folder}/page-001.html", WINDOW),
        ("report-phone", f"{folder}/page-001.html", PHONE),
        ("report-tree", f"{folder}/tree.html", WINDOW),
    ):
        with opened(browser, (tmp_path / file).as_uri(), size) as page:
            page.wait_for_timeout(400)
            if name == "report-tree":
                page.fill("#query", "ferry treaty ends")
                page.keyboard.press("Enter")
            assert faults(page) == []
            photograph_for_docs(page, name)


PAGES = [page.stem for page in sorted((ROOT / "docs").glob("*.md"))]
EVERY_ELEMENT = ("index", "figures", "api", "papers-zh")  # what they hold in the dark, all pages are made of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    mkdocs = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir"]
    built = run_python(*mkdocs, folder, folder=ROOT, NO_MKDOCS_2_WARNING="1")
    assert built.stdout + built.stderr == ""
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_and_fits_a_desktop_and_a_phone(site: Path, browser: Any, name: str) -> None:
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        with opened(browser, (site / f"{name}.html").as_uri(), size, scheme) as page:
            photograph(page, f"docs-{name}-{size['width']}")
            assert (size == PHONE and name not in EVERY_ELEMENT) or faults(page) == []
            assert overflow(page) <= 0
