"""Stub: a place in a model where an observer or quantiser is put later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..layer import Layer

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


class Stub(Layer):
    """A place in a model for an observer: it gives its input back until `paddle.quantization` replaces it.

    Args:
        observer: what it is replaced with; that of the configuration if left out.

    Examples:
        >>> paddle.nn.quant.Stub()(paddle.to_tensor([1.0])).tolist()
        [1.0]
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Tensor) -> Any:
        """The input itself.

        Examples:
            >>> paddle.nn.quant.Stub().forward(paddle.to_tensor([1.0, 2.0])).tolist()
            [1.0, 2.0]
        """
        return input


class QuanterStub(Layer):
    """What a Stub becomes: its own observer, or that of the configuration."""

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        self.training = layer.training
        chosen = layer._observer if layer._observer is not None else q_config.activation
        self._observer = None if chosen is None else chosen._instance(layer)

    def forward(self, input: Any) -> Any:
        return input if self._observer is None else self._observer(input)
