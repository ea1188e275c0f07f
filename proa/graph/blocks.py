"""The operations that hold blocks (`ir/block.py`): conditions and loops.

Their kernels run blocks with NumPy or while XLA traces; `replay` runs one on the tape, where the branch that is taken is
looked up.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import INT64
from ..core.generator import default_generator
from ..eager.backward.derived import DerivedVariadicGradient
from ..eager.declare import op
from ..eager.tensor import Tensor
from ..ir.block import Block, branched, is_loose
from ..ir.capture import TRIALS
from ..ir.padding import rules
from ..ir.recorder import LOCAL
from ..ir.sizes.dimensions import Known, UnknownSize
from ..ir.watch import Location
from .replay import replay_program

# ---- key --------------------------------------------------------------------------------------------------------


@op(
    "",
    scalars="seed offset",
    follow_scalars=False,
    name="chance",
    infer=lambda _o, _k, _a, p: make_aval((2,), INT64, p),
    padding=rules.refused("how many numbers it draws depends on how much data there is"),
)
def random_key(xp: Any, seed: Any, offset: Any) -> Any:
    """Where the random numbers of a condition or loop come from: it is new at each run, as any draw is."""
    return xp.stack([seed.astype(np.int64), offset.astype(np.int64)])


def _key_in(arrays: Sequence[Any], needed: int) -> tuple[Sequence[Any], Any]:
    """The operands that blocks use, and the key that comes behind them where a block draws."""
    return (arrays[:needed], arrays[needed]) if len(arrays) > needed else (arrays, None)


def random_keys(*blocks: Block) -> list[Tensor]:
    return [random_key(*default_generator.draw())] if any(block.draws for block in blocks) else []


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


@op(
    "arrays",
    variadic=True,
    outputs="list",
    infer=_infer_cond,
    name="cond",
    family="control",
    padding=rules.refused("its blocks are programs of their own, which are not padded"),
)
def cond_blocks(
    xp: Any, arrays: Sequence[Any], then: Block, otherwise: Block,
    then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...],
) -> Any:  # fmt: skip
    """The results of one of two blocks, chosen by the first array."""
    if xp is not np:
        return _watched_cond(xp, arrays, then, otherwise, then_inputs, otherwise_inputs)[0]
    arrays, key = _key_in(arrays, 2 + max((*then_inputs, *otherwise_inputs), default=-1))
    block, positions = (then, then_inputs) if bool(np.all(arrays[0])) else (otherwise, otherwise_inputs)
    return block.run(np, [arrays[1 + i] for i in positions], key)


def _watched_cond(
    xp: Any, arrays: Sequence[Any], then: Block, otherwise: Block,
    then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...],
) -> tuple[tuple[Any, ...], Any]:  # fmt: skip
    """While XLA traces: the results, and the flags of both blocks (those of the one not taken are good)."""
    import jax

    arrays, key = _key_in(arrays, 2 + max((*then_inputs, *otherwise_inputs), default=-1))
    kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), LOCAL.place) for a in arrays]
    counts = [
        len(block.checks([kinds[1 + i] for i in positions]))
        for block, positions in ((then, then_inputs), (otherwise, otherwise_inputs))
    ]

    def branch(block: Block, positions: tuple[int, ...], before: int, behind: int) -> Any:
        def run() -> Any:
            flags: list[Any] = []
            results = block.run(xp, [arrays[1 + i] for i in positions], key, flags)
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


@op(
    "arrays",
    variadic=True,
    outputs="list",
    infer=_infer_while,
    name="while_loop",
    family="control",
    padding=rules.refused("its blocks are programs of their own, which are not padded"),
)
def while_blocks(
    xp: Any, arrays: Sequence[Any], test: Block, body: Block, count: int,
    test_inputs: tuple[int, ...], body_inputs: tuple[int, ...],
) -> Any:  # fmt: skip
    """The loop variables (the first `count` arrays) after the last round; the others stay as they are."""
    if xp is not np:
        return _watched_while(xp, arrays, test, body, count, test_inputs, body_inputs)[0]
    arrays, key = _key_in(arrays, max(count, 1 + max((*test_inputs, *body_inputs), default=-1)))
    state: Sequence[Any] = tuple(arrays[:count])
    for number in itertools.count():
        in_round = None if key is None else np.stack(branched(key, number))

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

    arrays, key = _key_in(arrays, max(count, 1 + max((*test_inputs, *body_inputs), default=-1)))
    kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), LOCAL.place) for a in arrays]
    num_test, num_body = (
        len(block.checks([kinds[i] for i in positions]))
        for block, positions in ((test, test_inputs), (body, body_inputs))
    )

    def run(block: Block, positions: tuple[int, ...], state: Any, fixed: Any, flags: list[Any]) -> tuple[Any, ...]:
        in_round = None if key is None else xp.stack(branched(fixed[-1], state[count]))
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
        if key is not None:
            after = (*after, state[count] + 1)
        return (*after, state[-1] & _joined_flags(xp, flags)) if num_test + num_body else after

    more = [] if key is None else [xp.zeros((), np.int64)]
    if num_test + num_body:
        more.append(xp.ones(num_test + num_body, bool))
    fixed = [xp.asarray(a) for a in arrays[count:]] + ([] if key is None else [key])
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
    kinds = [tensor._aval for tensor in tensors]
    return replay_program(block.fitted(kinds), tensors, block.fresh_scalars(kinds), block.stops)


def _replay_staged(block: Block, tensors: list[Tensor], key: Any) -> list[Tensor]:
    """The results of a block whose sizes are found on the way. Random operations draw by `key`, as in `Block.run`."""
    scalars = list(block.scalars)
    if key is not None:
        for number, (seed, offset) in enumerate(block.draws):
            scalars[seed], scalars[offset] = (int(part) for part in branched(key, number))
    known = Known(block.known or {})
    results = replay_program(block.program, tensors, scalars, block.stops, known)
    for owner in {id(symbol.owner): symbol.owner for symbol in known}.values():
        broken = owner.broken(known)
        if broken is not None:  # the block was captured for sizes that answer otherwise
            raise UnknownSize(f"a block holds for sizes with {broken}; received {dict(known)}")
    return results


def take_branch(
    then: Block, otherwise: Block, then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...], operands: list[Tensor],
    key: list[Tensor], predicate: Tensor,
) -> list[Tensor]:  # fmt: skip
    """A condition that no executable can hold: values decide the shapes in a branch, or those of its results."""
    block, positions = (then, then_inputs) if bool(predicate) else (otherwise, otherwise_inputs)
    return _replay_staged(block, [operands[i] for i in positions], key[0].numpy() if key else None)


def changing_sizes(
    test: Block, body: Block, count: int, test_inputs: tuple[int, ...], body_inputs: tuple[int, ...], *_rest: Any
) -> set[tuple[int, int]]:
    """Which sizes (variable, axis) of a loop's variables change from round to round."""
    return {
        (variable, axis)
        for variable, aval in zip(body_inputs, body.program.inputs, strict=True)
        for axis, size in enumerate(aval.shape if variable < count else ())
        if is_loose(size)
    }


