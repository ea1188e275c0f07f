"""Mixtures of experts beside a loop over tokens in NumPy, however tokens fall on experts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import Config, Experts
from proa.llm.layers.experts import Mixture, block_rows


def mixture(**options: Any) -> Mixture:
    experts = Experts(**{"count": 6, "per_token": 2, "intermediate_size": 10, "sparse": (True,)} | options)
    return Mixture(Config("llama", 40, 12, 1, 2, 16, experts=experts, initializer_range=0.4))


def reference(layer: Mixture, x: np.ndarray) -> np.ndarray:
    weights, chosen = (t.numpy() for t in layer.route(paddle.to_tensor(x)))
    gate, up, down = (t.numpy().astype(np.float64) for t in (layer.gate, layer.up, layer.down))
    out = np.zeros(x.shape)
    for token, row in enumerate(x.astype(np.float64)):
        for weight, expert in zip(weights[token], chosen[token], strict=True):
            inner = row @ gate[expert]
            out[token] += weight * ((inner / (1 + np.exp(-inner)) * (row @ up[expert])) @ down[expert])
    return out


@pytest.mark.parametrize("tokens", [1, 2, 3, 5, 40, 129])
def test_every_token_passes_its_experts(tokens: int) -> None:
    layer, x = mixture(), np.random.default_rng(tokens).normal(size=(tokens, 12)).astype("float32")
    found = layer(paddle.to_tensor(x[None])).numpy()[0]
    np.testing.assert_allclose(found, reference(layer, x), atol=1e-4)


@pytest.mark.parametrize("tokens", [3, 50])
def test_no_token_is_dropped_when_all_want_the_same_expert(tokens: int) -> None:
    layer = mixture(correction=True)
    layer.correction.set_value(np.array([9, 0, 0, 0, 0, 8], "float32"))
    x = np.random.default_rng(0).normal(size=(tokens, 12)).astype("float32")
    chosen = layer.route(paddle.to_tensor(x))[1].numpy()
    assert chosen.tolist() == [[0, 5]] * tokens
    np.testing.assert_allclose(layer(paddle.to_tensor(x[None])).numpy()[0], reference(layer, x), atol=1e-4)


def test_gradients_are_those_of_all_experts_weighted() -> None:
    """Written with every expert on every token, which needs no rows; the router's gradient included."""
    layer = mixture()
    x = paddle.to_tensor(np.random.default_rng(1).normal(size=(1, 30, 12)).astype("float32"), stop_gradient=False)
    layer(x).square().sum().backward()
    found = {name: p.grad.numpy() for name, p in layer.named_parameters()} | {"x": x.grad.numpy()}
    layer.clear_gradients()
    x.clear_gradient()
    weights, chosen = layer.route(x[0])
    shares = (paddle.nn.functional.one_hot(chosen, 6) * weights.unsqueeze(-1)).sum(1)
    inner = paddle.nn.functional.silu(paddle.einsum("td,edi->eti", x[0], layer.gate))
    inner = inner * paddle.einsum("td,edi->eti", x[0], layer.up)
    paddle.einsum("eti,eid,te->td", inner, layer.down, shares).square().sum().backward()
    expected = {name: p.grad.numpy() for name, p in layer.named_parameters()} | {"x": x.grad.numpy()}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-3 * np.abs(value).max(), err_msg=name)


def test_routing_compiles_whole() -> None:
    """A capture raises at whatever would have to look at a value."""
    layer, x = mixture(groups=3, groups_kept=2), paddle.randn([2, 7, 12])
    captured = paddle.jit.to_static(layer.forward)
    np.testing.assert_allclose(captured(x).numpy(), layer(x).numpy(), atol=1e-5)


def test_only_experts_of_the_best_groups_are_chosen() -> None:
    layer = mixture(groups=3, groups_kept=1, scoring="sigmoid", group_scoring="best two")
    x = np.random.default_rng(2).normal(size=(20, 12)).astype("float32")
    scores = 1 / (1 + np.exp(-(x @ layer.router.numpy())))
    best = scores.reshape(20, 3, 2).sum(-1).argmax(-1)
    chosen = np.sort(layer.route(paddle.to_tensor(x))[1].numpy(), -1)
    np.testing.assert_array_equal(chosen, np.stack([best * 2, best * 2 + 1], -1))


@pytest.mark.parametrize(("pairs", "experts", "rows"), [(1, 8, 1), (8, 8, 1), (9, 8, 2), (64, 8, 8), (65, 8, 16)])
def test_a_block_has_about_as_many_rows_as_an_expert_gets(pairs: int, experts: int, rows: int) -> None:
    assert block_rows(pairs, experts) == rows


def test_impossible_experts_are_refused() -> None:
    with pytest.raises(ValueError, match="each token takes 1 to 4 experts; received 5"):
        Experts(4, 5, 8, (True,))
    with pytest.raises(ValueError, match="groups must divide the experts"):
        Experts(6, 2, 8, (True,), groups=4, groups_kept=2)
