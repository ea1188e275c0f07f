"""Conditions and loops in a graph: operations whose attributes are Programs.

`cond_of` and `while_of` capture their functions as Programs of their own ("blocks") when the predicate is a tensor that
has no value yet; otherwise they are Python's own `if` and `while`. The results of a block are flat lists of tensors;
tensors from outside that a block changes in place are results of it as well and get their new values behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import is_differentiable
from ..core.errors import type_error, value_error
from ..core.generator import default_generator
from ..eager.declare import op
from ..eager.derived import DerivedVariadicGradient
from ..eager.dispatch import record
from ..eager.tensor import Tensor, alias
from ..eager.views import take_over
from ..ir.capture import CaptureSegment, Capturing
from ..ir.dimensions import specialise
from ..ir.interpreter import run_on_numpy
from ..ir.lowering import call_kernel
from ..ir.program import Program
from ..ir.recorder import LOCAL
from .capture import number_of, placeholder
from .graph import positions_of_draws
from .stops import Stops
from .structure import map_tensors

_MOST_FITS = 64


class Block:
    """A Program inside a Program. Hashed by identity: a block is captured once and belongs to one instruction."""

    def __init__(self, program: Program, scalars: list[Any], stops: Any = None) -> None:
        self.program = program
        self.scalars = scalars
        self.stops = stops  # where gradients end (stops.py)
        # The Program and scalars for operands of other sizes: a loop asks for the same ones in every round.
        self._fits: dict[tuple[Aval, ...], tuple[Program, list[Any]]] = {}

    def fresh_scalars(self, kinds: Sequence[Aval]) -> list[Any]:
        """The scalars for these operands, with new seeds for the random operations."""
        scalars = list(self.fitted_scalars(kinds))
        for seed, offset in positions_of_draws(self.program):
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
            program, sizes = specialise(self.program, list(kinds))
            drawn = {position for pair in positions_of_draws(self.program) for position in pair}  # seeds are no sizes
            scalars = [s if n in drawn else sizes.resolve_scalar(s) for n, s in enumerate(self.scalars)]
            if len(self._fits) >= _MOST_FITS:
                self._fits.clear()
            found = self._fits[key] = (program, scalars)
        return found

    def run(self, xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Its results for arrays, with NumPy or while XLA traces."""
        place = self.program.inputs[0].place if self.program.inputs else LOCAL.place
        kinds = [make_aval(tuple(a.shape), np.dtype(a.dtype), place) for a in arrays]
        program, scalars = self.fitted(kinds), self.fitted_scalars(kinds)
        if xp is np:
            values = run_on_numpy(program, list(arrays), scalars)
            return tuple(values[number] for number in program.outputs)
        found: dict[int, Any] = {}
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
            for offset, result in enumerate(call_kernel(xp, instruction, arguments, place)):
                found[instruction.index + offset] = result
        return tuple(found[number] for number in program.outputs)

    def __repr__(self) -> str:
        return f"block of {len(self.program.instructions)}"


# ---- the operations ----------------------------------------------------------------------------------------------


