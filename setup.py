"""Builds the compiled core where there is a compiler. Everything else stands in pyproject.toml.

``DENOISE_BUILD=python`` leaves the core out.
"""

import os
from pathlib import Path

from setuptools import setup

CORE = Path("denoise_crawler", "core")
# numbers must come out as Python's do: a product and a sum are rounded one after the other
EXACT = [] if os.name == "nt" else ["-ffp-contract=off"]


def extensions() -> list:
    """Return the extensions of the core, none without Cython and lxml. One that does not build is left out."""
    if os.environ.get("DENOISE_BUILD") == "python":
        return []
    try:
        import lxml
        from Cython.Build import cythonize
        from setuptools import Extension
    except ImportError:
        return []
    made = cythonize(
        [
            Extension(
                f"denoise_crawler.core.{source.stem}",
                [str(source)],
                include_dirs=lxml.get_include(),
                extra_compile_args=EXACT,
            )
            for source in sorted(CORE.glob("*.pyx"))
        ],
        build_dir="build/core",
    )
    for extension in made:
        extension.optional = True  # cythonize drops what the extension says
    return made


setup(ext_modules=extensions(), options={"build_ext": {"parallel": min(4, os.cpu_count() or 1)}})
