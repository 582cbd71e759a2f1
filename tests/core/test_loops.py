"""The loops over numbers have one source, which comes to the same whether it is compiled or interpreted."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from denoise_crawler import core
from denoise_crawler.errors import CoreError, StaleCoreError
from denoise_crawler.methods.fusion.features import Evidence, fill_page, fill_site, page_names
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.fusion.weights import feature_names, shipped_model
from denoise_crawler.page import Page
from tests.strategies import html_pages

SOURCES = sorted((Path(core.__file__).parents[1] / "loops").glob("*.py"))
ROADS = "require", "off"
PAGE = (
    "<title>A title</title><div class=post><h1>A title</h1><p>One, two. <a href=/>Three</a><p>Four.</div><p>Five"
)

is_built = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")


def evidence_of(html: str) -> Evidence:
    return Page.parse("https://a.example/", html).once(shipped_model().alone).evidence


def trees() -> Iterator[tuple[str, ast.Module]]:
    for source in SOURCES:
        yield source.stem, ast.parse(source.read_text("utf-8"))


@settings(max_examples=50, deadline=None)
@given(html_pages(40))
def test_each_row_of_any_page_is_filled(html: str) -> None:
    evidence = evidence_of(html)
    others = Fusion()
    others.observe(Page.parse("https://a.example/other", html + "<p>Another text that differs."))
    standing = others.evidence.standing(1, evidence.blocks)
    count = len(evidence.blocks)
    rows = np.full((len(page_names()), count), np.nan, np.float32)
    fill_page(rows, evidence)
    assert not np.isnan(rows).any()
    for said in (None, standing):
        rows = np.full((len(core.loops.features.SITE), count), np.nan, np.float32)
        fill_site(rows, evidence.knowing(said))
        assert not np.isnan(rows).any()


def test_the_trainer_and_the_judge_read_the_names_of_features_from_the_loops() -> None:
    loops = core.loops.features
    names = feature_names()
    assert len(set(names.second_look)) == len(names.second_look)
    assert {*loops.PAGE, *loops.SITE} < set(names.first_look)
    assert set(names.second_look) - set(names.first_look) == {*loops.SCORES}


@is_built
@pytest.mark.parametrize("name", core.LOOPS)
def test_both_roads_offer_the_same(name: str) -> None:
    one, other = core.built_loops()[name], core.interpreted_loops()[name]
    assert one.__file__.endswith((".so", ".pyd"))
    assert other.__file__.endswith(f"loops/{name}.py")
    offered = [{key for key, value in vars(loops).items() if callable(value)} for loops in (one, other)]
    assert {key for key in offered[0] if not key.startswith("__pyx_")} <= offered[1]


def columns_that_do_not_fit() -> Iterator[tuple[str, dict[str, Any]]]:
    blocks = evidence_of(PAGE).blocks
    yield "fit each other", {"characters": blocks.characters[:-1]}
    yield "not there", {"elements": blocks.elements + 99}
    yield "not there", {"elements": blocks.elements - 99}
    around = blocks.around
    yield "not there", {"around": replace(around, parents=around.parents + 2 * (around.parents >= 0))}
    yield "fit each other", {"around": replace(around, parents=around.parents + 1)}
    yield "not there", {"around": replace(around, last=around.last + 99)}
    yield "not there", {"around": replace(around, first=around.first - 1)}
    yield "fit each other", {"around": replace(around, paths=around.paths[:-1])}


@pytest.mark.parametrize("mode", [pytest.param("require", marks=is_built), "off"])
@pytest.mark.parametrize("number", range(8))
def test_columns_that_do_not_fit_each_other_are_an_error(
    mode: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core.chosen, "mode", mode)
    message, changed = list(columns_that_do_not_fit())[number]
    evidence = evidence_of(PAGE)
    strange = replace(evidence, blocks=replace(evidence.blocks, **changed))
    with pytest.raises(ValueError, match=message):
        strange.columns  # noqa: B018


@is_built
def test_a_source_that_was_changed_after_the_build_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SOURCES[0].parent, tmp_path / "package" / "loops")
    monkeypatch.setattr(core, "_FOLDER", tmp_path / "package")
    core.built_loops()
    with (tmp_path / "package" / "loops" / "features.py").open("a") as source:
        source.write("# changed\n")
    with pytest.raises(CoreError, match=r"another source than loops/features\.py of this package") as installed:
        core.built_loops()
    assert not isinstance(installed.value, StaleCoreError)
    (tmp_path / "setup.py").touch()
    for mode in ("auto", "require"):
        core._loops.cache_clear()
        monkeypatch.setattr(core.chosen, "mode", mode)
        with pytest.raises(StaleCoreError, match=r"built from another source .*: run `make core`"):
            assert core.loops.features
    monkeypatch.setattr(core.chosen, "mode", "off")
    assert core.loops.features.PAGE


def test_loops_that_are_not_built_are_interpreted_or_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "LOOPS", ("features", "of_nothing"))
    core._loops.cache_clear()
    with pytest.raises(CoreError, match="the loops are not built"):
        core.built_loops()
    monkeypatch.setattr(core, "interpreted_loops", lambda: {"features": "interpreted"})
    monkeypatch.setattr(core.chosen, "mode", "auto")
    assert core.loops.features == "interpreted"
    core._loops.cache_clear()
    monkeypatch.setattr(core.chosen, "mode", "require")
    with pytest.raises(CoreError, match="the loops are not built"):
        assert core.loops.features


@pytest.fixture(autouse=True)
def none_is_remembered() -> Iterator[None]:
    yield
    core._loops.cache_clear()


def test_interpreted_loops_need_no_cython() -> None:
    code = (
        "import sys; sys.modules['cython'] = sys.modules['Cython'] = None\n"
        "from denoise_crawler import denoise_pages\n"
        f"print([page.text for page in denoise_pages([('https://a.example/', {PAGE!r})])])"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, env={core.ENVIRONMENT: "off"}, check=False)
    assert ran.stdout == "['A title\\nOne, two. Three\\nFour.']\n", ran.stderr


def test_the_loops_have_nothing_that_cython_and_python_do_differently() -> None:
    for name, tree in trees():
        for node in ast.walk(tree):
            where = f"loops/{name}.py:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.BinOp | ast.AugAssign):
                assert not isinstance(node.op, ast.FloorDiv | ast.Mod), f"{where} divides whole numbers"
            if isinstance(node, ast.Subscript):
                below = isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.op, ast.USub)
                assert not below, f"{where} has an index below 0"
            if isinstance(node, ast.FunctionDef) and any(map(is_c, node.decorator_list)):
                assert not (has_number(node) and not declares_no_error(node)), f"{where} has errors nobody sees"


def is_c(decorator: ast.expr) -> bool:
    return ast.unparse(decorator) == "cython.cfunc"


def has_number(function: ast.FunctionDef) -> bool:
    return function.returns is not None


def declares_no_error(function: ast.FunctionDef) -> bool:
    return "cython.exceptval(check=False)" in map(ast.unparse, function.decorator_list)
