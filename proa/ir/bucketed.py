"""Running a path in a bucket of its family: inputs are filled up, one executable runs, results are cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.expressions import Symbol
from ..core.place import CPU
from ..core.symbols import SymbolicSize
from .dimensions import Known
from .generalising import General
from .program import Program

_SIZE = np.dtype(np.int32)
# Bytes up to which an array on an accelerator is filled up by way of the host: compiling that for a shape costs more.
_BY_WAY_OF_THE_HOST = 1 << 20


class PaddingPlan:
    """A plan for a General: which of its symbols are padded, where they are in inputs and results."""

    def __init__(self, general: General, plan: Any) -> None:
        self.general = general
        self.plan = plan
        self.order: tuple[Symbol, ...] = plan.sizes
        # For each input that has some, the padded symbol of each axis.
        self.axes = [
            (position, axes)
            for position, aval in enumerate(general.program.inputs)
            if any(axes := [self._class_of(size) for size in aval.shape])
        ]
        self.others = [symbol for symbol in general.symbols if symbol not in plan.classes]
        self.cut = [(position, aval) for position, aval in self._results() if aval.symbolic]

    def _class_of(self, size: Any) -> Symbol | None:
        symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
        return None if symbol is None else self.plan.classes.get(symbol)

    def _results(self) -> list[tuple[int, Any]]:
        program = self.general.program
        avals = {
            instruction.index + offset: aval
            for instruction in program.instructions
            for offset, aval in enumerate(instruction.outputs)
        }
        return [(position, avals[index]) for position, index in enumerate(program.outputs)]

    def sizes_of(self, known: Known) -> tuple[dict[Symbol, int], tuple[Any, ...]] | None:
        """The sizes that are padded, and those that are not; None where two do not agree that are taken to be equal."""
        real: dict[Symbol, int] = {}
        for symbol, first in self.plan.classes.items():
            if real.setdefault(first, known[symbol]) != known[symbol]:
                return None
        return real, tuple([known[symbol] for symbol in self.others])


class Bucket:
    """An executable for sizes up to some."""

    def __init__(self, sizes: dict[Symbol, int], exact: tuple[Any, ...]) -> None:
        self.sizes = sizes
        self.exact = exact
        self.volume = 1
        for size in sizes.values():
            self.volume *= size
        self.wasted = 0.0  # work that went into padding
        self.compiled: Any = None
        self.donated: tuple[int, ...] = ()
        self.program: Program | None = None
        self._record: Any = None

    def __str__(self) -> str:
        return ", ".join(f"{symbol} = {size}" for symbol, size in self.sizes.items())

    def holds(self, real: dict[Symbol, int], exact: tuple[Any, ...]) -> bool:
        return self.exact == exact and all(self.sizes[symbol] >= size for symbol, size in real.items())

    def make(
        self, plan: PaddingPlan, write: Callable[..., Program], inputs: list[Any], scalars: list[Any], place: Any,
        donated: Sequence[int],
    ) -> None:  # fmt: skip
        """Compiles it; inputs that are filled up are never donated."""
        from .lowering import CompiledProgram

        avals = list(plan.general.program.inputs)
        values = list(inputs)
        given = [value.shape for value in values]
        for position, axes in plan.axes:
            values[position] = padded(values[position], self.shape(axes, given[position]))
        actual = [
            aval.with_shape(tuple(value.shape)) if aval.symbolic else aval
            for aval, value in zip(avals, values, strict=True)
        ]
        program = write(plan.general.program, plan.plan, actual)
        filled = {position for position, _ in plan.axes}
        self.donated = tuple([position for position in donated if position not in filled])
        lengths = [np.asarray(self.sizes[symbol], _SIZE) for symbol in plan.order]
        self.compiled = CompiledProgram(program, [*values, *lengths], scalars, place, self.donated, False)
        self.program = program

    def shape(self, axes: Sequence[Symbol | None], shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of an input in this bucket."""
        return tuple([size if axis is None else self.sizes[axis] for axis, size in zip(axes, shape, strict=True)])

    def record(self, family: Any) -> BucketRecord:
        """What stands for it in the list of compiled programs."""
        if self._record is None:
            self._record = BucketRecord(self, family)
        return self._record


class BucketRecord:
    """A bucket as the list of programs knows it: like an ending, with a program and an executable that may have to go."""

    def __init__(self, bucket: Bucket, family: Any) -> None:
        self.bucket = bucket
        self.program = bucket.program or family.plan.general.program
        self.count = 0

    @property
    def compiled(self) -> Any:
        return self.bucket.compiled

    @compiled.setter
    def compiled(self, value: Any) -> None:
        self.bucket.compiled = value


class Fitted:
    """A bucket's executable for one size; stands where a `CompiledProgram` would."""

    copies = 0
    forgotten = 0

    def __init__(self, plan: PaddingPlan, bucket: Bucket, real: dict[Symbol, int], program: Program) -> None:
        self.plan, self.bucket = plan, bucket
        self.outputs = program.outputs
        self.num_flags = bucket.compiled.num_flags
        self.sizes = [np.asarray(real[symbol], _SIZE) for symbol in plan.order]
        volume = 1
        for size in real.values():
            volume *= size
        self.waste = bucket.volume / max(1, volume) - 1.0  # as a part of the real work
        avals = {
            instruction.index + offset: aval
            for instruction in program.instructions
            for offset, aval in enumerate(instruction.outputs)
        }
        self.shapes = [(position, avals[program.outputs[position]].shape) for position, _ in plan.cut]

    @property
    def donated(self) -> tuple[int, ...]:
        return self.bucket.donated

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        values = list(inputs)
        for position, axes in self.plan.axes:
            value = values[position]
            values[position] = padded(value, self.bucket.shape(axes, value.shape))
        results = list(self.bucket.compiled([*values, *self.sizes], scalars))
        for position, shape in self.shapes:
            results[position] = cut(results[position], shape)
        return results


def padded(value: Any, shape: tuple[int, ...]) -> Any:
    """An array with zeros up to a shape."""
    if tuple(value.shape) == shape:
        return value
    host = value.__class__ is np.ndarray or is_on_host(value)
    if host or value.nbytes <= _BY_WAY_OF_THE_HOST:
        longer = np.zeros(shape, value.dtype)
        longer[tuple([slice(0, size) for size in value.shape])] = np.asarray(value)
        return longer
    from .xla import started_jax

    pairs = [(0, size - before) for size, before in zip(shape, value.shape, strict=True)]
    return started_jax().numpy.pad(value, pairs)


def cut(value: Any, shape: tuple[int, ...]) -> Any:
    """The first part of an array."""
    if tuple(value.shape) == shape:
        return value
    part = tuple([slice(0, size) for size in shape])
    return np.asarray(value)[part].copy() if is_on_host(value) else value[part]


def is_on_host(value: Any) -> bool:
    return value.__class__ is np.ndarray or all(device.platform == CPU.kind for device in value.devices())
