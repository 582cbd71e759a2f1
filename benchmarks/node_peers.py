"""Extractors that run in node: defuddle, and Readability.js with turndown. The package installs nothing of them.

``npm install defuddle @mozilla/readability turndown linkedom`` puts them into a folder, which benchmarks take as
``--node FOLDER``. Each page has a process of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.page import Page

SECONDS = 120
_OPEN = """
import { readFileSync } from 'node:fs'
import { parseHTML } from 'linkedom'
const url = process.argv[1], { document } = parseHTML(readFileSync(0, 'utf8'))
const at = { value: url, configurable: true }
Object.defineProperties(document, { baseURI: at, documentURI: at })
const write = text => process.stdout.write(text ?? '')
"""
SCRIPTS = {
    "defuddle": """
import { Defuddle } from 'defuddle/node'
write((await Defuddle(document, url, { markdown: true })).content)
""",
    "Readability.js, turndown": """
import { Readability } from '@mozilla/readability'
import Turndown from 'turndown'
const found = new Readability(document).parse()?.content ?? ''
write(new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' }).turndown(found))
""",
}


def converters_in(folder: Path) -> dict[str, Callable[[Page, MethodChoice], str]]:
    """Return the converters to Markdown whose packages lie in ``folder``.

    Raises:
        FileNotFoundError: There is no node, or no package in the folder.

    """
    if (node := shutil.which("node")) is None or not (folder / "node_modules" / "linkedom").is_dir():
        raise FileNotFoundError(f"there is no node, or no package in {folder}/node_modules")
    return {name: partial(_convert, node, folder, _OPEN + script) for name, script in SCRIPTS.items()}


def _convert(node: str, folder: Path, script: str, page: Page, _: MethodChoice) -> str:
    done = subprocess.run(
        [node, "--input-type=module", "-e", script, page.url],
        input=page.markup,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=SECONDS,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return done.stdout
