"""Every regular expression of the package reads a long run of like characters in one go."""

import ast
import importlib
import pkgutil
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from itertools import product as cases
from pathlib import Path
from time import process_time
from typing import Any

from denoise_crawler.page import titles
from denoise_crawler.records import product
from tests.fuzz.hostile import LIKE_CHARACTERS

PACKAGES = "denoise_crawler", "pipelines", "spiders"
LENGTHS = 25, 250, 1_000, 4_000  # an exponential expression shows at the first of them, and the test ends
MOST_SECONDS = 0.05  # of CPU time, for one call
ENDS = "", "!"
# Characters that the callers of a pattern leave of a text, where they are fewer than the longest run.
BOUNDS = {
    "denoise_crawler.page.titles._BETWEEN": titles.MAX_CHARACTERS,
    "denoise_crawler.records.product._PRICE": product._MAX_PRICE_CHARACTERS,
}


def find_all(pattern: re.Pattern[Any], text: str | bytes) -> None:
    """Find what ``sub``, ``split`` and ``findall`` find: at the least what one search tries."""
    deque(pattern.finditer(text), maxlen=0)


CALLS: Mapping[str, Callable[[re.Pattern[Any], Any], object]] = {
    "find_all": find_all,
    "match": re.Pattern.match,
    "fullmatch": re.Pattern.fullmatch,
}


def modules() -> Iterator[Any]:
    """Yield the modules of the package, but those that need a library which is not installed."""
    for package in map(importlib.import_module, PACKAGES):
        for entry in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not entry.name.endswith("__main__"):
                try:
                    yield importlib.import_module(entry.name)
                except ModuleNotFoundError as error:
                    if (error.name or "").partition(".")[0] in PACKAGES:
                        raise


def patterns_in(name: str, value: object) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns of a value, of a container or of a class, each with its name."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from patterns_in(f"{name}[{key!r}]", one)
    elif isinstance(value, tuple | list):
        for index, one in enumerate(value):
            yield from patterns_in(f"{name}[{index}]", one)
    elif isinstance(value, type) and value.__module__.startswith(PACKAGES):
        for attribute, one in vars(value).items():
            if isinstance(one, re.Pattern):
                yield f"{name}.{attribute}", one


def calls_of(name: str, module: Any) -> set[str]:
    """Return how a private pattern is called in its module; one that others may call is tried in each way."""
    source = ast.parse(Path(module.__file__).read_text("utf-8"))
    methods = {
        node.attr
        for node in ast.walk(source)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    } - {"pattern", "flags"}
    if name.startswith("_") and methods:
        return {method if method in CALLS else "find_all" for method in methods}
    return {"find_all", "fullmatch"}  # the first place where it is looked for is that of a match


def patterns() -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    seen = set[int]()
    for module in modules():
        if (module.__file__ or "").endswith(".py"):
            for variable, value in list(vars(module).items()):
                for name, pattern in patterns_in(variable, value):
                    if id(pattern) not in seen:
                        seen.add(id(pattern))
                        yield f"{module.__name__}.{name}", pattern, calls_of(name, module)


def seconds(call: Callable[[re.Pattern[Any], Any], object], pattern: re.Pattern[Any], text: str | bytes) -> float:
    begin = process_time()
    call(pattern, text)
    return process_time() - begin


def slow_runs(pattern: re.Pattern[Any], calls: set[str], longest: int) -> Iterator[str]:
    """Yield the runs that a pattern needs too long for."""
    lengths = sorted({min(length, longest) for length in LENGTHS})
    for name, unit, end in cases(sorted(calls), LIKE_CHARACTERS, ENDS):
        for length in lengths:
            run = unit * (length // len(unit)) + end
            text = run.encode() if isinstance(pattern.pattern, bytes) else run
            times = (seconds(CALLS[name], pattern, text) for _ in range(3))
            if all(time > MOST_SECONDS for time in times):  # one that is short enough is the last that is measured
                yield f"{name} on {length} characters of {unit!r} and {end!r}"
                break


def test_no_expression_is_superlinear_on_a_run_of_like_characters() -> None:
    every = list(patterns())
    slow = {
        name: run
        for name, pattern, calls in every
        for run in islice(slow_runs(pattern, calls, BOUNDS.get(name, max(LENGTHS))), 1)
    }
    assert BOUNDS.keys() <= {name for name, _, _ in every}
    assert slow == {}


def test_a_superlinear_expression_is_noticed() -> None:
    quadratic, linear = re.compile(r"\d+\s*x|[\s\d]*\d[\s\d]*[.]"), re.compile(r"\d[\s\d]*[.]")
    assert any(slow_runs(quadratic, {"fullmatch", "find_all"}, max(LENGTHS)))
    assert not any(slow_runs(linear, {"fullmatch"}, max(LENGTHS)))
