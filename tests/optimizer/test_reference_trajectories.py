"""Fifty steps of every optimiser in many settings equal what Paddle 3.3.1 did (reference_trajectories/paddle.npz)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle

FOLDER = Path(__file__).parent / "reference_trajectories"
STORED = np.load(FOLDER / "paddle.npz")


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location("reference_trajectories_cases", FOLDER / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = _cases()


def stored(kind: str) -> dict[str, np.ndarray]:
    return dict(zip(STORED[f"{kind}_names"].tolist(), STORED[kind], strict=True))


def test_every_setting_is_stored():
    names = set(cases.cases(paddle))
    assert set(stored("float64")) == names - set(cases.NOT_IN_FLOAT64)
    assert set(stored("float32")) == set(cases.IN_FLOAT32) <= names
    assert set(stored("lbfgs")) == set(cases.LBFGS)


@pytest.fixture
def immediate():
    paddle.set_flags({"FLAGS_eager_mode": "immediate"})
    yield
    paddle.set_flags({"FLAGS_eager_mode": "auto"})


@pytest.mark.usefixtures("immediate")
@pytest.mark.parametrize("name", sorted(stored("float64")))
def test_fifty_steps_in_double_precision(name):
    np.testing.assert_allclose(cases.run(paddle, name, "float64"), stored("float64")[name], rtol=1e-5, atol=5e-7)


@pytest.mark.parametrize("name", sorted(stored("float32")))
def test_fifty_steps_compiled(name):
    np.testing.assert_allclose(cases.run(paddle, name, "float32"), stored("float32")[name], rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("name", sorted(stored("lbfgs")))
def test_lbfgs_walks_as_in_paddle(name):
    np.testing.assert_allclose(cases.run_lbfgs(paddle, name), stored("lbfgs")[name], rtol=1e-5, atol=1e-8)
