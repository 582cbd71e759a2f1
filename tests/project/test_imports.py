from __future__ import annotations

import subprocess
import sys

from denoise_crawler.methods import DEFAULT_METHOD, METHODS

# Each was loaded by every process, though few clean a page with it.
SELDOM_NEEDED = (
    *("parsel", "cssselect", "w3lib.html", "sqlite3", "hashlib", "ssl", "tempfile", "difflib", "publicsuffixlist"),
    *("denoise_crawler.methods.style_tree", "denoise_crawler.methods.feature_tree", "denoise_crawler.records"),
    *(
        "denoise_crawler.output.content.markdown",
        "denoise_crawler.output.content.html",
        "denoise_crawler.changes.copies",
    ),
)


def loaded_by(program: str) -> set[str]:
    """Return the modules that a new process has loaded after ``program``."""
    shown = f"import sys\n{program}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


def test_a_process_that_writes_text_does_not_load_what_few_pages_need() -> None:
    program = (
        "from denoise_crawler.denoiser import Denoiser\nfrom denoise_crawler.page import Page\n"
        "page = Page.parse('', '<nav>Home</nav><p>The council met for the first time since May.')\n"
        "print(Denoiser('one_look').clean(page).clean_page.text)"
    )
    before = loaded_by("import site")  # what Python itself, and its start-up files, load
    assert loaded_by(program).intersection(SELDOM_NEEDED) - before == set()


def test_what_is_imported_late_is_there_under_its_name() -> None:
    program = "from denoise_crawler import Addon, Chunk, Politeness, Rendering, SiteStyleTree, chunks"
    assert "denoise_crawler.methods.style_tree" in loaded_by(program)


def test_every_method_stands_in_the_table_under_its_own_name() -> None:
    assert {name: method.name for name, method in METHODS.items()} == {name: name for name in METHODS}
    assert DEFAULT_METHOD in METHODS
