"""A few hundred of the random cases; `python -m tests.kernels.random_shapes` runs as many as wanted."""

from __future__ import annotations

import pytest

from proa.kernels.cpu import library
from tests.kernels.accuracy import measure
from tests.kernels.random_shapes import KINDS, handlers_without_a_case, run_cases

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("first", [1000, 1016])
def test_random_cases_agree_with_float64(kind: str, first: int) -> None:
    assert run_cases(kind, range(first, first + 16)) < 1e-5


def test_every_handler_of_every_source_has_cases() -> None:
    assert handlers_without_a_case() == set()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_native_kernels_are_as_exact_as_those_of_xla(kind: str) -> None:
    assert [row for row in measure(kind, 16, first=3000) if not row.passes] == []
