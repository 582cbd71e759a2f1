"""Style sheets: which of their rules may hide or show something."""

from __future__ import annotations

from denoise_crawler.loops import cython
from denoise_crawler.loops.keys import check

PARTS = 5  # of a rule, see rules_of
_HIDES = cython.declare(cython.longlong, 1)
_SHOWS = cython.declare(cython.longlong, 2)


@cython.cfunc
@cython.exceptval(check=False)
def sign_at(text: str, at: cython.Py_ssize_t) -> cython.longlong:
    """Return what a word that begins at a letter tells of its rule, 0 for nothing; two letters follow it."""
    letter: cython.Py_UCS4 = text[at]
    second: cython.Py_UCS4 = text[at + 1]
    third: cython.Py_UCS4 = text[at + 2]
    if letter == "y":
        if second == ":" and (third == "n" or third == " "):
            return _HIDES if text.startswith(("y:none", "y: none"), at) else 0
    elif letter == "h":
        if second == "i" and third == "d":
            return _HIDES if text.startswith("hidden", at) else 0
    elif letter == "d":
        if second == "i" and third == "s":
            return _SHOWS if text.startswith("display", at) else 0
    elif letter == "v":
        if second == "i" and third == "s":
            return _SHOWS if text.startswith("visible", at) else 0
    elif letter == "m":
        if second == "a" and third == "x":
            return _SHOWS if text.startswith("max-height", at) else 0
    elif letter == "-":
        return _HIDES if second == "9" else 0
    elif letter == "0":
        if second == "0" and third == "0":
            return _HIDES if text.startswith("000px", at) else 0
    elif letter == "c":
        if second == "l" and third == "i":
            return _HIDES if text.startswith("clip", at) else 0
        if second == "o" and third == "l":
            return _HIDES if text.startswith("collapse", at) else 0
    return 0


def rules_of(text: str, rules: cython.longlong[:, ::1]) -> cython.Py_ssize_t:
    """Fill a row for each rule of a style sheet that may hide or show something; return how many there are.

    Of each where its selectors begin, its brace, its end, whether it stands inside another (as in ``@media``), and
    what it may do: hide (1), show (2) or both. Those for which there is no room are left out.

    Raises:
        ValueError: The rows have no room for that.

    """
    count: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    size: cython.Py_ssize_t = len(text)
    begin: cython.Py_ssize_t = 0  # behind the last brace
    start: cython.Py_ssize_t = 0
    brace: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    is_open: cython.bint = False
    signs: cython.longlong = 0
    letter: cython.Py_UCS4
    check(rules.shape[1] == PARTS, "the columns do not fit each other")
    for at in range(size):
        letter = text[at]
        if letter == "{":
            start, brace, begin, is_open, signs = begin, at, at + 1, True, 0
            depth += 1
        elif letter == "}":
            if is_open and signs and count < rules.shape[0]:
                rules[count, 0] = start
                rules[count, 1] = brace
                rules[count, 2] = at
                rules[count, 3] = 1 if depth > 1 else 0
                rules[count, 4] = signs
                count += 1
            begin, is_open = at + 1, False
            depth -= 1
        elif is_open and at + 2 < size:
            signs |= sign_at(text, at)
    return count
