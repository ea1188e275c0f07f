"""Products in 8 bits where they pay: those of a model's projections, forward and backward.

Embeddings, norms, attention's own products, routers, experts, adapters and the head with its loss stay as they are: they are
either small or sensitive, which is also what others leave out.
"""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...device import get_device, get_device_properties
from ...nn import functional as F
from ...ops.quantised.float8 import float8_linear
from ..layers.projection import Projection
from .settings import WHERE

_OLDEST = (8, 9)  # compute capability of the first GPUs that multiply 8-bit floats: Ada, then Hopper


def use_float8(model: Any, how: str) -> int:
    """Gives the projections of a model's blocks their product ("none": the plain one); says how many have it in 8 bits."""
    check_float8(how)
    count = 0
    for name, layer in model.named_sublayers():
        if isinstance(layer, Projection) and name.startswith("layers."):
            suits = how != "none" and layer.storage is None and layer.out_features > 1
            layer.product = float8_linear if suits else F.linear
            count += suits
    return count


def check_float8(how: str) -> None:
    """Refuses a device that does not multiply 8-bit floats."""
    if how != "products":
        return
    found = get_device_properties()
    if (found.major, found.minor) < _OLDEST:
        raise value_error(
            WHERE, "float8: products needs a GPU that multiplies 8-bit floats (compute capability 8.9 or more)",
            f"{get_device()} ({found.name}, {found.major}.{found.minor})",
            "leave float8 out, or write float8: emulated to see its numbers on any device",
        )  # fmt: skip
