"""Extractors that run in node: defuddle, and Readability.js alone or with turndown. We install nothing of them.

``npm install defuddle @mozilla/readability turndown linkedom`` puts them into a folder, which benchmarks take as
``--node FOLDER``. One process of node reads page after page; what stops it costs the page it was at.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer

from benchmarks.contest.contenders import Extractor, Failure, PageSource, failure
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page import Page

SECONDS = 120
_LOOP = """
import { createInterface } from 'node:readline'
import { parseHTML } from 'linkedom'
console.log = console.info = console.error
for await (const line of createInterface({ input: process.stdin })) {
  const [url, html] = JSON.parse(line), at = { value: url, configurable: true }
  let answer
  try {
    const { document } = parseHTML(html)
    Object.defineProperties(document, { baseURI: at, documentURI: at })
    answer = { text: (await convert(document, url)) ?? '' }
  } catch (error) {
    answer = { why: String(error) }
  }
  process.stdout.write(JSON.stringify(answer) + '\\n')
}
"""
_DEFUDDLE = """
import { Defuddle } from 'defuddle/node'
const convert = async (document, url) => (await Defuddle(document, url, { markdown: %s, useAsync: false })).content
"""
_READABILITY = """
import { Readability } from '@mozilla/readability'
const convert = document => new Readability(document).parse()?.content
"""
_TURNDOWN = """
import { Readability } from '@mozilla/readability'
import Turndown from 'turndown'
const writer = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
const convert = document => writer.turndown(new Readability(document).parse()?.content ?? '')
"""
TO_MARKDOWN = {"defuddle": _DEFUDDLE % "true", "Readability.js, turndown": _TURNDOWN}
TO_HTML = {"Readability.js": _READABILITY, "defuddle": _DEFUDDLE % "false"}


def converters_in(folder: Path) -> dict[str, Callable[[Page, MethodChoice], str]]:
    """Return the converters to Markdown whose packages lie in ``folder``.

    Raises:
        FileNotFoundError: There is no node, or no package in the folder.

    """
    node = _node_for(folder)
    return {name: partial(_markdown, partial(_answers, node, folder, code)) for name, code in TO_MARKDOWN.items()}


def extractors_in(folder: Path, seconds: float = SECONDS) -> dict[str, Callable[[], Extractor]]:
    """Return what loads the extractors of text whose packages lie in ``folder``.

    They give HTML, of which html-text makes text, as of the HTML of readability-lxml.

    Args:
        folder: The folder with ``node_modules``.
        seconds: How long a page may take.

    Raises:
        FileNotFoundError: There is no node, or no package in the folder.

    """
    node = _node_for(folder)
    return {
        name: partial(_load, partial(_answers, node, folder, code, seconds=seconds))
        for name, code in TO_HTML.items()
    }


def _node_for(folder: Path) -> str:
    if (node := shutil.which("node")) is None or not (folder / "node_modules" / "linkedom").is_dir():
        raise FileNotFoundError(f"there is no node, or no package in {folder}/node_modules")
    return node


def _markdown(extract: Extractor, page: Page, _: MethodChoice) -> str:
    (found,) = extract([PageSource(page.url, page.markup, None)])
    if isinstance(found, Failure):
        raise RuntimeError(found.why)
    return found


def _load(extract: Extractor) -> Extractor:
    from html_text import extract_text

    def texts(pages: Iterable[PageSource]) -> Iterator[str | Failure]:
        for found in extract(pages):
            try:
                yield found if isinstance(found, Failure) else str(extract_text(found))
            except ValueError as error:  # a surrogate, which lxml does not take
                yield failure(error)

    return texts


def _answers(
    node: str, folder: Path, code: str, pages: Iterable[PageSource], seconds: float = SECONDS
) -> Iterator[str | Failure]:
    process = _Node([node, "--input-type=module", "-e", code + _LOOP], folder, seconds)
    try:
        for page in pages:
            yield process.ask(page)
    finally:
        process.stop()


@dataclass
class _Node:
    """A process of node, started when a page comes and started anew where a page stopped it."""

    command: list[str]
    folder: Path
    seconds: float
    process: Popen[bytes] | None = None

    def ask(self, page: PageSource) -> str | Failure:
        """Return what is made of a page."""
        if self.process is None:
            self.process = Popen(self.command, cwd=self.folder, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        line = self._line_for(self.process, json.dumps([page.url, page.html]).encode() + b"\n")
        if not line.endswith(b"\n"):
            self.stop()
            return Failure(f"node ended, or took longer than {self.seconds:g} seconds")
        found = json.loads(line)
        return Failure(found["why"]) if "why" in found else str(found["text"])

    def _line_for(self, process: Popen[bytes], asked: bytes) -> bytes:
        assert process.stdin  # noqa: S101
        assert process.stdout  # noqa: S101
        watch = Timer(self.seconds, process.kill)
        watch.start()
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(asked)
                process.stdin.flush()
            return process.stdout.readline()
        finally:
            watch.cancel()

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
