"""proa's artifact through Config and create_predictor."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import proa as paddle

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


class _Two(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(3, 4)

    def forward(self, x: paddle.Tensor) -> dict[str, paddle.Tensor]:
        y = self.linear(x)
        return {"sum": y.sum(axis=1), "all": y}


@pytest.fixture
def saved(tmp_path: pathlib.Path) -> tuple[pathlib.Path, _Two]:
    layer = _Two()
    layer.eval()
    paddle.jit.save(layer, str(tmp_path / "two.proa"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    return tmp_path, layer


def _expected(layer: _Two) -> tuple[np.ndarray, np.ndarray]:
    y = X.astype(np.float64) @ layer.linear.weight.numpy() + layer.linear.bias.numpy()
    return y.sum(1), y


@pytest.mark.parametrize("name", ["two.proa", "two"])
def test_handles(saved: tuple[pathlib.Path, _Two], name: str) -> None:
    folder, layer = saved
    predictor = paddle.inference.create_predictor(paddle.inference.Config(str(folder / name)))
    assert predictor.get_input_names() == ["x"]
    predictor.get_input_handle("x").copy_from_cpu(X)
    predictor.run()
    for output, expected in zip(predictor.get_output_names(), _expected(layer), strict=True):
        found = predictor.get_output_handle(output).copy_to_cpu()
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_list_of_tensors_and_clone(saved: tuple[pathlib.Path, _Two]) -> None:
    folder, layer = saved
    predictor = paddle.inference.create_predictor(paddle.inference.Config(str(folder / "two.proa"))).clone()
    found = predictor.run([paddle.to_tensor(X[:1])])
    np.testing.assert_allclose(found[1].numpy(), _expected(layer)[1][:1], rtol=1e-5, atol=1e-6)


def test_wrong_input(saved: tuple[pathlib.Path, _Two]) -> None:
    predictor = paddle.inference.create_predictor(paddle.inference.Config(str(saved[0] / "two.proa")))
    with pytest.raises(ValueError, match="x"):
        predictor.run([paddle.to_tensor(np.zeros((2, 5), np.float32))])


def test_hooks_are_refused(saved: tuple[pathlib.Path, _Two]) -> None:
    predictor = paddle.inference.create_predictor(paddle.inference.Config(str(saved[0] / "two.proa")))
    predictor.register_output_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="hooks"):
        predictor.run([paddle.to_tensor(X)])


def test_missing_and_damaged_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError):
        paddle.inference.create_predictor(paddle.inference.Config(str(tmp_path / "none.proa")))
    damaged = tmp_path / "damaged.proa"
    damaged.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="damaged"):
        paddle.inference.create_predictor(paddle.inference.Config(str(damaged)))
