"""How queries meet keys, beside plain NumPy; caches beside the whole text at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import CausalLM, Config, Rope
from proa.llm.layers.attend import Attend, Causal, Contiguous, Full

random = np.random.default_rng(3)
QUERY, KEY, VALUE = (
    random.normal(size=shape).astype("float32") for shape in ((2, 9, 4, 8), (2, 9, 2, 8), (2, 9, 2, 6))
)


def reference(allowed: np.ndarray, cap: float = 0.0, sinks: np.ndarray | None = None, bias: Any = 0.0) -> np.ndarray:
    """In float64, head by head; `allowed` is [batch, queries, keys]."""
    key, value = (np.repeat(x.astype(np.float64), 2, axis=2) for x in (KEY, VALUE))
    scores = np.einsum("bqhd,bkhd->bhqk", QUERY.astype(np.float64), key) * 0.3
    scores = cap * np.tanh(scores / cap) if cap else scores
    scores = np.where(allowed[:, None], scores + bias, -np.inf)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks.reshape(1, -1, 1, 1) - top)
    return np.einsum("bhqk,bkhd->bqhd", powers / total, value)


def attended(attend: Attend, **options: Any) -> np.ndarray:
    tensors = [paddle.to_tensor(x) for x in (QUERY, KEY, VALUE)]
    return attend(0, *tensors, scale=0.3, **options).numpy()


DISTANCE = np.arange(9)[:, None] - np.arange(9)[None]
EARLIER = np.broadcast_to(DISTANCE >= 0, (2, 9, 9))
NEAR = EARLIER & (DISTANCE < 3)


def test_causal_attention_with_groups_and_values_of_another_size() -> None:
    np.testing.assert_allclose(attended(Causal()), reference(EARLIER), atol=1e-5)


def test_a_window_counts_the_token_itself() -> None:
    np.testing.assert_allclose(attended(Causal(), window=3), reference(NEAR), atol=1e-5)
    np.testing.assert_allclose(attended(Causal(), window=9), reference(EARLIER), atol=1e-5)


def test_caps_sinks_and_biases() -> None:
    sinks, bias = random.normal(size=4), random.normal(size=(1, 4, 9, 9))
    options = {"sinks": paddle.to_tensor(sinks.astype("float32")), "bias": paddle.to_tensor(bias.astype("float32"))}
    found = attended(Causal(), window=3, cap=0.7, **options)
    np.testing.assert_allclose(found, reference(NEAR, 0.7, sinks, bias), atol=1e-5)


def test_packed_sequences_do_not_see_each_other() -> None:
    segments = np.array([[0, 0, 0, 1, 1, 1, 1, -1, -1], [4] * 9])
    same = segments[:, :, None] == segments[:, None, :]
    found = attended(Causal(paddle.to_tensor(segments)), window=3)
    np.testing.assert_allclose(found, reference(NEAR & same), atol=1e-5)
    positions = Causal(paddle.to_tensor(segments)).positions(2, 9).numpy()
    assert positions.tolist() == [[0, 1, 2, 0, 1, 2, 3, 0, 1], list(range(9))]


def test_padding_is_not_seen_by_an_encoder() -> None:
    mask = np.array([[1] * 9, [1] * 4 + [0] * 5])
    found = attended(Full(paddle.to_tensor(mask)))
    np.testing.assert_allclose(found, reference(np.broadcast_to(mask[:, None, :] == 1, (2, 9, 9))), atol=1e-5)


@pytest.mark.parametrize("pieces", [[1] * 9, [4, 1, 3, 1], [9], [2, 7]])
@pytest.mark.parametrize("options", [{}, {"window": 3}, {"window": 4, "cap": 0.8}], ids=["plain", "window", "cap"])
def test_a_cache_fed_in_pieces_gives_what_the_whole_gives(pieces: list[int], options: dict[str, Any]) -> None:
    cache, found, begin = Contiguous(12), [], 0
    for length in pieces:
        cache.positions(2, length)
        part = slice(begin, begin + length)
        tensors = [paddle.to_tensor(x[:, part]) for x in (QUERY, KEY, VALUE)]
        found.append(cache(0, *tensors, scale=0.3, **options).numpy())
        cache.advance(length)
        begin += length
    allowed = EARLIER & (options.get("window", 99) > DISTANCE)
    np.testing.assert_allclose(np.concatenate(found, 1), reference(allowed, options.get("cap", 0.0)), atol=1e-5)


def test_a_full_cache_says_so() -> None:
    cache = Contiguous(4)
    cache.positions(1, 3)
    cache.advance(3)
    with pytest.raises(ValueError, match="room for 4 positions; received 3 taken, 2 more"):
        cache.positions(1, 2)


def test_segments_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"segments are \[2, 9\]"):
        Causal(paddle.to_tensor(np.zeros((2, 8), "int64"))).positions(2, 9)


def small(**changes: Any) -> CausalLM:
    return CausalLM(Config("llama", 40, 32, 2, 4, 48, kv_heads=2, initializer_range=0.3, **changes)).eval()


def test_positions_are_data_and_may_come_in_any_order() -> None:
    """Attention depends on distances alone: moving all positions changes nothing, gaps do."""
    model, ids = small(), paddle.to_tensor([[5, 6, 7, 8]])
    plain = model(ids).numpy()
    np.testing.assert_allclose(model(ids, paddle.to_tensor([[100, 101, 102, 103]])).numpy(), plain, atol=1e-3)
    assert np.abs(model(ids, paddle.to_tensor([[0, 1, 2, 9]])).numpy() - plain).max() > 1e-2


def test_dynamic_scaling_looks_at_each_row_by_itself() -> None:
    rope = Rope(dims=8, scaling="dynamic", factor=4.0, original_positions=8)
    model, ids = small(rope=rope), np.arange(12).reshape(1, 12)
    alone = model(paddle.to_tensor(ids)).numpy()
    positions = np.stack([np.arange(12), np.arange(12) + 50])
    both = model(paddle.to_tensor(np.repeat(ids, 2, 0)), paddle.to_tensor(positions)).numpy()
    np.testing.assert_allclose(both[:1], alone, atol=1e-5)
    assert np.abs(both[1] - alone[0]).max() > 1e-2


def test_a_part_of_a_head_can_be_turned() -> None:
    model, ids = small(rope=Rope(dims=4)), paddle.to_tensor([[1, 2, 3]])
    assert np.abs(model(ids).numpy() - model(ids, paddle.to_tensor([[0, 5, 9]])).numpy()).max() > 1e-2


def test_bad_ids_are_refused() -> None:
    model = small()
    with pytest.raises(ValueError, match=r"\(CausalLM\) ids must be whole numbers, \[batch, length\]"):
        model(paddle.to_tensor([1, 2]))
    with pytest.raises(ValueError, match="whole numbers"):
        model(paddle.to_tensor([[1.0]]))
    with pytest.raises(TypeError, match="ids must be a tensor; received list"):
        model([[1]])
