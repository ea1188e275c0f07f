"""`ImperativeQuantAware`: quantisation-aware training by its older name, with `paddle.quantization.QAT` behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..... import nn
from .....core.errors import failed_check, value_error
from .....jit import save
from .....quantization import QAT, QuantConfig
from .....quantization.quanters import FakeQuanterChannelWiseAbsMaxObserver, FakeQuanterWithAbsMaxObserver

_LAYERS = {"Conv2D": nn.Conv2D, "Linear": nn.Linear}
_LEFT = ("Conv2DTranspose", "ColumnParallelLinear", "RowParallelLinear")  # known to Paddle, in floats here
_ALL = (*_LAYERS, *_LEFT)


class ImperativeQuantAware:
    """`quantize` puts rounding into a model, in place; after training `save_quantized_model` converts and saves it."""

    def __init__(
        self,
        quantizable_layer_type: Sequence[Any] = _ALL,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "moving_average_abs_max",
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        fuse_conv_bn: bool = False,
        weight_preprocess_layer: Any = None,
        act_preprocess_layer: Any = None,
        weight_quantize_layer: Any = None,
        act_quantize_layer: Any = None,
        onnx_format: bool = False,
    ) -> None:
        where = "ImperativeQuantAware"
        names = [one if isinstance(one, str) else one.__name__ for one in quantizable_layer_type]
        unknown = sorted(set(names) - set(_ALL))
        if unknown:
            raise failed_check(where, f"quantizable_layer_type may have {', '.join(_ALL)}", ", ".join(unknown))
        own = (weight_preprocess_layer, act_preprocess_layer, weight_quantize_layer, act_quantize_layer)
        if any(given is not None for given in own):
            raise value_error(where, "layers of your own are given to paddle.quantization.QuantConfig")
        if weight_quantize_type not in ("abs_max", "channel_wise_abs_max", "moving_average_abs_max"):
            raise failed_check(where, "unknown weight_quantize_type", f"{weight_quantize_type!r}")
        moving = FakeQuanterWithAbsMaxObserver(moving_rate, bit_length=activation_bits)
        weight: Any = FakeQuanterWithAbsMaxObserver(moving_rate, bit_length=weight_bits)
        if weight_quantize_type == "channel_wise_abs_max":
            weight = FakeQuanterChannelWiseAbsMaxObserver(weight_bits)
        config = QuantConfig(None, None)
        config.add_type_config([_LAYERS[name] for name in names if name in _LAYERS], activation=moving, weight=weight)
        self._qat = QAT(config)

    def quantize(self, model: Any) -> Any:
        """The model itself, with quanters in its layers."""
        training = model.training
        model.train()
        made = self._qat.quantize(model, inplace=True)
        made.train() if training else made.eval()
        return made

    def save_quantized_model(self, layer: Any, path: str, input_spec: Any = None, **config: Any) -> None:
        """Converts a copy of the model and saves it by `jit.save`."""
        layer.eval()
        save(self._qat.convert(layer), path, input_spec=input_spec, **config)
