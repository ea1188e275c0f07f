"""A model from elsewhere as a Layer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.aval import is_stated
from ..core.errors import type_error, value_error
from ..core.locks import new_reentrant_lock
from ..eager.modes import no_grad
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, tensor_from_data
from ..graph import Graph, capture
from ..graph.replay import replay
from ..ir.capture import CaptureError
from ..ir.recorder import LOCAL
from ..nn.layer import Layer
from ..static.input_spec import InputSpec

_MOST_GRAPHS = 64


class ConvertedLayer(Layer):
    """Runs a converted model; made by `from_onnx` and `from_torch`.

    Its weights are ordinary parameters under the names that they have in the model. For each shape of the inputs the model
    is captured as a Graph; where a gradient is wanted its operations are recorded one by one, as those of any layer. A model
    whose results have sizes that depend on values runs operation by operation (`reason` says why). It stays what the file
    holds, a model for evaluation: `train()` brings back neither dropout nor the statistics of a batch.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.onnx.export(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
        >>> layer = paddle.convert.from_onnx("model.onnx")
        >>> layer(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    def __init__(
        self,
        name: str,
        translate: Callable[[dict[str, Any], list[Any]], list[Any]],
        input_spec: Sequence[InputSpec | None],
        weights: dict[str, Tensor],
        output_names: Sequence[str],
    ) -> None:
        super().__init__()
        self.name = name
        self.input_spec = list(input_spec)  # None: a sequence or an optional, whose shape nothing says
        self.output_names = list(output_names)
        self.reason: Exception | None = None
        self._translate = translate
        self._graphs: dict[Any, Graph] = {}
        self._lock = new_reentrant_lock()
        for title, tensor in weights.items():
            held = self._parameters if isinstance(tensor, Parameter) else self._buffers
            held[title] = tensor  # type: ignore[assignment]
        self.eval()

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in order.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.onnx.export(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> paddle.convert.from_onnx("model.onnx").input_names
            ['x']
        """
        return [f"input_{n}" if spec is None else str(spec.name) for n, spec in enumerate(self.input_spec)]

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The model's results, from its inputs in order or by name.

        Examples:
            >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
            >>> paddle.onnx.export(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
            >>> paddle.convert.from_onnx("model.onnx")(x=paddle.ones([4, 2])).shape
            paddle.Size([4, 3])
        """
        tensors = self._tensors(inputs, named)
        if LOCAL.segment.captures:
            return self._results(self._run(tensors))
        graph = self._graph_for(tensors)
        wants = LOCAL.grad_enabled and any(
            isinstance(t, Tensor) and not t.stop_gradient for t in (*tensors, *self._parameters.values())
        )
        if wants:
            return self._results(self._run(tensors) if graph is None else replay(graph, tensors))
        with no_grad():
            return self._results(self._run(tensors) if graph is None else graph(*tensors))

    def _run(self, tensors: list[Any]) -> list[Any]:
        """Operation by operation, with the weights that the layer has now."""
        return self._translate({**self._parameters, **self._buffers}, tensors)

    def __deepcopy__(self, memo: dict[int, Any]) -> ConvertedLayer:
        """A layer with weights of its own; what the file says is shared."""
        weights: dict[str, Any] = {**self._parameters, **self._buffers}
        copied = {title: copy.deepcopy(tensor, memo) for title, tensor in weights.items()}
        return ConvertedLayer(self.name, self._translate, self.input_spec, copied, self.output_names)

    def _results(self, results: list[Any]) -> Any:
        return results[0] if len(results) == 1 else list(results)

    def _tensors(self, inputs: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        names = self.input_names
        unknown = [name for name in named if name not in names[len(inputs) :]]
        given = [*inputs, *(named[name] for name in names[len(inputs) :] if name in named)]
        if unknown or len(given) != len(names):
            what = f"it takes {len(names)} inputs ({', '.join(names)})"
            raise value_error(self.name, what, f"{len(inputs)} and {', '.join(named) or 'no names'}")
        return [self._checked(spec, value) for spec, value in zip(self.input_spec, given, strict=True)]

    def _checked(self, spec: InputSpec | None, value: Any) -> Any:
        if spec is None:
            if value is None:  # an optional without a value
                return None
            return [self._checked(None, part) for part in value] if isinstance(value, (list, tuple)) else _tensor(value)
        tensor = _tensor(value)
        if not is_stated(spec.shape, tensor._aval.shape):
            raise value_error(
                self.name, f"the input {spec.name} must have the shape {list(spec.shape)} (-1: any size)",
                f"{spec.name}: {tensor._aval}",
            )  # fmt: skip
        if tensor.dtype != spec.dtype:
            raise type_error(
                self.name, f"the input {spec.name} must be {spec.dtype.name}", f"{spec.name}: {tensor._aval}",
                f"convert it with astype('{spec.dtype.name}')",
            )  # fmt: skip
        return tensor

    def _graph_for(self, tensors: list[Any]) -> Graph | None:
        """The Graph for inputs of these shapes; None where the model cannot be captured."""
        if self.reason is not None or any(not isinstance(tensor, Tensor) for tensor in tensors):
            return None
        # A graph holds the very tensors that are the weights: for others it is another one.
        weights = (*self._parameters.values(), *self._buffers.values())
        key = (tuple([tensor._aval for tensor in tensors]), tuple(map(id, weights)))
        with self._lock:
            found = self._graphs.get(key)
            if found is not None:
                return found
            specs = [InputSpec(list(t._aval.shape), t.dtype, n) for t, n in zip(tensors, self.input_names, strict=True)]
            for spec, tensor in zip(specs, tensors, strict=True):
                spec.stop_gradient = tensor._aval.dtype.kind not in "fcV"
            try:
                found = capture(self, specs, name=self.name, build=self._run)  # type: ignore[arg-type]
            except CaptureError as error:
                self.reason = error
                return None
            while len(self._graphs) >= _MOST_GRAPHS:
                self._graphs.pop(next(iter(self._graphs)))
            self._graphs[key] = found
        return found


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else tensor_from_data(np.asarray(value) if np.isscalar(value) else value)


__all__ = ["ConvertedLayer"]
