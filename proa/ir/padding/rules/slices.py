"""Basic indexing. A slice that begins at a number that is known keeps the surplus at the end; where the beginning depends
on a padded size, it is computed from the real one."""

from __future__ import annotations

from typing import Any

from ....core.symbols import expression_of, maximum, same_size, same_sizes
from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Axis, Refused, broadcast, is_one, padded, size_of
from ..moving import place_from, slice_from, written_from

_POSITION = "position"


def _entries(analysis: Analysis, spec: Any, axes: Axes) -> list[tuple[Any, Axis | None]]:
    """Each entry of a spec with the axis that it is about (None for a new one); positions that are data are one number,
    whose digits depend on the sizes of their axes."""
    given = [entry for entry in spec if entry is not None]
    dynamic = [k for k, entry in enumerate(given) if entry == _POSITION or len(entry) == 1]
    for k in dynamic:
        if given[k] == _POSITION and padded(axes[k]) and len(axes[k]) > 1:
            raise Refused("a position in several axes in one", axes[k])
    for k in dynamic[1:]:
        radix = analysis.normal(size_of(axes[k])) - (0 if given[k] == _POSITION else analysis.normal(given[k][0]))
        if analysis.moves(radix):
            raise Refused("several positions are one number, which depends on the sizes", axes[k])
    found: list[tuple[Any, Axis | None]] = []
    number = 0
    for entry in spec:
        if entry is None:
            found.append((None, None))
        else:
            found.append((entry, axes[number]))
            number += 1
    return found + [((0, size_of(axis), 1), axis) for axis in axes[number:]]


def _is_whole(analysis: Analysis, entry: Any, axis: Axis) -> bool:
    return len(entry) == 3 and same_sizes(analysis.normal(entry), (0, size_of(axis), 1))


def _taken(analysis: Analysis, entry: Any, axis: Axis) -> Axis:
    """The axis of what a slice takes."""
    if _is_whole(analysis, entry, axis):
        return axis
    if padded(axis) and len(axis) > 1:
        raise Refused("a part of several axes in one is taken", axis)
    length = entry[0] if len(entry) == 1 else entry[1]
    if len(entry) == 1 and analysis.moves(length):
        analysis.axis(analysis.normal(size_of(axis)) - analysis.normal(length))  # what is left out must grow, too
    return analysis.axis(length)


def _moving(analysis: Analysis, entries: list[tuple[Any, Axis | None]]) -> list[int]:
    """The axes whose slices begin at a padded size, or take so many elements of an axis that is not padded."""
    found: list[int] = []
    number = 0
    for entry, axis in entries:
        if axis is None:
            continue
        if entry != _POSITION and len(entry) == 3 and not _is_whole(analysis, entry, axis):
            start, length, step = map(analysis.moves, entry)
            if step:
                raise Refused("the step of a slice depends on a padded size", axis)
            if start or (length and not padded(axis)):
                found.append(number)
        number += 1
    return found


def _without(spec: Any, sizes: dict[int, int]) -> tuple[Any, ...]:
    """A spec that takes some axes, of these lengths, whole."""
    result: list[Any] = []
    number = 0
    for entry in spec:
        if entry is not None:
            entry = (0, sizes[number], 1) if number in sizes else entry
            number += 1
        result.append(entry)
    return tuple(result)


