import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from denoise_crawler import Page
from denoise_crawler.commands.page_command import run
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.output.writing import Writing
from denoise_crawler.page.page import MAX_ELEMENTS
from examples.demo_site.replies import article_path, articles
from examples.demo_site.server import DemoServer
from tests.example_files import BASE, SITE, write_examples
from tests.loopback import HTML, Answer, serving
from tests.programs import run_program, run_python
from tests.scrapy_process import environment, interrupted_while_fetching

PROCESS = [sys.executable, "-m", "denoise_crawler"]
STORY = "<title>A walk</title><nav><a href=/>Home</a></nav><p>We went along the river until the sun set.</p>"
TEXT = "We went along the river until the sun set."


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pages")
    write_examples(made, 4)
    (made / "story.html").write_text(STORY)
    (made / "empty.html").write_text("")
    (made / "framed.html").write_text("<frameset><frame src=/menu></frameset>")
    (made / "large.html").write_text("<p>a" * (MAX_ELEMENTS + 1))
    (made / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (made / "notes.txt").write_text("Milk and bread.")
    (made / "broken.sqlite").write_text("not a store")
    return made


@pytest.fixture
def folder(examples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(examples)
    return examples


def piped(
    folder: Path, *words: str, given: bytes = b"", code: int = 0, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own, ``given`` on its standard input."""
    done = subprocess.run(
        [*PROCESS, *words],
        cwd=folder,
        env=environment(**more),
        input=given,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    return done


# --- what comes out


@pytest.mark.parametrize("form", ["markdown", "html", "blocks"])
def test_every_form_is_that_of_the_library(folder: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = "https://example.com/news/1"
    assert run(["saved.html", "--form", form, "--url", url, "--links", "leave"]) == 0
    page = Page.parse(url, (folder / "saved.html").read_bytes())
    clean = Denoiser(writing=Writing(form, links="leave")).clean(page).clean_page
    said = capsys.readouterr()
    assert (said.out.strip(), said.err) == (str(clean.text).strip(), "")


@pytest.mark.usefixtures("folder")
def test_json_is_the_record_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    url = "https://example.com/walk"
    assert run(["story.html", "--json", "--url", url, "--method", "link_ratio"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["url"], found["site"], found["title"]) == (url, SITE, "A walk")
    assert (found["text"], found["method"], found["warm"]) == (TEXT, "link_ratio", False)


@pytest.mark.usefixtures("folder")
def test_preferences_reach_the_method(capsys: pytest.CaptureFixture[str]) -> None:
    title = articles()[0].title
    run(["saved.html", "saved.html", "--title", "leave"])
    without = capsys.readouterr().out
    run(["saved.html", "--form", "markdown", "--front-matter"])
    assert title not in without.splitlines()[0]
    assert f'---\ntitle: "{title}"' in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_several_texts_are_parted_by_an_empty_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["story.html", "story.html", "--method", "link_ratio"]) == 0
    assert capsys.readouterr().out == f"{TEXT}\n\n{TEXT}\n"


def test_standard_input_is_a_page(folder: Path) -> None:
    done = piped(folder, "-", "--url", BASE, "--json", "--method", "link_ratio", given=STORY.encode())
    found = json.loads(done.stdout)
    assert (found["url"], found["text"]) == (BASE, TEXT)


def test_an_address_is_fetched_under_the_name_that_is_given(
    server: DemoServer, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url + article_path(articles()[0])
    assert run([url]) == 0
    assert articles()[0].title in capsys.readouterr().out
    with serving(lambda _: Answer(200, HTML, STORY.encode())) as (url, asked):
        assert run([f"{url}/walk", "--user-agent", "me", "--json"]) == 0
    assert asked == ["/walk"]
    assert json.loads(capsys.readouterr().out)["url"] == f"{url}/walk"


# --- what is known of the site


def record(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.usefixtures("folder")
def test_the_site_is_learned_first_from_a_folder_of_its_pages(capsys: pytest.CaptureFixture[str]) -> None:
    alone = record(capsys, "saved.html", "--method", "style_tree")
    learned = record(capsys, "saved.html", "--method", "style_tree", "--site-pages", "mirror")
    assert (alone["warm"], learned["warm"]) == (False, True)
    assert len(learned["text"]) < len(alone["text"])


@pytest.mark.usefixtures("folder")
def test_what_a_crawl_knows_is_taken_from_its_store_which_stays_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = Path("crawl.sqlite").read_bytes()
    known = ("saved.html", "--method", "style_tree", "--store", "crawl.sqlite")
    assert not record(capsys, *known)["warm"]
    assert record(capsys, *known, "--url", BASE)["warm"]
    assert record(capsys, *known, "--site", SITE)["warm"]
    assert Path("crawl.sqlite").read_bytes() == before


def test_site_rules_are_applied_and_their_mistakes_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / f"{SITE}.txt").write_text("body: //article/p[1]\nno_such_directive: x\n")
    (folder / "two.html").write_text(f"<article><p>{'One. ' * 60}<p>{'Two. ' * 60}</article>")
    assert run(["two.html", "--rules", "rules", "--url", BASE]) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == ("One. " * 60).strip()
    assert f"{SITE}.txt" in shown.err
    with pytest.raises(SystemExit):
        run(["two.html", "--rules", "gone"])
    assert "the folder of rules gone cannot be read" in capsys.readouterr().err


# --- what cannot be cleaned


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "no page is named. An example: denoise-crawler https://"),
        (["story.html", "--form", "pdf"], 2, "invalid choice: 'pdf'"),
        (["story.html", "story.html", "--url", BASE], 2, "--url is the address of one page"),
        (["-", "-"], 2, "standard input can be read once"),
        (["story.html", "--front-matter"], 2, "--front-matter needs --form markdown"),
        (["story.html", "--method", "link_ratio", "--title", "keep"], 2, "'link_ratio' does not take these"),
        (["story.html", "--site-pages", "mirror", "--store", "crawl.sqlite"], 2, "not both"),
        (["gone.html"], 1, "gone.html is not there"),
        (["mirror"], 1, "mirror holds many pages: scrapy denoise clean reads it"),
        (["pages.jsonl"], 1, "pages.jsonl holds many pages"),
        (["notes.txt"], 1, "notes.txt is no HTML"),
        (["picture.html"], 1, "no page in picture.html; binary file"),
        (["empty.html"], 1, "empty.html has no text: it is empty"),
        (["large.html"], 1, "large.html has no text: it is too large"),
        (["framed.html"], 1, "framed.html has no text: frameset"),
        (["ftp://example.com/"], 1, "only http and https can be fetched, not ftp"),
        (["http://127.0.0.1:1/"], 1, "http://127.0.0.1:1/ cannot be fetched"),
        (["story.html", "--store", "gone.sqlite"], 1, "there is no store gone.sqlite"),
        (["story.html", "--store", "broken.sqlite"], 1, "Move it away or name another file"),
        (["story.html", "--site-pages", "gone"], 1, "gone is not there"),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("folder")
def test_a_mistake_is_told_in_one_line_with_its_exit_code(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        ended = run(words)
    except SystemExit as exited:
        ended = int(exited.code or 0)
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert said in line
    assert (ended, shown.out) == (code, "")


@pytest.mark.usefixtures("folder")
def test_what_fails_costs_no_other_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gone.html", "story.html", "empty.html", "--method", "link_ratio"]) == 1
    shown = capsys.readouterr()
    assert shown.out == f"{TEXT}\n"
    assert len(shown.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", "standard input has no text: it is empty"),
        (b'{"text": "no page"}', "standard input is no HTML"),
        (b"<p>" + b"x" * 8_000_000, "standard input is larger than 8,000,000 bytes"),
    ],
)
def test_standard_input_that_is_no_page_is_told(folder: Path, given: bytes, said: str) -> None:
    assert piped(folder, "-", given=given, code=1).stderr.decode() == f"{said}\n"


def test_nothing_of_a_page_reaches_a_terminal_raw(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = folder / "hostile.html"
    page.write_text("<p>A story.\x9b2J\x1b]0;owned\x07 It ends.<table><tr><th>a<th>b<tr><td>1<td>2</table>")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for options in ([], ["--json"], ["--form", "blocks"]):
        assert run(["hostile.html", "--method", "link_ratio", *options]) == 0
        shown = capsys.readouterr().out
        assert "It ends." in shown
        assert all(one.isprintable() or one in "\n\t" for one in shown)


def test_a_reader_that_closes_the_pipe_early_is_no_error(folder: Path) -> None:
    words = [*PROCESS, *(["saved.html"] * 200)]
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_ctrl_c_ends_in_one_line(folder: Path) -> None:
    assert interrupted_while_fetching(PROCESS, folder) == ("interrupted\n", 130)


# --- what it takes


def test_a_file_is_cleaned_without_scrapy_and_without_the_packages_of_extras(folder: Path) -> None:
    unwanted = (
        *("scrapy", "twisted", "rich", "jinja2", "publicsuffixlist", "mcp"),
        "jieba",
    )
    program = (
        f"import sys; sys.argv = ['denoise-crawler', 'saved.html', '--site-pages', 'mirror']\n"
        f"for name in {unwanted!r}: sys.modules[name] = None\n"
        f"sys.modules.pop('publicsuffixlist')  # the folder's addresses need it\n"
        "from denoise_crawler.__main__ import main\nsys.exit(main())"
    )
    done = run_python("-c", program, folder=folder, code=None, **environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert articles()[0].title in done.stdout


def test_a_page_without_an_address_loads_no_list_of_suffixes(folder: Path) -> None:
    program = (
        "import sys; sys.argv = ['denoise-crawler', 'story.html']; sys.modules['publicsuffixlist'] = None\n"
        "from denoise_crawler.__main__ import main\nsys.exit(main())"
    )
    subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment(), check=True, timeout=120)


def test_the_command_is_installed_under_its_name() -> None:
    script = Path(sys.executable).with_name("denoise-crawler")
    if not script.exists():
        pytest.skip("the package is not installed")
    told = run_program(script, "-h").stdout
    assert "usage: denoise-crawler " in told
    assert "Exit codes: 0" in " ".join(told.split())
