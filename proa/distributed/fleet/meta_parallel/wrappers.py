"""Models wrapped for a kind of parallelism: the model under Paddle's wrapper. Layers and optimisers do the work."""

from __future__ import annotations

from typing import Any

from ....nn.layer import Layer
from ..base.synchronising import begin_together


class Wrapper(Layer):
    """Hands everything to the wrapped model, `_layers`."""

    _layers: Layer

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: dict[str, Any], use_structured_name: bool = True) -> Any:
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict


class MetaParallelBase(Wrapper):
    """A model wrapped for a kind of parallelism; `hcg` are the groups of `fleet.init`, None for a process by itself."""

    def __init__(self, layers: Layer, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(f"{layers.full_name()}_meta_parallel_base")
        self._layers, self._hcg, self._strategy = layers, hcg, strategy


class _Alike(MetaParallelBase):
    """A model that all processes call with their own data; those that hold the same parameters begin alike."""

    def __init__(self, layers: Layer, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(layers, hcg, strategy)
        if hcg is not None:
            begin_together(layers, hcg)


class TensorParallel(_Alike):
    """A model whose weights are divided."""


class ShardingParallel(_Alike):
    """A model whose optimiser state is divided."""


class SegmentParallel(_Alike):
    """A model whose sequences are divided."""
