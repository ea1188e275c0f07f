"""What Paddle 3.3.1 was seen to give for the cases, values and gradients, given at once and after compilation."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import proa as paddle

from .cases import CASES, measured

OBSERVED = json.loads((pathlib.Path(__file__).parent / "observed.json").read_text())


def test_every_case_was_observed():
    assert set(OBSERVED) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_result_is_paddles(name):
    found, expected = measured(paddle, name), OBSERVED[name]
    assert len(found) == len(expected)
    for (dtype, shape, *sums), (expected_dtype, expected_shape, *expected_sums) in zip(found, expected, strict=True):
        assert (dtype, shape) == (expected_dtype, expected_shape)
        np.testing.assert_allclose(sums, expected_sums, rtol=2e-5, atol=5e-5 * max(np.prod(shape) ** 0.5, 1.0))


COMPILED = ["roi_align, ratio 2", "deform_conv2d, mask", "yolo_loss, scores", "roi_pool"]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_result_is_the_same(name):
    for _ in range(4):
        found = measured(paddle, name)
    for one, other in zip(found, OBSERVED[name], strict=True):
        np.testing.assert_allclose(one[2:], other[2:], rtol=2e-5, atol=1e-3)
