"""A Paddle model that can be run: its parameters, and a Graph for each shape of the inputs.

Saved programs compute with sizes in every possible way (rounding up, comparing, as floats), so a model that runs is read
anew for each shape of its inputs, when every size is a number: milliseconds beside the compilation that a new shape needs
anyway. `read_graph` without shapes gives one Graph for all of them, with placeholders for unknown dimensions, for those who
want to look at the model or change it.

A model whose results have sizes that depend on values (`nonzero`, suppression of boxes) is no Graph: it runs operation by
operation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.aval import is_stated, make_aval
from ....core.errors import type_error, value_error
from ....core.locks import new_reentrant_lock
from ....core.place import CPU, Place
from ....eager.modes import no_grad
from ....eager.parameter import Parameter
from ....eager.tensor import Tensor, tensor_from_data, wrap
from ....graph import Graph, capture
from ....ir.capture import CaptureError
from ....ir.recording.thread_state import LOCAL
from ..files.dtypes import numpy_dtype
from ..model import Block, Model
from .registry import find_reader, unknown_operation
from .translation import SKIPPED, Translation

_MOST_GRAPHS = 64


class _Spec:
    """An input as `capture` wants it."""

    def __init__(self, name: str, shape: Sequence[int], dtype: str) -> None:
        self.name = name
        self.shape = list(shape)
        self.dtype = dtype
        self.stop_gradient = np.dtype(numpy_dtype(dtype)).kind not in "fcV"


def make_parameters(model: Model, place: Place | None = None) -> dict[str, Tensor]:
    """The model's parameters as tensors with Paddle's names; running statistics and the like get no gradient."""
    changed = _statistics(model)
    found: dict[str, Tensor] = {}
    for name, array in model.parameters.items():
        trainable = array.dtype.kind in "fV" and name not in changed and model.parameter_values[name].trainable
        found[name] = Parameter(_tensor_of(array, place), name=name, trainable=trainable)
    return found


def _tensor_of(array: np.ndarray, place: Place | None) -> Tensor:
    """A tensor around the very array on a CPU: nobody changes a model's numbers, and they may fill half the memory."""
    target = LOCAL.place if place is None else place
    if target is CPU and array.flags.c_contiguous:
        return wrap(array, make_aval(array.shape, array.dtype, CPU))
    return tensor_from_data(array, place=target)


def _statistics(model: Model) -> set[str]:
    return {
        value.name
        for op in model.block.ops
        if op.name in ("batch_norm_", "batch_norm", "sync_batch_norm_")
        for value in op.inputs[1:3]
        if value is not None
    }


def read_graph(
    model: Model,
    parameters: dict[str, Tensor] | None = None,
    shapes: Sequence[Sequence[int]] | None = None,
    *,
    examples: Sequence[Sequence[int]] | None = None,
    place: Place | None = None,
    name: str = "model",
) -> Graph:
    """The Graph of a model. With `shapes`, for inputs of just these shapes; with `examples`, for these and all that lead
    the same way through the model. Results are a list in the model's order."""
    held = make_parameters(model, place) if parameters is None else parameters
    specs = [
        _Spec(value.name, (value.shape or ()) if shapes is None else shapes[position], value.dtype)
        for position, value in enumerate(model.inputs)
    ]
    # Not under `no_grad`: the Graph would remember it, and a loaded model could not be trained further.
    return capture(
        model,  # type: ignore[arg-type]
        specs,
        name=name,
        place=place,
        examples=examples,
        build=lambda tensors: Translation(model, held).run(tensors),
    )


