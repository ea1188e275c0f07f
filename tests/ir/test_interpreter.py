"""Tier 0 on JAX arrays (accelerators, sharded values): one small jitted call an operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.place import CPU
from proa.ir.recorder import LOCAL, flush_current
from proa.ir.tiers.interpreter import run_on_jax


def recorded(function: Any, *arrays: np.ndarray) -> tuple[Any, list[Any], list[Any], Any]:
    flush_current()
    result = function(*[paddle.to_tensor(array) for array in arrays])
    segment = LOCAL.segment
    return segment.node.program((result._index,)), list(segment.inputs), list(segment.scalars), result


@pytest.mark.parametrize("kinds", [("float32", "float64"), ("float64", "float32"), ("int64", "complex64", "float32")])
def test_the_same_operation_on_another_dtype(kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        array = np.arange(1, 5).astype(kind)
        program, inputs, scalars, result = recorded(lambda x: x + x, array)
        value = run_on_jax(program, inputs, scalars, CPU)[result._index]
        assert value.dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(value), result.numpy())
