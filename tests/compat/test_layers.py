"""`paddle.compat.nn`: layers with PyTorch's parameters, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.compat import nn

X = np.random.default_rng(0).standard_normal((3, 2, 8)).astype("float32")


def test_linear() -> None:
    layer: Any = nn.Linear(8, 4)
    assert layer.weight.shape == [4, 8]
    assert np.abs(layer.weight.numpy()).max() <= 8**-0.5
    assert np.abs(layer.bias.numpy()).max() > 0
    expected = X @ layer.weight.numpy().T + layer.bias.numpy()
    np.testing.assert_allclose(layer(paddle.to_tensor(X)).numpy(), expected, atol=1e-5)
    assert repr(layer) == "Linear(in_features=8, out_features=4, bias=True)"
    before = layer.weight.numpy()
    layer.reset_parameters()
    assert not np.array_equal(layer.weight.numpy(), before)
    assert nn.Linear(8, 4, bias=False).bias is None
    assert nn.Linear(8, 4, dtype="float64").weight.dtype == paddle.float64
    with pytest.raises(TypeError, match=r"no keyword 'bias_attr' here; paddle.nn.Linear"):
        nn.Linear(8, 4, bias_attr=False)  # type: ignore[call-arg]


def test_pooling_counts_the_padding() -> None:
    x = paddle.arange(12, dtype="float32").reshape([1, 3, 4])
    assert nn.AvgPool1D(2, 2, 1)(x)[0, 0].tolist() == [0.0, 1.5, 1.5]
    assert nn.AvgPool1D(2, 2, 1, count_include_pad=False)(x)[0, 0].tolist() == [0.0, 1.5, 3.0]
    assert nn.AvgPool2D(2, divisor_override=2)(x[None]).tolist() == [[[[5.0, 9.0]]]]
    assert nn.AvgPool3D(2)(paddle.ones([1, 1, 2, 2, 2])).item() == 1.0
    assert nn.AvgPool2d is nn.AvgPool2D
    assert repr(nn.AvgPool1D(2)) == "AvgPool1D(kernel_size=(2,), stride=(2,), padding=(0,))"
    with pytest.raises(TypeError, match="exclusive"):
        nn.AvgPool2D(2, exclusive=False)  # type: ignore[call-arg]


def test_softmax_without_a_dimension() -> None:
    x = paddle.to_tensor(X)
    np.testing.assert_allclose(nn.Softmax()(x).numpy().sum(0), 1.0, rtol=1e-5)
    np.testing.assert_allclose(nn.Softmax()(x[0]).numpy().sum(1), 1.0, rtol=1e-5)
    assert repr(nn.Softmax(1)) == "Softmax(dim=1)"


def reference_attention(layer: Any, x: np.ndarray, forbidden: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Two heads of size 4 over [length, batch, 8], by loops."""
    weight, bias = layer.in_proj_weight.numpy(), layer.in_proj_bias.numpy()
    q, k, v = (x @ weight[8 * i : 8 * i + 8].T + bias[8 * i : 8 * i + 8] for i in range(3))
    length, batch, _ = x.shape
    mixed, weights = np.zeros_like(x), np.zeros((batch, 2, length, length), "float32")
    for b in range(batch):
        for h in range(2):
            part = slice(4 * h, 4 * h + 4)
            scores = q[:, b, part] @ k[:, b, part].T / 2.0
            if forbidden is not None:
                scores = np.where(forbidden, -np.inf, scores)
            powers = np.exp(scores - scores.max(-1, keepdims=True))
            weights[b, h] = powers / powers.sum(-1, keepdims=True)
            mixed[:, b, part] = weights[b, h] @ v[:, b, part]
    return mixed @ layer.out_proj.weight.numpy().T + layer.out_proj.bias.numpy(), weights


def test_attention() -> None:
    layer = nn.MultiheadAttention(8, 2)
    x = paddle.to_tensor(X)
    expected, weights = reference_attention(layer, X)
    found, mean = layer(x, x, x)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(mean.numpy(), weights.mean(1), atol=1e-5)
    np.testing.assert_allclose(layer(x, x, x, average_attn_weights=False)[1].numpy(), weights, atol=1e-5)
    assert layer(x, x, x, need_weights=False)[1] is None
    single, shown = layer(x[:, 0], x[:, 0], x[:, 0])
    np.testing.assert_allclose(single.numpy(), expected[:, 0], atol=1e-5)
    assert shown.shape == [3, 3]
    first = nn.MultiheadAttention(8, 2, batch_first=True)
    first.set_state_dict(layer.state_dict())
    turned = x.transpose([1, 0, 2])
    np.testing.assert_allclose(first(turned, turned, turned)[0].numpy(), expected.swapaxes(0, 1), atol=1e-5)


def test_attention_masks() -> None:
    layer = nn.MultiheadAttention(8, 2)
    x = paddle.to_tensor(X)
    later = np.triu(np.ones((3, 3), bool), 1)
    expected, _ = reference_attention(layer, X, later)
    for options in (
        {"attn_mask": paddle.to_tensor(later)},
        {"is_causal": True},
        {"attn_mask": paddle.to_tensor(np.where(later, -np.inf, 0.0).astype("float32"))},
        {"attn_mask": paddle.to_tensor(np.broadcast_to(later, (4, 3, 3)))},
    ):
        np.testing.assert_allclose(layer(x, x, x, **options)[0].numpy(), expected, atol=1e-5)
    column = np.array([False, True, False])
    expected, _ = reference_attention(layer, X, np.broadcast_to(column, (3, 3)))
    padded = layer(x, x, x, key_padding_mask=paddle.to_tensor(np.broadcast_to(column, (2, 3))))
    np.testing.assert_allclose(padded[0].numpy(), expected, atol=1e-5)


def test_attention_of_other_sizes_and_extra_keys() -> None:
    layer = nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    names = "bias_k bias_v k_proj_bias k_proj_weight out_proj.bias out_proj.weight q_proj_bias q_proj_weight"
    assert sorted(layer.state_dict()) == [*names.split(), "v_proj_bias", "v_proj_weight"]
    mask = paddle.to_tensor([[False, True]] * 2)
    out, weights = layer(paddle.ones([2, 3, 8]), paddle.ones([2, 2, 4]), paddle.ones([2, 2, 6]), key_padding_mask=mask)
    assert (out.shape, weights.shape) == ([2, 3, 8], [2, 3, 4])
    np.testing.assert_array_equal(weights.numpy()[:, :, 1], 0.0)
    np.testing.assert_allclose(weights.numpy().sum(-1), 1.0, rtol=1e-5)


def test_attention_gradients_reach_every_parameter() -> None:
    layer = nn.MultiheadAttention(8, 2, dropout=0.1)
    x = paddle.to_tensor(X)
    layer(x, x, x)[0].sum().backward()
    assert all(p.grad is not None for p in layer.parameters())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: nn.MultiheadAttention(7, 2), "multiple of num_heads"),
        (lambda x: nn.MultiheadAttention(8, 0), "multiple of num_heads"),
        (lambda x: nn.MultiheadAttention(8, 2)(x, x[:2], x), "do not fit"),
        (lambda x: nn.MultiheadAttention(8, 2)(x, x, x[:, 0]), "two dimensions, or all three"),
        (lambda x: nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=paddle.ones([2, 3, 3])), r"\[4, 3, 3\]"),
        (lambda x: nn.MultiheadAttention(8, 2)(x, x, x, key_padding_mask=paddle.ones([3, 3])), r"\[2, 3\]"),
    ],
)
def test_attention_errors(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(paddle.to_tensor(X))
