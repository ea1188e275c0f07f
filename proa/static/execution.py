"""Executor: runs Programs. A Program is cut to what is fetched and what it updates, and compiled once for each set of
input shapes, by the same machinery that runs captured functions (`graph/graph.py`)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error, warn
from ..core.generator import default_generator
from ..core.place import parse_place
from ..core.tracebacks import boundary
from ..eager.annotations import DeviceLike
from ..eager.convert import host_array
from ..eager.tensor import Tensor, tensor_from_data
from . import mode
from .program import Program
from .scope import Scope, global_scope
from .strategies import CompiledProgram


class Executor:
    """Runs programs: `run(program, feed={name: array}, fetch_list=[variables or names])`.

    Args:
        place: taken; a program runs where its operations were recorded.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> executor.run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[y])[0].shape
        (4, 3)
    """

    def __init__(self, place: DeviceLike | None = None) -> None:
        self.place = None if place is None else parse_place(place)
        self._closed = False

    def close(self) -> None:
        """Nothing is held that would have to be given back.

        Examples:
            >>> print(paddle.static.Executor().close())
            None
        """
        self._closed = True

    def flush(self) -> None:
        """Nothing waits.

        Examples:
            >>> print(paddle.static.Executor().flush())
            None
        """

    @boundary
    def run(
        self,
        program: Program | None = None,
        feed: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
        fetch_list: Sequence[Tensor | str] | Tensor | str | None = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        return_merged: bool = True,
        use_prune: bool = False,
    ) -> list[Any]:
        """Runs a program once.

        Args:
            program: a Program; None: the default main one.
            feed: arrays by the names of the inputs.
            fetch_list: variables, or their names.
            feed_var_name: taken; it changes nothing.
            fetch_var_name: taken; it changes nothing.
            scope: where the parameters have their values; None: the present scope.
            return_numpy: whether results are arrays; otherwise tensors.
            use_program_cache: taken; programs are always kept.
            return_merged: taken; it changes nothing.
            use_prune: taken; what nothing needs is never run.

        Returns:
            The values of what `fetch_list` names.

        Raises:
            ValueError: an input is missing, or has another data type; or there is no such variable.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            ...     y = (x * 2).sum()
            >>> paddle.static.Executor().run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[y])[0].item()
            16.0
        """
        chosen = _program("Executor.run", program)
        fetches = fetches_of(chosen, fetch_list)
        arrays = _feeds(feed)
        with mode.running():
            return self._run(chosen, arrays, fetches, scope or global_scope(), return_numpy)

    def _run(
        self, program: Program, arrays: dict[str, Any], fetches: list[Tensor], scope: Scope, return_numpy: bool
    ) -> list[Any]:
        if program.initialisations:
            tensors = [initialisation.tensor for initialisation in program.initialisations]
            with program.run_lock, scope.in_force(tensors, initialising=True), _seeds_of(program):
                for initialisation in program.initialisations:
                    initialisation.run()
        if program._segment is None:
            return []
        for name in arrays:
            if name not in program.data:
                warn(f"(Executor.run) the program has no input named {name!r}; it is ignored.")
        results = computed(program, arrays, fetches, scope)
        return [result.numpy() for result in results] if return_numpy else results

    def split_program_by_device(self, program: Program) -> Any:
        """NotImplementedError: XLA runs programs whole.

        Examples:
            >>> paddle.static.Executor().split_program_by_device(paddle.static.Program())
            Traceback (most recent call last):
                ...
            NotImplementedError: (Executor.split_program_by_device) programs are not split; XLA runs them whole.
        """
        raise NotImplementedError("(Executor.split_program_by_device) programs are not split; XLA runs them whole.")

    def start_heter_trainer(self, *arguments: Any, **named: Any) -> Any:
        """NotImplementedError: there are no such trainers.

        Examples:
            >>> paddle.static.Executor().start_heter_trainer()
            Traceback (most recent call last):
                ...
            NotImplementedError: (Executor.start_heter_trainer) parameter servers are not there yet.
        """
        raise NotImplementedError("(Executor.start_heter_trainer) parameter servers are not there yet.")

    def train_from_dataset(
        self,
        program: Program | None = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Sequence[Tensor | str] | Tensor | str | None = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """Runs a program once for every batch of a dataset, one after another, in the dataset's order.

        Every `print_period` batches it prints the values of `fetch_list`.

        Args:
            program: a Program; None: the default main one.
            dataset: a `paddle.distributed.QueueDataset`, or an `InMemoryDataset` that was loaded.
            scope: where the parameters have their values; None: the present scope.
            thread: taken; a batch begins when the one before has ended.
            debug: whether to write to the standard error what it took.
            fetch_list: variables to print.
            fetch_info: a text for each of them; None: their names.
            print_period: after how many batches.
            fetch_handler: a `paddle.base.executor.FetchHandler`, called by a thread with values of its variables.

        Raises:
            RuntimeError: there is no dataset, or its pipe command failed.
            ValueError: a line of a file is not as it should be; the message names file and line.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            ...     y = x.sum()
            >>> with open("numbers.txt", "w") as file:
            ...     lines = file.write("2 1 2\\n2 3 4\\n")
            >>> dataset = paddle.distributed.QueueDataset()
            >>> dataset.init(batch_size=1, use_var=[x])
            >>> dataset.set_filelist(["numbers.txt"])
            >>> paddle.static.Executor().train_from_dataset(main, dataset, fetch_list=[y], fetch_info=["y"], print_period=2)
            time: [...], batch: [2], y[1]:[7]
        """
        self._over_dataset(
            "train_from_dataset", program, dataset, scope, debug, fetch_list, fetch_info, print_period, fetch_handler
        )

    def infer_from_dataset(
        self,
        program: Program | None = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Sequence[Tensor | str] | Tensor | str | None = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """As `train_from_dataset`, in the form for tests: no parameter changes, dropout is off, servers are sent nothing.

        Every `print_period` batches it prints the values of `fetch_list`.

        Args:
            program: a Program; None: the default main one.
            dataset: a `paddle.distributed.QueueDataset`, or an `InMemoryDataset` that was loaded.
            scope: where the parameters have their values; None: the present scope.
            thread: taken; a batch begins when the one before has ended.
            debug: whether to write to the standard error what it took.
            fetch_list: variables to print.
            fetch_info: a text for each of them; None: their names.
            print_period: after how many batches.
            fetch_handler: a `paddle.base.executor.FetchHandler`, called by a thread with values of its variables.

        Raises:
            RuntimeError: there is no dataset, or its pipe command failed.
            ValueError: a line of a file is not as it should be; the message names file and line.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            ...     y = x.sum()
            >>> with open("numbers.txt", "w") as file:
            ...     lines = file.write("2 1 2\\n2 3 4\\n")
            >>> dataset = paddle.distributed.QueueDataset()
            >>> dataset.init(batch_size=1, use_var=[x])
            >>> dataset.set_filelist(["numbers.txt"])
            >>> paddle.static.Executor().infer_from_dataset(main, dataset, fetch_list=[y], fetch_info=["y"], print_period=2)
            time: [...], batch: [2], y[1]:[7]
        """
        self._over_dataset(
            "infer_from_dataset", program, dataset, scope, debug, fetch_list, fetch_info, print_period, fetch_handler
        )

    @boundary
    def _over_dataset(
        self, name: str, program: Any, dataset: Any, scope: Scope | None, debug: bool, fetch_list: Any, fetch_info: Any,
        print_period: int, fetch_handler: Any,
    ) -> None:  # fmt: skip
        from .datasets import run_dataset

        where = f"Executor.{name}"
        chosen = _program(where, program)
        if dataset is None:
            raise RuntimeError(
                f"({where}) a dataset is needed; give a QueueDataset or an InMemoryDataset that was loaded."
            )
        with mode.running():
            if name == "infer_from_dataset" and not chosen.is_test:
                chosen = chosen.clone(for_test=True)  # so that nothing is learned from what is only looked at
            run_dataset(
                where,
                chosen,
                dataset,
                scope or global_scope(),
                debug,
                fetch_list,
                fetch_info,
                print_period,
                fetch_handler,
            )


def computed(program: Program, arrays: dict[str, Any], fetches: list[Tensor], scope: Scope) -> list[Tensor]:
    """The values of variables after a run in which the program's companions take part."""
    wanted, spans = list(fetches), list[tuple[Any, int, int]]()
    for companion in program.companions:
        arrays = {**arrays, **companion.feed(arrays, scope)}
        begin = len(wanted)
        wanted += companion.fetches()
        spans.append((companion, begin, len(wanted)))
    results = program.compute(lambda given: _input(program, given, arrays), wanted, scope)
    for companion, begin, end in spans:
        companion.finish(results[begin:end], scope)
    return results[: len(fetches)]


