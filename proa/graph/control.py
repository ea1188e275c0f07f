"""Conditions and loops in a graph: capturing them as blocks.

`cond_of` and `while_of` capture their functions as Programs of their own ("blocks", see `blocks.py`) when the predicate is a
tensor that has no value yet; otherwise they are Python's own `if` and `while`. The results of a block are flat lists of
tensors; tensors from outside that a block changes in place are results of it as well and get their new values behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.aval import Aval, make_aval
from ..core.dtype import is_differentiable
from ..core.errors import message, type_error, value_error
from ..core.symbols import is_stated, is_symbolic, same_size
from ..eager.dispatch import record
from ..eager.tensor import Tensor, alias, tensor_from_data
from ..eager.views import take_over
from ..ir.block import LOOSE, Block, is_loose
from ..ir.capture import CaptureError, CaptureSegment, Capturing, can_put_off, put_off
from ..ir.recorder import LOCAL
from ..ir.sizes.assumptions import example_size
from .blocks import changing_sizes, cond_blocks, random_keys, take_branch, take_rounds, while_blocks
from .capture import number_of, placeholder
from .stops import Stops
from .structure import map_tensors


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
        return Block(program, self.segment.scalars, Stops(self.segment, program), self.segment.locations)


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
    is_empty = not results[0] and not changed
    if is_empty:  # an instruction gives something, and what happens inside it shall happen
        results = [first.record(tensor_from_data, 0)], [second.record(tensor_from_data, 0)]
    blocks = first.block(results[0], changed), second.block(results[1], changed)
    operands: list[Tensor] = []
    positions = _positions(operands, first.segment.inputs), _positions(operands, second.segment.inputs)
    key = random_keys(*blocks)
    if any(block.is_staged for block in blocks) or _only_sizes_differ(*blocks):
        # The predicate comes last: examples of what the condition gives try both branches first of all.
        arguments = (*blocks, *positions, operands, key, predicate)
        made = list(put_off(take_branch, arguments, {}, _of_different_sizes(*blocks)))
    else:
        operands = [predicate, *operands, *key]
        made = list(record(cond_blocks.operation, operands, (*blocks, *positions)))
    return [] if is_empty else _settle(made, changed)


def _only_sizes_differ(then: Block, otherwise: Block) -> bool:
    """Whether results of the branches agree in everything but sizes, and not in those."""
    pairs = list(zip(then.results, otherwise.results, strict=True))
    return any(a.shape != b.shape for a, b in pairs) and all(a.dtype == b.dtype and a.ndim == b.ndim for a, b in pairs)


class UnevenSizes(CaptureError, ValueError):
    """Sizes that differ between branches or rounds: no executable holds them, though operations one by one can run."""


def _of_different_sizes(then: Block, otherwise: Block) -> UnevenSizes:
    results = [f"{a} or {b}" for a, b in zip(then.results, otherwise.results, strict=True) if a is not b]
    return UnevenSizes(
        message(
            "cond", "both branches must give the same shape and type in a graph that is compiled as a whole",
            ", ".join(results), "reshape or pad in one of the branches",
        )
    )  # fmt: skip


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
    """The loop variables after the last round, as part of the graph that is being captured (else Python's own loop)."""
    if not LOCAL.segment.captures:
        while bool(test(*state)):
            state = list(body(*state))
        return list(state)
    avals = [tensor._aval for tensor in state]
    while True:
        second = capture_block(body, avals)
        if len(second.result) != len(state):
            raise type_error("while_loop", f"the body must give {len(state)} loop variables", f"{len(second.result)}")
        loose = [loosened(aval, after._aval) for aval, after in zip(avals, second.result, strict=True)]
        if all(new is old for new, old in zip(loose, avals, strict=True)):
            break
        avals = loose  # once more, for variables of these sizes
    first = capture_block(lambda *t: [test(*t)], avals)
    return loop_of(first, first.result[0], second, second.result, state)


def loosened(before: Aval, after: Aval) -> Aval:
    """What a loop variable is in each round: `before`, with a symbol for each size that a round changes."""
    if before.ndim != after.ndim or before.dtype != after.dtype or not can_put_off():
        return before  # an error, which says what the variable is before and after a round
    assumptions, shape = LOCAL.segment.assumptions, list(before.shape)
    moved = False
    for axis, (size, other) in enumerate(zip(before.shape, after.shape, strict=True)):
        if not same_size(size, other) and not is_loose(size) and not _stated_alike(size, other):
            shape[axis], moved = assumptions.symbol(LOOSE, example_size(axis), True), True
    return make_aval(tuple(shape), before.dtype, before.place) if moved else before


def _stated_alike(size: int, other: int) -> bool:
    """Whether two sizes are equal by what the program states of its inputs; the loop holds for inputs where they are."""
    symbolic = [value for value in (size, other) if is_symbolic(value)]
    return all(map(is_stated, symbolic)) and size == other


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
    key = random_keys(test_block, body_block)
    if test_block.is_staged or body_block.is_staged or changing_sizes(*attributes):
        refusal = value_error(
            "while_loop", "values decide shapes in the loop, and no example shows what it gives",
            fix="compute with masks (paddle.where) instead of selecting",
        )  # fmt: skip
        made = list(put_off(take_rounds, (*attributes, operands, key), {}, refusal))
    else:
        _refuse_uneven_rounds(state, results)
        made = list(record(while_blocks.operation, [*operands, *key], attributes))
    return _settle(made, changed)


def _refuse_uneven_rounds(state: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    for position, (first, after) in enumerate(zip(state, results, strict=True)):
        a, b = first._aval, after._aval
        if a.shape != b.shape and a.ndim == b.ndim and a.dtype == b.dtype:
            raise UnevenSizes(
                message(
                    "while_loop", "a loop variable must keep its shape and type in a graph that is compiled as a whole",
                    f"variable {position} is {a} before and {b} after a round",
                    "write into a tensor of the greatest size",
                )
            )  # fmt: skip


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


__all__ = [
    "Block", "BlockCapture", "UnevenSizes", "capture_block", "cond_of", "is_unknown", "loop_of", "loosened", "while_of",
]  # fmt: skip
