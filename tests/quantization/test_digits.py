"""A model that reads handwritten digits, in 8 bits: as good as before, in bytes, in every file."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.formats.paddle.files.reading import read_model
from proa.formats.paddle.reading import read_graph
from proa.formats.paddle.reading.loading import LoadedModel
from proa.inference import Config, create_predictor
from proa.kernels.cpu.low_precision import quantised
from proa.quantization import PTQ, QAT, QuantConfig, observers, quanters
from tests.quantization.digits import NUM_TRAIN, Digits, accuracy, batches, data, train, trained

POINTS = 0.5
SPEC = [paddle.static.InputSpec([None, 1, 8, 8], "float32")]


def only_layers(activation: Any, weight: Any) -> QuantConfig:
    config = QuantConfig(None, None)
    config.add_type_config([nn.Conv2D, nn.Linear], activation=activation, weight=weight)
    return config


def calibrated(config: QuantConfig) -> nn.Layer:
    ptq = PTQ(config)
    model = ptq.quantize(trained())
    for x, _ in batches()[:3]:
        model(x)
    return ptq.convert(model)


@functools.cache
def in_bytes() -> nn.Layer:
    """The usual one; do not change it."""
    return calibrated(only_layers(observers.AbsmaxObserver(), observers.AbsMaxChannelWiseWeightObserver()))


def test_the_model_is_good_to_begin_with() -> None:
    assert accuracy(trained()) > 96


@pytest.mark.parametrize("name", ["AbsmaxObserver", "AVGObserver", "HistObserver", "MSEObserver", "KLObserver"])
def test_calibrated_models_are_as_good(name: str) -> None:
    weight = observers.AbsMaxChannelWiseWeightObserver()
    model = calibrated(only_layers(getattr(observers, name)(), weight))
    assert accuracy(model) >= accuracy(trained()) - POINTS


def test_paddles_own_configuration_is_as_good() -> None:
    observer = observers.AbsmaxObserver(quant_bits=8)
    assert accuracy(calibrated(QuantConfig(observer, observer))) >= accuracy(trained()) - POINTS


def test_a_trained_one_is_as_good_and_converting_changes_little() -> None:
    quanter = quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    weight = quanters.FakeQuanterChannelWiseAbsMaxObserver()
    qat = QAT(only_layers(quanter, weight))
    model = Digits()
    model.set_state_dict(trained().state_dict())
    model.train()
    rounded = qat.quantize(model)
    train(rounded, 2, rate=1e-3)
    rounded.eval()
    converted = qat.convert(rounded)
    assert accuracy(rounded) >= accuracy(trained()) - POINTS
    assert accuracy(converted) >= accuracy(trained()) - POINTS
    x = batches()[0][0]
    np.testing.assert_allclose(converted(x).numpy(), rounded(x).numpy(), atol=0.6)


def test_four_bits_are_worse_than_eight() -> None:  # that rounding happens at all
    few = calibrated(only_layers(observers.AbsmaxObserver(3), observers.AbsMaxChannelWiseWeightObserver(2)))
    assert accuracy(few) < accuracy(trained()) - 2


@pytest.mark.parametrize("form", ["json", "pdmodel", "proa"])
def test_saved_models_compute_the_same(form: str, tmp_path: Path) -> None:
    model = in_bytes()
    path = str(tmp_path / "digits")
    paddle.jit.save(model, path, input_spec=SPEC, format=form)
    loaded = paddle.jit.load(path)
    x = paddle.to_tensor(data()[0][NUM_TRAIN:])
    found, expected = loaded(x).numpy(), model(x).numpy()
    # A number that lies on the border between two steps may fall to either side.
    assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.998
    weights = sum(p.size for p in trained().parameters())
    whole = sum(file.stat().st_size for file in tmp_path.iterdir() if file.suffix in (".pdiparams", ".proa"))
    assert whole < 4 * weights * (0.5 if form != "proa" else 1.5)


def _instructions(path: str) -> list[str]:
    loaded = LoadedModel(read_model(path, None), name="digits")
    graph = read_graph(loaded.model, loaded.parameters, name="digits")
    return [i.operation.name for i in graph.optimised().program.instructions]


def _predicted(predictor: Any, x: np.ndarray) -> np.ndarray:
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(x)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


@pytest.mark.skipif(not quantised.is_available(), reason="no native kernels")
def test_the_predictor_multiplies_bytes(tmp_path: Path) -> None:
    model = in_bytes()
    path = str(tmp_path / "digits")
    paddle.jit.save(model, path, input_spec=SPEC)
    names = _instructions(path)
    assert names.count("quantised_conv") == 3
    assert names.count("quantised_linear") == 2
    others = {"to_levels", "from_levels", "fused_conv", "fused_linear", "conv", "linear", "normalise_by", "add", "relu"}
    assert not others & set(names)
    predictor = create_predictor(Config(f"{path}.json", f"{path}.pdiparams"))
    x = data()[0][NUM_TRAIN:]
    found = _predicted(predictor, x)
    assert (found.argmax(1) == model(paddle.to_tensor(x)).numpy().argmax(1)).mean() > 0.998


@pytest.mark.skipif(not quantised.is_available(), reason="no native kernels")
def test_a_trained_model_need_not_be_converted(tmp_path: Path) -> None:
    qat = QAT(only_layers(observers.AbsmaxObserver(), quanters.FakeQuanterChannelWiseAbsMaxObserver()))
    model = Digits()
    model.set_state_dict(trained().state_dict())
    rounded = qat.quantize(model)
    rounded.eval()
    rounded(batches()[0][0])
    path = str(tmp_path / "digits")
    paddle.jit.save(qat.convert(rounded, remain_weight=True), path, input_spec=SPEC)
    assert _instructions(path).count("quantised_conv") == 3


def test_paddles_operations_stand_in_the_files(tmp_path: Path) -> None:
    model = in_bytes()
    for form, back in (("pdmodel", "dequantize_linear"), ("json", "fake_channel_wise_dequantize_max_abs")):
        path = str(tmp_path / form)
        paddle.jit.save(model, path, input_spec=SPEC, format=form)
        found = [op.name for op in read_model(path, None).block.ops]
        assert found.count("quantize_linear") == 5
        assert found.count(back) == (10 if form == "pdmodel" else 5)


def test_state_of_a_converted_model_loads_again() -> None:
    config = only_layers(observers.AbsmaxObserver(), observers.AbsMaxChannelWiseWeightObserver())
    model, other = calibrated(config), calibrated(config)
    for tensor in other.state_dict().values():
        tensor.set_value(np.zeros(tensor.shape, tensor.numpy().dtype))
    missing, unexpected = other.set_state_dict(model.state_dict())
    assert (missing, unexpected) == ([], [])
    x = batches()[0][0]
    np.testing.assert_array_equal(other(x).numpy(), model(x).numpy())


def test_other_engines_get_whole_numbers(tmp_path: Path) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    model = in_bytes()
    path = str(tmp_path / "digits")
    # A number on the border between two steps may fall to either side, in the engine as here.
    paddle.onnx.export(model, path, input_spec=SPEC, tolerance=0.1)
    graph = onnx.load(f"{path}.onnx").graph
    kinds = [node.op_type for node in graph.node]
    # Inputs of five layers; those, their weights and their biases come back from whole numbers.
    assert (kinds.count("QuantizeLinear"), kinds.count("DequantizeLinear")) == (5, 15)
    assert "BatchNormalization" not in kinds
    assert "Mul" not in kinds  # what a batch norm multiplies with is in the scales
    weights = {i.name: i for i in graph.initializer if len(i.dims) > 1}
    assert {i.data_type for i in weights.values()} == {onnx.TensorProto.INT8}
    session = runtime.InferenceSession(f"{path}.onnx", providers=["CPUExecutionProvider"])
    x = data()[0][NUM_TRAIN:]
    found = session.run(None, {session.get_inputs()[0].name: x})[0]
    expected = model(paddle.to_tensor(x)).numpy()
    assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.998


def test_predictors_in_many_threads(tmp_path: Path) -> None:
    model = in_bytes()
    path = str(tmp_path / "digits")
    paddle.jit.save(model, path, input_spec=SPEC)
    x = data()[0][NUM_TRAIN:]
    predictor = create_predictor(Config(f"{path}.json", f"{path}.pdiparams"))
    expected = _predicted(predictor, x)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: _predicted(predictor.clone(), x[i : i + 100]), range(0, 800, 100)))
    for start, result in zip(range(0, 800, 100), found, strict=True):
        np.testing.assert_allclose(result, expected[start : start + 100], atol=1e-4)


def test_converting_twice_and_models_without_quantised_layers() -> None:
    config = only_layers(observers.AbsmaxObserver(), observers.AbsMaxChannelWiseWeightObserver())
    model = calibrated(config)
    again = PTQ(config).convert(model)  # nothing is left to convert
    x = batches()[0][0]
    np.testing.assert_allclose(again(x).numpy(), model(x).numpy(), atol=1e-4)
    plain = nn.Sequential(nn.ReLU())
    plain.eval()
    assert PTQ(config).convert(PTQ(config).quantize(plain))(paddle.to_tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
