"""Loops over the numbers of a page, written once: in Python that Cython also compiles.

A module ``NAME.py`` of this folder is built as ``core/_NAME``. ``core.loops`` returns that, or this source, which
is interpreted, where nothing was built. Both must come to the same result, so in this folder no index is below 0,
no integer is divided, and a product that may be longer than 64 bits is masked. Columns are numpy's arrays when
they are built, and memoryviews of them when they are interpreted.
"""
