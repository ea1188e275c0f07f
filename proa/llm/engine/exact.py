"""One set of numbers: log-probabilities by the training code that an engine with `Options(exact=True)` gives bit by bit.

The model is the same; what differs between training and serving is how many rows stand beside a token, and where its keys
lie. In exact programs (`ir/transforms/exactness.py`) neither changes a bit. The training code attends through the same
operation as the engine does, over pages that lie in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.modes import no_grad
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.capture import capture
from ...kernels.cpu import library
from ...ops.generation.choosing import token_scores
from ...ops.generation.pages import paged_attention
from ...ops.shape.joining import concat_along
from ..layers.attend import Attend
from ..model import CausalLM
from .choices import Spec, run_graph

_PAGE = 16


class InPages(Attend):
    """Causal attention of whole sequences [batch, length], computed as the engine does it: keys as pages in their order."""

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int | None = None,
        cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        if bias is not None:
            raise NotImplementedError("(InPages) scores with a bias (relative positions) have no exact form.")
        batch, length = query._aval.shape[:2]
        pages = -(-length // _PAGE)
        tables = tensor_from_data(np.arange(batch * pages, dtype=np.int32).reshape(batch, pages))
        positions = tensor_from_data(np.tile(np.arange(length, dtype=np.int32), (batch, 1)))
        return paged_attention(
            query,
            _paged(key),
            _paged(value),
            tables,
            positions,
            sinks,
            None,
            None,
            float(scale),
            window,
            float(cap or 0.0),
        )


def _paged(rows: Any) -> Any:
    batch, length, *rest = rows._aval.shape
    missing = -length % _PAGE
    if missing:
        zeros = tensor_from_data(np.zeros((batch, missing, *rest), rows._aval.dtype))
        rows = concat_along([rows, zeros], 1)
    return rows.reshape([-1, _PAGE, *rest])


def scores(model: CausalLM, ids: Tensor) -> Tensor:
    """The log-probability of each token of `ids` [batch, length] but the first, `[batch, length - 1]`, by the training code.

    They have the engine's bits where they run as an exact program: through `Scorer`. They have no gradients (attention over
    pages has none): those come from the model's loss, which agrees with these numbers to rounding.
    """
    batch, length = ids._aval.shape
    with no_grad():
        hidden: Any = model.hidden(ids, None, InPages())
        logits: Any = model.logits(hidden[:, :-1].reshape([-1, hidden._aval.shape[-1]]))
        found: Any = token_scores(logits, ids[:, 1:].reshape([-1]))  # type: ignore[index]
        return found.reshape([batch, length - 1])


class Scorer:
    """`scores` as exact programs, one for each shape of ids."""

    def __init__(self, model: CausalLM, exact: bool = True) -> None:
        if exact:
            check_exact(model)
        self.model, self.exact = model, exact
        self._graphs: dict[Any, Any] = {}

    def __call__(self, ids: Any) -> np.ndarray:
        ids = np.asarray(ids, np.int32)
        if ids.ndim != 2 or ids.shape[1] < 2:
            raise value_error("Scorer", "ids are [batch, length] with at least two tokens", f"{list(ids.shape)}")
        graph = self._graphs.get(ids.shape)
        if graph is None:
            with no_grad():
                graph = capture(
                    lambda given: scores(self.model, given), [Spec("ids", ids.shape, ids.dtype)], name="scores"
                )
            self._graphs[ids.shape] = graph
        return np.asarray(run_graph(graph, [tensor_from_data(ids)], "exact" if self.exact else "")._data())


def check_exact(model: CausalLM) -> None:
    """ValueError for a model that has no exact form; waits for native code, which must not appear between two programs."""
    weight = model.norm.weight
    kind = weight._aval.place.kind
    if kind not in ("cpu", "gpu"):
        raise value_error("exact", "exact programs exist for the CPU and for NVIDIA GPUs", f"{weight._aval.place}")
    if str(weight._aval.dtype) != "float32":
        raise value_error("exact", "exact programs compute in float32", f"weights in {weight._aval.dtype}")
    if model.config.experts is not None:
        raise value_error("exact", "mixtures of experts have no exact form: tokens meet in their products")
    if any(getattr(layer, "storage", None) is not None for layer in model.sublayers()):
        raise value_error("exact", "exact programs need weights as floats", fix="load the model with dtype='float32'")
    if kind == "cpu":
        library.why_not()
