"""`proa doctor`: what it prints, and every advice about GPUs and drivers."""

from __future__ import annotations

import json

import pytest

from proa.cli import main as cli
from proa.cli.doctor import driver_advice, examine, render


def test_report_names_versions_and_devices() -> None:
    report = examine()
    assert report.versions["jax"] != "not installed"
    assert any(device["place"] == "cpu" for device in report.devices)
    assert "jax" in render(report)


def test_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["doctor", "--json"])
    assert json.loads(capsys.readouterr().out)["versions"]["numpy"]


def test_help_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0
    assert "doctor" in capsys.readouterr().out


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
