"""What is known of a site: sums over its pages."""

from __future__ import annotations

from denoise_crawler.loops import cython


def check(fits: cython.bint, message):
    """Raise ValueError unless the columns fit: the loops read and write where these say."""
    if not fits:
        raise ValueError(message)


def count_shared(
    marked: cython.const[cython.uchar][::1],
    paths: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    shared: cython.double[::1],
):
    """Count the ``marked`` paths of each page: numbers of one page after the other, and where each page ends."""
    page: cython.Py_ssize_t
    index: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    fits: cython.bint = ends.shape[0] == shared.shape[0]
    check(fits, "the columns of the pages do not fit each other")
    for page in range(ends.shape[0]):
        fits &= index <= ends[page] <= paths.shape[0]
        index = ends[page]
    check(fits, "a page ends where there are no paths")
    for index in range(paths.shape[0]):
        fits &= 0 <= paths[index] < marked.shape[0]
    check(fits, "a page has a path that is not there")
    index = 0
    for page in range(ends.shape[0]):
        count = 0
        while index < ends[page]:
            count += marked[paths[index]]
            index += 1
        shared[page] = count


def add_repeated(
    repeated: cython.const[cython.uchar][::1],
    homes: cython.const[cython.int][::1],
    texts: cython.const[cython.int][::1],
    characters: cython.const[cython.int][::1],
    sums: cython.double[::1],
):
    """Add to ``sums`` by home the ``characters`` of the blocks whose text is ``repeated``."""
    block: cython.Py_ssize_t
    fits: cython.bint = homes.shape[0] == texts.shape[0] and homes.shape[0] == characters.shape[0]
    check(fits, "the columns of the blocks do not fit each other")
    for block in range(homes.shape[0]):
        fits &= 0 <= texts[block] < repeated.shape[0] and 0 <= homes[block] < sums.shape[0]
    check(fits, "a block has a text or a home that is not there")
    for block in range(homes.shape[0]):
        if repeated[texts[block]]:
            sums[homes[block]] += characters[block]


def add_below(sums: cython.double[::1], parents: cython.const[cython.longlong][::1]):
    """Add to each place the sums of all places below it; parents come before children."""
    place: cython.Py_ssize_t
    count: cython.Py_ssize_t = parents.shape[0]
    fits: cython.bint = sums.shape[0] >= count
    check(fits, "the sums do not fit the places")
    for place in range(1, count):
        fits &= 0 <= parents[place] < sums.shape[0]
    check(fits, "a place stands in one that is not there")
    for place in range(count - 1, 0, -1):
        sums[parents[place]] += sums[place]
