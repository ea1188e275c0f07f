"""`proa export edge`: the folder is checked by its own runners, in Python and in C++ against a real ONNX Runtime."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import proa as paddle
from proa import nn
from proa.export.edge import package
from proa.export.edge.package import export_package
from proa_command import main

RUNTIME = Path(onnxruntime.__file__).parent / "capi"


class Net(nn.Layer):
    """Two inputs of different types, two results."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.layer = nn.Linear(8, 4)

    def forward(self, words, scale):
        hidden = self.layer(self.table(words)) * scale
        return hidden, paddle.argmax(hidden, axis=-1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("edge") / "m.proa")
    spec = [paddle.static.InputSpec([None, 5], "int64", "words"), paddle.static.InputSpec([1], "float32", "scale")]
    paddle.jit.save(Net(), path, input_spec=spec)
    return path


@pytest.mark.parametrize("target", package.TARGETS)
def test_the_folder_is_whole_and_its_python_runner_agrees(model: str, target: str, tmp_path: Path) -> None:
    folder = tmp_path / "edge"
    report = export_package(model, folder, target, [[3, 5], [1]])
    assert report["error"] < 1e-5
    name = "model.onnx" if target == "x86-64" else "model.ort"
    assert {name, "check.txt", "run.py", "run.cpp", "README.md"} <= {file.name for file in folder.iterdir()}
    lines = (folder / "check.txt").read_text().splitlines()
    assert [line.split(" ")[:3] for line in lines[:2]] == [["input", "words", "int64"], ["input", "scale", "float32"]]
    assert [line.split(" ")[2:] for line in lines[2:]] == [
        ["float32", "output_0.bin", "3", "5", "4"], ["int64", "output_1.bin", "3", "5"],
    ]  # fmt: skip
    text = (folder / "README.md").read_text()
    assert target in text
    assert not any(f"<{key}>" in text for key in report)
    result = subprocess.run(
        [sys.executable, "run.py"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "largest relative difference" in result.stdout


def test_the_results_are_those_of_the_model(model: str, tmp_path: Path) -> None:
    export_package(model, tmp_path / "edge", "arm64-linux", [[2, 5], [1]])
    read = {kind: np.fromfile(tmp_path / "edge" / f"{kind}.bin", dtype) for kind, dtype in
            (("input_0", "<i8"), ("input_1", "<f4"), ("output_0", "<f4"), ("output_1", "<i8"))}  # fmt: skip
    layer = paddle.jit.load(model)
    hidden, best = layer(paddle.to_tensor(read["input_0"].reshape(2, 5)), paddle.to_tensor(read["input_1"]))
    assert np.allclose(hidden.numpy().ravel(), read["output_0"], rtol=1e-5)
    assert np.array_equal(best.numpy().ravel(), read["output_1"])


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.skipif(not glob.glob(str(RUNTIME / "libonnxruntime.so.*")), reason="onnxruntime brings no C library here")
def test_the_runner_in_cpp_builds_runs_and_notices_what_is_wrong(model: str, tmp_path: Path) -> None:
    folder = tmp_path / "edge"
    export_package(model, folder, "arm64-linux", [[3, 5], [1]])
    [library] = glob.glob(str(RUNTIME / "libonnxruntime.so.*"))
    os.symlink(library, tmp_path / "libonnxruntime.so.1")
    header = Path(__file__).parent / "stand_in"
    program = tmp_path / "run"
    building = [
        "g++",
        "-std=c++17",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        str(folder / "run.cpp"),
        f"-I{header}",
        library,
    ]
    subprocess.run([*building, "-o", str(program)], check=True, timeout=100)

    def run() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
        return subprocess.run(
            [program, str(folder)], env=environment, capture_output=True, text=True, timeout=60, check=False
        )  # fmt: skip

    good = run()
    assert (good.returncode, good.stderr) == (0, "")
    assert "largest relative difference" in good.stdout
    right = (folder / "output_0.bin").read_bytes()
    numbers = np.frombuffer(right, "<f4").copy()
    numbers[3] += 1
    (folder / "output_0.bin").write_bytes(numbers.tobytes())
    assert run().returncode == 1
    (folder / "output_0.bin").write_bytes(right[:-4])
    assert "does not hold what check.txt says" in run().stderr
    (folder / "output_0.bin").write_bytes(right)
    (folder / "model.ort").write_bytes(b"no model")
    broken = run()
    assert broken.returncode == 2
    assert broken.stderr


def test_wrong_requests_leave_nothing(model: str, tmp_path: Path, monkeypatch, capsys) -> None:
    folder = tmp_path / "edge"
    with pytest.raises(ValueError, match="the targets are"):
        export_package(model, folder, "toaster")
    with pytest.raises(ValueError, match="2 inputs; received 1 shapes"):
        export_package(model, folder, "x86-64", [[3, 5]])
    with pytest.raises(ValueError, match=r"words has the shape \[None, 5\]; received \[3, 4\]"):
        export_package(model, folder, "x86-64", [[3, 4], [1]])
    with pytest.raises(ValueError, match=r"scale has the shape \[1\]; received \[0\]"):
        export_package(model, folder, "x86-64", [[3, 5], [0]])
    monkeypatch.setattr(package, "run_ort", lambda path, feeds: [np.zeros(1, "float32"), np.zeros(1, "int64")])
    with pytest.raises(RuntimeError, match="gives other numbers"):
        export_package(model, folder, "arm64-linux", [[3, 5], [1]])
    monkeypatch.undo()
    assert main(["export", "edge", model, "-o", str(folder), "--shape", "3,x"]) == 1
    assert "--shape takes sizes" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["export", "edge", "-o", str(folder)])
    assert "required: MODEL" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert (
        main(["export", "edge", model, "-o", str(folder), "--target", "x86-64", "--shape", "3,5", "--shape", "1"]) == 0
    )
    assert "for x86-64" in capsys.readouterr().out
