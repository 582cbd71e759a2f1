"""The rooms of the package and the imports between them are those that CONTRIBUTING.md names."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

from denoise_crawler.methods import DEFAULT_METHOD, METHODS
from tests.programs import run_python

ROOT = Path(__file__).parents[2]
PACKAGE = "denoise_crawler"
BESIDE = ("pipelines", "spiders")
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \|((?: `\w+`)*) \|$", re.MULTILINE)
MAX_LINES = 400


def files() -> Iterator[Path]:
    for top in (PACKAGE, *BESIDE):
        yield from (ROOT / top).rglob("*.py")


def room_of(module: list[str]) -> str:
    """Return the room of a module, an empty string for the package itself."""
    inner = module[1:] if module[0] == PACKAGE else module
    return inner[0] if inner else ""


def imported(file: Path) -> Iterator[list[str]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ([*node.module.split("."), name.name] for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".") for name in node.names)


def imports() -> dict[str, set[str]]:
    """Return of each room the rooms that it imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in files():
        room = room_of(list(file.relative_to(ROOT).with_suffix("").parts))
        others = {room_of(module) for module in imported(file) if module[0] == PACKAGE}
        found[room] |= others - {room}
    return {room: others for room, others in found.items() if room != "__init__"}


def documented() -> dict[str, set[str]]:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return {room: set(re.findall(r"\w+", others)) for room, others in ROW.findall(text)}


def test_the_rooms_and_what_they_import_are_those_of_the_table() -> None:
    assert imports() == documented()


def test_each_room_imports_only_rooms_that_stand_above_it_in_the_table() -> None:
    seen: set[str] = set()
    for room, others in documented().items():
        assert others <= seen, room
        seen.add(room)


def test_nothing_imports_what_is_optional() -> None:
    assert [room for room, others in imports().items() if "contrib" in others] == []


def test_no_files_import_each_other_in_a_circle_for_types_either() -> None:
    everything = [*files(), *(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    parts = {file: list(file.relative_to(ROOT).with_suffix("").parts) for file in everything}
    modules = {tuple(one[:-1] if one[-1] == "__init__" else one): file for file, one in parts.items()}
    modules |= {(PACKAGE, *one): file for one, file in modules.items() if one[0] in BESIDE}
    circles = TopologicalSorter[Path]()
    for file in everything:
        named = {modules.get(tuple(one)) or modules.get(tuple(one[:-1])) for one in imported(file)}
        circles.add(file, *filter(None, named - {file}))
    circles.prepare()  # raises CycleError, which names the files


def test_every_file_that_contributing_names_is_there() -> None:
    named = re.findall(r"`([\w./]+/[\w.]*)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert len(named) > 10
    folders = (ROOT, ROOT / PACKAGE)
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def test_only_what_knows_scrapy_imports_it() -> None:
    below = (
        *("kernel", "page", "reading", "methods", "rules", "records", "output", "denoiser", "store"),
        *("batch", "evaluation", "report", "errors"),
    )
    for file in files():
        room = room_of(list(file.relative_to(ROOT).with_suffix("").parts))
        assert room not in below or "scrapy" not in chain(*(module[:1] for module in imported(file))), file


def test_no_file_is_longer_than_one_reads_at_a_time() -> None:
    long = {str(file.relative_to(ROOT)): len(file.read_text("utf-8").splitlines()) for file in files()}
    assert {name: lines for name, lines in long.items() if lines > MAX_LINES} == {}


def test_no_test_imports_a_benchmark_since_benchmarks_use_what_tests_share() -> None:
    for file in (ROOT / "tests").rglob("*.py"):
        assert all(module[0] != "benchmarks" for module in imported(file)), file


def test_every_package_is_installed() -> None:
    listed = re.search(r"^packages = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text("utf-8"), re.M | re.S)
    assert listed is not None
    installed = {
        name for name in re.findall(r'"([\w.]+)"', listed[1]) if not name.endswith((".assets", ".templates"))
    }
    folders = {file.parent.relative_to(ROOT).parts for file in files() if file.name == "__init__.py"}
    assert installed == {".".join(parts if parts[0] == PACKAGE else (PACKAGE, *parts)) for parts in folders}


# Each was loaded by every process, though few clean a page with it.
SELDOM_NEEDED = (
    *("parsel", "cssselect", "w3lib.html", "sqlite3", "hashlib", "ssl", "tempfile", "difflib", "publicsuffixlist"),
    *("denoise_crawler.methods.style_tree", "denoise_crawler.methods.feature_tree", "denoise_crawler.records"),
    *("denoise_crawler.output.content.markdown", "denoise_crawler.output.content.html"),
)


def loaded_by(program: str) -> set[str]:
    """Return the modules that a new process has loaded after ``program``."""
    shown = f"import sys\n{program}\nprint(*sys.modules)"
    done = run_python("-c", shown)
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
    program = "from denoise_crawler import Addon, Chunk, Politeness, SiteStyleTree, chunks"
    assert "denoise_crawler.methods.style_tree" in loaded_by(program)


def test_every_method_stands_in_the_table_under_its_own_name() -> None:
    assert {name: method.name for name, method in METHODS.items()} == {name: name for name in METHODS}
    assert DEFAULT_METHOD in METHODS
