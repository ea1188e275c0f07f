"""A model's own parameters on the servers: rows of one table, 256 numbers each, with the worker's optimiser as its rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from .config import TableConfig
from .session import Session

_TABLE, _WIDTH = "dense parameters", 256


class DenseParameters:
    """Parameters that all workers share; each begins with a row of its own."""

    def __init__(self, session: Session, parameters: Sequence[Any], optimizer: Any) -> None:
        self._session = session
        self._shapes = [tuple(parameter.shape) for parameter in parameters]
        self._dtypes = [parameter._aval.dtype for parameter in parameters]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]
        self._chunks = [-(-size // _WIDTH) for size in self._sizes]
        self._rule = rule_of(optimizer)

    def start(self, values: list[np.ndarray]) -> list[np.ndarray]:
        """What all workers begin with: the values of the first, or what a job before has left."""
        if not self._sizes:
            return []
        rule, settings = self._rule
        self._session.create(TableConfig(_TABLE, _WIDTH, rule, settings=settings, initial_range=0.0, max_age=10**9))
        if self._session.worker == 0:
            self._session.client.update("assign", _TABLE, self._ids(), self._flat(values), self._ones())
        self._session.barrier("dense")
        return self.pull()

    def push(self, gradients: Sequence[np.ndarray | None], rate: float) -> None:
        """Sends gradients, in the order of the parameters; None where there is none."""
        if self._sizes:
            self._session.communicator.push(_TABLE, self._ids(), self._flat(gradients), self._ones(), rate)

    def pull(self) -> list[np.ndarray]:
        """The parameters as the servers have them."""
        if not self._sizes:
            return []
        rows = self._session.communicator.pull(_TABLE, self._ids())
        found, begin = [], 0
        for shape, dtype, size, chunks in zip(self._shapes, self._dtypes, self._sizes, self._chunks):
            found.append(rows[begin : begin + chunks].reshape(-1)[:size].reshape(shape).astype(dtype))
            begin += chunks
        return found

    def _ids(self) -> np.ndarray:
        return np.arange(sum(self._chunks), dtype=np.int64)

    def _ones(self) -> np.ndarray:
        return np.ones(sum(self._chunks), np.float32)

    def _flat(self, arrays: Sequence[np.ndarray | None]) -> np.ndarray:
        rows = np.zeros((sum(self._chunks), _WIDTH), np.float32)
        begin = 0
        for array, size, chunks in zip(arrays, self._sizes, self._chunks):
            if array is not None:
                rows[begin : begin + chunks].reshape(-1)[:size] = np.asarray(array, np.float32).reshape(-1)
            begin += chunks
        return rows


def rule_of(optimizer: Any) -> tuple[str, dict[str, float]]:
    """The table's rule that does what an optimiser does."""
    if optimizer._grad_clip is not None or optimizer._weight_decay:
        raise value_error(
            "fleet.distributed_optimizer", "the servers neither clip gradients nor decay weights", type(optimizer).__name__,
            "leave grad_clip and weight_decay out",
        )  # fmt: skip
    name = type(optimizer).__name__
    if name == "SGD":
        return "sgd", {}
    if name == "Adagrad":
        return "adagrad", {"epsilon": optimizer._epsilon, "initial": optimizer._initial_accumulator_value}
    if name == "Adam":
        return "adam", {"beta1": optimizer._beta1, "beta2": optimizer._beta2, "epsilon": optimizer._epsilon}
    raise value_error("fleet.distributed_optimizer", "the servers know SGD, Adagrad and Adam", name)
