"""Predictor: runs a saved model, one executable for each shape of its inputs.

Clones share the model, its parameters and its executables, and have handles of their own: give each thread a clone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import index_error, runtime_error, type_error, value_error
from ..core.tracebacks import boundary
from ..eager.tensor import Tensor as DataTensor
from ..formats.paddle.files import read_model
from ..formats.paddle.reading import LoadedModel
from ..formats.paddle.reading.observing import ObservedTranslation
from .artifacts import LoadedArtifact, artifact_path
from .config import Config
from .handles import Tensor

Hook = Callable[[str, str, DataTensor], None]


def load_model(config: Config) -> LoadedModel | LoadedArtifact:
    """The model that a Config names. Raises FileNotFoundError or ValueError, naming the file."""
    own = artifact_path(config)
    if own is not None:
        return LoadedArtifact(own, config._place)
    if config._buffers is not None:
        with tempfile.TemporaryDirectory() as folder:
            program, params = os.path.join(folder, "program"), os.path.join(folder, "params")
            for path, content in zip((program, params), config._buffers, strict=True):
                with open(path, "wb") as file:
                    file.write(content)
            return LoadedModel(read_model(program, params), place=config._place)
    if config._model_dir:
        return LoadedModel(read_model(config._model_dir), place=config._place)
    if not config._program:
        raise value_error("create_predictor", "the Config names no model", "Config()", "call set_model first")
    return LoadedModel(read_model(config._program, config._params or None), place=config._place)


class Predictor:
    """A loaded model with handles for its inputs and outputs.

    Examples:
        >>> import numpy as np
        >>> import proa as paddle
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))  # doctest: +SKIP
        >>> name = predictor.get_input_names()[0]  # doctest: +SKIP
        >>> predictor.get_input_handle(name).copy_from_cpu(np.zeros((1, 3, 224, 224), "float32"))  # doctest: +SKIP
        >>> predictor.run()  # doctest: +SKIP
        >>> out = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()  # doctest: +SKIP
    """

    def __init__(self, config: Config, _loaded: LoadedModel | LoadedArtifact | None = None) -> None:
        if not isinstance(config, Config):
            raise type_error("Predictor", "a Config is needed", type(config).__name__)
        self._config = config
        self._loaded = load_model(config) if _loaded is None else _loaded
        model = self._loaded.model
        self._inputs = {v.name: Tensor(v.name, v.dtype, config._place) for v in model.inputs}
        self._outputs = {v.name: Tensor(v.name, v.dtype, config._place) for v in model.outputs}
        self._output_list = [self._outputs[v.name] for v in model.outputs]
        self._hooks: list[tuple[str, Hook]] = []

    def get_input_names(self) -> list[str]:
        return list(self._loaded.input_names)

    def get_output_names(self) -> list[str]:
        return list(self._loaded.output_names)

    def get_input_handle(self, name: str) -> Tensor:
        return _named(self._inputs, name, "get_input_handle", "input")

    def get_output_handle(self, name: str) -> Tensor:
        return _named(self._outputs, name, "get_output_handle", "output")

    @boundary
    def run(self, inputs: Sequence[DataTensor] | None = None) -> Any:
        """Runs the model on its input handles; or on a list of tensors, whose results it returns."""
        if inputs is not None:
            if not isinstance(inputs, (list, tuple)) or not all(isinstance(t, DataTensor) for t in inputs):
                raise type_error("Predictor.run", "a list of Tensors is needed", f"inputs: {type(inputs).__name__}")
            tensors = [t if t._aval.place is self._config._place else t.to(self._config._place) for t in inputs]
            results = self._run(tensors)
            return results
        tensors = [handle.value for handle in self._inputs.values()]
        if any(t is None for t in tensors):
            empty = [name for name, handle in self._inputs.items() if handle.value is None]
            raise runtime_error(
                "Predictor.run", "an input has no data yet", ", ".join(empty),
                "call get_input_handle(name).copy_from_cpu(array) first",
            )  # fmt: skip
        for handle, result in zip(self._output_list, self._run(tensors), strict=True):  # type: ignore[arg-type]
            handle.value = result
        return None

    def _run(self, tensors: list[DataTensor]) -> list[DataTensor]:
        if self._hooks:
            return self._observed(tensors)
        return self._loaded.run(tensors)

    def _observed(self, tensors: list[DataTensor]) -> list[DataTensor]:
        self._loaded.check(tensors)
        if isinstance(self._loaded, LoadedArtifact):
            raise runtime_error(
                "Predictor.run", "hooks need a model in Paddle's format; an artifact runs as one executable",
                f"{len(self._hooks)} hook(s)", "save the model without the ending .proa to watch its operations",
            )  # fmt: skip
        return ObservedTranslation(self._loaded.model, self._loaded.parameters, self._hooks).run(tensors)

    def register_input_hook(self, hook: Hook) -> None:
        """Calls `hook(operation, name, tensor)` before each operation for its inputs. Runs are slow then."""
        self._hooks.append(("input", hook))

    def register_output_hook(self, hook: Hook) -> None:
        """Calls `hook(operation, name, tensor)` after each operation for its results. Runs are slow then."""
        self._hooks.append(("output", hook))

    def clone(self) -> Predictor:
        """A predictor for another thread: the same model and executables, handles of its own."""
        return Predictor(self._config, self._loaded)

    def clear_intermediate_tensor(self) -> None:
        """Nothing to do: no intermediate tensor outlives a run."""

    def try_shrink_memory(self) -> int:
        """Nothing to give back: XLA frees what a run needed when it ends. 0 bytes."""
        return 0


def _named(handles: dict[str, Tensor], name: str, where: str, kind: str) -> Tensor:
    found = handles.get(name)
    if found is None:
        names = ", ".join(handles)
        raise runtime_error(f"Predictor.{where}", f"the model has no {kind} of this name; it has {names}", f"{name!r}")
    return found


def create_predictor(config: Config) -> Predictor:
    """Loads the model that `config` names."""
    return Predictor(config)


class PredictorPool:
    """Several predictors of one model, for several threads; the model is loaded once."""

    def __init__(self, config: Config, size: int = 1) -> None:
        if size < 1:
            raise value_error("PredictorPool", "at least one predictor is needed", f"size: {size}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrieve(self, index: int) -> Predictor:
        if not 0 <= index < len(self._predictors):
            count = len(self._predictors)
            raise index_error("PredictorPool.retrieve", f"the pool has {count} predictors", f"index: {index}")
        return self._predictors[index]
