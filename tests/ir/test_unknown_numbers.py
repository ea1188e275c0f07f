"""Numbers computed from unknown sizes, once the sizes are known; and numbers that only look like them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from proa.core.aval import make_aval
from proa.ir.dimensions import Sizes, UnknownDimension, UnknownSize, placeholder_size

N, M = placeholder_size(0), placeholder_size(1)


def _sizes(n: int = 5, m: int = 9) -> Sizes:
    kind = np.dtype("float32")
    return Sizes([make_aval((N, M, 7), kind)], [make_aval((n, m, 7), kind)])


@pytest.mark.parametrize(
    "function",
    [
        lambda n, m: 1 / n,
        lambda n, m: -1 / n,
        lambda n, m: 0.1 / n,
        lambda n, m: 1 / (n * m),
        lambda n, m: 3 / (n * m * 7),
        lambda n, m: 1 / (n * m * m),
        lambda n, m: 1 / (n - 1),
        lambda n, m: 2 / (n * 4 - 1),
        lambda n, m: 1 / (n * 196),
        lambda n, m: float(n),
        lambda n, m: float(n * m),
        lambda n, m: math.sqrt(n),
        lambda n, m: 1 / math.sqrt(m),
    ],
)
def test_a_float_computed_from_sizes_follows_them(function: Callable[[int, int], float]) -> None:
    for n, m in ((5, 9), (64, 3)):
        assert _sizes(n, m).resolve_float(function(N, M)) == pytest.approx(function(n, m), rel=1e-12)


def test_other_floats_stay_what_they_are() -> None:
    sizes, draw = _sizes(), random.Random(0)
    written = [1e-5, 1e-8, 1e-12, 0.1, 1e6, 100000.0, 0.999, 3.0, math.pi, 1 / 3, 1 / 7, 1 / 300, math.inf, 0.0]
    drawn = [draw.random() * 10 ** draw.randint(-9, 6) for _ in range(2000)]
    # Denominators without the primes that stand for unknown sizes.
    divided = [draw.randint(1, 40) / n for n in range(2, 3000) if all(n % p for p in (307, 311))]
    for number in (*written, *drawn, *divided):
        assert sizes.resolve_float(number) == number
    assert math.isnan(sizes.resolve_float(math.nan))


def test_an_empty_batch_divides_nothing_by_zero() -> None:
    assert math.isfinite(_sizes(0).resolve_float(1 / N))


def test_an_unknown_dimension_looks_like_minus_one_and_computes_with_its_number() -> None:
    size = UnknownDimension(N)
    assert size == -1
    assert size != 3
    assert size < 0
    assert not size > 0
    assert f"{size} {size!r} {size:3d}" == "-1 -1  -1"
    assert size * 2 == 2 * N
    assert type(int(size)) is int
    assert int(size) == N
    assert _sizes().resolve_all((size, 3)) == (5, 3)
    for compute in (lambda: 1 / size, lambda: size / 2, lambda: float(size)):
        with pytest.raises(UnknownSize, match="unknown dimension"):
            compute()
