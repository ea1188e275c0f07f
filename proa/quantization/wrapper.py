"""A layer with an observer or quanter at its input or output."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from ..nn.layer import Layer


class ObserveWrapper(Layer):
    """Calls the observer on the first input (or the output) of a layer."""

    def __init__(self, observer: Any, observed: Layer, observe_input: bool = True) -> None:
        super().__init__()
        self._observer = observer
        self._observed = observed
        self._observe_input = observe_input
        self.training = observed.training

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if not self._observe_input:
            out = self._observed(*inputs, **kwargs)
            return self._observer(out) if isinstance(out, Tensor) else out
        if inputs and isinstance(inputs[0], Tensor):
            inputs = (self._observer(inputs[0]), *inputs[1:])
        return self._observed(*inputs, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Code that looks at the layer (`self.embedding.weight`) finds what it looks for."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__") or "_observed" not in self.__dict__.get("_sub_layers", {}):
                raise
            return getattr(self._sub_layers["_observed"], name)
