"""Whole models in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.quantization import int8_model, weight_only_model
from tests.quantization.digits import accuracy, batches, trained


def test_a_model_in_eight_bits() -> None:
    model = trained()
    model.norm.train()  # a part may be in another mode than the rest
    small: Any = int8_model(model, [x for x, _ in batches()[:2]], exclude=["output"])
    assert model.norm.training
    model.norm.eval()
    assert not small.norm.training
    assert type(small.output) is nn.Linear
    assert type(small.first).__name__ == "QuantedConv2D"
    assert type(model.first) is nn.Conv2D
    assert accuracy(small) >= accuracy(model) - 0.5
    arrays = int8_model(model, [x.numpy() for x, _ in batches()[:2]], exclude=[model.output])
    x = batches()[3][0]
    np.testing.assert_allclose(arrays(x).numpy(), small(x).numpy(), atol=1e-3)
    labelled = int8_model(model, batches()[:2], exclude=["output"], forward=lambda m, batch: m(batch[0]))
    np.testing.assert_allclose(labelled(x).numpy(), small(x).numpy(), atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((nn.Linear(2, 2), []), ValueError, "no batch"),
        ((nn.Linear(2, 2), paddle.ones([1, 2])), TypeError, "list or loader of batches"),
        ((nn.ReLU(), [paddle.ones([1])]), ValueError, "no Conv2D or Linear"),
        ((3, []), TypeError, "must be a Layer"),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        int8_model(*arguments)
    with pytest.raises(ValueError, match="exclude names layers"):
        int8_model(nn.Linear(2, 2), [paddle.ones([1, 2])], exclude=["nothing"])


class Mixer(nn.Layer):
    """Two linear layers; some of the inputs are much larger than the others, as in language models."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(256, 128), nn.Linear(128, 63)

    def forward(self, x: Any) -> Any:
        return self.second(nn.functional.relu(self.first(x)))


def inputs(seed: int) -> paddle.Tensor:
    rows = np.random.default_rng(seed).normal(size=(64, 256))
    rows[:, ::37] *= 40
    return paddle.to_tensor(rows.astype("float32"))


def error_of(model: Any, small: Any) -> float:
    x = inputs(9)
    expected = model(x).numpy()
    return float(np.sqrt(((small(x).numpy() - expected) ** 2).mean() / (expected**2).mean()))


def test_weights_in_few_bits() -> None:
    model = Mixer()
    eight = weight_only_model(model)
    assert error_of(model, eight) < 0.01
    assert str(eight.first.quant_weight.dtype).endswith("int8")
    with pytest.warns(UserWarning, match="stay floats: second"):  # 63 outputs are no pairs
        four: Any = weight_only_model(model, 4)
    with pytest.warns(UserWarning, match="stay floats: second"):
        groups: Any = weight_only_model(model, 4, 64)
    with pytest.warns(UserWarning, match="stay floats: second"):
        aware: Any = weight_only_model(model, 4, 64, data=[inputs(i) for i in range(3)])
    assert type(four.second) is nn.Linear
    assert error_of(model, four) > error_of(model, groups) > error_of(model, aware)
    # What 4 bits are by definition: each output's largest weight is 7 steps.
    weight = model.first.weight.numpy()
    step = np.abs(weight).max(axis=0) / 7
    expected = inputs(1).numpy() @ (np.rint(weight / step) * step)
    np.testing.assert_allclose(four.first(inputs(1)).numpy(), expected, atol=1e-3)


def test_small_weights_are_saved(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16))
    small = weight_only_model(model, 4, 64, exclude=["2"])
    path = str(tmp_path / "small.proa")
    paddle.jit.save(small, path, input_spec=[paddle.static.InputSpec([None, 64], "float32")])
    x = inputs(2)[:, :64]
    np.testing.assert_allclose(paddle.jit.load(path)(x).numpy(), small(x).numpy(), rtol=1e-5, atol=1e-5)
    other = weight_only_model(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16)), 4, 64, exclude=["2"])
    other.set_state_dict(small.state_dict())
    np.testing.assert_array_equal(other(x).numpy(), small(x).numpy())


def test_refused() -> None:
    for arguments, text in (((3,), "bits must be"), ((8, 5), "group_size must be")):
        with pytest.raises(ValueError, match=text):
            weight_only_model(Mixer(), *arguments)
    with pytest.raises(ValueError, match="no Linear whose sizes fit"):
        weight_only_model(nn.Sequential(nn.Linear(3, 3)), 4)
