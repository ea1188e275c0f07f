"""Models as ONNX files: what ONNX Runtime computes beside what the layers do, at several sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import proa as paddle
from proa.onnx import model_of
from proa.static import InputSpec


def run(proto: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip((i.name for i in proto.graph.input), arrays, strict=True)))


def operators(proto: Any) -> set[str]:
    return {node.op_type for node in proto.graph.node}


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype("float32")


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small"])
def test_pictures_at_any_batch_size_without_a_batch_norm_left(name: str) -> None:
    layer = getattr(paddle.vision.models, name)()
    proto = model_of(layer, [InputSpec([None, 3, 64, 64], "float32", "x")])
    assert not operators(proto) & {"BatchNormalization", "Transpose", "Sub", "Sqrt"}
    layer.eval()
    for batch in (1, 3):
        x = drawn(batch, 3, 64, 64)
        (found,) = run(proto, x)
        expected = layer(paddle.to_tensor(x)).numpy()
        np.testing.assert_allclose(found, expected, atol=1e-4 * max(1.0, np.abs(expected).max()))


def test_a_transformer_at_any_batch_and_length() -> None:
    layer = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(32, 4, 64, activation="gelu"), 2)
    proto = model_of(layer, [InputSpec([None, None, 32], "float32", "x")])
    assert {"LayerNormalization", "Softmax", "Erf"} <= operators(proto)
    layer.eval()
    for batch, length in ((1, 5), (3, 9)):
        x = drawn(batch, length, 32)
        (found,) = run(proto, x)
        np.testing.assert_allclose(found, layer(paddle.to_tensor(x)).numpy(), atol=1e-5)
