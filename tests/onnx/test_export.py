"""`paddle.onnx.export` and `proa export onnx`: files that appear whole, checked and compared, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import threading
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import proa as paddle
import proa_command
from proa.onnx import exporting, model_of, verifying
from proa.onnx.registry import TRANSLATORS
from proa.static import InputSpec

SPEC = [InputSpec([None, 4], "float32", "x")]


def layer() -> Any:
    paddle.seed(5)
    return paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.ReLU(), paddle.nn.Linear(6, 3))


def certificate(path: pathlib.Path) -> dict[str, Any]:
    return json.loads(pathlib.Path(f"{path}.certificate.json").read_text())


def test_a_file_with_its_certificate(tmp_path: pathlib.Path) -> None:
    model = layer()
    model.train()
    paddle.onnx.export(model, str(tmp_path / "model"), SPEC)
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "model.onnx.certificate.json"]
    assert model.training
    path = tmp_path / "model.onnx"
    proof = certificate(path)
    assert proof["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert proof["operators"] == {"Gemm": 2, "Relu": 1}
    assert proof["opset"] == 17
    assert proof["verified"]
    assert 0 <= proof["largest_error"] <= 1e-4
    # Two sizes of the free dimension were tried, and both sides' numbers are there.
    assert [check["inputs"]["x"]["shape"] for check in proof["checks"]] == [[2, 4], [3, 4]]
    first = proof["checks"][0]["results"][0]
    np.testing.assert_allclose(first["proa"]["first"], first["onnxruntime"]["first"], atol=1e-5)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(3).standard_normal((7, 4)).astype("float32")
    model.eval()
    np.testing.assert_allclose(session.run(None, {"x": x})[0], model(paddle.to_tensor(x)).numpy(), atol=1e-5)


def test_the_suffix_is_not_doubled_and_results_are_chosen(tmp_path: pathlib.Path) -> None:
    def both(x: Any) -> Any:
        return {"sum": x + 1, "product": x * 2}

    paddle.onnx.export(both, str(tmp_path / "both.onnx"), SPEC, output_spec=[1])
    assert sorted(os.listdir(tmp_path)) == ["both.onnx", "both.onnx.certificate.json"]
    assert certificate(tmp_path / "both.onnx")["operators"] == {"Mul": 1}


@pytest.mark.parametrize(("asked", "written"), [(9, 17), (17, 17), (20, 20)])
def test_opsets(tmp_path: pathlib.Path, asked: int, written: int) -> None:
    paddle.onnx.export(paddle.nn.GELU(), str(tmp_path / "model"), SPEC, opset_version=asked)
    proof = certificate(tmp_path / "model.onnx")
    assert proof["opset"] == written
    assert ("Gelu" in proof["operators"]) == (written >= 20)


def test_an_opset_in_between_is_said_to_be_raised(tmp_path: pathlib.Path) -> None:
    with pytest.warns(UserWarning, match="opset 13 was asked for; 17"):
        paddle.onnx.export(paddle.nn.ReLU(), str(tmp_path / "model"), SPEC, opset_version=13)


def test_an_operation_that_needs_a_newer_opset_gets_it() -> None:
    proto = model_of(paddle.bitwise_and, [InputSpec([3], "int32"), InputSpec([3], "int32")])
    assert proto.opset_import[0].version == 18


class Inverse(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        y = x + 1
        return paddle.linalg.inv(y)


def test_what_cannot_be_written_is_named_with_its_line_and_leaves_nothing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NotImplementedError, match=r"operation inverse cannot be written.*\n  at .*test_export.py:\d+"):
        paddle.onnx.export(Inverse(), str(tmp_path / "model"), [InputSpec([3, 3], "float32")])
    assert os.listdir(tmp_path) == []


def test_a_wrong_translation_is_noticed_and_the_old_file_stays(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.onnx"
    paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC)
    before = path.read_bytes(), (tmp_path / "model.onnx.certificate.json").read_bytes()
    monkeypatch.setitem(TRANSLATORS, "relu", lambda b, c: b.same("Abs", c.operands[0]))
    with pytest.raises(verifying.MismatchError, match=r"output_0 differs by .* for inputs x: "):
        paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC)
    assert (path.read_bytes(), (tmp_path / "model.onnx.certificate.json").read_bytes()) == before
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "model.onnx.certificate.json"]
    paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC, verify=False)
    assert not certificate(path)["verified"]


def test_a_model_that_no_runtime_loads_is_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSLATORS, "relu", lambda b, c: b.same("NoSuchOperator", c.operands[0]))
    with pytest.raises(verifying.MismatchError, match="no valid model"):
        paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC)
    assert os.listdir(tmp_path) == []


def test_a_failing_disk_leaves_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any, **_options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(onnx, "save_model", full)
    with pytest.raises(OSError, match="No space left"):
        paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC)
    assert os.listdir(tmp_path) == []


def test_weights_in_a_file_of_their_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As models above 2 GB have them: here the limit is lower."""
    monkeypatch.setattr(exporting, "_LARGEST", 10_000)
    model = paddle.nn.Linear(100, 60)
    for _ in range(2):  # the second replaces the first, with its weights
        paddle.onnx.export(model, str(tmp_path / "model"), [InputSpec([None, 100], "float32", "x")])
        names = sorted(os.listdir(tmp_path))
        assert len(names) == 3
        (part,) = certificate(tmp_path / "model.onnx")["external_data"]
        assert part["file"] in names
        assert part["bytes"] >= 24_000
        assert part["sha256"] == hashlib.sha256((tmp_path / part["file"]).read_bytes()).hexdigest()
    assert (tmp_path / "model.onnx").stat().st_size < 10_000
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    x = np.ones((2, 100), "float32")
    np.testing.assert_allclose(session.run(None, {"x": x})[0], model(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (["model"], {"nonsense": 1}, ValueError, "there is no option nonsense"),
        (["folder/"], {}, ValueError, "path must name a file"),
        ([""], {}, ValueError, "path must name a file"),
        ([3], {}, ValueError, "path must name a file"),
        (["model"], {"opset_version": 99}, ValueError, "opset_version is a number up to"),
        (["model"], {"opset_version": "17"}, ValueError, "opset_version is a number up to"),
        (["model"], {"output_spec": [3]}, ValueError, "there are 1 results"),
    ],
)
def test_wrong_arguments(
    tmp_path: pathlib.Path, arguments: list[Any], options: dict[str, Any], error: type[Exception], text: str
) -> None:
    path = os.path.join(tmp_path, arguments[0]) if arguments[0] not in ("", 3) else arguments[0]
    with pytest.raises(error, match=text):
        paddle.onnx.export(layer(), path, SPEC, **options)
    assert os.listdir(tmp_path) == []


