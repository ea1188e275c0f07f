"""Convolutions and pooling. A window that reaches over the end of the data finds what lies behind it: the surplus is made
what an image is padded with, 0 or -inf. Where results end follows from their shapes."""

from __future__ import annotations

import math
from typing import Any

from ...program import Instruction
from ..analysis import Analysis, refuse, rule
from ..axes import Axes, Refused, broadcast, padded, padded_axes, size_of
from ..filling import divided_by_count, mean_within
from ..window_counts import divided_by_windows
from .reductions import MINUS


def _attribute(instruction: Instruction, name: str) -> Any:
    return instruction.attributes[instruction.operation.attribute_names.index(name)]


def _spatial(x: Axes, channels_last: bool) -> list[int]:
    return list(range(1, len(x) - 1)) if channels_last else list(range(2, len(x)))


def _checked(analysis: Analysis, instruction: Instruction, x: Axes) -> Axes:
    """The axes of an image: its channels must not be padded, nor a spatial axis be several in one. How much is padded behind
    may depend on the size (a last window that is not full), but not what is padded in front."""
    channels_last = _attribute(instruction, "channels_last")
    if analysis.moves(tuple(before for before, _ in _attribute(instruction, "padding"))):
        raise Refused("the padding in front depends on the size", *filter(padded, x))
    channels = len(x) - 1 if channels_last else 1
    if padded(x[channels]):
        raise Refused("the channels are padded", x[channels])
    for axis in _spatial(x, channels_last):
        if padded(x[axis]) and len(x[axis]) > 1:
            raise Refused("a spatial axis is several in one", x[axis])
    return x


def _result(analysis: Analysis, x: Axes, shape: Any, channels_last: bool) -> Axes:
    """The axes of a result of a shape: its batch is that of `x`, the rest ends where the shape says."""
    spatial = _spatial(x, channels_last)
    for axis in spatial:
        if not padded(x[axis]) and analysis.moves(shape[axis]):
            raise Refused("its shape depends on another padded size", x[axis])
    return [x[0], *(_fresh(analysis, size, x, number) for number, size in enumerate(shape) if number)]


def _fresh(analysis: Analysis, size: int, x: Axes, number: int) -> Any:
    """An axis of a result; a size that the capture could not express is taken from the operand's where that is padded."""
    size = analysis.normal(size)
    if padded(x[number]) and not analysis.moves(size):
        raise Refused("how long the result is for other sizes is not known", x[number])
    return analysis.axis(size)


def _no_padded_weight(*operands: Any) -> None:
    for axes in operands:
        if axes is not None and padded_axes(axes):
            raise Refused("the weights are padded", *filter(padded, axes))


def _fill_spatial(analysis: Analysis, instruction: Instruction, operand: int, axes: Axes, last: bool, value: float) -> None:
    for axis in _spatial(axes, last):
        analysis.fill(instruction, operand, axis, axes[axis], value)


