"""`proa doctor`: what it prints, and every advice about GPUs and drivers."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

import proa_command as command
from proa.cli import surroundings
from proa.cli.accelerators import cannot_import, cupy_advice, driver_advice
from proa.cli.doctor import examine, version_problems
from proa.cli.report import Report, render


def test_report_names_versions_and_devices() -> None:
    report = examine()
    assert report.versions["jax"] != "not installed"
    assert any(device["place"] == "cpu" for device in report.devices)
    assert all(device["works"] for device in report.devices)
    assert report.kernels
    assert report.cache["folder"] == os.environ["PROA_CACHE_DIR"]
    assert os.listdir(report.cache["folder"]) is not None  # nothing is left there that would be a surprise
    assert "jax" in render(report)


def test_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["doctor", "--json"])
    assert json.loads(capsys.readouterr().out)["versions"]["numpy"]


@pytest.mark.parametrize(
    ("driver", "plugin", "expected"),
    [
        (None, None, None),
        (None, "0.10.2", "no NVIDIA driver answers"),
        ("580.65", None, "jax[cuda13]==0.10.2"),
        ("535.10", None, "jax[cuda12]==0.10.2"),
        ("580.65", "0.9.0", "install the same version"),
        ("470.1", "0.10.2", "too old for CUDA 12"),
        ("580.65", "0.10.2", None),
    ],
)
def test_driver_advice(driver: str | None, plugin: str | None, expected: str | None) -> None:
    advice = driver_advice(driver, plugin, "0.10.2")
    if expected is None:
        assert advice == []
    else:
        assert any(expected in sentence for sentence in advice)


@pytest.mark.parametrize(
    ("has_gpu", "packages", "cuda", "why", "has_cudnn", "expected"),
    [
        (False, {}, "13", "", False, None),
        (True, {}, None, "", False, None),
        (True, {}, "13", "CuPy is not installed", True, "pip install cupy-cuda13x"),
        (True, {}, "12", "CuPy is not installed", True, "pip install cupy-cuda12x"),
        (True, {"cupy-cuda12x": "14.2.0"}, "13", "", True, "for another CUDA than JAX's plug-in"),
        (True, {"cupy-cuda12x": "14.2.0", "cupy-cuda13x": "14.2.0"}, "13", "", True, "keep cupy-cuda13x alone"),
        (True, {"cupy-cuda13x": "14.2.0"}, "13", "libnvrtc.so is missing", True, "not used: libnvrtc.so is missing"),
        (True, {"cupy-cuda13x": "14.2.0"}, "13", "", False, "pip install nvidia-cudnn-frontend"),
        (True, {"cupy-cuda13x": "14.2.0"}, "13", "", True, None),
    ],
)
def test_cupy_advice(
    has_gpu: bool, packages: dict[str, str], cuda: str | None, why: str, has_cudnn: bool, expected: str | None
) -> None:
    _, notes = cupy_advice(has_gpu, packages, cuda, why, has_cudnn)
    if expected is None:
        assert notes == []
    else:
        assert any(expected in note for note in notes)


def test_a_module_that_cannot_be_imported_is_explained(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_module.py").write_text("raise ImportError('libcuda.so.1: cannot open')\nmore\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cannot_import("broken_module") == "libcuda.so.1: cannot open"
    assert cannot_import("json") == ""
    assert cannot_import("no_such_module") == ""


GOOD = {"jax": "0.12.0", "jaxlib": "0.12.0", "numpy": "2.4.0"}


@pytest.mark.parametrize(
    ("versions", "python", "expected"),
    [
        ({}, (3, 11), None),
        ({}, (3, 14), None),
        ({}, (3, 10), "Python 3.10 is not supported"),
        ({}, (3, 15), "Python 3.15 is not supported"),
        ({"jax": "0.10.0", "jaxlib": "0.10.0"}, (3, 12), None),
        ({"jax": "0.9.2", "jaxlib": "0.9.2"}, (3, 12), "outside the supported range"),
        ({"jax": "0.13.0", "jaxlib": "0.13.0"}, (3, 12), "outside the supported range"),
        ({"jaxlib": "0.11.0"}, (3, 12), "pip install 'jaxlib==0.12.0'"),
        ({"jax": "not installed"}, (3, 12), "JAX is not installed"),
        ({"numpy": "1.26.4"}, (3, 12), "NumPy 1.26.4 is too old"),
    ],
)
def test_versions(versions: dict[str, str], python: tuple[int, ...], expected: str | None) -> None:
    problems = version_problems({**GOOD, **versions}, python)
    assert len(problems) == (expected is not None)
    assert expected is None or expected in problems[0]


@pytest.mark.parametrize(
    ("environment", "note", "problem"),
    [
        ({"HOME": "/root", "PROA_CACHE_DIR": "/tmp", "PROA_FULL_TRACEBACK": "1"}, None, None),
        ({"PROA_CACHEDIR": "/tmp"}, "is PROA_CACHE_DIR meant?", None),
        ({"PROA_XYZZY": "1"}, "PROA_XYZZY means nothing here.", None),
        ({"JAX_DISABLE_JIT": "1"}, None, "JAX_DISABLE_JIT is on"),
        ({"CUDA_VISIBLE_DEVICES": ""}, "hides every GPU", None),
        ({"CUDA_VISIBLE_DEVICES": "0"}, None, None),
        ({"PROA_EAGER": "immediate"}, "nothing is compiled", None),
        ({"PROA_NATIVE": "0"}, "native CPU kernels off", None),
    ],
)
def test_variables(environment: dict[str, str], note: str | None, problem: str | None) -> None:
    notes, problems = surroundings.environment_advice(environment)
    assert [bool(notes), bool(problems)] == [note is not None, problem is not None]
    assert note is None or note in notes[0]
    assert problem is None or problem in problems[0]


def test_a_cache_that_cannot_be_written_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setattr(surroundings, "cache_folder", lambda: blocked / "xla")
    report = Report()
    surroundings.check_cache(report)
    assert "set PROA_CACHE_DIR" in report.problems[0]
    assert "PROBLEM" in render(report)


def test_a_disk_that_is_nearly_full_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(surroundings, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(surroundings, "_LITTLE_SPACE", 1 << 62)
    report = Report()
    surroundings.check_cache(report)
    assert "make room" in report.problems[0]


def test_compilers(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    report = Report()
    surroundings.check_compiler(report)
    assert report.compiler == "none"
    assert "apt install g++" in report.notes[0]
    broken = tmp_path / "c++"
    broken.write_text("#!/bin/sh\necho no licence >&2\nexit 3\n")
    broken.chmod(0o755)
    report = Report()
    surroundings.check_compiler(report)
    assert "no licence" in report.problems[0]
