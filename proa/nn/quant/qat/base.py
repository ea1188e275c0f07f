"""What layers with a rounded input and a rounded weight share."""

from __future__ import annotations

from typing import Any

from ..format import ConvertibleQuantedLayer


class QuantedLayer(ConvertibleQuantedLayer):
    """Takes over weight and bias of a layer; `q_config` says what rounds them, or nothing."""

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self.training = layer.training
        self.weight_quanter = None
        self.activation_quanter = None
        if q_config.weight is not None:
            self.weight_quanter = q_config.weight._instance(layer)
        if q_config.activation is not None:
            self.activation_quanter = q_config.activation._instance(layer)

    def _rounded(self, input: Any) -> tuple[Any, Any]:
        """The input and the weight, as the layer computes with them."""
        weight = self.weight
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        if self.weight_quanter is not None:
            weight = self.weight_quanter(weight)
        return input, weight

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]
