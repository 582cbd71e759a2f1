"""Without the package of an extra, a line says what to install."""

import subprocess
from pathlib import Path

import pytest

from denoise_crawler.errors import MissingExtraError
from tests.conftest import ADDON, SETTINGS, Project, needs_new_scrapy
from tests.programs import run_python

RENDERING = 'ADDONS = {"denoise_crawler.contrib.rendering.Rendering": 320}\n'


def python(folder: Path, code: str, missing: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` as if a package were not there."""
    return run_python("-c", f"import sys; sys.modules[{missing!r}] = None\n{code}", folder=folder, code=None)


@pytest.mark.parametrize(
    ("settings", "missing", "extra"),
    [
        pytest.param(RENDERING, "scrapy_playwright", "playwright", marks=needs_new_scrapy),
        (ADDON + "DENOISE_EXTRACTOR = 'trafilatura'\n", "trafilatura", "trafilatura"),
        (ADDON + "DENOISE_SHARED_STORE = 'shared'\n", "fsspec", "shared"),
        ('EXTENSIONS = {"denoise_crawler.contrib.live.LivePage": 0}\n', "jinja2", "commands"),
    ],
)
def test_a_crawl_without_the_package_of_an_extra_ends_in_a_line_that_names_it(
    project: Project, settings: str, missing: str, extra: str
) -> None:
    project.write("project_settings.py", f"import sys\nsys.modules[{missing!r}] = None\n{SETTINGS}{settings}")
    project.write("test_spiders.py", "import scrapy\n\nclass One(scrapy.Spider):\n    name = 'one'\n")
    process = project.start("one")
    assert project.ended(process) == []
    assert process.returncode == 1
    last = project.log.strip().splitlines()[-1]
    assert last.startswith("The crawl cannot begin: ")
    assert f"pip install 'denoise-crawler[{extra}]'" in last
    assert "Traceback" not in project.log


def test_a_module_without_the_package_of_its_extra_says_what_to_install(tmp_path: Path) -> None:
    ran = python(tmp_path, "import denoise_crawler.contrib.poet", "scrapy_poet")
    assert ran.returncode == 1
    said = "MissingExtraError: scrapy_poet is not installed: pip install 'denoise-crawler[poet]'"
    assert ran.stderr.strip().splitlines()[-1].endswith(said)
    assert issubclass(MissingExtraError, ImportError)


def test_spark_without_its_packages_says_what_to_install(tmp_path: Path) -> None:
    ran = python(tmp_path, "from denoise_crawler.spark import read_archive", "fsspec")
    said = "MissingExtraError: fsspec is not installed: pip install 'denoise-crawler[spark]'"
    assert ran.stderr.strip().endswith(said)
    ran = python(tmp_path, "import denoise_crawler.spark.__main__", "pyspark")
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1)
    assert "pyspark is not installed: pip install 'denoise-crawler[spark]'" in ran.stderr


COMMAND = """
import sys
from scrapy.cmdline import execute
execute(["scrapy", "denoise", *sys.argv[1:]])
"""


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("rich", ["explain", "page.html"]),
        ("jinja2", ["tree", "pages", "-o", "tree.html"]),
        ("jinja2", ["report", "pages", "-o", "report"]),
        ("rich", ["evaluate", "gold.jsonl"]),
    ],
)
def test_a_command_without_the_packages_of_commands_ends_in_a_line_that_names_them(
    tmp_path: Path, missing: str, words: list[str]
) -> None:
    ran = python(tmp_path, COMMAND.replace("*sys.argv[1:]", f"*{words!r}"), missing)
    said = f"scrapy denoise {words[0]}: {missing} is not installed: pip install 'denoise-crawler[commands]'\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", said)


def test_an_address_without_the_client_that_fetches_it_ends_in_a_line_that_says_what_to_install(
    tmp_path: Path,
) -> None:
    missing = "httpx2"
    (tmp_path / "page.html").write_text("<p>We went along the river until the sun set.")
    said = f"{missing} is not installed: pip install 'denoise-crawler[commands]'\n"
    url = "http://127.0.0.1:1/"
    run = f"from denoise_crawler.commands.page_command import run\nsys.exit(run(['{url}', 'page.html']))"
    ran = python(tmp_path, run, missing)
    assert (ran.returncode, ran.stderr) == (1, said)
    assert ran.stdout == "We went along the river until the sun set.\n"
    ran = python(tmp_path, COMMAND.replace("*sys.argv[1:]", f"*['explain', {url!r}]"), missing)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", f"scrapy denoise explain: {said}")


def test_a_crawl_needs_none_of_the_packages_of_commands(project: Project) -> None:
    without = "".join(f"sys.modules[{name!r}] = None\n" for name in ("jinja2", "rich"))
    project.write("project_settings.py", f"import sys\n{without}{SETTINGS}{ADDON}")
    project.write(
        "test_spiders.py",
        "import scrapy\n\nclass One(scrapy.Spider):\n    name = 'one'\n"
        "    start_urls = ['data:text/html,<p>One story of the harbour.']\n\n"
        "    def parse(self, response):\n        yield {'url': response.url, 'text': ''}\n",
    )
    [item] = project.ended(project.start("one"))
    assert item["text"] == "One story of the harbour."
