"""Operations that compute as ggml, llama.cpp's library, does, inside `arithmetic("ggml")` (`ir/transforms/exactness.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...eager.declare import op
from ...ir.padding import rules
from ...kernels.cpu.low_precision import ggml
from ..neural.activation import silu_of
from ..neural.normalization import normalise
from ..quantised.blocks import block_product
from .pages import paged_attention


def _infer_turned(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, positions = operands
    if x.ndim != 4 or x.shape[3] % 2 or positions.shape != x.shape[:2] or positions.dtype.kind not in "iu":
        raise operation.error(
            ValueError, "x must be [batch, length, heads, size] of even size, positions whole numbers [batch, length]",
            operands,
        )  # fmt: skip
    return x


@op("x positions", infer=_infer_turned, padding=rules.refused("an engine's steps have few shapes of their own"))
def turn_by_positions(xp: Any, x: Any, positions: Any, base: float = 10000.0) -> Any:
    """The first half of each head turned with its second by angles that grow with the position. The angle of a pair is that
    of the pair before times a factor, all in float32."""
    factor, half = np.float32(base) ** np.float32(-2.0 / x.shape[3]), x.shape[3] // 2
    angles = [positions.astype(np.float32)[..., None]]
    for _ in range(half - 1):
        angles.append(angles[-1] * factor)
    turned = xp.concatenate(angles, axis=-1)[:, :, None]
    cosine, sine, a, b = xp.cos(turned), xp.sin(turned), x[..., :half], x[..., half:]
    return xp.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)


turn_by_positions.operation.kernels["ggml"] = ggml.turn
block_product.operation.kernels["ggml"] = ggml.product
normalise.operation.kernels["ggml"] = ggml.norm
silu_of.operation.kernels["ggml"] = ggml.silu
paged_attention.operation.kernels["ggml"] = ggml.attention
