"""Messages between the stages of a pipeline: activations forwards, gradients backwards.

Sending never waits. Messages between two processes come in the order in which they were sent, and that order is known from
the sender's schedule: whoever needs a later one puts the earlier ones aside. Activations come after a header with their
number, dtypes and shapes; gradients have the shapes of what was sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.aval import Aval
from ....core.dtype import to_numpy_dtype
from ....core.errors import value_error
from ....eager.backward.engine import zeros_of
from ....eager.tensor import Tensor, wrap
from ...transport.messages import isend, recv
from .schedules import Action

_DTYPES = (
    "float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128",
)  # fmt: skip
_HEADER = 128


def _header(tensors: Sequence[Tensor]) -> Tensor:
    numbers = [len(tensors)]
    for tensor in tensors:
        shape = tensor.shape
        if tensor._aval.dtype.name not in _DTYPES:
            raise value_error("PipelineParallel", f"stages hand on tensors of {', '.join(_DTYPES)}", f"{tensor._aval}")
        numbers += [_DTYPES.index(tensor._aval.dtype.name), int(tensor.stop_gradient), len(shape), *shape]
    if len(numbers) > _HEADER:
        raise value_error("PipelineParallel", "a stage hands on a few tensors of few axes", f"{len(tensors)} tensors")
    return wrap(np.array(numbers + [0] * (_HEADER - len(numbers)), np.int64))


def _described(header: Tensor) -> list[tuple[Tensor, bool]]:
    """Empty tensors for what a header announces, each with whether no gradient of it is wanted."""
    numbers = iter(header.numpy().tolist())
    found = []
    for _ in range(next(numbers)):
        kind, stop_gradient, rank = _DTYPES[next(numbers)], next(numbers), next(numbers)
        empty = np.zeros([next(numbers) for _ in range(rank)], to_numpy_dtype(kind))
        found.append((wrap(empty), bool(stop_gradient)))
    return found


class Mailbox:
    """This stage's messages of one batch. `ranks` are the processes of the stages, `plans` their schedules."""

    def __init__(self, stage: int, ranks: Sequence[int], plans: Sequence[Sequence[Action]], chunks: int) -> None:
        self.stage, self.ranks, self.parts = stage, ranks, len(ranks) * chunks
        self._expected = {sender: deque(self._sent_here(sender, plan)) for sender, plan in enumerate(plans)}
        self._arrived: dict[tuple[bool, int, int], list[Tensor]] = {}
        self._shapes: dict[tuple[int, int], list[Aval]] = {}
        self._tasks: deque[Any] = deque()

    def _sent_here(self, sender: int, plan: Sequence[Action]) -> list[tuple[bool, int, int]]:
        """What another stage sends to this one, in its order: (forwards, part it is for, micro-batch)."""
        found = []
        for is_forward, chunk, micro in plan:
            target = chunk * len(self.ranks) + sender + (1 if is_forward else -1)
            if 0 <= target < self.parts and target % len(self.ranks) == self.stage:
                found.append((is_forward, target, micro))
        return found

    def send_activations(self, part: int, micro: int, outputs: Sequence[Tensor]) -> None:
        """Hands the results of a part on to the next one."""
        self._shapes[part, micro] = [output._aval for output in outputs if not output.stop_gradient]
        receiver = self.ranks[(part + 1) % len(self.ranks)]
        for tensor in (_header(outputs), *(output.detach() for output in outputs)):
            self._send(tensor, receiver)

    def send_gradients(self, part: int, inputs: Sequence[Tensor]) -> None:
        """Hands the gradients of a part's inputs back to the one before."""
        receiver = self.ranks[(part - 1) % len(self.ranks)]
        for tensor in inputs:
            if not tensor.stop_gradient:
                gradient = tensor._grad if tensor._grad is not None else zeros_of(tensor._aval)
                self._send(gradient, receiver)

    def _send(self, tensor: Tensor, receiver: int) -> None:
        while self._tasks and self._tasks[0].is_completed():
            self._tasks.popleft().wait()  # raises what went wrong; and lets go of memory
        self._tasks.append(isend(tensor, receiver))

    def activations(self, part: int, micro: int) -> list[Tensor]:
        """The inputs of a part, from the one before."""
        return self._take((True, part, micro), (part - 1) % len(self.ranks))

    def gradients(self, part: int, micro: int) -> list[Tensor]:
        """The gradients of a part's results, from the next one."""
        return self._take((False, part, micro), (part + 1) % len(self.ranks))

    def _take(self, wanted: tuple[bool, int, int], sender: int) -> list[Tensor]:
        while wanted not in self._arrived:
            following = self._expected[sender].popleft()
            self._arrived[following] = self._receive(following, self.ranks[sender])
        return self._arrived.pop(wanted)

    def _receive(self, what: tuple[bool, int, int], sender: int) -> list[Tensor]:
        is_forward, part, micro = what
        if is_forward:
            header = wrap(np.zeros(_HEADER, np.int64))
            recv(header, sender)
            awaited = _described(header)
        else:
            awaited = [(wrap(np.zeros(aval.shape, aval.dtype)), True) for aval in self._shapes.pop((part, micro))]
        for tensor, stop_gradient in awaited:
            recv(tensor, sender)
            tensor.stop_gradient = stop_gradient
        return [tensor for tensor, _ in awaited]

    def close(self) -> None:
        """Waits until all messages are received."""
        while self._tasks:
            self._tasks.popleft().wait()
