"""Callback: the base class; and the list of callbacks that a loop calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...core.errors import type_error

if TYPE_CHECKING:
    from ...nn.layer import Layer


class Callback:
    """Something to do at points of training, evaluation and prediction: override the methods of interest.

    `self.model` is the Model, `self.params` a dictionary of the loop's settings. `logs` holds the values of the last
    batch; a loss or metric in it is read from the device when one looks at it, so look only as often as needed.

    Examples:
        >>> class Rates(paddle.callbacks.Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print(epoch, self.model._optimizer.get_lr())
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.5, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
        >>> model.fit(data, epochs=2, verbose=0, callbacks=Rates())
        0 0.5
        1 0.5
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Called once before the loop with its settings.

        Args:
            params: epochs, steps, verbose, metrics and others, by name.

        Examples:
            >>> callback = paddle.callbacks.Callback()
            >>> callback.set_params({"epochs": 3})
            >>> callback.params["epochs"]
            3
        """
        self.params = params

    def set_model(self, model: Layer) -> None:
        """Called once before the loop with the Model.

        Args:
            model: the Model.

        Examples:
            >>> callback = paddle.callbacks.Callback()
            >>> callback.set_model(paddle.Model(paddle.nn.Linear(2, 1)))
            >>> callback.model.network
            Linear(in_features=2, out_features=1, dtype=float32)
        """
        self.model = model

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before the first epoch; subclasses define it.

        Args:
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_train_begin(self, logs=None):
            ...         print("on_train_begin")
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> model.fit(data, batch_size=2, verbose=0, callbacks=Told())
            on_train_begin
        """

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """After the last epoch; subclasses define it.

        Args:
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_train_end(self, logs=None):
            ...         print("on_train_end")
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> model.fit(data, batch_size=2, verbose=0, callbacks=Told())
            on_train_end
        """

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before an evaluation; `logs` has `steps` and `metrics`; subclasses define it.

        Args:
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_eval_begin(self, logs=None):
            ...         print("on_eval_begin")
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> _ = model.evaluate(data, batch_size=2, verbose=0, callbacks=Told())
            on_eval_begin
        """

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """After an evaluation; `logs` has its results; subclasses define it.

        Args:
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_eval_end(self, logs=None):
            ...         print("on_eval_end")
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> _ = model.evaluate(data, batch_size=2, verbose=0, callbacks=Told())
            on_eval_end
        """

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before a prediction; `logs` has `steps`; subclasses define it.

        Args:
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_predict_begin(self, logs=None):
            ...         print("on_predict_begin")
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32")])
            >>> _ = model.predict(data, batch_size=2, verbose=0, callbacks=Told())
            on_predict_begin
        """

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """After a prediction; subclasses define it.

        Args:
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_predict_end(self, logs=None):
            ...         print("on_predict_end")
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32")])
            >>> _ = model.predict(data, batch_size=2, verbose=0, callbacks=Told())
            on_predict_end
        """

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before an epoch; subclasses define it.

        Args:
            epoch: its number, from 0.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_epoch_begin(self, epoch, logs=None):
            ...         print("on_epoch_begin", epoch)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> model.fit(data, batch_size=2, verbose=0, callbacks=Told())
            on_epoch_begin 0
        """

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """After an epoch's training, before its evaluation; subclasses define it.

        Args:
            epoch: its number, from 0.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_epoch_end(self, epoch, logs=None):
            ...         print("on_epoch_end", epoch)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> model.fit(data, batch_size=2, verbose=0, callbacks=Told())
            on_epoch_end 0
        """

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of training; subclasses define it.

        Args:
            step: its number, from 0 in every epoch.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_train_batch_begin(self, step, logs=None):
            ...         print("on_train_batch_begin", step)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> model.fit(data, batch_size=2, verbose=0, callbacks=Told())
            on_train_batch_begin 0
        """

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """After a batch of training; subclasses define it.

        Args:
            step: its number, from 0 in every epoch.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_train_batch_end(self, step, logs=None):
            ...         print("on_train_batch_end", step)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> model.fit(data, batch_size=2, verbose=0, callbacks=Told())
            on_train_batch_end 0
        """

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of evaluation; subclasses define it.

        Args:
            step: its number, from 0 in every epoch.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_eval_batch_begin(self, step, logs=None):
            ...         print("on_eval_batch_begin", step)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> _ = model.evaluate(data, batch_size=2, verbose=0, callbacks=Told())
            on_eval_batch_begin 0
        """

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """After a batch of evaluation; subclasses define it.

        Args:
            step: its number, from 0 in every epoch.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_eval_batch_end(self, step, logs=None):
            ...         print("on_eval_batch_end", step)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
            >>> _ = model.evaluate(data, batch_size=2, verbose=0, callbacks=Told())
            on_eval_batch_end 0
        """

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of prediction; subclasses define it.

        Args:
            step: its number, from 0 in every epoch.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_predict_batch_begin(self, step, logs=None):
            ...         print("on_predict_batch_begin", step)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32")])
            >>> _ = model.predict(data, batch_size=2, verbose=0, callbacks=Told())
            on_predict_batch_begin 0
        """

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """After a batch of prediction; subclasses define it.

        Args:
            step: its number, from 0 in every epoch.
            logs: losses and metrics so far, by name.

        Examples:
            >>> class Told(paddle.callbacks.Callback):
            ...     def on_predict_batch_end(self, step, logs=None):
            ...         print("on_predict_batch_end", step)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32")])
            >>> _ = model.predict(data, batch_size=2, verbose=0, callbacks=Told())
            on_predict_batch_end 0
        """


class CallbackList:
    """Callbacks in the order in which they are called; `call("train_batch_end", step, logs)` calls them all."""

    def __init__(self, callbacks: list[Callback]) -> None:
        self.callbacks = callbacks

    def __iter__(self) -> Iterator[Callback]:
        return iter(self.callbacks)

    def call(self, point: str, *arguments: Any) -> None:
        name = f"on_{point}"
        for callback in self.callbacks:
            getattr(callback, name)(*arguments)

    @contextmanager
    def running(self) -> Iterator[None]:
        """A loop that calls them; if it fails, an unfinished line on the screen is ended before the error is told."""
        try:
            yield
        except BaseException:
            for callback in self.callbacks:
                interrupted = getattr(callback, "interrupted", None)
                if callable(interrupted):
                    interrupted()
            raise

    def set_model(self, model: Any) -> None:
        for callback in self.callbacks:
            callback.set_model(model)

    def set_params(self, params: dict[str, Any]) -> None:
        for callback in self.callbacks:
            callback.set_params(params)


def configure(
    where: str,
    callbacks: Any,
    model: Any,
    params: dict[str, Any],
    log_freq: int = 1,
    save_dir: str | None = None,
    save_freq: int = 1,
    training: bool = False,
) -> CallbackList:
    """The user's callbacks with those that every loop has: the progress bar first, checkpoints and schedules last."""
    from .progress import ProgBarLogger
    from .training import EarlyStopping, LRScheduler, ModelCheckpoint

    given = [] if callbacks is None else list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    for callback in given:
        if not isinstance(callback, Callback):
            raise type_error(where, "callbacks must be Callbacks", type(callback).__name__)

    def lacks(kind: type) -> bool:
        return not any(isinstance(callback, kind) for callback in given)

    chosen = list(given)
    if params.get("verbose") and lacks(ProgBarLogger):
        chosen.insert(0, ProgBarLogger(log_freq, verbose=params["verbose"]))
    if training:
        if lacks(LRScheduler):
            chosen.append(LRScheduler())
        if lacks(ModelCheckpoint):
            chosen.append(ModelCheckpoint(save_freq, save_dir))
        for callback in chosen:
            if isinstance(callback, EarlyStopping):
                callback.save_dir = save_dir
    found = CallbackList(chosen)
    found.set_model(model)
    found.set_params(params)
    return found
