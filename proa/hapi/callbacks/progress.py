"""ProgBarLogger: tells on the standard output how the loops go."""

from __future__ import annotations

import time
from typing import Any

from ...core.errors import value_error
from ..progress import ProgressBar
from .base import Callback

_HINT = "The loss value printed in the log is the current step, and the metric is the average value of previous steps."


class _Loop:
    """One loop that is under way: its bar, its clock, its samples."""

    def __init__(self, steps: int | None, verbose: int) -> None:
        self.steps = steps
        self.bar = ProgressBar(steps, "bar" if verbose == 1 else "lines")
        self.samples = 0
        self.reader_cost = 0.0
        self.batch_cost = 0.0
        self.batches = 0
        self.batch_end = self.batch_begin = time.perf_counter()

    def begin_batch(self) -> None:
        self.batch_begin = time.perf_counter()
        self.reader_cost += self.batch_begin - self.batch_end

    def end_batch(self, logs: Any) -> None:
        now = time.perf_counter()
        self.batch_cost += now - self.batch_end
        self.batch_end = now
        self.batches += 1
        # `batch_size` is never a promise, so this reads nothing from a device.
        self.samples += int((logs or {}).get("batch_size", 1))

    def costs(self) -> dict[str, str]:
        count = max(self.batches, 1)
        pace = self.samples / self.batch_cost if self.batch_cost else 0.0
        return {
            "avg_reader_cost": f"{self.reader_cost / count:.5f} sec",
            "avg_batch_cost": f"{self.batch_cost / count:.5f} sec",
            "ips": f"{pace:.5f} samples/sec",
        }


