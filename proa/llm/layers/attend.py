"""How queries meet keys: strategies that a model is handed, so that its layers need not know.

`Causal` is training and scoring, `Full` an encoder, `Contiguous` a plain cache for short generation. A paged cache is one
more such class. Shapes: query `[batch, length, heads, size]`, key and value `[batch, length, kv_heads, size]`, the result
`[batch, length, heads, value size]`. Keys arrive turned to their positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...nn import functional as F
from ...ops.basic import cast_to, full_of, transpose_to
from ...ops.linear.linalg import matmul
from ...ops.math.ternary import where as choose_by
from ...ops.shape.joining import concat_along
from ..config import Rope
from .position import Angles

_LOWEST = float(np.finfo(np.float32).min / 2)


class Attend:
    """The interface. One object serves one step (or, with a cache, one conversation) of all layers of a model."""

    def positions(self, batch: int, length: int) -> Tensor:
        """Where the tokens of this step stand, `[batch or 1, length]`; used when the caller names no positions."""
        return tensor_from_data(np.arange(length, dtype=np.int64)[None])

    def angles(self, rope: Rope, positions: Tensor) -> Angles:
        """What turns queries and keys by their positions."""
        return Angles(rope, positions)

    def key_positions(self, length: int) -> Tensor:
        """Where the keys stand that a step of this length meets, `[1, keys]`."""
        return tensor_from_data(np.arange(length, dtype=np.int64)[None])

    def moved(self, move: Callable[[Tensor], Tensor]) -> Attend:
        """The same for layers on other devices: what it holds goes through `move`."""
        return self

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int | None = None,
        cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Attention of one layer.

        `window`: a query sees this many keys, its own included. `cap`: scores become `cap * tanh(score / cap)`. `sinks`,
        `[heads]`: one more score in each softmax, with nothing behind it. `bias` is added to scores `[batch, heads, length,
        length of keys]`.
        """
        raise NotImplementedError


