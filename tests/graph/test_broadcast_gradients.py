"""Gradients of what may have been broadcast, where sizes are not known: each run sums over the axes that it must."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.static import InputSpec

SPECS = [InputSpec([None, None], "float32", "x"), InputSpec([None, None, None], "float32", "y")]
SHAPES = (((4, 3), (2, 4, 3)), ((1, 3), (5, 4, 3)), ((1, 1), (2, 1, 1)), ((4, 1), (3, 4, 6)), ((2, 3), (0, 2, 3)))


class Slope(paddle.nn.Layer):
    """The gradient of `sum(sin(x * y))` for x, which has fewer axes than y and perhaps shorter ones."""

    def forward(self, x: Any, y: Any) -> Any:
        x.stop_gradient = False
        return paddle.grad((x * y).sin().sum(), x)[0]


def feed(shapes: tuple[tuple[int, ...], ...], seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.normal(size=shape).astype("float32") for shape in shapes]


def expected(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    slope = (np.cos(x * y) * y).sum(0)
    return slope.sum(tuple(axis for axis in (0, 1) if x.shape[axis] == 1 != slope.shape[axis]), keepdims=True)


def check(run: Any) -> None:
    for seed, shapes in enumerate(SHAPES):
        x, y = feed(shapes, seed)
        np.testing.assert_allclose(run(x, y), expected(x, y).reshape(x.shape), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_one_capture_holds_for_all_sizes(compiled: bool) -> None:
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 1 if compiled else 1000})
    try:
        function = paddle.jit.to_static(Slope().forward, input_spec=SPECS)
        check(lambda x, y: function(paddle.to_tensor(x), paddle.to_tensor(y)).numpy())
    finally:
        paddle.set_flags(before)


@pytest.mark.parametrize("ending", ["", ".proa"])
def test_a_saved_model_holds_for_all_sizes(ending: str, tmp_path: Path) -> None:
    paddle.jit.save(Slope(), str(tmp_path / f"model{ending}"), input_spec=SPECS)
    loaded = paddle.jit.load(str(tmp_path / f"model{ending}"))
    check(lambda x, y: loaded(paddle.to_tensor(x), paddle.to_tensor(y)).numpy())


def test_an_onnx_model_holds_for_all_sizes(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime runs the file")
    paddle.onnx.export(Slope(), str(tmp_path / "model"), input_spec=SPECS)
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    check(lambda x, y: session.run(None, {"x": x, "y": y})[0])


def test_half_types_are_summed_in_float32() -> None:
    @paddle.jit.to_static(input_spec=[InputSpec([None, None], "float16"), InputSpec([None, None], "float16")])
    def total(first: Any, second: Any) -> Any:
        first.stop_gradient = False
        return paddle.grad((first + second).astype("float32").sum(), first)[0]

    # Rows that are added one by one in float16 end at 2048.
    assert total(paddle.ones([1, 2], "float16"), paddle.ones([4096, 2], "float16")).tolist() == [[4096.0, 4096.0]]
