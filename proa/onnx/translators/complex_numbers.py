"""Complex numbers, which ONNX's operators do not have: a value is two real ones inside the graph.

They may come and go inside a model; an input or a result of the model cannot be complex. What moves elements about, or sums
them, does so with both parts. Fourier transforms are products with matrices of cosines and sines, for sizes that are known:
many runtimes lack ONNX's own operator for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.transform.fourier import _NORMS
from ..builder import Builder, Made, Type, is_unknown
from ..registry import TRANSLATORS, Call, translates
from .arithmetic import angle_of
from .resizing import along_axis

REAL = {"complex64": "float32", "complex128": "float64"}
_COMPLEX = {real: name for name, real in REAL.items()}
_LONGEST = 8192  # of a transform

# What is done to both parts alike.
_PARTWISE = frozenset({
    "reshape", "transpose", "expand", "concat", "stack", "split", "unbind", "tile", "flip", "roll", "getitem", "assign",
    "sum", "mean", "neg", "index_get", "shift_along", "barrier", "frame", "overlap_add", "diagonal", "gather_nd",
})  # fmt: skip


class Pair(Made):
    """A complex value: its parts."""

    __slots__ = ("imag", "real")

    def __init__(self, real: Made, imag: Made) -> None:
        super().__init__(f"{real.name} + i {imag.name}", _COMPLEX[real.dtype], real.sizes)
        self.real = real
        self.imag = imag


class _Part(Call):
    """A call with one part of its operands; its results are real."""

    @property
    def types(self) -> list[Type]:
        return [(REAL.get(dtype, dtype), sizes) for dtype, sizes in super().types]


def constant_pair(b: Builder, array: Any, name: str) -> Pair:
    return Pair(
        b.parameter(np.ascontiguousarray(array.real), name), b.parameter(np.ascontiguousarray(array.imag), name)
    )


def is_complex(c: Call) -> bool:
    """Whether complex numbers go in or come out."""
    return any(isinstance(o, Made) and o.dtype in REAL for o in c.operands) or any(
        dtype in REAL for dtype, _ in c.types
    )


def translate_complex(b: Builder, c: Call) -> Any:
    """The results of a call with complex numbers."""
    if any(isinstance(o, Made) and o.dtype in REAL and not isinstance(o, Pair) for o in c.operands):
        raise NotImplementedError("an input of the model has complex numbers; give it their parts (as_real)")
    function = _OPERATIONS.get(c.name)
    if function is not None:
        return function(b, c)
    if c.name not in _PARTWISE:
        raise NotImplementedError("of complex numbers")
    parts: list[list[Made]] = []
    for side in ("real", "imag"):
        operands = [getattr(o, side) if isinstance(o, Pair) else o for o in c.operands]
        if any(isinstance(o, Made) and o.dtype.startswith("float") and not isinstance(c.operands[n], Pair)
               for n, o in enumerate(operands)):  # fmt: skip
            raise NotImplementedError("of real and complex numbers together")
        found = TRANSLATORS[c.name](b, _Part(c.instruction, operands, c.context))
        parts.append([found] if isinstance(found, Made) else found)
    return [Pair(real, imag) for real, imag in zip(*parts, strict=True)]


def _pair(b: Builder, c: Call, position: int) -> Pair:
    """An operand as a complex value."""
    operand = c.operands[position]
    if isinstance(operand, Pair):
        return operand
    wide = REAL[c.dtype]
    if isinstance(operand, Made):
        return Pair(b.cast(operand, wide), b.expand(b.scalar(0, wide), operand.sizes))
    number = complex(operand)
    return Pair(b.scalar(number.real, wide), b.scalar(number.imag, wide))


def _sum(operator: str) -> Callable[[Builder, Call], Pair]:
    def translate(b: Builder, c: Call) -> Pair:
        x, y = _pair(b, c, 0), _pair(b, c, 1)
        parts = [b.binary(operator, x.real, y.real), b.binary(operator, x.imag, y.imag)]
        return Pair(*[b.expand(part, c.sizes) for part in parts])

    return translate


def _times(b: Builder, x: Pair, y: Pair) -> Pair:
    real = b.binary("Sub", b.binary("Mul", x.real, y.real), b.binary("Mul", x.imag, y.imag))
    return Pair(real, b.binary("Add", b.binary("Mul", x.real, y.imag), b.binary("Mul", x.imag, y.real)))


def _product(b: Builder, c: Call) -> Pair:
    real = c.operands[1]
    if isinstance(c.operands[0], Pair) and isinstance(real, Made) and not isinstance(real, Pair):
        x, real = c.operands[0], b.cast(real, REAL[c.dtype])
        return Pair(b.binary("Mul", x.real, real), b.binary("Mul", x.imag, real))
    return _times(b, _pair(b, c, 0), _pair(b, c, 1))


def _quotient(b: Builder, c: Call) -> Pair:
    x, y = _pair(b, c, 0), _pair(b, c, 1)
    size = b.binary("Add", b.binary("Mul", y.real, y.real), b.binary("Mul", y.imag, y.imag))
    product = _times(b, x, Pair(y.real, b.same("Neg", y.imag)))
    return Pair(b.binary("Div", product.real, size), b.binary("Div", product.imag, size))


def _absolute(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.same("Sqrt", b.binary("Add", b.binary("Mul", x.real, x.real), b.binary("Mul", x.imag, x.imag)))


def _as_complex(b: Builder, c: Call) -> Pair:
    x = c.operands[0]
    real, imag = (b.gather(x, b.scalar(place, "int64"), x.ndim - 1) for place in (0, 1))
    return Pair(real, imag)


# ---- Fourier transforms --------------------------------------------------------------------------------------------


def _factor(forward: bool, scale: str, n: int) -> float:
    """What NumPy multiplies a transform of n elements by, for one of our scales."""
    way = _NORMS[forward][scale]
    if way == "ortho":
        return n**-0.5
    return 1 / n if way == ("forward" if forward else "backward") else 1.0


def _extent(x: Made, axis: int) -> int:
    size = x.sizes[axis]
    if is_unknown(size) or not 0 < size <= _LONGEST:
        raise NotImplementedError(
            f"a Fourier transform of unknown length, of nothing or of more than {_LONGEST} elements"
        )
    return size


def _matrix(rows: int, columns: int, n: int, forward: bool, scale: str) -> Any:
    turns = np.outer(np.arange(rows), np.arange(columns)) % n
    return np.exp((-2j if forward else 2j) * np.pi * turns / n) * _factor(forward, scale, n)


def _transformed(b: Builder, x: Pair, axis: int, forward: bool, scale: str) -> Pair:
    n = _extent(x, axis)
    matrix = _matrix(n, n, n, forward, scale)
    cosines, sines = ([along_axis(b, part, axis, m) for part in (x.real, x.imag)] for m in (matrix.real, matrix.imag))
    return Pair(b.binary("Sub", cosines[0], sines[1]), b.binary("Add", sines[0], cosines[1]))


def _complex_to_complex(b: Builder, c: Call) -> Pair:
    x = c.operands[0]
    axes, forward, scale = c.attributes
    for axis in axes:
        x = _transformed(b, x, axis % x.ndim, forward, scale)
    return x


def _real_to_complex(b: Builder, c: Call) -> Pair:
    x = c.operands[0]
    (*others, last), forward, scale, doubled = c.attributes
    if doubled:
        raise NotImplementedError("it is the gradient of a real transform")
    n = _extent(x, last)
    matrix = _matrix(n // 2 + 1, n, n, True, scale)
    result = Pair(along_axis(b, x, last, matrix.real), along_axis(b, x, last, matrix.imag if forward else -matrix.imag))
    for axis in others:
        result = _transformed(b, result, axis, forward, scale)
    return result


def _complex_to_real(b: Builder, c: Call) -> Made:
    """Every number of half a spectrum counts twice, but for the first, and the last of an even length."""
    x = c.operands[0]
    (*others, last), forward, scale, n, halved = c.attributes
    if halved:
        raise NotImplementedError("it is the gradient of a real transform")
    for axis in others:
        x = _transformed(b, x, axis, forward, scale)
    have, used = _extent(x, last), n // 2 + 1
    weights = np.full(used, 2.0)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    matrix: Any = np.zeros((n, have), complex)
    common = min(have, used)
    matrix[:, :common] = (_matrix(n, used, n, False, scale) * weights)[:, :common]
    imag = matrix.imag if forward else -matrix.imag
    return b.binary("Add", along_axis(b, x.real, last, matrix.real), along_axis(b, x.imag, last, imag))


_OPERATIONS: dict[str, Callable[[Builder, Call], Any]] = {
    "add": _sum("Add"), "subtract": _sum("Sub"), "multiply": _product, "times": _product, "divide": _quotient,
    "complex": lambda b, c: Pair(*[b.expand(c.tensor(b, p, REAL[c.dtype]), c.sizes) for p in (0, 1)]),
    "real": lambda b, c: b.copied(c.operands[0].real), "imag": lambda b, c: b.copied(c.operands[0].imag),
    "conj": lambda b, c: Pair(c.operands[0].real, b.same("Neg", c.operands[0].imag)),
    "abs": _absolute, "angle": lambda b, c: angle_of(b, c.operands[0].imag, c.operands[0].real),
    "as_real": lambda b, c: b.stack([c.operands[0].real, c.operands[0].imag], len(c.sizes) - 1), "as_complex": _as_complex,
    "square": lambda b, c: _times(b, c.operands[0], c.operands[0]),
    "cast": lambda b, c: Pair(*[b.cast(getattr(_pair(b, c, 0), side), REAL[c.dtype]) for side in ("real", "imag")]),
    "fft_c2c": _complex_to_complex, "fft_r2c": _real_to_complex, "fft_c2r": _complex_to_real,
}  # fmt: skip


@translates("real", "conj")
def same_number(b: Builder, c: Call) -> Made:
    """Of real numbers; complex ones come to `translate_complex`."""
    return b.copied(c.operands[0])


@translates("imag")
def nothing(b: Builder, c: Call) -> Made:
    return b.expand(b.scalar(0, c.dtype), c.sizes)


@translates("angle")
def angle_of_real(b: Builder, c: Call) -> Made:
    x = b.cast(c.operands[0], c.dtype)
    turned = b.where(b.with_number("Less", x, 0, "bool"), b.scalar(np.pi, x.dtype), b.scalar(0, x.dtype))
    return b.where(b.is_nan(x), x, turned)


@translates("as_complex", "as_real", "complex", "fft_c2c", "fft_c2r", "fft_r2c")
def always_complex(b: Builder, c: Call) -> Any:
    return translate_complex(b, c)
