"""Gold sets are read from files and folders; what is broken is named."""

import gzip
import lzma
from pathlib import Path

import pytest

from denoise_crawler.errors import GoldError
from denoise_crawler.evaluation import Broken, GoldPage, addresses, gold_pages, gold_sets, html_pages


def test_pages_keep_their_own_addresses_if_all_belong_to_the_site() -> None:
    own = [GoldPage("1", "example.com", "", url="http://www.example.com/x"), GoldPage("2", "example.com", "")]
    assert addresses(own[:1]) == ["http://www.example.com/x"]
    assert addresses(own) == ["https://example.com/1", "https://example.com/2"]
    assert addresses([GoldPage("3", "example.com", "", url="http://example.org/x")]) == ["https://example.com/3"]


LINES = [
    b'{"id": "1", "site": "a.example", "html": "<p>x</p>", "gold": "x", "more": [1]}',
    b"",
    b'{"id": "2", "site": "a.example"}',
    b"{oops",
    b'{"id": "3", "site": "a.example", "html": "\xff"}',
    b'{"id": 4, "site": "a.example", "html": ""}',
    b'{"id": "5", "site": "a.example", "html": "", "lang": "zh"}',
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.xz"])
def test_broken_lines_are_named_and_left_out(tmp_path: Path, ending: str) -> None:
    file, broken = tmp_path / f"news.{ending}", list[Broken]()
    source = b"\xef\xbb\xbf" + b"\r\n".join(LINES)
    packed = {"jsonl": source, "jsonl.gz": gzip.compress(source), "jsonl.xz": lzma.compress(source)}
    file.write_bytes(packed[ending])
    ((name, pages),) = gold_sets([file], broken.append).items()
    assert name == "news"
    assert [(found.id, found.gold, found.lang) for found in pages] == [("1", "x", None), ("5", None, "zh")]
    assert [(line.file, line.line) for line in broken] == [(file.name, number) for number in (3, 4, 5, 6)]
    assert "html" in broken[0].why


def test_comments_that_a_set_parts_from_the_text_are_no_gold() -> None:
    assert GoldPage("1", "a.example", "", gold="A story.\n!@#$%^&*() COMMENTS\nFirst!").gold == "A story.\n"


def test_a_value_that_stands_alone_is_a_list_of_one(tmp_path: Path) -> None:
    line = b'{"id": "1", "site": "a.example", "html": "", "attrs": {"title": "T", "price": ["1", "2"]}}'
    (tmp_path / "shop.jsonl").write_bytes(line)
    (found,) = gold_pages(tmp_path / "shop.jsonl")
    assert found.values == {"title": ["T"], "price": ["1", "2"]}


def test_a_file_cut_short_gives_its_pages_and_is_named(tmp_path: Path) -> None:
    file, broken = tmp_path / "news.jsonl.gz", list[Broken]()
    whole_file = gzip.compress(LINES[0] + b"\n") + gzip.compress(LINES[-1] * 100)[:-20]
    file.write_bytes(whole_file)
    assert [found.id for found in gold_pages(file, broken.append)] == ["1"]
    assert [line.line for line in broken] == [0]


def test_without_anyone_to_tell_a_broken_line_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_bytes(b"\n".join(LINES[1:]))
    with pytest.raises(GoldError, match=r"news\.jsonl, line 2: "):
        list(gold_pages(tmp_path / "news.jsonl"))


def test_a_folder_holds_a_set_in_each_of_its_files(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).write_bytes(LINES[0])
    sets = gold_sets([tmp_path])
    assert list(sets) == ["a", "b"]
    assert [found.id for found in sets["b"]] == ["1"]


def test_a_folder_of_html_files_has_the_gold_text_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "set" / "news.example"
    folder.mkdir(parents=True)
    (folder / "x.html").write_bytes('<meta charset="gb18030"><p>港湾'.encode("gb18030"))
    (folder / "x.txt").write_text("港湾", encoding="utf-8-sig")
    (folder / "y.HTM").write_text("<p>no gold")
    (tmp_path / "set" / "z.html").write_text("<p>z")
    ((name, pages),) = gold_sets([tmp_path / "set"]).items()
    found = {one.id: (one.site, one.gold) for one in pages}
    assert name == "set"
    assert found == {
        "news.example/x.html": ("news.example", "港湾"),
        "news.example/y.HTM": ("news.example", None),
        "z.html": ("set", None),
    }
    assert "港湾" in next(one.html for one in html_pages(tmp_path / "set") if one.gold)


def test_what_holds_no_set_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "x.csv").touch()
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "x.csv", tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(GoldError, match=path.name):
            gold_sets([path])
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "a.jsonl.gz").touch()
    with pytest.raises(GoldError, match="another set named a"):
        gold_sets([tmp_path])
