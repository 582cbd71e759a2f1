"""The tests of the benchmarks share what all tests share."""

from tests.conftest import corpus, pytest_collection_modifyitems

__all__ = ["corpus", "pytest_collection_modifyitems"]
