"""Pooling. Windows that reach over the end of the data find -inf or 0 there, and means count the data only."""

from __future__ import annotations

import math
from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Refused, broadcast, padded, size_of
from ..filling import divided_by_count, mean_within
from ..window_counts import divided_by_windows
from .reductions import MINUS
from .windows import attribute, checked_image, fill_spatial, image_axes, spatial_axes


@rule(shapes="padding")
def max_pool(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = attribute(instruction, "channels_last")
    x = checked_image(analysis, instruction, operands[0])
    fill_spatial(analysis, instruction, 0, x, last, MINUS)
    return [image_axes(analysis, x, instruction.outputs[0].shape, last)]


@rule(shapes="padding")
def max_pool_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = attribute(instruction, "channels_last")
    x, y = (checked_image(analysis, instruction, axes) for axes in operands)
    fill_spatial(analysis, instruction, 0, x, last, MINUS)
    fill_spatial(analysis, instruction, 1, y, last, 0)
    return [x]


@rule(shapes="padding")
def max_pool_select(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = attribute(instruction, "channels_last")
    x, y = (checked_image(analysis, instruction, axes) for axes in operands)
    fill_spatial(analysis, instruction, 0, x, last, MINUS)
    fill_spatial(analysis, instruction, 1, y, last, 0)
    return [image_axes(analysis, x, instruction.outputs[0].shape, last)]


def _counts(analysis: Analysis, instruction: Instruction, x: Axes) -> bool:
    """Whether the number of elements in a window depends on where the data ends: where it may reach over the end."""
    spatial, pairs = spatial_axes(x, attribute(instruction, "channels_last")), attribute(instruction, "padding")
    return isinstance(attribute(instruction, "divisor"), str) and any(
        padded(x[axis]) and (analysis.moves(pair) or any(pair)) for axis, pair in zip(spatial, pairs, strict=True)
    )


def _by_windows(writer: Any, instruction: Instruction, value: int, x: Axes) -> int:
    """A value in the shape of the pooled image, divided by the number of elements that each window counts."""
    kernel, stride, padding, divisor, last = instruction.attributes[-5:]
    spatial = spatial_axes(x, last)
    extents = [writer.extent(x[axis][0] if padded(x[axis]) else size_of(x[axis])) for axis in spatial]
    windows = tuple(zip(spatial, kernel, stride, (before for before, _ in padding), strict=True))
    return writer.add(divided_by_windows, [value, *extents], (windows, divisor == "exclusive"))


@rule(shapes="padding")
def avg_pool(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = attribute(instruction, "channels_last")
    x = checked_image(analysis, instruction, operands[0])
    fill_spatial(analysis, instruction, 0, x, last, 0)
    if _counts(analysis, instruction, x):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            *window, _, channels_last = instruction.attributes
            total = writer.add(instruction.operation, operands, (*window, 1.0, channels_last))
            writer.give(instruction, _by_windows(writer, instruction, total, x))

        analysis.rewrite(instruction, rewrite)
    return [image_axes(analysis, x, instruction.outputs[0].shape, last)]


@rule(shapes="shape padding")
def avg_pool_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    last = attribute(instruction, "channels_last")
    y = checked_image(analysis, instruction, operands[0])
    fill_spatial(analysis, instruction, 0, y, last, 0)
    whole = image_axes(analysis, y, instruction.outputs[0].shape, last)
    if _counts(analysis, instruction, whole):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            *window, _, channels_last = instruction.attributes
            shares = _by_windows(writer, instruction, operands[0], whole)
            # Windows that have no data at all were divided by 0.
            writer.keep(instruction, [writer.filled(shares, y, 0)], (*window, 1.0, channels_last))

        analysis.rewrite(instruction, rewrite)
    return [whole]


@rule()
def adaptive_average(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
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


@rule(shapes="extents")
def adaptive_average_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
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
            extents = [
                extent for number, extent in enumerate(instruction.attributes[0]) if padded(result[axes[number]])
            ]
            writer.give(instruction, writer.add(divided_by_count, [spread], (1.0 / math.prod(extents),)))

        analysis.rewrite(instruction, rewrite)
    return [result]


@rule()
def window_max(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x: Axes = operands[0]
    if any(map(padded, x[2:])):
        raise Refused("where its windows begin depends on the size", *filter(padded, x[2:]))
    return [[*x[:2], *((size,) for size in aval.shape[2:])] for aval in instruction.outputs]


@rule()
def last(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, index = operands
    if padded(x[-1]) or padded(index[-1]):
        raise Refused("positions in several axes together depend on how long they are", x[-1], index[-1])
    return [[*broadcast([x[:-1], index[:-1]]), (instruction.outputs[0].shape[-1],)]]
