"""Passes that rewrite: patterns, products, scales, folding, layout."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import proa as paddle
from tests.graph.passes.support import assert_unchanged, changed_by, graph_of, kinds, random

nn, F = paddle.nn, paddle.nn.functional
ROOT = math.sqrt(2 / math.pi)

GELUS = {
    "half first": lambda x: 0.5 * x * (1 + paddle.erf(x / math.sqrt(2))),
    "half last": lambda x: x * (1 + paddle.erf(x * 0.70710678)) * 0.5,
    "half inside": lambda x: x * (0.5 * (paddle.erf(x / math.sqrt(2)) + 1)),
    "tanh": lambda x: 0.5 * x * (1 + paddle.tanh(ROOT * (x + 0.044715 * x**3))),
    "tanh, factored": lambda x: 0.5 * x * (1 + paddle.tanh(x * ROOT * (1 + 0.044715 * x * x))),
}


@pytest.mark.parametrize("form", GELUS)
def test_gelu_by_hand(form: str) -> None:
    graph = graph_of(GELUS[form], [None, 8])
    assert dict(kinds(graph)) == {"gelu": 1}
    assert_unchanged(graph, random(3, 8) * 3.0)


def test_almost_gelu_is_left_alone() -> None:
    graph = graph_of(lambda x: 0.5 * x * (1 + paddle.erf(x / 1.5)), [4])
    assert kinds(graph)["gelu"] == 0
    assert_unchanged(graph, random(4))


def test_a_part_that_is_used_elsewhere_keeps_the_pattern_from_matching() -> None:
    def function(x: Any) -> Any:
        gate = F.sigmoid(x)
        return x * gate, gate

    graph = graph_of(function, [4])
    assert kinds(graph)["silu"] == 0
    assert_unchanged(graph, random(4))
    assert dict(kinds(graph_of(lambda x: F.sigmoid(x) * x, [4]))) == {"silu": 1}


def _norms() -> dict[str, Any]:
    weight, bias = random(8, seed=1), random(8, seed=2)

    def with_var(x: Any) -> Any:
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / paddle.sqrt(var + 1e-5) * weight + bias

    def with_rsqrt(x: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return weight * (centred * paddle.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-6)) + bias

    def bare(x: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()

    def root_mean_square(x: Any) -> Any:
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight

    return {f.__name__: f for f in (with_var, with_rsqrt, bare, root_mean_square)}


@pytest.mark.parametrize("name", _norms())
def test_norms_by_hand(name: str) -> None:
    graph = graph_of(_norms()[name], [None, 3, 8])
    assert dict(kinds(graph)) == {"normalise": 1}
    assert_unchanged(graph, random(2, 3, 8) + 1.0)


def test_a_norm_along_another_axis_is_left_alone() -> None:
    def function(x: Any) -> Any:
        centred = x - x.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()

    graph = graph_of(function, [2, 3, 8])
    assert kinds(graph)["normalise"] == 0
    assert_unchanged(graph, random(2, 3, 8))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("flag", [False, True])
def test_attention_by_hand(masked: bool, flag: bool) -> None:
    weights = [random(16, 16, seed=s) for s in range(3)]
    mask = paddle.triu(paddle.full([5, 5], -1e9), 1)

    def function(x: Any) -> Any:
        query, key, value = ((x @ w).reshape([-1, 5, 2, 8]).transpose([0, 2, 1, 3]) for w in weights)
        scores = paddle.matmul(query, key, transpose_y=True) if flag else query @ key.transpose([0, 1, 3, 2])
        scores = scores / math.sqrt(8) if flag else scores * 8**-0.5
        if masked:
            scores = scores + mask
        return (F.softmax(scores, -1) @ value).transpose([0, 2, 1, 3]).reshape([-1, 5, 16])

    graph = graph_of(function, [None, 5, 16])
    found = kinds(graph)
    assert found["attention"] == 1
    assert found["transpose"] == found["softmax"] == 0
    assert_unchanged(graph, random(3, 5, 16))


def test_a_mask_that_makes_the_scores_larger_is_no_attention() -> None:
    mask = random(4, 1, 3, 3)
    graph = graph_of(lambda q: F.softmax(q @ q.transpose([0, 1, 3, 2]) + mask, -1) @ q, [1, 2, 3, 8])
    assert kinds(graph)["attention"] == 0
    assert_unchanged(graph, random(1, 2, 3, 8))


def test_a_transposed_operand_becomes_a_flag_and_a_bias_part_of_linear() -> None:
    bias = random(5)

    def function(x: Any, y: Any) -> Any:
        return x @ y.transpose([0, 2, 1]), x @ weight + bias

    weight = random(4, 5)
    graph = graph_of(function, [2, 3, 4], [2, 6, 4])
    assert dict(kinds(graph)) == {"matmul": 1, "linear": 1}
    assert_unchanged(graph, random(2, 3, 4), random(2, 6, 4))


def test_scales_are_joined_but_not_where_rounding_is_meant() -> None:
    graph = graph_of(lambda x: ((x * 2.0) * 3.0 + 1.0) / 4.0 + 2.0, [3])
    assert dict(kinds(graph)) == {"scale": 1}
    assert_unchanged(graph, random(3))
    rounding = graph_of(lambda x: (x + 8388608.0) - 8388608.0, [3])
    np.testing.assert_array_equal(rounding(paddle.to_tensor([0.4, 1.6, 2.2])).numpy(), [0.0, 2.0, 2.0])
    integers = graph_of(lambda x: x * 3 * 5, [2], dtype="int32")
    assert kinds(integers)["multiply"] == 2


def _trained(*layers: Any) -> Any:
    model = nn.Sequential(*layers)
    model.train()
    shape = [4, 3, 8, 8] if not isinstance(layers[0], nn.Linear) else [16, 6]
    for seed in range(2):
        model(random(*shape, seed=seed))
    model.eval()
    return model


def test_batch_norms_are_folded_and_folded_again() -> None:
    model = _trained(
        nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2D(8, 4, 1, groups=2, bias_attr=False),
        nn.BatchNorm2D(4, weight_attr=False, bias_attr=False),
    )  # fmt: skip
    graph = graph_of(model, [None, 3, 8, 8])
    x = random(2, 3, 8, 8)
    assert dict(kinds(graph)) == {"conv": 2, "relu": 1}
    assert_unchanged(graph, x)
    preparation: Any = graph.optimised().preparation
    graph(x)
    assert preparation.times == 1
    # Whoever is changed, in whatever way: the next run knows.
    for tensor in (model[0].weight, model[1]._mean, model[1].bias, model[4]._variance):
        before = preparation.times
        tensor.set_value(tensor.numpy() * 1.5 + 0.25)
        np.testing.assert_allclose(graph(x).numpy(), model(x).numpy(), rtol=1e-4, atol=1e-5)
        assert preparation.times == before + 1


def test_training_between_runs_is_seen() -> None:
    model = _trained(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(4, 2))
    graph = graph_of(model, [2, 3, 8, 8])
    optimiser = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    x = random(2, 3, 8, 8)
    for _ in range(12):
        model.train()
        model(x).square().mean().backward()
        optimiser.step()
        optimiser.clear_grad()
        model.eval()
        np.testing.assert_allclose(graph(x).numpy(), model(x).numpy(), rtol=1e-4, atol=1e-5)


def test_prepared_weights_are_compiled_where_there_is_no_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proa.graph.optimised.CPU", None)  # as on an accelerator
    model = _trained(nn.Linear(6, 5), nn.BatchNorm1D(5))
    graph = graph_of(model, [None, 6])
    for factor in (1.0, 2.0):
        model[0].weight.set_value(model[0].weight.numpy() * factor)
        assert_unchanged(graph, random(7, 6))


def test_many_threads_may_run_a_graph_for_the_first_time() -> None:
    model = _trained(nn.Linear(6, 5), nn.BatchNorm1D(5))
    graph = graph_of(model, [None, 6])
    x = random(7, 6)
    expected = model(x).numpy()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: graph(x).numpy(), range(8)))
    for one in found:
        np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-6)


def test_linear_with_batch_norm_and_scales() -> None:
    model = _trained(nn.Linear(6, 5), nn.BatchNorm1D(5))
    scale = random(5)
    graph = graph_of(lambda x: (model(x) * scale + 1.0) * 2.0, [None, 6])
    assert dict(kinds(graph)) == {"linear": 1}
    assert_unchanged(graph, random(7, 6))


def test_a_batch_norm_whose_input_is_needed_elsewhere_stays() -> None:
    model = _trained(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4))

    def function(x: Any) -> Any:
        y = model[0](x)
        return model[1](y), y

    graph = graph_of(function, [1, 3, 8, 8])
    assert kinds(graph)["normalise_by"] == 1
    assert_unchanged(graph, random(1, 3, 8, 8))


def test_weights_that_are_inputs_are_not_folded() -> None:
    norm = nn.BatchNorm2D(4)
    norm.eval()
    graph = graph_of(lambda x, w: norm(F.conv2d(x, w)), [1, 3, 8, 8], [4, 3, 3, 3])
    assert kinds(graph)["normalise_by"] == 1
    assert_unchanged(graph, random(1, 3, 8, 8), random(4, 3, 3, 3))


def test_channels_last_becomes_first_inside() -> None:
    kwargs = {"data_format": "NHWC"}
    model = nn.Sequential(
        nn.Conv2D(3, 8, 3, padding=1, **kwargs), nn.BatchNorm2D(8, **kwargs), nn.ReLU(), nn.MaxPool2D(2, **kwargs),
        nn.Conv2D(8, 8, 1, **kwargs), nn.GELU(),
    )  # fmt: skip
    model.eval()
    graph = graph_of(lambda x: model(x) + 1.0, [None, None, 8, 3])
    found = kinds(graph)
    assert found["transpose"] == 2
    assert found["conv"] == 2
    assert "channels_first" in changed_by(graph)
    for batch in (1, 3):
        assert_unchanged(graph, random(batch, 6, 8, 3))


def test_constants_are_computed_beforehand_but_not_those_of_unknown_size() -> None:
    table = random(8, 8)

    def function(x: Any) -> Any:
        position = paddle.arange(x.shape[0]).astype("float32").unsqueeze(-1)
        return x @ table.exp().transpose([1, 0]) + position

    graph = graph_of(function, [None, 8])
    optimised: Any = graph.optimised()
    assert kinds(graph)["exp"] == 0
    assert kinds(graph)["arange"] == 1
    assert optimised.preparation is not None
    for rows in (2, 5):
        assert_unchanged(graph, random(rows, 8))


def test_large_results_of_small_constants_stay_in_the_graph() -> None:
    row = random(1024)
    graph = graph_of(lambda x: x + (row.unsqueeze(0) * paddle.ones([1024, 1024])), [1024, 1024])
    optimised: Any = graph.optimised()
    assert optimised.preparation is None


class _ResidualBlock(nn.Layer):
    """An inverted residual: wide, depthwise, narrow, and the input added."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2D(4, 8, 1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU6(),
            nn.Conv2D(8, 8, 3, padding=1, groups=8, bias_attr=False), nn.BatchNorm2D(8), nn.Hardswish(),
            nn.Conv2D(8, 4, 1, bias_attr=False), nn.BatchNorm2D(4),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.layers(x) + x


