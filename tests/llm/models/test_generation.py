"""Plain generation, projections with other storage, sentence vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import CausalLM, Config
from proa.llm.encoder import Encoder
from proa.llm.layers.projection import Projection
from proa.nn import Layer

CONFIG = Config("llama", 40, 32, 2, 4, 48, kv_heads=2, initializer_range=0.3)
PROMPT = [[1, 5, 9], [2, 8, 3]]


@pytest.fixture(scope="module")
def model() -> CausalLM:
    paddle.seed(5)
    return CausalLM(CONFIG).eval()


def greedy(model: CausalLM, count: int) -> np.ndarray:
    """The whole text anew for each token."""
    ids = np.array(PROMPT)
    for _ in range(count):
        ids = np.concatenate([ids, model(paddle.to_tensor(ids)).numpy()[:, -1].argmax(-1)[:, None]], 1)
    return ids[:, 3:]


def test_the_likeliest_tokens_follow(model: CausalLM) -> None:
    found = model.generate(paddle.to_tensor(PROMPT), 12).numpy()
    np.testing.assert_array_equal(found, greedy(model, 12))


def test_rows_end_by_themselves(model: CausalLM) -> None:
    plain = greedy(model, 12)
    end = int(plain[0, 4])
    found = model.generate(paddle.to_tensor(PROMPT), 12, ends=(end,)).numpy()
    for row, expected in zip(found, plain, strict=True):
        ends = np.flatnonzero(expected == end)
        length = ends[0] + 1 if len(ends) else 12
        np.testing.assert_array_equal(row[:length], expected[:length])
        assert set(row[length:]) <= {end}
    one = model.generate(paddle.to_tensor(PROMPT[:1]), 12, ends=(end,)).numpy()
    assert one.shape == (1, int(np.flatnonzero(plain[0] == end)[0]) + 1)


def test_drawing_is_reproducible_and_follows_the_odds(model: CausalLM) -> None:
    many = paddle.to_tensor(PROMPT[:1] * 1000)
    options: dict[str, Any] = {"temperature": 0.8, "seed": 3}
    first = model.generate(many, 1, **options).numpy()
    np.testing.assert_array_equal(model.generate(many, 1, **options).numpy(), first)
    assert (model.generate(many, 1, temperature=0.8, seed=4).numpy() != first).any()
    logits = model(paddle.to_tensor(PROMPT[:1])).numpy()[0, -1].astype(np.float64) / 0.8
    odds = np.exp(logits - logits.max())
    odds /= odds.sum()
    counts = np.bincount(first[:, 0], minlength=40)
    assert np.abs(counts / 1000 - odds).max() < 4 * np.sqrt(odds.max() / 1000)
    best = np.argsort(-odds)
    assert set(model.generate(many, 1, top_k=3, **options).numpy()[:, 0]) == set(best[:3])
    kept = best[: int(np.searchsorted(np.cumsum(odds[best]), 0.5)) + 1]
    assert set(model.generate(many, 1, top_p=0.5, **options).numpy()[:, 0]) == set(kept)
    np.testing.assert_array_equal(model.generate(many[:2], 6, top_k=1, **options).numpy()[0], greedy(model, 6)[0])


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": 0}, {"temperature": -1.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.5}]
)
def test_impossible_settings_are_refused(model: CausalLM, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\(generate\) max_tokens is at least 1"):
        model.generate(paddle.to_tensor(PROMPT), **{"max_tokens": 3, **wrong})


class Halves(Layer):
    """A weight kept in another form."""

    def __init__(self, weight: Any) -> None:
        super().__init__()
        self.half = weight.astype("float16")

    def dense(self) -> Any:
        return self.half.astype("float32")

    def forward(self, x: Any) -> Any:
        return paddle.matmul(x, self.dense())


def test_storage_and_adapters_are_exchanged_without_the_models_knowledge() -> None:
    layer, x = Projection(6, 4, bias=True), paddle.randn([3, 6])
    layer.bias.set_value(np.arange(4, dtype="float32"))
    dense, plain = layer.dense().numpy(), layer(x).numpy()
    layer.store(Halves(layer.weight))
    assert "weight" not in layer.state_dict()
    np.testing.assert_allclose(layer(x).numpy(), plain, atol=1e-3)
    np.testing.assert_allclose(layer.dense().numpy(), dense, atol=1e-3)
    layer.adapter = paddle.nn.Linear(6, 4)
    np.testing.assert_allclose(layer(x).numpy(), plain + layer.adapter(x).numpy(), atol=1e-3)
    with pytest.raises(TypeError, match=r"storage is a layer with forward\(x\) and dense\(\); received Linear"):
        layer.store(paddle.nn.Linear(6, 4))


def encoder(**changes: Any) -> Encoder:
    options: dict[str, Any] = {
        "norm": "layer",
        "placement": "after",
        "gated": False,
        "positions": "learned",
        "head": "",
    }
    return Encoder(
        Config("bert", 50, 32, 2, 4, 48, max_positions=10, initializer_range=0.3, **options | changes)
    ).eval()


def test_sentence_vectors_are_means_of_words_and_have_length_one() -> None:
    model, ids = encoder(), paddle.to_tensor([[5, 6, 7, 8], [9, 3, 0, 0]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    found = model.embed(ids, paddle.to_tensor(mask)).numpy()
    states = model.hidden(ids, paddle.to_tensor(mask)).numpy()
    expected = np.stack([states[0].mean(0), states[1, :2].mean(0)])
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=-1, keepdims=True), atol=1e-6)
    alone = model.embed(ids[1:, :2]).numpy()
    np.testing.assert_allclose(found[1:], alone, atol=1e-5)  # padding changes nothing


def test_what_an_encoder_cannot_do_is_said() -> None:
    model, states = encoder(), paddle.zeros([1, 2, 32])
    with pytest.raises(ValueError, match="this model has no head for words"):
        model.logits(states)
    with pytest.raises(ValueError, match=r"no pooler.*use embed\(\)"):
        model.pooled(states)
    with pytest.raises(ValueError, match="this model has 10 positions; received 11 tokens"):
        model(paddle.zeros([1, 11], "int64"))
    assert encoder(pooler=True).pooled(states).shape == [1, 32]
