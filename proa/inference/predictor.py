"""Predictor: runs a saved model with an engine.

One predictor serves any number of threads: `run(list)` keeps nothing between calls, and handles hold numbers for each thread
by itself. Clones share the model and its engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import index_error, runtime_error, type_error, value_error
from ..core.tracebacks import boundary
from ..eager.tensor import Tensor as DataTensor
from ..ir.tiers.lowering import give_back_freed_memory
from .config import Config
from .engines import AUTO, Engine, Unavailable, make_engine
from .handles import Desks, Tensor
from .models import Model, load_model

Hook = Callable[[str, str, DataTensor], None]


class Explanation(str):
    """Text that an interpreter shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Predictor:
    """A loaded model with handles for its inputs and outputs.

    One predictor serves any number of threads.

    Args:
        config: a `Config`.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
        >>> predictor = paddle.inference.Predictor(paddle.inference.Config("model"))
        >>> predictor.get_input_handle("x").copy_from_cpu(np.zeros((4, 2), "float32"))
        >>> predictor.run()
        >>> predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape
        (4, 3)
    """

    def __init__(self, config: Config, _loaded: tuple[Model, Engine, list[str]] | None = None) -> None:
        if not isinstance(config, Config):
            raise type_error("Predictor", "a Config is needed", type(config).__name__)
        self._config = config
        self._loaded = _load(config) if _loaded is None else _loaded
        self._model, self._engine, self._why = self._loaded
        self._desks = Desks()
        self._inputs = {v.name: Tensor(v.name, v.dtype, config._place, self._desks) for v in self._model.inputs}
        self._outputs = {v.name: Tensor(v.name, v.dtype, config._place, self._desks) for v in self._model.outputs}
        self._input_list = list(self._inputs.values())
        self._output_list = [self._outputs[v.name] for v in self._model.outputs]
        self._hooks: list[tuple[str, Hook]] = []

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in order.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> paddle.inference.create_predictor(paddle.inference.Config("model")).get_input_names()
            ['x']
        """
        return [port.name for port in self._model.inputs]

    def get_output_names(self) -> list[str]:
        """The names of the outputs, in order.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> len(paddle.inference.create_predictor(paddle.inference.Config("model")).get_output_names())
            1
        """
        return [port.name for port in self._model.outputs]

    def get_input_handle(self, name: str) -> Tensor:
        """The input of that name, to copy numbers into.

        Raises:
            RuntimeError: the model has no such input.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
            >>> predictor.get_input_handle("x").name()
            'x'
            >>> predictor.get_input_handle("y")
            Traceback (most recent call last):
                ...
            RuntimeError: (Predictor.get_input_handle) the model has no input of this name; it has x; received 'y'.
        """
        return _named(self._inputs, name, "get_input_handle", "input")

    def get_output_handle(self, name: str) -> Tensor:
        """The output of that name, to copy numbers out of.

        Raises:
            RuntimeError: the model has no such output.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
            >>> predictor.get_input_handle("x").copy_from_cpu(np.zeros((4, 2), "float32"))
            >>> predictor.run()
            >>> predictor.get_output_handle(predictor.get_output_names()[0]).shape()
            [4, 3]
        """
        return _named(self._outputs, name, "get_output_handle", "output")

    @boundary
    def run(self, inputs: Sequence[DataTensor] | None = None) -> Any:
        """Runs the model.

        Args:
            inputs: a list of tensors, one for each input; None: what the input handles hold.

        Returns:
            The results as a list of tensors; None without `inputs`, since the output handles hold them.

        Raises:
            RuntimeError: an input handle holds no data.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
            >>> predictor.run([paddle.zeros([4, 2])])[0].shape
            paddle.Size([4, 3])
        """
        if inputs is not None:
            if not isinstance(inputs, (list, tuple)) or not all(isinstance(t, DataTensor) for t in inputs):
                raise type_error("Predictor.run", "a list of Tensors is needed", f"inputs: {type(inputs).__name__}")
            place = self._config._place
            return self._run([t if t._aval.place is place else t.to(place) for t in inputs])
        desk = self._desks.current()
        tensors = [desk[handle].value for handle in self._input_list]
        if any(t is None for t in tensors):
            empty = [h.name() for h, t in zip(self._input_list, tensors, strict=True) if t is None]
            raise runtime_error(
                "Predictor.run", "an input has no data yet", ", ".join(empty),
                "call get_input_handle(name).copy_from_cpu(array) first, in the thread that runs",
            )  # fmt: skip
        for handle, result in zip(self._output_list, self._run(tensors), strict=True):  # type: ignore[arg-type]
            desk[handle].value = result
        return None

    def _run(self, tensors: list[DataTensor]) -> list[DataTensor]:
        if self._hooks:
            return self._model.observed(tensors, self._hooks)
        return self._engine.run(tensors)

    def explain(self) -> Explanation:
        """Which engine runs the model and why, and what it keeps; text to print.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> paddle.inference.create_predictor(paddle.inference.Config("model")).explain()
            xla, as the Config says
            ...
        """
        return Explanation("\n".join([*self._why, *self._engine.described()]))

    def register_input_hook(self, hook: Hook) -> None:
        """Calls `hook(operation, name, tensor)` before each operation for its inputs. Runs are slow then.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
            >>> seen = []
            >>> predictor.register_input_hook(lambda operation, name, tensor: seen.append(tensor.shape))
            >>> outputs = predictor.run([paddle.zeros([4, 2])])
            >>> [4, 2] in seen
            True
        """
        self._hooks.append(("input", hook))

    def register_output_hook(self, hook: Hook) -> None:
        """Calls `hook(operation, name, tensor)` after each operation for its results. Runs are slow then.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
            >>> seen = []
            >>> predictor.register_output_hook(lambda operation, name, tensor: seen.append(tensor.shape))
            >>> outputs = predictor.run([paddle.zeros([4, 2])])
            >>> [4, 3] in seen
            True
        """
        self._hooks.append(("output", hook))

    def clone(self) -> Predictor:
        """A predictor with handles of its own, and the same model and engine.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
            >>> predictor.clone().get_input_names() == predictor.get_input_names()
            True
        """
        return Predictor(self._config, self._loaded)

    def clear_intermediate_tensor(self) -> None:
        """Nothing to do: no intermediate tensor outlives a run.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> print(paddle.inference.create_predictor(paddle.inference.Config("model")).clear_intermediate_tensor())
            None
        """

    def try_shrink_memory(self) -> int:
        """Gives executables back that were not used last, and freed memory to the system.

        Returns:
            How many bytes less the process has by that (0 where the system does not tell).

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> paddle.inference.create_predictor(paddle.inference.Config("model")).try_shrink_memory() >= 0
            True
        """
        before = _resident_bytes()
        self._engine.release()
        give_back_freed_memory()
        return max(0, before - _resident_bytes())


def _load(config: Config) -> tuple[Model, Engine, list[str]]:
    """The model of a Config, an engine with it, and why it is this one."""
    model, settings, name = load_model(config), config._settings(), config.engine()
    if name == AUTO:
        from .engines.choosing import choose

        engine, choice = choose(model, settings, config._examples)
        return model, engine, choice.described()
    try:
        return model, make_engine(name, model, settings), [f"{name}, as the Config says"]
    except Unavailable as error:
        raise runtime_error(
            "create_predictor", f"the engine {name} cannot be used: {error}", f"engine: {name}",
            'config.set_engine("auto") takes what is there and works',
        ) from None  # fmt: skip


def _named(handles: dict[str, Tensor], name: str, where: str, kind: str) -> Tensor:
    found = handles.get(name)
    if found is None:
        names = ", ".join(handles)
        raise runtime_error(f"Predictor.{where}", f"the model has no {kind} of this name; it has {names}", f"{name!r}")
    return found


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def create_predictor(config: Config) -> Predictor:
    """Loads the model that `config` names.

    Args:
        config: a `Config`.

    Returns:
        A `Predictor`.

    Raises:
        RuntimeError: the engine that it names cannot be used.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))
        >>> predictor.run([paddle.zeros([4, 2])])[0].shape
        paddle.Size([4, 3])
    """
    return Predictor(config)


class PredictorPool:
    """Several predictors of one model, for several threads; the model is loaded once.

    Args:
        config: a `Config`.
        size: how many.

    Raises:
        ValueError: `size` is less than 1.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
        >>> pool = paddle.inference.PredictorPool(paddle.inference.Config("model"), 2)
        >>> pool.retrieve(1).run([paddle.zeros([4, 2])])[0].shape
        paddle.Size([4, 3])
    """

    def __init__(self, config: Config, size: int = 1) -> None:
        if size < 1:
            raise value_error("PredictorPool", "at least one predictor is needed", f"size: {size}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrieve(self, index: int) -> Predictor:
        """The predictor of that number, counted from 0.

        Raises:
            IndexError: there are not so many.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> pool = paddle.inference.PredictorPool(paddle.inference.Config("model"), 2)
            >>> pool.retrieve(0).get_input_names()
            ['x']
            >>> pool.retrieve(2)
            Traceback (most recent call last):
                ...
            IndexError: (PredictorPool.retrieve) the pool has 2 predictors; received index: 2.
        """
        if not 0 <= index < len(self._predictors):
            count = len(self._predictors)
            raise index_error("PredictorPool.retrieve", f"the pool has {count} predictors", f"index: {index}")
        return self._predictors[index]
