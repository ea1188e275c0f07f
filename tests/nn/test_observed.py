"""What Paddle 3.3.1 was seen to give (the folder `observed`), given by both tiers."""

from __future__ import annotations

import importlib
import json
import pathlib

import numpy as np
import pytest

import proa as paddle
from tests.nn.observed.record import flatten, observe

FOLDER = pathlib.Path(__file__).parent / "observed"
PARTS = [path.stem for path in sorted(FOLDER.glob("*.json"))]
OBSERVED = {part: json.loads((FOLDER / f"{part}.json").read_text()) for part in PARTS}
CASES = {part: importlib.import_module(f"tests.nn.observed.cases_{part}").CASES for part in PARTS}


@pytest.mark.parametrize(("part", "name"), [(part, name) for part in PARTS for name in CASES[part]])
def test_result_is_paddles(part, name):
    expected, call = OBSERVED[part][name], CASES[part][name]
    if "error" in expected:
        assert observe(paddle, call).get("error") in ("ValueError", "TypeError", "IndexError", "FailedCheck"), name
        return
    for mode in ("immediate", "auto", "auto", "auto"):
        with paddle.jit.eager_mode(mode):
            paddle.seed(2024)
            found = flatten(call(paddle))
        assert len(found) == len(expected["values"])
        for actual, wanted in zip(found, expected["values"], strict=True):
            if isinstance(wanted, str):
                assert actual == wanted
                continue
            np.testing.assert_allclose(np.array(actual), np.array(wanted), rtol=2e-5, atol=2e-6, err_msg=mode)
