"""A model as a list of layers, which a pipeline cuts into stages; one process has them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .....core.errors import type_error
from .....nn.container import LayerDict
from .....nn.layer import Layer
from ...recompute import recompute


class LayerDesc:
    """A layer that is still to be made: its class and its arguments."""

    def __init__(self, layer_func: type[Layer], *inputs: Any, **kwargs: Any) -> None:
        if not isinstance(layer_func, type) or not issubclass(layer_func, Layer):
            raise type_error("LayerDesc", "the first argument must be a Layer class", repr(layer_func))
        self.layer_func, self.inputs, self.kwargs = layer_func, inputs, kwargs

    def build_layer(self, **extra: Any) -> Layer:
        return self.layer_func(*self.inputs, **{**self.kwargs, **extra})

    def __repr__(self) -> str:
        return f"{self.layer_func.__name__}({', '.join(map(repr, self.inputs))})"


class SharedLayerDesc(LayerDesc):
    """A layer that stands at several places of the model, by a key."""

    def __init__(
        self, key: str, layer_func: type[Layer], forward_func: Callable[..., Any] | None = None,
        shared_weight_attr: Any = "weight", *inputs: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func = key, forward_func
        self.shared_weight_attr = shared_weight_attr


class LocalSharedLayerDesc(SharedLayerDesc):
    """A layer shared by places of the same stage."""


class PipelineLayer(Layer):
    """The layers one after another. `recompute_interval` layers at a time keep only their inputs."""

    def __init__(
        self, layers: Sequence[Any], num_stages: int | None = None, topology: Any = None, loss_fn: Any = None,
        seg_method: str = "uniform", recompute_interval: int = 0, recompute_ctx: Any = None,
        num_virtual_pipeline_stages: int | None = None, use_cudagraph: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if loss_fn is not None and not callable(loss_fn):
            raise type_error("PipelineLayer", "loss_fn must be a Layer or a function", type(loss_fn).__name__)
        self._layers_desc, self._loss_fn, self._topo = list(layers), loss_fn, topology
        self._num_stages, self._stage_id = num_stages or 1, 0
        self._recompute_interval, self.recompute_ctx = recompute_interval, recompute_ctx
        self._num_virtual_pipeline_stages = num_virtual_pipeline_stages or 1
        self._start_pos, self._end_pos = 0, len(self._layers_desc)
        self.shared_layers = LayerDict()
        self.run_function: list[Any] = []
        for position, given in enumerate(self._layers_desc):
            self.run_function.append(self._made(position, given))

    def _made(self, position: int, given: Any) -> Any:
        if isinstance(given, SharedLayerDesc):
            if given.layer_name not in self.shared_layers:
                self.shared_layers[given.layer_name] = given.build_layer()
            shared = self.shared_layers[given.layer_name]
            return shared if given.forward_func is None else partial(given.forward_func, shared)
        layer = given.build_layer() if isinstance(given, LayerDesc) else given
        if isinstance(layer, Layer):
            self.add_sublayer(str(position), layer)
        elif not callable(layer):
            raise type_error("PipelineLayer", "layers must be layers, functions or their descriptions", repr(layer))
        return layer

    def get_num_virtual_stages(self) -> int:
        return self._num_virtual_pipeline_stages

    def get_stage_from_index(self, layer_idx: int) -> int:
        return 0

    def forward_function(self, start: int, end: int) -> Callable[..., Any]:
        """The layers from `start` to `end` as one function."""

        def run(*inputs: Any) -> Any:
            value: Any = inputs[0] if len(inputs) == 1 else inputs
            for function in self.run_function[start:end]:
                value = function(value)
            return value

        return run

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        interval = self._recompute_interval
        if not interval or not self.training:
            return self.forward_function(0, len(self.run_function))(input)
        for start in range(0, len(self.run_function), interval):
            part = self.forward_function(start, min(start + interval, len(self.run_function)))
            input = recompute(part, *(input if isinstance(input, tuple) else (input,)))
        return input
