"""Products of vectors and matrices."""

from __future__ import annotations

from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates
from .quantised import whole_bias


def _turned(b: Builder, x: Made, wanted: bool) -> Made:
    return b.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]) if wanted and x.ndim > 1 else x


@translates("matmul")
def matmul(b: Builder, c: Call) -> Made:
    x, y = (_turned(b, c.operands[side], bool(c.attributes[side])) for side in (0, 1))
    if c.attributes[0] and y.ndim == 1:  # as a matrix: ONNX Runtime multiplies a transpose with a vector wrongly
        return b.reshape(b.matmul(x, b.reshape(y, (*y.sizes, 1)), (*c.sizes, 1)), c.sizes)
    empty = any(not is_unknown(size) and size == 0 for size in (*x.sizes, *y.sizes))
    return b.expand(b.scalar(0, c.dtype), c.sizes) if empty else b.matmul(x, y, c.sizes)


@translates("linear")
def linear(b: Builder, c: Call) -> Made:
    x, weight, bias = c.operands
    bias = whole_bias(b, x, weight, bias) if x.ndim == 2 else bias
    if bias is not None and x.ndim == 2 and weight.ndim == 2 and bias.ndim == 1:
        return b.emit("Gemm", [x, weight, bias], c.types[0])
    product = b.matmul(x, weight, c.sizes)
    return product if bias is None else b.binary("Add", product, bias)


@translates("cross")
def cross(b: Builder, c: Call) -> Made:
    x, y = (b.expand(c.tensor(b, position, c.dtype), c.sizes) for position in (0, 1))
    axis = int(c.attributes[0]) % x.ndim
    first, second = b.split(x, [1, 1, 1], axis), b.split(y, [1, 1, 1], axis)

    def part(i: int, j: int) -> Made:
        return b.binary("Sub", b.binary("Mul", first[i], second[j]), b.binary("Mul", first[j], second[i]))

    return b.emit("Concat", [part(1, 2), part(2, 0), part(0, 1)], c.types[0], axis=axis)


@translates("det")
def det(b: Builder, c: Call) -> Made:
    return b.emit("Det", [c.operands[0]], c.types[0])


@translates("slogdet")
def slogdet(b: Builder, c: Call) -> list[Made]:
    value = b.emit("Det", [c.operands[0]], c.types[0])
    return [b.same("Sign", value), b.same("Log", b.same("Abs", value))]
