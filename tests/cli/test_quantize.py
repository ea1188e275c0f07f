"""`proa quantize`: files in, smaller files out, and an honest word about the difference."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import proa as paddle
import proa_command as command
from proa import nn


@pytest.fixture
def model(tmp_path: Path) -> str:
    layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
    path = str(tmp_path / "model")
    paddle.jit.save(layers, path, input_spec=[paddle.static.InputSpec([None, 64], "float32", "rows")])
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(100, 64)).astype("float32"))
    return path


@pytest.mark.parametrize("observer", ["hist", "absmax", "avg", "mse", "kl"])
def test_a_model_in_8_bits(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], observer: str) -> None:
    target, data = str(tmp_path / "small"), str(tmp_path / "rows.npy")
    assert command.main(["quantize", model, target, "--data", data, "--observer", observer]) == 0
    words = capsys.readouterr().out
    assert "2 layers in 8 bits" in words
    x = np.load(data)
    found, expected = (paddle.jit.load(path)(paddle.to_tensor(x)).numpy() for path in (target, model))
    apart = np.abs(found - expected).max() / np.abs(expected).max()
    assert 0 < apart < 0.1
    said = float(re.search(r"largest difference (\S+)", words)[1])  # type: ignore[index]
    assert said == pytest.approx(apart, rel=0.1)
    assert f"{100 * (found.argmax(1) == expected.argmax(1)).mean():.2f} %" in words


def test_arrays_by_name_and_layers_that_stay(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "rows.npz", rows=np.load(tmp_path / "rows.npy"), other=np.zeros(3))
    words = ["quantize", model, str(tmp_path / "small"), "--data", str(tmp_path / "rows.npz")]
    assert command.main(words) == 0
    kept = paddle.jit.load(model).state_dict()
    first = next(name for name, value in kept.items() if list(value.shape) == [64, 32])
    assert command.main([*words, "--skip", first]) == 0
    assert "1 layers in 8 bits" in capsys.readouterr().out


def test_what_is_wrong_is_said_and_nothing_is_written(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "small")
    np.savez(tmp_path / "wrong.npz", a=np.zeros(3), b=np.zeros(3))
    np.save(tmp_path / "narrow.npy", np.zeros((4, 3), "float32"))
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    for source, data, text in (
        (model, "nothing.npy", "there is no"),
        (model, "wrong.npz", "an array for each of rows"),
        (model, "narrow.npy", "must have the shape"),
        (model, "objects.npy", "holds objects"),
        (str(tmp_path / "nowhere"), "rows.npy", "nowhere"),
    ):
        assert command.main(["quantize", source, target, "--data", str(tmp_path / data)]) == 1
        assert text in capsys.readouterr().err
    assert not list(tmp_path.glob("small*"))
