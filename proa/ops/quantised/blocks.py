"""Products with weights that are kept in blocks of 8 or 4 bits, as the files of large models have them.

The inputs of a weight are divided into groups. Each output has a scale for each group, and either a minimum (a weight is
`number * scale + minimum`) or all have one zero point (`(number - zero) * scale`). Sixteen outputs lie side by side, a
*panel*, so that a processor multiplies them at once. A weight is one array of bytes, [panels, groups, bytes]; the bytes of a
group are

    numbers [words, 16, 4]    unsigned; of 4 bits, a byte holds one of the group's first half below, one of its second above
    scales  [16]              float16 (`half`) or float32
    minima  [16]              likewise, where there are any

x is rounded to int8 with a scale for each group of a row. That is part of what the operation means, whatever computes it: a
program gives the same numbers with native code and without. Rows do not know of each other, so a row's result is the same
alone and among many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import is_floating
from ...core.namespaces import can_write
from ...eager.declare import op
from ...ir.padding import rules
from ...kernels.cpu.direct import on_host
from ...kernels.cpu.low_precision.blocks import native_block_product
from ...kernels.gpu.blocks import few_rows
from ..linear.linalg import matmul

PANEL = 16  # outputs side by side
MOST_INPUTS = 4096  # of a group: the sums of its products fit into 32 bits
_FLOAT32 = np.dtype("float32")


def _sizes(num_bytes: int, bits: int, half: bool, has_minima: bool) -> tuple[int, int]:
    """Of a group of a panel: bytes of its numbers, and inputs (0 where the bytes do not fit)."""
    numbers = num_bytes - PANEL * (2 if half else 4) * (2 if has_minima else 1)
    fits = numbers > 0 and numbers % (4 * PANEL) == 0 and bits in (4, 8)
    return numbers, numbers * 8 // (bits * PANEL) if fits else 0


def _measured(
    operation: Any, operands: Any, blocks: Aval, outputs: int, bits: int, zero: int, half: bool, has_minima: bool
) -> tuple[int, int]:
    """The groups of a weight and the inputs of each, checked."""
    if blocks.dtype != np.uint8:
        raise operation.error(TypeError, "the blocks must be uint8", operands, fix="use what packed() returned")
    group = _sizes(blocks.shape[2], bits, half, has_minima)[1] if blocks.ndim == 3 else 0
    if not 0 < group <= MOST_INPUTS or not 0 <= zero < 256 or (has_minima and zero):
        raise operation.error(
            ValueError, f"the blocks do not fit what is said of them ({bits} bits, zero {zero})", operands,
            fix="use what packed() or rounded_to() returned",
        )  # fmt: skip
    if -(-outputs // PANEL) != blocks.shape[0]:
        raise operation.error(ValueError, f"a weight of {blocks.shape[0]} panels has no {outputs} outputs", operands)
    return blocks.shape[1], group


# ---- as floats -----------------------------------------------------------------------------------


def _floats(xp: Any, parts: Any, half: bool) -> Any:
    """Bytes [..., 2 or 4] as the floats whose memory they are, in float32."""
    kind = np.dtype("<f2" if half else "<f4")
    if can_write(xp):
        return xp.ascontiguousarray(parts).view(kind)[..., 0].astype(np.float32)
    from jax import lax

    return lax.bitcast_convert_type(parts, kind).astype(np.float32)


def _values(xp: Any, numbers: Any, steps: Any, bits: int, zero: int, half: bool, has_minima: bool) -> Any:
    """float32 [..., groups, inputs] of numbers [..., words, 4] and the bytes of steps [..., scale and minimum, 2 or 4]."""
    if bits == 4:
        numbers = xp.concatenate([numbers & np.uint8(15), numbers >> np.uint8(4)], axis=-2)
    wide = numbers.reshape(*numbers.shape[:-2], -1).astype(np.float32) - np.float32(zero)
    floats = _floats(xp, steps, half)
    wide = wide * floats[..., :1]
    return wide + floats[..., 1:] if has_minima else wide


def rows_of(xp: Any, blocks: Any, bits: int, zero: int, half: bool, has_minima: bool) -> Any:
    """The weight as float32 rows [16 * panels, inputs]."""
    panels, groups, num_bytes = blocks.shape
    split = _sizes(num_bytes, bits, half, has_minima)[0]
    numbers = blocks[:, :, :split].reshape(panels, groups, -1, PANEL, 4).transpose(0, 3, 1, 2, 4)
    steps = blocks[:, :, split:].reshape(panels, groups, -1, PANEL, 2 if half else 4).transpose(0, 3, 1, 2, 4)
    wide = _values(xp, numbers, steps, bits, zero, half, has_minima)
    return wide.reshape(panels * PANEL, -1)


def _infer_rows(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    inputs, outputs, *form = attributes
    groups, group = _measured(operation, operands, operands[0], outputs, *form)
    if not 0 <= inputs <= groups * group:
        raise operation.error(ValueError, f"the weight has no {inputs} inputs", operands)
    return make_aval((outputs, inputs), _FLOAT32, place)


@op("blocks", infer=_infer_rows, padding=rules.refused("it lays a whole matrix out anew"))
def block_rows(
    xp: Any, blocks: Any, inputs: int = 0, outputs: int = 0, bits: int = 8, zero: int = 0, half: bool = True,
    has_minima: bool = False,
) -> Any:  # fmt: skip
    """A weight in blocks as float32 rows [outputs, inputs]."""
    return rows_of(xp, blocks, bits, zero, half, has_minima)[:outputs, :inputs]


def _infer_embedding(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    ids, blocks = operands
    _infer_rows(operation, (blocks,), attributes, place)
    if ids.dtype.kind not in "iu":
        raise operation.error(TypeError, "the ids must be integers", operands)
    return make_aval((*ids.shape, attributes[0]), _FLOAT32, place)


@op("ids blocks", infer=_infer_embedding, padding=rules.products.taken)
def block_embedding(
    xp: Any, ids: Any, blocks: Any, inputs: int = 0, outputs: int = 0, bits: int = 8, zero: int = 0, half: bool = True,
    has_minima: bool = False,
) -> Any:  # fmt: skip
    """The rows of a weight in blocks that the ids name, in float32; an id outside names the nearest row."""
    flat = xp.clip(ids.reshape(-1), 0, outputs - 1)
    split = _sizes(blocks.shape[2], bits, half, has_minima)[0]
    panels, lane = blocks[flat // PANEL], flat % PANEL
    rows = xp.arange(flat.shape[0])
    numbers = panels[:, :, :split].reshape(*panels.shape[:2], -1, PANEL, 4)[rows, :, :, lane]
    steps = panels[:, :, split:].reshape(*panels.shape[:2], -1, PANEL, 2 if half else 4)[rows, :, :, lane]
    wide = _values(xp, numbers, steps, bits, zero, half, has_minima)
    return wide.reshape(flat.shape[0], -1)[:, :inputs].reshape(*ids.shape, inputs)


# ---- the product ---------------------------------------------------------------------------------


def levels(xp: Any, x: Any, groups: int) -> tuple[Any, Any]:
    """What the product rounds x [rows, inputs] to: whole numbers [rows, groups, inputs] of int8, and a step for each group
    [rows, groups, 1]. All are float32."""
    spread = x.reshape(x.shape[0], groups, x.shape[1] // groups)
    reach = xp.max(xp.abs(spread), axis=-1, keepdims=True)
    usable = (reach > np.float32(127 / np.finfo(np.float32).max)) & (reach < np.float32(np.inf))
    inverse = xp.where(usable, np.float32(127) / xp.where(usable, reach, np.float32(1)), np.float32(0))
    numbers = xp.where(usable, xp.rint(spread * inverse), np.float32(0))
    return numbers, reach / np.float32(127)


def rounded(xp: Any, x: Any, groups: int) -> Any:
    """x [rows, inputs] on the grids of int8 that the product rounds it to, one for each group."""
    numbers, steps = levels(xp, x, groups)
    return (numbers * steps).reshape(x.shape)


def _infer_product(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, blocks, bias = operands
    groups, group = _measured(operation, operands, blocks, *attributes)
    if not is_floating(x.dtype):
        raise operation.error(TypeError, "x must be floating", operands, fix="convert with astype()")
    length, outputs = groups * group, attributes[0]
    if x.ndim < 1 or not length - group < x.shape[-1] <= length or (bias is not None and bias.shape != (outputs,)):
        raise operation.error(ValueError, f"x or the bias does not fit a weight of {length} inputs", operands)
    return make_aval((*x.shape[:-1], outputs), x.dtype, place)


def _grad_x(g: Any, x: Any, blocks: Any, outputs: int, bits: int, zero: int, half: bool, has_minima: bool) -> Any:
    """As if x had not been rounded: what an adapter before the layer learns from."""
    rows = block_rows(blocks, x.shape[-1], outputs, bits, zero, half, has_minima)
    return matmul(g, rows.astype(g.dtype), False, False)


@op(
    "x blocks",
    optional="bias",
    infer=_infer_product,
    grad={"x": _grad_x, "bias": lambda g: g},
    contracts=True,
    padding=rules.products.packed,
)
def block_product(
    xp: Any, x: Any, blocks: Any, bias: Any = None, outputs: int = 0, bits: int = 8, zero: int = 0, half: bool = True,
    has_minima: bool = False,
) -> Any:  # fmt: skip
    """x, rounded to int8 group by group, times the transposed weight, plus the bias; added up in float32."""
    return _plain_product(xp, x, blocks, bias, outputs, bits, zero, half, has_minima)


def _plain_product(
    xp: Any, x: Any, blocks: Any, bias: Any, outputs: int, bits: int, zero: int, half: bool, has_minima: bool
) -> Any:
    rows = x.reshape(-1, x.shape[-1]).astype(np.float32)
    weight = rows_of(xp, blocks, bits, zero, half, has_minima)
    wide = xp.pad(rows, ((0, 0), (0, weight.shape[1] - rows.shape[1])))
    result = xp.matmul(rounded(xp, wide, blocks.shape[1]), weight.T)[:, :outputs]
    if bias is not None:
        result = result + bias.astype(np.float32)
    return result.reshape(*x.shape[:-1], outputs).astype(x.dtype, copy=False)


block_product.operation.kernels["cpu"] = native_block_product(_plain_product)
block_product.operation.kernels["numpy"] = on_host(native_block_product, _plain_product)
block_product.operation.kernels["gpu"] = few_rows(_plain_product, levels, rows_of)
