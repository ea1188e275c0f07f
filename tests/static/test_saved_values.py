"""Files of programs in which values decide shapes: Paddle's two formats and proa's own, read back and run."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import inference, nn, static
from proa.formats.proa.archive import DamagedArtifact
from proa.graph.structure import flatten
from proa.nn import functional as F
from proa.static import InputSpec

from .test_values_decide_shapes import ROW, TENSORS_AS_SIZES, X, x

FIXTURES = Path(__file__).parents[1] / "formats" / "paddle" / "fixtures"
ONLY_NEWER = ("sum", "split", "repeat_interleave")  # Paddle's older format has no operation for these
NOT_WRITTEN = ("interpolate",)


@pytest.fixture
def static_mode() -> Any:
    paddle.enable_static()
    yield
    paddle.disable_static()


def loop() -> Any:
    data, rounds = x(), x("n", (), "int64")
    start = [paddle.zeros([], "int64"), data]
    return static.nn.while_loop(lambda i, rows: i < rounds, lambda i, rows: [i + 1, paddle.concat([rows, data])], start)


BUILDS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "nonzero": (lambda: [paddle.nonzero(x()), *paddle.nonzero(x(), as_tuple=True)], {"x": X}),
    "masks": (lambda: [x()[x() > 0.5] * 2, x()[x().sum(axis=1) > 3], paddle.masked_select(x(), x() > 1).sum()], {"x": X}),
    "unique": (
        lambda: [*paddle.unique(x(), return_index=True, return_counts=True), paddle.unique_consecutive(x())], {"x": X},
    ),
    "condition": (
        lambda: static.nn.cond(x().sum() > 3, lambda: paddle.masked_select(x(), x() > 1), lambda: x().flatten()), {"x": ROW},
    ),
    "loop": (loop, {"x": X, "n": np.array(3)}),
    **{name: (build, feed) for name, (build, feed, _) in TENSORS_AS_SIZES.items()},
}  # fmt: skip


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize("legacy", [False, True], ids=["json", "pdmodel"])
@pytest.mark.parametrize("name", [name for name in BUILDS if name not in NOT_WRITTEN])
def test_a_program_there_and_back(name: str, legacy: bool, tmp_path: Path) -> None:
    build, feed = BUILDS[name]
    main, executor = static.Program(), static.Executor()
    with static.program_guard(main):
        built = build()
    fetches = list(built) if isinstance(built, (list, tuple)) else [built]
    expected = executor.run(main, feed=feed, fetch_list=fetches)
    path, feeds = str(tmp_path / "model"), [main.data[given] for given in feed]

    def save() -> None:
        static.save_inference_model(path, feeds, fetches, executor, program=main, legacy_format=legacy)

    if legacy and name in ONLY_NEWER:
        with pytest.raises(ValueError, match="json"):
            save()
        return
    save()
    program, names, results = static.load_inference_model(path, executor)
    assert names == list(feed)
    for _ in range(2):
        for found, wanted in zip(executor.run(program, feed=feed, fetch_list=results), expected, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted)


@pytest.mark.usefixtures("static_mode")
def test_what_paddle_has_no_operation_for_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    main = static.Program()
    with static.program_guard(main):
        data = x(shape=(1, 1, 2, 2))
        made = F.interpolate(data, size=x("s", (2,), "int32"))
    with pytest.raises(NotImplementedError, match="interpolate"):
        static.save_inference_model(
            str(tmp_path / "model"), [data, main.data["s"]], [made], static.Executor(), program=main
        )
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_paddle_wrote() -> None:
    recorded = np.load(FIXTURES / "decides_results.npz")
    feed = {"x": recorded["x"], "n": recorded["n"]}
    expected = [recorded[f"out{position}"] for position in range(9)]
    tensors = [paddle.to_tensor(array) for array in feed.values()]
    layer = paddle.jit.load(str(FIXTURES / "decides"))
    predictor = inference.create_predictor(inference.Config(str(FIXTURES / "decides.json")))
    paddle.enable_static()
    executor = static.Executor()
    program, _, fetches = static.load_inference_model(str(FIXTURES / "decides"), executor)
    by_executor = executor.run(program, feed=feed, fetch_list=fetches)
    paddle.disable_static()
    for found in (by_executor, layer(*tensors), predictor.run(tensors)):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), theirs)


# ---- layers ----------------------------------------------------------------------------------------------------------


class Choosing(nn.Layer):
    """Selects rows, and grows a sequence one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, data: Any, rounds: Any) -> Any:
        rows = self.linear(data[data.sum(axis=1) > 2])
        if data.sum() > 3:
            chosen = paddle.masked_select(data, data > 1)
        else:
            chosen = paddle.flatten(data)
        grown = data
        while grown.shape[0] < rounds:
            grown = paddle.concat([grown, grown[-1:] + 1])
        return {"rows": rows, "chosen": chosen, "unique": paddle.unique(data), "grown": grown}


