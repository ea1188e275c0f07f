"""Predictors that compute in bfloat16 although the model is in float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import inference, nn
from proa.kernels.cpu import fused


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 96)
        self.last = nn.Linear(96, 32, bias_attr=False)

    def forward(self, x: Any) -> Any:
        return self.last(nn.functional.gelu(self.first(x)))


@pytest.fixture
def net() -> Net:
    made = Net()
    made.eval()
    return made


X = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)


@pytest.mark.parametrize("ending", ["", ".proa"])
@pytest.mark.parametrize("rows", [None, 3])
def test_products_are_of_bfloat16_and_results_of_float32(
    net: Net, ending: str, rows: int | None, tmp_path: Path
) -> None:
    path = str(tmp_path / f"net{ending}")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([rows, 64], "float32", "x")])
    config = inference.Config(path)
    config.enable_mkldnn_bfloat16()
    predictor = inference.create_predictor(config)
    [found] = predictor.run([paddle.to_tensor(X)])
    assert found.dtype == paddle.float32
    exact = net(paddle.to_tensor(X)).numpy()
    distance = np.abs(found.numpy() - exact).max() / np.abs(exact).max()
    assert 1e-5 < distance < 2e-2  # neither float32 nor nonsense
    [graph] = predictor._engine._kept.values()
    products = [i for i in graph.program.instructions if i.operation.contracts]
    types = {operand.dtype.name for i in products for operand in i.outputs}
    if fused.is_low_available():  # the graph stays as it is; its weights are packed as bfloat16
        assert types == {"float32"}
        assert [aval.dtype.name for aval in graph.optimised().program.inputs].count("bfloat16") == 2
    else:
        assert types == {"bfloat16"}
    if rows is None:  # other sizes, too
        [one] = predictor.run([paddle.to_tensor(X[:1])])
        np.testing.assert_allclose(one.numpy(), exact[:1], rtol=0.1, atol=2e-2 * np.abs(exact).max())


@pytest.mark.parametrize("ending", ["", ".proa"])
def test_casts_where_weights_are_not_packed(
    net: Net, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fused, "is_low_available", lambda: False)
    path = str(tmp_path / f"net{ending}")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([3, 64], "float32", "x")])
    config = inference.Config(path)
    config.enable_mkldnn_bfloat16()
    predictor = inference.create_predictor(config)
    [found] = predictor.run([paddle.to_tensor(X)])
    exact = net(paddle.to_tensor(X)).numpy()
    assert 1e-5 < np.abs(found.numpy() - exact).max() / np.abs(exact).max() < 2e-2
    [graph] = predictor._engine._kept.values()
    products = [i for i in graph.program.instructions if i.operation.contracts]
    assert {operand.dtype.name for i in products for operand in i.outputs} == {"bfloat16"}


@pytest.mark.parametrize("ending", ["", ".proa"])
def test_one_model_in_both_precisions(net: Net, ending: str, tmp_path: Path) -> None:
    """Predictors of one file do not share what they have packed differently."""
    path = str(tmp_path / f"net{ending}")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 64], "float32", "x")])
    exact = net(paddle.to_tensor(X)).numpy()
    for precision in ("bfloat16", "float32", "bfloat16"):
        config = inference.Config(path)
        if precision == "bfloat16":
            config.enable_mkldnn_bfloat16()
        [found] = inference.create_predictor(config).run([paddle.to_tensor(X)])
        distance = np.abs(found.numpy() - exact).max() / np.abs(exact).max()
        assert (distance > 1e-5) == (precision == "bfloat16"), precision


def test_operations_that_stay_as_they_are(net: Net, tmp_path: Path) -> None:
    path = str(tmp_path / "net")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([3, 64], "float32", "x")])
    config = inference.Config(path)
    config.enable_mkldnn_bfloat16()
    config.exp_disable_mixed_precision_ops({"matmul", "matmul_v2", "linear"})
    [found] = inference.create_predictor(config).run([paddle.to_tensor(X)])
    np.testing.assert_allclose(found.numpy(), net(paddle.to_tensor(X)).numpy(), rtol=1e-5, atol=1e-6)
