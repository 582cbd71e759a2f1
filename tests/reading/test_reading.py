import bz2
import gzip
import io
import json
import lzma
import tempfile
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from denoise_crawler.errors import SourceError
from denoise_crawler.page import Page
from denoise_crawler.reading import Reading, http_response, read_pages

CHINESE = "<html><head><meta charset=gb2312></head><body><p>中文网页的正文</p></body></html>"
UNDECLARED = "<html><body><p>这是一个没有声明编码的网页，人们还是要能读它。</p></body></html>"


def page(text: str) -> bytes:
    return f"<html><body><p>{text}</p></body></html>".encode()


def text_of(html: str | bytes) -> str:
    return "".join(Page.parse("https://a.example/", html).nodes.texts).strip()


def read(*paths: Path, **options: Any) -> tuple[dict[str, str], Reading]:
    reading = Reading()
    found = [(url, text_of(html)) for url, html in read_pages(paths, reading=reading, **options)]
    assert reading.pages == len(found)
    assert len(dict(found)) == len(found)
    return dict(found), reading


def http(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(body: bytes, size: int = 20) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


# --- Tianwang


def tianwang(url: str, message: bytes, length: int | None = None, more: str = "") -> bytes:
    size = len(message) if length is None else length
    date = "Tue, 15 Apr 2003 08:13:06 GMT"
    head = f"version: 1.0\nurl: {url}\ndate: {date}\nip: 162.105.129.12\n{more}length: {size}\n\n"
    return head.encode() + message + b"\n"


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def test_a_tianwang_file_reads_back_with_its_damage_counted_and_all_sound_pages_right(tmp_path: Path) -> None:
    whole = http(page("cut in the middle of the record"))
    file = write(
        tmp_path / "part",
        tianwang("http://a.cn/gb", http(CHINESE.encode("gb2312"), kind="text/html; charset=gb2312")),
        tianwang("http://a.cn/plain-gbk", http(UNDECLARED.encode("gbk"))),
        tianwang("http://a.cn/truncated", whole[:-30], length=len(whole)),
        tianwang("http://a.cn/short-length", http(page("its length is too small")), length=90),
        tianwang("http://a.cn/gzip", http(gzip.compress(page("was compressed")), "Content-Encoding: gzip")),
        b"\x00\xff garbage\nversion of nothing\n",
        tianwang("http://a.cn/deflate", http(zlib.compress(page("was deflated")), "Content-Encoding: deflate")),
        tianwang("http://a.cn/long-length", http(page("its length is too large")), length=400),
        tianwang("http://a.cn/chunks", http(chunked(page("came in chunks")), "Transfer-Encoding: chunked")),
        tianwang("http://a.cn/missing", http(b"gone", status="404 Not Found")),
        tianwang("http://a.cn/picture", http(b"GIF89a", kind="image/gif")),
        tianwang("http://a.cn/last", http(page("the last one"))),
    )
    pages, reading = read(file)
    assert pages == {
        "http://a.cn/gb": "中文网页的正文",
        "http://a.cn/plain-gbk": "这是一个没有声明编码的网页，人们还是要能读它。",
        "http://a.cn/truncated": "cut in the middle o",
        "http://a.cn/short-length": "its length is too small",
        "http://a.cn/gzip": "was compressed",
        "http://a.cn/deflate": "was deflated",
        "http://a.cn/long-length": "its length is too large",
        "http://a.cn/chunks": "came in chunks",
        "http://a.cn/last": "the last one",
    }
    assert reading.damage == {
        "record shorter than its length": 2,
        "record longer than its length": 1,
        "garbage between records": 1,
    }
    assert reading.skipped == {"HTTP status 404": 1, "not HTML": 1}
    example = reading.examples["garbage between records"][0]
    assert example.file == str(file)
    assert file.read_bytes()[example.offset :].lstrip().startswith(b"\x00\xff garbage")


def test_a_tianwang_record_without_some_of_its_fields_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.cwt",
        b"version: 1.0\nurl: http://a.cn/no-length\n\n" + http(page("one")) + b"\n",
        b"version: 1.0\nlength: %d\n\n" % len(http(page("two"))) + http(page("two")) + b"\n",
        b"version: 1.0\nurl: http://a.cn/no-empty-line\nlength: 5\n" + http(page("three")) + b"\n",
        b"version: 1.0\nurl: http://a.cn/no-headers\nlength: %d\n\n" % len(page("four")) + page("four"),
        b"version: 1.0\r\nurl: http://a.cn/crlf\r\nlength: %d\r\n\r\n" % len(http(page("5"))) + http(page("5")),
    )
    pages, reading = read(file)
    assert sorted(pages.values()) == ["5", "four", "one", "three", "two"]
    assert [url for url in pages if not url.startswith("http://a.cn/")] == ["https://a.cwt/122"]
    assert reading.damage == {
        "record without a length": 1,
        "record without a url": 1,
        "record longer than its length": 1,
    }