def attention_of(
    query: Any, key: Any, value: Any, *, scale: float, allowed: Tensor | None = None, causal: bool = False,
    cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """softmax(query keyᵀ scale) value, where `allowed` (bool, broadcast to `[batch, heads, length, keys]`) says so.

    The fused operation is used wherever it can express what is asked; caps and sinks need the scores themselves.
    """
    if not cap and sinks is None and bias is None:
        return F.scaled_dot_product_attention(query, key, value, allowed, 0.0, causal, scale=scale)
    groups = query._aval.shape[2] // key._aval.shape[2]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 2), value.repeat_interleave(groups, 2)
    q, k, v = (transpose_to(t, (0, 2, 1, 3)) for t in (query, key, value))
    scores: Any = cast_to(matmul(q, k, False, True), np.dtype("float32")) * scale  # type: ignore[operator]
    if cap:
        scores = (scores / cap).tanh() * cap
    if bias is not None:
        scores = scores + bias
    if causal:
        allowed = tensor_from_data(seen(scores._aval.shape[2], scores._aval.shape[3], None))
    if allowed is not None:
        scores = choose_by(allowed, scores, _LOWEST)
    if sinks is not None:
        batch, heads, length, _ = scores._aval.shape
        column = sinks.reshape([1, heads, 1, 1]).astype("float32").expand([batch, heads, length, 1])  # type: ignore
        scores = concat_along([scores, column], 3)
    weights: Any = F.softmax(scores, -1)
    if sinks is not None:
        weights = weights[..., :-1]
    return transpose_to(matmul(cast_to(weights, v._aval.dtype), v, False, False), (0, 2, 1, 3))


def seen(length: int, keys: int, window: int | None) -> np.ndarray:
    """Which keys a query may see when the last query stands at the last key, bool `[length, keys]`."""
    distance = (np.arange(length) + (keys - length))[:, None] - np.arange(keys)[None, :]
    return (distance >= 0) if window is None else (distance >= 0) & (distance < window)


class Causal(Attend):
    """Every token sees itself and what stands before it; with `segments`, int `[batch, length]`, only within its own.

    Packed sequences carry a number each in `segments`; what has a negative one is padding, which sees padding alone.
    Their positions begin anew with every segment unless the caller names others.
    """

    def __init__(self, segments: Tensor | None = None) -> None:
        self.segments = segments
        self._masks: dict[Any, Tensor] = {}

    def moved(self, move: Callable[[Tensor], Tensor]) -> Causal:
        return self if self.segments is None else Causal(move(self.segments))

    def positions(self, batch: int, length: int) -> Tensor:
        if self.segments is None:
            return super().positions(batch, length)
        segments: Any = self.segments
        if segments._aval.shape != (batch, length):
            raise value_error("Causal", f"segments are [{batch}, {length}], like the ids", f"{segments._aval}")
        numbers = tensor_from_data(np.arange(length, dtype=np.int64)[None])
        begins = concat_along([(segments[:, :1] * 0 + 1).astype("bool"), segments[:, 1:] != segments[:, :-1]], 1)
        return numbers - choose_by(begins, numbers, numbers * 0).cummax(1)[0]  # type: ignore[operator]

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int | None = None,
        cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        length = query._aval.shape[1]
        if window is not None and window >= length:
            window = None
        plain = window is None and self.segments is None
        allowed = None if plain else self._mask(length, window)
        return attention_of(
            query, key, value, scale=scale, allowed=allowed, causal=plain, cap=cap, sinks=sinks, bias=bias
        )

    def _mask(self, length: int, window: int | None) -> Tensor:
        """Made once for all layers of a step."""
        found = self._masks.get((length, window))
        if found is None:
            found = tensor_from_data(seen(length, length, window)[None, None])
            if self.segments is not None:
                segments: Any = self.segments
                found = found.logical_and(segments[:, None, :, None] == segments[:, None, None, :])  # type: ignore
            self._masks[length, window] = found
        return found


class Full(Attend):
    """Every token sees every other one; `mask`, `[batch, length]`, is 0 where there is only padding."""

    def __init__(self, mask: Tensor | None = None) -> None:
        self.allowed: Any = None if mask is None else mask.astype("bool")[:, None, None, :]

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int | None = None,
        cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        return attention_of(query, key, value, scale=scale, allowed=self.allowed, cap=cap, sinks=sinks, bias=bias)


class Contiguous(Attend):
    """Keys and values of `capacity` positions for each row, written where the step stands.

    Where it stands is data: all steps of one length are the same program. `advance(length)` after each step moves on.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.length = capacity, 0
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}
        # Of the step at hand, made once for all layers:
        self._places: Any = None
        self._rows: Any = None
        self._masks: dict[int | None, Tensor] = {}

    def positions(self, batch: int, length: int) -> Tensor:
        if self.length + length > self.capacity:
            raise value_error("Contiguous", f"the cache has room for {self.capacity} positions",
                              f"{self.length} taken, {length} more", "make it with a larger capacity")  # fmt: skip
        self._places = tensor_from_data(np.arange(self.length, self.length + length, dtype=np.int64)[None])
        self._rows = tensor_from_data(np.arange(batch, dtype=np.int64)[:, None])
        self._masks = {}
        return self._places

    def key_positions(self, length: int) -> Tensor:
        return tensor_from_data(np.arange(self.capacity, dtype=np.int64)[None])

    def advance(self, length: int) -> None:
        self.length += length

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, window: int | None = None,
        cap: float | None = None, sinks: Tensor | None = None, bias: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        keys, values = (
            self._written(kept, new) for kept, new in zip(self._of(layer, key, value), (key, value), strict=True)
        )
        self._kept[layer] = keys, values
        allowed = self._mask(window)
        return attention_of(query, keys, values, scale=scale, allowed=allowed, cap=cap, sinks=sinks, bias=bias)

    def _mask(self, window: int | None) -> Tensor:
        found = self._masks.get(window)
        if found is None:
            keys = tensor_from_data(np.arange(self.capacity, dtype=np.int64)[None, None])
            distance = self._places.unsqueeze(-1) - keys
            allowed = distance >= 0 if window is None else (distance >= 0).logical_and(distance < window)
            found = self._masks[window] = allowed.unsqueeze(1)
        return found

    def _of(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if layer not in self._kept:
            self._kept[layer] = tuple(  # type: ignore[assignment]
                full_of(0.0, (t._aval.shape[0], self.capacity, *t._aval.shape[2:]), t._aval.dtype) for t in (key, value)
            )
        return self._kept[layer]

    def _written(self, kept: Any, new: Any) -> Tensor:
        return kept.index_put((self._rows, self._places), new)
