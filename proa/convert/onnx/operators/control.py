"""Conditions and loops.

A test that is known while the model is read is Python's own `if`; a loop whose number of rounds is known is unrolled
where its results grow with the rounds. Everything else becomes a condition or a loop of the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ....formats.paddle.reading.known import Known, NotKnown
from ....graph.control import cond_of, is_unknown, while_of
from ..registry import reads

_MOST_ROUNDS = 10_000  # of a loop that is unrolled
_FOREVER = 1 << 62


def _truth(value: Any) -> bool | None:
    """Whether a test holds; None if that is known only when the model runs."""
    if isinstance(value, Known):
        return None if value.has_sizes else bool(value.array.all())
    return None if is_unknown(value) else bool(value)


@reads("If", translates_blocks=True)
def condition(translation: Any, op: Any, inputs: list[Any]) -> Any:
    then, otherwise = op.attributes["then_branch"], op.attributes["else_branch"]
    truth = _truth(inputs[0])
    if truth is not None:
        return tuple(translation.inner(then if truth else otherwise, ()))

    def tensors(block: Any) -> list[Tensor]:
        values = translation.inner(block, ())
        if any(not isinstance(value, (Tensor, Known)) for value in values):
            raise NotKnown("(If) a branch gives a sequence, and which one is taken depends on values.")
        return [translation.tensor(value) for value in values]

    predicate = translation.tensor(inputs[0])
    return tuple(cond_of(predicate, lambda: tensors(then), lambda: tensors(otherwise)))


@reads("Loop", translates_blocks=True)
def loop(translation: Any, op: Any, inputs: list[Any]) -> Any:
    body = op.attributes["body"]
    count, going, *state = inputs
    num_scans = len(body.results) - 1 - len(state)
    rounds = None if count is None else _number(translation, count)
    first = True if going is None else _truth(going)
    if translation.immediate or num_scans or (rounds is not None and rounds <= 4):
        return tuple(_unrolled(translation, body, rounds if count is not None else _FOREVER, going, state, num_scans))
    if any(isinstance(value, list) for value in state):
        return tuple(_unrolled(translation, body, rounds if count is not None else _FOREVER, going, state, 0))
    try:
        return tuple(_in_graph(translation, body, count, going, state))
    except ValueError:
        if first is None or rounds is None:  # a variable that grows: unrolled where the rounds are known
            raise
        return tuple(_unrolled(translation, body, rounds, going, state, 0))


def _number(translation: Any, count: Any) -> int | None:
    try:
        return int(translation.integers(count)[0])
    except NotKnown:
        return None


def _unrolled(
    translation: Any, body: Any, rounds: int | None, going: Any, state: list[Any], num_scans: int
) -> list[Any]:
    if rounds is None:
        raise NotKnown("(Loop) the number of rounds depends on values, and the results grow with it.")
    scans: list[list[Tensor]] = [[] for _ in range(num_scans)]
    number = 0
    while number < rounds:
        truth = True if going is None else _truth(going)
        if truth is None:
            raise NotKnown("(Loop) the number of rounds depends on values, and the results grow with it.")
        if not truth:
            break
        if number >= _MOST_ROUNDS:
            raise NotKnown(f"(Loop) more than {_MOST_ROUNDS:,} rounds are not unrolled.")
        step = Known(np.asarray(number, np.int64), "int64")
        going, *found = translation.inner(body, [step, Known(np.asarray(True), "bool"), *state])
        state = found[: len(state)]
        for into, value in zip(scans, found[len(state) :], strict=True):
            into.append(translation.tensor(value))
        number += 1
    return [*state, *(_joined(parts, value) for parts, value in zip(scans, _scanned(body, len(state)), strict=True))]


def _scanned(body: Any, count: int) -> list[Any]:
    return body.results[1 + count :]


def _joined(parts: list[Tensor], declared: Any) -> Tensor:
    if parts:
        return paddle.stack(parts, 0)
    shape = [max(size, 0) for size in declared.shape or ()]
    return paddle.zeros([0, *shape], declared.dtype or "float32")


def _in_graph(translation: Any, body: Any, count: Any, going: Any, state: list[Any]) -> list[Tensor]:
    limit = (
        paddle.full([], _FOREVER, "int64") if count is None else translation.tensor(count).reshape([]).astype("int64")
    )
    start = paddle.full([], True, "bool") if going is None else translation.tensor(going).reshape([])
    carried = [paddle.full([], 0, "int64"), start, *(translation.tensor(value) for value in state)]

    def test(number: Tensor, going: Tensor, *_: Tensor) -> Tensor:
        return paddle.logical_and(going, number < limit)

    def one_round(number: Tensor, going: Tensor, *values: Tensor) -> list[Tensor]:
        found = [translation.tensor(value) for value in translation.inner(body, [number, going, *values])]
        return [number + 1, found[0].reshape([]), *found[1:]]

    return while_of(test, one_round, carried)[2:]


@reads("Scan", translates_blocks=True)
def scan(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """The rounds are the slices of the scanned inputs, so their number is a size."""
    given, body = op.attributes, op.attributes["body"]
    if op.version < 9:
        return _scan_of_batches(translation, op, inputs)
    num_scanned = given["num_scan_inputs"]
    state = list(inputs[: len(inputs) - num_scanned])
    num_made = len(body.results) - len(state)
    sources = [translation.tensor(value) for value in inputs[len(state) :]]
    axes = given.get("scan_input_axes") or [0] * num_scanned
    backwards = given.get("scan_input_directions") or [0] * num_scanned
    state, made = _scanned_rounds(translation, body, state, sources, axes, backwards)
    axes = given.get("scan_output_axes") or [0] * num_made
    turned = given.get("scan_output_directions") or [0] * num_made
    results = [
        paddle.stack(part[::-1] if turn else part, axis) for part, axis, turn in zip(made, axes, turned, strict=True)
    ]
    return (*state, *results)


def _scanned_rounds(
    translation: Any, body: Any, state: list[Any], sources: list[Tensor], axes: Any, backwards: Any
) -> tuple[list[Any], list[list[Tensor]]]:
    slices = [
        list(paddle.unbind(source, axis))[:: -1 if turn else 1]
        for source, axis, turn in zip(sources, axes, backwards, strict=True)
    ]
    made: list[list[Tensor]] = [[] for _ in range(len(body.results) - len(state))]
    for parts in zip(*slices, strict=True):
        found = translation.inner(body, [*state, *parts])
        state = found[: len(state)]
        for into, value in zip(made, found[len(state) :], strict=True):
            into.append(translation.tensor(value))
    return state, made


def _scan_of_batches(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """Version 8: the first axis is the batch, time the second; each sample is scanned by itself."""
    given, body = op.attributes, op.attributes["body"]
    num_scanned = given["num_scan_inputs"]
    tensors = [translation.tensor(value) for value in inputs[1:]]
    num_state = len(tensors) - num_scanned
    backwards = given.get("directions") or [0] * num_scanned
    finished: list[list[Tensor]] = [[] for _ in body.results]
    for sample in range(tensors[0]._aval.shape[0]):
        own = [tensor[sample] for tensor in tensors]
        state, made = _scanned_rounds(translation, body, own[:num_state], own[num_state:], [0] * num_scanned, backwards)
        for into, value in zip(finished, [*state, *(paddle.stack(part, 0) for part in made)], strict=True):
            into.append(translation.tensor(value))
    return tuple(paddle.stack(parts, 0) for parts in finished)