@rule("conv", shapes="padding")
def _conv(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, weight, bias = operands
    last = _attribute(instruction, "channels_last")
    _no_padded_weight(weight, bias)
    _fill_spatial(analysis, instruction, 0, _checked(analysis, instruction, x), last, 0)
    return [_result(analysis, x, instruction.outputs[0].shape, last)]


@rule("conv_grad_input", shapes="shape padding")
def _conv_grad_input(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    y, weight = operands
    last = _attribute(instruction, "channels_last")
    _no_padded_weight(weight)
    _fill_spatial(analysis, instruction, 0, _checked(analysis, instruction, y), last, 0)
    return [_result(analysis, y, instruction.outputs[0].shape, last)]


@rule("conv_transpose", shapes="padding")
def _conv_transpose(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return _conv_grad_input(analysis, instruction, operands)


@rule("conv_grad_weight", shapes="shape padding")
def _conv_grad_weight(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """It adds up over the batch and over all positions."""
    last = _attribute(instruction, "channels_last")
    for operand, axes in enumerate(operands):
        analysis.fill_all(instruction, operand, _checked(analysis, instruction, axes), 0)
    return [[analysis.axis(size) for size in instruction.outputs[0].shape]]


@rule("fused_conv quantised_conv")
def _fused_conv(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Of inference, where batches may be padded."""
    x, names = operands[0], instruction.operation.operand_names
    residual = operands[names.index("residual")]
    others = [axes for axes in operands[1:] if axes is not None and axes is not residual]
    _no_padded_weight(x[1:], *others)
    shape = instruction.outputs[0].shape
    found: Axes = [x[0], *((size,) for size in shape[1:])]
    return [found if residual is None else broadcast([found, residual])]


# ---- pooling -----------------------------------------------------------------------------------------------------------


@rule("max_pool", shapes="padding")
def _max_pool(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = _attribute(instruction, "channels_last")
    x = _checked(analysis, instruction, operands[0])
    _fill_spatial(analysis, instruction, 0, x, last, MINUS)
    return [_result(analysis, x, instruction.outputs[0].shape, last)]


@rule("max_pool_grad", shapes="padding")
def _max_pool_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = _attribute(instruction, "channels_last")
    x, y = (_checked(analysis, instruction, axes) for axes in operands)
    _fill_spatial(analysis, instruction, 0, x, last, MINUS)
    _fill_spatial(analysis, instruction, 1, y, last, 0)
    return [x]


@rule("max_pool_select", shapes="padding")
def _max_pool_select(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = _attribute(instruction, "channels_last")
    x, y = (_checked(analysis, instruction, axes) for axes in operands)
    _fill_spatial(analysis, instruction, 0, x, last, MINUS)
    _fill_spatial(analysis, instruction, 1, y, last, 0)
    return [_result(analysis, x, instruction.outputs[0].shape, last)]


def _counts(analysis: Analysis, instruction: Instruction, x: Axes) -> bool:
    """Whether the number of elements in a window depends on where the data ends: where it may reach over the end."""
    spatial, pairs = _spatial(x, _attribute(instruction, "channels_last")), _attribute(instruction, "padding")
    return isinstance(_attribute(instruction, "divisor"), str) and any(
        padded(x[axis]) and (analysis.moves(pair) or any(pair)) for axis, pair in zip(spatial, pairs, strict=True)
    )


def _by_windows(writer: Any, instruction: Instruction, value: int, x: Axes) -> int:
    """A value in the shape of the pooled image, divided by the number of elements that each window counts."""
    kernel, stride, padding, divisor, last = instruction.attributes[-5:]
    spatial = _spatial(x, last)
    extents = [writer.extent(x[axis][0] if padded(x[axis]) else size_of(x[axis])) for axis in spatial]
    windows = tuple(zip(spatial, kernel, stride, (before for before, _ in padding), strict=True))
    return writer.add(divided_by_windows, [value, *extents], (windows, divisor == "exclusive"))


@rule("avg_pool", shapes="padding")
def _avg_pool(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = _attribute(instruction, "channels_last")
    x = _checked(analysis, instruction, operands[0])
    _fill_spatial(analysis, instruction, 0, x, last, 0)
    if _counts(analysis, instruction, x):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            *window, _, channels_last = instruction.attributes
            total = writer.add(instruction.operation, operands, (*window, 1.0, channels_last))
            writer.give(instruction, _by_windows(writer, instruction, total, x))

        analysis.rewrite(instruction, rewrite)
    return [_result(analysis, x, instruction.outputs[0].shape, last)]


@rule("avg_pool_grad", shapes="shape padding")
def _avg_pool_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = _attribute(instruction, "channels_last")
    y = _checked(analysis, instruction, operands[0])
    _fill_spatial(analysis, instruction, 0, y, last, 0)
    whole = _result(analysis, y, instruction.outputs[0].shape, last)
    if _counts(analysis, instruction, whole):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            *window, _, channels_last = instruction.attributes
            shares = _by_windows(writer, instruction, operands[0], whole)
            # Windows that have no data at all were divided by 0.
            writer.keep(instruction, [writer.filled(shares, y, 0)], (*window, 1.0, channels_last))

        analysis.rewrite(instruction, rewrite)
    return [whole]


@rule("adaptive_average")
def _adaptive_average(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """One mean of everything is a mean of the data; more of them begin at places that depend on the size."""
    x, (extents, axes) = operands[0], instruction.attributes
    longer = [axis for axis in axes if padded(x[axis])]
    if longer and any(count != 1 for axis, count in zip(axes, extents, strict=True) if axis in longer):
        raise Refused("where its windows begin depends on the size", *(x[axis] for axis in longer))
    result = list(x)
    for axis, count in zip(axes, extents, strict=True):
        result[axis] = (count,)
    for axis in longer:
        analysis.fill(instruction, 0, axis, x[axis], 0)
    if longer:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            counts = [extent for axis in longer for extent in writer.extents_of(x[axis])]
            others = math.prod(writer.others(x[axis]) for axis in longer)
            made = writer.add(mean_within, [operands[0], *counts], (tuple(longer), True, others))
            if len(longer) < len(axes):
                made = writer.add(instruction.operation, [made], instruction.attributes)
            writer.give(instruction, made)

        analysis.rewrite(instruction, rewrite)
    return [result]


@rule("adaptive_average_grad", shapes="extents")
def _adaptive_average_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """The transpose: it divides by the padded size, so what is divided is first multiplied by padded over real."""
    y, (extents, axes) = operands[0], instruction.attributes
    result = list(y)
    longer: list[tuple[int, int]] = []
    for axis, extent in zip(axes, extents, strict=True):
        result[axis] = analysis.axis(extent)
        if padded(result[axis]) or padded(y[axis]):
            if padded(y[axis]) or size_of(y[axis]) != 1:
                raise Refused("where its windows begin depends on the size", result[axis])
            longer.append((axis, extent))
    if longer:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            counts = [writer.extent(result[axis][0]) for axis, _ in longer]
            shares = writer.add(divided_by_count, [operands[0], *counts], (1,))
            spread = writer.keep(instruction, [shares])
            extents = [extent for number, extent in enumerate(instruction.attributes[0]) if padded(result[axes[number]])]
            writer.give(instruction, writer.add(divided_by_count, [spread], (1.0 / math.prod(extents),)))

        analysis.rewrite(instruction, rewrite)
    return [result]


# ---- others ------------------------------------------------------------------------------------------------------------


@rule("window_max")
def _window_max(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x: Axes = operands[0]
    if any(map(padded, x[2:])):
        raise Refused("where its windows begin depends on the size", *filter(padded, x[2:]))
    return [[*x[:2], *((size,) for size in aval.shape[2:])] for aval in instruction.outputs]


@rule("pick_last scatter_last")
def _last(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, index = operands
    if padded(x[-1]) or padded(index[-1]):
        raise Refused("positions in several axes together depend on how long they are", x[-1], index[-1])
    return [[*broadcast([x[:-1], index[:-1]]), (instruction.outputs[0].shape[-1],)]]


@rule("unfold")
def _unfold(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Windows are one axis, rows of them one after the other."""
    x: Axes = operands[0]
    if padded(x[1]) or any(padded(axis) and len(axis) > 1 for axis in x[2:]):
        raise Refused("the channels are padded, or a spatial axis is several in one", *filter(padded, x[1:]))
    counts: list[Any] = []
    for number, (axis, width, stride, (before, after), spread) in enumerate(
        zip(x[2:], *instruction.attributes, strict=True), 2
    ):
        analysis.fill(instruction, 0, number, axis, 0)
        counts += analysis.axis((size_of(axis) + before + after - spread * (width - 1) - 1) // stride + 1)
    return [[x[0], (instruction.outputs[0].shape[1],), tuple(counts)]]


@rule("fold", shapes="extents")
def _fold(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x: Axes = operands[0]
    if padded(x[1]):
        raise Refused("the channels are padded", x[1])
    analysis.fill(instruction, 0, 2, x[2], 0)
    return [[x[0], *(analysis.axis(size) for size in instruction.outputs[0].shape[1:])]]


@rule("resample")
def _resample(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Rows of the batch are by themselves."""
    x: Axes = operands[0]
    if any(map(padded, x[1:])):
        raise Refused("it interpolates between places that depend on the size", *x[1:])
    return [[x[0], *((size,) for size in instruction.outputs[0].shape[1:])]]


refuse("frame overlap_add", "windows over a signal are not laid out as it is")
