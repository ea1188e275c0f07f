"""Layers under PyTorch's names, as Paddle 3.3 has them: classes (`Conv2d`) and parameters (`LayerNorm(4, eps=1e-6)`)."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from ...eager.calling import alias_table, renamed

# By class: the parameters that have another name too.
PARAMETERS = {
    "AdaptiveMaxPool1D": "return_mask=return_indices",
    "AdaptiveMaxPool2D": "return_mask=return_indices",
    "AdaptiveMaxPool3D": "return_mask=return_indices",
    "CosineSimilarity": "axis=dim",
    "Fold": "output_sizes=output_size kernel_sizes=kernel_size strides=stride paddings=padding dilations=dilation",
    "GLU": "axis=dim",
    "GroupNorm": "epsilon=eps",
    "Hardshrink": "threshold=lambd",
    "LayerDict": "sublayers=modules",
    "LayerList": "sublayers=modules",
    "LayerNorm": "epsilon=eps",
    "PairwiseDistance": "epsilon=eps",
    "Softshrink": "threshold=lambd",
}

CLASSES = {
    "Module": "Layer", "ModuleList": "LayerList", "ModuleDict": "LayerDict", "HuberLoss": "SmoothL1Loss",
    "Conv1d": "Conv1D", "Conv2d": "Conv2D", "Conv3d": "Conv3D",
    "AdaptiveAvgPool1d": "AdaptiveAvgPool1D", "AdaptiveAvgPool2d": "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3d": "AdaptiveAvgPool3D", "AdaptiveMaxPool1d": "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2d": "AdaptiveMaxPool2D", "AdaptiveMaxPool3d": "AdaptiveMaxPool3D",
    "MaxUnpool1d": "MaxUnPool1D", "MaxUnpool2d": "MaxUnPool2D", "MaxUnpool3d": "MaxUnPool3D",
    "UpsamplingBilinear2d": "UpsamplingBilinear2D", "UpsamplingNearest2d": "UpsamplingNearest2D",
    "ZeroPad1d": "ZeroPad1D", "ZeroPad2d": "ZeroPad2D", "ZeroPad3d": "ZeroPad3D",
}  # fmt: skip


def offer(namespace: dict[str, Any]) -> None:
    """Puts the other names of classes into `paddle.nn`, and lets classes take the other names of parameters."""
    for name, aliases in PARAMETERS.items():
        _take(namespace[name], aliases)
    for name, own in CLASSES.items():
        namespace.setdefault(name, namespace[own])


def _take(layer: type, aliases: str) -> None:
    written: Any = layer.__init__
    parameters = list(inspect.signature(written).parameters)
    table = {
        alias: own for alias, own in alias_table(parameters, aliases).items() if f"{own}={alias}" in aliases.split()
    }

    @functools.wraps(written)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        if not table.keys().isdisjoint(named):
            named = renamed(layer.__name__, table, parameters[: len(arguments) + 1], named)
        written(self, *arguments, **named)

    layer.__init__ = __init__  # type: ignore[method-assign]
