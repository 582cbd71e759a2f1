"""The files that the documentation speaks of, made of pages of the bundled site."""

import io
import json
from contextlib import closing
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page import Page
from denoise_crawler.store import Store
from examples.demo_site.articles import Article, article_path, articles, gold_text
from examples.demo_site.replies import respond

SITE = "example.com"
BASE = f"https://{SITE}"


def write_examples(folder: Path, count: int = 8) -> None:
    """Write what the commands of the documentation are given: English and Chinese stories of one site."""
    english, chinese = _stories("en", count), _stories("zh", count)
    for name in ("mirror", "folder"):
        _write_mirror(folder / name, english)
    _write_mirror(folder / "portal", chinese)
    for name, story in (("saved", english[0]), ("a", english[0]), ("b", english[1])):
        (folder / f"{name}.html").write_bytes(_body(story))
    (folder / "pages.jsonl").write_text("".join(_line(story) for story in english), encoding="utf-8")
    (folder / "gold.jsonl").write_text("".join(_line(story) for story in english), encoding="utf-8")
    (folder / "archive.warc.gz").write_bytes(_warc(english))
    for name in (".scrapy/denoise.sqlite", "crawl.sqlite"):
        _write_store(folder / name, english)
    clean = "".join(
        json.dumps({"url": page.url, "text": page.text, "language": page.language, "noise_ratio": 0.5}) + "\n"
        for page in map(_page, english)
    )
    for name in ("items.jsonl", "corpus.jsonl"):
        (folder / name).write_text(clean, encoding="utf-8")
    (folder / "part-0001").write_bytes(b"".join(map(_tianwang, chinese)))


def _stories(language: str, count: int) -> list[Article]:
    return [story for story in articles() if story.lang == language][:count]


def _body(story: Article) -> bytes:
    return respond(article_path(story), BASE).body


def _page(story: Article) -> CleanPage:
    return CleanPage(url=BASE + article_path(story), text=gold_text(story), language=story.locale)


def _write_store(path: Path, stories: list[Article]) -> None:
    path.parent.mkdir(exist_ok=True)
    method = MethodChoice("style_tree").new()
    for story in stories:
        method.observe(Page.parse(BASE + article_path(story), _body(story)))
    with closing(Store(path)) as store:
        store.save_knowledge(SITE, method.store_key, method.to_bytes(), lambda parts: parts[-1])


def _write_mirror(folder: Path, stories: list[Article]) -> None:
    for story in stories:
        file = folder / SITE / f"{article_path(story).strip('/')}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_body(story))


def _line(story: Article) -> str:
    url, html = BASE + article_path(story), _body(story).decode("utf-8", "replace")
    line = {"id": url, "site": SITE, "url": url, "html": html, "lang": story.lang, "gold": gold_text(story)}
    return json.dumps(line) + "\n"


def _warc(stories: list[Article]) -> bytes:
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=True)
    for story in stories:
        http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        url, body = BASE + article_path(story), _body(story)
        writer.write_record(
            writer.create_warc_record(url, "response", io.BytesIO(body), length=len(body), http_headers=http)
        )
    return file.getvalue()


def _tianwang(story: Article) -> bytes:
    message = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + _body(story)
    head = (
        f"version: 1.0\nurl: {BASE}{article_path(story)}\ndate: Fri, 14 Mar 2031 10:00:00 GMT\n"
        f"ip: 127.0.0.1\nlength: {len(message)}\n\n"
    )
    return head.encode() + message + b"\n"
