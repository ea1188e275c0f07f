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

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from .program import Instruction, Program

# Divisible by what strides, heads and groups usually are, so that exact divisions stay exact.
_UNIT = 3360
_PRIMES = (307, 311, 313, 317, 331, 337, 347, 349, 353)
_ODD = 1681  # added to a multiple of _UNIT it leaves an odd number
_OTHER_PRIMES = (401, 409, 419, 421, 431, 433, 439, 443, 449)
SMALLEST = 50_000  # no number below this is taken for one that depends on an unknown size
_LARGEST_FACTOR = 4096
_LARGEST_OFFSET = 4096
_LARGEST_NUMERATOR = 8
_WRITTEN_DIGITS = 13  # a float with fewer significant digits was written by somebody
_MOST_COMBINED = 8
_LARGEST_QUOTIENT = 64
_MOST_ELEMENTS = 64  # of a constant that may hold sizes


class UnknownSize(ValueError):
    """A number that depends on an unknown dimension in a way that is not understood."""


def placeholder_size(axis: int, other: bool = False, divisor: int = 0) -> int:
    """The number that stands for an unknown dimension at this axis.

    With a `divisor` it can be divided by that, and by nothing else that strides usually are.
    """
    primes = _OTHER_PRIMES if other else _PRIMES
    size = _UNIT * primes[min(axis, len(primes) - 1)]
    return size + divisor * _ODD if divisor else size


def placeholder_shape(
    shape: Sequence[int | None], other: bool = False, divisors: dict[int, int] | None = None
) -> tuple[int, ...]:
    """A shape with unknown dimensions (None or negative) replaced by their numbers."""
    divisors = divisors or {}
    return tuple(
        placeholder_size(axis, other, divisors.get(axis, 0)) if size is None or size < 0 else int(size)
        for axis, size in enumerate(shape)
    )


class Knowledge:
    """What several captures of the same code have shown about its numbers."""

    def __init__(self) -> None:
        # Parts of an unknown size that are rounded, by their number in the capture: up (True) or down.
        self.rounding: dict[int, bool] = {}
        # Large numbers that do not depend on unknown sizes.
        self.literals: set[int] = set()
        # By which numbers the unknown sizes of an axis must be divisible, where that matters.
        self.divisors: dict[int, int] = {}


def shown_shape(shape: Iterable[int]) -> list[int]:
    """A captured shape as users see it: -1 for what depends on an unknown dimension."""
    return [-1 if size >= SMALLEST else size for size in shape]


class UnknownDimension(int):
    """An unknown size as users of a static program see it: -1 to look at and to compare, its number to compute with."""

    def __repr__(self) -> str:
        return "-1"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(-1, spec)

    def __eq__(self, other: object) -> bool:
        return other == -1 or int.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __lt__(self, other: Any) -> bool:
        return other > -1 if other <= 0 else int.__lt__(self, other)

    def __le__(self, other: Any) -> bool:
        return other >= -1 if other <= 0 else int.__le__(self, other)

    def __gt__(self, other: Any) -> bool:
        return other < -1 if other <= 0 else int.__gt__(self, other)

    def __ge__(self, other: Any) -> bool:
        return other <= -1 if other <= 0 else int.__ge__(self, other)

    def _no_float(self, *_other: Any) -> Any:
        raise UnknownSize(
            "a float cannot be computed from an unknown dimension before the program runs; "
            "use paddle.shape(x), or give the dimension a fixed size"
        )

    __truediv__ = __rtruediv__ = __float__ = _no_float


