"""Linear layers whose weight is kept in 8 or 4 bits.

The weight is kept as rows of outputs, [out, in] in int8 (two 4-bit numbers in a byte: [out / 2, in]); Paddle's GPU kernels
shuffle it further for their tensor cores, so that files of quantised weights are not exchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...eager.annotations import DTypeLike
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.recorder import LOCAL
from ...ops.arguments import require_tensor
from ...ops.basic import cast_to, reshape_to
from ...ops.create.creation import zeros_like
from ...ops.math.ternary import where as where_true
from ...ops.quantised.few_bits import product_of_chosen, weight_only_product, weight_rows
from ...ops.quantised.layers import packed_bytes, quantise_dynamic, quantised_linear

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
    """A weight [in, out] as whole numbers, and the scale of each output (and of each group of inputs).

    Args:
        x: the weight, with two axes.
        algo: 'weight_only_int8', 'weight_only_int4' or 'llm.int8'.
        arch: accepted for compatibility.
        group_size: how many inputs share a scale: 64 or 128; -1 for all of them.

    Returns:
        The numbers as int8, [out, in] (for 4 bits two in a byte, [out / 2, in]), and the scales.

    Raises:
        ValueError: an option is unknown, or the weight does not divide into groups or pairs.

    Examples:
        >>> numbers, scales = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, 127.0], [-0.5, 0.0]]))
        >>> numbers.tolist(), scales.numpy().round(5).tolist()[1]
        ([[127, -64], [127, 0]], 1.0)
    """
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
    rows: Any = cast_to(x.transpose([1, 0]), _FLOAT32)
    largest = 2 ** (bits - 1) - 1
    width = inputs if group_size < 0 else group_size
    groups = reshape_to(rows, (outputs, inputs // max(width, 1), width))
    scale = groups.abs().max(-1) * (1.0 / largest)
    safe = scale.clip(min=1e-30).unsqueeze(-1)
    whole = reshape_to((groups / safe).round().clip(-float(largest), float(largest)), (outputs, inputs))  # type: ignore
    numbers: Any = cast_to(whole, np.dtype("int8"))
    if bits == 4:
        numbers = (numbers[0::2].bitwise_and(_byte(15, numbers))).bitwise_or(
            numbers[1::2].bitwise_left_shift(_byte(4, numbers))
        )
    return numbers, (scale.squeeze(1) if group_size < 0 else scale.transpose([1, 0]))


def _byte(value: int, like: Tensor) -> Tensor:
    return tensor_from_data(np.array([value], "int8"), place=like._aval.place)


def weight_dequantize(
    x: Tensor, scale: Tensor, algo: str = "weight_only_int8", out_dtype: DTypeLike = "float16", group_size: int = -1
) -> Tensor:
    """The weight [in, out] that `weight_quantize` was given, up to rounding.

    Args:
        x: the numbers.
        scale: the scales.
        algo: as `weight_quantize` was given.
        out_dtype: the data type of the result.
        group_size: as `weight_quantize` was given.

    Raises:
        ValueError: the scales do not fit.

    Examples:
        >>> weight = paddle.to_tensor([[1.0, 127.0], [-0.5, 0.0]])
        >>> numbers, scales = paddle.nn.quant.weight_quantize(weight)
        >>> print(paddle.nn.quant.weight_dequantize(numbers, scales, out_dtype="float32").numpy().round(2))
        [[  1.  127. ]
         [ -0.5   0. ]]
    """
    where = "weight_dequantize"
    bits = _check(where, algo, group_size)
    _check_groups(where, x, scale, group_size)
    rows: Any = weight_rows(require_tensor(where, "x", x), scale, bits)
    return cast_to(rows.transpose([1, 0]), to_numpy_dtype(out_dtype))


def _check_groups(where: str, weight: Tensor, scale: Tensor, group_size: int) -> None:
    """The scales must be those of this group size: their number alone would not show a wrong one."""
    inputs = require_tensor(where, "x", weight)._aval.shape[-1:]
    groups = require_tensor(where, "scale", scale)._aval.shape[:-1]
    wanted = () if group_size < 0 or not inputs else (inputs[0] // group_size,)
    if groups != wanted:
        raise value_error(
            where, f"the scales are not those of group_size={group_size}", f"scale: {scale._aval}",
            "pass the group_size that weight_quantize() was given",
        )  # fmt: skip


def weight_only_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
    group_size: int = -1,
) -> Tensor:
    """`x @ weight + bias`, for a weight from `weight_quantize`; it is made floats again while it is multiplied.

    Args:
        x: the input, whose last axis has `in` elements.
        weight: the numbers.
        bias: what is added.
        weight_scale: the scales; they are needed.
        weight_dtype: 'int8' or 'int4'.
        arch: accepted for compatibility.
        group_size: as `weight_quantize` was given.

    Raises:
        ValueError: the scales are missing or do not fit, or an option is unknown.

    Examples:
        >>> numbers, scales = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, 127.0], [-0.5, 0.0]]))
        >>> out = paddle.nn.quant.weight_only_linear(paddle.ones([1, 2]), numbers, weight_scale=scales)
        >>> print(out.numpy().round(2))
        [[  0.5 127. ]]
    """
    where = "weight_only_linear"
    if weight_dtype not in ("int8", "int4"):
        raise value_error(where, "weight_dtype must be 'int8' or 'int4'", f"weight_dtype: {weight_dtype!r}")
    if weight_scale is None:
        raise value_error(where, "weight_scale is needed")
    bits = _check(where, f"weight_only_{weight_dtype}", group_size)
    _check_groups(where, weight, weight_scale, group_size)
    return weight_only_product(require_tensor(where, "x", x), weight, weight_scale, bias, bits)


def llm_int8_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, weight_scale: Tensor | None = None, threshold: float = 6.0
) -> Tensor:
    """`x @ weight + bias` in whole numbers, for an 8-bit weight.

    Rows of x are rounded to bytes, each on a grid of its own. Inputs that reach `threshold` anywhere would spoil the grid
    of all others: they are multiplied as floats. Where a gradient is wanted, so is everything.

    Args:
        x: the input, whose last axis has `in` elements.
        weight: the numbers from `weight_quantize`.
        bias: what is added.
        weight_scale: the scales; they are needed.
        threshold: the size from which inputs are multiplied as floats.

    Raises:
        ValueError: the scales are missing, or the shapes do not fit.

    Examples:
        >>> numbers, scales = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, 127.0], [-0.5, 0.0]]), "llm.int8")
        >>> print(paddle.nn.quant.llm_int8_linear(paddle.ones([1, 2]), numbers, weight_scale=scales).numpy().round(1))
        [[  0.5 127. ]]
    """
    where = "llm_int8_linear"
    if weight_scale is None:
        raise value_error(where, "weight_scale is needed")
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim < 1 or require_tensor(where, "weight", weight)._aval.ndim != 2 or aval.shape[-1] != weight.shape[1]:
        raise value_error(where, "x does not fit the weight", f"x: {aval}, weight: {weight._aval}")
    trained = LOCAL.grad_enabled and not all(t is None or t.stop_gradient for t in (x, bias))
    if trained or not aval.size:
        return weight_only_linear(x, weight, bias, weight_scale, "int8")
    _check_groups(where, weight, weight_scale, -1)
    wide: Any = cast_to(x, _FLOAT32)
    axes = list(range(aval.ndim - 1))
    reached = (wide.abs().max(axes) if axes else wide.abs()) >= threshold
    ordinary = where_true(reached, zeros_like(wide), wide)
    numbers, steps, zeros = quantise_dynamic(ordinary, True, True)
    result: Any = quantised_linear(
        numbers, packed_bytes(weight, 1), steps, zeros, cast_to(weight_scale, _FLOAT32),
        None if bias is None else cast_to(bias, _FLOAT32), columns=weight.shape[0],
    )  # fmt: skip
    odd = product_of_chosen(wide, reached, weight, weight_scale)
    return cast_to(result + odd, aval.dtype)
