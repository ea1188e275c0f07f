"""A model as a list of layers, which a pipeline cuts into stages. A process makes the layers of its own stage only."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .....core import job
from .....core.errors import type_error, value_error
from .....eager.backward.engine import zeros_of
from .....nn.container import LayerDict
from .....nn.layer import Layer
from ....gradients import average, broadcast_from
from ....group import Group, new_group
from ...base.topology import CommunicateTopology, get_hybrid_communicate_group
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
    """A layer that stands at several places of the model, by a key. Stages that have it keep `shared_weight_attr` alike."""

    def __init__(
        self, key: str, layer_func: type[Layer], forward_func: Callable[..., Any] | None = None,
        shared_weight_attr: Any = "weight", *inputs: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func = key, forward_func
        self.shared_weight_attr = shared_weight_attr


class LocalSharedLayerDesc(SharedLayerDesc):
    """A layer shared by places of the same stage."""


def cut_evenly(count: int, parts: int) -> list[int]:
    """Where parts of `count` things begin and the last one ends; later parts are longer where it does not divide."""
    size, more = divmod(count, parts)
    bounds = [0]
    for number in range(parts):
        bounds.append(bounds[-1] + size + (number >= parts - more))
    return bounds


def _name_of(given: Any) -> str:
    if isinstance(given, LayerDesc):
        return given.layer_func.__name__
    return getattr(given, "__name__", type(given).__name__)


def cut(layers: Sequence[Any], parts: int, method: Any) -> list[int]:
    """Where each part of a list of layers begins: "uniform", "layer:Name" (as many layers of a class in each) or bounds."""
    if isinstance(method, (list, tuple)):
        bounds = [*method, len(layers)] if len(method) == parts else list(method)
        if len(bounds) != parts + 1 or bounds[0] != 0 or bounds[-1] != len(layers) or bounds != sorted(bounds):
            raise value_error(
                "PipelineLayer",
                f"seg_method must name {parts + 1} rising positions from 0 to {len(layers)}",
                f"{method}",
            )
        return bounds
    if method == "uniform":
        if len(layers) < parts:
            raise value_error("PipelineLayer", f"each of {parts} parts needs a layer", f"{len(layers)} layers")
        return cut_evenly(len(layers), parts)
    if isinstance(method, str) and method.startswith("layer:"):
        wanted = method.removeprefix("layer:")
        places = [number for number, each in enumerate(layers) if re.search(wanted, _name_of(each))]
        if not places or len(places) % parts:
            raise value_error(
                "PipelineLayer",
                f"the number of {wanted} layers must be a multiple of the {parts} parts",
                f"{len(places)}",
            )
        return [0, *(places[number] for number in cut_evenly(len(places), parts)[1:-1]), len(layers)]
    raise value_error("PipelineLayer", "seg_method must be 'uniform', 'layer:ClassName' or a list", repr(method))


class PipelineLayer(Layer):
    """The layers one after another. `recompute_interval` layers at a time keep only their inputs.

    With a `pp_degree` above one a process has the layers of its own stage (or, with `num_virtual_pipeline_stages`, of
    several parts of the model), under their numbers in the whole; `PipelineParallel` runs it.
    """

    def __init__(
        self, layers: Sequence[Any], num_stages: int | None = None, topology: CommunicateTopology | None = None,
        loss_fn: Any = None, seg_method: Any = "uniform", recompute_interval: int = 0, recompute_ctx: Any = None,
        num_virtual_pipeline_stages: int | None = None, use_cudagraph: bool = False, use_dualpipev: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if loss_fn is not None and not callable(loss_fn) and not isinstance(loss_fn, (list, tuple)):
            raise type_error("PipelineLayer", "loss_fn must be a Layer or a function", type(loss_fn).__name__)
        groups = get_hybrid_communicate_group()
        self._topo = topology if topology is not None or groups is None else groups.topology()
        stages = 1 if self._topo is None else self._topo.get_dim("pipe")
        if num_stages not in (None, stages) and stages > 1:
            raise value_error("PipelineLayer", f"pp_degree is {stages}", f"num_stages: {num_stages}")
        self._num_stages = stages
        self._stage_id = 0 if self._topo is None or stages == 1 else self._topo.get_coord(job.rank()).pipe
        self._layers_desc, self._loss_fn = list(layers), loss_fn
        self._recompute_interval, self.recompute_ctx = recompute_interval, recompute_ctx
        # One process runs all parts one after another: there is nothing to interleave.
        self._num_virtual_pipeline_stages = (num_virtual_pipeline_stages or 1) if stages > 1 else 1
        self.segment_parts = cut(self._layers_desc, stages * self._num_virtual_pipeline_stages, seg_method)
        self.shared_layers = LayerDict()
        self._chunks = [
            self._made_part(chunk * stages + self._stage_id) for chunk in range(self.get_num_virtual_stages())
        ]
        self.run_function = [function for chunk in self._chunks for function in chunk]
        self._shared_groups = self._meet_sharers() if stages > 1 else {}

    def _made_part(self, part: int) -> list[Any]:
        begin, end = self.segment_parts[part : part + 2]
        return [self._made(position, self._layers_desc[position]) for position in range(begin, end)]

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

    # ---- weights at several stages -----------------------------------------------------------------

    def _meet_sharers(self) -> dict[str, Group]:
        """For each layer that several stages have: the group of those at this process's place. They begin alike."""
        stages_of: dict[str, set[int]] = {}
        for position, given in enumerate(self._layers_desc):
            if isinstance(given, SharedLayerDesc) and not isinstance(given, LocalSharedLayerDesc):
                stages_of.setdefault(given.layer_name, set()).add(self.get_stage_from_index(position))
        found: dict[str, Group] = {}
        for key, stages in sorted(stages_of.items()):
            for line in self._topo.get_comm_list("pipe") if len(stages) > 1 else []:  # type: ignore[union-attr]
                group = new_group([line[stage] for stage in sorted(stages)])
                if group.is_member():
                    found[key] = group
                    weights = self._shared_weights(key)
                    broadcast_from(weights, group, 0)
                    for weight in weights:
                        weight.is_firstly_shared = group.rank == 0
        return found

    def _shared_weights(self, key: str) -> list[Any]:
        given = next(each for each in self._layers_desc if getattr(each, "layer_name", None) == key)
        names = given.shared_weight_attr
        layer = self.shared_layers[key]
        return [getattr(layer, name) for name in ([names] if isinstance(names, str) else names)]

    def allreduce_shared_weight_gradients(self) -> None:
        """Gives weights that several stages have the sum of their gradients."""
        for key, group in self._shared_groups.items():
            weights = [weight for weight in self._shared_weights(key) if not weight.stop_gradient]
            for weight in weights:
                if weight._grad is None:
                    weight._grad = zeros_of(weight._aval)
            average([weight._grad for weight in weights], group, reduction="sum")

    # ---- running -----------------------------------------------------------------------------------

    def get_num_virtual_stages(self) -> int:
        return self._num_virtual_pipeline_stages

    def get_stage_from_index(self, layer_idx: int) -> int:
        """The stage that has a layer."""
        part = next(number for number, end in enumerate(self.segment_parts[1:]) if layer_idx < end)
        return part % self._num_stages

    def get_model_chunks(self) -> list[list[Any]] | None:
        return self._chunks if len(self._chunks) > 1 else None

    def forward_function(self, start: int, end: int, functions: Sequence[Any] | None = None) -> Callable[..., Any]:
        """The layers of this stage from `start` to `end` as one function."""
        chosen = (self.run_function if functions is None else functions)[start:end]

        def run(*inputs: Any) -> Any:
            value: Any = inputs[0] if len(inputs) == 1 else inputs
            for function in chosen:
                value = function(value)
            return value

        return run

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        functions = self.run_function if chunk_id is None else self._chunks[chunk_id]
        interval = self._recompute_interval
        if not interval or not self.training:
            return self.forward_function(0, len(functions), functions)(input)
        for start in range(0, len(functions), interval):
            run = self.forward_function(start, start + interval, functions)
            input = recompute(run, *(input if isinstance(input, tuple) else (input,)))
        return input
