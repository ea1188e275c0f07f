"""The memory of an engine: for each layer a pool of pages of keys and one of values, made once and written over in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...eager.tensor import Tensor
from ...ops.basic import full_of
from ...ops.generation.pages import page_levels, paged_attention, write_pages
from ..config import Config
from ..layers.attend import Attend
from ..model import CausalLM
from ..quantised import BlockStorage


def multiplies_blocks(model: CausalLM) -> bool:
    """Whether a processor computes with weights in blocks."""
    on_processor = model.norm.weight._aval.place.kind == "cpu"
    return on_processor and any(isinstance(layer, BlockStorage) for layer in model.sublayers())


def usual_dtype(model: CausalLM) -> str:
    """The dtype of a model's keys and values where none is asked for: that of its norms. Beside weights in blocks, on a
    processor, which waits for memory, float16."""
    return "float16" if multiplies_blocks(model) else str(model.norm.weight._aval.dtype)


def pool_shapes(config: Config, pages: int, page_size: int, dtype: str) -> list[tuple[tuple[int, ...], np.dtype]]:
    """Shape and dtype of every pool: of each layer keys and values, in 8 bits with the scales of both."""
    head = (pages, page_size, config.cached_heads)
    kind = to_numpy_dtype(dtype)
    layer = [((*head, config.key_dim), kind), ((*head, config.value_dim), kind)]
    if dtype == "int8":
        layer += [(head, np.dtype("float32"))] * 2
    return layer * config.layers


def bytes_of(shapes: Sequence[tuple[tuple[int, ...], np.dtype]]) -> int:
    return sum(int(np.prod(shape)) * dtype.itemsize for shape, dtype in shapes)


def make_pools(shapes: Sequence[tuple[tuple[int, ...], np.dtype]]) -> list[Tensor]:
    return [full_of(0, shape, dtype) for shape, dtype in shapes]


class Paged(Attend):
    """Attention of one step through pages. The new keys and values are written at `slots`; `pools` are then the new ones."""

    def __init__(
        self, pools: Sequence[Tensor], tables: Tensor, slots: Tensor, positions: Tensor, per_layer: int
    ) -> None:
        self.pools = list(pools)
        self._tables, self._slots, self._positions, self._per_layer = tables, slots, positions, per_layer

    def positions(self, batch: int, length: int) -> Tensor:
        return self._positions

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int | None = None,
        cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        if bias is not None:
            raise NotImplementedError(
                "(Paged) models whose scores have a bias (relative positions) are not generated from."
            )
        first = layer * self._per_layer
        scales: tuple[Any, Any] = (None, None)
        if self._per_layer == 4:
            (key, key_scale), (value, value_scale) = page_levels(key), page_levels(value)
            scales = self._write(first + 2, key_scale), self._write(first + 3, value_scale)
        keys, values = self._write(first, key), self._write(first + 1, value)
        return paged_attention(
            query, keys, values, self._tables, self._positions, sinks, *scales, float(scale), window, float(cap or 0.0)
        )

    def _write(self, number: int, rows: Any) -> Any:
        pool: Any = self.pools[number]
        if rows._aval.dtype != pool._aval.dtype:
            rows = rows.astype(str(pool._aval.dtype))
        self.pools[number] = write_pages(pool, rows, self._slots)
        return self.pools[number]