def test_a_tianwang_record_that_is_compressed_with_its_headers_is_read(tmp_path: Path) -> None:
    plain = http(page("all of it compressed"))
    file = write(
        tmp_path / "a.cwt", tianwang("http://a.cn/", zlib.compress(plain), more=f"unzip-length: {len(plain)}\n")
    )
    assert read(file) == (
        {"http://a.cn/": "all of it compressed"},
        Reading(pages=1, bytes_read=file.stat().st_size),
    )


def test_a_tianwang_file_may_end_in_the_middle_of_a_record_or_of_its_fields(tmp_path: Path) -> None:
    whole = tianwang("http://a.cn/1", http(page("one"))) + tianwang("http://a.cn/2", http(page("two and more")))
    pages, reading = read(write(tmp_path / "a.cwt", whole[:-22]))
    assert pages == {"http://a.cn/1": "one", "http://a.cn/2": "two and m"}
    assert reading.damage == {"file cut off": 1}
    pages, reading = read(write(tmp_path / "b.cwt", whole, b"version: 1.0\nurl: http://a.cn/3\nda"))
    assert list(pages) == ["http://a.cn/1", "http://a.cn/2"]
    assert reading.damage == {"record without a length": 1}


def test_a_damaged_compressed_body_gives_what_comes_before_the_damage(tmp_path: Path) -> None:
    long = gzip.compress(page(" ".join(str(number**3) for number in range(9000))))
    file = write(tmp_path / "a.cwt", tianwang("http://a.cn/", http(long[:9000], "Content-Encoding: gzip")))
    pages, reading = read(file)
    assert pages["http://a.cn/"].startswith("0 1 8 27 64")
    assert reading.damage == {"damaged body": 1}


def test_a_line_that_looks_like_a_record_inside_a_sound_one_is_left_in_it(tmp_path: Path) -> None:
    odd = page("before\nversion: 1.0\nurl: http://b.cn/\n\nafter")
    pages, reading = read(write(tmp_path / "a.cwt", tianwang("http://a.cn/", http(odd))))
    assert pages == {"http://a.cn/": "before\nversion: 1.0\nurl: http://b.cn/\n\nafter"}
    assert not reading.damage


# --- WARC


def warc(*responses: tuple[str, bytes], compressed: bool = True) -> list[bytes]:
    """Return the records of responses, each with a request beside it, as warcio writes them."""
    found = []
    for url, message in responses:
        for kind in ("request", "response"):
            file = io.BytesIO()
            writer = WARCWriter(file, gzip=compressed)
            head, _, body = message.partition(b"\r\n\r\n")
            status, *lines = head.decode().split("\r\n")
            headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
            if kind == "request":
                status, headers, body = "GET / HTTP/1.1", [("Host", "a.example")], b""
            parts = StatusAndHeaders(status.partition(" ")[2], headers, status.partition(" ")[0])
            record = writer.create_warc_record(url, kind, io.BytesIO(body), length=len(body), http_headers=parts)
            writer.write_record(record)
            found.append(file.getvalue())
    return found


