"""ONNX Runtime and OpenVINO behind a predictor: the same answers as ours, from many threads, for many shapes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import inference, nn
from proa.inference.engines.kept import OFTEN

from .soak import compare, soak

pytest.importorskip("onnx", reason="models go to other engines as ONNX")
INSTALLED = [name for name in ("onnxruntime", "openvino") if pytest.importorskip(name)]
FIXTURES = Path(__file__).parents[1] / "formats" / "paddle" / "reading" / "fixtures"


def predictor_of(path: Any, engine: str, **options: Any) -> inference.Predictor:
    config = inference.Config(str(path))
    config.set_engine(engine, **options)
    return inference.create_predictor(config)


@pytest.mark.parametrize("engine", INSTALLED)
@pytest.mark.parametrize("kind", ["json", "pdmodel"])
def test_a_model_that_paddle_saved(engine: str, kind: str) -> None:
    predictor = predictor_of(FIXTURES / kind / "picture", engine)
    with np.load(FIXTURES / kind / "picture.npz") as kept:
        for number in (0, 1):
            found = predictor.run([paddle.to_tensor(kept[f"in_{number}"])])
            for position, one in enumerate(found):
                wanted = kept[f"out_{number}_{position}"]
                np.testing.assert_allclose(one.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert f"{engine}, as the Config says" in predictor.explain()
    assert "session(s)" in predictor.explain()


@pytest.mark.parametrize("engine", INSTALLED)
@pytest.mark.parametrize("family", ["pictures", "sequences"])
def test_many_threads_and_shapes(engine: str, family: str) -> None:
    outcome = soak(family, threads=6, requests=25, engine=engine, inputs=30)
    assert outcome.wrong == []
    assert outcome.answers == 150


@pytest.mark.parametrize("engine", INSTALLED)
def test_what_onnx_cannot_say_is_left_to_ours(engine: str, tmp_path: Path) -> None:
    class Draws(nn.Layer):
        def forward(self, x: Any) -> Any:
            return x + 0.0 * paddle.rand(x.shape)

    paddle.jit.save(Draws(), str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")])
    predictor = predictor_of(tmp_path / "m", engine)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    with pytest.warns(RuntimeWarning, match="left to XLA: the model changes its own buffers or draws random"):
        [found] = predictor.run([paddle.to_tensor(x)])
    np.testing.assert_array_equal(found.numpy(), x)
    assert "sizes left to XLA" in predictor.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        predictor.run([paddle.to_tensor(x)])
    text = predictor_of(tmp_path / "m", "auto").explain()
    assert f"{engine:12} left out: the model changes its own buffers or draws random numbers" in text


@pytest.mark.parametrize("engine", INSTALLED)
def test_sizes_that_a_session_does_not_hold_for_get_another(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    predictor = predictor_of(FIXTURES / "json" / "picture", engine)
    with np.load(FIXTURES / "json" / "picture.npz") as kept:
        first, given, wanted = kept["in_1"], kept["in_0"], kept["out_0_0"]
    assert first.shape != given.shape
    predictor.run([paddle.to_tensor(first)])
    for number in (1, 2):
        np.testing.assert_allclose(predictor.run([paddle.to_tensor(given)])[0].numpy(), wanted, rtol=1e-4, atol=1e-5)
        assert len(predictor._engine._flexible) == number
        for graph, _ in predictor._engine._flexible:
            monkeypatch.setattr(graph, "holds_for", lambda tensors: False)


@pytest.mark.parametrize("engine", INSTALLED)
def test_shapes_that_come_often_get_sessions_of_their_own(engine: str, tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Conv2D(3, 8, 3), nn.ReLU())
    layer.eval()
    spec = paddle.static.InputSpec([None, 3, None, None], "float32", "x")
    paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[spec])
    predictor = predictor_of(tmp_path / "m", engine)
    keeps = predictor._engine._kept

    def answers(size: int, times: int = 1) -> None:
        x = np.random.default_rng(size).standard_normal((1, 3, size, size + 1)).astype(np.float32)
        for _ in range(times):
            found = predictor.run([paddle.to_tensor(x)])[0].numpy()
        np.testing.assert_allclose(found, layer(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)

    answers(8)
    assert (len(keeps), len(predictor._engine._flexible)) == (1, 0)
    answers(9, OFTEN)
    answers(10)
    assert (len(keeps), len(predictor._engine._flexible)) == (1, 1)  # seldom ones share a session
    answers(9)
    assert (len(keeps), len(predictor._engine._flexible)) == (2, 1)
    for size in range(11, 15):  # never more than a few
        answers(size, 3 * OFTEN)
    assert len(keeps) == 4
    assert "4 session(s) for one shape, 1 for many" in predictor.explain()
    answers(8)  # it was given up meanwhile
    predictor.try_shrink_memory()
    assert len(keeps) == 1
    answers(9)


@pytest.mark.parametrize("engine", INSTALLED)
def test_results_stay_what_they_are_when_the_next_come(engine: str, tmp_path: Path) -> None:
    paddle.jit.save(Doubles(), str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([2, 3], "float32", "x")])
    predictor = predictor_of(tmp_path / "m", engine)
    handle, result = predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[0])
    found = []
    for number in range(3):
        handle.copy_from_cpu(np.full((2, 3), number, np.float32))
        predictor.run()
        found += [result.copy_to_cpu(), *predictor.run([paddle.full([2, 3], 10.0 + number)])]
    for number in range(3):
        np.testing.assert_array_equal(found[2 * number], np.full((2, 3), 2.0 * number))
        np.testing.assert_array_equal(found[2 * number + 1].numpy(), np.full((2, 3), 20.0 + 2 * number))


@pytest.mark.parametrize("engine", INSTALLED)
def test_numbers_without_an_axis(engine: str, tmp_path: Path) -> None:
    paddle.jit.save(Doubles(), str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([], "float32", "x")])
    predictor = predictor_of(tmp_path / "m", engine)
    [found] = predictor.run([paddle.to_tensor(3.0)])
    assert found.shape == []
    assert found.item() == 6.0
    assert "1 session(s) for one shape" in predictor.explain()


@pytest.mark.parametrize("engine", INSTALLED)
@pytest.mark.parametrize("rows", [2, None])
def test_arrays_that_must_not_be_written_are_inputs_as_any(engine: str, rows: int | None, tmp_path: Path) -> None:
    paddle.jit.save(Doubles(), str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([rows, 3], "float32", "x")])
    predictor = predictor_of(tmp_path / "m", engine)
    handle, result = predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[0])
    for array in (np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((4, 3), np.float32)[::2], np.zeros((3, 2)).T):
        array = array.astype(np.float32, copy=False)
        array.flags.writeable = False
        handle.share_external_data(array)
        predictor.run()
        np.testing.assert_array_equal(result.copy_to_cpu(), 2 * array)
        computed = predictor.run([paddle.to_tensor(array) + 1])[0].numpy()
        np.testing.assert_array_equal(computed, 2 * array + 2)


class Doubles(nn.Layer):
    def forward(self, x: Any) -> Any:
        return x * 2


WITHOUT_XLA = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np, proa as paddle
config = paddle.inference.Config(sys.argv[1])
config.set_engine(sys.argv[2])
predictor = paddle.inference.create_predictor(config)
handle = predictor.get_input_handle("x")
handle.share_external_data(np.load(sys.argv[1] + ".npy"))
predictor.run()
np.save(sys.argv[1] + "-found.npy", predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu())
print("jax" in sys.modules)
"""


