"""The loops of Model: fit, evaluate, predict.

One `Logs` goes through a whole `fit`, as callbacks of Paddle expect: at the begin of a batch it still holds the values of
the batch before. Its losses and metrics are promises that are kept when somebody looks, at the latest at the end of an
epoch, before the metrics start again from zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import value_error, warn
from ..eager.tensor import Tensor
from ..ir.recorder import LOCAL
from .callbacks import CallbackList, EarlyStopping, configure
from .data import as_list, as_tensors, flatten, length_of, make_loader, samples_in, sizes_of
from .logs import Logs
from .steps import eval_step, predict_step, train_step

if TYPE_CHECKING:
    from .model import Model


class Attention:
    """How often somebody looks at the values of a loop.

    The recorder cuts a step behind a value that it sees being read right after it was made, so that the reader waits for
    less (`ir/recording/cutting.py`). Good for a loop whose loss is read at every step, and bad for one where it is read
    now and then: so it does not learn from rare looks.
    """

    def __init__(self) -> None:
        self.steps = 0
        self._looks = 0  # steps that were looked at
        self._last = 0

    def look(self) -> None:
        """To be called before a value of the present step is read."""
        if self._last != self.steps:
            self._last = self.steps
            self._looks += 1
        if 2 * self._looks < self.steps:
            LOCAL.recent = None


@dataclass
class Run:
    """A loop that is under way: whose it is, who looks on, what they see."""

    model: Model
    callbacks: CallbackList
    logs: Logs = field(default_factory=Logs)
    attention: Attention = field(default_factory=Attention)

    def note(self, step: int, inputs: list[Any], losses: list[Tensor]) -> None:
        """Enters a batch into the logs: its losses, and the metrics so far, are read when somebody looks."""
        attention = self.attention
        attention.steps += 1

        def read_losses() -> list[list[float]]:
            attention.look()
            return [[float(loss.item()) for loss in losses]]

        def read_metric(metric: Any) -> list[Any]:
            attention.look()
            return as_list(metric.accumulate())

        if losses:
            self.logs.promise(["loss"], read_losses)
        for metric in self.model._metrics:
            names = [str(name) for name in as_list(metric.name())]
            self.logs.promise(names, functools.partial(read_metric, metric))
        self.logs.update(step=step, batch_size=samples_in(inputs))


def fit(
    model: Model, train_data: Any, eval_data: Any, batch_size: Any, epochs: int, eval_freq: int, log_freq: int,
    save_dir: Any, save_freq: int, verbose: int, drop_last: bool, shuffle: bool, num_workers: int, callbacks: Any,
    accumulate_grad_batches: int, num_iters: int | None,
) -> None:  # fmt: skip
    if train_data is None:
        raise value_error("Model.fit", "there is no train_data")
    for name, number in (
        ("epochs", epochs), ("eval_freq", eval_freq), ("accumulate_grad_batches", accumulate_grad_batches),
        ("num_iters", 1 if num_iters is None else num_iters),
    ):  # fmt: skip
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
            raise value_error("Model.fit", f"{name} must be a positive integer", f"{name}: {number!r}")
    train_size, eval_size = sizes_of("Model.fit", batch_size)
    loader = make_loader("Model.fit", train_data, train_size, shuffle, drop_last, num_workers)
    steps = length_of(loader)
    if steps == 0:
        raise value_error("Model.fit", "train_data has no batches")
    eval_loader = None
    if eval_data is not None:
        eval_loader = make_loader("Model.fit", eval_data, eval_size, num_workers=num_workers)
    if num_iters is not None and steps is not None:
        epochs = math.ceil(num_iters / steps)
        steps = min(num_iters, steps)
    params = {
        "batch_size": None, "epochs": epochs, "steps": steps, "verbose": verbose, "metrics": metric_names(model),
    }  # fmt: skip
    chosen = configure("Model.fit", callbacks, model, params, log_freq, save_dir, save_freq, training=True)
    if eval_loader is None and any(isinstance(callback, EarlyStopping) for callback in chosen):
        warn("EarlyStopping needs validation data.")

    run = Run(model, chosen)
    model.stop_training = False
    remaining = num_iters
    with chosen.running():
        chosen.call("train_begin", None)
        for epoch in range(epochs):
            chosen.call("epoch_begin", epoch, None)
            done = _train_epoch(run, loader, steps, remaining, accumulate_grad_batches)
            if not done:
                warn(
                    f"(Model.fit) the data gave no batches in epoch {epoch + 1}; "
                    "a generator can be gone through only once.",
                )
            remaining = None if remaining is None else remaining - done
            chosen.call("epoch_end", epoch, run.logs)
            if eval_loader is not None and epoch % eval_freq == 0:
                _evaluate(run, eval_loader, None)
            if model.stop_training or remaining == 0:
                break
        chosen.call("train_end", run.logs)


def _train_epoch(run: Run, loader: Iterable[Any], steps: int | None, remaining: int | None, accumulate: int) -> int:
    """One pass over the data, at most `remaining` steps of it; how many steps were done."""
    model = run.model
    model.set_mode("train")
    _reset_metrics(model)
    done = 0
    for step, batch in enumerate(_limited(loader, remaining)):
        run.callbacks.call("train_batch_begin", step, run.logs)
        inputs, labels = split(model, batch)
        # What was accumulated is not lost at the end of an epoch.
        update = (step + 1) % accumulate == 0 or step + 1 == steps
        losses, _ = train_step(model, inputs, labels, update)
        run.note(step, inputs, losses)
        run.callbacks.call("train_batch_end", step, run.logs)
        done += 1
        if model.stop_training:
            break
    if done % accumulate and done != steps:
        # The data ended (or the training was stopped) before its announced length, or had none.
        model._precision.step(model._optimizer)
    run.logs.settle()
    _reset_metrics(model)
    return done


def evaluate(
    model: Model, eval_data: Any, batch_size: int, log_freq: int, verbose: int, num_workers: int, callbacks: Any,
    num_iters: int | None,
) -> dict[str, Any]:  # fmt: skip
    if num_iters is not None and (isinstance(num_iters, bool) or not isinstance(num_iters, int) or num_iters < 1):
        raise value_error("Model.evaluate", "num_iters must be a positive integer", f"num_iters: {num_iters!r}")
    loader = make_loader("Model.evaluate", eval_data, batch_size, num_workers=num_workers)
    params = {
        "batch_size": batch_size, "epochs": None, "steps": _fewer(length_of(loader), num_iters), "verbose": verbose,
        "metrics": metric_names(model),
    }  # fmt: skip
    chosen = configure("Model.evaluate", callbacks, model, params, log_freq)
    run = Run(model, chosen)
    with chosen.running():
        _evaluate(run, loader, num_iters)
    return {name: run.logs[name] for name in params["metrics"] if name in run.logs}


def _evaluate(run: Run, loader: Iterable[Any], num_iters: int | None) -> None:
    model = run.model
    run.attention = Attention()
    steps = _fewer(length_of(loader), num_iters)
    run.callbacks.call("eval_begin", {"steps": steps, "metrics": metric_names(model)})
    model.set_mode("eval")
    _reset_metrics(model)
    for step, batch in enumerate(_limited(loader, num_iters)):
        run.callbacks.call("eval_batch_begin", step, run.logs)
        inputs, labels = split(model, batch)
        losses, _ = eval_step(model, inputs, labels)
        run.note(step, inputs, losses)
        run.callbacks.call("eval_batch_end", step, run.logs)
    run.logs.settle()
    _reset_metrics(model)
    run.callbacks.call("eval_end", run.logs)


def predict(
    model: Model, test_data: Any, batch_size: int, num_workers: int, stack_outputs: bool, verbose: int, callbacks: Any
) -> list[Any]:
    from .model import as_arrays

    loader = make_loader("Model.predict", test_data, batch_size, num_workers=num_workers)
    steps = length_of(loader)
    params = {"batch_size": batch_size, "epochs": None, "steps": steps, "verbose": verbose, "metrics": []}
    chosen = configure("Model.predict", callbacks, model, params, log_freq=2)
    found: list[list[Any]] = []
    with chosen.running():
        chosen.call("predict_begin", {"steps": steps})
        for outputs in _predicted(model, loader, chosen):
            found.append([as_arrays(output) for output in outputs])
    if any(len(outputs) != len(found[0]) for outputs in found):
        raise value_error("Model.predict", "the network gave different numbers of outputs for different batches")
    by_output = list(zip(*found, strict=True))
    return [_stacked(batches) for batches in by_output] if stack_outputs else by_output


def _predicted(model: Model, loader: Iterable[Any], callbacks: CallbackList) -> Iterator[list[Any]]:
    """The outputs of every batch, one batch late: they are fetched while the next one is being computed."""
    logs = Logs()
    model.set_mode("test")
    running: list[Any] | None = None
    for step, batch in enumerate(loader):
        callbacks.call("predict_batch_begin", step, logs)
        inputs, _ = split(model, batch)
        outputs = predict_step(model, inputs)
        if running is not None:
            yield running
        running = outputs
        logs.update(step=step, batch_size=samples_in(inputs))
        callbacks.call("predict_batch_end", step, logs)
    if running is not None:
        yield running
    callbacks.call("predict_end", logs)


def _stacked(batches: tuple[Any, ...]) -> Any:
    first = batches[0]
    if isinstance(first, dict):
        return {name: _stacked(tuple(batch[name] for batch in batches)) for name in first}
    if isinstance(first, (list, tuple)):
        return type(first)(_stacked(entries) for entries in zip(*batches, strict=True))
    if any(np.ndim(batch) == 0 or np.shape(batch)[1:] != np.shape(first)[1:] for batch in batches):
        raise value_error(
            "Model.predict", "outputs of these shapes cannot be stacked",
            ", ".join(str(list(np.shape(batch))) for batch in batches[:4]), "leave stack_outputs=False",
        )  # fmt: skip
    return np.concatenate(batches, axis=0)


# ---- what the loops share --------------------------------------------------------------------------------------


def split(model: Model, batch: Any) -> tuple[list[Any], list[Any]]:
    """A batch as the network's inputs and the loss's labels."""
    entries = as_tensors("Model", flatten(batch))
    count = model._num_inputs
    if count is None:
        if not model._labels:
            raise value_error(
                "Model", "forward() takes any number of inputs, so it is not known where the labels begin", "",
                "give inputs=[InputSpec(…), …] to Model",
            )  # fmt: skip
        count = len(entries) - len(model._labels)
    inputs, labels = entries[:count], entries[count:]
    model._note_shapes(inputs)
    return inputs, labels


def metric_names(model: Model) -> list[str]:
    """The names of everything a batch is measured by, the loss first."""
    names = ["loss"] if model._loss is not None else []
    return names + [str(name) for metric in model._metrics for name in as_list(metric.name())]


def _reset_metrics(model: Model) -> None:
    for metric in model._metrics:
        metric.reset()


def _fewer(steps: int | None, limit: int | None) -> int | None:
    return steps if limit is None else limit if steps is None else min(steps, limit)


def _limited(loader: Iterable[Any], limit: int | None) -> Iterator[Any]:
    """The batches, at most `limit` of them; none is fetched in vain."""
    for count, batch in enumerate(loader, 1):
        yield batch
        if count == limit:
            return