RESPONSES = (
    ("https://a.example/plain", http(page("plain"))),
    ("https://a.example/chunked", http(chunked(page("chunked")), "Transfer-Encoding: chunked")),
    ("https://a.example/gzip", http(gzip.compress(page("gzip")), "Content-Encoding: gzip")),
    (
        "https://a.example/both",
        http(chunked(gzip.compress(page("both"))), "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
    ),
    ("https://a.example/gone", http(page("error page"), status="410 Gone")),
    ("https://a.example/style.css", http(b"p { }", kind="text/css")),
    ("https://a.example/sjis", http("<p>日本語の文章".encode("shift_jis"), kind="text/html; charset=Shift_JIS")),
)
TEXTS = {
    "https://a.example/plain": "plain",
    "https://a.example/chunked": "chunked",
    "https://a.example/gzip": "gzip",
    "https://a.example/both": "both",
    "https://a.example/sjis": "日本語の文章",
}


@pytest.mark.parametrize("compressed", [True, False])
def test_a_warc_file_reads_back(tmp_path: Path, compressed: bool) -> None:
    pages, reading = read(write(tmp_path / "a.warc.gz", *warc(*RESPONSES, compressed=compressed)))
    assert pages == TEXTS
    assert not reading.damage
    assert reading.skipped == {"HTTP status 410": 1, "not HTML": 1, "request record": 7}


def test_a_warc_record_with_a_wrong_length_costs_no_other_record(tmp_path: Path) -> None:
    members = warc(*RESPONSES, compressed=False)
    for number, change in ((3, b"Content-Length: 99"), (5, b"Content-Length: 9999")):
        before, _, after = members[number].partition(b"Content-Length: ")
        members[number] = before + change + after[after.index(b"\r") :]
    pages, reading = read(write(tmp_path / "a.warc", *members))
    assert pages == TEXTS
    assert reading.damage == {"record longer than its length": 1, "record shorter than its length": 1}


def test_warc_headers_that_are_cut_off_cost_no_other_record(tmp_path: Path) -> None:
    members = warc(*RESPONSES[:2], compressed=False)
    members[1] = members[1][:60] + b"\r\n"
    pages, reading = read(write(tmp_path / "a.warc", *members))
    assert pages == {"https://a.example/chunked": "chunked"}
    assert reading.damage["damaged record headers"] == 1


# --- what HTTP says of a body


@pytest.mark.parametrize(
    ("html", "encoding", "kind"),
    [
        ("<p>这是中文", "gbk", "text/html; charset=GBK"),
        ("<p>这是中文", "gbk", "text/html; charset=iso-8859-1"),
        ("<meta charset=gb2312><p>这是中文", "gbk", "text/html; charset=iso-8859-1"),
        ("<p>这是中文", "utf-8", "text/html; charset=GBK"),
        ("<meta charset=utf-8><p>這是中文", "big5", "text/html; charset=big5"),
        ("<p>Ελληνικά", "iso-8859-7", "text/html;charset='iso-8859-7'"),
        ("<p>日本語", "euc-jp", "text/html; charset=euc-jp"),
        ("<p>这是中文", "utf-16", "text/html; charset=gbk"),
        ("<p>This is Latin: é", "cp1252", "text/html; charset=unknown-8bit"),
    ],
)
def test_the_charset_of_the_http_header_is_honoured_where_it_can_be_right(
    tmp_path: Path, html: str, encoding: str, kind: str
) -> None:
    file = write(tmp_path / "a.warc", *warc(("https://a.example/", http(html.encode(encoding), kind=kind))))
    assert list(read(file)[0].values()) == [html.partition("<p>")[2]]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (http(page("not chunked at all"), "Transfer-Encoding: chunked"), "not chunked at all"),
        (http(page("not gzip at all"), "Content-Encoding: gzip"), "not gzip at all"),
        (http(page("not brotli at all"), "Content-Encoding: br"), "not brotli at all"),
        (http(gzip.compress(page("gzip unsaid"))), "gzip unsaid"),
        (http(zlib.compress(page("raw deflate"))[2:-4], "Content-Encoding: deflate"), "raw deflate"),
        (http(gzip.compress(gzip.compress(page("twice"))), "Content-Encoding: gzip, gzip"), "twice"),
        (b"HTTP/1.0 200\n" + page("no headers"), "no headers"),
        (b"HTTP/1.0 200 OK\nContent-Type: text/html;\n charset=utf-8\n\n" + page("folded"), "folded"),
    ],
)
def test_a_body_is_read_whatever_its_headers_claim(tmp_path: Path, message: bytes, text: str) -> None:
    pages, reading = read(write(tmp_path / "a.cwt", tianwang("http://a.cn/", message)))
    assert pages == {"http://a.cn/": text}
    assert not reading.damage


