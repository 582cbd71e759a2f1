"""The tests of the benchmarks share what all tests share."""

from tests.conftest import corpus, pytest_collection_modifyitems
from tests.page_failures import pytest_runtest_call

__all__ = ["corpus", "pytest_collection_modifyitems", "pytest_runtest_call"]
