"""Writes into a part of what their value is computed from, seen in another shape: compiled as they run op by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle


def column_of_a_reshape(b: Any) -> list[Any]:
    r = b.reshape([4, 2])
    v = r[:, 1]
    d = b[0, 1]
    v.subtract_(d)
    return [b, r, v, d]


def behind_a_new_axis(b: Any) -> list[Any]:
    r = b.unsqueeze(0)
    v = r[0, :, 1]
    d = r[0, 0, 1:2]
    v.subtract_(d)
    return [b, r, v, d]


def diagonal_of_a_transpose(b: Any) -> list[Any]:
    t = b.reshape([4, 2]).T
    d = t.diagonal(-1).flatten()
    v = b[:, 1]
    v.subtract_(d)
    return [b, t, d, v]


def shifted(b: Any) -> list[Any]:
    r = b.reshape([8])
    r[1:8] = r[0:7] * 2.0
    return [b, r]


@pytest.mark.parametrize("work", [column_of_a_reshape, behind_a_new_axis, diagonal_of_a_transpose, shifted])
@pytest.mark.parametrize("read", [0, 1, None])
def test_compiled_as_op_by_op(work: Callable[[Any], list[Any]], read: int | None) -> None:
    def results(start: float) -> list[np.ndarray]:
        b = paddle.to_tensor(np.arange(1, 9, dtype=np.float32).reshape(2, 4) + start) * 2.0 + 0.25
        made = work(b)
        if read is not None:
            made[read].numpy()
        return [tensor.numpy() for tensor in made]

    hot = [results(float(start)) for start in range(5)]
    paddle.set_flags({"FLAGS_eager_mode": "immediate"})
    try:
        cold = [results(float(start)) for start in range(5)]
    finally:
        paddle.set_flags({"FLAGS_eager_mode": "auto"})
    for one, other in zip(hot, cold, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
