"""Plug-ins of JAX's are found where `importlib.metadata` finds them, without importing it."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

import pytest

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