class LoadedModel:
    """A model with its parameters; `run(tensors)` gives the list of results.

    `takes_others`: inputs may have other sizes than the model states, as far as what is computed from them bears it; the
    model is read again for the sizes that come.
    """

    def __init__(
        self, model: Model, *, place: Place | None = None, name: str = "model", takes_others: bool = False
    ) -> None:
        self.takes_others = takes_others
        self.model = replace(model, parameters={})  # the tensors below have the numbers
        self.name = name
        self.place = place
        self.parameters = make_parameters(model, place)
        self.input_names = [value.name for value in model.inputs]
        self.output_names = [value.name for value in model.outputs]
        self.reason: Exception | None = None  # why it cannot be captured as a graph
        self._dtypes = [numpy_dtype(value.dtype) for value in model.inputs]
        self._lock = new_reentrant_lock()
        self._graphs: dict[Any, Graph] = {}
        self._check_operations(model.block)

    def _check_operations(self, block: Block) -> None:
        """An operation that nothing translates is an error when the model is loaded, not when it first runs."""
        for position, op in enumerate(block.ops, 1):
            if op.name not in SKIPPED and find_reader(op.name) is None:
                raise unknown_operation(op.name, position)
            for inner in op.blocks:
                self._check_operations(inner)

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results for inputs in the model's order."""
        graph = self._graphs.get(tuple([tensor._aval for tensor in tensors]))
        if graph is None:
            graph = self.graph_for(tensors)
        if graph is None:
            return self.run_directly(tensors)
        return graph(*tensors)

    def graph_for(self, tensors: Sequence[Tensor]) -> Graph | None:
        """The Graph for inputs of these shapes; None where the model cannot be captured at all."""
        self.check(tensors)
        if self.reason is not None:
            return None
        key = tuple([tensor._aval for tensor in tensors])
        with self._lock:
            found = self._graphs.get(key)
            if found is not None:
                return found
            try:
                shapes = [tensor._aval.shape for tensor in tensors]
                found = read_graph(self.model, self.parameters, shapes, place=self.place, name=self.name)
            except CaptureError as error:
                self.reason = error
                return None
            except (ValueError, TypeError, IndexError) as problem:
                self._tell_of_other_sizes(tensors, problem)
                raise
            while len(self._graphs) >= _MOST_GRAPHS:
                self._graphs.pop(next(iter(self._graphs)))
            self._graphs[key] = found
        return found

    def check(self, tensors: Sequence[Tensor]) -> None:
        """ValueError or TypeError naming the input that does not fit."""
        if len(tensors) != len(self.model.inputs):
            names = ", ".join(self.input_names)
            raise value_error(self.name, f"{len(self.model.inputs)} inputs are needed ({names})", f"{len(tensors)}")
        for value, dtype, tensor in zip(self.model.inputs, self._dtypes, tensors, strict=True):
            if not self.takes_others and not _is_as_stated(value, tensor):
                raise self._other_sizes(value, tensor)
            if tensor._aval.dtype != dtype:
                raise type_error(
                    self.name, f"the input {value.name} must be {value.dtype}", f"{value.name}: {tensor._aval}",
                    f"convert it with astype('{value.dtype}')",
                )  # fmt: skip

    def _tell_of_other_sizes(self, tensors: Sequence[Tensor], problem: Exception) -> None:
        """Names the input whose sizes are not those that the model states: one may be why it cannot be run."""
        for value, tensor in zip(self.model.inputs, tensors, strict=True):
            if not _is_as_stated(value, tensor):
                raise self._other_sizes(value, tensor, f"with other sizes the model fails: {problem}") from problem

    def _other_sizes(self, value: Any, tensor: Tensor, more: str = "") -> ValueError:
        return value_error(
            self.name, f"the input {value.name} must have the shape {list(value.shape)} (-1: any size)",
            f"{value.name}: {tensor._aval}", more,
        )  # fmt: skip

    def run_directly(self, tensors: Sequence[Tensor], wants_gradient: bool = False) -> list[Tensor]:
        """Operation by operation; hot parts compile themselves, as in any eager code."""
        self.check(tensors)
        with contextlib.nullcontext() if wants_gradient else no_grad():
            try:
                return Translation(self.model, self.parameters, immediate=True).run(list(tensors))
            except (ValueError, TypeError, IndexError) as problem:
                self._tell_of_other_sizes(tensors, problem)
                raise

    def __call__(self, *tensors: Any) -> list[Tensor]:
        return self.run([t if isinstance(t, Tensor) else tensor_from_data(t) for t in tensors])


def _is_as_stated(value: Any, tensor: Tensor) -> bool:
    return value.shape is None or is_stated(value.shape, tensor._aval.shape)
