"""llama.cpp's arithmetic, bit by bit: what an engine with `Options(arithmetic="llama.cpp")` computes.

llama.cpp rounds activations to 8 bits before every product. That amplifies: a difference in the last bit of a sum moves a
number to the next level, and a few layers on everything differs a little. So two correct programs part within some tokens
wherever two are about equally likely, unless they add up everything in the same order. This does, as llama.cpp built for
AVX-512 without flash attention. It is for models of Llama's kind whose weights are in blocks that llama.cpp multiplies as
they lie in the file.
"""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...kernels.cpu import compiled, library
from ...ops.generation.ggml import turn_by_positions
from ..config import Config, Rope
from ..layers.position import Angles
from ..layers.projection import Projection
from ..model import CausalLM
from ..quantised import BlockStorage
from .cache import Paged

_HEAD = 64  # numbers that one step of a dot product takes


class GgmlAngles(Angles):
    """Turns as llama.cpp does, angle by angle."""

    def __init__(self, rope: Rope, positions: Tensor) -> None:
        self.rope, self.positions = rope, positions

    def turn(self, x: Tensor) -> Tensor:
        return turn_by_positions(x, self.positions, float(self.rope.base))


class PagedAsGgml(Paged):
    """Attention through pages, whose positions are llama.cpp's."""

    def angles(self, rope: Rope, positions: Tensor) -> Angles:
        return GgmlAngles(rope, positions)


def check_model(model: CausalLM, cache_dtype: str | None) -> None:
    """ValueError for a model that is not known to get llama.cpp's numbers; waits for native code."""
    fix = "leave out arithmetic=, or load the GGUF file with keep_quantised=True"
    if not _is_plain(model.config):
        raise value_error("arithmetic", "llama.cpp's is there for models of Llama's kind", model.config.describe(), fix)
    for name, layer in model.named_sublayers():
        if isinstance(layer, Projection) and not _is_known(layer.storage):
            raise value_error("arithmetic", "llama.cpp's is there for weights in Q4_1, Q5_0, Q5_1 and Q8_0", name, fix)
    if not isinstance(model.head, Projection):
        raise value_error("arithmetic", "llama.cpp's needs the embedding in blocks, too", "floats", fix)
    if cache_dtype not in (None, "float16"):
        raise value_error("arithmetic", "llama.cpp's cache is float16", cache_dtype)
    reason = library.why_not()
    best = compiled.variant()
    if reason or best is None or best.name == "sse2":
        raise value_error("arithmetic", "llama.cpp's needs native kernels", reason or "a processor without FMA")


def suits(model: CausalLM) -> bool:
    """Whether a model gets llama.cpp's numbers."""
    try:
        check_model(model, None)
    except ValueError:
        return False
    return True


def _is_plain(config: Config) -> bool:
    rope = config.rope
    turns = rope is not None and rope.scaling == "default" and not rope.interleaved and rope.magnitude == 1.0
    sizes = (config.hidden_size, config.intermediate_size, config.heads * config.head_dim)
    return (
        config.family == "llama" and turns and rope is not None and rope.dims == config.head_dim
        and config.head_dim % _HEAD == 0 and not any(size % 32 for size in sizes)
        and config.activation == "silu" and config.experts is None and config.latent is None
        and all(config.window(number) is None for number in range(config.layers))
    )  # fmt: skip


def _is_known(storage: Any) -> bool:
    """Whether llama.cpp multiplies with these blocks as they lie: those of Q4_0 and of the K kinds it lays out anew."""
    if not isinstance(storage, BlockStorage):
        return False
    _, bits, _, half, has_minima = storage._form
    numbers = storage.blocks._aval.shape[2] - 32 * (2 if has_minima else 1)  # 16 float16 each
    return half and numbers * 8 == bits * 16 * 32 and (bits == 8 or has_minima)
