"""Callbacks that write to experiment trackers: VisualDL, TensorBoard, Weights & Biases.

The packages are optional and imported when a callback is made (VisualDL: when it first writes), with clear words if one
is missing. All of them write the same: values of every training step, and of every evaluation.
"""

from __future__ import annotations

import importlib
import numbers
import os
from collections.abc import Iterator
from typing import Any

from ...core.elsewhere import from_elsewhere
from ...core.errors import message, value_error
from .base import Callback


class _Writer(Callback):
    """What the writers share: which values there are, and at which step."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs: int | None = None
        self.steps: int | None = None
        self.epoch = 0
        self.train_step = 0
        self._in_fit = False

    def _write(self, mode: str, values: dict[str, float], step: int) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        """Called at the end of a training, or of an evaluation outside one."""

    def on_train_begin(self, logs: Any = None) -> None:
        self.epochs, self.steps = self.params.get("epochs"), self.params.get("steps")
        self.train_step = 0
        self._in_fit = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epoch = epoch

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        self.train_step += 1
        self._write("train", _numbers(logs, self.params.get("metrics")), self.train_step)

    def on_eval_end(self, logs: Any = None) -> None:
        self._write("eval", _numbers(logs, self.params.get("metrics")), self.epoch + 1 if self._in_fit else 0)
        if not self._in_fit:
            self._finish()

    def on_train_end(self, logs: Any = None) -> None:
        self._in_fit = False
        self._finish()


def _numbers(logs: Any, names: Any) -> dict[str, float]:
    """The values that can be drawn as a curve; several losses are numbered."""
    return dict(_pairs(logs or {}, names or []))


def _pairs(logs: Any, names: list[str]) -> Iterator[tuple[str, float]]:
    for name in names:
        value = logs.get(name)
        if isinstance(value, (list, tuple)):
            several = len(value) > 1
            for position, entry in enumerate(value):
                if isinstance(entry, numbers.Number):
                    yield (f"{name}_{position}" if several else name), float(entry)  # type: ignore[arg-type]
        elif isinstance(value, numbers.Number):
            yield name, float(value)  # type: ignore[arg-type]


def _import(where: str, *names: str) -> Any:
    """The first of some modules that is installed."""
    for name in names:
        try:
            return importlib.import_module(from_elsewhere(name))
        except ImportError:
            continue
    packages = " or ".join(name.partition(".")[0] for name in names)
    raise ImportError(message(where, f"the package {packages} is not installed", fix=f"pip install {packages}"))


class VisualDL(_Writer):
    """Writes the curves of training and evaluation for VisualDL. The package `visualdl` is needed when it first writes.

    Args:
        log_dir: the folder.

    Examples:
        >>> paddle.callbacks.VisualDL("curves").log_dir
        'curves'
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._writer: Any = None

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Opens the file.

        Examples:
            >>> callback = paddle.callbacks.VisualDL("curves")
            >>> callback.on_train_begin()  # doctest: +SKIP
            >>> callback.train_step
            0
        """
        super().on_train_begin(logs)
        self._open()

    def _open(self) -> Any:
        if self._writer is None:
            self._writer = _import("VisualDL", "visualdl").LogWriter(self.log_dir)
        return self._writer

    def _write(self, mode: str, values: dict[str, float], step: int) -> None:
        for name, value in values.items():
            self._open().add_scalar(tag=f"{mode}/{name}", step=step, value=value)

    def _finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class TensorBoard(_Writer):
    """Writes the curves of training and evaluation as TensorBoard event files.

    The package `tensorboardX`, or `tensorboard` itself, is needed.

    Args:
        log_dir: the folder.
        update_freq: writes (and so reads from the device) every so many steps of training only.

    Raises:
        ValueError: `update_freq` is no positive integer.
        ImportError: neither package is installed.

    Examples:
        >>> paddle.callbacks.TensorBoard("curves", update_freq=0)
        Traceback (most recent call last):
            ...
        ValueError: (TensorBoard) update_freq must be a positive integer; received update_freq: 0.
    """

    def __init__(self, log_dir: str | os.PathLike[str] = "runs", update_freq: int = 1) -> None:
        super().__init__()
        if isinstance(update_freq, bool) or not isinstance(update_freq, int) or update_freq < 1:
            raise value_error("TensorBoard", "update_freq must be a positive integer", f"update_freq: {update_freq!r}")
        self.log_dir = os.fspath(log_dir)
        self.update_freq = update_freq
        self._writer: Any = None
        self._module = _import("TensorBoard", "tensorboardX", "tensorboard.summary.writer.event_file_writer")

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Writes the values of the step, where it is one to be written.

        Examples:
            >>> callback = paddle.callbacks.TensorBoard("curves", update_freq=10)  # doctest: +SKIP
            >>> callback.on_train_batch_end(0, {"loss": [0.5]})  # doctest: +SKIP
            >>> issubclass(paddle.callbacks.TensorBoard, paddle.callbacks.Callback)
            True
        """
        if (self.train_step + 1) % self.update_freq == 0:
            super().on_train_batch_end(step, logs)
        else:
            self.train_step += 1

    def _write(self, mode: str, values: dict[str, float], step: int) -> None:
        if self._writer is None:
            kind = getattr(self._module, "SummaryWriter", None)
            self._writer = kind(self.log_dir) if kind else _EventFile(self._module.EventFileWriter(self.log_dir))
        for name, value in values.items():
            self._writer.add_scalar(f"{mode}/{name}", value, step)

    def _finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class _EventFile:
    """The bare writer of the tensorboard package, with the one method of tensorboardX that is used here."""

    def __init__(self, writer: Any) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2  # type: ignore[import-not-found]

        self._events, self._summaries, self._writer = event_pb2, summary_pb2, writer

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        import time

        entry = self._summaries.Summary(value=[self._summaries.Summary.Value(tag=tag, simple_value=value)])
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, summary=entry))

    def close(self) -> None:
        self._writer.close()


