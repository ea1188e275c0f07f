"""paddle.jit.save and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.nn import functional as F
from proa.static import InputSpec


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1D(4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Any) -> Any:
        x = self.drop(self.norm(self.first(x)))
        if x.sum() > 0:
            x = x + 1
        else:
            x = x * 2
        return x


class TwoMethods(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3])], full_graph=True)
    def forward(self, x: Any) -> Any:
        return self.linear(x)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3]), InputSpec([1])], full_graph=True)
    def scaled(self, x: Any, by: Any) -> Any:
        return {"scaled": self.linear(x) * by, "x": [x]}


_PATHS = ["model", "model.proa"]
_X = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")


def x() -> Any:
    return paddle.to_tensor(_X)


@pytest.mark.parametrize("name", _PATHS)
def test_a_layer_comes_back(tmp_path: Path, name: str) -> None:
    layer = Net()
    layer(x())  # moves the running statistics
    paddle.jit.save(layer, str(tmp_path / name), [InputSpec([None, 3], name="x")])
    assert layer.training
    assert layer.drop.training  # saved in evaluation mode, left as it was
    layer.eval()
    loaded = paddle.jit.load(str(tmp_path / name))
    assert isinstance(loaded, paddle.jit.TranslatedLayer)
    assert isinstance(loaded, nn.Layer)
    for sign in (1, -1):
        np.testing.assert_allclose(loaded(sign * x()).numpy(), layer(sign * x()).numpy(), 1e-5, 1e-6)
    np.testing.assert_allclose(loaded(_X[:2]).numpy(), layer(paddle.to_tensor(_X[:2])).numpy(), 1e-5, 1e-6)
    assert [spec.name for spec in loaded._input_spec()] == ["x"]
    assert loaded._input_spec()[0].shape == (-1, 3)
    assert loaded._output_spec()[0].shape == (-1, 4)
    assert "cond" in str(loaded.program())
    assert not loaded.training


def test_files(tmp_path: Path) -> None:
    paddle.jit.save(Net(), str(tmp_path / "deep" / "model"), [InputSpec([None, 3])])
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["model.json", "model.pdiparams"]
    paddle.jit.save(Net(), str(tmp_path / "own"), [InputSpec([None, 3])], format="proa")
    assert (tmp_path / "own.proa").exists()
    assert isinstance(paddle.jit.load(str(tmp_path / "own")), paddle.jit.TranslatedLayer)


def test_the_older_format(tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    paddle.jit.save(layer, str(tmp_path / "model"), [InputSpec([None, 3])], format="pdmodel")
    assert (tmp_path / "model.pdmodel").exists()
    np.testing.assert_allclose(paddle.jit.load(str(tmp_path / "model"))(x()).numpy(), layer(x()).numpy(), 1e-5)


@pytest.mark.parametrize("name", _PATHS)
def test_a_frozen_parameter_stays_frozen(tmp_path: Path, name: str) -> None:
    layer = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    layer[0].weight.stop_gradient = True
    paddle.jit.save(layer, str(tmp_path / name), [InputSpec([None, 3])])
    loaded = paddle.jit.load(str(tmp_path / name))
    assert [list(parameter.shape) for parameter in loaded.parameters() if parameter.stop_gradient] == [[3, 4]]
    loaded(x()).sum().backward()
    assert [list(parameter.shape) for parameter in loaded.parameters() if parameter.grad is None] == [[3, 4]]


@pytest.mark.parametrize("name", _PATHS)
def test_gradients_and_training(tmp_path: Path, name: str) -> None:
    layer = nn.Linear(3, 2)
    paddle.jit.save(layer, str(tmp_path / name), [InputSpec([None, 3])])
    loaded = paddle.jit.load(str(tmp_path / name))
    given = x()
    given.stop_gradient = False
    loaded(given).square().sum().backward()
    expected = 2 * (_X @ layer.weight.numpy() + layer.bias.numpy())
    np.testing.assert_allclose(given.grad.numpy(), expected @ layer.weight.numpy().T, 1e-4, 1e-5)
    weight = next(p for p in loaded.parameters() if p.ndim == 2)
    np.testing.assert_allclose(weight.grad.numpy(), _X.T @ expected, 1e-4, 1e-5)
    before = weight.numpy()
    optimizer = paddle.optimizer.SGD(0.1, parameters=loaded.parameters())
    optimizer.step()
    np.testing.assert_allclose(weight.numpy(), before - 0.1 * (_X.T @ expected), 1e-4, 1e-5)


@pytest.mark.parametrize("name", _PATHS)
def test_several_methods_share_their_weights(tmp_path: Path, name: str) -> None:
    layer = TwoMethods()
    paddle.jit.save(layer, str(tmp_path / name))
    loaded = paddle.jit.load(str(tmp_path / name))
    assert len(loaded.parameters()) == 2
    by = paddle.to_tensor([2.0])
    results = loaded.scaled(x(), by)
    scaled = results["scaled"] if name.endswith(".proa") else results[0]  # Paddle's files keep no structure
    np.testing.assert_allclose(scaled.numpy(), 2 * loaded(x()).numpy(), 1e-5)
    weight = next(p for p in loaded.parameters() if p.ndim == 2)
    with paddle.no_grad():
        weight.set_value(np.zeros((3, 4), "float32"))
    results = loaded.scaled(x(), by)
    scaled = results["scaled"] if name.endswith(".proa") else results[0]
    np.testing.assert_allclose(scaled.numpy(), np.broadcast_to(2 * layer.linear.bias.numpy(), (5, 4)), 1e-5)
    assert "multiply" in str(loaded.program("scaled")) or "scale" in str(loaded.program("scaled"))


def test_skipping_forward(tmp_path: Path) -> None:
    paddle.jit.save(TwoMethods(), str(tmp_path / "model"), skip_forward=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.scaled.json", "model.scaled.pdiparams"]


@pytest.mark.parametrize("name", _PATHS)
def test_functions(tmp_path: Path, name: str) -> None:
    def function(a: Any, b: Any) -> Any:
        return F.relu(a) + b, a * b

    paddle.jit.save(function, str(tmp_path / name), [InputSpec([None, 3]), InputSpec([3])])
    loaded = paddle.jit.load(str(tmp_path / name))
    total, product = loaded(x(), paddle.ones([3]))
    np.testing.assert_allclose(total.numpy(), np.maximum(_X, 0) + 1)
    np.testing.assert_allclose(product.numpy(), _X)
    assert [spec.name for spec in loaded._input_spec()] == ["a", "b"]


def test_specs_from_the_last_call_and_from_tensors(tmp_path: Path) -> None:
    layer = paddle.jit.to_static(nn.Linear(3, 2))
    with pytest.raises(ValueError, match="input_spec"):
        paddle.jit.save(layer, str(tmp_path / "model"))
    layer(x())
    paddle.jit.save(layer, str(tmp_path / "model"))
    assert paddle.jit.load(str(tmp_path / "model"))._input_spec()[0].shape == (5, 3)
    paddle.jit.save(nn.Linear(3, 2), str(tmp_path / "tensor"), [x()])
    assert paddle.jit.load(str(tmp_path / "tensor"))._input_spec()[0].shape == (5, 3)


def test_output_spec_chooses_results(tmp_path: Path) -> None:
    paddle.jit.save(lambda a: (a + 1, a * 2, a - 3), str(tmp_path / "m.proa"), [InputSpec([2])], output_spec=[2, 0])
    third, first = paddle.jit.load(str(tmp_path / "m.proa"))(paddle.zeros([2]))
    assert third.numpy().tolist() == [-3, -3]
    assert first.numpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match="1 results"):
        paddle.jit.save(lambda a: a, str(tmp_path / "m.proa"), [InputSpec([2])], output_spec=[1])


def test_bad_arguments(tmp_path: Path) -> None:
    spec = [InputSpec([None, 3])]
    with pytest.raises(ValueError, match="there is no option colour"):
        paddle.jit.save(Net(), str(tmp_path / "m"), spec, colour="red")
    with pytest.raises(ValueError, match="prefix"):
        paddle.jit.save(Net(), str(tmp_path) + "/", spec)
    with pytest.raises(TypeError, match="Layer or a function"):
        paddle.jit.save(3, str(tmp_path / "m"), spec)
    with pytest.raises(ValueError, match="format"):
        paddle.jit.save(Net(), str(tmp_path / "m"), spec, format="onnx")
    with pytest.raises(ValueError, match="input_spec"):
        paddle.jit.save(Net(), str(tmp_path / "m"))
    with pytest.raises(FileNotFoundError):
        paddle.jit.load(str(tmp_path / "nothing"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", _PATHS)
def test_wrong_inputs(tmp_path: Path, name: str) -> None:
    paddle.jit.save(nn.Linear(3, 2), str(tmp_path / name), [InputSpec([None, 3], name="x")])
    loaded = paddle.jit.load(str(tmp_path / name))
    with pytest.raises(ValueError, match="1 tensors"):
        loaded(x(), x())
    with pytest.raises((ValueError, TypeError), match="x"):
        loaded(paddle.ones([2, 4]))
    with pytest.raises(ValueError, match="no method"):
        loaded.program("backward")


def test_the_own_artifact_takes_what_paddle_has_no_operation_for(tmp_path: Path) -> None:
    def function(a: Any) -> Any:
        return paddle.histogram(a, bins=4, min=-2, max=2)

    with pytest.raises(NotImplementedError, match=r"\.proa"):
        paddle.jit.save(function, str(tmp_path / "m"), [InputSpec([6])])
    assert list(tmp_path.iterdir()) == []
    paddle.jit.save(function, str(tmp_path / "m.proa"), [InputSpec([6])])
    counts = paddle.jit.load(str(tmp_path / "m.proa"))(paddle.to_tensor(np.linspace(-2, 2, 6, dtype="float32")))
    assert counts.numpy().tolist() == [2, 1, 1, 2]
