"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import denoise_crawler
from denoise_crawler.errors import MissingExtraError

MODULES = [
    found.name
    for found in pkgutil.walk_packages(denoise_crawler.__path__, "denoise_crawler.")
    if not found.name.endswith(".__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name: str) -> None:
    try:
        module = import_module(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
