"""Structured pruning: layers shrink, and taking out channels that do nothing changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
import proa.nn.functional as F
from proa import nn
from proa.compress import prune_channels

GONE = [1, 4, 6]  # of eight: the channels that do nothing in the networks below


def silence(*layers: Any, places: Any = GONE) -> None:
    """Makes channels zero: filters, biases, what norms make of them."""
    for layer in layers:
        axis = 1 if isinstance(layer, nn.Linear) else 0
        for parameter in layer.parameters():
            array = parameter.numpy().copy()
            index: Any = (slice(None), places) if axis and array.ndim > 1 else places
            array[index] = 0
            parameter.set_value(array)


def numbers(*shape: int, seed: int = 0) -> paddle.Tensor:
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype("float32"))


class Everything(nn.Layer):
    """A residual through batch norms, a depthwise convolution, channels joined, flattened, squeezed and excited."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2D(3, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8)
        self.inner, self.inner_norm = nn.Conv2D(8, 8, 3, padding=1), nn.BatchNorm2D(8)
        self.back = nn.Conv2D(8, 8, 1)
        self.alone = nn.Conv2D(8, 8, 3, padding=1, groups=8)
        self.branch = nn.Conv2D(8, 8, 1)
        self.squeeze, self.excite = nn.Conv2D(16, 8, 1), nn.Conv2D(8, 16, 1)
        self.hidden, self.out = nn.Linear(16 * 4 * 4, 8), nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.stem_norm(self.stem(x)))
        x = F.relu(x + self.back(F.relu(self.inner_norm(self.inner(x)))))
        x = F.max_pool2d(F.relu(self.alone(x)), 2)
        x = paddle.concat([x, F.hardswish(self.branch(x))], axis=1)
        gate = F.sigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1)))))
        return self.out(F.gelu(self.hidden((x * gate).flatten(1))))


def test_channels_that_do_nothing_are_taken_out_and_nothing_changes() -> None:
    model = Everything()
    for norm in (model.stem_norm, model.inner_norm):
        norm._mean.set_value(np.linspace(-1, 1, 8, dtype="float32"))
        norm._variance.set_value(np.linspace(0.5, 2, 8, dtype="float32"))
    # The stem and `back` are added, and go on through `alone`: they lose the same channels.
    silence(model.stem, model.stem_norm, model.back, model.alone, model.inner, model.inner_norm)
    silence(model.branch, model.squeeze, model.hidden)
    silence(model.excite, places=[*GONE, *(8 + i for i in GONE)])
    model.eval()
    small: Any = prune_channels(model, numbers(1, 3, 8, 8), 3 / 8)
    x = numbers(4, 3, 8, 8, seed=1)
    np.testing.assert_allclose(small(x).numpy(), model(x).numpy(), rtol=1e-4, atol=1e-5)
    shapes = {name: list(parameter.shape) for name, parameter in small.named_parameters()}
    assert shapes["stem.weight"] == [5, 3, 3, 3]
    assert shapes["stem_norm.bias"] == [5]
    assert shapes["inner.weight"] == [5, 5, 3, 3]
    assert shapes["alone.weight"] == [5, 1, 3, 3]
    assert shapes["squeeze.weight"] == [5, 10, 1, 1]
    assert shapes["excite.weight"] == [10, 5, 1, 1]
    assert shapes["hidden.weight"] == [10 * 16, 5]
    assert shapes["out.weight"] == [5, 5]
    assert list(small.stem_norm._mean.shape) == [5]
    assert (small.alone._groups, small.alone._in_channels, small.stem_norm._num_features) == (5, 5, 5)
    assert list(model.stem.weight.shape) == [8, 3, 3, 3]  # the model itself is as it was


def test_the_smallest_filters_go() -> None:
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    weight = np.ones((4, 6), "float32") * np.float32([5, 1, 4, 2, 6, 3])
    model[0].weight.set_value(weight)
    small: Any = prune_channels(model, numbers(1, 4), 0.5, importance="l1")
    np.testing.assert_array_equal(small[0].weight.numpy(), weight[:, [0, 2, 4]])
    np.testing.assert_array_equal(small[2].weight.numpy(), model[2].weight.numpy()[[0, 2, 4]])
    assert small[0].weight.name.startswith(model[0].weight.name)
    assert list(prune_channels(model, numbers(1, 4), 0.5, multiple_of=4)[0].weight.shape) == [4, 4]  # type: ignore


