"""Callbacks that act on the training: checkpoints, learning rates, early stopping."""

from __future__ import annotations

import math
import numbers
import os
import warnings
from collections.abc import Callable
from typing import Any

from ...core.errors import value_error
from .base import Callback


class ModelCheckpoint(Callback):
    """Saves the model and the optimiser: every `save_freq` epochs as `0`, `1` …, at the end as `final`.

    A checkpoint is written beside its place and moved there when it is whole: an interrupted save leaves the old one.

    Args:
        save_freq: the epochs from one checkpoint to the next.
        save_dir: the folder; nothing is saved if it is left out.

    Raises:
        ValueError: `save_freq` is no positive integer.

    Examples:
        >>> import contextlib, io, os
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
        >>> with contextlib.redirect_stdout(io.StringIO()):
        ...     model.fit(data, verbose=0, callbacks=paddle.callbacks.ModelCheckpoint(save_dir="saved"))
        >>> sorted(os.listdir("saved"))
        ['0.pdparams', 'final.pdparams']
    """

    def __init__(self, save_freq: int = 1, save_dir: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        if isinstance(save_freq, bool) or not isinstance(save_freq, int) or save_freq < 1:
            raise value_error("ModelCheckpoint", "save_freq must be a positive integer", f"save_freq: {save_freq!r}")
        self.save_freq = save_freq
        self.save_dir = save_dir
        self.epoch = 0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Notes the number of the epoch.

        Examples:
            >>> callback = paddle.callbacks.ModelCheckpoint()
            >>> callback.on_epoch_begin(3)
            >>> callback.epoch
            3
        """
        self.epoch = epoch

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Saves, where the epoch is one to be saved.

        Examples:
            >>> callback = paddle.callbacks.ModelCheckpoint(save_dir="saved")
            >>> callback.set_model(paddle.Model(paddle.nn.Linear(2, 1)))
            >>> callback.on_epoch_end(0)
            save checkpoint at .../saved/0
        """
        if epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Saves as `final`.

        Examples:
            >>> callback = paddle.callbacks.ModelCheckpoint(save_dir="saved")
            >>> callback.set_model(paddle.Model(paddle.nn.Linear(2, 1)))
            >>> callback.on_train_end()
            save checkpoint at .../saved/final
        """
        self._save("final")

    def _save(self, name: str) -> None:
        if self.model is None or not self.save_dir:
            return
        path = os.path.abspath(os.path.join(os.fspath(self.save_dir), name))
        print(f"save checkpoint at {path}")
        self.model.save(path)


class LRScheduler(Callback):
    """Steps the optimiser's schedule after every batch or after every epoch; `fit` adds one for batches itself.

    Args:
        by_step: after every batch.
        by_epoch: after every epoch.

    Raises:
        ValueError: both are True.

    Examples:
        >>> schedule = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(schedule, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([np.ones([4, 2], "float32"), np.ones([4, 1], "float32")])
        >>> by_epoch = paddle.callbacks.LRScheduler(by_step=False, by_epoch=True)
        >>> model.fit(data, epochs=2, verbose=0, callbacks=by_epoch)
        >>> schedule()
        0.25
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise value_error("LRScheduler", "by_step and by_epoch exclude each other", "", "set one of them to False")
        self.by_step = by_step
        self.by_epoch = by_epoch

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Steps the schedule, where it goes by batches.

        Examples:
            >>> schedule = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
            >>> callback, model = paddle.callbacks.LRScheduler(), paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(schedule, parameters=model.parameters()))
            >>> callback.set_model(model)
            >>> callback.on_train_batch_end(0)
            >>> schedule()
            0.5
        """
        if self.by_step:
            self._advance()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Steps the schedule, where it goes by epochs.

        Examples:
            >>> schedule = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(schedule, parameters=model.parameters()))
            >>> callback = paddle.callbacks.LRScheduler(by_step=False, by_epoch=True)
            >>> callback.set_model(model)
            >>> callback.on_epoch_end(0)
            >>> schedule()
            0.5
        """
        if self.by_epoch:
            self._advance()

    def _advance(self) -> None:
        schedule = _schedule_of(self.model)
        if schedule is not None:
            schedule.step()


class _Watch(Callback):
    """What the callbacks share that watch a value of the evaluation for an improvement."""

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        self.monitor = monitor
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode {mode} is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        self.mode = mode
        self.min_delta = min_delta

    @property
    def _upwards(self) -> bool:
        """Whether more is better; by itself that is so for accuracies alone."""
        return self.mode == "max" or (self.mode == "auto" and "acc" in self.monitor)

    def _worst(self) -> float:
        return -math.inf if self._upwards else math.inf

    def _improves(self, value: float, best: float) -> bool:
        delta = abs(self.min_delta)
        return value - delta > best if self._upwards else value + delta < best

    def _value(self, logs: Any) -> float | None:
        """The watched value of an evaluation; a warning if there is none."""
        if not logs or self.monitor not in logs:
            warnings.warn(f"Monitor of {type(self).__name__} should be loss or metric name.", stacklevel=3)
            return None
        value = logs[self.monitor]
        if isinstance(value, (list, tuple)):
            value = value[0]
        if not isinstance(value, numbers.Number):
            raise value_error(type(self).__name__, f"{self.monitor!r} is no number", type(value).__name__)
        return float(value)  # type: ignore[arg-type]


class EarlyStopping(_Watch):
    """Ends the training when a value has not improved in `patience` evaluations in a row.

    The best model is saved as `best_model` in the `save_dir` of `fit`. As in Paddle, `patience=0` ends the training after
    the first evaluation, whatever it gives.

    Args:
        monitor: the name of a loss or metric.
        mode: whether less ('min') or more ('max') is better; 'auto' takes more for accuracies.
        patience: how many evaluations without improvement end the training.
        verbose: 0 is silent.
        min_delta: by how much a value must be better.
        baseline: what the first value must be better than.
        save_best_model: whether the best model is saved.

    Examples:
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.0, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
        >>> stop = paddle.callbacks.EarlyStopping("loss", patience=2)
        >>> model.fit(data, data, epochs=10, verbose=0, callbacks=stop)
        Epoch 3: Early stopping.
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.save_best_model = save_best_model
        self.save_dir: Any = None
        self.wait_epoch = 0
        self.stopped_epoch = 0
        self.best_value = math.inf

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Forgets what was seen before.

        Examples:
            >>> callback = paddle.callbacks.EarlyStopping(mode="max")
            >>> callback.on_train_begin()
            >>> callback.best_value
            -inf
        """
        self.wait_epoch = 0
        self.stopped_epoch = 0
        self.best_value = self._worst() if self.baseline is None else self.baseline

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Looks at the value, and ends the training where it is time.

        Args:
            logs: the results of the evaluation, by name.

        Examples:
            >>> callback = paddle.callbacks.EarlyStopping("loss", patience=1, verbose=0)
            >>> callback.set_model(paddle.Model(paddle.nn.Linear(2, 1)))
            >>> callback.on_train_begin()
            >>> callback.on_eval_end({"loss": 1.0})
            >>> callback.on_eval_end({"loss": 2.0})
            >>> callback.model.stop_training, callback.best_value
            (True, 1.0)
        """
        value = self._value(logs)
        if value is None:
            return
        if self._improves(value, self.best_value):
            self.best_value = value
            self.wait_epoch = 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(self._best_path())
        else:
            self.wait_epoch += 1
        self.stopped_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch}: Early stopping.")
                if self.save_best_model and self.save_dir is not None:
                    print(f"Best checkpoint has been saved at {self._best_path()}")

    def _best_path(self) -> str:
        return os.path.abspath(os.path.join(os.fspath(self.save_dir), "best_model"))


class ReduceLROnPlateau(_Watch):
    """Multiplies the learning rate by `factor` when a value has not improved in `patience` evaluations in a row.

    Args:
        monitor: the name of a loss or metric.
        factor: the factor, below 1.
        patience: how many evaluations without improvement reduce the rate.
        verbose: 0 is silent.
        mode: whether less ('min') or more ('max') is better; 'auto' takes more for accuracies.
        min_delta: by how much a value must be better.
        cooldown: the evaluations after a reduction that are not counted.
        min_lr: the lowest rate.

    Raises:
        ValueError: `factor` is not below 1.

    Examples:
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> optimizer = paddle.optimizer.SGD(1.0, parameters=model.parameters())
        >>> model.prepare(optimizer, paddle.nn.MSELoss())
        >>> callback = paddle.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, verbose=0)
        >>> callback.set_model(model)
        >>> callback.on_train_begin()
        >>> for loss in (3.0, 3.0):
        ...     callback.on_eval_end({"loss": loss})
        >>> optimizer.get_lr()
        0.5
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        if factor >= 1.0:
            raise value_error("ReduceLROnPlateau", "factor must be less than 1", f"factor: {factor}")
        super().__init__(monitor, mode, min_delta)
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.cooldown_counter = 0
        self.wait = 0
        self.epoch = 0
        self.best = math.inf

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Forgets what was seen before.

        Examples:
            >>> callback = paddle.callbacks.ReduceLROnPlateau()
            >>> callback.on_train_begin()
            >>> callback.best
            inf
        """
        self.cooldown_counter = self.wait = self.epoch = 0
        self.best = self._worst()

    def in_cooldown(self) -> bool:
        """Whether evaluations are not counted at present.

        Examples:
            >>> paddle.callbacks.ReduceLROnPlateau(cooldown=2).in_cooldown()
            False
        """
        return self.cooldown_counter > 0

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Looks at the value, and reduces the rate where it is time.

        Args:
            logs: the results of the evaluation, by name.

        Examples:
            >>> callback = paddle.callbacks.ReduceLROnPlateau(patience=3)
            >>> callback.on_train_begin()
            >>> callback.on_eval_end({"loss": 2.0})
            >>> callback.best
            2.0
        """
        value = self._value(logs)
        self.epoch += 1
        if value is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._improves(value, self.best):
            self.best = value
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce()

    def _reduce(self) -> None:
        optimizer = self.model._optimizer
        if _schedule_of(self.model) is not None:
            warnings.warn(
                "(ReduceLROnPlateau) the learning rate follows a schedule and is left to it; "
                "give the optimiser a number as learning_rate.",
                stacklevel=2,
            )
            return
        rate = optimizer.get_lr()
        if rate <= self.min_lr:
            return
        lower = max(rate * self.factor, self.min_lr)
        optimizer.set_lr(lower)
        self.cooldown_counter = self.cooldown
        self.wait = 0
        if self.verbose > 0:
            print(f"\nEpoch {self.epoch}: ReduceLROnPlateau reducing learning rate to {lower}.")


def _schedule_of(model: Any) -> Any:
    """The schedule of the model's optimiser; None if it has none."""
    optimizer = getattr(model, "_optimizer", None)
    schedule = getattr(optimizer, "_learning_rate", None)
    step: Callable[..., Any] | None = getattr(schedule, "step", None)
    return schedule if callable(step) else None
