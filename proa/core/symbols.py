"""Sizes that know where they come from.

A `Symbol` is a size that is not known before a program runs: an axis of an input, or of a result whose shape no formula
describes. A `SymbolicSize` is an integer computed from symbols: an ordinary `int` whose value is that of the example at
hand, with the expression beside it. Hashing, equality and printing are those of the value; `+ - * // %`, `min` and `max`
keep the expression. A comparison answers for the value and leaves a guard: for sizes that answer otherwise, what was
computed behind it does not hold. What loses the expression on the way (`int(n)`, `float(n)`, NumPy) leaves a guard too:
it holds for this very size. A plain number is always a literal.

`SymbolicNumber` is the same for floats: a tree of the operations that made it, so that computing it for other sizes
rounds as Python did.

A quotient of an expression by zero is an error of the run, as it would be in eager code.
"""

# The functions of `operator` have no types of their own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, SupportsIndex

import numpy as np

from .expressions import (
    Expression,
    Symbol,
    UnknownSize,
    as_expression,
    evaluate_tree,
    quotient,
    remainder,
    substituted_tree,
    symbols_of,
)
from .size import Size, TensorSize

_INTEGERS = (int, np.integer)
_REALS = (int, float, np.integer, np.floating)


def is_symbolic(value: Any) -> bool:
    """Whether a number depends on an unknown size."""
    return isinstance(value, (SymbolicSize, SymbolicNumber))


def is_stated(value: Any) -> bool:
    """Whether all that a number depends on is stated: it is a plain one for those who look at it."""
    parts = value.expression if isinstance(value, SymbolicSize) else value.tree
    return all(symbol.stated for symbol in symbols_of(parts))


def as_stated(value: Any) -> Any:
    """A number with what is stated in the place of its symbols."""
    parts = value.expression if isinstance(value, SymbolicSize) else value.tree
    stated = {symbol: as_expression(symbol.example) for symbol in symbols_of(parts) if symbol.stated}
    if len(stated) == len(symbols_of(parts)):
        return plain(value)
    if isinstance(value, SymbolicSize):
        return size_from(value.expression.substituted(stated), plain(value))
    made = float.__new__(SymbolicNumber, value)
    made.tree = substituted_tree(value.tree, stated)
    return made


def size_from(expression: Expression, value: int, kind: Any = None) -> Any:
    """An integer with its expression; a plain one where nothing unknown is left in it."""
    if expression.is_constant:
        return value
    made = (kind or SymbolicSize).of_value(value)
    made.expression = expression
    return made


def expression_of(value: Any) -> Expression | None:
    """The expression of an integer (a constant for a plain one); None for anything else."""
    if isinstance(value, SymbolicSize):
        return value.expression
    return as_expression(int(value)) if isinstance(value, _INTEGERS) else None


def same_size(first: int, second: int) -> bool:
    """Whether two sizes are equal whatever the unknown ones are."""
    if first.__class__ is int and second.__class__ is int:
        return first == second
    return expression_of(first) == expression_of(second)


