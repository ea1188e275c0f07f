"""Observers beside NumPy: what they say of values that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.quantization import observers
from proa.quantization.observers.histogram import Histogram


def watched(factory: Any, *arrays: np.ndarray, layer: Any = None) -> Any:
    observer = factory._instance(layer)
    for array in arrays:
        given = paddle.to_tensor(array)
        assert observer(given) is given  # watching changes nothing
    observer.cal_thresholds()
    return observer


def samples(seed: int, count: int = 20_000) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [
        (generator.normal(size=count // 5) * (1 + i)).astype("float32") for i in range(5)
    ]  # later ones reach further


def test_largest_and_mean_of_largest() -> None:
    arrays = samples(0)
    largest = [np.abs(array).max() for array in arrays]
    assert float(watched(observers.AbsmaxObserver(), *arrays).scales()) == pytest.approx(max(largest))
    assert float(watched(observers.AVGObserver(), *arrays).scales()) == pytest.approx(np.mean(largest), rel=1e-6)


def test_a_histogram_holds_every_value_wherever_it_grows() -> None:
    histogram = Histogram(64)
    arrays = [np.zeros(10, "float32"), *samples(1, 1000), np.float32([500.0]), np.zeros(0, "float32")]
    for array in arrays:
        histogram.add(array)
    everything = np.abs(np.concatenate(arrays))
    assert histogram.num_values == histogram.counts.sum() == everything.size
    assert histogram.largest == everything.max()
    expected, _ = np.histogram(everything, 64, (0, 64 * histogram.width))
    # Bins were joined, so that a value on a border may count on either side of it.
    assert np.abs(np.cumsum(histogram.counts) - np.cumsum(expected)).max() <= 2


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_share_of_the_values(share: float) -> None:
    arrays = samples(2)
    everything = np.abs(np.concatenate(arrays))
    found = float(watched(observers.HistObserver(percent=share), *arrays).scales())
    assert found == pytest.approx(np.quantile(everything, share), abs=float(2 * everything.max() / 2048))


@pytest.mark.parametrize("bits", [4, 8])
def test_the_least_squared_error(bits: int) -> None:
    arrays = [np.random.default_rng(3).laplace(size=50_000).astype("float32")]
    levels = 2 ** (bits - 1) - 1

    def error(reach: float) -> float:
        step = reach / levels
        return float(((np.clip(np.rint(arrays[0] / step), -levels, levels) * step - arrays[0]) ** 2).mean())

    found = float(watched(observers.MSEObserver(bits), *arrays).scales())
    best = min(error(reach) for reach in np.linspace(0.05, 1, 400) * np.abs(arrays[0]).max())
    assert error(found) <= 1.02 * best


def test_few_values_far_out_do_not_make_the_grid_coarse() -> None:
    values = np.random.default_rng(4).normal(size=100_000).astype("float32")
    values[:3] = 60.0
    assert 2.5 < float(watched(observers.KLObserver(), values).scales()) < 10
    assert float(watched(observers.AbsmaxObserver(), values).scales()) == 60.0
    discrete = (np.random.default_rng(5).integers(0, 17, 20_000) / 16).astype("float32")
    assert float(watched(observers.KLObserver(), discrete).scales()) == 1.0  # a few spikes lose nothing


@pytest.mark.parametrize("name", ["AbsmaxObserver", "AVGObserver", "HistObserver", "MSEObserver", "KLObserver"])
def test_nothing_and_zeros(name: str) -> None:
    factory = getattr(observers, name)()
    assert factory._instance(None).scales() is None
    assert watched(factory, np.zeros((0, 3), "float32")).scales() is None
    assert watched(factory, np.array([1, 2])).scales() is None  # whole numbers are not rounded
    assert float(watched(factory, np.zeros(8, "float32")).scales()) == 0.0
    observer = watched(factory, np.zeros(8, "float32"), np.float32([-3.0, 1.0]))
    assert observer.scales() is not None
    assert 0 < float(observer.scales()) <= 3.0
    assert (observer.bit_length(), observer.quant_axis()) == (8, -1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="NaN or infinity"):
        watched(observers.HistObserver(), np.float32([1.0, value]))


def test_weights_by_output_and_by_group() -> None:
    weight = np.random.default_rng(6).normal(size=(8, 6)).astype("float32")
    linear, conv = nn.Linear(8, 6), nn.Conv2D(3, 5, 2)
    found = watched(observers.AbsMaxChannelWiseWeightObserver(), weight, layer=linear)
    np.testing.assert_array_equal(found.scales().numpy(), np.abs(weight).max(axis=0))
    assert found.quant_axis() == 1
    filters = np.asarray(conv.weight.numpy())
    found = watched(observers.AbsMaxChannelWiseWeightObserver(), filters, layer=conv)
    np.testing.assert_array_equal(found.scales().numpy(), np.abs(filters).reshape(5, -1).max(axis=1))
    groups = watched(observers.GroupWiseWeightObserver(4, 4), weight, layer=linear)
    np.testing.assert_array_equal(groups.scales().numpy(), np.abs(weight).reshape(2, 4, 6).max(axis=1))
    assert groups.bit_length() == 4
    best = watched(observers.MSEChannelWiseWeightObserver(3), weight, layer=linear).scales().numpy()

    def error(reach: np.ndarray) -> np.ndarray:
        return ((np.clip(np.rint(weight / reach * 3), -4, 3) * reach / 3 - weight) ** 2).sum(axis=0)

    assert (best <= np.abs(weight).max(axis=0) * (1 + 1e-6)).all()
    assert (error(best) <= error(np.abs(weight).max(axis=0)) + 1e-6).all()
    assert (error(best) < error(np.abs(weight).max(axis=0))).any()


def test_a_model_with_scales_by_group() -> None:
    from proa.quantization import PTQ, QuantConfig

    layer = nn.Linear(8, 6)
    layer.eval()
    ptq = PTQ(QuantConfig(None, observers.GroupWiseWeightObserver(4, 4)))
    made = ptq.quantize(layer)
    made(paddle.ones([1, 8]))
    converted: Any = ptq.convert(made)
    weight = layer.weight.numpy()
    reach = np.repeat(np.abs(weight).reshape(2, 4, 6).max(axis=1), 4, axis=0)
    expected = np.float32([[1, -1, 2, 0, 0.5, 3, 1, 1]]) @ (np.rint(weight / reach * 7) * reach / 7)
    x = paddle.to_tensor(np.float32([[1, -1, 2, 0, 0.5, 3, 1, 1]]))
    np.testing.assert_allclose(converted(x).numpy(), expected + layer.bias.numpy(), rtol=1e-4, atol=1e-5)
    assert str(converted.weight.dtype).endswith("int8")


@pytest.mark.parametrize(
    ("factory", "text"),
    [
        (observers.HistObserver(percent=0.0), "percent must be"),
        (observers.HistObserver(bins_count=10), "bins_count must be"),
        (observers.KLObserver(quant_bits=1), "2 to 8 bits"),
        (observers.GroupWiseWeightObserver(4, 0), "group_size must be"),
    ],
)
def test_refused(factory: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        factory._instance(None)
