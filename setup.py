"""Builds the compiled kernel where there is a compiler. Everything else stands in pyproject.toml.

The environment variable ``DENOISE_BUILD`` says how: ``python`` leaves it out, ``require`` ends with an error where
it cannot be built, ``checked`` builds one that looks at every index.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from setuptools import setup

HOW = os.environ.get("DENOISE_BUILD", "auto")
MUST = HOW in ("require", "checked")
BUILT = Path("build", "checked-kernel" if HOW == "checked" else "kernel")
# Numbers must come out as those of the reference do: a product and a sum are rounded one after the other.
FLAGS = [] if os.name == "nt" else ["-O2", "-ffp-contract=off"]


# Each Python has a wheel. By the limited API (3.11, Cython 3.3) one would do for all, but letters are then read by
# calls: cutting a page into blocks takes twice the time, walking its tree a quarter more.


def extensions() -> list:
    """Return the extensions of the kernel, none without Cython and lxml. One that does not build is left out."""
    if HOW == "python":
        return []
    try:
        import lxml
        from Cython.Build import cythonize
        from setuptools import Extension
    except ImportError:
        if MUST:
            raise
        return []
    if {"bdist_wheel", "build_ext", "editable_wheel"} & set(sys.argv):
        say("\nCompiling the kernel: half a minute of CPU time. DENOISE_BUILD=python leaves it out")
    found = [
        Extension(
            f"denoise_crawler.kernel.{source.stem}",
            [str(source)],
            include_dirs=lxml.get_include(),
            extra_compile_args=FLAGS,
        )
        for source in sorted(Path("denoise_crawler", "kernel").glob("*.pyx"))
    ]
    checks = {"boundscheck": HOW == "checked", "initializedcheck": HOW == "checked", "wraparound": False}
    made = cythonize(found, build_dir=str(BUILT), compiler_directives={"language_level": 3, **checks})
    for extension in made:
        extension.optional = not MUST  # cythonize drops what the extension says
    return made


def say(line: str) -> None:
    """Write to the terminal itself: pip keeps what a build prints for itself."""
    with suppress(OSError), Path("/dev/tty").open("w", encoding="utf-8") as terminal:
        print(line, file=terminal)


setup(ext_modules=extensions(), options={"build_ext": {"parallel": min(2, os.cpu_count() or 1)}})
