"""Writes docs/settings.md from the table of settings: ``python docs/write_settings.py``."""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from pathlib import Path

from denoise_crawler.crawl import settings_table
from denoise_crawler.options import Option, OptionTable

PAGE = Path(__file__).with_name("settings.md")
INTRODUCTION = """
# Settings

Set each of them in `settings.py`, in a spider's `custom_settings`, or with `-s` on the command line. A wrong value
stops the crawl at the start: one line names the setting and what to set, and the exit status is 1. In a script,
`CrawlerProcess.start()` raises a `CrawlError`. A misspelt name gives a warning with the most similar name.

```python
ADDONS = {"denoise_crawler.Addon": 300, "denoise_crawler.Politeness": 310}
DENOISE_WARMUP_PAGES = 10
DENOISE_EXTRA_FIELDS = {"title": "headline", "noise_ratio": "noise"}
DENOISE_DELAY_MIN, DENOISE_DELAY_MAX = 2.0, 6.0
```

`python docs/write_settings.py` writes this page from the table that crawls read.
"""


def settings_page() -> str:
    """Return the page in Markdown."""
    return "\n\n".join([INTRODUCTION.strip(), *map(_section, settings_table.SECTIONS)]) + "\n"


def _section(section: type[OptionTable]) -> str:
    title, _, introduction = inspect.cleandoc(section.__doc__ or "").partition("\n\n")
    introduction = introduction.partition("Example:")[0].strip()
    texts = _row_docstrings(section)
    rows = [_row(row, texts[field]) for field, row in section.options().items()]
    return "\n\n".join(filter(None, [f"## {title.rstrip('.')}", introduction, *rows]))


def _row(row: Option[object], text: str) -> str:
    default = json.dumps(row.default) if isinstance(row.default, str) else repr(row.default)
    return f"### `{row.name}`\n\nDefault: `{default}`. Set it to {row.kind.values}.\n\n{text}"


def _row_docstrings(section: type[OptionTable]) -> dict[str, str]:
    """Return the docstrings below the fields of a section; Python does not keep them."""
    found = {}
    (definition,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - it is a class
    for row, text in pairwise(definition.body):
        match row, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                found[name] = inspect.cleandoc(docstring)
    return found


if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")
