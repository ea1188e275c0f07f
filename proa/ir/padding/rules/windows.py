"""Convolutions and windows. A window that reaches over the end of the data finds what lies behind it: the surplus is made
what an image is padded with, which is 0. Where results end follows from their shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Refused, broadcast, padded, padded_axes, reshaped, size_of


def attribute(instruction: Instruction, name: str) -> Any:
    return instruction.attributes[instruction.operation.attribute_names.index(name)]


def spatial_axes(x: Axes, channels_last: bool) -> list[int]:
    return list(range(1, len(x) - 1)) if channels_last else list(range(2, len(x)))


def checked_image(analysis: Analysis, instruction: Instruction, x: Axes) -> Axes:
    """The axes of an image: its channels must not be padded, nor a spatial axis be several in one. How much is padded behind
    may depend on the size (a last window that is not full), but not what is padded in front."""
    channels_last = attribute(instruction, "channels_last")
    if analysis.moves(tuple(before for before, _ in attribute(instruction, "padding"))):
        raise Refused("the padding in front depends on the size", *filter(padded, x))
    channels = len(x) - 1 if channels_last else 1
    if padded(x[channels]):
        raise Refused("the channels are padded", x[channels])
    for axis in spatial_axes(x, channels_last):
        if padded(x[axis]) and len(x[axis]) > 1:
            raise Refused("a spatial axis is several in one", x[axis])
    return x


def image_axes(analysis: Analysis, x: Axes, shape: Any, channels_last: bool) -> Axes:
    """The axes of a result of a shape: its batch is that of `x`, the rest ends where the shape says."""
    spatial = spatial_axes(x, channels_last)
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


def fill_spatial(
    analysis: Analysis, instruction: Instruction, operand: int, axes: Axes, last: bool, value: float
) -> None:
    for axis in spatial_axes(axes, last):
        analysis.fill(instruction, operand, axis, axes[axis], value)


@rule(shapes="padding")
def conv(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, weight, bias = operands
    last = attribute(instruction, "channels_last")
    _no_padded_weight(weight, bias)
    fill_spatial(analysis, instruction, 0, checked_image(analysis, instruction, x), last, 0)
    return [image_axes(analysis, x, instruction.outputs[0].shape, last)]


@rule(shapes="shape padding")
def conv_grad_input(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    y, weight = operands
    last = attribute(instruction, "channels_last")
    _no_padded_weight(weight)
    fill_spatial(analysis, instruction, 0, checked_image(analysis, instruction, y), last, 0)
    return [image_axes(analysis, y, instruction.outputs[0].shape, last)]


@rule(shapes="padding")
def conv_transpose(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return conv_grad_input.find(analysis, instruction, operands)


@rule(shapes="shape padding")
def conv_grad_weight(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """It adds up over the batch and over all positions."""
    for operand, axes in enumerate(operands):
        analysis.fill_all(instruction, operand, checked_image(analysis, instruction, axes), 0)
    return [[analysis.axis(size) for size in instruction.outputs[0].shape]]


@rule()
def fused_conv(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Of inference, where batches may be padded."""
    x, names = operands[0], instruction.operation.operand_names
    residual = operands[names.index("residual")]
    others = [axes for axes in operands[1:] if axes is not None and axes is not residual]
    _no_padded_weight(x[1:], *others)
    shape = instruction.outputs[0].shape
    found: Axes = [x[0], *((size,) for size in shape[1:])]
    return [found if residual is None else broadcast([found, residual])]


@rule()
def unfold(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Windows are one axis, rows of them one after the other."""
    x: Axes = operands[0]
    if padded(x[1]) or any(padded(axis) and len(axis) > 1 for axis in x[2:]):
        raise Refused("the channels are padded, or a spatial axis is several in one", *filter(padded, x[1:]))
    for number, axis in enumerate(x[2:], 2):
        analysis.fill(instruction, 0, number, axis, 0)
    counts = _window_counts(map(size_of, x[2:]), instruction.attributes)
    return [[x[0], (instruction.outputs[0].shape[1],), tuple(f for count in counts for f in analysis.axis(count))]]


def _window_counts(extents: Iterable[int], windows: Any) -> list[int]:
    """How many windows there are along each spatial axis."""
    return [
        (extent + before + after - rate * (width - 1) - 1) // stride + 1
        for extent, width, stride, (before, after), rate in zip(extents, *windows, strict=True)
    ]


@rule(shapes="extents")
def fold(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x: Axes = operands[0]
    if padded(x[1]):
        raise Refused("the channels are padded", x[1])
    extents, *windows = instruction.attributes
    reshaped([x[2]], analysis.normal(tuple(_window_counts(extents, windows))))  # rows of windows lie as they do in `x`
    analysis.fill(instruction, 0, 2, x[2], 0)
    return [[x[0], *(analysis.axis(size) for size in instruction.outputs[0].shape[1:])]]


@rule()
def resample(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Rows of the batch are by themselves."""
    x: Axes = operands[0]
    if any(map(padded, x[1:])):
        raise Refused("it interpolates between places that depend on the size", *x[1:])
    return [[x[0], *((size,) for size in instruction.outputs[0].shape[1:])]]