@pytest.mark.parametrize("engine", INSTALLED)
def test_xla_is_not_started_for_an_engine_of_others(engine: str, tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Conv2D(3, 40, 3), nn.BatchNorm2D(40), nn.ReLU())  # folded: weights are computed
    layer.eval()
    path = tmp_path / "m"
    paddle.jit.save(layer, str(path), input_spec=[paddle.static.InputSpec([None, 3, 16, 16], "float32", "x")])
    x = np.random.default_rng(0).standard_normal((2, 3, 16, 16)).astype(np.float32)
    np.save(f"{path}.npy", x)
    command = [sys.executable, "-c", WITHOUT_XLA, str(path), engine]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert answer.stdout.split() == ["False"], answer.stderr
    found = np.load(f"{path}-found.npy")
    np.testing.assert_allclose(found, layer(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


FORKED = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, proa as paddle
config = paddle.inference.Config(sys.argv[1])
config.set_engine(sys.argv[2])
predictor = paddle.inference.create_predictor(config)
x = np.random.default_rng(0).standard_normal((2, 3, 96, 96)).astype("float32")  # work for several threads
before = predictor.run([paddle.to_tensor(x)])[0].numpy()
child = os.fork()
if not child:
    signal.alarm(40)  # a child that hangs is ended
    same = np.allclose(predictor.run([paddle.to_tensor(x)])[0].numpy(), before, rtol=1e-4, atol=1e-5)
    os._exit(0 if same else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("engine", INSTALLED)
def test_a_forked_process_answers(engine: str, tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Conv2D(3, 64, 3), nn.ReLU(), nn.Conv2D(64, 64, 3), nn.ReLU())
    paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([2, 3, 96, 96], "float32", "x")])
    command = [sys.executable, "-c", FORKED, str(tmp_path / "m"), engine]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.filterwarnings("ignore:.*left to XLA")
@pytest.mark.parametrize("engine", INSTALLED)
def test_an_artifact_for_some_sizes_refuses_others(engine: str, tmp_path: Path) -> None:
    class Asks(nn.Layer):
        def forward(self, x: Any) -> Any:
            return x * 2 if x.shape[0] > 2 else x * 3

    path = str(tmp_path / "m.proa")
    paddle.jit.save(Asks(), path, input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")])
    for name in ("xla", engine):
        predictor = predictor_of(path, name)
        [found] = predictor.run([paddle.ones([3, 2])])
        np.testing.assert_array_equal(found.numpy(), np.full((3, 2), 2.0))
        with pytest.raises(ValueError, match=r"x\.shape\[0\]"):
            predictor.run([paddle.ones([1, 2])])


@pytest.mark.parametrize("engine", INSTALLED)
def test_wrong_inputs_are_named_as_ever(engine: str) -> None:
    predictor = predictor_of(FIXTURES / "json" / "picture", engine)
    with pytest.raises(ValueError, match="must have the shape"):
        predictor.run([paddle.ones([1, 2, 5, 5])])
    with pytest.raises(TypeError, match="must be float32"):
        predictor.run([paddle.ones([1, 3, 6, 7], "int64")])


@pytest.mark.parametrize("engine", INSTALLED)
def test_an_artifact(engine: str, tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 2))
    layer.eval()
    paddle.jit.save(layer, str(tmp_path / "m.proa"), input_spec=[paddle.static.InputSpec([None, 5], "float32", "x")])
    predictor = predictor_of(tmp_path / "m.proa", engine)
    x = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    found = predictor.run([paddle.to_tensor(x)])[0].numpy()
    np.testing.assert_allclose(found, layer(paddle.to_tensor(x)).numpy(), rtol=1e-5, atol=1e-6)


def test_auto_measures_all_that_are_installed(tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Conv2D(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 4))
    layer.eval()
    paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 3, 8, 8], "float32", "x")])
    predictor = predictor_of(tmp_path / "m", "auto")
    text = str(predictor.explain())
    for engine in ("xla", *INSTALLED):
        [line] = [line for line in text.splitlines() if line.startswith(f"  {engine:12} ")]
        assert " ms " in line
    assert sum("  chosen" in line for line in text.splitlines()) == 1
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)
    assert compare(predictor.run([paddle.to_tensor(x)])[0].numpy(), layer(paddle.to_tensor(x)).numpy()) == ""


def test_openvino_in_bfloat16_differs_by_little(tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    layer.eval()
    paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([4, 64], "float32", "x")])
    config = inference.Config(str(tmp_path / "m"))
    config.enable_openvino_engine(inference.PrecisionType.Bfloat16)
    x = np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)
    found = inference.create_predictor(config).run([paddle.to_tensor(x)])[0].numpy()
    wanted = layer(paddle.to_tensor(x)).numpy()
    assert np.abs(found - wanted).max() <= 3e-2 * np.abs(wanted).max()
    config.set_engine("onnxruntime")
    with pytest.raises(RuntimeError, match="float32 on a CPU; bfloat16 was asked for"):
        inference.create_predictor(config)