def test_a_body_that_cannot_be_decoded_is_damage_and_no_page(tmp_path: Path) -> None:
    message = http(b"(\xb5/\xfd\x04\x00 content", "Content-Encoding: zstd")
    pages, reading = read(write(tmp_path / "a.cwt", tianwang("http://a.cn/", message)))
    assert pages == {}
    assert reading.damage == {"unreadable body": 1}
    assert reading.examples["unreadable body"][0].what == "content encoding zstd"


@pytest.mark.parametrize("charset", ["idna", "punycode", "undefined", "rot13", "base64", "zlib", "unicode_escape"])
@pytest.mark.parametrize("kind", ["text/html; charset={}", "text/html"])
def test_a_charset_that_is_a_codec_but_no_text_costs_no_page(tmp_path: Path, charset: str, kind: str) -> None:
    hostile = http(f"<meta charset={charset}><p>caf\xe9 ".encode("latin-1") * 500, kind=kind.format(charset))
    messages = [http(page("before")), hostile, http(page("behind"))]
    for file in (
        write(tmp_path / "a.warc", *warc(*((f"https://a.example/{n}", one) for n, one in enumerate(messages)))),
        write(tmp_path / "a.cwt", *(tianwang(f"https://a.example/{n}", one) for n, one in enumerate(messages))),
    ):
        pages, reading = read(file)
        assert pages["https://a.example/0"] == "before"
        assert pages["https://a.example/1"].count("café") == 500
        assert pages["https://a.example/2"] == "behind"
        assert not reading.damage


@pytest.mark.parametrize("name", ["a.warc", "a.cwt"])
def test_a_record_that_makes_the_reader_raise_is_named_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def extract_all_but_one(raw: bytes, notes: Any, at: int) -> str | bytes | None:
        if b"second" in raw:
            raise RuntimeError("\x1b[31m" + "x" * 1_000)
        return http_response.extract_html(raw, notes, at)

    monkeypatch.setattr("denoise_crawler.reading.archive_formats.extract_html", extract_all_but_one)
    found = [(f"https://a.example/{word}", http(page(word))) for word in ("first", "second", "third")]
    parts = warc(*found, compressed=False) if name == "a.warc" else [tianwang(*one) for one in found]
    pages, reading = read(write(tmp_path / name, *parts))
    assert list(pages.values()) == ["first", "third"]
    assert reading.damage == {"unreadable record": 1}
    (example,) = reading.examples["unreadable record"]
    assert example.what.startswith("RuntimeError: ")
    assert example.what.isprintable()
    assert len(example.what) <= 200


