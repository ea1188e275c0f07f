"""Products of floats in 8 bits, as GPUs since Ada and Hopper multiply them: twice the rate of 16 bits.

Each operand is divided by a scale of its own, so that its largest number becomes the largest of the format, and rounded;
the product is added up in float32 and multiplied by both scales. The scale is that of the tensor as it is ("current
scaling"): no history is kept, so that a step depends on nothing but its numbers, and a training that goes on gives the same
bits. What forward passes see is rounded to e4m3 (3 bits of fraction), gradients to e5m2 (2 bits, and a wider range).

An infinity or NaN in an operand makes the result NaN, as a look at the loss will show.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import is_floating
from ...eager.declare import op
from ...eager.tensor import Tensor
from ...ir.padding import rules

FORWARD, BACKWARD = "e4m3", "e5m2"
_FORMATS = {FORWARD: np.dtype(ml_dtypes.float8_e4m3fn), BACKWARD: np.dtype(ml_dtypes.float8_e5m2)}
_LARGEST = {name: np.float32(ml_dtypes.finfo(kind).max) for name, kind in _FORMATS.items()}
_LEAST = np.finfo(np.float32).tiny  # of a scale: tensors of zeros have one, too
_FLOAT32 = np.dtype("float32")


def _rounded(xp: Any, x: Any, kind: str) -> tuple[Any, Any]:
    """Numbers in 8 bits, and the scale that they are multiplied by."""
    wide = x.astype(_FLOAT32)
    largest = xp.max(xp.abs(wide)) if x.size else np.float32(0)
    scale = xp.maximum(largest / _LARGEST[kind], _LEAST)
    # The largest number may come out a hair above the format's: that is brought back, and NaN stays NaN.
    inside = xp.clip(wide / scale, -_LARGEST[kind], _LARGEST[kind])
    return inside.astype(_FORMATS[kind]), scale


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, y = operands
    transpose_x, transpose_y, *kinds = attributes
    if any(kind not in _FORMATS for kind in kinds):
        raise operation.error(ValueError, f"the formats are {' and '.join(_FORMATS)}, not {kinds}", operands)
    if not is_floating(x.dtype) or not is_floating(y.dtype) or x.dtype != y.dtype:
        raise operation.error(TypeError, "x and y must be floating, of one type", operands, fix="convert with astype()")
    if x.ndim != 2 or y.ndim != 2 or x.shape[0 if transpose_x else 1] != y.shape[1 if transpose_y else 0]:
        raise operation.error(ValueError, "x and y must be matrices that fit each other", operands)
    shape = (x.shape[1 if transpose_x else 0], y.shape[0 if transpose_y else 1])
    return make_aval(shape, x.dtype, place)


def _grad_x(g: Any, y: Any, transpose_x: bool, transpose_y: bool, y_kind: str) -> Any:
    if transpose_x:
        return float8_product(y, g, transpose_y, True, y_kind, BACKWARD)
    return float8_product(g, y, False, not transpose_y, BACKWARD, y_kind)


def _grad_y(g: Any, x: Any, transpose_x: bool, transpose_y: bool, x_kind: str) -> Any:
    if transpose_y:
        return float8_product(g, x, True, transpose_x, BACKWARD, x_kind)
    return float8_product(x, g, not transpose_x, False, x_kind, BACKWARD)


@op(
    "x y",
    infer=_infer,
    grad={"x": _grad_x, "y": _grad_y},
    contracts=True,
    family="product",
    flops=lambda call: 2 * call.outputs[0].size * call.kinds[0].shape[0 if call.attributes[0] else 1],
    padding=rules.refused("its scales are those of whole tensors"),
)
def float8_product(
    xp: Any, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, x_kind: str = FORWARD,
    y_kind: str = FORWARD,
) -> Any:  # fmt: skip
    """The product of two matrices, each rounded to 8 bits with a scale; added up in float32, in the operands' type.

    Its gradient is that of a product, its own factors in 8 bits as well.
    """
    (x8, x_scale), (y8, y_scale) = _rounded(xp, x, x_kind), _rounded(xp, y, y_kind)
    wide = [operand.astype(_FLOAT32) for operand in (x8, y8)]
    left, right = (o.T if turned else o for o, turned in zip(wide, (transpose_x, transpose_y), strict=True))
    return (xp.matmul(left, right) * (x_scale * y_scale)).astype(x.dtype)


def _on_gpu(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool, x_kind: str, y_kind: str) -> Any:
    """The product of the bytes themselves, which XLA gives to cuBLAS."""
    from jax import lax

    (x8, x_scale), (y8, y_scale) = _rounded(xp, x, x_kind), _rounded(xp, y, y_kind)
    inner = (((0 if transpose_x else 1,), (1 if transpose_y else 0,)), ((), ()))
    product = lax.dot_general(x8, y8, inner, preferred_element_type=_FLOAT32)
    return (product * (x_scale * y_scale)).astype(x.dtype)


float8_product.operation.kernels["gpu"] = _on_gpu


def float8_linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """`x @ weight + bias` with the product in 8 bits; `x` `[..., in_features]`, `weight` `[in_features, out_features]`."""
    shape = x._aval.shape
    rows = x.reshape([-1, shape[-1]]) if len(shape) != 2 else x
    found: Any = float8_product(rows, weight, False, False, FORWARD, FORWARD)
    if len(shape) != 2:
        found = found.reshape([*shape[:-1], weight._aval.shape[1]])
    return found if bias is None else found + bias