class ProgBarLogger(Callback):
    """Shows loss and metrics every `log_freq` steps. Values are read from the device only for the steps that are shown.

    Args:
        log_freq: the steps from one showing to the next.
        verbose: 0 is silent, 1 a bar on one line (in a file or pipe: lines), 2 a line each time, 3 with timings.

    Raises:
        ValueError: `log_freq` is no positive integer, or `verbose` is none of these.

    Examples:
        >>> model = paddle.Model(paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(0.0)))
        >>> model.prepare(paddle.optimizer.SGD(0.5, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([np.ones([2, 2], "float32"), np.ones([2, 1], "float32")])
        >>> model.fit(data, batch_size=2, callbacks=paddle.callbacks.ProgBarLogger())
        The loss value printed in the log is the current step, and the metric is the average value of previous steps.
        Epoch 1/1
        step 1/1 - loss: 1.0000 - ...
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        if isinstance(log_freq, bool) or not isinstance(log_freq, int) or log_freq < 1:
            raise value_error("ProgBarLogger", "log_freq must be a positive integer", f"log_freq: {log_freq!r}")
        if verbose not in (0, 1, 2, 3):
            raise value_error("ProgBarLogger", "verbose must be 0, 1, 2 or 3", f"verbose: {verbose!r}")
        self.log_freq = log_freq
        self.verbose = verbose
        self._loop: _Loop | None = None
        self._names: list[str] = []

    # ---- training ----------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Says what the numbers mean.

        Examples:
            >>> paddle.callbacks.ProgBarLogger().on_train_begin()
            The loss value printed in the log is the current step, and the metric is the average value of previous steps.
        """
        self._names = list(self.params.get("metrics") or [])
        if self.verbose:
            print(_HINT)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Says which epoch begins.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.set_params({"epochs": 3, "steps": 2})
            >>> callback.on_epoch_begin(0)
            Epoch 1/3
        """
        if self.verbose and self.params.get("epochs"):
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self._loop = _Loop(self.params.get("steps"), self.verbose)

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Notes the time.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.set_params({"epochs": 1, "steps": 2, "metrics": ["loss"]})
            >>> callback.on_train_begin()
            The loss value printed in the log is the current step, and the metric is the average value of previous steps.
            >>> callback.on_epoch_begin(0)
            Epoch 1/1
            >>> callback.on_train_batch_begin(0)
            >>> callback.on_train_batch_end(0, {"loss": [0.5]})
            step 1/2 - loss: 0.5000 - ...
        """
        self._begin_batch()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Shows the values, where the step is one to be shown.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.set_params({"epochs": 1, "steps": 2, "metrics": ["loss"]})
            >>> callback.on_train_begin()
            The loss value printed in the log is the current step, and the metric is the average value of previous steps.
            >>> callback.on_epoch_begin(0)
            Epoch 1/1
            >>> callback.on_train_batch_begin(0)
            >>> callback.on_train_batch_end(0, {"loss": [0.5]})
            step 1/2 - loss: 0.5000 - ...
        """
        self._end_batch(step, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Shows the values of the last step.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.set_params({"epochs": 1, "steps": 2, "metrics": ["loss"]})
            >>> callback.on_train_begin()
            The loss value printed in the log is the current step, and the metric is the average value of previous steps.
            >>> callback.on_epoch_begin(0)
            Epoch 1/1
            >>> callback.on_train_batch_begin(0)
            >>> callback.on_train_batch_end(0, {"loss": [0.5]})
            step 1/2 - loss: 0.5000 - ...
            >>> callback.on_train_batch_end(1, {"loss": [0.25]})
            >>> callback.on_epoch_end(0, {"loss": [0.25]})
            step 2/2 - loss: 0.2500 - ...
        """
        self._finish(logs)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Ends the showing.

        Examples:
            >>> paddle.callbacks.ProgBarLogger().on_train_end()
        """
        self._loop = None

    # ---- evaluation and prediction -----------------------------------------------------------------------------

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Says that an evaluation begins.

        Examples:
            >>> paddle.callbacks.ProgBarLogger().on_eval_begin({"steps": 2})
            Eval begin...
        """
        self._begin("Eval", logs)

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Notes the time.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.on_eval_begin({"steps": 1, "metrics": ["loss"]})
            Eval begin...
            >>> callback.on_eval_batch_begin(0)
            >>> callback.on_eval_batch_end(0, {"batch_size": 4})
            >>> callback.on_eval_end({"loss": [0.5]})
            step 1/1 - loss: 0.5000 - ...
            Eval samples: 4
        """
        self._begin_batch()

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Shows the values, where the step is one to be shown.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.on_eval_begin({"steps": 1, "metrics": ["loss"]})
            Eval begin...
            >>> callback.on_eval_batch_begin(0)
            >>> callback.on_eval_batch_end(0, {"batch_size": 4})
            >>> callback.on_eval_end({"loss": [0.5]})
            step 1/1 - loss: 0.5000 - ...
            Eval samples: 4
        """
        self._end_batch(step, logs)

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Shows the results, and how many samples there were.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.on_eval_begin({"steps": 1, "metrics": ["loss"]})
            Eval begin...
            >>> callback.on_eval_batch_begin(0)
            >>> callback.on_eval_batch_end(0, {"batch_size": 4})
            >>> callback.on_eval_end({"loss": [0.5]})
            step 1/1 - loss: 0.5000 - ...
            Eval samples: 4
        """
        self._finish(logs, "Eval")
        # The training goes on with its own names.
        self._names = list(self.params.get("metrics") or [])

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Says that a prediction begins.

        Examples:
            >>> paddle.callbacks.ProgBarLogger().on_predict_begin({"steps": 2})
            Predict begin...
        """
        self._begin("Predict", logs)

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Notes the time.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.on_predict_begin({"steps": 1, "metrics": ["loss"]})
            Predict begin...
            >>> callback.on_predict_batch_begin(0)
            >>> callback.on_predict_batch_end(0, {"batch_size": 4})
            >>> callback.on_predict_end({"loss": [0.5]})
            step 1/1 - loss: 0.5000 - ...
            Predict samples: 4
        """
        self._begin_batch()

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Shows how far the prediction is, where the step is one to be shown.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.on_predict_begin({"steps": 1, "metrics": ["loss"]})
            Predict begin...
            >>> callback.on_predict_batch_begin(0)
            >>> callback.on_predict_batch_end(0, {"batch_size": 4})
            >>> callback.on_predict_end({"loss": [0.5]})
            step 1/1 - loss: 0.5000 - ...
            Predict samples: 4
        """
        self._end_batch(step, logs)

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Says how many samples there were.

        Examples:
            >>> callback = paddle.callbacks.ProgBarLogger()
            >>> callback.on_predict_begin({"steps": 1, "metrics": ["loss"]})
            Predict begin...
            >>> callback.on_predict_batch_begin(0)
            >>> callback.on_predict_batch_end(0, {"batch_size": 4})
            >>> callback.on_predict_end({"loss": [0.5]})
            step 1/1 - loss: 0.5000 - ...
            Predict samples: 4
        """
        self._finish(logs, "Predict")

    # ---- all three ---------------------------------------------------------------------------------------------

    def _begin(self, word: str, logs: Any) -> None:
        self._names = list((logs or {}).get("metrics") or [])
        self._loop = _Loop((logs or {}).get("steps"), self.verbose)
        if self.verbose:
            print(f"{word} begin...")

    def _begin_batch(self) -> None:
        if self._loop is not None:
            self._loop.begin_batch()

    def _end_batch(self, step: int, logs: Any) -> None:
        loop = self._loop
        if loop is None:
            return
        loop.end_batch(logs)
        # The last step is told about at the end of the loop.
        if self.verbose and (step + 1) % self.log_freq == 0 and (loop.steps is None or step + 1 < loop.steps):
            loop.bar.show(step + 1, self._values(logs))

    def _finish(self, logs: Any, word: str | None = None) -> None:
        loop = self._loop
        if loop is None or not self.verbose:
            return
        if loop.batches and (loop.bar.last_step != loop.batches or loop.steps == loop.batches):
            loop.bar.show(loop.batches, self._values(logs), finished=True)
        loop.bar.close()
        if word is not None:
            print(f"{word} samples: {loop.samples}")
        self._loop = None

    def interrupted(self) -> None:
        """Ends an unfinished line; called when the loop fails or is interrupted.

        Examples:
            >>> paddle.callbacks.ProgBarLogger().interrupted()
        """
        if self._loop is not None:
            self._loop.bar.close()
            self._loop = None

    def _values(self, logs: Any) -> dict[str, Any]:
        values = {name: logs[name] for name in self._names if logs and name in logs}
        if self.verbose == 3 and self._loop is not None:
            values.update(self._loop.costs())
        return values