@rule(shapes="spec")
def getitem(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    spec = instruction.attributes[0]
    entries = _entries(analysis, spec, operands[0])
    moving = _moving(analysis, entries)
    result: Axes = []
    for entry, axis in entries:
        if axis is None:
            result.append((1,))
        elif entry != _POSITION:
            result.append(_taken(analysis, entry, axis))
    if moving:
        wanted = analysis.normal(tuple(entry for entry, axis in entries if axis is not None))

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            x: Any = operands[0]
            lengths: dict[int, int] = {}
            given = [entry for entry in instruction.attributes[0] if entry is not None]
            for number in moving:
                start = writer.extent(expression_of(wanted[number][0]))
                _, lengths[number], step = given[number]
                x = writer.add(slice_from, [x, start], (number, lengths[number], step))
            writer.keep(instruction, [x, *operands[1:]], (_without(instruction.attributes[0], lengths),))

        analysis.rewrite(instruction, rewrite)
    return [result]


def _parts(entries: list[tuple[Any, Axis | None]]) -> list[int | None]:
    """For each axis of the whole, which axis of the part belongs to it."""
    found: list[int | None] = []
    number = 0
    for entry, axis in entries:
        if axis is not None:
            found.append(None if entry == _POSITION else number)
        number += entry is None or entry != _POSITION
    return found


@rule(shapes="spec shape")
def getitem_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Zeros with a part: the surplus of the part must not be among them."""
    part: Axes = operands[0]
    spec, shape = instruction.attributes
    whole: Axes = [analysis.axis(size) for size in shape]
    entries = _entries(analysis, spec, whole)
    of_part = _parts(entries)
    kept = [entry for entry in entries if entry[1] is not None]
    for number, (entry, axis) in enumerate(kept):
        index = of_part[number]
        if index is None or axis is None:
            continue
        if same_sizes(analysis.normal(entry) if len(entry) == 3 else (), (0, size_of(part[index]), 1)) and same_sizes(
            (size_of(part[index]),), (size_of(axis),)
        ):
            whole[number] = part[index]  # taken whole: laid out as the part is
        elif padded(part[index]) and len(part[index]) > 1:
            raise Refused("a part of several axes in one was taken", part[index])
        else:
            analysis.fill(instruction, 0, index, part[index], 0)
    moving = _moving(analysis, _entries(analysis, spec, whole))
    if moving:
        if any(entry is None or entry == _POSITION for entry in spec):
            raise Refused("a slice that begins at a padded size, beside new or removed axes", *filter(padded, part))
        wanted = analysis.normal(tuple(spec))

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            x: Any = operands[0]
            lengths: dict[int, int] = {}
            resolved, shape = instruction.attributes
            for number in moving:
                start, size = (writer.extent(expression_of(wanted[number][k])) for k in (0, 1))
                lengths[number] = shape[number]
                x = writer.add(place_from, [x, start, size], (number, shape[number], resolved[number][2]))
            writer.keep(instruction, [x, *operands[1:]], (_without(resolved, lengths), shape))

        analysis.rewrite(instruction, rewrite)
    return [whole]


@rule(shapes="spec")
def setitem(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """A write that begins at a number that is known and ends where the data does has its surplus behind it. Of others the
    part is taken, written, and put back where it was, without its surplus."""
    x, value = operands[0], operands[1]
    entries = _entries(analysis, instruction.attributes[0], x)
    target: Axes = []
    apart: list[int] = []
    number = -1
    for entry, axis in entries:
        if axis is None:
            target.append((1,))
            continue
        number += 1
        if entry == _POSITION:
            continue
        taken = _taken(analysis, entry, axis)
        target.append(taken)
        if len(entry) == 1:
            if padded(taken):
                raise Refused("a part whose place is data is overwritten, and its length depends on the size", axis)
        elif not _is_whole(analysis, entry, axis):
            start, length, step = analysis.normal(entry)
            if analysis.moves(step):
                raise Refused("the step of a slice depends on a padded size", axis)
            rest = maximum(size_of(axis) - start, 0)
            ends = step == 1 and (same_size(length, rest) or same_size(start + length, size_of(axis)))
            if analysis.moves(start) or (padded(taken) and not ends):
                apart.append(number)
    broadcast([[axis if not is_one(axis) else (1,) for axis in value], target])
    if apart:
        wanted = analysis.normal(tuple(entry for entry, axis in entries if axis is not None))

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            given = [entry for entry in instruction.attributes[0] if entry is not None]
            part, steps = operands[0], []
            for number in apart:
                start, size = (writer.extent(expression_of(wanted[number][k])) for k in (0, 1))
                _, length, step = given[number]
                steps.append((part, start, size, number, step))
                part = writer.add(slice_from, [part, start], (number, length, step))
            lengths = {number: given[number][1] for number in apart}
            made = writer.keep(instruction, [part, *operands[1:]], (_without(instruction.attributes[0], lengths),))
            for whole, start, size, number, step in reversed(steps):
                made = writer.add(written_from, [whole, made, start, size], (number, step))
            writer.give(instruction, made)

        analysis.rewrite(instruction, rewrite)
    return [x]
