"""Running a path in a bucket of its family: inputs are filled up, one executable runs, results are cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.expressions import Symbol
from ...core.place import CPU, Place
from ..padding import padded_program
from ..padding.axes import Refused
from ..padding.axes import padded as padded_axis
from ..padding.plan import Plan
from ..program import Program
from ..tiers import cost, cupy_tier
from ..tiers.lowering import CompiledProgram, flagged_instructions
from ..xla import started_jax
from .dimensions import Known, specialise, symbols_in
from .generalising import General

_SIZE = np.dtype(np.int32)
# Bytes up to which an array on an accelerator is filled up by way of the host: compiling that for a shape costs more.
_BY_WAY_OF_THE_HOST = 1 << 20


class PaddingPlan:
    """A plan for a General: which of its symbols are padded, where they are in inputs and results."""

    def __init__(self, general: General, plan: Plan) -> None:
        self.general = general
        self.plan = plan
        self.order = plan.sizes
        # The inputs and results that have a size that is padded.
        self.filled = [n for n, aval in enumerate(general.program.inputs) if symbols_in(aval).keys() & plan.classes]
        self.cut = [n for n, axes in enumerate(plan.outputs) if any(map(padded_axis, axes))]
        self.others = [symbol for symbol in general.symbols if symbol not in plan.classes]

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
        fitted, _ = specialise(
            plan.general.program, [Known(everything).resolve(a) for a in plan.general.program.inputs]
        )
        self.hot = cost.works(fitted, place)[1]  # what a run costs
        self.wasted = 0.0  # work that went into padding
        self.compiled: Any = None
        self.donated: tuple[int, ...] = ()
        self.program: Program | None = None
        self._record: Any = None

    def __str__(self) -> str:
        return ", ".join(f"{symbol} = {size}" for symbol, size in self.sizes.items())

    def holds(self, real: dict[Symbol, int], exact: dict[Symbol, int]) -> bool:
        return self.exact == exact and all(self.sizes[symbol] >= size for symbol, size in real.items())

    def make(
        self, program: Program, real: dict[Symbol, int], inputs: list[Any], scalars: list[Any], donated: Sequence[int]
    ) -> None:
        """Compiles it, for what `program` does at its real sizes; inputs that are filled up are never donated."""
        general, plan = self.plan.general.program, self.plan.plan
        sizes = Known(self.plan.all_sizes(self.sizes, self.exact))
        written = padded_program(general, plan, [sizes.resolve(aval) for aval in general.inputs])
        self.donated = tuple([position for position in donated if position not in self.shapes])
        filled = self.filled_up(inputs, self.real_factors(real))
        values = [*filled, *[np.asarray(self.sizes[symbol], _SIZE) for symbol in self.plan.order]]
        if len(flagged_instructions(written, False)) != len(flagged_instructions(program, False)):
            raise Refused("checks of the padded program are not those of the exact one")
        self.compiled = CompiledProgram(written, values, scalars, self.place, self.donated, False)
        self.program = written

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
        self.program = bucket.program or bucket.plan.general.program
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
        wanted = {program.outputs[position]: position for position in bucket.plan.cut}
        self.shapes = [
            (wanted[number], aval.shape)
            for i in (program.instructions if wanted else ())
            for number, aval in zip(i.made, i.outputs, strict=True)
            if number in wanted
        ]

    @property
    def donated(self) -> tuple[int, ...]:
        return self.bucket.donated

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        results = list(self.bucket.compiled([*self.bucket.filled_up(inputs, self.factors), *self.sizes], scalars))
        for position, shape in self.shapes:
            results[position] = cut(results[position], shape, self.bucket.place)
        return results


def padded(value: Any, shape: tuple[int, ...], place: Place) -> Any:
    """An array with zeros up to a shape."""
    real = tuple(value.shape)
    return value if real == shape else _filled(value, real, shape, shape, place)


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
