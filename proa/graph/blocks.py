"""Blocks and the operations that hold them: conditions and loops, whose attributes are Programs.

How a block runs: with NumPy, while XLA traces (one executable, with the values that its operations draw and the checks
they make), or replayed on the tape, where the branch that is taken is looked up.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import INT64
from ..core.generator import default_generator
from ..eager.declare import op
from ..eager.derived import DerivedVariadicGradient
from ..eager.tensor import Tensor
from ..ir.dimensions import Known, specialise, symbols_in
from ..ir.interpreter import Problem, run_on_numpy
from ..ir.lowering import call_watched
from ..ir.program import Program
from ..ir.recorder import LOCAL
from ..ir.watch import Location, flags_of, watch_results
from .graph import positions_of_draws

_MOST_FITS = 64


class Block:
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
        self.draws = positions_of_draws(program)  # random operations: which scalars are their seeds and offsets
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
    def has_effect(self) -> bool:
        """Whether running it does more than make its results (see `passes/nature.py`)."""
        return any(
            i.flagged
            or getattr(i.operation.kernel, "has_effect", False)
            or any(getattr(attribute, "has_effect", False) for attribute in i.attributes)
            for i in self.program.instructions
        )

    def infer(self, kinds: Sequence[Aval]) -> tuple[Aval, ...]:
        """Abstract values of the results for operands that may have other sizes than at the capture."""
        program = self.fitted(kinds)
        values = {i.index + n: aval for i in program.instructions for n, aval in enumerate(i.outputs)}
        return tuple(values[number] for number in program.outputs)

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
            found, made = symbols_in(self.program.inputs), {}
            for instruction in self.program.instructions:
                found |= {symbol: None for symbol in symbols_in(instruction.attributes) if symbol not in made}
                made |= {symbol: None for symbol in symbols_in(instruction.outputs) if symbol not in found}
            self._symbols = found | {symbol: None for symbol in symbols_in(self.scalars) if symbol not in made}
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

    def checks(self, kinds: Sequence[Aval]) -> list[tuple[Any, Location]]:
        """Its checked instructions for these operands (see `watch.flags_of`)."""
        return flags_of(self.fitted(kinds), False, self.locations) if self.is_checked else []

    def run(
        self, xp: Any, arrays: Sequence[Any], chance: Any = None, flags: list[Any] | None = None
    ) -> tuple[Any, ...]:
        """Its results for arrays, with NumPy or while XLA traces.

        Random operations draw by `chance` (see `chance_of`); without it, by the numbers of the capture. With NumPy a
        value that a check refuses is an error at once; XLA adds vectors of booleans to `flags` instead.
        """
        place = self.program.inputs[0].place if self.program.inputs else LOCAL.place
        kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), place) for a in arrays]
        program, scalars = self.fitted(kinds), self.fitted_scalars(kinds)
        if chance is not None and self.draws:
            scalars = list(scalars)
            for number, (seed, offset) in enumerate(self.draws):
                scalars[seed], scalars[offset] = (part[()] for part in _branched(chance, number))
        if xp is np:
            try:
                watch = watch_results(False) if self.is_checked else None
                values = run_on_numpy(program, list(arrays), scalars, watch)
            except Problem as problem:
                raise problem.error from None
            return tuple(values[number] for number in program.outputs)
        found: dict[int, Any] = {}
        noted: list[Any] = []
        next_scalar = iter(scalars).__next__
        for instruction in program.instructions:
            dtypes = iter(instruction.scalar_dtypes)
            arguments = [
                (found[o] if o >= 0 else arrays[~o])
                if o.__class__ is int
                else None
                if o is None
                else xp.asarray(next_scalar(), next(dtypes))
                for o in instruction.operands
            ]
            for offset, result in enumerate(call_watched(xp, instruction, arguments, place, noted)):
                found[instruction.index + offset] = result
        if flags is not None:
            flags += noted
        return tuple(found[number] for number in program.outputs)

    def __repr__(self) -> str:
        return f"block of {len(self.program.instructions)}"


# ---- chance --------------------------------------------------------------------------------------------------------


@op(
    "",
    scalars="seed offset",
    follow_scalars=False,
    name="chance",
    infer=lambda _o, _k, _a, p: make_aval((2,), INT64, p),
)
def chance_of(xp: Any, seed: Any, offset: Any) -> Any:
    """Where the random numbers of a condition or loop come from: it is new at each run, as any draw is."""
    return xp.stack([seed.astype(np.int64), offset.astype(np.int64)])


def _branched(chance: Any, number: Any) -> tuple[Any, Any]:
    """Seed and offset number so and so below a chance; wherever they are used, other ones give other random numbers."""
    mixed = chance[1:].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) + (np.asarray(number) if isinstance(number, int) else number).astype(
        np.uint64
    ) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(32))
    return chance[:1].astype(np.int64)[0], mixed.astype(np.int64)[0]


def _chance_in(arrays: Sequence[Any], needed: int) -> tuple[Sequence[Any], Any]:
    """The operands that blocks use, and the chance that comes behind them where a block draws."""
    return (arrays[:needed], arrays[needed]) if len(arrays) > needed else (arrays, None)


def chances(*blocks: Block) -> list[Tensor]:
    return [chance_of(*default_generator.draw())] if any(block.draws for block in blocks) else []


def _joined_flags(xp: Any, flags: Sequence[Any], before: int = 0, behind: int = 0) -> Any:
    """One vector, with room for the flags of the other block."""
    return xp.concatenate([xp.ones(before, bool), *flags, xp.ones(behind, bool)])


def _infer_cond(operation: Any, kinds: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    then, otherwise, then_inputs, otherwise_inputs = attributes
    first = then.infer([kinds[1 + i] for i in then_inputs])
    second = otherwise.infer([kinds[1 + i] for i in otherwise_inputs])
    for position, (a, b) in enumerate(zip(first, second, strict=True)):
        if a is not b and (a.shape != b.shape or a.dtype != b.dtype):
            raise operation.error(
                ValueError, f"both branches must give the same shape and type; result {position} is {a} or {b}", [],
                fix="cast or reshape in one of the branches",
            )  # fmt: skip
    return first


@op("arrays", variadic=True, outputs="list", infer=_infer_cond, name="cond")
def cond_blocks(
    xp: Any, arrays: Sequence[Any], then: Block, otherwise: Block,
    then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...],
) -> Any:  # fmt: skip
    """The results of one of two blocks, chosen by the first array."""
    if xp is not np:
        return _watched_cond(xp, arrays, then, otherwise, then_inputs, otherwise_inputs)[0]
    arrays, chance = _chance_in(arrays, 2 + max((*then_inputs, *otherwise_inputs), default=-1))
    block, positions = (then, then_inputs) if bool(np.all(arrays[0])) else (otherwise, otherwise_inputs)
    return block.run(np, [arrays[1 + i] for i in positions], chance)


def _watched_cond(
    xp: Any, arrays: Sequence[Any], then: Block, otherwise: Block,
    then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...],
) -> tuple[tuple[Any, ...], Any]:  # fmt: skip
    """While XLA traces: the results, and the flags of both blocks (those of the one not taken are good)."""
    import jax

    arrays, chance = _chance_in(arrays, 2 + max((*then_inputs, *otherwise_inputs), default=-1))
    kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), LOCAL.place) for a in arrays]
    counts = [
        len(block.checks([kinds[1 + i] for i in positions]))
        for block, positions in ((then, then_inputs), (otherwise, otherwise_inputs))
    ]

    def branch(block: Block, positions: tuple[int, ...], before: int, behind: int) -> Any:
        def run() -> Any:
            flags: list[Any] = []
            results = block.run(xp, [arrays[1 + i] for i in positions], chance, flags)
            return results, _joined_flags(xp, flags, before, behind)

        return run

    return jax.lax.cond(
        arrays[0].reshape(()).astype(bool),
        branch(then, then_inputs, 0, counts[1]),
        branch(otherwise, otherwise_inputs, counts[0], 0),
    )


def _checks_of_cond(
    kinds: Any, then: Block, otherwise: Block, then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...]
) -> list[tuple[Any, Location]]:
    return [
        check
        for block, positions in ((then, then_inputs), (otherwise, otherwise_inputs))
        for check in block.checks([kinds[1 + i] for i in positions])
    ]


def _infer_while(operation: Any, kinds: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    _test, body, count, _test_inputs, body_inputs = attributes
    state = tuple(kinds[:count])
    after = body.infer([kinds[i] for i in body_inputs])
    for position, (a, b) in enumerate(zip(state, after, strict=True)):
        if a is not b and (a.shape != b.shape or a.dtype != b.dtype):
            raise operation.error(
                ValueError,
                f"a loop variable must keep its shape and type; variable {position} is {a} before and {b} after a round",
                [], fix="cast or reshape it before the loop or at the end of the body",
            )  # fmt: skip
    return state


@op("arrays", variadic=True, outputs="list", infer=_infer_while, name="while_loop")
def while_blocks(
    xp: Any, arrays: Sequence[Any], test: Block, body: Block, count: int,
    test_inputs: tuple[int, ...], body_inputs: tuple[int, ...],
) -> Any:  # fmt: skip
    """The loop variables (the first `count` arrays) after the last round; the others stay as they are."""
    if xp is not np:
        return _watched_while(xp, arrays, test, body, count, test_inputs, body_inputs)[0]
    arrays, chance = _chance_in(arrays, max(count, 1 + max((*test_inputs, *body_inputs), default=-1)))
    state: Sequence[Any] = tuple(arrays[:count])
    for number in itertools.count():
        in_round = None if chance is None else np.stack(_branched(chance, number))

        def run(block: Block, positions: tuple[int, ...]) -> Any:
            return block.run(np, [state[i] if i < count else arrays[i] for i in positions], in_round)  # noqa: B023

        if not np.all(run(test, test_inputs)[0]):
            break
        state = run(body, body_inputs)
    return tuple(state)


def _watched_while(
    xp: Any, arrays: Sequence[Any], test: Block, body: Block, count: int,
    test_inputs: tuple[int, ...], body_inputs: tuple[int, ...],
) -> tuple[tuple[Any, ...], Any]:  # fmt: skip
    """While XLA traces: the loop variables, and the flags of both blocks; a check that fails ends the loop.

    The number of the round and the flags are loop variables too, where a block draws or is checked.
    """
    from .loop_gradient import differentiable_loop

    arrays, chance = _chance_in(arrays, max(count, 1 + max((*test_inputs, *body_inputs), default=-1)))
    kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), LOCAL.place) for a in arrays]
    num_test, num_body = (
        len(block.checks([kinds[i] for i in positions]))
        for block, positions in ((test, test_inputs), (body, body_inputs))
    )

    def run(block: Block, positions: tuple[int, ...], state: Any, fixed: Any, flags: list[Any]) -> tuple[Any, ...]:
        in_round = None if chance is None else xp.stack(_branched(fixed[-1], state[count]))
        return block.run(
            xp, [state[i] if i < count else fixed[i - count] for i in positions], in_round, flags
        )  # fmt: skip

    def run_test(state: Any, fixed: Any) -> Any:
        go_on = run(test, test_inputs, state, fixed, [])[0].reshape(()).astype(bool)
        return go_on & state[-1].all() if num_test + num_body else go_on

    def run_body(state: Any, fixed: Any) -> Any:
        flags: list[Any] = []
        if num_test:
            run(test, test_inputs, state, fixed, flags)
        after = run(body, body_inputs, state, fixed, flags)
        if chance is not None:
            after = (*after, state[count] + 1)
        return (*after, state[-1] & _joined_flags(xp, flags)) if num_test + num_body else after

    more = [] if chance is None else [xp.zeros((), np.int64)]
    if num_test + num_body:
        more.append(xp.ones(num_test + num_body, bool))
    fixed = [xp.asarray(a) for a in arrays[count:]] + ([] if chance is None else [chance])
    final = differentiable_loop(run_test, run_body, [*(xp.asarray(a) for a in arrays[:count]), *more], fixed)
    if not num_test + num_body:
        return tuple(final[:count]), xp.ones(0, bool)
    good = final[-1]
    if num_test:  # the test that ended the loop is checked as well
        flags: list[Any] = []
        run(test, test_inputs, final, fixed, flags)
        good = good & _joined_flags(xp, flags, 0, num_body)
    return tuple(final[:count]), good


def _checks_of_while(
    kinds: Any, test: Block, body: Block, count: int, test_inputs: tuple[int, ...], body_inputs: tuple[int, ...]
) -> list[tuple[Any, Location]]:
    return test.checks([kinds[i] for i in test_inputs]) + body.checks([kinds[i] for i in body_inputs])


def _replay_block(block: Block, tensors: list[Tensor]) -> list[Tensor]:
    from .replay import replay_program

    kinds = [tensor._aval for tensor in tensors]
    return replay_program(block.fitted(kinds), tensors, block.fresh_scalars(kinds), block.stops)


def _replay_cond(
    operands: list[Tensor], then: Block, otherwise: Block, then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...]
) -> Any:  # fmt: skip
    block, positions = (then, then_inputs) if bool(operands[0]) else (otherwise, otherwise_inputs)
    tensors = [operands[1 + i] for i in positions]
    return _replay_block(block, tensors)


def _replay_while(
    operands: list[Tensor], test: Block, body: Block, count: int, test_inputs: tuple[int, ...], body_inputs: tuple[int, ...]
) -> Any:  # fmt: skip
    def run(block: Block, positions: tuple[int, ...], state: list[Tensor]) -> list[Tensor]:
        tensors = [state[i] if i < count else operands[i] for i in positions]
        return _replay_block(block, tensors)

    state = list(operands[:count])
    while bool(run(test, test_inputs, state)[0]):
        state = run(body, body_inputs, state)
    return state


for _operation, _replay, _watched, _checks in (
    (cond_blocks.operation, _replay_cond, _watched_cond, _checks_of_cond),  # type: ignore[attr-defined]
    (while_blocks.operation, _replay_while, _watched_while, _checks_of_while),  # type: ignore[attr-defined]
):
    _operation.kernel.replay, _operation.kernel.watched, _operation.kernel.checks = _replay, _watched, _checks
# For a backward pass that is captured itself (elsewhere `replay` differentiates what it runs).
cond_blocks.operation.gradient = DerivedVariadicGradient(cond_blocks.operation)  # type: ignore[attr-defined]
while_blocks.operation.gradient = DerivedVariadicGradient(while_blocks.operation)  # type: ignore[attr-defined]
