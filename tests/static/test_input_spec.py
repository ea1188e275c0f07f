"""InputSpec, as Paddle 3.3.1 was seen to behave."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.static import InputSpec


def test_text_and_equality():
    spec = InputSpec([None, 3], "float32", "x")
    assert repr(spec) == "InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)"
    assert paddle.static.InputSpec is InputSpec
    assert spec.shape == (-1, 3)
    assert spec.dtype == paddle.float32
    same = InputSpec((-1, 3), paddle.float32, "x")
    assert spec == same
    assert hash(spec) == hash(same)
    assert spec == same
    for other in (
        InputSpec([2, 3], name="x"),
        InputSpec([None, 3]),
        InputSpec([None, 3], name="x", stop_gradient=True),
        3,
    ):
        assert spec != other
    assert InputSpec([-7, np.int64(3)], np.int64).shape == (-1, 3)


def test_from_values():
    spec = InputSpec.from_tensor(paddle.ones([2, 2], "int32"), name="q")
    assert (spec.shape, spec.dtype, spec.name) == ((2, 2), paddle.int32, "q")
    tensor = paddle.ones([2])
    assert InputSpec.from_tensor(tensor).name == tensor.name
    spec = InputSpec.from_numpy(np.ones([2, 3], "float16"))
    assert (spec.shape, spec.dtype, spec.name) == ((2, 3), paddle.float16, None)


def test_batches():
    spec = InputSpec([3])
    assert spec.batch(4) is spec
    assert spec.shape == (4, 3)
    assert spec.unbatch().shape == (3,)
    assert spec.batch([5]).shape == (5, 3)
    with pytest.raises(TypeError, match="must be an integer"):
        spec.batch("x")
    with pytest.raises(ValueError, match="one number"):
        spec.batch([1, 2])
    with pytest.raises(ValueError, match="no dimension"):
        InputSpec([]).unbatch()


@pytest.mark.parametrize("shape", [3, None, "ab"])
def test_shapes_are_lists(shape):
    with pytest.raises(TypeError, match="tuple or a list"):
        InputSpec(shape)


def test_refused():
    with pytest.raises(ValueError, match=r"shape\[1\]"):
        InputSpec([2, "a"])
    with pytest.raises(TypeError, match="not a data type"):
        InputSpec([2], "foo")
    with pytest.raises(ValueError, match="must be a Tensor"):
        InputSpec.from_tensor(np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="NumPy array"):
        InputSpec.from_numpy([1])  # type: ignore[arg-type]
