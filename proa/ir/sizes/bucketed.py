"""Running a Program in a bucket of sizes: inputs are filled up, one executable runs, results are cut.

Paths of a family (families.py) and captured graphs with unknown sizes (`jit/bucketing.py`) run so; they differ in when a
bucket is made, and of which sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.expressions import Symbol
from ...core.place import CPU, Place
from ..padding import padded_program
from ..padding.axes import padded as padded_axis
from ..padding.plan import Plan
from ..program import Program
from ..tiers import cost, cupy_tier
from ..tiers.lowering import CompiledProgram
from ..xla import started_jax
from .dimensions import Known, specialise, symbols_in

_SIZE = np.dtype(np.int32)
# Bytes up to which an array on an accelerator is filled up by way of the host: compiling that for a shape costs more.
_BY_WAY_OF_THE_HOST = 1 << 20


class PaddingPlan:
    """A plan for a Program with symbols: which of them are padded, where they are in inputs and results."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program = program
        self.plan = plan
        self.order = plan.sizes
        # The inputs and results that have a size that is padded.
        self.filled = [n for n, aval in enumerate(program.inputs) if symbols_in(aval).keys() & plan.classes]
        self.cut = [n for n, axes in enumerate(plan.outputs) if any(map(padded_axis, axes))]
        symbols = dict.fromkeys(symbol for aval in program.inputs for symbol in symbols_in(aval))
        self.others = [symbol for symbol in symbols if symbol not in plan.classes]

    def sizes_of(self, known: Known) -> tuple[dict[Symbol, int], dict[Symbol, int]] | None:
        """The sizes that are padded, and those that are not; None where the plan does not hold for them."""
        if not self.plan.holds_for(known):
            return None
        real = {first: known[first] for first in self.order}
        return real, {symbol: known[symbol] for symbol in self.others}

    def all_sizes(self, padded: dict[Symbol, int], exact: dict[Symbol, int]) -> dict[Symbol, int]:
        """What every symbol of the inputs is, in a bucket."""
        return {**exact, **{symbol: padded[first] for symbol, first in self.plan.classes.items()}}


class Bucket:
    """An executable for sizes up to some."""

    def __init__(self, plan: PaddingPlan, sizes: dict[Symbol, int], exact: dict[Symbol, int], place: Place) -> None:
        self.plan = plan
        self.sizes = sizes
        self.exact = exact
        self.volume = math.prod(sizes.values())
        everything = plan.all_sizes(sizes, exact)
        self.shapes = {position: plan.plan.input_shape(position, everything) for position in plan.filled}
        self.factors = {position: plan.plan.input_factors(position, everything) for position in plan.filled}
        self.place = place
        fitted, _ = specialise(plan.program, [Known(everything).resolve(aval) for aval in plan.program.inputs])
        self.hot = cost.works(fitted, place)[1]  # what a run costs
        self.wasted = 0.0  # work that went into padding
        self.compiled: Any = None
        self.donated: tuple[int, ...] = ()
        self.program: Program | None = None
        self.origins: dict[int, int] = {}  # of its instructions: which of the plan's each comes from
        self._record: Any = None

    def __str__(self) -> str:
        return ", ".join(f"{symbol} = {size}" for symbol, size in self.sizes.items())

    def holds(self, real: dict[Symbol, int], exact: dict[Symbol, int]) -> bool:
        return self.exact == exact and all(self.sizes[symbol] >= size for symbol, size in real.items())

    def make(
        self, real: dict[Symbol, int], inputs: list[Any], scalars: list[Any], donated: Sequence[int] = ()
    ) -> Program:
        """Compiles it, with the inputs of a run at real sizes, of which those that are filled up are never donated; gives
        the padded program."""
        program = self.plan.program
        sizes = Known(self.plan.all_sizes(self.sizes, self.exact))
        written = padded_program(
            program, self.plan.plan, [sizes.resolve(aval) for aval in program.inputs], self.origins
        )
        self.donated = tuple([position for position in donated if position not in self.shapes])
        filled = self.filled_up(inputs, self.real_factors(real))
        values = [*filled, *[np.asarray(self.sizes[symbol], _SIZE) for symbol in self.plan.order]]
        self.compiled = CompiledProgram(written, values, scalars, self.place, self.donated, False)
        self.program = written
        return written

    def real_factors(self, real: dict[Symbol, int]) -> dict[int, tuple[int, ...]]:
        """The shapes of the inputs that are filled up, factor by factor, at real sizes."""
        everything = self.plan.all_sizes(real, self.exact)
        return {position: self.plan.plan.input_factors(position, everything) for position in self.shapes}

    def filled_up(self, inputs: list[Any], real: dict[int, tuple[int, ...]]) -> list[Any]:
        """Inputs, as long as this bucket has them."""
        values = list(inputs)
        for position, shape in self.shapes.items():
            if tuple(values[position].shape) != shape:
                values[position] = _filled(values[position], real[position], self.factors[position], shape, self.place)
        return values

    def record(self) -> BucketRecord:
        """What stands for it in the list of compiled programs."""
        if self._record is None:
            self._record = BucketRecord(self)
        return self._record


class BucketRecord:
    """A bucket as the list of programs knows it: like an entry, with a program and an executable that may have to go."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.program = bucket.program or bucket.plan.program
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

    def __init__(self, bucket: Bucket, real: dict[Symbol, int], program: Program) -> None:
        self.bucket = bucket
        self.outputs = program.outputs
        self.num_flags = bucket.compiled.num_flags
        self.sizes = [np.asarray(real[symbol], _SIZE) for symbol in bucket.plan.order]
        self.factors = bucket.real_factors(real)
        wanted = {program.outputs[position] for position in bucket.plan.cut}
        shapes = {
            number: aval.shape
            for i in (program.instructions if wanted else ())
            for number, aval in zip(i.made, i.outputs, strict=True)
            if number in wanted
        }
        # A value may be a result several times.
        self.shapes = [(position, shapes[program.outputs[position]]) for position in bucket.plan.cut]

    @property
    def donated(self) -> tuple[int, ...]:
        return self.bucket.donated

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        results = list(self.bucket.compiled([*self.bucket.filled_up(inputs, self.factors), *self.sizes], scalars))
        for position, shape in self.shapes:
            results[position] = cut(results[position], shape, self.bucket.place)
        return results


def _filled(value: Any, real: tuple[int, ...], longer: tuple[int, ...], shape: tuple[int, ...], place: Place) -> Any:
    """An array that is seen as one of the shape `real`, with zeros up to `longer`, in the end of `shape`."""
    host = value.__class__ is np.ndarray or is_on_host(value)
    if not host and cupy_tier.serves(place):
        return cupy_tier.filled(value, real, longer, shape, place)
    if host or value.nbytes <= _BY_WAY_OF_THE_HOST:
        made = np.zeros(longer, value.dtype)
        made[tuple([slice(0, size) for size in real])] = np.asarray(value).reshape(real)
        return made.reshape(shape)
    pairs = [(0, size - before) for size, before in zip(longer, real, strict=True)]
    return started_jax().numpy.pad(value.reshape(real), pairs).reshape(shape)


def cut(value: Any, shape: tuple[int, ...], place: Place) -> Any:
    """The first part of an array."""
    if tuple(value.shape) == shape:
        return value
    part = tuple([slice(0, size) for size in shape])
    if is_on_host(value):
        return np.asarray(value)[part].copy()
    return cupy_tier.cut(value, part, place) if cupy_tier.serves(place) else value[part]


def is_on_host(value: Any) -> bool:
    return value.__class__ is np.ndarray or all(device.platform == CPU.kind for device in value.devices())
