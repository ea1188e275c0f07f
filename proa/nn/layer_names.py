"""Methods of Layer that exist for Paddle's sake: other devices, sharded state, a place for extra state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.errors import value_error
from .layer import Layer


def xpu(self: Layer, device: Any = None) -> Layer:
    """There are no XPU devices."""
    raise value_error("Layer.xpu", "proa runs on CPUs, GPUs and TPUs; there are no XPUs", fix="use to(device)")


def get_extra_state(self: Layer) -> Any:
    """To be overridden together with `set_extra_state` by a layer that keeps more than parameters and buffers."""
    raise RuntimeError(f"({type(self).__name__}) the layer has no extra state; override get_extra_state().")


def backward(self: Layer, *inputs: Any) -> Any:
    """Layers have no backward pass of their own: gradients come from the operations in `forward`."""
    raise value_error(type(self).__name__, "a layer does not implement backward", fix="define forward() only")


def sharded_state_dict(self: Layer, structured_name_prefix: str = "") -> dict[str, Any]:
    """The state by full name. A tensor that spans devices is one tensor here, so that nothing is cut up."""
    prefix = structured_name_prefix
    return {f"{prefix}{name}": tensor for name, tensor in self.state_dict().items()}


def full(self: Layer, aoa_config: Any = None, **kwargs: Any) -> Iterator[tuple[str, Any]]:
    """Names and whole tensors of the state, one after another."""
    if aoa_config:
        raise NotImplementedError("(Layer.full) renaming rules (aoa_config) are not supported; leave them out.")
    return iter(self.state_dict().items())


for _method in (xpu, get_extra_state, backward, sharded_state_dict, full):
    if _method.__name__ not in Layer.__dict__:
        setattr(Layer, _method.__name__, _method)
