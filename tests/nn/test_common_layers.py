"""Linear, Embedding, Dropout, Flatten, activations: they hold parameters and call functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf

import proa as paddle

F, nn = paddle.nn.functional, paddle.nn

X = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")


def x():
    return paddle.to_tensor(X)


def test_linear():
    layer = nn.Linear(3, 2)
    expected = X @ layer.weight.numpy() + layer.bias.numpy()
    np.testing.assert_allclose(layer(x()).numpy(), expected, rtol=1e-5, atol=1e-6)
    deep = layer(x().reshape([2, 2, 3]))
    assert deep.shape == [2, 2, 2]
    np.testing.assert_allclose(nn.Linear(3, 2, bias_attr=False)(x()).shape, [4, 2])
    with pytest.raises(ValueError):
        layer(paddle.ones([1, 4]))
    with pytest.raises(ValueError, match="weight_attr"):
        nn.Linear(2, 2, weight_attr=False)


def test_embedding():
    layer = nn.Embedding(5, 3, padding_idx=2)
    index = paddle.to_tensor([[0, 2], [4, 0]])
    out = layer(index)
    np.testing.assert_array_equal(out.numpy(), layer.weight.numpy()[index.numpy()])
    out.sum().backward()
    # Rows count how often they were looked up; the padding row learns nothing.
    assert layer.weight.grad.numpy()[:, 0].tolist() == [2.0, 0.0, 0.0, 0.0, 1.0]
    for arguments in ((0, 3), (3, 0), (4, 3, 7)):
        with pytest.raises(ValueError, match="Embedding"):
            nn.Embedding(*arguments)
    with pytest.raises(ValueError):
        layer(paddle.to_tensor([5]))
    given = nn.Embedding(2, 2, _weight=paddle.ones([2, 2]), _freeze=True)
    assert given.weight.stop_gradient
    assert given(paddle.to_tensor([1])).tolist() == [[1.0, 1.0]]


def test_dropout_drops_only_in_training():
    layer = nn.Dropout(0.5)
    ones = paddle.ones([1000])
    dropped = layer(ones).numpy()
    assert set(np.unique(dropped)) == {0.0, 2.0}
    assert 400 < (dropped == 0).sum() < 600
    layer.eval()
    assert layer(ones).numpy().min() == 1.0


def test_flatten_and_identity():
    data = paddle.ones([2, 3, 4])
    assert nn.Flatten()(data).shape == [2, 12]
    assert nn.Flatten(0, 1)(data).shape == [6, 4]
    assert nn.Identity(3, some="thing")(data) is data


@pytest.mark.parametrize(
    ("layer", "reference"),
    [
        (nn.ReLU, lambda x: np.maximum(x, 0)),
        (nn.Sigmoid, lambda x: 1 / (1 + np.exp(-x))),
        (nn.Tanh, np.tanh),
        (nn.ReLU6, lambda x: np.clip(x, 0, 6)),
        (nn.SiLU, lambda x: x / (1 + np.exp(-x))),
        (nn.Silu, lambda x: x / (1 + np.exp(-x))),
        (nn.Swish, lambda x: x / (1 + np.exp(-x))),
        (nn.Mish, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
        (nn.Softsign, lambda x: x / (1 + np.abs(x))),
        (nn.LogSigmoid, lambda x: -np.log1p(np.exp(-x))),
        (nn.Tanhshrink, lambda x: x - np.tanh(x)),
        (nn.Hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
        (nn.Hardswish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
        (lambda: nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
        (lambda: nn.ELU(0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
        (lambda: nn.CELU(2.0), lambda x: np.where(x > 0, x, 2.0 * np.expm1(x / 2.0))),
        (nn.SELU, lambda x: 1.05070098735 * np.where(x > 0, x, 1.67326324235 * np.expm1(x))),
        (lambda: nn.Hardtanh(-0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
        (lambda: nn.Hardshrink(0.3), lambda x: np.where(np.abs(x) > 0.3, x, 0)),
        (lambda: nn.Softshrink(0.3), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.3, 0)),
        (lambda: nn.ThresholdedReLU(0.3), lambda x: np.where(x > 0.3, x, 0)),
        (nn.Softplus, lambda x: np.log1p(np.exp(x))),
        (nn.Softmax, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
        (lambda: nn.Softmax(0), lambda x: np.exp(x) / np.exp(x).sum(0)),
        (nn.LogSoftmax, lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
        (nn.PReLU, lambda x: np.where(x > 0, x, 0.25 * x)),
        (nn.GELU, lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))),
    ],
)  # fmt: skip
def test_activations(layer, reference):
    np.testing.assert_allclose(layer()(x()).numpy(), reference(X), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("given", "row"), [(-1, 9), (-10, 0), (3, 3)])
def test_embedding_keeps_the_padding_index_as_given(given: int, row: int) -> None:
    # As Paddle 3.3.1 shows it; the row that it means gets no gradient.
    layer = nn.Embedding(10, 4, padding_idx=given)
    assert layer.padding_idx == layer._padding_idx == given
    assert repr(layer) == f"Embedding(10, 4, padding_idx={given}, sparse=False, scale_grad_by_freq=False)"
    assert np.flatnonzero(~layer.weight.numpy().any(1)).tolist() == [row]
    layer(paddle.arange(10)).sum().backward()
    assert np.flatnonzero(~layer.weight.grad.numpy().any(1)).tolist() == [row]
