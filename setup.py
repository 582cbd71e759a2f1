"""Builds the compiled core where there is a compiler. Everything else stands in pyproject.toml.

The environment variable ``DENOISE_BUILD`` says how: ``python`` leaves the core out, ``require`` ends with an error
where it cannot be built, ``checked`` builds loops that look at every index and divisor.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from setuptools import setup

HOW = os.environ.get("DENOISE_BUILD", "auto")
CORE, LOOPS = Path("denoise_crawler", "core"), Path("denoise_crawler", "loops")
MINUTES = "two minutes"
NO_LOOPS = {"__init__", "cython", "hashes"}
BUILT = Path("build", "checked-core" if HOW == "checked" else "core")
# Numbers must come out as Python's do: a product and a sum are rounded one after the other. Cython's `cdivision`
# is off for the same reason: with it 1 / 2 is 0.
EXACT = [] if os.name == "nt" else ["-ffp-contract=off"]
CHECKED = {"boundscheck": True, "wraparound": False}
FAST = {"boundscheck": False, "wraparound": False, "initializedcheck": False}
# what the loops import, and what takes its place in what is compiled
PLACES = {
    "from denoise_crawler.loops import cython\n": "import cython\n",
    "from denoise_crawler.loops.keys import ": "from cython.cimports.denoise_crawler.core._keys import ",
    "from denoise_crawler.loops.hashes import ": "from cython.cimports.denoise_crawler.core.texts import ",
    "from math import ": "from cython.cimports.libc.math import ",
}


def extensions() -> list:
    """Return the extensions of the core, none without Cython and lxml. One that does not build is left out."""
    if HOW == "python":
        return []
    try:
        import lxml
        from Cython.Build import cythonize
        from setuptools import Extension
    except ImportError:
        if HOW in ("require", "checked"):
            raise
        return []
    if {"bdist_wheel", "build_ext", "editable_wheel"} & set(sys.argv):
        say(f"\nCompiling the core: {MINUTES} of CPU time. DENOISE_BUILD=python leaves it out")
    readers = [
        Extension(
            f"denoise_crawler.core.{source.stem}",
            [str(source)],
            include_dirs=lxml.get_include(),
            extra_compile_args=EXACT,
        )
        for source in sorted(CORE.glob("*.pyx"))
    ]
    loops = [
        Extension(f"denoise_crawler.core._{source.stem}", [for_cython(source)], extra_compile_args=EXACT)
        for source in sorted(LOOPS.glob("*.py"))
        if source.stem not in NO_LOOPS
    ]
    directives = {"language_level": 3, **(CHECKED if HOW == "checked" else FAST)}
    made = cythonize(readers, build_dir=str(BUILT))
    made += cythonize(loops, build_dir=str(BUILT), compiler_directives=directives)
    for extension in made:
        extension.optional = HOW not in ("require", "checked")  # cythonize drops what the extension says
    return made


def say(line: str) -> None:
    """Write to the terminal itself: pip keeps what a build prints for itself."""
    with suppress(OSError), Path("/dev/tty").open("w", encoding="utf-8") as terminal:
        print(line, file=terminal)


def for_cython(source: Path) -> str:
    """Write the source of some loops as Cython wants it, with the hash of what it was made from; return where."""
    data = source.read_bytes()
    text = data.decode()
    for ours, its in PLACES.items():
        text = text.replace(ours, its)
    text += f'\nSOURCE = "{crc32(data):08x}"\n'
    place = BUILT / "loops" / f"_{source.name}"
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists() or place.read_text("utf-8") != text:
        place.write_text(text, "utf-8", newline="\n")
    return str(place)


setup(ext_modules=extensions(), options={"build_ext": {"parallel": min(4, os.cpu_count() or 1)}})
