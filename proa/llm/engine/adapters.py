"""LoRA adapters by request: the factors of all adapters lie in one array for each projection, and every row takes its own.

Number 0 is no adapter: factors of zeros. A step thus runs rows with different adapters together, and a new adapter is data:
nothing is compiled for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...core.locks import new_lock
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import replace_value
from ...nn import Layer
from ...ops.linear.linalg import matmul
from ..layers.projection import Projection
from ..model import CausalLM

_FLOAT32 = np.dtype("float32")


class Gathered(Layer):
    """The factors of one projection for all adapters: `down` [adapters, in, rank], `up` [adapters, rank, out]."""

    def __init__(self, projection: Projection, count: int, rank: int) -> None:
        super().__init__(dtype=None)
        self.before = projection.adapter  # one that the model has anyway
        self.rows: Any = None  # which adapter each row of the step has
        self.register_buffer("down", tensor_from_data(np.zeros((count, projection.in_features, rank), _FLOAT32)))
        self.register_buffer("up", tensor_from_data(np.zeros((count, rank, projection.out_features), _FLOAT32)))

    def forward(self, x: Any) -> Any:
        down, up = self.down.index_select(self.rows), self.up.index_select(self.rows)
        wide = x.astype("float32")
        shape = wide._aval.shape
        if len(shape) == 2:  # all tokens of the step in one list, as the MLP beside experts gets them
            wide = wide.reshape([self.rows._aval.shape[0], -1, shape[1]])
        added: Any = matmul(matmul(wide, down, False, False), up, False, False)
        if len(shape) == 2:
            added = added.reshape([shape[0], -1])
        added = added.astype(x.dtype)
        return added if self.before is None else added + self.before(x)

    def put(self, number: int, down: np.ndarray, up: np.ndarray) -> None:
        """Sets the factors of an adapter; what is missing to the full rank is zeros."""
        for tensor, factor, axis in ((self.down, down, 1), (self.up, up, 0)):
            whole = np.array(tensor._data())
            padding = [(0, 0), (0, 0)]
            padding[axis] = (0, whole.shape[1 + axis] - factor.shape[axis])
            whole[number] = np.pad(factor, padding)
            replace_value(tensor, tensor_from_data(whole))


class Adapters:
    """The adapters of an engine, by name."""

    def __init__(self, model: CausalLM, room: int, rank: int) -> None:
        self.room, self.rank = room, rank
        self._lock = new_lock()
        self._numbers: dict[str, tuple[int, int]] = {}  # by name: its place, and a number that no other ever has
        self._added = 0
        self._projections: dict[str, tuple[Projection, Gathered]] = {}
        if room:
            for name, layer in model.named_sublayers():
                # The head sees some tokens of a step only: which rows they are of is not known there.
                if isinstance(layer, Projection) and name.startswith("layers."):
                    self._projections[name] = (layer, Gathered(layer, room + 1, rank))

    @contextmanager
    def in_place(self, rows: Tensor) -> Iterator[None]:
        """While a step is captured, its projections add what the adapters of `rows` say."""
        for layer, gathered in self._projections.values():
            layer.adapter, gathered.rows = gathered, rows
        try:
            yield
        finally:
            for layer, gathered in self._projections.values():
                layer.adapter, gathered.rows = gathered.before, None

    def find(self, name: str | None) -> tuple[int, Any]:
        """The place of an adapter, and what its prefixes are kept under; ValueError if there is none."""
        if name is None:
            return 0, 0
        with self._lock:
            if name not in self._numbers:
                known = ", ".join(sorted(self._numbers)) or "none"
                raise value_error("Engine.submit", f"there is no adapter {name!r}", fix=f"there are: {known}")
            return self._numbers[name]

    def add(self, name: str, factors: Mapping[str, tuple[Any, Any]]) -> None:
        """Takes an adapter: by projection `down` [in, rank] and `up` [rank, out], with its scale in one of them."""
        checked = {place: self._checked(place, *pair) for place, pair in factors.items()}
        with self._lock:
            if name in self._numbers:
                raise value_error("Engine.add_adapter", f"there is an adapter {name!r} already", fix="remove it first")
            taken = {number for number, _ in self._numbers.values()}
            free = [number for number in range(1, self.room + 1) if number not in taken]
            if not free:
                raise value_error("Engine.add_adapter", f"there is room for {self.room} adapters",
                                  fix="set Options(adapters=…)")  # fmt: skip
            for place, (_, gathered) in self._projections.items():
                shapes = (gathered.down._aval.shape[1], 1), (1, gathered.up._aval.shape[2])
                gathered.put(free[0], *checked.get(place, tuple(np.zeros(shape, _FLOAT32) for shape in shapes)))
            self._added += 1
            self._numbers[name] = (free[0], self._added)

    def remove(self, name: str) -> None:
        self.find(name)
        with self._lock:
            self._numbers.pop(name, None)

    def _checked(self, place: str, down: Any, up: Any) -> tuple[np.ndarray, np.ndarray]:
        if place not in self._projections:
            raise value_error(
                "Engine.add_adapter", "no projection of a layer has this name", repr(place),
                "see whether the adapter belongs to this model; one of the head: merge it into its model",
            )  # fmt: skip
        down, up = (np.asarray(a.numpy() if isinstance(a, Tensor) else a, _FLOAT32) for a in (down, up))
        layer = self._projections[place][0]
        rank = down.shape[1] if down.ndim == 2 else -1
        if (
            down.shape != (layer.in_features, rank)
            or up.shape != (rank, layer.out_features)
            or not 0 < rank <= self.rank
        ):
            raise value_error(
                "Engine.add_adapter", f"{place} takes factors [{layer.in_features}, rank] and [rank, {layer.out_features}] "
                f"with a rank of at most {self.rank}", f"{list(down.shape)} and {list(up.shape)}",
                "set Options(adapter_rank=…)",
            )  # fmt: skip
        return down, up