def take_rounds(
    test: Block, body: Block, count: int, test_inputs: tuple[int, ...], body_inputs: tuple[int, ...],
    operands: list[Tensor], key: list[Tensor],
) -> list[Tensor]:  # fmt: skip
    """A loop that no executable can hold: values decide shapes in it."""
    state, drawn = operands[:count], key[0].numpy() if key else None
    for number in itertools.count():
        in_round = None if drawn is None else np.stack(branched(drawn, number))

        def run(block: Block, positions: tuple[int, ...]) -> list[Tensor]:
            tensors = [state[i] if i < count else operands[i] for i in positions]  # noqa: B023
            return _replay_staged(block, tensors, in_round)  # noqa: B023

        if not bool(run(test, test_inputs)[0]):
            return state
        TRIALS.count_round(number)
        state = run(body, body_inputs)
    raise AssertionError("an endless loop ended")


take_rounds.any_size = changing_sizes  # sizes of results that examples may not show


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
    (cond_blocks.operation, _replay_cond, _watched_cond, _checks_of_cond),
    (while_blocks.operation, _replay_while, _watched_while, _checks_of_while),
):
    _operation.kernel.replay, _operation.kernel.watched, _operation.kernel.checks = _replay, _watched, _checks
# For a backward pass that is captured itself (elsewhere `replay` differentiates what it runs).
cond_blocks.operation.gradient = DerivedVariadicGradient(cond_blocks.operation)
while_blocks.operation.gradient = DerivedVariadicGradient(while_blocks.operation)
