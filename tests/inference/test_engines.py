"""Engines: how many shapes are kept, which engine is chosen, and what `explain()` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import inference, nn
from proa.inference import engines
from proa.inference.engines import agreement, base, choosing, kept, xla


class Net(nn.Layer):
    """A resize makes sizes that cannot be padded."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv2D(channels, 16, 3, padding=1)

    def forward(self, x: Any) -> Any:
        return nn.functional.interpolate(nn.functional.relu(self.conv(x)), scale_factor=2, mode="nearest").sum(1)

    def by_numpy(self, x: np.ndarray) -> np.ndarray:
        """In float64, window by window."""
        weight, bias = (p.numpy().astype(np.float64) for p in (self.conv.weight, self.conv.bias))
        padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        found = np.maximum(np.einsum("bchwij,ocij->bohw", windows, weight) + bias[:, None, None], 0).sum(1)
        return found.repeat(2, 1).repeat(2, 2)


@pytest.fixture
def saved(tmp_path: Path) -> tuple[str, Net]:
    net = Net()
    net.eval()
    spec = paddle.static.InputSpec([None, 3, None, None], "float32", "x")
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[spec])
    return str(tmp_path / "net"), net


def picture(height: int, width: int, batch: int = 1, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(height * width).standard_normal((batch, channels, height, width)).astype(np.float32)


def answers(predictor: Any, array: np.ndarray) -> np.ndarray:
    return predictor.run([paddle.to_tensor(array)])[0].numpy()


# ---- shapes ------------------------------------------------------------------------------------------------------


def test_a_bounded_number_of_shapes_is_kept_and_all_are_answered(saved: tuple[str, Net]) -> None:
    path, net = saved
    config = inference.Config(path)
    config.set_mkldnn_cache_capacity(3)
    predictor = inference.create_predictor(config)
    for size in range(4, 16):
        x = picture(size, size + 1)
        np.testing.assert_allclose(answers(predictor, x), net.by_numpy(x), rtol=1e-4, atol=1e-5)
    assert len(predictor._engine._kept) == 3
    assert "3 of at most 3 shapes compiled" in predictor.explain()
    assert "other shapes run operation by operation" in predictor.explain()


def test_a_shape_that_comes_often_takes_the_place_of_the_one_not_used_for_longest(saved: tuple[str, Net]) -> None:
    path, net = saved
    config = inference.Config(path)
    config.set_mkldnn_cache_capacity(2)
    predictor = inference.create_predictor(config)
    first, second, later = picture(4, 4), picture(5, 5), picture(6, 6)
    for x in (first, second, first):
        answers(predictor, x)
    for _ in range(kept.OFTEN + 1):
        found = answers(predictor, later)
    np.testing.assert_allclose(found, net.by_numpy(later), rtol=1e-4, atol=1e-5)
    shapes = {key[0].shape for key in predictor._engine._kept}
    assert shapes == {first.shape, later.shape}
    assert "1 given up for others" in predictor.explain()


def test_graphs_of_different_shapes_share_their_packed_weights(saved: tuple[str, Net]) -> None:
    predictor = inference.create_predictor(inference.Config(saved[0]))
    for size in (8, 9):
        answers(predictor, picture(size, size))
    parts = [graph.optimised().preparation for graph in predictor._engine._kept.values()]
    if parts[0] is None:
        pytest.skip("the native kernels are not here: nothing is packed")
    assert [id(value) for value in parts[0].values()] == [id(value) for value in parts[1].values()]


def test_shrinking_keeps_the_shape_used_last(saved: tuple[str, Net]) -> None:
    path, net = saved
    predictor = inference.create_predictor(inference.Config(path))
    for size in (4, 5, 6):
        answers(predictor, picture(size, size))
    assert predictor.try_shrink_memory() >= 0
    assert [key[0].shape for key in predictor._engine._kept] == [(1, 3, 6, 6)]
    np.testing.assert_allclose(answers(predictor, picture(4, 4)), net.by_numpy(picture(4, 4)), rtol=1e-4, atol=1e-5)


def test_levels_of_passes_are_obeyed(saved: tuple[str, Net]) -> None:
    path, net = saved
    x = picture(8, 8)
    for level in (None, 0, 1):
        config = inference.Config(path)
        if level == 0:
            config.switch_ir_optim(False)
        elif level is not None:
            config.set_optimization_level(level)
        predictor = inference.create_predictor(config)
        np.testing.assert_allclose(answers(predictor, x), net.by_numpy(x), rtol=1e-4, atol=1e-5)
        [graph] = predictor._engine._kept.values()
        assert list(graph._optimised) == [level] if level is not None else None in graph._optimised


# ---- choosing ----------------------------------------------------------------------------------------------------


class Slow(base.Engine):
    """Ours, and slow."""

    name = "slow"
    error = 0.0

    def __init__(self, model: Any, settings: Any) -> None:
        super().__init__(model, settings)
        self.own = xla.XlaEngine(model, settings)

    def run(self, tensors: Any) -> Any:
        import time

        time.sleep(0.01)
        return [tensor + self.error for tensor in self.own.run(tensors)]


class Wrong(Slow):
    name = "wrong"
    error = 0.1

    def run(self, tensors: Any) -> Any:
        return [tensor + 0.1 for tensor in self.own.run(tensors)]


class Crashing(Slow):
    name = "crashing"

    def run(self, tensors: Any) -> Any:
        raise RuntimeError("kernel not found")


class Missing(Slow):
    name = "missing"

    def __init__(self, model: Any, settings: Any) -> None:
        raise base.Unavailable("its package is not installed")


class Quick(Slow):
    """Remembers its answer."""

    name = "quick"
    kept: Any = None

    def run(self, tensors: Any) -> Any:
        if self.kept is None:
            self.kept = self.own.run(tensors)
        return self.kept


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Has only these engines to choose from, and an empty cache folder."""

    def use(*kinds: type) -> None:
        table = {kind.name: kind for kind in kinds}
        monkeypatch.setattr(engines, "KINDS", dict.fromkeys(table, ("", "")))
        monkeypatch.setattr(choosing, "KINDS", dict.fromkeys(table, ("", "")))
        for module in (choosing, agreement):
            monkeypatch.setattr(module, "make_engine", lambda name, model, settings: table[name](model, settings))

    monkeypatch.setattr(choosing.os, "getloadavg", lambda: (0.5, 0.0, 0.0))
    paddle.set_flags({"FLAGS_cache_dir": str(tmp_path / "cache")})
    yield use
    paddle.set_flags({"FLAGS_cache_dir": CACHE})


CACHE = paddle.get_flags("FLAGS_cache_dir")["FLAGS_cache_dir"]


def automatic(path: str, **options: Any) -> inference.Predictor:
    config = inference.Config(path)
    config.set_engine("auto", **options)
    return inference.create_predictor(config)


EXAMPLES = [[picture(8, 8)]]


def test_auto_takes_the_quickest_that_agrees_and_says_why(saved: tuple[str, Net], candidates: Any) -> None:
    candidates(xla.XlaEngine, Slow, Wrong, Crashing, Missing)
    path, net = saved
    predictor = automatic(path, examples=EXAMPLES)
    np.testing.assert_allclose(answers(predictor, picture(9, 7)), net.by_numpy(picture(9, 7)), rtol=1e-4, atol=1e-5)
    text = str(predictor.explain())
    assert "measured now) on the Config's examples: [1, 3, 8, 8]" in text
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert "chosen" in lines["xla"]
    assert "slower" in lines["slow"]
    assert "left out: its results differ from ours by" in lines["wrong"]
    assert "left out: it failed: kernel not found" in lines["crashing"]
    assert "left out: its package is not installed" in lines["missing"]


def test_a_busy_machine_is_named(saved: tuple[str, Net], candidates: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    candidates(xla.XlaEngine, Slow)
    assert "busy" not in automatic(saved[0], examples=EXAMPLES).explain()
    monkeypatch.setattr(choosing.os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    assert "the machine was busy" in automatic(saved[0], examples=[[picture(4, 4)]]).explain()
    remembered = automatic(saved[0], examples=[[picture(4, 4)]]).explain()
    assert "the machine was busy" in remembered
    assert "kept in the cache folder" in remembered
    assert (
        "kept in the cache folder" in automatic(saved[0], examples=EXAMPLES).explain()
    )  # what a quiet one chose stays
    monkeypatch.setattr(choosing.os, "getloadavg", lambda: (0.5, 0.0, 0.0))
    again = automatic(saved[0], examples=[[picture(4, 4)]]).explain()
    assert "busy" not in again
    assert "measured now" in again
    assert "kept in the cache folder" in automatic(saved[0], examples=[[picture(4, 4)]]).explain()


def test_auto_takes_another_engine_that_is_quicker(saved: tuple[str, Net], candidates: Any) -> None:
    class Sleepy(Slow):
        name = "xla"

    candidates(Sleepy, Quick)
    assert isinstance(automatic(saved[0], examples=EXAMPLES)._engine, Quick)


def test_what_was_chosen_is_remembered_until_something_changes(saved: tuple[str, Net], candidates: Any) -> None:
    candidates(xla.XlaEngine, Slow)
    path, _ = saved
    automatic(path, examples=EXAMPLES)
    assert "kept in the cache folder" in automatic(path, examples=EXAMPLES).explain()
    assert "measured now" in automatic(path).explain()  # other vectors
    config = inference.Config(path)
    config.set_engine("auto", EXAMPLES)
    config.set_cpu_math_library_num_threads(1)
    assert "measured now" in inference.create_predictor(config).explain()
    [kept, *_] = (Path(paddle.get_flags("FLAGS_cache_dir")["FLAGS_cache_dir"]) / "engines").iterdir()
    for damaged in (b"", b"{}", kept.read_bytes()[:-1]):
        for file in kept.parent.iterdir():
            file.write_bytes(damaged)
        assert "measured now" in automatic(path, examples=EXAMPLES).explain()


def test_vectors_of_an_artifact_are_used(saved: tuple[str, Net], candidates: Any, tmp_path: Path) -> None:
    candidates(xla.XlaEngine, Wrong)
    spec = paddle.static.InputSpec([2, 3, 4, 4], "float32", "x")
    paddle.jit.save(saved[1], str(tmp_path / "own.proa"), input_spec=[spec])
    text = automatic(str(tmp_path / "own.proa")).explain()
    assert "on the vectors recorded in the file: [2, 3, 4, 4]" in text
    assert "wrong        left out" in text


def test_a_model_that_takes_no_made_up_inputs_runs_with_ours(candidates: Any, tmp_path: Path) -> None:
    class Picky(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(10, 4)

        def forward(self, x: Any) -> Any:
            return self.table(x - 50)

    candidates(xla.XlaEngine, Slow)
    layer = Picky()
    paddle.jit.save(layer, str(tmp_path / "p"), input_spec=[paddle.static.InputSpec([None], "int64", "x")])
    predictor = automatic(str(tmp_path / "p"))
    assert "slow         left out: made-up inputs do not suit the model" in predictor.explain()
    np.testing.assert_array_equal(answers(predictor, np.array([50, 59])), layer.table.weight.numpy()[[0, 9]])


@pytest.mark.parametrize(
    ("found", "wanted", "distance"),
    [
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [1.0, 1.0], np.inf),
        ([np.inf], [np.inf], 0.0),
        ([np.inf], [1.0], np.inf),
        ([], [], 0.0),
        ([0.0], [0.0], 0.0),
    ],
)
def test_differences(found: list[float], wanted: list[float], distance: float) -> None:
    assert agreement.difference([np.array(found)], [np.array(wanted)]) == distance


def test_differences_of_other_kinds() -> None:
    one = np.array([1, 2])
    assert agreement.difference([one], [one.copy()]) == 0
    assert agreement.difference([one], [one + 1]) == np.inf
    assert agreement.difference([one], [one.astype(np.float32)]) == np.inf
    assert agreement.difference([one], [one[:1]]) == np.inf
    assert agreement.difference([one], []) == np.inf


# ---- how an engine is asked for ----------------------------------------------------------------------------------


def test_names_of_engines(saved: tuple[str, Net], monkeypatch: pytest.MonkeyPatch) -> None:
    config = inference.Config(saved[0])
    assert config.engine() == "xla"
    with pytest.raises(ValueError, match="there are auto, xla, onnxruntime, openvino; received 'tensorrt'"):
        config.set_engine("tensorrt")
    with pytest.raises(TypeError, match="examples are lists of NumPy arrays"):
        config.set_engine("auto", [np.ones(3)])
    config.enable_onnxruntime()
    assert config.onnxruntime_enabled()
    config.disable_onnxruntime()
    assert config.engine() == "xla"
    config.enable_openvino_engine(inference.PrecisionType.Bfloat16)
    assert config.openvino_engine_enabled()
    assert config._settings().precision == "bfloat16"
    with pytest.raises(ValueError, match="a PrecisionType is needed"):
        config.enable_openvino_engine(77)
    paddle.set_flags({"FLAGS_inference_engine": "OpenVINO"})
    try:
        assert inference.Config(saved[0]).engine() == "openvino"
    finally:
        paddle.set_flags({"FLAGS_inference_engine": "xla"})


def test_an_engine_whose_package_is_missing_is_named(saved: tuple[str, Net], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openvino", None)
    config = inference.Config(saved[0])
    config.set_engine("openvino")
    with pytest.raises(RuntimeError, match=r"openvino is not installed .*pip install openvino"):
        inference.create_predictor(config)


# ---- fewer bits --------------------------------------------------------------------------------------------------


@pytest.fixture
def even(tmp_path: Path) -> tuple[str, Net]:
    """With channels that are multiplied two by two."""
    net = Net(4)
    net.eval()
    spec = paddle.static.InputSpec([None, 4, None, None], "float32", "x")
    paddle.jit.save(net, str(tmp_path / "even"), input_spec=[spec])
    return str(tmp_path / "even"), net


def reduced(path: str) -> inference.Predictor:
    config = inference.Config(path)
    config.set_engine("auto", examples=[[picture(8, 8, channels=4)]])
    config.enable_mkldnn_bfloat16()
    return inference.create_predictor(config)


class Noisy(Quick):
    """Far from float32 in bfloat16, but not typically: one number of many is wrong altogether."""

    name = "noisy"

    def run(self, tensors: Any) -> Any:
        [found] = super().run(tensors)
        array = found.numpy().copy()
        if self.settings.precision == "bfloat16":
            array.flat[0] += 0.2 * np.abs(array).max()
        return [paddle.to_tensor(array)]


class Misread(Quick):
    """Has not understood the model, by less than bfloat16 rounds."""

    name = "misread"

    def run(self, tensors: Any) -> Any:
        return [1.01 * tensor for tensor in super().run(tensors)]


class Zeros(Quick):
    """Right in float32; rounds everything away."""

    name = "zeros"

    def run(self, tensors: Any) -> Any:
        return [tensor * float(self.settings.precision == "float32") for tensor in super().run(tensors)]


def test_with_fewer_bits_single_numbers_may_differ_but_not_the_model(even: tuple[str, Net], candidates: Any) -> None:
    class Sleepy(Slow):
        name = "xla"

    candidates(Sleepy, Noisy, Misread, Zeros)
    text = reduced(even[0]).explain()
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert "chosen; results in bfloat16 typically differ from float32 by" in lines["noisy"]
    assert "left out: its results differ from ours by 1.0e-02 of the largest number" in lines["misread"]
    assert "left out: its results in bfloat16 typically differ from float32 by 1.0e+00 of themselves" in lines["zeros"]
    assert "slower; results in bfloat16 typically differ from float32 by" in lines["xla"]


def test_with_fewer_bits_engines_are_compared_with_float32(even: tuple[str, Net]) -> None:
    """And may be some times as far from it as ours: on inputs without meaning rounding may be most of a result."""
    path, net = even
    model = inference.create_predictor(inference.Config(path))._engine.model
    vector = choosing.Vector([picture(12, 10, channels=4)], [])
    settings = base.Settings(precision="bfloat16")
    ours = engines.make_engine("xla", model, settings)
    reference = agreement.reference_of(model, settings, ours, [vector])
    [[found]] = reference.results
    np.testing.assert_allclose(found, net.by_numpy(picture(12, 10, channels=4)), rtol=1e-4, atol=1e-4)
    off = agreement.typical_difference(agreement.arrays_of(ours.run(agreement.tensors_of(vector))), [found])
    assert reference.ours == off > 1e-4  # it does compute in bfloat16
    assert reference.allowed == max(5e-2, 4 * off)


@pytest.mark.parametrize(
    ("found", "wanted", "distance"),
    [
        ([3.0, 0.0, 4.0, 5.0], [3.0, 5.0, 4.0, 0.0], 1.0),
        ([6.0, 8.0], [3.0, 4.0], 1.0),
        ([0.0, 0.0], [3.0, 4.0], 1.0),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [1.0, 1.0], np.inf),
        ([], [], 0.0),
        ([0.5], [0.0], 0.5),
    ],
)
def test_typical_differences(found: list[float], wanted: list[float], distance: float) -> None:
    assert agreement.typical_difference([np.array(found)], [np.array(wanted)]) == pytest.approx(distance)


def test_typical_differences_of_other_kinds() -> None:
    one = np.array([1, 2])
    assert agreement.typical_difference([one], [one + 1]) == np.inf
    assert agreement.typical_difference([one], []) == np.inf
    assert agreement.typical_difference([one * 1j], [one * 2j]) == pytest.approx(0.5)