def test_what_is_no_model() -> None:
    with pytest.raises(TypeError, match="a Layer, a function, a Graph or a loaded model is needed"):
        model_of(3)
    with pytest.raises(ValueError, match=r"the inputs of .* are not known"):
        model_of(layer())


def test_without_the_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install proa\[onnx\]"):
        paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install proa\[onnx\]"):
        paddle.onnx.export(layer(), str(tmp_path / "model"), SPEC)
    assert os.listdir(tmp_path) == []


def test_ways_that_give_other_sizes_are_in_the_file() -> None:
    def asks(x: Any) -> Any:
        y = x[1:] if x.shape[0] > 5 else x
        return y * y.shape[0]

    session = onnxruntime.InferenceSession(model_of(asks, SPEC).SerializeToString())
    for rows in (1, 5, 6, 9):
        x = np.arange(rows * 4, dtype="float32").reshape(rows, 4)
        (found,) = session.run(None, {session.get_inputs()[0].name: x})
        np.testing.assert_array_equal(found, asks(paddle.to_tensor(x)).numpy())


def test_threads_export_at_once(tmp_path: pathlib.Path) -> None:
    """To one place and to places of their own; every file is whole."""
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            paddle.onnx.export(paddle.nn.Linear(4, 2 + number), str(tmp_path / f"own{number}"), SPEC)
            paddle.onnx.export(paddle.nn.Linear(4, 2), str(tmp_path / "common"), SPEC)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(os.listdir(tmp_path)) == 10
    for name in ("common", *(f"own{number}" for number in range(4))):
        onnx.checker.check_model(str(tmp_path / f"{name}.onnx"), full_check=True)


# ---- the command ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["proa", "json", "pdmodel"])
def test_the_command_reads_every_kind_of_file(tmp_path: pathlib.Path, capsys: Any, kind: str) -> None:
    model = layer()
    paddle.jit.save(model, str(tmp_path / "saved"), input_spec=SPEC, format=kind)
    name = str(tmp_path / "saved") + (".proa" if kind == "proa" else "")
    assert proa_command.main(["export", "onnx", name]) == 0
    assert "run by ONNX Runtime" in capsys.readouterr().out
    proof = certificate(tmp_path / "saved.onnx")
    assert proof["largest_error"] <= 1e-5
    assert len(proof["checks"]) == 2
    x = np.random.default_rng(4).standard_normal((5, 4)).astype("float32")
    session = onnxruntime.InferenceSession(str(tmp_path / "saved.onnx"), providers=["CPUExecutionProvider"])
    model.eval()
    np.testing.assert_allclose(session.run(None, {"x": x})[0], model(paddle.to_tensor(x)).numpy(), atol=1e-5)


def test_the_command_fixes_shapes(tmp_path: pathlib.Path, capsys: Any) -> None:
    for kind, name in (("proa", "one.proa"), ("json", "two")):
        paddle.jit.save(layer(), str(tmp_path / name), input_spec=SPEC, format=kind)
        output = str(tmp_path / f"{kind}.onnx")
        assert proa_command.main(["export", "onnx", str(tmp_path / name), "-o", output, "--shape", "x=3,4"]) == 0
        assert certificate(pathlib.Path(output))["inputs"][0]["shape"] == [3, 4]
        assert proa_command.main(["export", "onnx", str(tmp_path / name), "-o", output, "--shape", "y=3,4"]) == 1
        assert "there is no input 'y'" in capsys.readouterr().err
        assert proa_command.main(["export", "onnx", str(tmp_path / name), "-o", output, "--shape", "x=3,5"]) == 1
        assert "x has the shape [-1, 4]" in capsys.readouterr().err


def test_the_command_says_what_is_wrong_and_writes_nothing(tmp_path: pathlib.Path, capsys: Any) -> None:
    assert proa_command.main(["export", "onnx", str(tmp_path / "nothing")]) == 1
    (tmp_path / "bad.proa").write_bytes(b"no archive")
    assert proa_command.main(["export", "onnx", str(tmp_path / "bad.proa")]) == 1
    paddle.jit.save(Inverse(), str(tmp_path / "inverse"), input_spec=[InputSpec([3, 3], "float32")])
    capsys.readouterr()
    assert proa_command.main(["export", "onnx", str(tmp_path / "inverse")]) == 1
    assert "the operation inverse cannot be written" in capsys.readouterr().err
    assert not [name for name in os.listdir(tmp_path) if ".onnx" in name]
