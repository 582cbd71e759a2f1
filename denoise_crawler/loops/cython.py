"""What the loops say to Cython besides types, for Python, which needs none of it.

``setup.py`` puts Cython's own module in the place of this one where it builds the loops, so they run without
Cython. Most types are in annotations, which Python does not evaluate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function")
Value = TypeVar("Value")


class Kind:
    """A kind of numbers, or of columns of them."""

    def __init__(self, number: Callable[[float], float]) -> None:
        self._number = number

    def __getitem__(self, _: slice) -> Kind:
        return self

    def __call__(self, number: float) -> float:
        """Return a number of this kind."""
        return self._number(number)


double = Kind(float)
longlong = Py_ssize_t = ulonglong = Kind(int)


def cclass(made: Function) -> Function:
    """Mark a class whose attributes are declared."""
    return made


def cfunc(function: Function) -> Function:
    """Mark a function that others of its module alone call."""
    return function


def ccall(function: Function) -> Function:
    """Mark a function that Python and other loops call."""
    return function


def inline(function: Function) -> Function:
    """Mark a function that is compiled into those that call it."""
    return function


def exceptval(*, check: bool) -> Callable[[Function], Function]:
    """Mark a function that raises nothing, so that no call of it is followed by a look for an error."""
    if check:
        raise ValueError("the loops mark nothing else")
    return inline


def cast(kind: Kind, number: float) -> float:
    """Return a number of another ``kind``."""
    return kind(number)


def declare(_: Kind, value: Value) -> Value:
    """Return the value of a constant."""
    return value