@pytest.mark.parametrize(
    ("name", "most"),
    [("resnet18", 0.45), ("mobilenet_v2", 0.75), ("squeezenet1_0", 0.5), ("mobilenet_v3_small", 0.75)],
)
def test_known_networks_shrink_and_train(name: str, most: float) -> None:
    model = getattr(paddle.vision.models, name)(num_classes=10)
    x = numbers(2, 3, 64, 64)
    small = prune_channels(model, x[:1], 0.4)
    before, after = (sum(p.size for p in m.parameters()) for m in (model, small))
    assert after < most * before
    assert small(x).shape == [2, 10]
    optimizer = paddle.optimizer.SGD(0.01, parameters=small.parameters())
    small(x).sum().backward()
    optimizer.step()
    assert all(p.grad is None or p.grad.shape == p.shape for p in small.parameters())


def test_a_transformer_loses_hidden_units_and_keeps_its_width() -> None:
    model = nn.TransformerEncoderLayer(16, 2, 32)
    small: Any = prune_channels(model, numbers(1, 5, 16), 0.5)
    assert list(small.linear1.weight.shape) == [16, 16]
    assert list(small.linear2.weight.shape) == [16, 16]
    assert list(small.self_attn.q_proj.weight.shape) == [16, 16]
    assert small(numbers(2, 7, 16)).shape == [2, 7, 16]


def test_what_is_excluded_keeps_its_results() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    small: Any = prune_channels(model, numbers(1, 4), 0.5, exclude=["0"])
    assert [list(small[i].weight.shape) for i in (0, 2, 4)] == [[4, 8], [8, 4], [4, 2]]
    small = prune_channels(model, numbers(1, 4), 0.5, exclude=[model[2]])
    assert [list(small[i].weight.shape) for i in (0, 2, 4)] == [[4, 4], [4, 8], [8, 2]]


def test_grouped_convolutions_and_groups_of_channels_stay() -> None:
    class Grouped(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.groups, self.last = nn.Conv2D(3, 8, 1), nn.Conv2D(8, 8, 1, groups=2), nn.Conv2D(8, 4, 1)
            self.norm = nn.GroupNorm(2, 4)
            self.end = nn.Conv2D(4, 2, 1)

        def forward(self, x: Any) -> Any:
            return self.end(self.norm(self.last(self.groups(self.first(x)))))

    with pytest.raises(
        ValueError, match=r"no channel that may be taken out \(nothing is followed through conv, normalise"
    ):
        prune_channels(Grouped(), numbers(1, 3, 4, 4), 0.5)


def test_numbers_in_the_code_are_found_at_once() -> None:
    class Fixed(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.fc = nn.Conv2D(1, 8, 3), nn.Linear(32, 2)

        def forward(self, x: Any) -> Any:
            return self.fc(self.conv(x).reshape([-1, 32]))

    with pytest.raises(RuntimeError, match="write -1 or"):
        prune_channels(Fixed(), numbers(1, 1, 4, 4), 0.5)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3, numbers(1), 0.5), TypeError, "must be a Layer"),
        ((nn.Linear(2, 2), "x", 0.5), TypeError, "inputs must be a tensor"),
        ((nn.Linear(2, 2), numbers(1, 2), 0.0), ValueError, "above 0 and below 1"),
        ((nn.Linear(2, 2), numbers(1, 2), 1), ValueError, "above 0 and below 1"),
        ((nn.Linear(2, 2), numbers(1, 2), 0.5), ValueError, "no channel that may be taken out"),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        prune_channels(*arguments)
    for options in ({"importance": "l3"}, {"multiple_of": 0}, {"exclude": ["nothing"]}):
        with pytest.raises(ValueError, match=next(iter(options))):
            prune_channels(nn.Linear(2, 2), numbers(1, 2), 0.5, **options)  # type: ignore[arg-type]
