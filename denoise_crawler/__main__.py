"""``denoise-crawler`` and ``python -m denoise_crawler``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command that the command line names and return its exit code."""
    from denoise_crawler.commands.page_command import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
