"""Live numbers: a captured program reads them anew at each run (learning rates, and what is computed from them).

Code that builds a program computes with a `LiveNumber` as with a float: operators, `abs`, `round`, `divmod` and NumPy's
functions (`np.sqrt`, `np.maximum` …) give live numbers again. What needs a value while the program is built cannot follow
later ones: `float()`, `int()`, functions of `math`, and conditions (`if lr > 0.1`, `max`, `sorted`) take the value of now
and say so in a `FrozenNumberWarning`. Text shows the value of now, which is no part of the program.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import user_location

_NUMBERS = (int, float, np.integer, np.floating)


class FrozenNumberWarning(RuntimeWarning):
    """A live number was turned into a plain one, which stays as it is in the program that is being built."""


class LiveScalar(float):
    """A live number where it is an operand of a recorded operation: the value of now, and how to read later ones."""

    read: Callable[[], float]

    def __new__(cls, read: Callable[[], float]) -> LiveScalar:
        made = float.__new__(cls, read())
        made.read = read
        return made


class LiveNumber:
    """A number that is computed anew, from what it was made of, whenever it is read."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self.read = read

    def recorded(self) -> LiveScalar:
        """The number as an operand."""
        return LiveScalar(lambda: float(self.read()))

    # ---- stays live ------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions of numbers."""
        good = all(isinstance(number, (LiveNumber, *_NUMBERS)) for number in inputs)
        if method != "__call__" or options or not good or function.nout != 1:
            return NotImplemented
        if function(*[1.0] * function.nin).dtype.kind == "b":
            return bool(function(*[frozen(number, function.__name__) for number in inputs]))
        return LiveNumber(lambda: function(*[_now(number) for number in inputs]))

    def __round__(self, digits: int | None = None) -> LiveNumber:
        return LiveNumber(lambda: float(round(self.read(), digits)))

    def __floor__(self) -> LiveNumber:
        return LiveNumber(lambda: float(math.floor(self.read())))

    def __ceil__(self) -> LiveNumber:
        return LiveNumber(lambda: float(math.ceil(self.read())))

    def __trunc__(self) -> LiveNumber:
        return LiveNumber(lambda: float(math.trunc(self.read())))

    def conjugate(self) -> LiveNumber:
        return self

    @property
    def real(self) -> LiveNumber:
        return self

    @property
    def imag(self) -> float:
        return 0.0

    def __divmod__(self, other: Any) -> Any:
        whole: Any = self
        return whole // other, whole % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    # ---- the value of now ------------------------------------------------------------------------------------------

    def __float__(self) -> float:
        return float(frozen(self, "float()"))

    def __int__(self) -> int:
        return int(frozen(self, "int()"))

    def __complex__(self) -> complex:
        return complex(frozen(self, "complex()"))

    def __bool__(self) -> bool:
        return bool(frozen(self, "a condition"))

    def is_integer(self) -> bool:
        return float(frozen(self, "is_integer()")).is_integer()

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return repr(float(self.read()))

    def __format__(self, spec: str) -> str:
        return format(float(self.read()), spec)


def _now(number: Any) -> Any:
    return number.read() if isinstance(number, LiveNumber) else number


def frozen(number: Any, reason: str) -> Any:
    """The value of now, for something that cannot follow later ones; warns of that."""
    if not isinstance(number, LiveNumber):
        return number
    filename, line = user_location(2)
    value = number.read()
    warnings.warn_explicit(
        f"(learning rate) {reason} takes its value of now, {value!r}, which then stays in the program; compute with "
        "operators or NumPy's functions (np.maximum, np.sqrt …) so that it follows the schedule.",
        FrozenNumberWarning, filename, line,
    )  # fmt: skip
    return value


def _binary(function: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: LiveNumber, other: Any) -> Any:
        if not isinstance(other, (LiveNumber, *_NUMBERS)):
            return NotImplemented  # a tensor knows what to do
        return LiveNumber(lambda: function(self.read(), _now(other)))

    def reflected(self: LiveNumber, other: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        return LiveNumber(lambda: function(other, self.read()))

    return forward, reflected


def _unary(function: Callable[[Any], Any]) -> Callable[..., Any]:
    def compute(self: LiveNumber) -> LiveNumber:
        return LiveNumber(lambda: function(self.read()))

    return compute


def _comparison(function: Callable[[Any, Any], bool], sign: str) -> Callable[..., Any]:
    def compare(self: LiveNumber, other: Any) -> Any:
        if not isinstance(other, (LiveNumber, *_NUMBERS)):
            return NotImplemented
        return function(frozen(self, f"a comparison ({sign})"), _now(other))

    return compare


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _stem, _method in zip((f"__{_name}__", f"__r{_name}__"), _binary(getattr(operator, _name)), strict=True):
        setattr(LiveNumber, _stem, _method)
for _name in ("neg", "pos", "abs"):
    setattr(LiveNumber, f"__{_name}__", _unary(getattr(operator, _name)))
for _name, _sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(LiveNumber, f"__{_name}__", _comparison(getattr(operator, _name), _sign))
