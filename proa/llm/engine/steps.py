"""The programs of a model's steps: one for each shape that a step may have, captured once, compiled before it is needed.

A step takes `rows` sequences with up to `length` new tokens each and tables of `width` pages; it writes keys and values into
the pools, which are donated, and finds the likeliest token at each of `places` (numbers of tokens of the step, row after
row). Where more than that is asked (`batch.choose_at`), the logits, which stay where they are, go through one more program
that is the same for all shapes with so many places (`choices.py`).

A GPU's step is some hundred kernels, which take about as long to start as to run. XLA starts them as one graph (a command
buffer), in which it replaces the kernels whose arrays lie elsewhere than at the last run. So that these are few, logits are
written over those of the step before: an array of that size, made anew at each step, also moves XLA's own memory about, and
with it every kernel. Where steps are started ahead, a thread of its own does that, so that tokens are read and told, and the
next step described, meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ...core.locks import new_lock
from ...eager.modes import no_grad
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.capture import capture
from ...ops.basic import full_of
from ...ops.generation.choosing import likeliest_tokens, token_scores
from ...ops.math.ternary import where
from ..model import CausalLM
from .adapters import Adapters
from .cache import Paged
from .choices import Choices, Chosen, Given, Spec, Started, run_graph
from .ggml import PagedAsGgml
from .starting import Starter


class Shape(NamedTuple):
    """The sizes that a program is compiled for."""

    rows: int
    length: int
    width: int
    places: int
    scores: bool = False  # whether the log-probability of `targets` is wanted behind every token


class Steps:
    """The programs of one model over one set of pools."""

    def __init__(
        self, model: CausalLM, pools: list[Tensor], per_layer: int, choices: Choices, adapters: Adapters | None = None,
        arithmetic: str = "", ahead: bool = False,
    ) -> None:  # fmt: skip
        self.model, self.pools, self.per_layer, self.arithmetic = model, pools, per_layer, arithmetic
        self.choices, self.adapters = choices, adapters
        self._graphs: dict[Shape, Any] = {}
        self._last_logits: dict[int, Tensor] = {}  # by the number of places
        self._lock = new_lock()
        self._starter = Starter() if ahead else None

    @property
    def shapes(self) -> list[Shape]:
        """Those that have a program."""
        return list(self._graphs)

    @staticmethod
    def specs(shape: Shape) -> list[Spec]:
        """The inputs of a step beside the pools."""
        rows, length, width, places, scores = shape
        sizes = {
            "ids": (rows, length), "positions": (rows, length), "slots": (rows, length), "tables": (rows, width),
            "places": (places,), "adapters": (rows,), **({"targets": (rows, length)} if scores else {}),
        }  # fmt: skip
        return [Spec(name, size, np.dtype("int32")) for name, size in sizes.items()]

    def program(self, shape: Shape) -> Any:
        """The captured step of a shape; it is compiled at its first run."""
        found = self._graphs.get(shape)
        if found is None:
            with self._lock, no_grad():
                # One array for all numbers: on a GPU each one that goes there costs as much as a layer of a small model.
                numbers = Spec("numbers", (self._room(shape),), np.dtype("int32"))
                before = Spec("before", (self.choices.room,), np.dtype("int32"))
                kind = self.model.norm.weight._aval.dtype
                written = [Spec("logits", (shape.places, self.choices.vocabulary), kind)]
                written += [Spec(f"pool{n}", t._aval.shape, t._aval.dtype) for n, t in enumerate(self.pools)]
                graph = capture(
                    self._step, [numbers, before, *written], name="step",
                    build=lambda tensors: self._step(_apart(self.specs(shape), tensors[0]), tensors[1], tensors[3:]),
                )  # fmt: skip
                graph.donated = tuple(range(2, 2 + len(written)))
                found = self._graphs[shape] = graph
        return found

    def _room(self, shape: Shape) -> int:
        return sum(int(np.prod(spec.shape)) for spec in self.specs(shape))

    def _step(self, given: dict[str, Tensor], before: Tensor, pools: Sequence[Tensor]) -> Any:
        kind = PagedAsGgml if self.arithmetic == "ggml" else Paged
        attend = kind(pools, given["tables"], given["slots"], given["positions"], self.per_layer)
        ids = _with_chosen(given["ids"], before)
        with nullcontext() if self.adapters is None else self.adapters.in_place(given["adapters"]):
            hidden: Any = self.model.hidden(ids, given["positions"], attend)
        rows = hidden.reshape([-1, hidden._aval.shape[-1]])
        if "targets" not in given:
            logits: Any = self.model.logits(rows.index_select(given["places"]))
            return [self.choices.filled_up(likeliest_tokens(logits)), logits, None, *attend.pools]
        everywhere: Any = self.model.logits(rows)
        logits = everywhere.index_select(given["places"])
        scores = token_scores(everywhere, given["targets"].reshape([-1]))
        return [self.choices.filled_up(likeliest_tokens(logits)), logits, scores, *attend.pools]

    def run(self, shape: Shape, given: dict[str, np.ndarray]) -> Chosen:
        """Runs a step and waits for what it chose."""
        return self.start(shape, given).read()

    def start(self, shape: Shape, given: dict[str, np.ndarray], before: Started | None = None) -> Started:
        """Starts a step. What is not given is zeros: tokens that nobody looks at, written to nobody's page. An id of -1 - n
        is the token that the step `before` chose at its place n, which nobody need have read."""
        if self._starter is not None:
            return Started(self._starter.begin(lambda: self._start(shape, given, before)).result)
        made = self._start(shape, given, before)
        return Started(lambda: made)

    def _start(self, shape: Shape, given: dict[str, np.ndarray], before: Started | None) -> Given:
        graph = self.program(shape)
        numbers, end = np.zeros(self._room(shape), np.int32), 0
        for spec in self.specs(shape):
            begin, end = end, end + int(np.prod(spec.shape))
            if spec.name in given:
                numbers[begin:end] = given[spec.name].reshape(-1)
        chosen_before = self.choices.nothing if before is None else before.tokens
        over = self._last_logits.pop(shape.places, None)
        if over is None:
            aval = graph.output_avals[1]
            over = full_of(0, aval.shape, aval.dtype)
        inputs = [tensor_from_data(numbers), chosen_before, over, *self.pools]
        checks: list[Callable[[], None]] = []  # waiting for them here would leave the device idle until the next step
        tokens, logits, scores, *pools = run_graph(graph, inputs, self.arithmetic, checks)
        self.pools[:], self._last_logits[shape.places] = pools, logits
        uses_more = "uses" in given and given["uses"].any()
        chosen = self.choices.run(logits, given, checks) if uses_more else (tokens,)
        return Given(chosen, scores, tuple(checks))

    def renew(self, pools: Sequence[Tensor]) -> None:
        """Other pools from now on, behind all that is being started. Logits of a step that failed are not written over."""
        if self._starter is not None:
            self._starter.begin(lambda: None).result()
        self.pools[:] = pools
        self._last_logits.clear()

    def close(self) -> None:
        """Ends the thread that starts steps, behind all that it has to start."""
        if self._starter is not None:
            self._starter.close()


def _with_chosen(ids: Any, before: Any) -> Any:
    """Ids of rows with one token, those below zero replaced by tokens that the step before chose."""
    if ids._aval.shape[1] != 1:
        return ids
    chosen = before.index_select((-1 - ids).clip(min=0).reshape([-1]))
    return where(ids < 0, chosen.reshape(ids.shape), ids)


def _apart(specs: list[Spec], numbers: Any) -> dict[str, Tensor]:
    """The inputs of a step, cut out of the one array in which they come."""
    found, end = {}, 0
    for spec in specs:
        begin, end = end, end + int(np.prod(spec.shape))
        found[spec.name] = numbers[begin:end].reshape(list(spec.shape))
    return found
