"""Predictors that compute in bfloat16 although the model is in float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import inference, nn


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.last = nn.Linear(32, 4, bias_attr=False)

    def forward(self, x: Any) -> Any:
        return self.last(nn.functional.gelu(self.first(x)))


@pytest.fixture
def net() -> Net:
    made = Net()
    made.eval()
    return made


X = np.random.default_rng(0).standard_normal((3, 16)).astype(np.float32)


@pytest.mark.parametrize("ending", ["", ".proa"])
@pytest.mark.parametrize("rows", [None, 3])
def test_products_are_of_bfloat16_and_results_of_float32(
    net: Net, ending: str, rows: int | None, tmp_path: Path
) -> None:
    path = str(tmp_path / f"net{ending}")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([rows, 16], "float32", "x")])
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
    assert {operand.dtype.name for i in products for operand in i.outputs} == {"bfloat16"}
    if rows is None:  # other sizes, too
        [one] = predictor.run([paddle.to_tensor(X[:1])])
        np.testing.assert_allclose(one.numpy(), exact[:1], rtol=0.1, atol=2e-2 * np.abs(exact).max())


def test_operations_that_stay_as_they_are(net: Net, tmp_path: Path) -> None:
    path = str(tmp_path / "net")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([3, 16], "float32", "x")])
    config = inference.Config(path)
    config.enable_mkldnn_bfloat16()
    config.exp_disable_mixed_precision_ops({"matmul", "matmul_v2", "linear"})
    [found] = inference.create_predictor(config).run([paddle.to_tensor(X)])
    np.testing.assert_allclose(found.numpy(), net(paddle.to_tensor(X)).numpy(), rtol=1e-5, atol=1e-6)
