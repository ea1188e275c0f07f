"""Models that come, change, are damaged and go while the server runs."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from proa.serving.refusals import Kind, Refused
from proa.serving.repository import Repository
from proa.serving.service import Question, Service
from proa.serving.settings import ModelSettings, ServerSettings, changed, read_model_settings
from proa.serving.signature import Signature
from tests.serving.models import Reference, numbers, save_dense


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def _opened(*sources: Path, **settings: object) -> Repository:
    found = Repository([str(source) for source in sources], ModelSettings(max_batch_size=2, **settings))  # type: ignore[arg-type]
    found.refresh(at_once=True)
    return found


def _answers(repository: Repository, reference: Reference, name: str = "dense", version: str = "") -> bool:
    x = numbers(2)
    found = asyncio.run(repository.find(name, version).infer([x]))[0]
    return np.allclose(found, reference(x), rtol=1e-5, atol=1e-6)


def _states(repository: Repository) -> dict[str, str]:
    return {f"{entry['name']}/{entry['version']}": entry["state"] for entry in repository.index()}


def test_new_changed_and_removed_versions(folder: Path) -> None:
    first = save_dense(folder / "dense" / "9" / "model.proa", seed=1)
    repository = _opened(folder)
    try:
        assert _answers(repository, first)
        second = save_dense(folder / "dense" / "10" / "model", seed=2)  # the newest by number, not by text
        repository.refresh()
        assert _states(repository) == {"dense/9": "READY"}  # it may be in the middle of being copied
        repository.refresh()
        assert _states(repository) == {"dense/9": "READY", "dense/10": "READY"}
        assert _answers(repository, second)
        assert _answers(repository, first, version="9")

        third = save_dense(folder / "dense" / "10" / "model", seed=3)
        repository.refresh()
        repository.refresh()
        assert _answers(repository, third)

        shutil.rmtree(folder / "dense" / "10")
        repository.refresh()
        assert _answers(repository, first)
        with pytest.raises(Refused) as caught:
            repository.find("dense", "10")
        assert caught.value.kind is Kind.NOT_FOUND
        shutil.rmtree(folder / "dense")
        repository.refresh()
        assert repository.index() == []
    finally:
        repository.close()


def test_a_damaged_change_leaves_the_old_one(folder: Path) -> None:
    path = folder / "dense" / "1" / "model.proa"
    first = save_dense(path, seed=1)
    repository = _opened(folder)
    try:
        path.write_bytes(path.read_bytes()[:-100])
        repository.refresh()
        repository.refresh()
        assert _answers(repository, first)
        assert "goes on" in repository.index()[0]["reason"]
        second = save_dense(path, seed=2)
        repository.refresh()
        repository.refresh()
        assert _answers(repository, second)
        assert repository.index()[0]["reason"] == ""
    finally:
        repository.close()


def test_what_was_replaced_is_let_go(folder: Path) -> None:
    path = folder / "dense" / "1" / "model.proa"
    save_dense(path, seed=1)
    repository = _opened(folder)
    try:
        old = [weakref.ref(repository.find("dense"))]
        for seed in (2, 3):
            reference = save_dense(path, seed=seed)
            repository.load("dense")
            assert _answers(repository, reference)
            old.append(weakref.ref(repository.find("dense")))
        threads = sum(thread.name == "proa serves dense/1" for thread in threading.enumerate())
        gc.collect()
        assert [each() is None for each in old] == [True, True, False]
        assert threads == 1
    finally:
        repository.close()


def test_requests_see_no_gap_while_a_model_is_replaced(folder: Path) -> None:
    path = folder / "dense" / "1" / "model.proa"
    references = [save_dense(path, seed=1)]
    repository = _opened(folder)
    service = Service(repository, ServerSettings())
    x = numbers(1)
    wrong: list[object] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                answer = asyncio.run(service.infer("http", "dense", "", lambda _: Question({"x": x}, binary=True)))
                found = answer.outputs[0][1]
                if not any(np.allclose(found, reference(x), rtol=1e-5, atol=1e-6) for reference in references):
                    wrong.append(found)
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for seed in (2, 3, 4):
            reference = save_dense(folder / "next.proa", seed=seed)
            references.append(reference)
            os.replace(folder / "next.proa", path)
            repository.load("dense")
            assert _answers(repository, reference)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        repository.close()
    assert not wrong, wrong[0]


def test_a_request_that_meets_a_replacement_gets_the_new_model(folder: Path) -> None:
    path = folder / "dense" / "1" / "model.proa"
    references = [save_dense(path, seed=1)]
    repository = _opened(folder)
    service = Service(repository, ServerSettings())
    x = numbers(2)

    def understand(_signature: Signature) -> Question:
        if len(references) == 1:  # between the search for the model and its call
            references.append(save_dense(path, seed=2))
            repository.load("dense")
        return Question({"x": x}, binary=True)

    try:
        answer = asyncio.run(service.infer("http", "dense", "", understand))
    finally:
        repository.close()
    np.testing.assert_allclose(answer.outputs[0][1], references[1](x), rtol=1e-5, atol=1e-6)


def test_unloaded_models_stay_away_until_they_are_asked_for(folder: Path) -> None:
    reference = save_dense(folder / "dense" / "1" / "model.proa")
    repository = _opened(folder)
    try:
        repository.unload("dense")
        with pytest.raises(Refused, match="unloaded") as caught:
            repository.find("dense")
        assert caught.value.kind is Kind.BUSY
        for _ in range(3):
            repository.refresh()
        assert _states(repository) == {"dense/1": "UNAVAILABLE"}
        assert repository.problems == []
        repository.load("dense")
        assert _answers(repository, reference)
        repository.load("dense")  # a second time changes nothing
        assert _answers(repository, reference)
        with pytest.raises(Refused) as caught:
            repository.load("absent")
        assert caught.value.kind is Kind.NOT_FOUND
    finally:
        repository.close()


def _empty(path: Path) -> None:
    path.mkdir(parents=True)


def _rubbish(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "model.proa").write_bytes(b"PK rubbish")


def _without_parameters(path: Path) -> None:
    save_dense(path / "model")
    (path / "model.pdiparams").unlink()
    (path / "model.json").rename(path / "model.pdmodel")


def _two_models(path: Path) -> None:
    save_dense(path / "one.proa")
    save_dense(path / "two.proa")


def _another_answer(path: Path) -> None:
    """The weights were exchanged; the recorded results were not."""
    from proa.formats.proa.archive import TESTS, WEIGHTS, Archive, write_archive

    save_dense(path / "model.proa", seed=1)
    archive = Archive(str(path / "model.proa"))
    documents = {name: archive.document(name) for name in ("program.json", "signature.json", "meta.json")}
    weights = {name: array + 1 for name, array in archive.tensors(WEIGHTS).items()}
    tests = archive.tensors(TESTS)
    archive.close()
    write_archive(str(path / "model.proa"), documents, {WEIGHTS: weights, TESTS: tests})


def _bad_settings(path: Path) -> None:
    save_dense(path / "model.proa")
    (path.parent / "config.toml").write_text("max_batch_sise = 3\n")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (_empty, "holds no model"),
        (_rubbish, "model.proa"),
        (_without_parameters, "pdiparams"),
        (_two_models, "several models"),
        (_another_answer, "recorded when it was saved"),
        (_bad_settings, "max_batch_sise"),
    ],
)
def test_what_cannot_be_served_is_told_and_the_others_are_served(folder: Path, make: object, text: str) -> None:
    reference = save_dense(folder / "dense" / "1" / "model.proa")
    make(folder / "bad" / "1")  # type: ignore[operator]
    repository = _opened(folder)
    try:
        assert _answers(repository, reference)
        assert len(repository.problems) == 1
        assert text in repository.problems[0]
        with pytest.raises(Refused) as caught:
            repository.find("bad")
        assert caught.value.kind is Kind.BUSY
        assert text in str(caught.value)
        shutil.rmtree(folder / "bad")
        save_dense(folder / "bad" / "1" / "model.proa")
        repository.refresh()
        repository.refresh()
        assert repository.problems == []
    finally:
        repository.close()


@pytest.mark.parametrize("kind", ["file.proa", "prefix", "folder", "versions"])
def test_a_single_model(folder: Path, kind: str) -> None:
    place = {"file.proa": "dense.proa", "prefix": "dense", "folder": "dense/m.proa", "versions": "dense/4/m"}[kind]
    reference = save_dense(folder / place)
    repository = _opened(folder / ("dense.proa" if kind == "file.proa" else "dense"))
    try:
        assert _answers(repository, reference)
        assert list(_states(repository)) == ["dense/4" if kind == "versions" else "dense/1"]
    finally:
        repository.close()


def test_two_models_of_one_name(folder: Path) -> None:
    save_dense(folder / "a" / "dense.proa")
    save_dense(folder / "b" / "dense.proa")
    with pytest.raises(ValueError, match="two models are called dense/1"):
        _opened(folder / "a" / "dense.proa", folder / "b" / "dense.proa")


def test_versions_that_are_wanted(folder: Path) -> None:
    for number in (1, 2, 3):
        save_dense(folder / "dense" / str(number) / "m.proa", seed=number)
    for wanted, expected in (('"latest"', ["dense/3"]), ("[1, 2]", ["dense/1", "dense/2"]), ("[9]", ["dense/9"])):
        (folder / "dense" / "config.toml").write_text(f"versions = {wanted}\n")
        repository = _opened(folder)
        try:
            assert list(_states(repository)) == expected
            assert bool(repository.problems) == (expected == ["dense/9"])
        finally:
            repository.close()


def _save_onnx(path: Path, seed: int) -> Reference:
    """The weights lie in a file beside it."""
    onnx = pytest.importorskip("onnx", reason="ONNX files are served with the extra onnx")
    helper, generator = onnx.helper, np.random.default_rng(seed)
    weight, bias = generator.normal(size=(4, 3)).astype(np.float32), generator.normal(size=3).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["sum"]), helper.make_node("Tanh", ["sum"], ["angle"])],
        "dense",
        [helper.make_tensor_value_info("x", 1, ["n", 4])],
        [helper.make_tensor_value_info("angle", 1, ["n", 3]), helper.make_tensor_value_info("sum", 1, ["n", 3])],
        [onnx.numpy_helper.from_array(weight, "w"), onnx.numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "numbers").unlink(missing_ok=True)
    onnx.save_model(model, str(path), save_as_external_data=True, location="numbers", size_threshold=0)
    return lambda x: np.tanh(x.astype(np.float64) @ weight.astype(np.float64) + bias)


def test_onnx_files(folder: Path) -> None:
    first = _save_onnx(folder / "dense" / "1" / "model.onnx", seed=1)
    (folder / "other" / "1").mkdir(parents=True)
    (folder / "other" / "1" / "model.onnx").write_bytes(b"no model at all")
    repository = _opened(folder)
    try:
        assert _states(repository) == {"dense/1": "READY", "other/1": "UNAVAILABLE"}
        assert _answers(repository, first)
        signature = repository.find("dense", "").signature
        assert [port.name for port in signature.inputs] == ["x"]
        assert [(port.name, port.shape) for port in signature.outputs] == [("angle", (-1, 3)), ("sum", (-1, 3))]
        program = folder / "dense" / "1" / "model.onnx"
        content, date = program.read_bytes(), program.stat().st_mtime_ns
        second = _save_onnx(program, seed=2)
        assert program.read_bytes() == content  # other weights, in the file beside it
        os.utime(program, ns=(date, date))
        repository.refresh()
        repository.refresh()
        assert _answers(repository, second)
        assert not _answers(repository, first)
    finally:
        repository.close()


def test_one_onnx_file(folder: Path) -> None:
    reference = _save_onnx(folder / "dense.onnx", seed=3)
    (folder / "rubbish").write_text("it does not matter")
    repository = _opened(folder / "dense.onnx")
    try:
        assert _answers(repository, reference)
        assert _states(repository) == {"dense/1": "READY"}
    finally:
        repository.close()


def test_shapes_to_warm_up_with(folder: Path) -> None:
    reference = save_dense(folder / "dense" / "1" / "m")
    for shapes, text in (("x = [3, 4]", ""), ("x = [3, 5]", "the model takes [-1, 4]"), ("y = [3, 4]", "no input 'y'")):
        (folder / "dense" / "config.toml").write_text(f"[warmup]\n{shapes}\n")
        repository = _opened(folder)
        try:
            assert [text in problem for problem in repository.problems] == ([True] if text else [])
            assert text or _answers(repository, reference)
        finally:
            repository.close()


def test_settings_of_a_model(folder: Path) -> None:
    (folder / "config.toml").write_text("max_batch_size = 16\nbatch_delay_ms = 2.5\n[warmup]\nx = [1, 4]\n")
    found = read_model_settings(folder, ModelSettings(instances=3))
    assert (found.max_batch_size, found.batch_delay_ms, found.instances) == (16, 2.5, 3)
    assert found.warmup == {"x": [1, 4]}
    for entry in (
        {"max_batch_size": 0}, {"max_batch_size": True}, {"max_batch_size": 2.5}, {"timeout_ms": -1}, {"versions": []},
        {"versions": "newest"}, {"warmup": {"x": [0]}}, {"warmup": 3}, {"device": 3}, {"max_queue": "many"},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(entry))):
            changed(ModelSettings(), entry, "here")
    (folder / "config.toml").write_bytes(b"\xff = [")
    with pytest.raises(ValueError, match="no TOML"):
        read_model_settings(folder, ModelSettings())
