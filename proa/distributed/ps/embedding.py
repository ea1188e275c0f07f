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
from ...ir.recorder import LOCAL
from ...nn import functional as F
from ...nn.layer import Layer
from ...ops.create.top_level import in_dynamic_mode
from .config import TableConfig
from .dense import DenseParameters
from .programs import table_name, table_program
from .session import Lookup, current_session, joined_session, padded_length


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
    rows = np.zeros((padded_length(len(found)), config.width), np.float32)
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
    """`paddle.static.nn.sparse_embedding` in a job with table servers: the table has the parameter's name."""
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        raise value_error("static.nn.sparse_embedding", "size must be [rows, width]", f"{size!r}")
    padding = padding_idx if padding_idx is None or padding_idx >= 0 else int(size[0]) + padding_idx
    if not in_dynamic_mode():
        config = _config(table_name(param_attr), int(size[1]), entry)
        return table_program(LOCAL.segment.owner).look_up(config, input, padding, is_test)
    name = getattr(param_attr, "name", None)
    if name is None:
        raise value_error(
            "static.nn.sparse_embedding", "a table needs a name, by which it is found at each call",
            f"param_attr: {param_attr}", "give param_attr=paddle.ParamAttr(name=...)",
        )  # fmt: skip
    config = _config(name, int(size[1]), entry)
    joined_session("static.nn.sparse_embedding").create(config)
    return look_up(config, input, padding, not is_test)


def _config(name: str, width: int, entry: Any) -> TableConfig:
    return TableConfig(name, width, **TableConfig(name, width).with_entry(entry))


def _without_padding(rows: Any, found: Any, counts: Any, places: Any, real: Any) -> tuple[Any, ...]:
    number = int(np.nonzero(~real)[0][0])
    kept = np.zeros((padded_length(len(found) + 1), rows.shape[1]), np.float32)
    kept[: len(found) - 1] = rows[: len(found)][real]
    last = len(kept) - 1
    places = np.where(places == number, last, places - (places > number))
    return kept, found[real], counts[real], places


class ServerOptimizer:
    """An optimiser whose steps happen on the servers: those of the embeddings, and those of the model's own parameters."""

    def __init__(self, optimizer: Any) -> None:
        self._inner = optimizer
        self._session = current_session()
        self._parameters = [p for p in optimizer._members if not p.stop_gradient]
        self._dense = DenseParameters(self._session, self._parameters, optimizer)
        self._set(self._dense.start([parameter.numpy() for parameter in self._parameters]))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _set(self, values: list[np.ndarray]) -> None:
        for parameter, value in zip(self._parameters, values):
            parameter.set_value(value)

    def pull(self) -> None:
        """Takes over the parameters as the servers have them."""
        self._set(self._dense.pull())

    def step(self) -> None:
        """Sends the gradients and fetches the parameters as they are then."""
        rate = float(self._inner.get_lr())
        self._session.push_lookups(None)
        self._dense.push([None if p.grad is None else p.grad.numpy() for p in self._parameters], rate)
        self._session.communicator.stepped()
        self.pull()

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> tuple[None, None]:
        """backward and step."""
        loss.backward()
        self.step()
        return None, None