@contextlib.contextmanager
def _seeds_of(program: Program) -> Any:
    """Initialises by the program's own seed, where it has one."""
    if not program.random_seed:
        yield
        return
    state = default_generator.get_state()
    default_generator.manual_seed(program.random_seed)
    try:
        yield
    finally:
        default_generator.set_state(state)


def _program(where: str, program: Any) -> Program:
    chosen = mode.default_main_program() if program is None else program
    if isinstance(chosen, CompiledProgram):
        chosen = chosen.program
    if not isinstance(chosen, Program):
        raise type_error(where, "program must be a Program", type(program).__name__)
    return chosen


def fetches_of(program: Program, fetch_list: Any) -> list[Tensor]:
    """The variables that a fetch_list names."""
    if fetch_list is None:
        return []
    given = [fetch_list] if isinstance(fetch_list, (str, Tensor)) else fetch_list
    found: list[Tensor] = []
    for item in given:
        if isinstance(item, (list, tuple)):
            found += fetches_of(program, item)
        elif isinstance(item, str):
            found.append(program.variable("Executor.run", item))
        elif isinstance(item, Tensor):
            found.append(item)
        else:
            raise type_error("Executor.run", "fetch_list holds variables or their names", type(item).__name__)
    return found


def _feeds(feed: Any) -> dict[str, Any]:
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)) and len(feed) == 1 and isinstance(feed[0], Mapping):
        feed = feed[0]
    if not isinstance(feed, Mapping):
        raise type_error("Executor.run", "feed must be a dictionary of arrays by name", type(feed).__name__)
    return dict(feed)


def _input(program: Program, given: Any, arrays: dict[str, Any]) -> Tensor:
    """The tensor for an input of the program, checked."""
    aval = given.aval
    if given.name not in arrays:
        raise value_error(
            "Executor.run", f"the program needs the input {given!r}, which is not fed", f"feed: {sorted(arrays)}"
        )
    array = arrays[given.name]
    if isinstance(array, Tensor):
        tensor = array
    else:
        if not isinstance(array, np.ndarray) and not hasattr(array, "dtype"):
            array = np.asarray(host_array(array, None)).astype(aval.dtype)
        tensor = tensor_from_data(array, None, aval.place)
    if tensor._aval.dtype != aval.dtype:
        raise value_error(
            "Executor.run", f"the input {given!r} has another data type", f"{given.name}: {tensor._aval}",
            f"convert it with astype('{aval.dtype.name}')",
        )  # fmt: skip
    if not tensor._aval.ndim and aval.ndim and all(size in (-1, 1) for size in given.shape):
        tensor = tensor.reshape([1] * aval.ndim)  # a plain number
    return tensor._to_place(aval.place)


__all__ = ["Executor"]