def test_a_few_bytes_that_unpack_to_gigabytes_are_unpacked_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brotli = pytest.importorskip("brotli")
    monkeypatch.setattr(http_response, "MAX_RECORD_BYTES", 1 << 20)
    compressor = brotli.Compressor()
    bomb = compressor.process(page("first")) + b"".join(compressor.process(b" " * (1 << 24)) for _ in range(8))
    bomb += compressor.finish()
    messages = {
        "bomb": bomb,
        "cut": brotli.compress(page("cut off" * 9))[:-4],
        "sound": brotli.compress(page("sound")),
    }
    file = write(
        tmp_path / "a.warc",
        *warc(
            *((f"https://a.example/{name}", http(body, "Content-Encoding: br")) for name, body in messages.items())
        ),
    )
    tracemalloc.start()
    pages, reading = read(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(bomb) < 10_000
    assert peak < 30 << 20
    assert pages["https://a.example/bomb"] == "first"
    assert pages["https://a.example/sound"] == "sound"
    assert sorted(example.what for example in reading.examples["damaged body"]) == [
        "compressed data cut off",
        "more than 1048576 bytes, uncompressed",
    ]


@pytest.mark.parametrize("line", [b" b\r\n", b"X-One: b\r\n", b"b"])
def test_of_endless_http_headers_the_first_are_read_and_the_page_behind_them(tmp_path: Path, line: bytes) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: a\r\n"
    endless = (
        raw + (b"Y: " if line == b"b" else b"") + line * (5_000_000 // len(line)) + b"\r\n\r\n" + page("behind")
    )
    file = write(
        tmp_path / "a.cwt", tianwang("http://a.cn/1", endless), tianwang("http://a.cn/2", http(page("next")))
    )
    pages, reading = read(file)
    assert pages == {"http://a.cn/1": "behind", "http://a.cn/2": "next"}
    assert reading.damage == {"damaged headers": 1}


def test_words_of_an_archive_are_counted_only_where_they_are_known_and_shown_without_escape_sequences(
    tmp_path: Path,
) -> None:
    escape = "\x1b]0;owned\x07\x9b31m"
    record = "WARC/1.0\r\nWARC-Type: {}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    file = write(tmp_path / "a.warc", *(record.format(f"{escape}{number}").encode() for number in range(100)))
    encoded = http(b"\x01\x02\x03", f"Content-Encoding: {escape}{'x' * 5_000}")
    other = write(tmp_path / "a.cwt", tianwang("http://a.cn/", encoded))
    _, reading = read(file, other)
    assert reading.skipped == {"unknown record": 100}
    (example,) = reading.examples["unreadable body"]
    assert example.what.startswith("content encoding \ufffd]0;owned")
    assert example.what.isprintable()
    assert len(example.what) == 200


# --- JSON Lines


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


JSON_PAGES = lines(
    {"url": "https://a.example/1", "html": "<p>one"}, {"url": "https://a.example/2", "html": "<p>two"}
)


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_json_lines_are_read_plain_and_compressed(
    tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    for name in (f"a.jsonl{ending}", f"without-ending{ending}"):
        pages, reading = read(write(tmp_path / name, pack(JSON_PAGES)))
        assert pages == {"https://a.example/1": "one", "https://a.example/2": "two"}
        assert not reading.damage


def test_broken_lines_are_counted_and_named_and_the_others_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.jsonl",
        b"\xef\xbb\xbf" + JSON_PAGES,
        b'{"url": "https://a.example/3", "html": "<p>cut\n',
        b"[1, 2]\n\n" + b"[" * 100_000 + b"\n",
        b'{"url": "https://a.example/4", "html": "<p>caf\xe9"}\n',
        lines(
            {"url": "https://a.example/5"}, {"html": "<p>six"}, {"site": "b.example", "id": 7, "html": "<p>seven"}
        ),
    )
    pages, reading = read(file)
    assert pages == {
        "https://a.example/1": "one",
        "https://a.example/2": "two",
        "https://a.example/4": "caf\ufffd",
        "https://a.jsonl/9": "six",
        "https://b.example/7": "seven",
    }
    assert reading.damage == {"broken line": 3, "line not in UTF-8": 1, "no HTML in line": 1, "no url in line": 1}
    example = reading.examples["broken line"][0]
    assert (example.offset, example.what[:7]) == (len(JSON_PAGES) + 3, "line 3:")


def test_half_a_surrogate_pair_in_an_address_is_replaced(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", lines({"url": "https://a.example/\ud800", "html": "<p>\ud800one"}))
    assert read(file)[0] == {"https://a.example/\ufffd": "\ufffdone"}


def test_the_fields_of_json_lines_can_be_named(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", lines({"address": "https://a.example/", "body": "<p>one"}))
    assert read(file, url_field="address", html_field="body")[0] == {"https://a.example/": "one"}


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_cut_or_damaged_compressed_file_gives_the_lines_before(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    many = lines(*({"url": f"https://a.example/{n}", "html": f"<p>{n**50}"} for n in range(12_000)))
    packed = pack(many)
    cut, cut_reading = read(write(tmp_path / "cut.jsonl", packed[: len(packed) // 2]))
    assert len(cut) > 2_000
    assert cut_reading.damage["damaged compression"] == 1
    middle = len(packed) // 2
    hurt, hurt_reading = (
        write(tmp_path / "hurt.jsonl", packed[:middle], b"\0" * 500, packed[middle + 500 :]),
        Reading(),
    )
    assert len(list(read_pages(hurt, reading=hurt_reading))) > 2_000
    assert hurt_reading.damage["damaged compression"] == 1


def test_a_line_beyond_the_limit_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("denoise_crawler.reading.archive_formats.MAX_RECORD_BYTES", 100)
    long = lines({"url": "https://a.example/long", "html": "x" * 200_000})
    pages, reading = read(write(tmp_path / "a.jsonl", long, JSON_PAGES))
    assert list(pages) == ["https://a.example/1", "https://a.example/2"]
    assert reading.damage == {"line too long": 1}


def test_records_beyond_the_limit_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_response, "MAX_RECORD_BYTES", 1000)
    monkeypatch.setattr("denoise_crawler.reading.archive_formats.MAX_RECORD_BYTES", 1000)
    large = http(page("x" * 200_000))
    small = http(page("small"))
    video = http(b"\0" * 200_000, kind="video/mp4")
    pages, reading = read(
        write(tmp_path / "a.cwt", tianwang("http://a.cn/1", large), tianwang("http://a.cn/2", small)),
        write(tmp_path / "a.warc", *warc(("https://a.example/1", large), ("https://a.example/2", video))),
        write(tmp_path / "b.warc", *warc(("https://b.example/", small))),
    )
    assert pages == {"http://a.cn/2": "small", "https://b.example/": "small"}
    assert reading.damage == {"record too large": 2}
    assert reading.skipped["not HTML"] == 1


# --- folders


def mirror(folder: Path) -> Path:
    for name, content in {
        "a.example/index.html": page("front"),
        "a.example/news/二.htm": page("chinese name"),
        "a.example/news/story.php?id=3": page("no ending"),
        "a.example/style.css": b"p { color: red }",
        "b.example/gb.html": CHINESE.encode("gb2312"),
        "b.example/picture.html": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "b.example/empty.html": b"",
        "b.example/page.html.gz": gzip.compress(page("compressed")),
        "top.html": page("top"),
        "feeds/more.jsonl": JSON_PAGES,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_a_folder_gives_its_pages_by_name_with_the_first_folder_for_host(tmp_path: Path) -> None:
    folder = mirror(tmp_path / "mirror")
    (folder / "b.example" / "lost.html").symlink_to(folder / "nowhere")
    (folder / "b.example" / "loop").symlink_to(folder)
    pages, reading = read(folder)
    assert list(pages.items()) == [
        ("https://mirror/top.html", "top"),
        ("https://a.example/index.html", "front"),
        ("https://a.example/news/story.php%3Fid%3D3", "no ending"),
        ("https://a.example/news/%E4%BA%8C.htm", "chinese name"),
        ("https://b.example/empty.html", ""),
        ("https://b.example/gb.html", "中文网页的正文"),
        ("https://b.example/page.html.gz", "compressed"),
        ("https://a.example/1", "one"),
        ("https://a.example/2", "two"),
    ]
    assert reading.damage == {"binary file": 1, "unreadable file": 1}
    assert reading.skipped == {"other file": 1}


@pytest.mark.parametrize("base", ["https://site.example/archive", "https://site.example/archive/"])
def test_a_base_is_put_before_the_path_of_each_file(tmp_path: Path, base: str) -> None:
    mirror(tmp_path)
    pages, _ = read(tmp_path, base=base)
    assert pages["https://site.example/archive/a.example/index.html"] == "front"
    assert pages["https://site.example/archive/top.html"] == "top"
    assert list(read(tmp_path / "top.html", base="site.example")[0]) == ["https://site.example/top.html"]


def test_several_paths_are_read_in_the_order_given(tmp_path: Path) -> None:
    folder = mirror(tmp_path / "mirror")
    file = write(tmp_path / "z.cwt", tianwang("http://z.cn/", http(page("z"))))
    pages, reading = read(file, folder / "top.html", folder / "feeds" / "more.jsonl")
    assert list(pages.values()) == ["z", "top", "one", "two"]
    assert reading.bytes_read == sum(
        p.stat().st_size for p in (file, folder / "top.html", folder / "feeds/more.jsonl")
    )


# --- what cannot be read from


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("not-there", None, "not-there is not there"),
        ("notes.txt", b"Dear diary,\n", "JSON Lines"),
        ("empty", b"", "Tianwang"),
        ("random.bin", bytes(range(256)), "WARC"),
    ],
)
def test_a_path_that_cannot_be_read_from_raises_at_once_and_is_named(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=name) as raised:
        read_pages([tmp_path / name])
    assert said in str(raised.value)


def test_the_format_can_be_said_where_it_cannot_be_seen(tmp_path: Path) -> None:
    file = write(tmp_path / "a", b"x" * 100_000 + b"\n", tianwang("http://a.cn/", http(page("one"))))
    with pytest.raises(SourceError):
        read_pages(file)
    pages, reading = read(file, file_format="tianwang")
    assert pages == {"http://a.cn/": "one"}
    assert reading.damage == {"garbage between records": 1}
    with pytest.raises(SourceError, match="warc, tianwang, jsonl, html"):
        read_pages(file, file_format="pdf")


# --- what must always hold

_PARTS = st.sampled_from(
    [
        b"version: 1.0\nurl: http://a.cn/\nlength: 30\n\n",
        b"version: 1.0\n",
        b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 70\r\n\r\n",
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: x y\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-7\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Encoding: gzip, br, deflate\n\n",
        b"Content-Length: 99999999999999999999\n",
        b"<html><body><p>text</p>",
        b'{"url": "u", "html": "h"}\n',
        b'{"url": 1, "html": 2}\n',
        b"5\r\nhello\r\n",
        b"\r\n\r\n",
        gzip.compress(b"<p>packed</p>"),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 2\r\n\r\n<p\r\n\r\n"),
        gzip.compress(b"<p>packed</p>")[:15],
        lzma.compress(b'{"html": "h"}\n'),
    ]
)


@pytest.mark.parametrize("file_format", ["html", "jsonl", "tianwang", "warc"])
@given(content=st.lists(st.one_of(st.binary(max_size=60), _PARTS), max_size=12).map(b"".join))
@settings(max_examples=100)
def test_no_bytes_make_reading_raise(file_format: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder, "file"), content)
        reading = Reading()
        for url, html in read_pages(file, file_format=file_format, reading=reading):
            assert url
            Page.parse(url, html)
        assert reading.bytes_read == len(content)


_URLS = st.integers(0, 10**6).map("http://a.cn/{}".format)


@given(
    urls=st.lists(_URLS, unique=True, max_size=8),
    garbage=st.lists(st.binary(max_size=200), min_size=9, max_size=9),
    packed=st.booleans(),
)
def test_garbage_between_tianwang_records_costs_none_of_them(
    urls: list[str], garbage: list[bytes], packed: bool
) -> None:
    parts = [b"\n" + part.replace(b"ersion", b"") + b"\n" for part in garbage]
    content = parts[0] + b"".join(
        tianwang(url, http(page(url))) + part for url, part in zip(urls, parts[1:], strict=False)
    )
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder, "a.cwt"), gzip.compress(content) if packed else content)
        assert read(file)[0] == {url: url for url in urls}


# the first member stays whole: by it the format is recognised
@given(cuts=st.lists(st.tuples(st.integers(1, 13), st.integers(1, 300)), max_size=6, unique_by=lambda cut: cut[0]))
def test_cut_members_of_a_warc_file_cost_no_other_record(cuts: list[tuple[int, int]]) -> None:
    members = warc(*RESPONSES)
    for number, size in cuts:
        members[number] = members[number][:-size]
    sound = {url for (url, _), number in zip(RESPONSES, range(1, 14, 2), strict=True) if number not in dict(cuts)}
    with tempfile.TemporaryDirectory() as folder:
        pages, _ = read(write(Path(folder, "a.warc.gz"), *members))
    assert {url: text for url, text in pages.items() if url in sound} == {
        url: text for url, text in TEXTS.items() if url in sound
    }


def test_the_address_of_a_record_is_not_printed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/ 1 \x1b[31mred\r\n"
    body = http(page("A story.").strip())
    path = write(tmp_path / "a.warc", head + b"Content-Length: %d\r\n\r\n" % len(body) + body + b"\r\n\r\n")
    found, _ = read(path)
    assert list(found) == ["https://a.example/%201%20\x1b[31mred"]
    assert not caplog.records
