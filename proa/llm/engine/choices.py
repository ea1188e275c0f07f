"""The choice of tokens beyond the likeliest, as programs: one for each number of places, whatever the model's step was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.locks import new_lock
from ...eager.modes import no_grad
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.capture import capture
from ...ir.transforms.exactness import arithmetic
from ...ops.basic import full_of
from ...ops.generation.choosing import NUMBERS, USES, choose_tokens
from ...ops.shape.joining import concat_along
from .request import MOST_BIASES


class Spec(NamedTuple):
    """An input of a program."""

    name: str
    shape: tuple[int, ...]
    dtype: Any


class Chosen(NamedTuple):
    """What a step found at its places, on the host; log-probabilities only where they were asked for."""

    tokens: np.ndarray
    logprobs: np.ndarray | None = None
    top_tokens: np.ndarray | None = None
    top_logprobs: np.ndarray | None = None
    scores: np.ndarray | None = None  # of the targets behind every token of the step


class Given(NamedTuple):
    """What a step gives: the fields of `Chosen` as tensors, and the checks of what went in, as `Graph.run` leaves them."""

    chosen: tuple[Tensor, ...]
    scores: Tensor | None
    checks: tuple[Callable[[], None], ...]


class Started:
    """A step under way; `given` waits until it has been started, and raises what kept it from that."""

    def __init__(self, given: Callable[[], Given]) -> None:
        self.given = given

    @property
    def tokens(self) -> Tensor:
        return self.given().chosen[0]

    def read(self) -> Chosen:
        """Waits for what was chosen."""
        given = self.given()
        for check in given.checks:
            check()
        chosen = Chosen(*(np.asarray(tensor._data()) for tensor in given.chosen))
        return chosen if given.scores is None else chosen._replace(scores=np.asarray(given.scores._data()))


def run_graph(
    graph: Any, tensors: list[Tensor], name: str = "", checks: list[Callable[[], None]] | None = None
) -> Any:  # fmt: skip
    """Runs a captured program; with the `name` of an arithmetic as it was written, compiled to the last bit. `checks` takes
    those of the program, which is waited for without it."""
    with arithmetic(name):
        return graph.optimised(0 if name else None).run(tensors, checks)


class Choices:
    """Programs that choose among logits [places, vocabulary], with up to `context` tokens before each place.

    The tokens of a step are an array of at least `room`, whatever the step's places: the next step may take them from there.
    """

    def __init__(self, vocabulary: int, context: int, room: int, exact: bool = False) -> None:
        self.vocabulary, self.context, self.room = vocabulary, context, room
        self.arithmetic = "exact" if exact else ""
        self.nothing = tensor_from_data(np.zeros(room, np.int32))
        self._graphs: dict[Any, Any] = {}
        self._idle: dict[int, dict[str, Tensor]] = {}
        self._lock = new_lock()

    def specs(self, places: int) -> list[Spec]:
        """The inputs beside the logits, as `choose_tokens` takes them."""
        words = -(-self.vocabulary // 32)
        sizes: dict[str, tuple[tuple[int, ...], Any]] = {
            "numbers": ((places, len(NUMBERS)), np.float32),
            "limits": ((places, 2), np.int32),
            "history": ((places, self.context), np.int32),
            "bias_tokens": ((places, MOST_BIASES), np.int32),
            "bias_values": ((places, MOST_BIASES), np.float32),
            "allowed": ((places, words), np.int32),
            "uses": ((len(USES),), np.int32),
        }
        return [Spec(name, size, np.dtype(dtype)) for name, (size, dtype) in sizes.items()]

    def filled_up(self, tokens: Any) -> Any:
        """Zeros behind the tokens of a step, up to `room`."""
        missing = self.room - tokens._aval.shape[0]
        return tokens if missing <= 0 else concat_along([tokens, full_of(0, (missing,), tokens._aval.dtype)], 0)

    def _choose(self, *given: Any) -> Any:
        tokens, *others = choose_tokens(*given)
        return [self.filled_up(tokens), *others]

    def _program(self, logits: Any) -> Any:
        key = logits._aval
        found = self._graphs.get(key)
        if found is None:
            with self._lock, no_grad():
                specs = self.specs(key.shape[0])
                graph = capture(self._choose, [Spec("logits", key.shape, key.dtype), *specs], name="choice")
                self._idle[key.shape[0]] = {s.name: tensor_from_data(np.zeros(s.shape, s.dtype)) for s in specs}
                found = self._graphs[key] = graph
        return found

    def run(
        self, logits: Any, given: dict[str, np.ndarray], checks: list[Callable[[], None]] | None = None
    ) -> tuple[Tensor, ...]:  # fmt: skip
        """Chooses a token in each row of the logits, as `batch.choose_at` says."""
        graph = self._program(logits)
        idle = self._idle[logits._aval.shape[0]]
        inputs = [tensor_from_data(given[n]) if n in given else idle[n] for n in idle]
        return tuple(run_graph(graph, [logits, *inputs], self.arithmetic, checks))
