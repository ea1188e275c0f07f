"""The product of floats with a weight that is kept in 8 or 4 bits, as `paddle.nn.quant` has it.

The weight is int8 rows of outputs [outputs, inputs]; of 4 bits, rows [outputs / 2, inputs] hold two outputs each, the first
in the low half. Scales are [outputs], or [groups, outputs] where the inputs are divided into groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import is_floating
from ...eager.declare import op
from ...ir.padding import rules
from ...kernels.cpu.low_precision.quantised import native_weight_only_product
from ..linear.linalg import matmul

_FLOAT32 = np.dtype("float32")


def rows_of(xp: Any, weight: Any, scales: Any, bits: int) -> Any:
    """The weight as float32 rows [outputs, inputs]."""
    numbers = weight
    if bits == 4:
        four = np.int8(4)
        pairs = xp.stack([(weight << four) >> four, weight >> four], axis=1)
        numbers = pairs.reshape(weight.shape[0] * 2, weight.shape[1])
    outputs, inputs = numbers.shape
    groups = scales.reshape(-1, outputs)
    spread = numbers.astype(np.float32).reshape(outputs, groups.shape[0], inputs // groups.shape[0])
    return (spread * groups.astype(np.float32).T[:, :, None]).reshape(outputs, inputs)


def _outputs(weight: Aval, bits: int) -> int:
    return weight.shape[0] * (2 if bits == 4 else 1)


def _check(operation: Any, operands: Any, weight: Aval, scales: Aval, bits: int) -> None:
    if weight.dtype != np.int8 or weight.ndim != 2 or not is_floating(scales.dtype):
        raise operation.error(TypeError, "the weight must be int8 with two axes, its scales floating", operands)
    groups = scales.shape[0] if scales.ndim == 2 else 1
    fits = scales.ndim in (1, 2) and scales.shape[-1] == _outputs(weight, bits) and groups > 0
    if not fits or weight.shape[1] % groups:
        raise operation.error(
            ValueError, "the scales do not fit the weight", operands, fix="use what weight_quantize() returned"
        )


def _infer_rows(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    weight, scales = operands
    _check(operation, operands, weight, scales, attributes[0])
    return make_aval((_outputs(weight, attributes[0]), weight.shape[1]), _FLOAT32, place)


@op("weight scales", infer=_infer_rows, padding=rules.refused("it lays a whole matrix out anew"))
def weight_rows(xp: Any, weight: Any, scales: Any, bits: int = 8) -> Any:
    """A weight in few bits as float32 rows of outputs."""
    return rows_of(xp, weight, scales, bits)


def _infer_product(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, weight, scales, bias = operands
    _check(operation, operands, weight, scales, attributes[0])
    outputs = _outputs(weight, attributes[0])
    if not is_floating(x.dtype):
        raise operation.error(TypeError, "x must be floating", operands, fix="convert with astype()")
    if x.ndim < 1 or x.shape[-1] != weight.shape[1] or (bias is not None and bias.shape != (outputs,)):
        raise operation.error(ValueError, "x or the bias does not fit the weight", operands)
    return make_aval((*x.shape[:-1], outputs), x.dtype, place)


@op(
    "x weight scales",
    optional="bias",
    infer=_infer_product,
    grad={
        "x": lambda g, weight, scales, bits: matmul(g, weight_rows(weight, scales, bits), False, False),
        "bias": lambda g: g,
    },
    padding=rules.products.packed,
)
def weight_only_product(xp: Any, x: Any, weight: Any, scales: Any, bias: Any = None, bits: int = 8) -> Any:
    """x times the transposed weight, plus the bias; added up in float32."""
    return _plain_product(xp, x, weight, scales, bias, bits)


def _plain_product(xp: Any, x: Any, weight: Any, scales: Any, bias: Any, bits: int) -> Any:
    wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
    result = xp.matmul(wide, rows_of(xp, weight, scales, bits).T.astype(wide.dtype))
    return (result if bias is None else result + bias.astype(wide.dtype)).astype(x.dtype, copy=False)


def _infer_chosen(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, chosen, weight, scales = operands
    if chosen.dtype != np.bool_ or chosen.shape != x.shape[-1:]:
        raise operation.error(ValueError, "chosen must be a truth value for each input", operands)
    return _infer_product(operation, (x, weight, scales, None), (8,), place)


@op("x chosen weight scales", infer=_infer_chosen, padding=rules.refused("it lays a whole matrix out anew"))
def product_of_chosen(xp: Any, x: Any, chosen: Any, weight: Any, scales: Any) -> Any:
    """The part of the product with an 8-bit weight that comes from the chosen inputs; without any, no work at all."""
    return _chosen_product(_plain_product, xp, x, chosen, weight, scales)


def _chosen_product(product: Any, xp: Any, x: Any, chosen: Any, weight: Any, scales: Any) -> Any:
    def multiply() -> Any:
        return product(xp, xp.where(chosen, x, xp.zeros((), x.dtype)), weight, scales, None, 8)

    def nothing() -> Any:
        return xp.zeros((*x.shape[:-1], weight.shape[0]), x.dtype)

    if xp is np:
        return multiply() if chosen.any() else nothing()
    from jax import lax

    return lax.cond(chosen.any(), multiply, nothing)


def _native_chosen(xp: Any, x: Any, chosen: Any, weight: Any, scales: Any) -> Any:
    kernel = weight_only_product.operation.kernels["cpu"]
    return _chosen_product(kernel, xp, x, chosen, weight, scales)


weight_only_product.operation.kernels["cpu"] = native_weight_only_product(_plain_product)
product_of_chosen.operation.kernels["cpu"] = _native_chosen
