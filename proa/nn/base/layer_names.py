"""Methods of Layer that exist for Paddle's sake: other devices, sharded state, a place for extra state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...core.errors import value_error


class Argument:
    """An attribute of a layer that stands for one of the arguments it keeps, for programs that read or change it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, layer: Any, owner: Any = None) -> Any:
        if layer is None:
            return self
        try:
            return layer.__dict__["_arguments"][self.name]
        except KeyError:
            raise AttributeError(f"'{type(layer).__name__}' object has no attribute {self.name!r}") from None

    def __set__(self, layer: Any, value: Any) -> None:
        layer.__dict__["_arguments"][self.name] = value


class LayerHelper:
    """How inner code makes parameters for a layer."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def create_parameter(self, attr: Any, shape: Any, dtype: Any = None, is_bias: bool = False, **more: Any) -> Any:
        return self._layer.create_parameter(shape, attr, dtype, is_bias, more.get("default_initializer"))


class PaddleNames:
    """What every Layer also answers to."""

    _cast_to_low_precision = True
    _sub_layers: Any

    @property
    def _modules(self) -> Any:
        """The sub-layers, under PyTorch's name."""
        return self._sub_layers

    @property
    def _helper(self) -> LayerHelper:
        return LayerHelper(self)

    def _get_name(self) -> str:
        return type(self).__name__

    def _transform(self, tensor: Any, device: Any, dtype: Any, blocking: Any = None) -> Any:
        """The tensor elsewhere or in another type."""
        return tensor.to(device, dtype)

    def _obtain_parameters_buffers(
        self, destination: Any = None, include_sublayers: bool = True, structured_name_prefix: str = ""
    ) -> dict[str, Any]:
        """What `state_dict()` gives, whatever hooks there are."""
        return self._collect_state(destination, include_sublayers, structured_name_prefix, use_hook=False, whole=False)

    if TYPE_CHECKING:

        def _collect_state(
            self, destination: Any, include_sublayers: bool, prefix: str, use_hook: bool, whole: bool
        ) -> dict[str, Any]: ...
        def buffers(self) -> list[Any]: ...
        def parameters(self) -> list[Any]: ...
        def state_dict(self) -> dict[str, Any]: ...
        def to(self, *arguments: Any) -> Any: ...

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