class Sizes:
    """What each number of the capture is, now that the sizes of the inputs are known."""

    def __init__(self, captured: Iterable[Aval], actual: Iterable[Aval], knowledge: Knowledge | None = None) -> None:
        self.rounding = {} if knowledge is None else knowledge.rounding
        self.known: dict[int, int] = {} if knowledge is None else {number: number for number in knowledge.literals}
        # Numbers that stand for several sizes: unknown dimensions of two inputs that were taken to be equal and are not.
        self.ambiguous: set[int] = set()
        for before, now in zip(captured, actual, strict=True):
            self.learn(before, now)

    def learn(self, before: Aval, now: Aval) -> None:
        for size, real in zip(before.shape, now.shape, strict=True):
            if size >= SMALLEST and self.known.setdefault(size, real) != real:
                self.ambiguous.add(size)

    def resolve(self, number: int) -> int:
        """The real value of a number from the capture."""
        if -SMALLEST < number < SMALLEST:
            return number
        if number < 0:
            return -self.resolve(-number)
        if self.ambiguous and any(number % size == 0 or size % number == 0 for size in self.ambiguous):
            raise UnknownSize(
                "unknown dimensions at the same axis of several inputs have different sizes, and the code computes with "
                "one of them; give one of these dimensions a fixed size in the InputSpec"
            )
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
                return self._divided(number, real, size // number)
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

    def resolve_float(self, number: float) -> float:
        """The real value of a float that was computed from a size: the size, a simple part of it, or a root.

        Means, variances and their gradients divide by sizes. A number that somebody wrote has few digits; one that was
        divided by a size has all of them, so the two are not confused.
        """
        if number < 0:
            return -self.resolve_float(-number)
        if not 0 < number < math.inf:
            return number
        if number == int(number):
            found = self._part(int(number)) if number >= SMALLEST else None
            return number if found is None else float(found)
        if len(f"{number:.15g}".split("e")[0].replace(".", "").strip("0")) < _WRITTEN_DIGITS:
            return number
        for size, real in self.known.items():
            if number == size**0.5:
                return real**0.5
            if number * size**0.5 == 1 or number == 1 / size**0.5:
                return 1 / real**0.5 if real else number
        if number > _LARGEST_QUOTIENT / SMALLEST:
            return number
        for numerator in range(1, _LARGEST_NUMERATOR + 1):
            size = round(numerator / number)
            if SMALLEST <= size < 1 << 53 and numerator / size == number:
                for offset in (0, 1, 2, -1):
                    found = self._part(size + offset)
                    if found is not None and found > offset:
                        return numerator / (found - offset)
        for size, real in self._combinations():
            quotient = _quotient(number, size)
            if quotient is not None and real:
                return quotient / real
        return number

    def _part(self, number: int) -> int | None:
        """What an integer is, if it is made of unknown sizes."""
        if number in self.known:
            return self.known[number]
        for size, real in self.known.items():
            factor, rest = divmod(number, size)
            if rest == 0 and factor <= _LARGEST_FACTOR:
                return real * factor
            if rest == 0 and factor >= SMALLEST and (other := self._part(factor)) is not None:
                return real * other
            if number and size % number == 0 and size // number <= _LARGEST_FACTOR:
                return self._divided(number, real, size // number)
        return None

    def _divided(self, number: int, real: int, parts: int) -> int | None:
        """A part of a size; None where it would have to be rounded and nobody knows which way."""
        whole, rest = divmod(real, parts)
        if not rest:
            return whole
        up = self.rounding.get(number)
        return None if up is None else whole + up

    def _combinations(self) -> list[tuple[int, int]]:
        """Unknown sizes and products of two or three of them."""
        sizes = [(size, real) for size, real in self.known.items() if size != real]
        found = list(sizes)
        for count in (2, 3):
            for chosen in itertools.combinations_with_replacement(sizes[:_MOST_COMBINED], count):
                found.append((math.prod(size for size, _ in chosen), math.prod(real for _, real in chosen)))
        return found

    def resolve_scalar(self, number: Any) -> Any:
        """The real value of a dynamic scalar of the capture."""
        if number.__class__ is int:
            return self.resolve(number)
        return self.resolve_float(number) if number.__class__ is float else number

    def resolve_all(self, value: Any) -> Any:
        """The same for the integers inside attributes."""
        if value.__class__ is int:
            return self.resolve(value)
        if value.__class__ is float:
            return self.resolve_float(value)
        if value.__class__ is UnknownDimension:
            return self.resolve(int(value))
        if value.__class__ is tuple:
            return tuple([self.resolve_all(part) for part in value])
        if value.__class__ is slice:
            return slice(*[self.resolve_all(part) for part in (value.start, value.stop, value.step)])
        return value


def _quotient(number: float, size: int) -> float | None:
    """What was divided by `size` to give `number`, if that is a plain number; None where it was something else."""
    quotient = number * size
    if not 1 / SMALLEST < quotient <= _LARGEST_QUOTIENT:
        return None
    prime = next((prime for prime in (*_PRIMES, *_OTHER_PRIMES) if size % prime == 0), None)
    if prime is None:
        whole = round(quotient) or 1 / round(1 / quotient)
        return whole if abs(quotient - whole) <= 1e-15 * quotient else None
    if _short(number * (size // prime)) is not None:  # a plain number by itself, not divided by the prime
        return None
    short = _short(quotient)
    if short is None and (below := _short(1 / quotient)) is not None:
        short = 1 / below
    return short


def _short(value: float) -> float | None:
    """The number with few digits that this is, if it is one."""
    short = float(f"{value:.6g}")
    return short if abs(value - short) <= 1e-15 * value else None


def may_hold_sizes(array: Any) -> bool:
    """Whether a constant is a small array of integers, some of which depend on unknown dimensions."""
    return array.dtype.kind == "i" and 0 < array.size <= _MOST_ELEMENTS and bool((np.abs(array) >= SMALLEST).any())


def specialise(
    program: Program, actual: Sequence[Aval], known: Sizes | None = None, knowledge: Knowledge | None = None
) -> tuple[Program, Sizes]:
    """The program for inputs of other sizes than it was captured with; `known` may have sizes from elsewhere."""
    sizes = known or Sizes(program.inputs, actual, knowledge)
    values: dict[int, Aval] = {}
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        found: list[Any] = []
        for operand, kind in zip(instruction.operands, instruction.kinds, strict=True):
            if isinstance(operand, int):
                found.append(values[operand] if operand >= 0 else actual[~operand])
            else:
                found.append(kind)
        kinds = tuple(found)
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


class _Learning(Sizes):
    """Sizes of a second capture that finds out which way parts are rounded, and which large numbers are literals."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__([], [], knowledge)
        self.knowledge = knowledge

    def agrees(self, before: int, now: int) -> bool:
        """Whether a number of the first capture is understood, and gives that of the second."""
        if before == now:
            if abs(before) >= SMALLEST:
                self.knowledge.literals.add(abs(before))
            return True
        if before < 0 and now < 0:
            return self.agrees(-before, -now)
        try:
            return self.resolve(before) == now
        except UnknownSize:
            pass
        for size, real in self.known.items():
            if size != real and before and size % before == 0 and size // before <= _LARGEST_FACTOR:
                whole, rest = divmod(real, size // before)
                if rest and now in (whole, whole + 1):
                    return self.rounding.setdefault(before, now != whole) == (now != whole)
        return False


def differences(
    first: Program, first_scalars: list[Any], second: Program, second_scalars: list[Any],
    knowledge: Knowledge | None = None,
) -> list[str]:  # fmt: skip
    """What differs between captures with different numbers for the unknown sizes, other than understood sizes."""
    if len(first.instructions) != len(second.instructions):
        return ["the number of operations depends on an unknown dimension (a Python loop over it?)"]
    found: list[str] = []
    sizes = _Learning(knowledge or Knowledge())
    for before, now in zip(first.inputs, second.inputs, strict=False):
        if before.ndim != now.ndim:
            return ["a constant depends on an unknown dimension"]
        if before.size != now.size and not any(size >= SMALLEST for size in before.shape):
            found.append(f"a constant of shape {list(before.shape)} depends on an unknown dimension")
        sizes.learn(before, now)
    scalars = iter(zip(first_scalars, second_scalars, strict=True))
    for one, other in zip(first.instructions, second.instructions, strict=True):
        if one.operation is not other.operation or one.operands != other.operands:
            return [
                f"which operations run depends on an unknown dimension: {one.operation.name}, {other.operation.name}"
            ]
        for operand in one.operands:
            if isinstance(operand, type):
                before, now = next(scalars)
                if not (_agrees(sizes, before, now) if isinstance(before, int) else before == now):
                    found.append(f"a number passed to {one.operation.name} depends on an unknown dimension ({before})")
        if not _agrees(sizes, one.attributes, other.attributes):
            found.append(f"attributes of {one.operation.name} depend on an unknown dimension: {one.attributes}")
        for before, now in zip(one.outputs, other.outputs, strict=True):
            if before.ndim == now.ndim:
                sizes.learn(before, now)
    return found


def _agrees(sizes: _Learning, before: Any, now: Any) -> bool:
    if before.__class__ is tuple and now.__class__ is tuple and len(before) == len(now):
        # Not `all`: every pair is to be learnt from.
        return False not in [_agrees(sizes, a, b) for a, b in zip(before, now, strict=True)]
    if hasattr(before, "program") and hasattr(now, "program"):  # a block of a condition or loop
        return not differences(before.program, before.scalars, now.program, now.scalars, sizes.knowledge)
    if before.__class__ is slice and now.__class__ is slice:
        ends = zip((before.start, before.stop, before.step), (now.start, now.stop, now.step), strict=True)
        return False not in [_agrees(sizes, a, b) for a, b in ends]
    if isinstance(before, int) and isinstance(now, int) and not isinstance(before, bool):
        return sizes.agrees(int(before), int(now))
    # Floats too: passes may already have computed with them when sizes become known.
    return before is now or bool(before == now)
