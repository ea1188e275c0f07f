"""`paddle.incubate.nn`: fused functions beside what they stand for, written out in NumPy or with ordinary layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import incubate, nn
from proa.incubate.nn import functional as fused
from proa.incubate.nn import memory_efficient_attention as efficient
from proa.nn import functional as F

RANDOM = np.random.default_rng(0)


def _tensor(*shape: int) -> Any:
    return paddle.to_tensor(RANDOM.normal(size=shape).astype("float32"))


def _close(left: Any, right: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(left), np.asarray(right), rtol=tolerance, atol=tolerance)


def test_neighbours_are_turned_like_complex_numbers() -> None:
    q, k = _tensor(2, 5, 3, 8), _tensor(2, 5, 1, 8)
    turned, keys, values = fused.fused_rotary_position_embedding(q, k)
    assert values is None
    angles = np.outer(np.arange(5), 10000.0 ** -(np.arange(0, 8, 2) / 8))
    turn = np.exp(1j * angles)[None, :, None, :]
    for given, found in ((q, turned), (k, keys)):
        pairs = given.numpy().reshape(*given.shape[:-1], 4, 2)
        expected = (pairs[..., 0] + 1j * pairs[..., 1]) * turn
        both = np.stack([expected.real, expected.imag], -1).reshape(given.shape)
        _close(found.numpy(), both)


def test_halves_are_turned_at_given_positions() -> None:
    q = _tensor(1, 3, 2, 6)
    angles = np.concatenate([np.outer(np.arange(9), [1.0, 0.5, 0.1])] * 2, axis=1).astype("float32")
    sin, cos = (paddle.to_tensor(f(angles)[None, :, None, :]) for f in (np.sin, np.cos))
    positions = paddle.to_tensor([[4, 0, 7]])
    turned, *_ = fused.fused_rotary_position_embedding(
        q, sin=sin, cos=cos, position_ids=positions, use_neox_rotary_style=False
    )
    rows = angles[[4, 0, 7]][None, :, None, :]
    x = q.numpy()
    half = np.concatenate([-x[..., 3:], x[..., :3]], -1)
    _close(turned.numpy(), x * np.cos(rows) + half * np.sin(rows))
    first, *_ = fused.fused_rotary_position_embedding(q.transpose([1, 0, 2, 3]), time_major=True)
    second, *_ = fused.fused_rotary_position_embedding(q)
    _close(first.transpose([1, 0, 2, 3]).numpy(), second.numpy())
    with pytest.raises(ValueError, match="turning halves needs sin and cos"):
        fused.fused_rotary_position_embedding(q, use_neox_rotary_style=False)
    with pytest.raises(ValueError, match="even"):
        fused.fused_rotary_position_embedding(_tensor(1, 2, 1, 3))


def test_norms_see_bias_and_residual() -> None:
    x, weight, bias, residual = _tensor(2, 3, 4), _tensor(4), _tensor(4), _tensor(2, 3, 4)
    out, total = fused.fused_rms_norm(x, weight, None, 1e-6, 2, bias, residual)
    summed = x.numpy() + bias.numpy() + residual.numpy()
    _close(total.numpy(), summed)
    _close(out.numpy(), summed / np.sqrt((summed**2).mean(-1, keepdims=True) + 1e-6) * weight.numpy())
    plain, nothing = fused.fused_rms_norm(x, weight, None, 1e-6, 2)
    assert nothing.shape == [0]
    again, inverse = fused.fused_rms_norm_ext(x, weight, 1e-6)
    _close(again.numpy(), plain.numpy())
    _close(inverse.numpy(), 1 / np.sqrt((x.numpy() ** 2).mean(-1) + 1e-6))
    out, total, mean, variance = fused.fused_layer_norm(x, weight, bias, 1e-5, 0.5, 2, None, residual)
    summed = x.numpy() + 0.5 * residual.numpy()
    _close(total.numpy(), summed)
    _close(mean.numpy(), summed.mean(-1).reshape(-1))
    _close(variance.numpy(), summed.var(-1).reshape(-1), 1e-4)
    _close(out.numpy(), F.layer_norm(total, [4], weight, bias, 1e-5).numpy())
    with pytest.raises(NotImplementedError, match="8 bits"):
        fused.fused_rms_norm(x, weight, None, 1e-6, quant_scale=0.5)


def test_products_with_bias_and_activation() -> None:
    x, weight, bias = _tensor(2, 4), _tensor(4, 3), _tensor(3)
    expected = x.numpy() @ weight.numpy() + bias.numpy()
    _close(fused.fused_linear(x, weight, bias).numpy(), expected)
    _close(fused.fused_linear(x, weight.t(), bias, transpose_weight=True).numpy(), expected)
    _close(fused.fused_linear_activation(x, weight, bias, activation="relu").numpy(), np.maximum(expected, 0))
    _close(fused.fused_bias_act(x, act_method="relu").numpy(), np.maximum(x.numpy(), 0))
    first, second = x.numpy()[:, :2], x.numpy()[:, 2:]
    _close(fused.fused_bias_act(x, act_method="swiglu").numpy(), first / (1 + np.exp(-first)) * second)
    _close(fused.swiglu(x).numpy(), first / (1 + np.exp(-first)) * second)
    _close(fused.fused_dropout_add(x, x, p=0.9, training=False).numpy(), 2 * x.numpy())
    with pytest.raises(ValueError, match="'gelu', 'relu' or None"):
        fused.fused_linear_activation(x, weight, bias, activation="tanh")


@pytest.mark.parametrize("before", [True, False])
def test_a_fused_encoder_layer_is_an_encoder_layer(before: bool) -> None:
    layer = incubate.nn.FusedTransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=before)
    plain = nn.TransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=before)
    attention = layer.fused_attn
    weights = attention.qkv_weight.numpy().reshape(3, 8, 8)
    for part, projection in enumerate((plain.self_attn.q_proj, plain.self_attn.k_proj, plain.self_attn.v_proj)):
        projection.weight.set_value(weights[part].T)
    plain.self_attn.out_proj.weight.set_value(attention.linear_weight.numpy())
    plain.linear1.weight.set_value(layer.ffn._linear1_weight.numpy())
    plain.linear2.weight.set_value(layer.ffn._linear2_weight.numpy())
    x, mask = _tensor(2, 3, 8), paddle.to_tensor([[True, True, False]] * 3)
    _close(layer(x).numpy(), plain(x).numpy(), 1e-4)
    _close(layer(x, mask).numpy(), plain(x, mask).numpy(), 1e-4)
    layer(x).sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    names = ["qkv_weight", "qkv_bias", "linear_weight", "linear_bias"]
    assert [key.removeprefix("fused_attn.") for key in layer.state_dict()][:4] == names


def test_a_cache_grows() -> None:
    layer = incubate.nn.FusedMultiHeadAttention(8, 2, 0.0, 0.0)
    layer.eval()
    x = _tensor(1, 2, 8)
    empty = paddle.zeros([2, 1, 2, 0, 4])
    _, cache = layer(x[:, :1], cache=empty)
    assert cache.shape == [2, 1, 2, 1, 4]
    later, cache = layer(x[:, 1:], cache=cache)
    _close(later.numpy(), layer(x).numpy()[:, 1:], 1e-4)


def test_attention_over_sequences_of_different_lengths() -> None:
    query, key, value = (_tensor(2, 2, 4, 8) for _ in range(3))
    lengths, keys = paddle.to_tensor([[4], [2]], dtype="int32"), paddle.to_tensor([[4], [3]], dtype="int32")
    out = fused.variable_length_memory_efficient_attention(query, key, value, lengths, keys, causal=True)
    for image, (rows, columns) in enumerate(((4, 4), (2, 3))):
        scores = query.numpy()[image, :, :rows] @ key.numpy()[image, :, :columns].transpose(0, 2, 1) / np.sqrt(8)
        scores += np.triu(np.full((rows, columns), -np.inf), 1)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        _close(out.numpy()[image, :, :rows], shares @ value.numpy()[image, :, :columns], 1e-4)
        assert not out.numpy()[image, :, rows:].any()


def test_masks_of_blocks() -> None:
    mask = efficient.BlockDiagonalCausalMask.from_seqlens([2, 1])
    shown = mask.materialize((1, 1, 3, 3)).numpy()[0, 0]
    assert np.isfinite(shown).tolist() == [[True, False, False], [True, True, False], [False, False, True]]
    q = _tensor(1, 3, 2, 4)
    out = efficient.memory_efficient_attention(q, q, q, mask, scale=0.5)
    _close(out.numpy()[:, 2], q.numpy()[:, 2])
    lower = efficient.memory_efficient_attention(q, q, q, efficient.LowerTriangularMask())
    _close(lower.numpy(), F.scaled_dot_product_attention(q, q, q, is_causal=True).numpy())


def test_experts_are_kept_equally_busy() -> None:
    gates = F.softmax(_tensor(6, 3), -1)
    counts = paddle.to_tensor([4.0, 2.0, 6.0])
    loss, tokens, shares = fused.cal_aux_loss(gates, counts, None, None, 3, False, 2, 1e-6)
    _close(float(tokens), 6.0)
    _close(shares.numpy(), counts.numpy() / 6)
    _close(float(loss), (gates.numpy().mean(0) * counts.numpy() / 6).sum() * 3)
    assert fused.int_bincount(paddle.to_tensor([1, 3, 3, 9, -1]), 0, 5).numpy().tolist() == [0, 1, 0, 2, 0]


def test_tuning_is_configured_and_changes_nothing(tmp_path: Any) -> None:
    incubate.autotune.set_config({"kernel": {"enable": True, "tuning_range": [1, 5]}})
    (tmp_path / "config.json").write_text('{"layout": {"enable": false}}')
    incubate.autotune.set_config(tmp_path / "config.json")
    with pytest.raises(ValueError, match="no 'nothing'"):
        incubate.autotune.set_config({"nothing": {}})
    with pytest.raises(TypeError, match="dictionary or the path"):
        incubate.autotune.set_config(3)  # type: ignore[arg-type]


def test_attention_warns_of_keys_that_it_does_not_look_at() -> None:
    # Paddle 3.3.1 attends to the query whatever key is, without a word.
    layer = incubate.nn.FusedMultiHeadAttention(8, 2, dropout_rate=0.0, attn_dropout_rate=0.0)
    x, other = paddle.rand([1, 3, 8]), paddle.rand([1, 5, 8])
    expected = layer(x, x, x).numpy()
    with pytest.warns(UserWarning, match="key is not looked at"):
        np.testing.assert_array_equal(layer(x, other).numpy(), expected)
    with pytest.warns(UserWarning, match="value is not looked at"):
        np.testing.assert_array_equal(layer(x, x, other).numpy(), expected)
