"""Every instruction that the samples record gives on CuPy what it gives on NumPy, or is one that CuPy is known to refuse."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import pytest

from tests.kernels.gpu.on_cupy import sweep

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(900),
    pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="CuPy is not installed"),
]

# What goes through XLA instead, at least for some operands, and why.
REFUSED = {
    "cast": "CuPy has no floats of 8 bits",
    "class_weights_vjp": "derived by JAX",
    "csr_pattern": "written for NumPy and XLA alone",
    "ctc": "a loop of XLA's",
    "ctc_vjp": "derived by JAX",
    "cumulative_extreme": "CuPy has no running extremes",
    "eig": "LAPACK's, on the host",
    "frexp": "CuPy's differs for infinities and subnormal numbers",
    "i0e": "CuPy's gives NaN at infinity",
    "i1e": "CuPy's gives NaN at infinity",
    "logcumsumexp": "CuPy has no running logaddexp",
    "lu": "SciPy's",
    "matrix_exp": "SciPy's",
    "mode": "CuPy has no running extremes",
    "permutation_of_pivots": "written for NumPy and XLA alone",
    "polygamma": "CuPy's takes no number for the order",
    "pool_rows": "CuPy's atomic extremes know few types",
    "put_along_axis": "CuPy's atomic extremes know few types, and there is no atomic product",
    "rnnt": "a loop of XLA's",
    "rnnt_vjp": "derived by JAX",
    "searchsorted": "CuPy searches one sequence at a time",
    "solve": "CuPy takes no batch of vectors",
    "solve_again": "CuPy takes no batch of vectors",
    "triangular_solve": "SciPy's",
}


@functools.cache
def table() -> dict[str, dict[str, Any]]:
    return sweep()


def test_nothing_is_computed_wrongly() -> None:
    assert not {name: row["wrong"] for name, row in table().items() if row["wrong"]}


def test_what_cupy_refuses_is_known() -> None:
    refused = {name: list(row["refused"]) for name, row in table().items() if row["refused"]}
    assert not {name: why for name, why in refused.items() if name not in REFUSED}


def test_nearly_everything_runs_on_cupy() -> None:
    rows = table()
    assert len(rows) > 290
    assert sum(bool(row["same"]) for row in rows.values()) > 0.94 * len(rows)
