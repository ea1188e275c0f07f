"""Blocks: Programs among the attributes of an instruction, such as the branches of a condition and the body of a loop.

A block runs with NumPy, or while XLA traces (in one executable, with the values that its operations draw and the checks
they make). The operations that hold blocks are declared in `graph/blocks.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.generator import OWN_SEED, default_generator
from .program import DynamicScalar, Program
from .recording.thread_state import LOCAL
from .sizes.dimensions import Known, SizedByOthers, specialise, symbols_in
from .sizes.stated import stated_program
from .tiers.interpreter import Problem, run_on_numpy
from .tiers.lowering import call_watched
from .watch import Location, flags_of, watch_results

_MOST_FITS = 64


LOOSE = "the size of a loop variable"  # the name of symbols for sizes that change from round to round


def is_loose(size: int) -> bool:
    return any(symbol.name == LOOSE for symbol in symbols_in(size))


def blocks_in(attributes: Iterable[Any]) -> list[Block]:
    """The blocks among the attributes of an instruction."""
    return [attribute for attribute in attributes if isinstance(attribute, Block)]


def has_effect(call: Any) -> bool:
    """Whether running a call (an instruction, a node of a draft) does more than make its results: it may raise, or its
    operation says so (`effect`, `ordering`)."""
    traits = call.operation.traits
    if call.flagged or traits.effect or traits.ordering:
        return True
    attributes = call.attributes
    return bool(attributes) and any(isinstance(given, Block) and given.has_effect for given in attributes)


def acts(call: Any) -> bool:
    """Whether running a call does something outside, such as printing: its operation says so, here or in a block."""
    return call.operation.traits.effect or any(
        any(map(acts, block.program.instructions)) for block in blocks_in(call.attributes)
    )


class Block(SizedByOthers):
    """A Program inside a Program. Hashed by identity: a block is captured once and belongs to one instruction."""

    def __init__(
        self, program: Program, scalars: list[Any], stops: Any = None,
        locations: dict[int, tuple[str, int]] | None = None,
    ) -> None:  # fmt: skip
        self.program = program
        self.scalars = scalars
        self.stops = stops  # where gradients end (stops.py)
        self.locations = locations or {}
        # Sizes of the surrounding program, where those are known (see `bound`).
        self.known: Known | None = None
        self._bound: dict[tuple[Any, ...], Block] = {}
        self._symbols: dict[Any, None] | None = None
        self.draws = positions_of_draws(
            program, scalars
        )  # random operations: which scalars are their seeds and offsets
        self.is_checked = bool(flags_of(program, False))
        # The Program and scalars for operands of other sizes: a loop asks for the same ones in every round.
        self._fits: dict[tuple[Aval, ...], tuple[Program, list[Any]]] = {}

    def fresh_scalars(self, kinds: Sequence[Aval]) -> list[Any]:
        """The scalars for these operands, with new seeds for the random operations."""
        scalars = list(self.fitted_scalars(kinds))
        for seed, offset in self.draws:
            scalars[seed], scalars[offset] = default_generator.draw()
        return scalars

    @property
    def is_staged(self) -> bool:
        """Whether it has calls whose results have shapes that values decide: then no executable can hold it."""
        return any(getattr(i.operation.kernel, "decides_shapes", False) for i in self.program.instructions)

    @property
    def has_effect(self) -> bool:
        """Whether running it does more than make its results."""
        return any(map(has_effect, self.program.instructions))

    @property
    def results(self) -> tuple[Aval, ...]:
        """Abstract values of the results, as they were captured."""
        return _results_of(self.program)

    def infer(self, kinds: Sequence[Aval]) -> tuple[Aval, ...]:
        """Abstract values of the results for operands that may have other sizes than at the capture."""
        return _results_of(self.fitted(kinds))

    def fitted(self, kinds: Sequence[Aval]) -> Program:
        return self._fit(kinds)[0]

    def fitted_scalars(self, kinds: Sequence[Aval]) -> list[Any]:
        """The dynamic scalars for these operands: numbers may be sizes, or computed from them."""
        return self._fit(kinds)[1]

    def _fit(self, kinds: Sequence[Aval]) -> tuple[Program, list[Any]]:
        if all(kind is aval for kind, aval in zip(kinds, self.program.inputs, strict=True)):
            return self.program, self.scalars
        key = tuple(kinds)
        found = self._fits.get(key)
        if found is None:
            program, known = specialise(self.program, list(kinds), self.known, self.locations)
            scalars = [known.resolve(number) for number in self.scalars]
            if len(self._fits) >= _MOST_FITS:
                self._fits.clear()
            found = self._fits[key] = (program, scalars)
        return found

    def symbols(self) -> dict[Any, None]:
        """The unknown sizes of the surrounding program that it computes with."""
        if self._symbols is None:
            shown = symbols_in(self.program.inputs)
            own = {symbol for symbol in shown if symbol.name == LOOSE}  # a loop's variables show them in each round
            found, made = dict(shown), dict[Any, None]()
            for instruction in self.program.instructions:
                found |= {symbol: None for symbol in symbols_in(instruction.attributes) if symbol not in made}
                made |= {symbol: None for symbol in symbols_in(instruction.outputs) if symbol not in found}
            found |= {symbol: None for symbol in symbols_in(self.scalars) if symbol not in made}
            self._symbols = {symbol: None for symbol in found if symbol not in own}
        return self._symbols

    def bound(self, known: Known) -> Block:
        """The block inside a program whose sizes are known."""
        chosen = Known({symbol: known[symbol] for symbol in self.symbols() if symbol in known})
        if not chosen or self.known is not None:
            return self
        key = tuple(chosen.items())
        found = self._bound.get(key)
        if found is None:
            found = Block(self.program, self.scalars, self.stops, self.locations)
            found.known = chosen
            if len(self._bound) >= _MOST_FITS:
                self._bound.clear()
            self._bound[key] = found
        return found

    def as_stated(self) -> Block:
        """The block of a program whose sizes are those that it states."""
        return Block(*stated_program(self.program, self.scalars), self.stops, self.locations)

    def checks(self, kinds: Sequence[Aval]) -> list[tuple[Any, Location]]:
        """Its checked instructions for these operands (see `watch.flags_of`)."""
        return flags_of(self.fitted(kinds), False, self.locations) if self.is_checked else []

    def run(self, xp: Any, arrays: Sequence[Any], key: Any = None, flags: list[Any] | None = None) -> tuple[Any, ...]:
        """Its results for arrays, with NumPy or while XLA traces.

        Random operations draw by `key` (see `random_key`); without it, by the numbers of the capture. With NumPy a
        value that a check refuses is an error at once; XLA adds vectors of booleans to `flags` instead.
        """
        place = self.program.inputs[0].place if self.program.inputs else LOCAL.place
        kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), place) for a in arrays]
        program, scalars = self.fitted(kinds), self.fitted_scalars(kinds)
        if key is not None and self.draws:
            scalars = list(scalars)
            for number, (seed, offset) in enumerate(self.draws):
                scalars[seed], scalars[offset] = (part[()] for part in branched(key, number))
        if xp is np:
            try:
                watch = watch_results(False) if self.is_checked else None
                values = run_on_numpy(program, list(arrays), scalars, watch)
            except Problem as problem:
                raise problem.error from None
            return tuple(values[number] for number in program.outputs)
        noted: list[Any] = []
        values = program.evaluate(
            lambda instruction, given: call_watched(xp, instruction, given, place.kind, noted),
            arrays,
            lambda operand: xp.asarray(scalars[operand.number], operand.dtype),
        )
        if flags is not None:
            flags += noted
        return tuple(values[number] for number in program.outputs)

    def __repr__(self) -> str:
        return f"block of {len(self.program.instructions)}"


def _results_of(program: Program) -> tuple[Aval, ...]:
    values = {i.index + n: aval for i in program.instructions for n, aval in enumerate(i.outputs)}
    return tuple(values[number] for number in program.outputs)


def positions_of_draws(program: Program, scalars: Sequence[Any]) -> list[tuple[int, int]]:
    """The numbers of the scalars that are seed and offset of each random operation without a seed of its own."""
    found: list[tuple[int, int]] = []
    for instruction in program.instructions:
        named = zip(instruction.operation.operand_names, instruction.operands, strict=False)
        numbers = {name: operand.number for name, operand in named if operand.__class__ is DynamicScalar}
        if "seed" in numbers and "offset" in numbers and scalars[numbers["offset"]] != OWN_SEED:
            found.append((numbers["seed"], numbers["offset"]))
    return found


def branched(key: Any, number: Any) -> tuple[Any, Any]:
    """Seed and offset number so and so below a key; wherever they are used, other ones give other random numbers."""
    mixed = key[1:].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) + (np.asarray(number) if isinstance(number, int) else number).astype(
        np.uint64
    ) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(32))
    return key[:1].astype(np.int64)[0], mixed.astype(np.int64)[0]
