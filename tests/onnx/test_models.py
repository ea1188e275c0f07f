"""Models as ONNX files: what ONNX Runtime computes beside what the layers do, at several sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import proa as paddle
from proa.onnx import model_of
from proa.onnx.verifying import SETTINGS
from proa.static import InputSpec


def run(proto: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    for key, value in SETTINGS.items():
        options.add_session_config_entry(key, value)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
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


# ---- recurrent layers ----------------------------------------------------------------------------------------------


class Recurrent(paddle.nn.Layer):
    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__()
        self.inner = getattr(paddle.nn, kind)(5, 7, **options)

    def forward(self, x: Any, lengths: Any = None) -> Any:
        outputs, states = self.inner(x, sequence_length=lengths)
        return [outputs, *(states if isinstance(states, tuple) else [states])]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize(
    "options",
    [{}, {"num_layers": 2, "direction": "bidirect"}, {"time_major": True}],
    ids=["plain", "both ways", "by time"],
)
@pytest.mark.parametrize("with_lengths", [False, True])
def test_recurrent_layers_at_any_batch_and_length(kind: str, options: dict[str, Any], with_lengths: bool) -> None:
    layer = Recurrent(kind, **options)
    spec = [InputSpec([None, None, 5], "float32", "x")]
    if with_lengths:  # whose mask has a fixed number of steps
        spec = [InputSpec([4, None, 5] if options.get("time_major") else [None, 4, 5], "float32", "x")]
        spec.append(InputSpec([None], "int64", "lengths"))
    proto = model_of(layer, spec)
    assert {"LSTM", "GRU", "RNN"} & operators(proto)
    layer.eval()
    for batch, steps in ((2, 4), (3, 4 if with_lengths else 6)):
        x = drawn(steps, batch, 5) if options.get("time_major") else drawn(batch, steps, 5)
        arrays = [x] + ([np.arange(1, batch + 1)] if with_lengths else [])
        expected = layer(*map(paddle.to_tensor, arrays))
        for found, wanted in zip(run(proto, *arrays), expected, strict=True):
            np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)


# ---- conditions and loops ------------------------------------------------------------------------------------------


@paddle.jit.to_static
def by_sign(x: Any) -> Any:
    if x.sum() > 0:
        y = x * 2
        if x.max() > 10:
            y = y - 100
    else:
        y = x - 1
    return y


@pytest.mark.parametrize("value", [1.0, -1.0, 20.0])
def test_a_condition_is_an_if(value: float) -> None:
    proto = model_of(by_sign, [InputSpec([None, 3], "float32", "x")])
    assert "If" in operators(proto)
    x = np.full((4, 3), value, "float32")
    np.testing.assert_allclose(run(proto, x)[0], by_sign(paddle.to_tensor(x)).numpy())


@paddle.jit.to_static
def doubled(x: Any, limit: Any) -> Any:
    count = paddle.zeros([], "int64")
    while x.sum() < limit:
        x = x * 2
        count = count + 1
    return x, count


@pytest.mark.parametrize("limit", [-1.0, 3.0, 100.0])
def test_a_loop_is_a_loop(limit: float) -> None:
    proto = model_of(doubled, [InputSpec([None], "float32", "x"), InputSpec([], "float32", "limit")])
    assert "Loop" in operators(proto)
    x = np.ones(2, "float32")
    found = run(proto, x, np.asarray(limit, "float32"))
    expected = doubled(paddle.to_tensor(x), paddle.to_tensor(limit))
    for ours, theirs in zip(expected, found, strict=True):
        np.testing.assert_allclose(theirs, ours.numpy())


# ---- names, types, randomness --------------------------------------------------------------------------------------


def test_results_that_are_inputs_weights_or_twice_the_same() -> None:
    weight = paddle.to_tensor([1.0, 2.0])

    def given(x: Any, unused: Any) -> Any:
        y = x + 1
        return x, y, y, weight

    proto = model_of(given, [InputSpec([None], "float32", "x"), InputSpec([2], "int64", "unused")])
    x = drawn(3)
    found = run(proto, x, np.zeros(2, np.int64))
    for theirs, ours in zip(found, (x, x + 1, x + 1, [1.0, 2.0]), strict=True):
        np.testing.assert_allclose(theirs, ours)


def test_an_input_may_be_called_like_a_result() -> None:
    proto = model_of(lambda a: [a + 1, a * 2], [InputSpec([2], "float32", "output_0")])
    x = drawn(2)
    first, second = run(proto, x)
    np.testing.assert_allclose(first, x + 1)
    np.testing.assert_allclose(second, x * 2)
    names = [value.name for value in (*proto.graph.input, *proto.graph.output)]
    assert len(set(names)) == 3


def test_dropout_is_nothing_and_random_numbers_are_drawn_anew() -> None:
    layer = paddle.nn.Sequential(paddle.nn.Dropout(0.5), paddle.nn.Linear(3, 3))
    assert operators(model_of(layer, [InputSpec([2, 3], "float32", "x")])) == {"Gemm"}
    proto = model_of(lambda x: x * 0 + paddle.rand(x.shape), [InputSpec([None], "float32", "x")])
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    first, second = (session.run(None, {"x": np.zeros(1000, "float32")})[0] for _ in range(2))
    assert (first != second).any()
    assert first.min() >= 0
    assert first.max() < 1
    assert abs(first.mean() - 0.5) < 0.05


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_precisions(dtype: str) -> None:
    layer = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.GELU(), paddle.nn.LayerNorm(8))
    layer.to(dtype=dtype)
    proto = model_of(layer, [InputSpec([None, 4], dtype, "x")])
    x = drawn(3, 4).astype(dtype)
    layer.eval()
    expected = layer(paddle.to_tensor(x)).numpy()
    assert expected.dtype == dtype
    np.testing.assert_allclose(run(proto, x)[0], expected, atol=2e-2 if dtype == "float16" else 1e-5)


def test_bfloat16_inside_a_model() -> None:
    layer = paddle.nn.Linear(4, 8)
    layer.to(dtype="bfloat16")

    def half(x: Any) -> Any:
        return layer(x.astype("bfloat16")).astype("float32")

    proto = model_of(half, [InputSpec([None, 4], "float32", "x")])
    x = drawn(3, 4)
    np.testing.assert_allclose(run(proto, x)[0], half(paddle.to_tensor(x)).numpy(), atol=2e-2)


# ---- numbers on a grid ---------------------------------------------------------------------------------------------


class OnGrids(paddle.nn.Layer):
    """A convolution between quantize_linear and dequantize_linear, its weight in int8 by channels."""

    def __init__(self) -> None:
        super().__init__()
        numbers = np.random.default_rng(0).integers(-127, 128, (6, 3, 3, 3)).astype("float32")
        self.weight = paddle.to_tensor(numbers)
        self.scales = paddle.to_tensor(np.linspace(0.5, 1.5, 6, dtype="float32"))
        self.reach = paddle.to_tensor(np.float32([3.0]))
        self.norm = paddle.nn.BatchNorm2D(6)
        self.norm.weight.set_value(np.float32([1, -2, 0.5, 1, 1, 3]))
        self.norm._mean.set_value(np.float32([0.1, 0.2, 0.3, 0, 0, -1]))

    def forward(self, x: Any) -> Any:
        from proa.ops.quantised.levels import from_levels, to_levels

        x = from_levels(to_levels(x, self.reach), self.reach)
        weight = from_levels(self.weight, self.scales, 0)
        return paddle.nn.functional.relu(self.norm(paddle.nn.functional.conv2d(x, weight)))


def test_quantised_layers_are_written_as_quantize_and_dequantize() -> None:
    """The batch norm goes into the scales of the weight, which stays in bytes; the bias is whole numbers, too."""
    layer = OnGrids()
    layer.eval()
    proto = model_of(layer, [InputSpec([None, 3, 8, 8], "float32", "x")])
    assert operators(proto) == {"QuantizeLinear", "DequantizeLinear", "Conv", "Relu"}
    kinds = {tuple(w.dims): w.data_type for w in proto.graph.initializer if len(w.dims) == 4}
    assert kinds == {(6, 3, 3, 3): onnx.TensorProto.INT8}
    assert onnx.TensorProto.INT32 in {w.data_type for w in proto.graph.initializer if list(w.dims) == [6]}
    x = drawn(2, 3, 8, 8)
    grid = np.clip(np.rint(x / np.float32(3) * 127), -128, 127) * np.float32(3) / 127
    wide = layer.weight.numpy() * layer.scales.numpy()[:, None, None, None] / 127
    sums = paddle.nn.functional.conv2d(paddle.to_tensor(grid.astype("float32")), paddle.to_tensor(wide))
    np.testing.assert_allclose(run(proto, x)[0], np.maximum(layer.norm(sums).numpy(), 0), atol=2e-3)


def test_weights_in_8_bits_stay_in_8_bits() -> None:
    weight, scales = paddle.nn.quant.weight_quantize(paddle.to_tensor(drawn(16, 32)), "weight_only_int8")

    def product(x: Any) -> Any:
        return paddle.nn.quant.weight_only_linear(x, weight, weight_scale=scales)

    proto = model_of(product, [InputSpec([None, 16], "float32", "x")])
    assert "DequantizeLinear" in operators(proto)
    x = drawn(3, 16)
    np.testing.assert_allclose(run(proto, x)[0], product(paddle.to_tensor(x)).numpy(), atol=1e-4)


def test_a_model_that_was_quantised_after_training() -> None:
    from proa.quantization import PTQ, QuantConfig, observers

    config = QuantConfig(None, None)
    config.add_type_config(
        [paddle.nn.Conv2D, paddle.nn.Linear], activation=observers.AbsmaxObserver(),
        weight=observers.AbsMaxChannelWiseWeightObserver(),
    )  # fmt: skip
    nn = paddle.nn
    whole = nn.Sequential(nn.Conv2D(3, 8, 3), nn.BatchNorm2D(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
    whole.eval()
    ptq = PTQ(config)
    observed = ptq.quantize(whole)
    x = drawn(4, 3, 8, 8)
    observed(paddle.to_tensor(x))
    layer = ptq.convert(observed)
    layer.eval()
    proto = model_of(layer, [InputSpec([None, 3, 8, 8], "float32", "x")])
    assert operators(proto) == {"QuantizeLinear", "DequantizeLinear", "Conv", "Relu", "Reshape", "Gemm"}
    assert {w.data_type for w in proto.graph.initializer if len(w.dims) > 1} == {onnx.TensorProto.INT8}
    (found,) = run(proto, x)
    np.testing.assert_allclose(found, layer(paddle.to_tensor(x)).numpy(), atol=0.02)
    np.testing.assert_allclose(found, whole(paddle.to_tensor(x)).numpy(), atol=0.1)


# ---- shapes that values decide -------------------------------------------------------------------------------------


class Detector(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.shift = paddle.nn.Linear(4, 4)

    def forward(self, boxes: Any, scores: Any) -> Any:
        boxes = boxes + self.shift(boxes) * 0.01
        chosen = scores > 0.3
        boxes, scores = boxes[chosen], paddle.masked_select(scores, chosen)
        kept = paddle.vision.ops.nms(boxes, 0.5, scores)
        return paddle.gather(boxes, kept) * 2, kept, paddle.nonzero(chosen)


@pytest.mark.parametrize("count", [1, 5, 40])
def test_suppression_of_boxes_and_other_results_whose_sizes_values_decide(count: int) -> None:
    layer = Detector()
    proto = model_of(layer, [InputSpec([None, 4], "float32", "boxes"), InputSpec([None], "float32", "scores")])
    assert {"NonMaxSuppression", "NonZero"} <= operators(proto)
    random = np.random.default_rng(count)
    corners = random.uniform(0, 10, (count, 2))
    boxes = np.concatenate([corners, corners + random.uniform(1, 5, (count, 2))], 1).astype("float32")
    scores = random.uniform(0.2, 1, count).astype("float32")
    scores[0] = 0.9
    found = run(proto, boxes, scores)
    for theirs, ours in zip(found, layer(paddle.to_tensor(boxes), paddle.to_tensor(scores)), strict=True):
        np.testing.assert_allclose(theirs, ours.numpy(), rtol=1e-5, atol=1e-5)


def test_values_that_decide_shapes_in_a_way_that_onnx_has_no_operator_for() -> None:
    with pytest.raises(
        NotImplementedError, match=r"values decide the shape of what unique gives.*\n  at .*test_models.py:"
    ):
        model_of(lambda x: paddle.unique(x), [InputSpec([None], "float32", "x")])
