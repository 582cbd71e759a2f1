import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from denoise_crawler import Denoiser, Page, Writing
from denoise_crawler.commands.page_command import USER_AGENT
from tests.example_files import SITE, write_examples
from tests.loopback import HTML, Answer, Served, serving
from tests.programs import run_program
from tests.scrapy_process import environment

mcp = pytest.importorskip("mcp")

PAGE = b"<title>A walk</title><nav><a href=/>Home</a></nav><p>We went along the river until the sun set."
Call = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mcp")
    write_examples(made, 4)
    return made


def served(folder: Path, *calls: Call, options: tuple[str, ...] = ()) -> list[Any]:
    """Start the server as a client does, over standard input and output, and return what the calls give."""
    command = ["-m", "denoise_crawler.contrib.mcp", *options]
    server = mcp.StdioServerParameters(command=sys.executable, args=command, env=environment(), cwd=folder)

    async def talk() -> list[Any]:
        async with mcp.Client(server) as client:
            tools = await client.list_tools()
            return [tools.tools, *[await client.call_tool(name, given) for name, given in calls]]

    return asyncio.run(asyncio.wait_for(talk(), 120))


def answer(path: str) -> Answer:
    if path == "/robots.txt":
        return Answer(200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private/\n")
    if path == "/moved":
        return Answer(302, {"Location": "/private/story"}, b"")
    return Answer(200, HTML, PAGE)


@pytest.fixture(scope="module")
def site() -> Iterator[Served]:
    with serving(answer) as found:
        yield found


def test_a_client_finds_tools_that_only_read(folder: Path) -> None:
    [tools] = served(folder)
    assert [tool.name for tool in tools] == ["clean", "explain"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)


def test_html_is_cleaned_by_what_the_store_knows_and_explained(folder: Path) -> None:
    html, url = (folder / "saved.html").read_text("utf-8"), f"https://{SITE}/story"
    before = (folder / "crawl.sqlite").read_bytes()
    _, cleaned, text, explained = served(
        folder,
        ("clean", {"html": html, "url": url}),
        ("clean", {"html": html, "form": "text"}),
        ("explain", {"html": html, "url": url}),
        options=("--store", "crawl.sqlite", "--method", "style_tree"),
    )
    page = cleaned.structured_content
    assert (page["warm"], page["site"], page["method"]) == (True, SITE, "style_tree")
    assert "\n\n# " in page["text"]
    alone = Denoiser("style_tree", writing=Writing(more_metadata=True)).clean(Page.parse("", html)).clean_page
    assert text.structured_content["text"] == alone.text
    assert text.structured_content["description"] == alone.description
    blocks = explained.structured_content["blocks"]
    assert explained.structured_content["pages_known"] == 4
    assert {block["kept"] for block in blocks} == {True, False}
    assert (folder / "crawl.sqlite").read_bytes() == before


def test_a_long_text_comes_in_parts(folder: Path) -> None:
    html = "<p>A story of one line.</p>" * 20
    _, first, second = served(
        folder,
        ("clean", {"html": html, "max_chars": 100}),
        ("clean", {"html": html, "max_chars": 100, "part": 2}),
        options=("--method", "link_ratio"),
    )
    page = first.structured_content
    assert (page["truncated"], page["next_part"], len(page["text"]) <= 100) == (True, 2, True)
    assert second.structured_content["next_part"] == 3


def test_site_rules_are_applied(folder: Path) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / f"{SITE}.txt").write_text("body: //article/p[1]\nstrip: [\n")
    html = f"<article><p>{'One. ' * 60}<p>{'Two. ' * 60}</article>"
    _, found = served(folder, ("clean", {"url": f"https://{SITE}/1", "html": html}), options=("--rules", "rules"))
    assert found.structured_content["text"] == ("One. " * 60).strip()


def test_an_address_is_fetched_where_robots_txt_allows_it(folder: Path, site: Served) -> None:
    host = site.url.removeprefix("http://")
    _, page, forbidden, moved = served(
        folder,
        ("clean", {"url": f"{site.url}/story"}),
        ("clean", {"url": f"{site.url}/private/story"}),
        ("explain", {"url": f"{site.url}/moved"}),
        options=("--private-host", host),
    )
    assert page.structured_content["title"] == "A walk"
    assert page.structured_content["url"] == f"{site.url}/story"
    for refused in (forbidden, moved):
        assert refused.is_error
        assert f"{site.url}/private/story may not be fetched: robots.txt forbids it" in refused.content[0].text
    assert site.asked == ["/robots.txt", "/story", "/moved"]


MISTAKES: list[tuple[Call, str]] = [
    (("clean", {}), "give the url of a page, or its html"),
    (("clean", {"url": "file:///etc/hosts"}), "only http and https can be fetched, not file"),
    (("clean", {"html": "<p>x", "form": "pdf"}), "Input should be 'text', 'markdown' or 'html'"),
    (("clean", {"html": "<p>x", "max_chars": 0}), "DENOISE_MAX_CHARS is 0: set it to a whole number, 1 or more"),
    (("clean", {"html": "x" * 8_000_001}), "the html is larger than 8,000,000 bytes"),
]


def test_mistakes_are_told_to_the_model(folder: Path) -> None:
    _, *found = served(folder, *[call for call, _ in MISTAKES], options=("--store", "crawl.sqlite"))
    for (_, said), one in zip(MISTAKES, found, strict=True):
        assert one.is_error
        assert said in one.content[0].text


def started(folder: Path, *words: str, missing: str = "") -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.argv[1:1] = []\n" + (f"sys.modules[{missing!r}] = None\n" if missing else "")
    program += "from denoise_crawler.contrib.mcp import main\nsys.exit(main())"
    command = [sys.executable, "-c", program, *words]
    return run_program(*command, folder=folder, given="", code=None, **environment())


def test_a_server_that_cannot_begin_says_why_in_one_line(folder: Path) -> None:
    gone = started(folder, "--store", "gone.sqlite")
    assert (gone.returncode, gone.stderr) == (1, "there is no store gone.sqlite\n")
    without = started(folder, missing="mcp")
    said = "mcp is not installed: pip install 'denoise-crawler[mcp]'\n"
    assert (without.returncode, without.stderr) == (1, said)


def test_the_server_ends_when_its_client_has_gone(folder: Path) -> None:
    done = started(folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert USER_AGENT == "denoise-crawler"