@pytest.mark.parametrize("name", ["lenet", "residual block", "transformer", "lstm"])
def test_real_models(name: str) -> None:
    paddle.seed(1)
    models: dict[str, tuple[Any, list[int]]] = {
        "lenet": (paddle.vision.models.LeNet, [2, 1, 28, 28]),
        "residual block": (_ResidualBlock, [1, 4, 6, 6]),
        "transformer": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2), [2, 5, 16]),
        "lstm": (lambda: nn.LSTM(4, 6), [2, 3, 4]),
    }
    make, shape = models[name]
    model = make()
    model.eval()
    graph = graph_of(lambda x: model(x)[0] if name == "lstm" else model(x), shape)
    assert_unchanged(graph, random(*shape))
    if name == "residual block":
        assert kinds(graph)["normalise_by"] == 0


@pytest.mark.parametrize(
    ("rank", "window", "filters"), [(2, (2, 2), 1), (2, (3, 2), 5), (1, (4,), 3), (3, (2, 1, 2), 2)]
)
def test_a_transposed_convolution_whose_windows_do_not_overlap(
    rank: int, window: tuple[int, ...], filters: int
) -> None:
    layer = {1: nn.Conv1DTranspose, 2: nn.Conv2DTranspose, 3: nn.Conv3DTranspose}[rank](6, filters, window, window)
    shape = [2, 6, 5, 4, 3][: rank + 2]
    graph = graph_of(layer, shape)
    assert kinds(graph)["conv_transpose"] == 0
    assert_unchanged(graph, random(*shape))


@pytest.mark.parametrize(
    "options",
    [{"stride": 1}, {"stride": 2, "padding": 1}, {"stride": 2, "groups": 2}, {"stride": 2, "output_padding": 1}],
)
def test_other_transposed_convolutions_stay(options: dict[str, int]) -> None:
    graph = graph_of(nn.Conv2DTranspose(4, 4, 2, **options), [1, 4, 5, 5])
    assert kinds(graph)["conv_transpose"] == 1
    assert_unchanged(graph, random(1, 4, 5, 5))
