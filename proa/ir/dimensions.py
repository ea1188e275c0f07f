"""Dimensions of unknown size in a captured program.

Shape rules and user code compute with sizes as plain integers, so an unknown size is given a number that no real model
has: a multiple of 3360 and of a prime that belongs to the axis. Everything that is computed from it during the capture
(`x.shape[0] * 4`, the width after a strided convolution) can be told apart by its value. When real sizes arrive, the
program is made anew for them: each instruction's shapes are inferred again, and a number in its attributes that was
computed from an unknown size is looked up among the dimensions seen so far, or found as a simple function of one of them.

A number that depends on an unknown size in another way (a float such as 1 / size, an array made from it) cannot be
found; `differences` compares two captures made with different numbers and names such places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from .program import Instruction, Program

# Divisible by what strides, heads and groups usually are, so that exact divisions stay exact.
_UNIT = 3360
_PRIMES = (307, 311, 313, 317, 331, 337, 347, 349, 353)
_OTHER_PRIMES = (401, 409, 419, 421, 431, 433, 439, 443, 449)
SMALLEST = 50_000  # no number below this is taken for one that depends on an unknown size
_LARGEST_FACTOR = 4096
_LARGEST_OFFSET = 4096
_MOST_ELEMENTS = 64  # of a constant that may hold sizes


class UnknownSize(ValueError):
    """A number that depends on an unknown dimension in a way that is not understood."""


def placeholder_size(axis: int, other: bool = False) -> int:
    """The number that stands for an unknown dimension at this axis."""
    primes = _OTHER_PRIMES if other else _PRIMES
    return _UNIT * primes[min(axis, len(primes) - 1)]


def placeholder_shape(shape: Sequence[int | None], other: bool = False) -> tuple[int, ...]:
    """A shape with unknown dimensions (None or negative) replaced by their numbers."""
    return tuple(
        placeholder_size(axis, other) if size is None or size < 0 else int(size) for axis, size in enumerate(shape)
    )


def shown_shape(shape: Iterable[int]) -> list[int]:
    """A captured shape as users see it: -1 for what depends on an unknown dimension."""
    return [-1 if size >= SMALLEST else size for size in shape]


class Sizes:
    """What each number of the capture is, now that the sizes of the inputs are known."""

    def __init__(self, captured: Iterable[Aval], actual: Iterable[Aval]) -> None:
        self.known: dict[int, int] = {}
        for before, now in zip(captured, actual, strict=True):
            self.learn(before, now)

    def learn(self, before: Aval, now: Aval) -> None:
        for size, real in zip(before.shape, now.shape, strict=True):
            if size >= SMALLEST:
                self.known.setdefault(size, real)

    def resolve(self, number: int) -> int:
        """The real value of a number from the capture."""
        if -SMALLEST < number < SMALLEST:
            return number
        if number < 0:
            return -self.resolve(-number)
        found = self.known.get(number)
        if found is None:
            found = self._derive(number)
            if found is None:
                raise UnknownSize(
                    f"the number {number} was computed from an unknown dimension in a way that is not understood; "
                    "give that dimension a fixed size in the InputSpec"
                )
            self.known[number] = found
        return found

    def _derive(self, number: int) -> int | None:
        known = sorted(self.known.items(), reverse=True)
        for size, real in known:
            factor, offset = divmod(number, size)
            if offset == 0 and factor in self.known:
                return real * self.known[factor]
            if offset == 0 and 1 <= factor <= _LARGEST_FACTOR:
                return real * factor
        for size, real in known:
            if size % number == 0 and size // number <= _LARGEST_FACTOR:
                return real // (size // number)
        for size, real in known:
            factor, offset = divmod(number, size)
            if size - offset <= _LARGEST_OFFSET:
                factor, offset = factor + 1, offset - size
            if 1 <= factor <= _LARGEST_FACTOR and abs(offset) <= _LARGEST_OFFSET:
                return real * factor + offset
        for size, real in known:
            for other, other_real in known:
                if number == size * other:
                    return real * other_real
                if number % (size * other) == 0 and number // (size * other) <= _LARGEST_FACTOR:
                    return real * other_real * (number // (size * other))
        return None

    def resolve_all(self, value: Any) -> Any:
        """The same for the integers inside attributes."""
        if value.__class__ is int:
            return self.resolve(value)
        if value.__class__ is tuple:
            return tuple([self.resolve_all(part) for part in value])
        if isinstance(value, slice):
            return slice(*(self.resolve_all(part) for part in (value.start, value.stop, value.step)))
        return value


def may_hold_sizes(array: Any) -> bool:
    """Whether a constant is a small array of integers, some of which depend on unknown dimensions."""
    return array.dtype.kind == "i" and 0 < array.size <= _MOST_ELEMENTS and bool((np.abs(array) >= SMALLEST).any())


def specialise(program: Program, actual: Sequence[Aval]) -> tuple[Program, Sizes]:
    """The program for inputs of other sizes than it was captured with."""
    sizes = Sizes(program.inputs, actual)
    values: dict[int, Aval] = {}
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        kinds = tuple(
            (values[operand] if operand >= 0 else actual[~operand]) if operand.__class__ is int else kind
            for operand, kind in zip(instruction.operands, instruction.kinds, strict=True)
        )
        attributes = sizes.resolve_all(instruction.attributes)
        place = instruction.outputs[0].place
        outputs, dtypes = instruction.operation.plan(kinds, attributes, place)
        for offset, (before, now) in enumerate(zip(instruction.outputs, outputs, strict=True)):
            sizes.learn(before, now)
            values[instruction.index + offset] = now
        instructions.append(
            Instruction(
                instruction.operation, instruction.operands, attributes, outputs, instruction.index, dtypes, kinds,
                instruction.flagged,
            )
        )  # fmt: skip
    return Program(list(actual), instructions, program.outputs), sizes


def with_sizes(aval: Aval, shape: Sequence[int]) -> Aval:
    return make_aval(tuple(shape), aval.dtype, aval.place)


def differences(first: Program, first_scalars: list[Any], second: Program, second_scalars: list[Any]) -> list[str]:
    """What differs between captures with different numbers for the unknown sizes, other than understood sizes."""
    if len(first.instructions) != len(second.instructions):
        return ["the number of operations depends on an unknown dimension (a Python loop over it?)"]
    found: list[str] = []
    sizes = Sizes([], [])
    for before, now in zip(first.inputs, second.inputs, strict=False):
        if before.ndim != now.ndim:
            return ["a constant depends on an unknown dimension"]
        if before.size != now.size and not any(size >= SMALLEST for size in before.shape):
            found.append(f"a constant of shape {list(before.shape)} depends on an unknown dimension")
        sizes.learn(before, now)
    scalars = iter(zip(first_scalars, second_scalars, strict=True))
    for one, other in zip(first.instructions, second.instructions, strict=True):
        if one.operation is not other.operation or one.operands != other.operands:
            return [f"which operations run depends on an unknown dimension: {one.operation.name}, {other.operation.name}"]
        for before, now in zip(one.outputs, other.outputs, strict=True):
            if before.ndim == now.ndim:
                sizes.learn(before, now)
        for operand in one.operands:
            if isinstance(operand, type):
                before, now = next(scalars)
                if before != now and not (isinstance(before, int) and _agrees(sizes, before, now)):
                    found.append(f"a number passed to {one.operation.name} depends on an unknown dimension ({before})")
        if one.attributes != other.attributes and not _agrees(sizes, one.attributes, other.attributes):
            found.append(f"attributes of {one.operation.name} depend on an unknown dimension: {one.attributes}")
    return found


def _agrees(sizes: Sizes, before: Any, now: Any) -> bool:
    if before.__class__ is tuple and now.__class__ is tuple and len(before) == len(now):
        return all(_agrees(sizes, a, b) for a, b in zip(before, now, strict=True))
    if hasattr(before, "program") and hasattr(now, "program"):  # a block of a condition or loop
        return not differences(before.program, before.scalars, now.program, now.scalars)
    try:
        return bool(sizes.resolve_all(before) == now)
    except UnknownSize:
        return False