SPECS = [InputSpec([None, 3], "float32", "data"), InputSpec([], "int64", "rounds")]
CALLS = [(X, 4), (ROW, 0), (np.concatenate([X, X]), 9)]


def parts(results: Any) -> list[np.ndarray]:
    found: list[Any] = []
    flatten(results, found)
    return [np.asarray(tensor.numpy()) for tensor in found]


def tensors_of(call: tuple[np.ndarray, int]) -> list[Any]:
    return [paddle.to_tensor(call[0]), paddle.to_tensor(call[1])]


@pytest.mark.parametrize(("ending", "options"), [(".proa", {}), ("", {}), ("", {"format": "pdmodel"})])
def test_a_layer_there_and_back(ending: str, options: dict[str, str], tmp_path: Path) -> None:
    paddle.seed(1)
    layer = Choosing()
    layer.eval()
    path = str(tmp_path / f"model{ending}")
    paddle.jit.save(layer, path, input_spec=SPECS, **options)
    loaded = paddle.jit.load(path)
    files = (path,) if ending else (f"{path}.{'pdmodel' if options else 'json'}", f"{path}.pdiparams")
    predictor = inference.create_predictor(inference.Config(*files))
    for call in CALLS:
        expected = parts(layer(*tensors_of(call)))
        for found in (parts(loaded(*tensors_of(call))), parts(predictor.run(tensors_of(call)))):
            for ours, wanted in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, wanted, rtol=1e-6)


def test_a_loaded_layer_serves_threads_and_has_gradients(tmp_path: Path) -> None:
    layer = Choosing()
    layer.eval()
    path = str(tmp_path / "model.proa")
    paddle.jit.save(layer, path, input_spec=SPECS)
    loaded = paddle.jit.load(path)
    expected = [parts(layer(*tensors_of(call))) for call in CALLS]
    with ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(lambda call: parts(loaded(*tensors_of(call))), CALLS * 8)):
            for ours, wanted in zip(found, expected[number % len(CALLS)], strict=True):
                np.testing.assert_allclose(ours, wanted, rtol=1e-6)
    gradients = []
    for model in (layer, loaded):
        data, rounds = tensors_of(CALLS[0])
        data.stop_gradient = False
        results = model(data, rounds)
        (results["rows"].sum() + (results["grown"] ** 2).sum()).backward()
        gradients.append(data.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-6)


@pytest.mark.parametrize("function", ["hub.load", "save", "__import__", "os.system", "no_such_function", 3])
def test_a_file_cannot_name_any_function(function: Any, tmp_path: Path) -> None:
    path, changed = tmp_path / "model.proa", tmp_path / "changed.proa"
    paddle.jit.save(lambda data: paddle.nonzero(data), str(path), input_spec=SPECS[:1])
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if b'"nonzero"' in content:
                content = content.replace(b'"nonzero"', json.dumps(function).encode())
            new.writestr(entry, content)
    with pytest.raises(DamagedArtifact):
        paddle.jit.load(str(changed))


def test_what_no_file_can_hold_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="value of a tensor"):
        paddle.jit.save(lambda data: data * data.sum().item(), str(tmp_path / "model"), input_spec=SPECS[:1])
    assert list(tmp_path.iterdir()) == []


def test_a_loaded_model_takes_other_sizes_than_it_states(tmp_path: Path) -> None:
    """As Paddle does, by an Executor and by `jit.load`; what the program cannot bear names the input."""
    layer = paddle.nn.Linear(6, 2)
    prefix = str(tmp_path / "model")
    paddle.jit.save(layer, prefix, input_spec=[static.InputSpec([4, 6], "float32")])
    data = np.random.default_rng(0).normal(size=(5, 6)).astype("float32")
    wanted = data @ layer.weight.numpy() + layer.bias.numpy()
    loaded = paddle.jit.load(prefix)
    np.testing.assert_allclose(loaded(paddle.to_tensor(data)).numpy(), wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"must have the shape \[4, 6\].*float32\[4, 5\]"):
        loaded(paddle.ones([4, 5]))
    paddle.enable_static()
    executor = static.Executor()
    program, feeds, fetches = static.load_inference_model(prefix, executor)
    (found,) = executor.run(program, feed={feeds[0]: data}, fetch_list=fetches)
    paddle.disable_static()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