def _infer_cond(operation: Any, kinds: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    then, otherwise, then_inputs, otherwise_inputs = attributes
    first = then.infer([kinds[1 + i] for i in then_inputs])
    second = otherwise.infer([kinds[1 + i] for i in otherwise_inputs])
    for position, (a, b) in enumerate(zip(first, second, strict=True)):
        if a is not b:
            raise operation.error(
                ValueError, f"both branches must give the same shape and type; result {position} is {a} or {b}", [],
                fix="cast or reshape in one of the branches",
            )  # fmt: skip
    return first


@op("arrays", variadic=True, outputs="list", infer=_infer_cond, name="cond")
def cond_blocks(
    xp: Any, arrays: list[Any], then: Block, otherwise: Block,
    then_inputs: tuple[int, ...], otherwise_inputs: tuple[int, ...],
) -> Any:  # fmt: skip
    """The results of one of two blocks, chosen by the first array."""
    predicate, operands = arrays[0], arrays[1:]
    chosen = [operands[i] for i in then_inputs], [operands[i] for i in otherwise_inputs]
    if xp is np:
        return then.run(np, chosen[0]) if bool(np.all(predicate)) else otherwise.run(np, chosen[1])
    import jax

    return jax.lax.cond(
        predicate.reshape(()).astype(bool),
        lambda: then.run(xp, chosen[0]),
        lambda: otherwise.run(xp, chosen[1]),
    )


def _infer_while(operation: Any, kinds: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    _test, body, count, _test_inputs, body_inputs = attributes
    state = tuple(kinds[:count])
    after = body.infer([kinds[i] for i in body_inputs])
    for position, (a, b) in enumerate(zip(state, after, strict=True)):
        if a is not b:
            raise operation.error(
                ValueError,
                f"a loop variable must keep its shape and type; variable {position} is {a} before and {b} after a round",
                [], fix="cast or reshape it before the loop or at the end of the body",
            )  # fmt: skip
    return state


@op("arrays", variadic=True, outputs="list", infer=_infer_while, name="while_loop")
def while_blocks(
    xp: Any, arrays: list[Any], test: Block, body: Block, count: int,
    test_inputs: tuple[int, ...], body_inputs: tuple[int, ...],
) -> Any:  # fmt: skip
    """The loop variables (the first `count` arrays) after the last round; the others stay as they are."""
    constants = arrays[count:]

    def chosen(state: Sequence[Any], positions: tuple[int, ...]) -> list[Any]:
        return [state[i] if i < count else constants[i - count] for i in positions]

    if xp is np:
        state: Sequence[Any] = tuple(arrays[:count])
        while bool(np.all(test.run(np, chosen(state, test_inputs))[0])):
            state = body.run(np, chosen(state, body_inputs))
        return tuple(state)
    from .loop_gradient import differentiable_loop

    def with_constants(block: Block, positions: tuple[int, ...]) -> Any:
        return lambda state, fixed: block.run(xp, [state[i] if i < count else fixed[i - count] for i in positions])

    run_test, run_body = with_constants(test, test_inputs), with_constants(body, body_inputs)
    return differentiable_loop(
        lambda state, fixed: run_test(state, fixed)[0].reshape(()).astype(bool),
        run_body,
        [xp.asarray(a) for a in arrays[:count]],
        [xp.asarray(a) for a in constants],
    )


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


cond_blocks.operation.kernel.replay = _replay_cond  # type: ignore[attr-defined]
while_blocks.operation.kernel.replay = _replay_while  # type: ignore[attr-defined]
# For a backward pass that is captured itself (elsewhere `replay` differentiates what it runs).
cond_blocks.operation.gradient = DerivedVariadicGradient(cond_blocks.operation)  # type: ignore[attr-defined]
while_blocks.operation.gradient = DerivedVariadicGradient(while_blocks.operation)  # type: ignore[attr-defined]


# ---- capturing them ----------------------------------------------------------------------------------------------


def is_unknown(value: Any) -> bool:
    """Whether something is a tensor whose value does not exist while the code is captured."""
    return isinstance(value, Tensor) and value._value is None and value._segment is not None and value._segment.captures


class BlockCapture:
    """A function that was run in a segment of its own and is not a block yet.

    `result` is what it gave, with tensors that stay what they are when the changes of the function are taken back;
    `updates` are the tensors from outside that it changed. `record` adds to the block (casts, for instance).
    """

    def __init__(self, segment: CaptureSegment, result: Any) -> None:
        self.segment = segment
        self.result = map_tensors(self._kept, result)
        self.updates = segment.updates()

    def _kept(self, tensor: Tensor) -> Tensor:
        if id(tensor) not in self.segment.remembered:
            return tensor
        kept = alias(tensor)
        kept.stop_gradient, kept._node = tensor.stop_gradient, tensor._node
        return kept

    def record(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What `function` records becomes part of the block."""
        with _reopened(self.segment):
            return function(*arguments)

    def block(self, results: Sequence[Tensor], changed: Sequence[Tensor]) -> Block:
        """With the new values of `changed` behind the results; what it did not change it passes through."""
        own = {id(tensor): index for tensor, index in self.updates}
        with _reopened(self.segment):
            numbers = [number_of(self.segment, tensor) for tensor in results]
            for tensor in changed:
                index = own.get(id(tensor))
                numbers.append(index if index is not None and index >= 0 else number_of(self.segment, tensor))
        program = self.segment.program(tuple(numbers))
        return Block(program, self.segment.scalars, Stops(self.segment, program))


class _reopened:
    def __init__(self, segment: CaptureSegment) -> None:
        self.segment = segment

    def __enter__(self) -> None:
        self.before = LOCAL.segment
        LOCAL.segment = self.segment

    def __exit__(self, *_exception: Any) -> None:
        LOCAL.segment = self.before


def capture_block(function: Callable[..., Any], avals: Sequence[Aval] = ()) -> BlockCapture:
    """Runs a function on placeholders in a segment of its own, inside the capture that is going on."""
    with Capturing() as segment:
        # Whether a loop variable has a gradient is only known behind the loop: it is taken to have one.
        placeholders = [placeholder(segment, aval, not is_differentiable(aval.dtype)) for aval in avals]
        try:
            return BlockCapture(segment, function(*placeholders))
        except BaseException:
            segment.updates()
            raise


def _joined(first: Sequence[tuple[Tensor, int]], second: Sequence[tuple[Tensor, int]]) -> list[Tensor]:
    return list({id(tensor): tensor for tensor, _ in (*first, *second)}.values())


def _positions(tensors: list[Tensor], wanted: Sequence[Tensor], start: int = 0) -> tuple[int, ...]:
    """Where the wanted tensors are in the list (from `start` on), to which new ones are added."""
    found: list[int] = []
    for tensor in wanted:
        for position in range(start, len(tensors)):
            if tensors[position] is tensor:
                break
        else:
            position = len(tensors)
            tensors.append(tensor)
        found.append(position)
    return tuple(found)


# Makes the results of two branches two lists of tensors that agree in shape and type, one for one.
Unify = Callable[[BlockCapture, BlockCapture], tuple[Sequence[Tensor], Sequence[Tensor]]]


def cond_of(
    predicate: Tensor, then: Callable[[], Any], otherwise: Callable[[], Any], unify: Unify | None = None
) -> list[Tensor]:
    """The tensors that one of two functions gives, as part of the graph that is being captured.

    With `unify` the functions may give anything; it makes tensors of what they gave.
    """
    if not is_unknown(predicate):
        return list(then() if bool(predicate) else otherwise())
    if predicate._aval.size != 1:
        raise value_error("cond", "the predicate must have one element", f"pred: {predicate._aval}")
    first, second = capture_block(then), capture_block(otherwise)
    results = (unify or _as_they_are)(first, second)
    changed = _joined(first.updates, second.updates)
    blocks = first.block(results[0], changed), second.block(results[1], changed)
    operands: list[Tensor] = []
    positions = _positions(operands, first.segment.inputs), _positions(operands, second.segment.inputs)
    made = list(record(cond_blocks.operation, [predicate, *operands], (*blocks, *positions)))  # type: ignore[attr-defined]
    return _settle(made, changed)


def _as_they_are(first: BlockCapture, second: BlockCapture) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    if len(first.result) != len(second.result):
        raise type_error(
            "cond",
            "both branches must give the same number of tensors",
            f"{len(first.result)} and {len(second.result)}",
        )
    return first.result, second.result


def while_of(
    test: Callable[..., Tensor], body: Callable[..., Sequence[Tensor]], state: Sequence[Tensor]
) -> list[Tensor]:
    """The loop variables after the last round, as part of the graph that is being captured."""
    avals = [tensor._aval for tensor in state]
    first, second = capture_block(lambda *t: [test(*t)], avals), capture_block(body, avals)
    if len(second.result) != len(state):
        raise type_error("while_loop", f"the body must give {len(state)} loop variables", f"{len(second.result)}")
    return loop_of(first, first.result[0], second, second.result, state)


def loop_of(
    test: BlockCapture, outcome: Tensor, body: BlockCapture, results: Sequence[Tensor], state: Sequence[Tensor]
) -> list[Tensor]:
    """The loop of a test and a body that were captured already, each with a placeholder for every loop variable."""
    # What the body changes is a loop variable too, though the user did not say so.
    changed = [tensor for tensor, _ in body.updates]
    body_block, test_block = body.block(results, changed), test.block([outcome], [])
    count = len(state) + len(changed)
    operands = [*state, *changed]
    test_inputs = _renumbered(test.segment.inputs, len(state), operands)
    body_inputs = _renumbered(body.segment.inputs, len(state), operands)
    attributes = (test_block, body_block, count, test_inputs, body_inputs)
    made = list(record(while_blocks.operation, operands, attributes))  # type: ignore[attr-defined]
    return _settle(made, changed)


def _renumbered(inputs: Sequence[Tensor], num_state: int, operands: list[Tensor]) -> tuple[int, ...]:
    """Where a block's inputs are among the loop's operands: its placeholders first, then tensors from outside."""
    return (*range(num_state), *_positions(operands, inputs[num_state:], num_state))


def _settle(results: list[Tensor], changed: list[Tensor]) -> list[Tensor]:
    """Gives tensors that the blocks changed their new values; the rest is the user's.

    Tensors that share memory are all among those changed, so nothing is carried between them here.
    """
    if changed:
        for tensor, value in zip(changed, results[-len(changed) :], strict=True):
            node, stop = tensor._node, tensor.stop_gradient
            take_over(tensor, value)
            if value.stop_gradient:
                tensor._node, tensor.stop_gradient = node, stop
        results = results[: -len(changed)]
    return results


__all__ = ["Block", "BlockCapture", "capture_block", "cond_of", "is_unknown", "loop_of", "while_of"]