class WandbCallback(_Writer):
    """Logs training and evaluation to Weights & Biases. The package `wandb` is needed.

    Args:
        project, entity, name, dir, mode, job_type: those of `wandb.init`.
        kwargs: its other arguments.
        name: a label; it changes nothing.

    Raises:
        ImportError: the package is not installed.

    Examples:
        >>> callback = paddle.callbacks.WandbCallback(project="digits", mode="offline")  # doctest: +SKIP
        >>> issubclass(paddle.callbacks.WandbCallback, paddle.callbacks.Callback)
        True
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.wandb = _import("WandbCallback", "wandb")
        self.wandb_args = {
            "project": project, "entity": entity, "name": name, "dir": dir, "mode": mode, "job_type": job_type, **kwargs,
        }  # fmt: skip
        self._run: Any = None

    @property
    def run(self) -> Any:
        """The run that is written to: the one that is open, or a new one.

        Examples:
            >>> paddle.callbacks.WandbCallback(project="digits").run.name  # doctest: +SKIP
            >>> isinstance(paddle.callbacks.WandbCallback.run, property)
            True
        """
        if self._run is None:
            self._run = self.wandb.run if self.wandb.run is not None else self.wandb.init(**self.wandb_args)
        return self._run

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Notes the numbers of epochs and steps in the run.

        Examples:
            >>> paddle.callbacks.WandbCallback(project="digits").on_train_begin()  # doctest: +SKIP
            >>> callable(paddle.callbacks.WandbCallback.on_train_begin)
            True
        """
        super().on_train_begin(logs)
        self.run.config.update({"epochs": self.epochs, "steps": self.steps}, allow_val_change=True)

    def _write(self, mode: str, values: dict[str, float], step: int) -> None:
        if values:
            self.run.log({**{f"{mode}/{name}": value for name, value in values.items()}, f"{mode}/step": step})

    def _finish(self) -> None:
        if self._run is not None:
            self._run.finish()
            self._run = None
