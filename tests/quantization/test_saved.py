"""Saved models in 8 bits: from files to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.quantization import int8_saved_model, observers
from tests.quantization.digits import accuracy, batches, trained

SPEC = [paddle.static.InputSpec([None, 1, 8, 8], "float32", "picture")]


def pictures() -> list[np.ndarray]:
    return [x.numpy() for x, _ in batches()[:3]]


@pytest.mark.parametrize("form", ["json", "pdmodel"])
def test_a_file_becomes_a_smaller_file(form: str, tmp_path: Path) -> None:
    source, target = str(tmp_path / "digits"), str(tmp_path / "small")
    paddle.jit.save(trained(), source, input_spec=SPEC, format=form)
    names = int8_saved_model(source, target, pictures())
    assert len(names) == 5
    assert (tmp_path / f"small.{form}").is_file()
    sizes = [(tmp_path / f"{name}.pdiparams").stat().st_size for name in ("digits", "small")]
    assert sizes[1] < 0.4 * sizes[0]
    assert accuracy(paddle.jit.load(target)) >= accuracy(trained()) - 0.5
    assert accuracy(paddle.jit.load(source)) == accuracy(trained())
    with pytest.raises(ValueError, match="quantised already"):
        int8_saved_model(target, str(tmp_path / "again"), pictures())


def test_choices(tmp_path: Path) -> None:
    source, target = str(tmp_path / "digits"), str(tmp_path / "small")
    paddle.jit.save(trained(), source, input_spec=SPEC)
    everything = int8_saved_model(source, target, [{"picture": pictures()[0]}], activation=observers.AbsmaxObserver())
    left = int8_saved_model(source, target, [[pictures()[0]]], skip=everything[:1], operations=("conv2d",))
    assert left == everything[1:2]  # the third convolution is a depthwise one
    for weight in ("abs_max", "channel_wise_mse"):
        int8_saved_model(source, str(tmp_path / weight), pictures()[:1], weight=weight, format="pdmodel")
        assert accuracy(paddle.jit.load(str(tmp_path / weight))) > 96


def test_by_hand(tmp_path: Path) -> None:
    """One product, rounded by hand."""
    layer = nn.Linear(3, 2, bias_attr=False)
    weight = np.float32([[0.5, -2.0], [0.26, 1.0], [-0.1, 0.0]])
    layer.weight.set_value(weight)
    source, target = str(tmp_path / "one"), str(tmp_path / "small")
    paddle.jit.save(layer, source, input_spec=[paddle.static.InputSpec([None, 3], "float32")])
    x = np.float32([[1.0, -0.3, 0.2]])
    int8_saved_model(source, target, [x], activation=observers.AbsmaxObserver())
    reach = np.abs(weight).max(axis=0)
    rounded = np.rint(weight / reach * 127) * reach / 127
    expected = np.rint(x * 127) / 127 @ rounded
    np.testing.assert_allclose(paddle.jit.load(target)(paddle.to_tensor(x)).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("data", "options", "error", "text"),
    [
        ([], {}, ValueError, "no batch in data"),
        (np.zeros((1, 3), "float32"), {}, TypeError, "list of batches"),
        ([{"other": 1}], {}, ValueError, "lacks the inputs"),
        ([np.zeros((1, 4), "float32")], {}, ValueError, "must have the shape"),
        ([], {"weight": "best"}, ValueError, "weight must be one of"),
        ([], {"operations": ["softmax"]}, ValueError, "operations may be"),
        ([], {"weight_bits": 9}, ValueError, "2 to 8 bits"),
        ([], {"operations": ["conv2d"]}, ValueError, "there is no conv2d"),
        ([np.full((1, 3), np.nan, "float32")], {"activation": observers.AbsmaxObserver()}, ValueError, "not finite"),
    ],
)
def test_bad_input_leaves_nothing_behind(
    data: Any, options: Any, error: type[Exception], text: str, tmp_path: Path
) -> None:
    paddle.jit.save(
        nn.Linear(3, 2), str(tmp_path / "one"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")]
    )
    before = sorted(file.name for file in tmp_path.iterdir())
    with pytest.raises(error, match=text):
        int8_saved_model(str(tmp_path / "one"), str(tmp_path / "small"), data, **options)
    assert sorted(file.name for file in tmp_path.iterdir()) == before
