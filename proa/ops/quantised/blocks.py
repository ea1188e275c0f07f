"""Products with weights that are kept in blocks of 8 or 4 bits, as the files of large models have them.

The inputs of a weight are divided into groups. Each output has a scale for each group, and either a minimum (a weight is
`number * scale + minimum`) or all of them have a zero point (`(number - zero) * scale`). Sixteen outputs lie side by side, a
*panel*, so that a processor multiplies them at once:

    numbers  uint8 [panels, groups, words, 16, 4]    words of four bytes; of 4 bits, a byte holds a number of the group's first
                                                     half below and one of its second half above
    scales   float16 or float32 [panels, groups, 16] and minima likewise, if there are any

x is rounded to int8 with a scale for each group of a row. That is part of what the operation means, whatever computes it: a
program gives the same numbers with native code and without. Rows do not know of each other, so a row's result is the same
alone and among many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import is_floating
from ...eager.declare import op
from ...kernels.cpu.blocks import native_block_product
from ...kernels.cpu.direct import on_host
from ..linear.linalg import matmul

PANEL = 16  # outputs side by side
_STEPS = (np.dtype("float16"), np.dtype("float32"))


def _check(operation: Any, operands: Any, numbers: Aval, steps: list[Aval], outputs: int, bits: int, zero: int) -> None:
    """Whether the parts of a packed weight fit each other."""
    fix = "use what packed() or quantised_blocks() returned"
    if numbers.dtype != np.uint8 or any(s.dtype not in _STEPS for s in steps):
        raise operation.error(
            TypeError, "the numbers must be uint8, scales and minima float16 or float32", operands, fix=fix
        )
    fits = numbers.ndim == 5 and numbers.shape[3:] == (PANEL, 4) and numbers.shape[2] > 0 and bits in (4, 8)
    if not fits or any(s.shape != (*numbers.shape[:2], PANEL) for s in steps) or not 0 <= zero < 256:
        raise operation.error(ValueError, "the parts of the weight do not fit each other", operands, fix=fix)
    if -(-outputs // PANEL) != numbers.shape[0]:
        raise operation.error(ValueError, f"a weight of {numbers.shape[0]} panels has no {outputs} outputs", operands)


def _length(numbers: Any, bits: int) -> int:
    """How many inputs a packed weight has, those that only fill up its last group among them."""
    return numbers.shape[1] * numbers.shape[2] * 32 // bits


def _values(numbers: Any, scales: Any, minima: Any, bits: int, zero: int, xp: Any) -> Any:
    """float32 [..., inputs] of numbers [..., groups, words, 4], scales and minima [..., groups]."""
    if bits == 4:
        numbers = xp.concatenate([numbers & np.uint8(15), numbers >> np.uint8(4)], axis=-2)
    *lead, groups, words, _ = numbers.shape
    spread = numbers.reshape(*lead, groups, words * 4).astype(np.float32)
    steps = scales[..., None].astype(np.float32)
    wide = (spread - np.float32(zero)) * steps
    if minima is not None:
        wide = wide + minima[..., None].astype(np.float32)
    return wide.reshape(*lead, groups * words * 4)


def rows_of(xp: Any, numbers: Any, scales: Any, minima: Any, bits: int, zero: int) -> Any:
    """The weight as float32 rows [16 * panels, inputs]."""
    steps = [None if s is None else s.transpose(0, 2, 1) for s in (scales, minima)]
    wide = _values(numbers.transpose(0, 3, 1, 2, 4), *steps, bits, zero, xp)
    return wide.reshape(-1, wide.shape[-1])


def rounded(xp: Any, x: Any, groups: int) -> Any:
    """x [rows, inputs] on the grids of int8 that the product rounds it to, one for each group."""
    spread = x.reshape(x.shape[0], groups, -1)
    reach = xp.max(xp.abs(spread), axis=-1, keepdims=True)
    usable = (reach > np.float32(127 / np.finfo(np.float32).max)) & (reach < np.float32(np.inf))
    inverse = xp.where(usable, np.float32(127) / xp.where(usable, reach, np.float32(1)), np.float32(0))
    numbers = xp.where(usable, xp.rint(spread * inverse), np.float32(0))
    return (numbers * (reach / np.float32(127))).reshape(x.shape)


def _infer_rows(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    numbers, scales, minima = operands
    inputs, outputs, bits, zero = attributes
    _check(operation, operands, numbers, [s for s in (scales, minima) if s is not None], outputs, bits, zero)
    if inputs > _length(numbers, bits):
        raise operation.error(ValueError, f"the weight has no {inputs} inputs", operands)
    return make_aval((outputs, inputs), np.dtype("float32"), place)


@op("numbers scales", optional="minima", infer=_infer_rows)
def block_rows(
    xp: Any, numbers: Any, scales: Any, minima: Any = None, inputs: int = 0, outputs: int = 0, bits: int = 8,
    zero: int = 0,
) -> Any:  # fmt: skip
    """A weight in blocks as float32 rows [outputs, inputs]."""
    return rows_of(xp, numbers, scales, minima, bits, zero)[:outputs, :inputs]


def _infer_product(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, numbers, scales, minima, bias = operands
    outputs, bits, zero = attributes
    _check(operation, operands, numbers, [s for s in (scales, minima) if s is not None], outputs, bits, zero)
    if not is_floating(x.dtype):
        raise operation.error(TypeError, "x must be floating", operands, fix="convert with astype()")
    length = _length(numbers, bits)
    group = length // max(numbers.shape[1], 1)
    if x.ndim < 1 or not length - group < x.shape[-1] <= length or (bias is not None and bias.shape != (outputs,)):
        raise operation.error(ValueError, f"x or the bias does not fit a weight of {length} inputs", operands)
    return make_aval((*x.shape[:-1], outputs), x.dtype, place)


def _grad_x(g: Any, x: Any, numbers: Any, scales: Any, minima: Any, outputs: int, bits: int, zero: int) -> Any:
    """As if x had not been rounded: what an adapter behind the layer learns from."""
    rows = block_rows(numbers, scales, minima, x.shape[-1], outputs, bits, zero)
    return matmul(g, rows.astype(g.dtype), False, False)


@op(
    "x numbers scales",
    optional="minima bias",
    infer=_infer_product,
    grad={"x": _grad_x, "bias": lambda g: g},
    contracts=True,
)
def block_product(
    xp: Any, x: Any, numbers: Any, scales: Any, minima: Any = None, bias: Any = None, outputs: int = 0, bits: int = 8,
    zero: int = 0,
) -> Any:  # fmt: skip
    """x, rounded to int8 group by group, times the transposed weight, plus the bias; added up in float32."""
    return _plain_product(xp, x, numbers, scales, minima, bias, outputs, bits, zero)


def _plain_product(
    xp: Any, x: Any, numbers: Any, scales: Any, minima: Any, bias: Any, outputs: int, bits: int, zero: int
) -> Any:
    rows = x.reshape(-1, x.shape[-1]).astype(np.float32)
    weight = rows_of(xp, numbers, scales, minima, bits, zero)
    wide = xp.pad(rows, ((0, 0), (0, weight.shape[1] - rows.shape[1])))
    result = xp.matmul(rounded(xp, wide, numbers.shape[1]), weight.T)[:, :outputs]
    if bias is not None:
        result = result + bias.astype(np.float32)
    return result.reshape(*x.shape[:-1], outputs).astype(x.dtype, copy=False)


block_product.operation.kernels["cpu"] = native_block_product(_plain_product)  # type: ignore[attr-defined]
block_product.operation.kernels["numpy"] = on_host(native_block_product, _plain_product)  # type: ignore[attr-defined]


def _infer_taken(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    ids, numbers, scales, minima = operands
    inputs, outputs, bits, zero = attributes
    _infer_rows(operation, (numbers, scales, minima), attributes, place)
    if ids.dtype.kind not in "iu":
        raise operation.error(TypeError, "the ids must be integers", operands)
    return make_aval((*ids.shape, inputs), np.dtype("float32"), place)


@op("ids numbers scales", optional="minima", infer=_infer_taken)
def block_embedding(
    xp: Any, ids: Any, numbers: Any, scales: Any, minima: Any = None, inputs: int = 0, outputs: int = 0, bits: int = 8,
    zero: int = 0,
) -> Any:  # fmt: skip
    """The rows of a weight in blocks that the ids name, in float32; ids outside are brought to the nearest row."""
    flat = xp.clip(ids.reshape(-1), 0, outputs - 1)
    panel, lane = flat // PANEL, flat % PANEL
    steps = [None if s is None else s[panel, :, lane] for s in (scales, minima)]
    wide = _values(numbers[panel, :, :, lane], *steps, bits, zero, xp)
    return wide[:, :inputs].reshape(*ids.shape, inputs)
