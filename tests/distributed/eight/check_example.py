"""The example of `examples/llama_parallel.py`, with one layer: the same losses on one device and on eight."""

from __future__ import annotations

import importlib
import pathlib

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples"


def test_three_annotations_change_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    example = importlib.import_module("llama_parallel")
    monkeypatch.setattr(example, "LAYERS", 1)
    single = example.main(["--steps", "6"])
    spread = example.main(["--steps", "6", "--devices", "8"])
    np.testing.assert_allclose(spread, single, rtol=1e-5)
    assert spread[-1] < spread[0]
