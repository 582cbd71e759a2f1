"""``python -m examples.demo_site``: crawls the bundled site and shows the result."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from textwrap import shorten
from typing import Any
from urllib.parse import urlsplit

from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page

from .replies import respond
from .server import DemoServer
from .settings import SETTING

_SHOWN_LINES = 3
_ROOT = Path(__file__).resolve().parents[len(__package__.split("."))]


def main() -> int:
    """Run the demonstration; return the exit code of the crawl."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo_site", description=main.__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for what comes out")
    folder = parser.parse_args().output.resolve()
    for name in ("items.jsonl", "store.sqlite", "stats.json", "crawl.log"):
        (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    with DemoServer() as server:
        print(f"A fictional news site, The Harbour Ledger, is served at {server.url}/")
        print(f"$ scrapy crawl msn_news -a start_url={server.url}/ -a detail_url= -O items.jsonl")
        code = _crawl(server, folder)
        if code:
            print(f"The crawl ended with exit code {code}; see {folder / 'crawl.log'}", file=sys.stderr)
            return code
        _show_results(folder, server.url)
    return 0


def _crawl(server: DemoServer, folder: Path) -> int:
    command = [sys.executable, "-m", "scrapy", "crawl", "msn_news"]
    command += ["-a", f"start_url={server.url}/", "-a", "detail_url=", "-O", str(folder / "items.jsonl")]
    command += ["-s", f"DENOISE_STORE={folder / 'store.sqlite'}", "-s", f"{SETTING}={folder / 'stats.json'}"]
    path = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "SCRAPY_SETTINGS_MODULE": f"{__package__}.settings"}
    with (folder / "crawl.log").open("w", encoding="utf-8") as log:
        crawl = subprocess.Popen(command, stderr=log, cwd=folder, env=environment)  # noqa: S603
        try:
            _show_progress(crawl, server, folder)
        except KeyboardInterrupt:
            print("\nCtrl-C: the crawl got it too and finishes what it has fetched")
        return crawl.wait()


def _show_progress(crawl: subprocess.Popen[bytes], server: DemoServer, folder: Path) -> None:
    read = 0
    live = sys.stdout.isatty()
    started = time.monotonic()
    ended = False
    while not ended:
        time.sleep(0.25 if live else 1.0)
        ended = crawl.poll() is not None  # its last lines are still to be shown
        log = (folder / "crawl.log").read_text("utf-8", "replace").splitlines()
        for line in log[read:]:
            if "[denoise_crawler.crawl." in line and "] INFO" in line:
                print(("\r\033[K" if live else "") + "  " + line.partition("INFO: ")[2])
        read = len(log)
        progress = f"  {time.monotonic() - started:4.0f} s  {len(server.requests)} requests"
        if live:
            print("\r\033[K" + progress, end="", flush=True)
    print("\r\033[K" if live else "", end="")


def _show_results(folder: Path, base: str) -> None:
    stats: dict[str, Any] = json.loads((folder / "stats.json").read_text("utf-8"))
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    counts = {name: stats.get(f"denoise/{name}", 0) for name in ("pages", "cleaned")}
    print(f"\n{len(items)} clean items are in {folder / 'items.jsonl'}")
    print("  pages seen {pages}, cleaned {cleaned}".format(**counts))
    if items:  # how many waited, and which came last, depends on the machine
        _show_page(min(items, key=lambda item: str(item["url"])), base)


def _show_page(item: dict[str, Any], base: str) -> None:
    reply = respond(urlsplit(item["url"]).path, base)
    raw = clean_text(Page.parse(item["url"], reply.body))
    width = max(40, min(shutil.get_terminal_size().columns, 110)) - 4
    print(f"\n{item['url']}")
    for title, text in (("before", raw), ("after", item["text"])):
        lines = text.splitlines()
        print(f"\n  --- {title}: {len(lines)} lines, {len(text):,} characters")
        for line in lines[:_SHOWN_LINES]:
            print("  " + shorten(line, width, placeholder=" …"))
        if len(lines) > _SHOWN_LINES:
            print(f"  … {len(lines) - _SHOWN_LINES} more")


if __name__ == "__main__":
    sys.exit(main())
