"""Model: a network with its optimiser, loss and metrics, and the loops that train, evaluate and apply it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import failed_type_check, runtime_error, type_error, value_error
from ..core.tracebacks import boundary
from ..eager.annotations import DTypeLike, TensorLike
from ..eager.tensor import Tensor
from ..metric import Metric
from ..nn import Layer
from . import checkpoint, loops
from .data import as_list, as_tensors, count_inputs
from .precision import Precision
from .steps import eval_step, predict_step, train_step

if TYPE_CHECKING:
    from ..io.dataloader.dataset import Dataset
    from ..io.reader import DataLoader
    from ..optimizer.optimizer import Optimizer
    from ..static.input_spec import InputSpec
    from .callbacks.base import Callback


class Model:
    """A network to be trained, evaluated and applied.

    `prepare` says how; `fit`, `evaluate` and `predict` do it for whole datasets, `train_batch`, `eval_batch` and
    `predict_batch` for one batch.

    Args:
        network: the network.
        inputs: InputSpecs of its arguments. Without them, the first entries of a batch go to the arguments of
            `network.forward` and the others to the loss.
        labels: InputSpecs of what the loss compares with.

    Examples:
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = [(np.ones([4, 2], "float32"), np.zeros([4, 1], "float32"))] * 20
        >>> model.fit(data, epochs=2, verbose=0)
        >>> bool(model.evaluate(data, verbose=0)["loss"][0] < 1e-3)
        True
    """

    def __init__(
        self,
        network: Layer,
        inputs: InputSpec | Sequence[InputSpec] | dict[str, InputSpec] | None = None,
        labels: InputSpec | Sequence[InputSpec] | dict[str, InputSpec] | None = None,
    ) -> None:
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
        self,
        optimizer: Optimizer | None = None,
        loss: Callable[..., Any] | None = None,
        metrics: Metric | Sequence[Metric] | None = None,
        amp_configs: Any = None,
    ) -> None:
        """Says how to train, what to measure and in which precision.

        Args:
            optimizer: what changes the parameters.
            loss: a Layer or a function of outputs and labels that gives one loss, several, or a dictionary of them.
            metrics: a Metric, or several.
            amp_configs: a level ("O1", "O2") or a dictionary with the level and options of `paddle.amp`.

        Raises:
            TypeError: the loss is no function, or a metric is none.

        Examples:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> len(model.train_batch(np.ones([4, 2], "float32"), np.zeros([4, 1], "float32")))
            1
        """
        if loss is not None and not callable(loss):
            raise type_error("Model.prepare", "loss must be a Layer or a function", type(loss).__name__)
        for metric in as_list(metrics):
            if not isinstance(metric, Metric):
                raise failed_type_check("Model.prepare", "metrics must be Metrics", type(metric).__name__)
        if optimizer is not None and not (hasattr(optimizer, "step") and hasattr(optimizer, "clear_grad")):
            raise type_error("Model.prepare", "optimizer must be an Optimizer", type(optimizer).__name__)
        precision = Precision(amp_configs)
        precision.decorate(self.network, optimizer)
        self._precision = precision
        self._optimizer, self._loss, self._metrics = optimizer, loss, as_list(metrics)

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network.

        Args:
            *args: as for the network's `parameters`.
            **kwargs: the same by name.

        Examples:
            >>> [parameter.shape for parameter in paddle.Model(paddle.nn.Linear(2, 3)).parameters()]
            [paddle.Size([2, 3]), paddle.Size([3])]
        """
        return self.network.parameters(*args, **kwargs)

    # ---- one batch ---------------------------------------------------------------------------------------------

    @boundary
    def train_batch(
        self,
        inputs: TensorLike | Sequence[TensorLike],
        labels: TensorLike | Sequence[TensorLike] | None = None,
        update: bool = True,
    ) -> Any:
        """One step of training.

        Args:
            inputs: an array, or a list of them.
            labels: the same for what the loss compares with.
            update: whether the parameters change; False only adds to the gradients.

        Returns:
            The losses as a list of arrays; with metrics, a pair of that and what the metrics say of this batch.

        Examples:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
            >>> batch = np.ones([4, 2], "float32"), np.zeros([4, 1], "float32")
            >>> first, second = model.train_batch(*batch)[0], model.train_batch(*batch)[0]
            >>> bool(second < first)
            True
        """
        self._check_trainable("train_batch")
        self.set_mode("train")
        losses, results = train_step(self, *self._batch("train_batch", inputs, labels), update, read=True)
        return self._answer(losses, results)

    @boundary
    def eval_batch(
        self, inputs: TensorLike | Sequence[TensorLike], labels: TensorLike | Sequence[TensorLike] | None = None
    ) -> Any:
        """Losses and metrics of one batch, without training.

        Args:
            inputs: an array, or a list of them.
            labels: the same for what the loss compares with.

        Returns:
            The losses as a list of arrays; with metrics a pair of that and what they say; without a loss, the metrics alone.

        Examples:
            >>> model = paddle.Model(paddle.nn.Identity())
            >>> model.prepare(loss=paddle.nn.MSELoss())
            >>> [float(loss) for loss in model.eval_batch([np.full([2, 1], 3.0, "float32")], [np.zeros([2, 1], "float32")])]
            [9.0]
        """
        self.set_mode("eval")
        losses, results = eval_step(self, *self._batch("eval_batch", inputs, labels), read=True)
        return self._answer(losses, results)

    @boundary
    def predict_batch(self, inputs: TensorLike | Sequence[TensorLike]) -> list[Any]:
        """The outputs of the network for one batch.

        Args:
            inputs: an array, or a list of them.

        Returns:
            A list of arrays.

        Examples:
            >>> model = paddle.Model(paddle.nn.ReLU())
            >>> model.prepare()
            >>> model.predict_batch([np.array([-1.0, 2.0], "float32")])
            [array([0., 2.], dtype=float32)]
        """
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
        """Lets the network behave as in training or as in inference.

        Args:
            mode: "train", "eval" or "test".

        Raises:
            ValueError: it is none of them.

        Examples:
            >>> model = paddle.Model(paddle.nn.Dropout(0.5))
            >>> model.set_mode("eval")
            >>> model.network.training
            False
        """
        if mode not in ("train", "eval", "test"):
            raise value_error("Model.set_mode", "mode must be 'train', 'eval' or 'test'", f"mode: {mode!r}")
        self.mode = mode
        self.network.train(mode == "train")

    def _note_shapes(self, inputs: list[Any]) -> None:
        """Remembers what the network was last given, for saving it without InputSpecs."""
        self._last_shapes = [(list(t.shape), t.dtype) for t in inputs if isinstance(t, Tensor)]

    # ---- whole datasets ----------------------------------------------------------------------------------------

    @boundary
    def fit(
        self,
        train_data: Dataset | DataLoader | None = None,
        eval_data: Dataset | DataLoader | None = None,
        batch_size: int = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | os.PathLike[str] | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Trains for a number of epochs, or of steps.

        Losses are read from the device, and waited for, every `log_freq` steps and when a callback looks at them.

        Args:
            train_data: a Dataset, a DataLoader, or an iterable of batches.
            eval_data: the same, to evaluate on.
            batch_size: how many samples of a Dataset make a batch.
            epochs: how many times through the data.
            eval_freq: every how many epochs to evaluate.
            log_freq: every how many steps something is printed.
            save_dir: where to save the model, if given.
            save_freq: every how many epochs to save it.
            verbose: 0 prints nothing, 1 a bar, 2 lines.
            drop_last: leave out a last batch that is smaller.
            shuffle: give the samples of a Dataset in another order each time.
            num_workers: how many processes read a Dataset.
            callbacks: further callbacks.
            accumulate_grad_batches: after how many batches the parameters change.
            num_iters: the greatest number of steps.

        Examples:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
            >>> batch = (np.ones([4, 2], "float32"), np.zeros([4, 1], "float32"))
            >>> before = model.eval_batch(*batch)[0]
            >>> model.fit([batch] * 10, verbose=0)
            >>> bool(model.eval_batch(*batch)[0] < before)
            True
        """
        self._check_trainable("fit")
        loops.fit(
            self, train_data, eval_data, batch_size, epochs, eval_freq, log_freq, save_dir, save_freq, verbose,
            drop_last, shuffle, num_workers, callbacks, accumulate_grad_batches, num_iters,
        )  # fmt: skip

    @boundary
    def evaluate(
        self,
        eval_data: Dataset | DataLoader,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The loss of the last batch and the metrics over all of them.

        Args:
            eval_data: a Dataset, a DataLoader, or an iterable of batches.
            batch_size: how many samples of a Dataset make a batch.
            log_freq: every how many steps something is printed.
            verbose: 0 prints nothing, 1 a bar, 2 lines.
            num_workers: how many processes read a Dataset.
            callbacks: further callbacks.
            num_iters: the greatest number of batches.

        Returns:
            A dictionary by name.

        Examples:
            >>> model = paddle.Model(paddle.nn.Identity())
            >>> model.prepare(loss=paddle.nn.MSELoss())
            >>> batch = (np.full([2, 1], 3.0, "float32"), np.zeros([2, 1], "float32"))
            >>> model.evaluate([batch], verbose=0)["loss"]
            [9.0]
        """
        return loops.evaluate(self, eval_data, batch_size, log_freq, verbose, num_workers, callbacks, num_iters)

    @boundary
    def predict(
        self,
        test_data: Dataset | DataLoader,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Callback | Sequence[Callback] | None = None,
    ) -> list[Any]:
        """The outputs of the network for whole data.

        Args:
            test_data: a Dataset, a DataLoader, or an iterable of batches.
            batch_size: how many samples of a Dataset make a batch.
            num_workers: how many processes read a Dataset.
            stack_outputs: join the batches along the first axis.
            verbose: 0 prints nothing, 1 a bar, 2 lines.
            callbacks: further callbacks.

        Returns:
            For each output a tuple with an array per batch, or one array of all samples.

        Examples:
            >>> model = paddle.Model(paddle.nn.ReLU())
            >>> model.prepare()
            >>> model.predict([[np.array([-1.0, 2.0], "float32")]], stack_outputs=True, verbose=0)
            [array([0., 2.], dtype=float32)]
        """
        return loops.predict(self, test_data, batch_size, num_workers, stack_outputs, verbose, callbacks)

    # ---- files and tables --------------------------------------------------------------------------------------

    @boundary
    def save(self, path: str | os.PathLike[str], training: bool = True) -> None:
        """Saves the model.

        Args:
            path: the path without an ending.
            training: write `path.pdparams` and `path.pdopt`; False writes the network for inference.

        Examples:
            >>> import os
            >>> paddle.Model(paddle.nn.Linear(2, 1)).save("kept")
            >>> sorted(os.listdir())
            ['kept.pdparams']
        """
        checkpoint.save(self, path, training)

    @boundary
    def load(self, path: str | os.PathLike[str], skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Loads what `save` wrote, here or in Paddle. Nothing is changed unless everything fits.

        Args:
            path: the path without an ending.
            skip_mismatch: take what fits, with a warning for the rest.
            reset_optimizer: leave the state of the optimiser alone.

        Examples:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.save("kept")
            >>> weight = model.network.weight.clone()
            >>> model.network.weight.set_value(paddle.zeros([2, 1]))
            >>> model.load("kept")
            >>> paddle.equal_all(model.network.weight, weight).item()
            True
        """
        checkpoint.load(self, path, skip_mismatch, reset_optimizer)

    def summary(
        self, input_size: Sequence[Any] | InputSpec | None = None, dtype: DTypeLike | None = None
    ) -> dict[str, int]:
        """Prints a table of the network's layers; see `paddle.summary`.

        Args:
            input_size: the shape of the input; by default that of the InputSpecs.
            dtype: its type.

        Returns:
            The numbers of all and of trainable parameters, as a dictionary.

        Examples:
            >>> counts = paddle.Model(paddle.nn.Linear(2, 3)).summary((1, 2))
            -----...
            >>> counts
            {'total_params': 9, 'trainable_params': 9}
        """
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
