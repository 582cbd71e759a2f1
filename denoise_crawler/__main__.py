"""``denoise-crawler`` and ``python -m denoise_crawler``."""

from __future__ import annotations

import sys

from denoise_crawler.commands import page_command


def main() -> int:
    """Run the command that the command line names and return its exit code."""
    return page_command.run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
