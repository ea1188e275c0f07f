"""Model: a network with its optimiser, loss and metrics, and the loops that train, evaluate and apply it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import runtime_error, type_error, value_error
from ..core.tracebacks import boundary
from ..eager.annotations import DTypeLike
from ..eager.tensor import Tensor
from ..metric import Metric
from ..nn import Layer
from . import checkpoint, loops
from .data import as_list, as_tensors, count_inputs
from .precision import Precision
from .steps import eval_step, predict_step, train_step

if TYPE_CHECKING:
    from ..optimizer.optimizer import Optimizer


class Model:
    """A network to be trained, evaluated and applied.

    `prepare` says how, `fit`, `evaluate` and `predict` do it for whole datasets, `train_batch`, `eval_batch` and
    `predict_batch` for one batch. `inputs` and `labels` are InputSpecs; without `inputs`, a batch's first entries go to
    the arguments of `network.forward` and the others to the loss.
    """

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        if not isinstance(network, Layer):
            raise type_error("Model", "network must be a Layer", type(network).__name__)
        self.network = network
        self.mode = "train"
        self.stop_training = False
        self._inputs = _specs("inputs", inputs)
        self._labels = _specs("labels", labels)
        self._num_inputs = len(self._inputs) if self._inputs else count_inputs(network)
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Any] = []
        self._precision = Precision(None)
        self._last_shapes: list[tuple[list[int], Any]] = []

    # ---- preparing ---------------------------------------------------------------------------------------------

    def prepare(
        self, optimizer: Optimizer | None = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None
    ) -> None:
        """Says how to train (`optimizer`, `loss`), what to measure (`metrics`) and in which precision (`amp_configs`).

        `loss` is a Layer or a function of outputs and labels that gives one loss, several or a dictionary of them.
        `amp_configs` is a level ("O1", "O2") or a dictionary with the level and options of `paddle.amp`.
        """
        if loss is not None and not callable(loss):
            raise type_error("Model.prepare", "loss must be a Layer or a function", type(loss).__name__)
        for metric in as_list(metrics):
            if not isinstance(metric, Metric):
                raise type_error("Model.prepare", "metrics must be Metrics", type(metric).__name__)
        if optimizer is not None and not (hasattr(optimizer, "step") and hasattr(optimizer, "clear_grad")):
            raise type_error("Model.prepare", "optimizer must be an Optimizer", type(optimizer).__name__)
        precision = Precision(amp_configs)
        precision.decorate(self.network, optimizer)
        self._precision = precision
        self._optimizer, self._loss, self._metrics = optimizer, loss, as_list(metrics)

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The network's parameters."""
        return self.network.parameters(*args, **kwargs)

    # ---- one batch ---------------------------------------------------------------------------------------------

    @boundary
    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """One step of training; `update=False` only adds to the gradients.

        Gives the losses as a list of arrays; with metrics, a pair of that and what the metrics say of this batch.
        """
        self._check_trainable("train_batch")
        self.set_mode("train")
        losses, results = train_step(self, *self._batch("train_batch", inputs, labels), update, read=True)
        return self._answer(losses, results)

    @boundary
    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Losses and metrics of one batch, as `train_batch` gives them; without a loss, the metrics alone."""
        self.set_mode("eval")
        losses, results = eval_step(self, *self._batch("eval_batch", inputs, labels), read=True)
        return self._answer(losses, results)

    @boundary
    def predict_batch(self, inputs: Any) -> list[Any]:
        """The network's outputs for one batch, as a list of arrays."""
        self.set_mode("test")
        return [as_arrays(output) for output in predict_step(self, self._batch("predict_batch", inputs, None)[0])]

    def _batch(self, where: str, inputs: Any, labels: Any) -> tuple[list[Any], list[Any]]:
        tensors = as_tensors(f"Model.{where}", inputs)
        self._note_shapes(tensors)
        return tensors, as_tensors(f"Model.{where}", labels)

    def _answer(self, losses: list[Tensor], results: list[Any]) -> Any:
        arrays = [loss.numpy() for loss in losses]
        if not self._metrics:
            return arrays
        return (arrays, results) if self._loss is not None else results

    def _check_trainable(self, where: str) -> None:
        if self._optimizer is None or self._loss is None:
            raise runtime_error(
                f"Model.{where}", "the model has no optimizer and loss to train with", "",
                "call model.prepare(optimizer, loss) first",
            )  # fmt: skip

    def set_mode(self, mode: str) -> None:
        """Training or inference behaviour of the network: "train", "eval" or "test"."""
        self.mode = mode
        self.network.train(mode == "train")

    def _note_shapes(self, inputs: list[Any]) -> None:
        """Remembers what the network was last given, for saving it without InputSpecs."""
        self._last_shapes = [(list(t.shape), t.dtype) for t in inputs if isinstance(t, Tensor)]

    # ---- whole datasets ----------------------------------------------------------------------------------------

    @boundary
    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: Any = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | os.PathLike[str] | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Trains for `epochs`, or `num_iters` steps; evaluates every `eval_freq` epochs; saves to `save_dir`.

        The data is a Dataset, a DataLoader, or any iterable of batches. Losses are read from the device, and waited
        for, every `log_freq` steps and when a callback looks at them.
        """
        self._check_trainable("fit")
        loops.fit(
            self, train_data, eval_data, batch_size, epochs, eval_freq, log_freq, save_dir, save_freq, verbose,
            drop_last, shuffle, num_workers, callbacks, accumulate_grad_batches, num_iters,
        )  # fmt: skip

    @boundary
    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The loss of the last batch and the metrics over all of them, by name."""
        return loops.evaluate(self, eval_data, batch_size, log_freq, verbose, num_workers, callbacks, num_iters)

    @boundary
    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """The network's outputs: for each of them a tuple with an array per batch, or one array of all samples.

        `stack_outputs=True` joins the batches along the first dimension.
        """
        return loops.predict(self, test_data, batch_size, num_workers, stack_outputs, verbose, callbacks)

    # ---- files and tables --------------------------------------------------------------------------------------

    @boundary
    def save(self, path: str | os.PathLike[str], training: bool = True) -> None:
        """Saves to `path.pdparams` and `path.pdopt`; with `training=False`, the network for inference."""
        checkpoint.save(self, path, training)

    @boundary
    def load(self, path: str | os.PathLike[str], skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Loads what `save` wrote, here or in Paddle.

        Nothing is changed unless everything fits; `skip_mismatch=True` takes what fits, with a warning for the rest.
        """
        checkpoint.load(self, path, skip_mismatch, reset_optimizer)

    def summary(self, input_size: Any = None, dtype: DTypeLike | None = None) -> dict[str, int]:
        """Prints a table of the network's layers; see `paddle.summary`."""
        from .summary import summary

        size = input_size if input_size is not None else self._inputs
        if not size:
            raise value_error(
                "Model.summary", "the shape of the input is not known", "",
                "give input_size, or inputs=[InputSpec(…)] to Model",
            )  # fmt: skip
        return summary(self.network, size, dtype)


def as_arrays(value: Any) -> Any:
    """Arrays for the tensors of an output, which may be nested."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {name: as_arrays(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(as_arrays(entry) for entry in value) if type(value) in (list, tuple) else value
    return np.asarray(value) if isinstance(value, (int, float)) else value


def _specs(name: str, given: Any) -> list[Any]:
    """InputSpecs (or anything with a shape and a dtype) as a list."""
    found = list(given.values()) if isinstance(given, dict) else as_list(given)
    for spec in found:
        if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
            raise type_error("Model", f"{name} must be InputSpecs", type(spec).__name__, "use paddle.static.InputSpec")
    return found
