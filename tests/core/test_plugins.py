"""Plug-ins of JAX's are found where `importlib.metadata` finds them, without importing it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import proa as paddle
from proa.core.place import _offers_plugin


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("some_device-1.0.dist-info", "[jax_plugins]\nsome_device = some_device_plugin\n"),
        ("some_device-1.0.egg-info", "[console_scripts]\nx = y\n\n[jax_plugins]\nsome_device = some_device_plugin\n"),
        ("other-1.0.dist-info", "[console_scripts]\njax_plugins = other\n"),
        ("other-1.0.dist-info", ""),
        ("some_device", "[jax_plugins]\nsome_device = some_device_plugin\n"),
    ],
)
def test_a_folder_of_packages(tmp_path, monkeypatch, name, text):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "entry_points.txt").write_text(text)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: some-device\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert _offers_plugin(str(tmp_path)) == bool(entry_points(group="jax_plugins"))


def test_folders_that_cannot_be_read(tmp_path):
    assert not _offers_plugin(str(tmp_path / "absent"))
    file = tmp_path / "archive.zip"
    file.write_bytes(b"PK")
    assert not _offers_plugin(str(file))
    odd = tmp_path / "odd-1.0.dist-info"
    odd.mkdir()
    (odd / "entry_points.txt").write_bytes(b"\xff\xfe[jax_plugins]")
    (tmp_path / "empty-1.0.dist-info").mkdir()
    assert not _offers_plugin(str(tmp_path))


def test_devices_are_looked_for_when_something_is_computed_and_not_at_import(tmp_path):
    folder = tmp_path / "some_device-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[jax_plugins]\nsome_device = some_device\n")
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: some-device\nVersion: 1.0\n")
    (tmp_path / "some_device.py").write_text("def initialize():\n    pass\n")
    code = """
import sys
import proa as paddle
print('jax' in sys.modules)
if sys.argv[1] == 'chosen':
    paddle.set_device('cpu')
print(paddle.ones([2]).place, 'jax' in sys.modules)
import threading
thread = threading.Thread(target=lambda: print(paddle.ones([2]).place))
thread.start()
thread.join()
"""
    environment = {k: v for k, v in os.environ.items() if k != "JAX_PLATFORMS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(paddle.__file__).parents[1]), str(tmp_path)])
    for how, looked in (("", True), ("chosen", False)):
        answer = subprocess.run(
            [sys.executable, "-c", code, how], capture_output=True, text=True, timeout=60, check=True, env=environment
        )
        lines = answer.stdout.splitlines()
        assert lines[0] == "False"
        if not looked:
            assert lines[1:] == ["Place(cpu) False", "Place(cpu)"]
        else:
            assert lines[1].endswith(" True")
