"""`paddle.nn.quant.format`: layers with quantisation that can be turned into inference layers."""

from __future__ import annotations

from typing import Any

from .....nn.layer import Layer


class ConvertibleQuantedLayer(Layer):
    """A layer under quantisation-aware training; subclasses name their weights and activations with quanters."""

    def __init__(self) -> None:
        super().__init__()
        self.converted = False

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Pairs of attribute names: a weight, and what quantises it."""
        raise NotImplementedError(f"({type(self).__name__}) define weights_to_quanters().")

    def activation_quanters(self) -> list[str]:
        """Names of the attributes that quantise activations."""
        raise NotImplementedError(f"({type(self).__name__}) define activation_quanters().")

    def _convert(self, remain_weight: bool = False) -> Any:
        """Marks the layer as converted, its weights rounded to what the quanters make of them."""
        if not self.converted:
            for weight, quanter in self.weights_to_quanters():
                made = getattr(self, quanter)
                if made is not None:
                    getattr(self, weight).set_value(made(getattr(self, weight)))
            self.converted = True
        return self
