"""DLPack in both directions, by capsule and by protocol."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.utils import dlpack


def test_a_capsule_there_and_back() -> None:
    x = paddle.arange(6, dtype="float32").reshape([2, 3])
    again = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert again.dtype == x.dtype
    assert again.stop_gradient
    np.testing.assert_array_equal(again.numpy(), x.numpy())
    assert paddle.from_dlpack(paddle.to_dlpack(x)).shape == [2, 3]


def test_a_capsule_can_be_used_once() -> None:
    capsule = dlpack.to_dlpack(paddle.ones([2]))
    dlpack.from_dlpack(capsule)
    with pytest.raises(ValueError, match="only once"):
        dlpack.from_dlpack(capsule)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_data_types(dtype: str) -> None:
    x = paddle.to_tensor(np.array([0, 1, 2]).astype("float32")).astype(dtype)
    again = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert again.dtype == x.dtype
    np.testing.assert_array_equal(again.numpy(), x.numpy())


def test_other_libraries_arrays() -> None:
    import jax.numpy as jnp

    array = np.arange(4, dtype="float32")
    x = paddle.from_dlpack(array, device="cpu")
    array[0] = 9.0  # memory that somebody writes to was copied
    assert x.tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match="copy=False"):
        paddle.from_dlpack(array, copy=False)
    assert paddle.from_dlpack(jnp.arange(3), copy=False).tolist() == [0, 1, 2]
    assert np.from_dlpack(paddle.ones([2])).tolist() == [1.0, 1.0]
    original = paddle.ones([2])
    shared = paddle.from_dlpack(original)
    original.add_(paddle.ones([2]))
    assert shared.tolist() == [2.0, 2.0]
    assert paddle.from_dlpack(original, copy=True).tolist() == [2.0, 2.0]


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"\(to_dlpack\) x must be a Tensor"):
        dlpack.to_dlpack([1.0])
    with pytest.raises(TypeError, match="__dlpack__"):
        dlpack.from_dlpack(3)


def test_a_capsule_that_comes_back_shares_changes() -> None:
    x = paddle.ones([3])
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0] = 5.0
    x[1] = 7.0
    assert x.tolist() == y.tolist() == [5.0, 7.0, 1.0]
    again = paddle.from_dlpack(x)
    again[2] = 9.0
    assert x.tolist() == [5.0, 7.0, 9.0]
    assert paddle.from_dlpack(dlpack.to_dlpack(x), copy=True).tolist() == [5.0, 7.0, 9.0]


def test_a_capsule_outlives_its_tensor_and_addresses_are_not_mixed_up() -> None:
    for number in range(20):
        capsule = dlpack.to_dlpack(paddle.full([64], float(number)))
        assert dlpack.from_dlpack(capsule).tolist() == [float(number)] * 64
    x = paddle.ones([64])
    dlpack.to_dlpack(x)  # never taken
    assert paddle.from_dlpack(np.full(64, 3.0, "float32")).tolist() == [3.0] * 64
    assert x.tolist() == [1.0] * 64
