"""A few hundred of the random cases; `python -m tests.kernels.random_shapes` runs as many as wanted."""

from __future__ import annotations

import pytest

from proa.kernels.cpu import library
from tests.kernels.random_shapes import KINDS, run_cases

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("first", [1000, 1016])
def test_random_cases_agree_with_float64(kind: str, first: int) -> None:
    assert run_cases(kind, range(first, first + 16)) < 1e-5
