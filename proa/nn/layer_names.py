"""Methods of Layer that exist for Paddle's sake: other devices, sharded state, a place for extra state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import value_error


class PaddleNames:
    """What every Layer also answers to."""

    if TYPE_CHECKING:

        def state_dict(self) -> dict[str, Any]: ...

    def xpu(self, device: Any = None) -> Any:
        """There are no XPU devices."""
        raise value_error("Layer.xpu", "proa runs on CPUs, GPUs and TPUs; there are no XPUs", fix="use to(device)")

    def get_extra_state(self) -> Any:
        """To be overridden together with `set_extra_state` by a layer that keeps more than parameters and buffers."""
        raise RuntimeError(f"({type(self).__name__}) the layer has no extra state; override get_extra_state().")

    def backward(self, *inputs: Any) -> Any:
        """Layers have no backward pass of their own: gradients come from the operations in `forward`."""
        raise value_error(type(self).__name__, "a layer does not implement backward", fix="define forward() only")

    def sharded_state_dict(self, structured_name_prefix: str = "") -> dict[str, Any]:
        """The state by full name. A tensor that spans devices is one tensor here, so that nothing is cut up."""
        prefix = structured_name_prefix
        return {f"{prefix}{name}": tensor for name, tensor in self.state_dict().items()}

    def full(self, aoa_config: Any = None, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Names and whole tensors of the state, one after another."""
        if aoa_config:
            raise NotImplementedError("(Layer.full) renaming rules (aoa_config) are not supported; leave them out.")
        return iter(self.state_dict().items())
