"""Programs over datasets: `Executor.train_from_dataset`. Batches are run one after another in the order of the dataset."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error, warn
from ..eager.tensor import Tensor
from .execution import computed, fetches_of
from .program import VARIABLES, Program
from .scope import Scope, values_of


class FetchHandler:
    """Is given values of variables every `period_secs` seconds while a dataset is trained; write `handler`.

    Args:
        var_dict: variables by the names under which `handler` gets their values.
        period_secs: how often.

    Examples:
        >>> from proa.static.datasets import FetchHandler
        >>> FetchHandler(var_dict={}, period_secs=10).period_secs
        10
    """

    def __init__(self, var_dict: Mapping[str, Any] | None = None, period_secs: float = 60) -> None:
        if var_dict is None:
            raise value_error("FetchHandler", "var_dict must be a dictionary of variables", "None")
        self.var_dict = var_dict
        self.period_secs = period_secs

    def handler(self, res_dict: dict[str, Any]) -> None:
        """Takes the arrays by name; None: not known yet. Here it prints the first of each.

        Examples:
            >>> from proa.static.datasets import FetchHandler
            >>> FetchHandler({}).handler({"loss": np.array([0.5])})
            loss[0]: 0.5
        """
        shown = [f"{name}[0]: {value[0]}" for name, value in res_dict.items() if isinstance(value, np.ndarray)]
        print(" ".join(shown))


class _Monitor:
    """A thread that gives a handler the latest values."""

    def __init__(self, handler: Any, scope: Scope) -> None:
        self._handler = handler
        self.names = list(handler.var_dict)
        self.variables = [handler.var_dict[name] for name in self.names]
        for name, variable in zip(self.names, self.variables):
            if not isinstance(variable, Tensor):
                raise type_error("FetchHandler", f"{name} must be a variable", type(variable).__name__)
        kept = {v.name: v for v in self.variables if VARIABLES.get(v._name or "") is v}
        first = values_of(kept, scope)
        self.latest: list[Any] = [first.get(v._name or "") for v in self.variables]
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="proa-fetch-handler", daemon=True)

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._handler.period_secs):
                values = [None if value is None else np.asarray(value) for value in self.latest]
                self._handler.handler(dict(zip(self.names, values)))
        except BaseException as error:  # told at the end
            self._error = error

    def __enter__(self) -> _Monitor:
        self._thread.start()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._ended.set()
        self._thread.join()
        if self._error is not None and kind is None:
            raise self._error


def run_dataset(
    where: str,
    program: Program,
    dataset: Any,
    scope: Scope,
    debug: bool,
    fetch_list: Any,
    fetch_info: Sequence[str] | None,
    print_period: int,
    fetch_handler: Any,
) -> None:
    """Runs a program over every batch of a dataset."""
    if not hasattr(dataset, "_batches"):
        raise type_error(where, "dataset must be a QueueDataset or InMemoryDataset", type(dataset).__name__)
    fetches = fetches_of(program, fetch_list)
    labels = [variable.name for variable in fetches] if fetch_info is None else list(fetch_info)
    if len(labels) != len(fetches):
        raise value_error(where, "fetch_info must have a text for each of fetch_list", f"{len(labels)}: {len(fetches)}")
    if not isinstance(print_period, int) or print_period < 1:
        raise value_error(where, "print_period must be a number of batches", f"{print_period!r}")
    if not dataset.filelist:
        warn(f"({where}) the dataset has no files; nothing is run.")
        return
    begin, reading, records = time.perf_counter(), 0.0, 0
    with contextlib.ExitStack() as ended:
        monitor = None if fetch_handler is None else ended.enter_context(_Monitor(fetch_handler, scope))
        wanted = [*fetches, *(monitor.variables if monitor is not None else ())]
        batches: Iterator[Any] = ended.enter_context(contextlib.closing(dataset._batches()))
        for number in range(1, sys.maxsize):
            asked = time.perf_counter()
            found = next(batches, None)
            reading += time.perf_counter() - asked
            if found is None:
                break
            feed, count = found
            records += count
            results = computed(program, feed, wanted, scope)
            if monitor is not None:
                monitor.latest = [result.numpy() for result in results[len(fetches) :]]
            if fetches and number % print_period == 0:
                _print(number, labels, results)
    if debug:
        took = time.perf_counter() - begin
        sys.stderr.write(f"train cost {took:f} seconds, ins_num: {records} read time: {reading:f} seconds\n")


def _print(number: int, labels: Sequence[str], results: Sequence[Tensor]) -> None:
    """A line as Paddle prints it: the time, the batch, and all numbers of what is fetched."""
    shown = []
    for label, result in zip(labels, results):
        array = result.numpy().reshape(-1)
        if array.dtype.kind not in "biufc":  # bfloat16
            array = array.astype(np.float32)
        text = [f"{value:.6g}" if array.dtype.kind == "f" else str(int(value)) for value in array.tolist()]
        shown.append(f"{label}[{array.size}]:[{' '.join(text)}]")
    print(f"time: [{time.strftime('%Y-%m-%d %H:%M:%S')}], batch: [{number}], {', '.join(shown)}", flush=True)


__all__ = ["FetchHandler"]
