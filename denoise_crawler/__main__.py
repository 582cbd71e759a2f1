"""``denoise-crawler`` and ``python -m denoise_crawler``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command that the command line names and return its exit code."""
    words = sys.argv[1:]
    if words[:1] == ["mcp"]:
        from denoise_crawler import mcp_server

        return mcp_server.run(words[1:])
    from denoise_crawler.commands import page_command

    return page_command.run(words)


if __name__ == "__main__":
    sys.exit(main())
