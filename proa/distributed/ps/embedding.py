"""`SparseEmbedding`: an embedding whose table lies on the servers, and the optimiser that sends its gradients there.

A lookup fetches the rows of the features in a batch, each once, as a small table that takes part in autograd like any
parameter. After `backward` the optimiser's step reads its gradient and sends it. The small table is filled up to a power of
two, so that batches with different numbers of features are the same program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...nn import functional as F
from ...nn.layer import Layer
from ...ops.create.top_level import in_dynamic_mode
from .config import TableConfig
from .session import Lookup, current_session

_DENSE, _DENSE_WIDTH = "dense parameters", 256
_SMALLEST = 64


class SparseEmbedding(Layer):
    """Rows of numbers for features, any 64-bit integers, that are made when they are first seen.

    `entry` says which features take part (`CountFilterEntry`, `ProbabilityEntry`). `rule` is the table's optimiser ("sgd",
    "adagrad", "adam"), `rate` its learning rate. Further settings are those of `TableConfig`. In `eval()` unknown features
    are zeros and nothing is made.
    """

    def __init__(
        self, width: int, name: str = "embedding", rule: str = "adagrad", rate: float = 0.05, padding_idx: int | None = None,
        entry: Any = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        base = TableConfig(name, width, rule, rate, **settings)
        settings.update(base.with_entry(entry))
        self._config = TableConfig(name, width, rule, rate, **settings)
        self._padding = padding_idx
        current_session().create(self._config)

    def forward(self, ids: Any) -> Tensor:
        """The rows of features, in the shape of `ids` with one dimension more."""
        return look_up(self._config, ids, self._padding, self.training)

    def extra_repr(self) -> str:
        return f"{self._config.name!r}, width={self._config.width}, rule={self._config.rule!r}"


def look_up(config: TableConfig, ids: Any, padding: int | None, is_training: bool) -> Tensor:
    """The rows of features; in training their gradients will be sent with the optimiser's next step."""
    array = np.asarray(ids.numpy() if isinstance(ids, Tensor) else ids)
    if array.dtype.kind not in "iu":
        raise type_error("SparseEmbedding", "features must be integers", str(array.dtype))
    session = current_session()
    found, places, counts = np.unique(array.astype(np.int64), return_inverse=True, return_counts=True)
    rows = np.zeros((max(_SMALLEST, 1 << (len(found) - 1).bit_length()), config.width), np.float32)
    real = np.ones(len(found), bool) if padding is None else found != padding
    rows[: len(found)][real] = session.communicator.pull(config.name, found[real], create=is_training)
    if padding is not None and not real.all():
        # The row of the padding is the last one, which stays zero and whose gradient nobody reads.
        rows, found, counts, places = _without_padding(rows, found, counts, places, real)
    table = tensor_from_data(rows)
    if is_training:
        table.stop_gradient = False
        session.lookups.append(Lookup(config.name, found, counts.astype(np.float32), table))
    return F.embedding(tensor_from_data(places.reshape(array.shape)), table)


def sparse_embedding(
    input: Tensor, size: Any, padding_idx: int | None, is_test: bool, entry: Any, param_attr: Any
) -> Tensor:
    """`paddle.static.nn.sparse_embedding` of a worker, in eager code: the table has the parameter's name."""
    if not in_dynamic_mode():
        raise NotImplementedError(
            "(static.nn.sparse_embedding) programs do not send gradients to table servers yet; leave enable_static() out: "
            "eager code does."
        )
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        raise value_error("static.nn.sparse_embedding", "size must be [rows, width]", f"{size!r}")
    name = getattr(param_attr, "name", None)
    if name is None:
        raise value_error(
            "static.nn.sparse_embedding", "a table needs a name, by which it is found at each call",
            f"param_attr: {param_attr}", "give param_attr=paddle.ParamAttr(name=...)",
        )  # fmt: skip
    config = TableConfig(name, int(size[1]))
    config = TableConfig(name, int(size[1]), **config.with_entry(entry))
    current_session().create(config)
    padding = padding_idx if padding_idx is None or padding_idx >= 0 else int(size[0]) + padding_idx
    return look_up(config, input, padding, not is_test)


def _without_padding(rows: Any, found: Any, counts: Any, places: Any, real: Any) -> tuple[Any, ...]:
    number = int(np.nonzero(~real)[0][0])
    kept = np.zeros((max(_SMALLEST, 1 << len(found).bit_length()), rows.shape[1]), np.float32)
    kept[: len(found) - 1] = rows[: len(found)][real]
    last = len(kept) - 1
    places = np.where(places == number, last, places - (places > number))
    return kept, found[real], counts[real], places


class ServerOptimizer:
    """An optimiser whose steps happen on the servers: those of the embeddings, and those of the model's own parameters."""

    def __init__(self, optimizer: Any) -> None:
        self._inner = optimizer
        self._session = current_session()
        self._parameters = [p for p in optimizer._parameter_list if not p.stop_gradient]
        self._sizes = [int(np.prod(parameter.shape)) for parameter in self._parameters]
        self._chunks = [-(-size // _DENSE_WIDTH) for size in self._sizes]
        self._start()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _start(self) -> None:
        """All workers begin with the values of the first, or with what a job before has left."""
        if not self._parameters:
            return
        rule, settings = _rule_of(self._inner)
        self._session.create(
            TableConfig(_DENSE, _DENSE_WIDTH, rule, settings=settings, initial_range=0.0, max_age=10**9)
        )
        if self._session.worker == 0:
            values = self._flat([parameter.numpy() for parameter in self._parameters])
            self._session.client.update("assign", _DENSE, self._ids(), values, self._ones())
        self._session.barrier("dense")
        self.pull()

    def _ids(self) -> np.ndarray:
        return np.arange(sum(self._chunks), dtype=np.int64)

    def _ones(self) -> np.ndarray:
        return np.ones(sum(self._chunks), np.float32)

    def _flat(self, arrays: list[np.ndarray | None]) -> np.ndarray:
        """Arrays as rows of the table, each beginning with a row of its own."""
        rows = np.zeros((sum(self._chunks), _DENSE_WIDTH), np.float32)
        begin = 0
        for array, size, chunks in zip(arrays, self._sizes, self._chunks):
            if array is not None:
                rows[begin : begin + chunks].reshape(-1)[:size] = np.asarray(array, np.float32).reshape(-1)
            begin += chunks
        return rows

    def pull(self) -> None:
        """Takes over the parameters as the servers have them."""
        rows = self._session.communicator.pull(_DENSE, self._ids())
        begin = 0
        for parameter, size, chunks in zip(self._parameters, self._sizes, self._chunks):
            values = rows[begin : begin + chunks].reshape(-1)[:size].reshape(parameter.shape)
            parameter.set_value(values.astype(parameter._aval.dtype))
            begin += chunks

    def step(self) -> None:
        """Sends the gradients and fetches the parameters as they are then."""
        rate = float(self._inner.get_lr())
        self._session.push_lookups(None)
        if self._parameters:
            gradients = [None if p.grad is None else p.grad.numpy() for p in self._parameters]
            self._session.communicator.push(_DENSE, self._ids(), self._flat(gradients), self._ones(), rate)
        self._session.communicator.stepped()
        if self._parameters:
            self.pull()

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> tuple[None, None]:
        """backward and step."""
        loss.backward()
        self.step()
        return None, None


def _rule_of(optimizer: Any) -> tuple[str, dict[str, float]]:
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
