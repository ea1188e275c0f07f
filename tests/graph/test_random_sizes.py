"""A sample of `random_sizes.py`; Paddle itself and thousands of functions are for `python -m tests.graph.random_sizes`."""

from __future__ import annotations

import pytest

from . import random_sizes


@pytest.mark.parametrize("first", [0, 5_000])
def test_random_functions_of_unknown_sizes_agree_in_all_ways(first: int) -> None:
    report = random_sizes.run(12, first, None)
    assert report.differences == []
    assert report.compared["to_static"] == 12 * random_sizes.NUM_SIZES
    assert report.compared["artifact"] > 40
    assert report.compared["Paddle's files"] > 30
