"""Conditions, loops and lists of tensors."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from .....graph.control import cond_of, is_unknown, while_of
from ..functions import paddle
from ..known import Known, NotKnown
from ..registry import reads

_MOST_ROUNDS = 10_000  # of a loop that is unrolled while reading


def _truth(translation: Any, predicate: Any) -> bool | None:
    """Whether a predicate holds; None if it is known only when the model runs."""
    if isinstance(predicate, Known):
        return None if predicate.has_sizes else bool(predicate.array.all())
    return None if is_unknown(predicate) else bool(predicate)


@reads("if", translates_blocks=True)
def condition(translation: Any, op: Any, inputs: list[Any]) -> Any:
    def branch(block: Any) -> list[Any]:
        translation.block(block)
        return [translation.held(value) for value in block.results]

    then, otherwise = op.blocks if len(op.blocks) == 2 else (*op.blocks, None)
    truth = _truth(translation, inputs[0])
    if truth is not None:
        chosen = then if truth else otherwise
        return tuple(branch(chosen)) if chosen is not None else ()
    predicate = translation.tensor(inputs[0])

    def tensors(block: Any) -> list[Tensor]:
        return [translation.tensor(value) for value in branch(block)] if block is not None else []

    return tuple(cond_of(predicate, lambda: tensors(then), lambda: tensors(otherwise)))


@reads("while", translates_blocks=True)
def loop(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """Its body gives whether to go on, then the loop variables."""
    body = op.blocks[0]
    state = inputs[1:]

    def one_round(values: list[Any]) -> list[Any]:
        translation.values.update(zip(body.arguments, values, strict=True))
        translation.block(body)
        return [translation.held(value) for value in body.results]

    if translation.immediate or any(isinstance(value, list) for value in state):
        return tuple(_unrolled(translation, inputs[0], one_round, state))
    first = translation.tensor(inputs[0])
    # In the graph the test looks at a boolean that travels with the loop variables.
    carried = [first, *(translation.tensor(value) for value in state)]

    def graph_round(_going: Tensor, *values: Tensor) -> list[Tensor]:
        found = [translation.tensor(value) for value in one_round(list(values))]
        return [_same_kind(new, old) for new, old in zip(found, (carried[0], *values), strict=True)]

    try:
        return tuple(while_of(lambda going, *_: paddle.assign(going), graph_round, carried)[1:])
    except ValueError:
        # A variable that grows: such a loop can be unrolled where its test is known.
        if _truth(translation, inputs[0]) is None:
            raise
        return tuple(_unrolled(translation, inputs[0], one_round, state))


def _same_kind(new: Tensor, old: Tensor) -> Tensor:
    if new._aval.shape != old._aval.shape and new._aval.size == old._aval.size == 1:
        new = new.reshape(list(old._aval.shape))
    return new


def _unrolled(translation: Any, going: Any, one_round: Any, state: list[Any]) -> list[Any]:
    for _ in range(_MOST_ROUNDS):
        truth = _truth(translation, going)
        if truth is None:
            raise NotKnown("(while) the number of rounds depends on values, and a loop variable changes its size.")
        if not truth:
            return state
        going, *state = one_round(state)
    raise NotKnown(f"(while) the loop has more than {_MOST_ROUNDS} rounds.")


# ---- lists of tensors ----------------------------------------------------------------------------------------------


@reads("create_array", "create_array_like", translates_blocks=True)
def create_array(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return ([],)


@reads("array_length", "lod_array_length", translates_blocks=True)
def array_length(translation: Any, op: Any, inputs: list[Any]) -> Any:
    import numpy as np

    return Known(np.asarray([len(inputs[0])], np.int64), "int64")


@reads("array_write_", translates_blocks=True)
def array_write(translation: Any, op: Any, inputs: list[Any]) -> Any:
    array, value, index = inputs
    position = translation.integers(index)[0]
    changed = list(array)
    changed += [value] * (position + 1 - len(changed))
    changed[position] = value
    # The list itself is changed too: a program may go on with it instead of the result.
    array[:] = changed
    return (array,)


@reads("array_read", translates_blocks=True)
def array_read(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return inputs[0][translation.integers(inputs[1])[0]]


@reads("array_pop", translates_blocks=True)
def array_pop(translation: Any, op: Any, inputs: list[Any]) -> Any:
    array = inputs[0]
    return array, array.pop(op.attributes.get("index", -1))


@reads("assign_array", translates_blocks=True)
def assign_array(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return (list(inputs[0]),)


@reads("slice_array", translates_blocks=True)
def slice_array(translation: Any, op: Any, inputs: list[Any]) -> Any:
    start, end = translation.integers(inputs[1])[0], translation.integers(inputs[2])[0]
    return (inputs[0][start:end],)


@reads("slice_array_dense", translates_blocks=True)
def slice_array_dense(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return inputs[0][translation.integers(inputs[1])[0]]


@reads("array_to_tensor", translates_blocks=True)
def array_to_tensor(translation: Any, op: Any, inputs: list[Any]) -> Any:
    tensors = [translation.tensor(value) for value in inputs[0]]
    axis = op.attributes.get("axis", 0)
    if op.attributes.get("use_stack"):
        return paddle.stack(tensors, axis)
    sizes = [tensor._aval.shape[axis] for tensor in tensors]
    return paddle.concat(tensors, axis), paddle.to_tensor(sizes, dtype="int32")


# ---- what only training or debugging needs -------------------------------------------------------------------------


@reads("assert", "cf.stack_create", "cf.tuple_push", "cf.tuple_pop", "cf.has_elements", "print", translates_blocks=True)
def nothing(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return tuple(inputs[: len(op.outputs)])


@reads("select_input", translates_blocks=True)
def select_input(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """One of two values, by a number: what is left of a condition in the older format."""
    mask, first, second = inputs
    known = translation.number(mask) if not isinstance(mask, list) else None
    if known is not None:
        return second if int(known) else first
    chosen = translation.tensor(mask).astype("bool").reshape([])
    return paddle.where(chosen, translation.tensor(second), translation.tensor(first))


@reads("pylayer", translates_blocks=True)
def pylayer(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """The user's function for the forward pass; its backward block is not needed."""
    block = op.blocks[0]
    translation.values.update(zip(block.arguments, inputs, strict=False))
    translation.block(block)
    return tuple(translation.held(value) for value in block.results)
