"""`paddle.static.quantization.PostTrainingQuantization`, as programs of the ecosystem call it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn


@pytest.fixture
def saved(tmp_path: Path) -> str:
    model = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    folder = tmp_path / "model"
    folder.mkdir()
    spec = [paddle.static.InputSpec([None, 1, 4, 4], "float32", "picture")]
    paddle.jit.save(model, str(folder / "inference"), input_spec=spec, format="pdmodel")
    return str(folder)


def pictures(count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 1, 4, 4)).astype("float32")


def quantised(folder: str, **options: Any) -> Any:
    return paddle.static.quantization.PostTrainingQuantization(
        executor=None, model_dir=folder, model_filename="inference.pdmodel", params_filename="inference.pdiparams",
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("algo", ["KL", "hist", "mse", "avg", "abs_max"])
def test_a_sample_generator(saved: str, tmp_path: Path, algo: str) -> None:
    ptq = quantised(
        saved, sample_generator=lambda: ((x,) for x in pictures(25)), batch_size=10, algo=algo,
        quantizable_op_type=["conv2d", "mul"],
    )  # fmt: skip
    ptq.quantize()
    target = tmp_path / "small"
    ptq.save_quantized_model(str(target), model_filename="m.pdmodel", params_filename="m.pdiparams")
    assert sorted(file.name for file in target.iterdir()) == ["m.pdiparams", "m.pdmodel"]
    x = paddle.to_tensor(pictures(5))
    found, expected = (paddle.jit.load(path)(x).numpy() for path in (str(target / "m"), f"{saved}/inference"))
    assert 0 < np.abs(found - expected).max() < 0.15 * np.abs(expected).max()


def test_a_loader_and_few_batches(saved: str, tmp_path: Path) -> None:
    taken: list[int] = []

    def loader() -> Any:
        for number in range(5):
            taken.append(number)
            yield [{"picture": pictures(2)}]

    ptq = quantised(saved, data_loader=loader(), batch_nums=2, algo="abs_max")
    ptq.quantize()
    assert len(taken) <= 3
    ptq.save_quantized_model(str(tmp_path / "prefix"))
    assert (tmp_path / "prefix.pdmodel").is_file()


def test_bad_input(saved: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="one of batch_generator"):
        quantised(saved)
    with pytest.raises(AssertionError, match="algo must be one of"):
        quantised(saved, data_loader=[], algo="best")
    with pytest.raises(ValueError, match="call quantize"):
        quantised(saved, data_loader=[]).save_quantized_model(str(tmp_path / "x"))
    with pytest.raises(ValueError, match="no batch"):
        quantised(saved, data_loader=[]).quantize()


def test_training_by_its_older_name(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    aware = paddle.quantization.ImperativeQuantAware(weight_quantize_type="channel_wise_abs_max")
    made = aware.quantize(model)
    assert made is model
    assert [type(layer).__name__ for layer in model] == ["QuantedConv2D", "ReLU", "Flatten", "QuantedLinear"]
    optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
    x = paddle.to_tensor(pictures(8))
    for _ in range(20):
        (model(x) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    path = str(tmp_path / "trained")
    aware.save_quantized_model(model, path, input_spec=[paddle.static.InputSpec([None, 1, 4, 4], "float32")])
    found, expected = paddle.jit.load(path)(x).numpy(), model(x).numpy()
    assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()
    with pytest.raises(AssertionError, match="quantizable_layer_type may have"):
        paddle.quantization.ImperativeQuantAware(["LSTM"])
