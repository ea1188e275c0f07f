"""`paddle.inference` on models that real Paddle saved."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import proa as paddle
from proa import inference

FIXTURES = Path(__file__).parents[1] / "formats" / "paddle" / "reading" / "fixtures"


def case(name: str, kind: str = "json", number: int = 0) -> tuple[np.ndarray, list[np.ndarray]]:
    with np.load(FIXTURES / kind / f"{name}.npz") as kept:
        outputs = [kept[key] for key in sorted(kept.files) if key.startswith(f"out_{number}_")]
        return kept[f"in_{number}"], outputs


def predictor_of(name: str, kind: str = "json") -> inference.Predictor:
    return inference.create_predictor(inference.Config(str(FIXTURES / kind / name)))


@pytest.fixture(scope="module")
def picture() -> inference.Predictor:
    return predictor_of("picture")


def test_handles(picture: inference.Predictor) -> None:
    given, wanted = case("picture")
    assert picture.get_input_names() == ["x"]
    names = picture.get_output_names()
    assert len(names) == 2
    handle = picture.get_input_handle("x")
    handle.reshape(list(given.shape))
    handle.copy_from_cpu(given)
    assert handle.shape() == [2, 3, 6, 7]
    assert handle.type() == inference.DataType.FLOAT32
    assert picture.run() is None
    for name, result in zip(names, wanted, strict=True):
        output = picture.get_output_handle(name)
        assert output.shape() == list(result.shape)
        assert output.lod() == []
        np.testing.assert_allclose(output.copy_to_cpu(), result, rtol=1e-5, atol=1e-5)


def test_a_list_of_tensors_and_another_size(picture: inference.Predictor) -> None:
    for number in (0, 1):
        given, wanted = case("picture", number=number)
        found = picture.run([paddle.to_tensor(given)])
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["json", "pdmodel"])
def test_every_way_to_name_a_model(kind: str, tmp_path: Path) -> None:
    given, wanted = case("picture", kind)
    program, params = (str(FIXTURES / kind / f"picture.{ending}") for ending in (kind, "pdiparams"))
    shutil.copy(program, tmp_path / f"inference.{kind}")
    shutil.copy(params, tmp_path / "inference.pdiparams")
    later = inference.Config()
    later.set_model(program, params)
    buffers = inference.Config()
    contents = [Path(path).read_bytes() for path in (program, params)]
    buffers.set_model_buffer(contents[0], len(contents[0]), contents[1], len(contents[1]))
    assert buffers.model_from_memory()
    for config in (inference.Config(program, params), inference.Config(str(tmp_path)), later, buffers):
        [first, _] = inference.create_predictor(config).run([paddle.to_tensor(given)])
        np.testing.assert_allclose(first.numpy(), wanted[0], rtol=1e-5, atol=1e-5)


def test_clones_run_in_threads_and_share_the_model(picture: inference.Predictor) -> None:
    given, wanted = case("picture")
    clones = [picture.clone() for _ in range(4)]
    found: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        clone = clones[number]
        for _ in range(5):
            clone.get_input_handle("x").copy_from_cpu(given * (number + 1))
            clone.run()
        found[number] = clone.get_output_handle(clone.get_output_names()[0]).copy_to_cpu()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-5)
    for number in range(1, 4):
        [alone, _] = picture.run([paddle.to_tensor(given * (number + 1))])
        np.testing.assert_allclose(found[number], alone.numpy(), rtol=1e-6)
    assert len({id(clone._loaded) for clone in clones}) == 1


def test_one_graph_for_each_shape(picture: inference.Predictor) -> None:
    clone = picture.clone()
    given, _ = case("picture")
    for _ in range(3):
        clone.run([paddle.to_tensor(given)])
    before = len(clone._engine._kept)
    clone.run([paddle.to_tensor(given[:1])])
    assert len(clone._engine._kept) == before + 1
    clone.run([paddle.to_tensor(given[:1])])
    assert len(clone._engine._kept) == before + 1


def test_a_pool_loads_once() -> None:
    pool = inference.PredictorPool(inference.Config(str(FIXTURES / "json" / "loop")), 2)
    assert pool.retrieve(0)._loaded is pool.retrieve(1)._loaded
    with pytest.raises(IndexError, match="2 predictors; received index: 2"):
        pool.retrieve(2)
    with pytest.raises(ValueError, match="at least one"):
        inference.PredictorPool(inference.Config(str(FIXTURES / "json" / "loop")), 0)


def test_hooks_see_every_operation() -> None:
    predictor = predictor_of("loop")
    seen: list[tuple[str, str]] = []
    fed: list[str] = []
    predictor.register_output_hook(lambda kind, name, tensor: seen.append((kind, name)))
    predictor.register_input_hook(lambda kind, name, tensor: fed.append(name))
    given, wanted = case("loop")
    [found] = predictor.run([paddle.to_tensor(given)])
    np.testing.assert_allclose(found.numpy(), wanted[0], rtol=1e-5, atol=1e-5)
    assert [kind for kind, _ in seen].count("matmul") == 3
    assert "x" in fed


def test_errors(picture: inference.Predictor) -> None:
    fresh = picture.clone()
    with pytest.raises(RuntimeError, match="an input has no data yet; received x"):
        fresh.run()
    with pytest.raises(RuntimeError, match="no input of this name; it has x"):
        fresh.get_input_handle("y")
    with pytest.raises(RuntimeError, match="no output of this name"):
        fresh.get_output_handle("y")
    with pytest.raises(TypeError, match="a NumPy array is needed"):
        fresh.get_input_handle("x").copy_from_cpu([1.0])
    with pytest.raises(RuntimeError, match="holds no data yet"):
        fresh.get_output_handle(fresh.get_output_names()[0]).copy_to_cpu()
    with pytest.raises(ValueError, match="1 inputs are needed"):
        fresh.run([])
    with pytest.raises(TypeError, match="a list of Tensors"):
        fresh.run([np.ones(3)])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="must have the shape"):
        fresh.run([paddle.ones([1, 2, 5, 5])])
    with pytest.raises(FileNotFoundError, match=r"nowhere"):
        inference.create_predictor(inference.Config("nowhere"))
    with pytest.raises(ValueError, match="names no model"):
        inference.create_predictor(inference.Config())


def test_an_array_that_is_shared_is_not_copied(picture: inference.Predictor) -> None:
    clone = picture.clone()
    given, wanted = case("picture")
    mine = given.copy()
    handle = clone.get_input_handle("x")
    handle.share_external_data(mine)
    mine *= 0
    clone.run()
    first = clone.get_output_handle(clone.get_output_names()[0]).copy_to_cpu()
    assert not np.allclose(first, wanted[0], rtol=1e-5, atol=1e-5)
    handle.copy_from_cpu(given)
    given *= 0
    clone.run()
    first = clone.get_output_handle(clone.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(first, wanted[0], rtol=1e-5, atol=1e-5)
    handle.share_external_data(np.asfortranarray(case("picture")[0]))  # which no engine takes as it is
    clone.run()
    np.testing.assert_allclose(first, wanted[0], rtol=1e-5, atol=1e-5)


OFFLINE = """
import socket, sys
def refuse(*arguments, **options): raise AssertionError("the network was asked for something")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import numpy as np, proa as paddle
config = paddle.inference.Config(sys.argv[1])
config.set_engine("auto")
predictor = paddle.inference.create_predictor(config)
print(float(predictor.run([paddle.to_tensor(np.ones((2, 3, 6, 7), "float32"))])[0].sum()))
"""


def test_nothing_needs_the_network(picture: inference.Predictor) -> None:
    command = [sys.executable, "-c", OFFLINE, str(FIXTURES / "json" / "picture")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert answer.returncode == 0, answer.stderr
    wanted = float(picture.run([paddle.ones([2, 3, 6, 7])])[0].sum())
    assert abs(float(answer.stdout.split()[-1]) - wanted) <= 1e-4 * abs(wanted)


def test_sharing_data(picture: inference.Predictor) -> None:
    clone = picture.clone()
    given, wanted = case("picture")
    clone.get_input_handle("x").share_external_data(paddle.to_tensor(given))
    clone.run()
    first = clone.get_output_handle(clone.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(first, wanted[0], rtol=1e-5, atol=1e-5)
    with pytest.raises(RuntimeError, match="by its address"):
        clone.get_input_handle("x").share_external_data_by_ptr_name(0, [1])
    assert clone.try_shrink_memory() >= 0
    clone.clear_intermediate_tensor()
