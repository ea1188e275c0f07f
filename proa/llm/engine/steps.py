"""The programs of a model's steps: one for each shape that a step may have, captured once, compiled before it is needed.

A step takes `rows` sequences with up to `length` new tokens each and tables of `width` pages; it writes keys and values into
the pools, which are donated, and finds the likeliest token at each of `places` (numbers of tokens of the step, row after
row). Where more than that is asked (`batch.choose_at`), the logits, which stay where they are, go through one more program
that is the same for all shapes with so many places (`choices.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ...core.locks import new_lock
from ...eager.modes import no_grad
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.capture import capture
from ...ops.generation.choosing import likeliest_tokens, token_scores
from ..model import CausalLM
from .adapters import Adapters
from .cache import Paged
from .choices import Choices, Chosen, Spec, run_graph


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
        self, model: CausalLM, pools: list[Tensor], per_layer: int, choices: Choices, adapters: Adapters | None = None
    ) -> None:
        self.model, self.pools, self.per_layer = model, pools, per_layer
        self.choices, self.adapters = choices, adapters
        self._graphs: dict[Shape, Any] = {}
        self._lock = new_lock()

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
                pools = [Spec(f"pool{n}", t._aval.shape, t._aval.dtype) for n, t in enumerate(self.pools)]
                graph = capture(
                    self._step, [numbers, *pools], name="step",
                    build=lambda tensors: self._step(_apart(self.specs(shape), tensors[0]), tensors[1:]),
                )  # fmt: skip
                graph.donated = tuple(range(1, 1 + len(pools)))
                found = self._graphs[shape] = graph
        return found

    def _room(self, shape: Shape) -> int:
        return sum(int(np.prod(spec.shape)) for spec in self.specs(shape))

    def _step(self, given: dict[str, Tensor], pools: Sequence[Tensor]) -> Any:
        attend = Paged(pools, given["tables"], given["slots"], given["positions"], self.per_layer)
        with nullcontext() if self.adapters is None else self.adapters.in_place(given["adapters"]):
            hidden: Any = self.model.hidden(given["ids"], given["positions"], attend)
        rows = hidden.reshape([-1, hidden._aval.shape[-1]])
        if "targets" not in given:
            logits: Any = self.model.logits(rows.index_select(given["places"]))
            return [likeliest_tokens(logits), logits, None, *attend.pools]
        everywhere: Any = self.model.logits(rows)
        logits = everywhere.index_select(given["places"])
        scores = token_scores(everywhere, given["targets"].reshape([-1]))
        return [likeliest_tokens(logits), logits, scores, *attend.pools]

    def run(self, shape: Shape, given: dict[str, np.ndarray]) -> Chosen:
        """Runs a step. What is not given is zeros: tokens that nobody looks at, written to nobody's page."""
        graph = self.program(shape)
        numbers, end = np.zeros(self._room(shape), np.int32), 0
        for spec in self.specs(shape):
            begin, end = end, end + int(np.prod(spec.shape))
            if spec.name in given:
                numbers[begin:end] = given[spec.name].reshape(-1)
        inputs = [tensor_from_data(numbers), *self.pools]
        tokens, logits, scores, *pools = run_graph(graph, inputs, self.choices.exact)
        self.pools[:] = pools
        uses_more = "uses" in given and given["uses"].any()
        chosen = self.choices.run(logits, given) if uses_more else Chosen(np.asarray(tokens._data()))
        return chosen if scores is None else chosen._replace(scores=np.asarray(scores._data()))


def _apart(specs: list[Spec], numbers: Any) -> dict[str, Tensor]:
    """The inputs of a step, cut out of the one array in which they come."""
    found, end = {}, 0
    for spec in specs:
        begin, end = end, end + int(np.prod(spec.shape))
        found[spec.name] = numbers[begin:end].reshape(list(spec.shape))
    return found
