"""One batch: forward, loss, metrics, backward, update. Plain eager code, so a hot step is one executable.

Nothing is read here. Losses come back as tensors; metrics that can (`reads_late`) keep tensors too and are computed
before the update, so that they belong to the same executable. Other metrics want arrays: they wait for the step and
are therefore called after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import type_error, value_error
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..ir import recorder
from ..ops.math.sums import add_n
from .data import as_list, flatten

if TYPE_CHECKING:
    from .model import Model


def train_step(
    model: Model, inputs: list[Any], labels: list[Any], update: bool, read: bool = False
) -> tuple[list[Tensor], list[Any]]:
    """Losses, and what the metrics' `update` returned: of all with `read`, else of those that want arrays."""
    precision, optimizer = model._precision, model._optimizer
    with precision.context():
        outputs = as_list(model.network(*inputs))
        losses = losses_of(model, outputs, labels)
    total = losses[0] if len(losses) == 1 else add_n(losses)
    late, others = _sorted_metrics(model, read)
    _keep(late, outputs, labels)
    precision.backward(total)
    if update:
        precision.step(optimizer)
    else:
        # Every batch is a piece of work of its own, however many are accumulated.
        recorder.flush_current()
    return losses, _update(others, outputs, labels)


def eval_step(model: Model, inputs: list[Any], labels: list[Any], read: bool = False) -> tuple[list[Tensor], list[Any]]:
    """As `train_step`, without learning from it."""
    with no_grad():
        with model._precision.context():
            outputs = as_list(model.network(*inputs))
            losses = losses_of(model, outputs, labels) if model._loss is not None else []
        late, others = _sorted_metrics(model, read)
        _keep(late, outputs, labels)
        recorder.flush_current()
        return losses, _update(others, outputs, labels)


def predict_step(model: Model, inputs: list[Any]) -> list[Any]:
    """The outputs, on their way."""
    with no_grad():
        with model._precision.context():
            outputs = as_list(model.network(*inputs))
        recorder.flush_current()
    return outputs


def losses_of(model: Model, outputs: list[Any], labels: list[Any]) -> list[Tensor]:
    """The losses as a list; the loss may give one, several, or a dictionary of them."""
    if model._loss is None:
        raise value_error("Model", "there is no loss to train with", "", "give one to prepare(loss=…)")
    losses = flatten(model._loss(*outputs, *labels))
    for loss in losses:
        if not isinstance(loss, Tensor):
            raise type_error("Model", "the loss must give a Tensor or several", type(loss).__name__)
        if loss.size != 1:
            raise value_error(
                "Model", "a loss must be a single number", f"{loss.dtype}{list(loss.shape)}",
                "reduce it, for instance with reduction='mean'",
            )  # fmt: skip
    return losses


def _sorted_metrics(model: Model, read: bool) -> tuple[list[Any], list[Any]]:
    """The metrics that keep tensors, and those that are given arrays."""
    late = [] if read else [metric for metric in model._metrics if getattr(metric, "reads_late", False)]
    return late, [metric for metric in model._metrics if metric not in late]


def _keep(metrics: list[Any], outputs: list[Any], labels: list[Any]) -> None:
    if metrics:
        with no_grad():
            for metric in metrics:
                metric.update_later(*as_list(metric.compute(*outputs, *labels)))


def _update(metrics: list[Any], outputs: list[Any], labels: list[Any]) -> list[Any]:
    results = []
    with no_grad():
        for metric in metrics:
            found = as_list(metric.compute(*outputs, *labels))
            results.append(metric.update(*(value.numpy() if isinstance(value, Tensor) else value for value in found)))
    return results