def same_sizes(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(map(same_size, first, second))


def fixed(number: Any) -> Any:
    """The plain value, for what can only be done with one (`range`, arrays of NumPy): it holds for this size alone."""
    return note_loss(number) if is_symbolic(number) else number


def divided(number: float, size: int) -> Any:
    """`number / size` that keeps the expression of the size, as `float / size` does not: Python asks the float first."""
    return _real("truediv", operator.truediv, number, size) if isinstance(size, SymbolicSize) else number / size


def divides(divisor: int, number: int) -> bool:
    """Whether an unknown size divides a number whatever it is (where it is 0, that is 0 too)."""
    if not isinstance(divisor, SymbolicSize) or not isinstance(number, SymbolicSize):
        return False
    return not remainder(number.expression, divisor.expression).terms


def is_zero_by_wish(size: int) -> bool:
    """Whether a wanted size is 0 where that is no number but asks for something else: then the user has asked, not we."""
    if not isinstance(size, SymbolicSize) or plain(size) != 0:
        return size == 0
    return _note("==", size.expression, True, by_user=True)


def whole(number: Any) -> int:
    """An integer as it is; what else stands for one becomes it (`int` would lose the expression of a size)."""
    if number.__class__ is int or number.__class__ is SymbolicSize:
        return number
    return size_from(number.expression, plain(number)) if isinstance(number, SymbolicSize) else int(number)


def whole_index(number: Any) -> int:
    """The same for what can be an index: a float cannot."""
    return whole(number) if isinstance(number, SymbolicSize) else operator.index(number)


def whole_part(number: Any) -> int:
    """What `int` makes of a number: the integer towards zero."""
    return number.truncated() if isinstance(number, SymbolicNumber) else whole(number)


def minimum(first: Any, second: Any) -> Any:
    """The smaller of two sizes, whichever that is for other sizes: no guard is left, unlike by `min`."""
    return _extreme("min", min, first, second)


def maximum(first: Any, second: Any) -> Any:
    return _extreme("max", max, first, second)


def _extreme(name: str, choose: Callable[..., Any], first: Any, second: Any) -> Any:
    if first.__class__ is int and second.__class__ is int:
        return choose(first, second)
    value = choose(plain(first), plain(second))
    left, right = expression_of(first), expression_of(second)
    if left is None or right is None or (left.is_constant and right.is_constant):
        return value
    return size_from(left.extreme(name, right), value)


class _Signs(threading.local):
    by_formula = False


_SIGNS = _Signs()


@contextmanager
def signs_by_formula() -> Generator[None]:
    """Inside, `from_start` leaves no guard: a file that is one graph for all sizes cannot be captured for both signs."""
    before, _SIGNS.by_formula = _SIGNS.by_formula, True
    try:
        yield
    finally:
        _SIGNS.by_formula = before


def from_start(place: Any, extent: Any) -> Any:
    """A place on an axis as counted from its start: negative ones are counted from its end."""
    expression = None if place.__class__ is int else expression_of(place)
    if expression is None or not _SIGNS.by_formula or expression.proves("<") is not None:
        return place if place >= 0 else place + extent
    return place - extent * maximum(minimum(place, 0), -1)


def plain(value: Any) -> Any:
    """The value alone, of a number or of all numbers in nested tuples; no guard is left."""
    if isinstance(value, SymbolicSize):
        return value.bare()
    if isinstance(value, SymbolicNumber):
        return float.__pos__(value)
    return tuple([plain(part) for part in value]) if value.__class__ is tuple else value


# ---- guards --------------------------------------------------------------------------------------------------------


def _note(kind: str, expression: Expression, answer: bool, by_user: bool = False) -> bool:
    """Leaves a guard with the capture that the symbols belong to; gives the answer."""
    if expression.proves(kind) is None:
        for symbol in symbols_of(expression):
            symbol.owner.note(kind, expression, answer, by_user)
            break
    return answer


def note_loss(value: Any) -> Any:
    """The plain value of a number that loses its expression here: what follows holds for it alone."""
    bare = plain(value)
    if isinstance(value, SymbolicSize):
        _note("==", value.expression - as_expression(bare), True)
    else:
        for symbol in symbols_of(value.tree):
            symbol.owner.note("==", as_expression(symbol) - as_expression(symbol.example), True)
    return bare


# ---- integers ------------------------------------------------------------------------------------------------------


def _joined(symbolic: Callable[[Expression, Expression], Expression], compute: Any) -> tuple[Any, Any]:
    """An operator and its mirror image, on expressions and on values."""
    name = compute.__name__.strip("_")

    def forward(self: Any, other: Any) -> Any:
        if not isinstance(other, _INTEGERS):
            return _real(name, compute, self, other)
        right = expression_of(other)
        assert right is not None
        return size_from(symbolic(self.expression, right), compute(plain(self), int(plain(other))))

    def backward(self: Any, other: Any) -> Any:
        if not isinstance(other, _INTEGERS):
            if name == "mul" and isinstance(other, (list, tuple, str, bytes)):
                return other * note_loss(self)
            return _real(name, compute, other, self)
        left = expression_of(other)
        assert left is not None
        return size_from(symbolic(left, self.expression), compute(int(plain(other)), plain(self)))

    return forward, backward


def _compared(name: str, kind: str, negated: bool, swapped: bool) -> Any:
    """A comparison, as a guard on the difference: `== 0` or `< 0`."""
    compute = getattr(operator, name)

    def compare(self: Any, other: Any) -> Any:
        if isinstance(other, _INTEGERS):
            right = expression_of(other)
            assert right is not None
            answer = bool(compute(plain(self), int(plain(other))))
            difference = right - self.expression if swapped else self.expression - right
            _note(kind, difference, answer != negated)
            return answer
        if isinstance(other, (float, np.floating)):
            return compute(note_loss(self), plain(other))
        return compute(note_loss(self), other) if isinstance(other, np.ndarray) else NotImplemented

    return compare


def _losing(name: str) -> Any:
    method = getattr(int, name)

    def lose(self: Any, *others: Any) -> Any:
        return method(note_loss(self), *[note_loss(o) if is_symbolic(o) else o for o in others])

    return lose


class _Words(threading.local):
    shown = False  # whether this thread writes sizes for a person: -1 instead of the number that stands for it


_WORDS = _Words()


@contextmanager
def sizes_in_words() -> Generator[None]:
    """Inside, a size that is not known prints as -1, and what is computed from it as its formula: for messages."""
    before, _WORDS.shown = _WORDS.shown, True
    try:
        yield
    finally:
        _WORDS.shown = before


def _in_words(size: SymbolicSize) -> str:
    if is_stated(size):
        return int.__repr__(size)
    return "-1" if size.expression.symbol is not None else repr(size.expression)


class SymbolicSize(int):
    """An integer computed from unknown sizes."""

    expression: Expression
    __array_ufunc__ = None  # so that NumPy's own scalars leave arithmetic to this class

    @classmethod
    def of_value(cls, value: int) -> Any:
        return int.__new__(cls, value)

    def bare(self) -> int:
        """The value as a plain number."""
        return int.__pos__(self)

    __add__, __radd__ = _joined(operator.add, operator.add)
    __sub__, __rsub__ = _joined(operator.sub, operator.sub)
    __mul__, __rmul__ = _joined(operator.mul, operator.mul)
    __floordiv__, __rfloordiv__ = _joined(quotient, operator.floordiv)
    __mod__, __rmod__ = _joined(remainder, operator.mod)

    __eq__ = _compared("eq", "==", False, False)
    __ne__ = _compared("ne", "==", True, False)
    __lt__ = _compared("lt", "<", False, False)
    __ge__ = _compared("ge", "<", True, False)
    __gt__ = _compared("gt", "<", False, True)
    __le__ = _compared("le", "<", True, True)
    __hash__ = int.__hash__

    def __bool__(self) -> bool:
        return self != 0

    def __neg__(self) -> Any:
        return self * -1

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if other.__class__ is int and 0 <= other <= 8 and modulo is None:
            result: Any = 1
            for _ in range(other):
                result = result * self
            return result
        if isinstance(other, _REALS) and modulo is None:
            return _real("pow", operator.pow, self, other)
        return NotImplemented

    def __rpow__(self, other: Any, modulo: Any = None) -> Any:
        return NotImplemented if modulo is not None else _real("pow", operator.pow, other, self)

    def __lshift__(self, other: Any) -> Any:
        return self * (1 << other)

    def __rshift__(self, other: Any) -> Any:
        return self // (1 << other)

    def __truediv__(self, other: Any) -> Any:
        return _real("truediv", operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _real("truediv", operator.truediv, other, self)

    def _itself(self, *_digits: Any) -> Any:
        return self

    __pos__ = __trunc__ = __floor__ = __ceil__ = __round__ = conjugate = _itself

    @property
    def real(self) -> Any:
        return self

    def __int__(self) -> int:
        return note_loss(self)

    def __float__(self) -> float:
        return float(note_loss(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(note_loss(self), dtype)

    def __repr__(self) -> str:
        return _in_words(self) if _WORDS.shown else int.__repr__(self)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return _in_words(self) if _WORDS.shown and not spec else format(plain(self), spec)

    def __reduce__(self) -> Any:
        return int, (plain(self),)

    def __deepcopy__(self, memo: Any) -> SymbolicSize:
        return self


for _name in ("__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__invert__", "__rlshift__",
              "__rrshift__", "bit_length", "bit_count", "to_bytes"):  # fmt: skip
    setattr(SymbolicSize, _name, _losing(_name))


class SymbolicTensorSize(SymbolicSize):
    """How many elements a tensor of unknown sizes has; called, its shape or one dimension of it, as `TensorSize`."""

    _shape: tuple[int, ...]

    def __call__(self, dim: SupportsIndex | None = None) -> Any:
        return Size(self._shape) if dim is None else self._shape[dim]


def tensor_size(shape: tuple[int, ...]) -> SymbolicTensorSize | TensorSize:
    """What `x.size` is."""
    number = math.prod(shape)
    if not isinstance(number, SymbolicSize):
        return TensorSize(shape)
    made = SymbolicTensorSize.of_value(number.bare())
    made.expression, made._shape = number.expression, shape
    return made


# ---- floats --------------------------------------------------------------------------------------------------------


def _tree_of(value: Any) -> Any:
    """What stands for a number in a tree: an expression, a tree, or the number itself."""
    if isinstance(value, SymbolicSize):
        return value.expression
    return value.tree if isinstance(value, SymbolicNumber) else value


def _real(name: str, compute: Any, left: Any, right: Any) -> Any:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return compute(fixed(left), fixed(right))
    if not isinstance(left, _REALS) or not isinstance(right, _REALS):
        return NotImplemented
    values = [v.item() if isinstance(v, np.generic) else v for v in (left, right)]
    result = compute(*map(plain, values))
    if not isinstance(result, float):
        for value in values:
            if is_symbolic(value):
                note_loss(value)
        return result
    made = float.__new__(SymbolicNumber, result)
    made.tree = (name, *map(_tree_of, values))
    return made


def _real_pair(name: str, compute: Any) -> tuple[Any, Any]:
    return (
        lambda self, other: _real(name, compute, self, other),
        lambda self, other: _real(name, compute, other, self),
    )


def _real_compared(name: str) -> Any:
    compute = getattr(operator, name)

    def compare(self: Any, other: Any) -> Any:
        if not isinstance(other, (*_REALS, np.ndarray)):
            return NotImplemented
        note_loss(self)
        return compute(plain(self), note_loss(other) if is_symbolic(other) else other)

    return compare


class SymbolicNumber(float):
    """A float computed from unknown sizes."""

    tree: Any
    __array_ufunc__ = None

    __add__, __radd__ = _real_pair("add", operator.add)
    __sub__, __rsub__ = _real_pair("sub", operator.sub)
    __mul__, __rmul__ = _real_pair("mul", operator.mul)
    __truediv__, __rtruediv__ = _real_pair("truediv", operator.truediv)
    __floordiv__, __rfloordiv__ = _real_pair("floordiv", operator.floordiv)
    __mod__, __rmod__ = _real_pair("mod", operator.mod)
    __pow__, __rpow__ = _real_pair("pow", operator.pow)

    __eq__ = _real_compared("eq")
    __ne__ = _real_compared("ne")
    __lt__ = _real_compared("lt")
    __le__ = _real_compared("le")
    __gt__ = _real_compared("gt")
    __ge__ = _real_compared("ge")
    __hash__ = float.__hash__

    def __bool__(self) -> bool:
        return self != 0.0

    def __neg__(self) -> Any:
        return self * -1.0

    def _itself(self) -> Any:
        return self

    __pos__ = conjugate = _itself

    @property
    def real(self) -> Any:
        return self

    def _rounded(self, name: str, value: int) -> Any:
        return size_from(Expression.call(name, (self.tree,)), value)

    def truncated(self) -> Any:
        return self._rounded("trunc", math.trunc(plain(self)))

    __trunc__ = truncated

    def __floor__(self) -> Any:
        return self._rounded("floor", math.floor(plain(self)))

    def __ceil__(self) -> Any:
        return self._rounded("ceil", math.ceil(plain(self)))

    def __round__(self, digits: Any = None) -> Any:
        return self._rounded("round", round(plain(self))) if digits is None else round(note_loss(self), digits)

    def __int__(self) -> int:
        value = math.trunc(plain(self))
        _note("==", Expression.call("trunc", (self.tree,)) - as_expression(value), True)
        return value

    def __float__(self) -> float:
        return note_loss(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(note_loss(self), dtype)

    def __repr__(self) -> str:
        return float.__repr__(self)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(plain(self), spec)

    def __reduce__(self) -> Any:
        return float, (plain(self),)

    def __deepcopy__(self, memo: Any) -> SymbolicNumber:
        return self


def number_from(name: str, compute: Callable[[Any], float], value: Any) -> Any:
    """A function of one number (`sqrt`), kept as an expression."""
    if not is_symbolic(value):
        return compute(value)
    made = float.__new__(SymbolicNumber, compute(plain(value)))
    made.tree = (name, _tree_of(value))
    return made


def square_root(value: Any) -> Any:
    return number_from("sqrt", math.sqrt, value)


def evaluate(value: Any, known: Mapping[Symbol, int]) -> Any:
    """A number for known sizes, plain; UnknownSize where one of its symbols is not known."""
    if isinstance(value, SymbolicSize):
        return value.expression.value(known)
    return evaluate_tree(value.tree, known) if isinstance(value, SymbolicNumber) else value


__all__ = [
    "Expression", "Symbol", "SymbolicNumber", "SymbolicSize", "UnknownSize", "evaluate", "expression_of", "is_symbolic",
    "maximum", "minimum", "note_loss", "number_from", "plain", "same_size", "same_sizes", "size_from", "square_root",
    "symbols_of", "tensor_size", "whole", "whole_index", "whole_part",
]  # fmt: skip
