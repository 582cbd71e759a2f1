import json
from pathlib import Path

from tests.conftest import ROOT
from tests.programs import run_python


def test_many_items_are_measured_beside_the_same_crawl_without_us(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    sizes = ("--pages", "7", "--items", "5", "--compared", "7", "--repeats", "1", "--json", str(file))
    ran = run_python("-m", "benchmarks.many_items", *sizes, folder=ROOT)
    assert "Traceback" not in ran.stderr
    found = json.loads(file.read_text())
    assert list(found["large"]) == [
        "with the add-on, site unknown",
        "with the add-on, site known",
        "without, a text of equal length",
        "without, no text",
    ]
    assert {crawl["items"] for crawl in found["large"].values()} == {7 * 5}
    for name, crawl in found["large"].items():
        assert (crawl["store_after"] > 0) == name.startswith("with the add-on")
    assert found["compared"]["CPU seconds of ours"][2] == 2.6
    for name in ("store while items wait, KiB", "store afterwards, KiB"):
        one, many, most = found["compared"][name]
        assert one > 0
        assert many > 0
        assert most == 2.6
    assert ran.stdout.count("| ") > 50
