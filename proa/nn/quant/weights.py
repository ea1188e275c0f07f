"""Linear layers whose weight is kept in 8 or 4 bits.

The weight is kept as rows of outputs, [out, in] in int8 (two 4-bit numbers in a byte: [out / 2, in]); Paddle's GPU kernels
shuffle it further for their tensor cores, so that files of quantised weights are not exchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...ops.arguments import require_tensor
from ...ops.basic import cast_to, reshape_to
from ...ops.linear.linalg import matmul

_ALGORITHMS = ("weight_only_int8", "weight_only_int4", "llm.int8")
_FLOAT32 = np.dtype("float32")


def _check(where: str, algo: str, group_size: int) -> int:
    if algo not in _ALGORITHMS:
        raise value_error(where, f"algo must be one of {', '.join(_ALGORITHMS)}", f"algo: {algo!r}")
    if group_size not in (-1, 64, 128):
        raise value_error(where, "group_size must be -1, 64 or 128", f"group_size: {group_size}")
    return 4 if algo.endswith("int4") else 8


def weight_quantize(
    x: Tensor, algo: str = "weight_only_int8", arch: int | None = None, group_size: int = -1
) -> tuple[Tensor, Tensor]:
    """A weight [in, out] as whole numbers, and the scale of each output (and of each group of inputs)."""
    where = "weight_quantize"
    bits = _check(where, algo, group_size)
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim != 2:
        raise value_error(where, "x must have two dimensions", f"x: {aval}")
    inputs, outputs = aval.shape
    if (group_size > 0 and inputs % group_size) or (bits == 4 and outputs % 2):
        raise value_error(
            where, "the weight does not divide into groups or pairs", f"x: {aval}, group_size: {group_size}"
        )
    rows: Any = cast_to(x.transpose([1, 0]), _FLOAT32)  # type: ignore[attr-defined]
    largest = 2 ** (bits - 1) - 1
    width = inputs if group_size < 0 else group_size
    groups = reshape_to(rows, (outputs, inputs // max(width, 1), width))
    scale = groups.abs().max(-1) * (1.0 / largest)  # type: ignore[attr-defined]
    safe = scale.clip(min=1e-30).unsqueeze(-1)
    whole = reshape_to((groups / safe).round().clip(-float(largest), float(largest)), (outputs, inputs))  # type: ignore
    numbers: Any = cast_to(whole, np.dtype("int8"))
    if bits == 4:
        numbers = (numbers[0::2].bitwise_and(_byte(15, numbers))).bitwise_or(
            numbers[1::2].bitwise_left_shift(_byte(4, numbers))
        )
    return numbers, (scale.squeeze(1) if group_size < 0 else scale.transpose([1, 0]))


def _byte(value: int, like: Tensor) -> Tensor:
    from ...eager.tensor import tensor_from_data

    return tensor_from_data(np.array([value], "int8"), place=like._aval.place)


def _unpacked(x: Any, bits: int) -> Any:
    """Rows of whole numbers, as floats."""
    if bits == 8:
        return cast_to(x, _FLOAT32)
    from ...ops.shape.joining import stack_along

    four = _byte(4, x)
    low = x.bitwise_left_shift(four).bitwise_right_shift(four)  # the sign goes along
    high = x.bitwise_right_shift(four)
    pairs = stack_along([low, high], 1)
    return cast_to(reshape_to(pairs, (x._aval.shape[0] * 2, x._aval.shape[1])), _FLOAT32)


def weight_dequantize(
    x: Tensor, scale: Tensor, algo: str = "weight_only_int8", out_dtype: Any = "float16", group_size: int = -1
) -> Tensor:
    """The weight [in, out] that `weight_quantize` was given, up to rounding."""
    bits = _check("weight_dequantize", algo, group_size)
    numbers = _unpacked(require_tensor("weight_dequantize", "x", x), bits)
    outputs, inputs = numbers._aval.shape
    factors: Any = cast_to(scale, _FLOAT32)
    if group_size < 0:
        rows: Any = numbers * factors.unsqueeze(-1)
    else:
        groups = reshape_to(numbers, (outputs, inputs // group_size, group_size))
        rows = reshape_to(groups * factors.transpose([1, 0]).unsqueeze(-1), (outputs, inputs))  # type: ignore[operator]
    return cast_to(rows.transpose([1, 0]), to_numpy_dtype(out_dtype))


def weight_only_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
    group_size: int = -1,
) -> Tensor:
    """x @ weight + bias, for a weight from `weight_quantize`."""
    where = "weight_only_linear"
    if weight_dtype not in ("int8", "int4"):
        raise value_error(where, "weight_dtype must be 'int8' or 'int4'", f"weight_dtype: {weight_dtype!r}")
    if weight_scale is None:
        raise value_error(where, "weight_scale is needed")
    table = weight_dequantize(weight, weight_scale, f"weight_only_{weight_dtype}", x.dtype, group_size)
    out: Any = matmul(x, table, False, False)
    return out if bias is None else out + bias


def llm_int8_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, weight_scale: Tensor | None = None, threshold: float = 6.0
) -> Tensor:
    """x @ weight + bias, for an 8-bit weight.

    Inputs are not rounded here, so that those beyond `threshold` need no way of their own.
    """
    return weight_only_linear(x, weight, bias, weight_scale, "int8")
