"""New tensors: types, values and errors as observed in Paddle 3.3.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle


@pytest.mark.parametrize(
    ("data", "dtype", "value"),
    [
        (1, "int64", 1),
        (1.5, "float32", 1.5),
        (True, "bool", True),
        (1 + 2j, "complex64", 1 + 2j),
        ([1, 2.5], "float32", [1, 2.5]),
        ([1, True], "int64", [1, 1]),
        ([], "float32", []),
        (np.float64(2), "float64", 2),
        (np.ones(2), "float64", [1, 1]),
        (np.int32(2), "int32", 2),
        ((1, 2), "int64", [1, 2]),
        ([[1, 2], [3, 4]], "int64", [[1, 2], [3, 4]]),
    ],
)
def test_to_tensor(data: Any, dtype: str, value: Any) -> None:
    made = paddle.to_tensor(data)
    assert made.dtype == dtype
    assert made.stop_gradient
    np.testing.assert_array_equal(made.numpy(), np.array(value, dtype))


def test_to_tensor_copies_and_converts() -> None:
    array = np.ones(3, "float32")
    made = paddle.to_tensor(array)
    array[0] = 5
    assert made.tolist() == [1, 1, 1]
    made.stop_gradient = False
    again = paddle.to_tensor(made * 2.0, dtype="int64", stop_gradient=True)
    assert again.dtype == paddle.int64
    assert again.is_leaf
    leaf = paddle.to_tensor(made * 2.0, stop_gradient=False)
    (leaf * leaf).sum().backward()
    assert leaf.grad.tolist() == [4, 4, 4]
    assert made.grad is None
    mixed = paddle.to_tensor([paddle.to_tensor(1), 2])
    assert mixed.tolist() == [1, 2]
    assert paddle.to_tensor(1.9, dtype="int32").item() == 1
    assert not paddle.tensor([1.0], requires_grad=True).stop_gradient


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("abc", TypeError),
        ({1: 2}, TypeError),
        (range(3), TypeError),
        (None, TypeError),
        ([[1, 2], [3]], ValueError),
        (2**70, (OverflowError, ValueError)),
        (object(), TypeError),
    ],
)
def test_what_no_tensor_can_be_made_of(data: Any, error: Any) -> None:
    with pytest.raises(error):
        paddle.to_tensor(data)
    with pytest.raises(TypeError):
        paddle.to_tensor([1], dtype="foo")
    with pytest.raises(ValueError):
        paddle.to_tensor([1], place="no such place!")


@pytest.mark.parametrize("create", [paddle.zeros, paddle.ones, paddle.empty, lambda s: paddle.full(s, 1)])
def test_shapes_of_new_tensors(create: Any) -> None:
    assert create([2, 3]).shape == [2, 3]
    assert create(3).shape == [3]
    assert create([]).shape == []
    assert create(paddle.to_tensor([2, 3])).shape == [2, 3]
    assert create([paddle.to_tensor(2), 3]).shape == [2, 3]
    assert create((np.int64(2), 0)).shape == [2, 0]
    with pytest.raises(ValueError, match="negative"):
        create([-1, 2])
    with pytest.raises(TypeError, match="integer"):
        create([2.5])
    with pytest.raises(TypeError):
        create("a")
    with pytest.raises(MemoryError, match="GiB"):
        create([1 << 40, 1 << 10])


def test_full_chooses_a_type() -> None:
    cases = [
        (3, "float32"),
        (3.0, "float32"),
        (True, "bool"),
        (1 + 2j, "complex128"),
        (np.int32(3), "float32"),
        ("inf", "float32"),
    ]
    for value, dtype in cases:
        assert paddle.full([2], value).dtype == dtype
    assert paddle.full([2], paddle.to_tensor(3.5)).tolist() == [3.5, 3.5]
    assert paddle.full([2], 2.7, "int32").tolist() == [2, 2]
    assert paddle.full_like(paddle.to_tensor([1, 2]), 2.5).tolist() == [2, 2]
    with pytest.raises(ValueError, match="one number"):
        paddle.full([2], paddle.ones([2]))
    with pytest.raises(TypeError, match="number"):
        paddle.full([2], "many")
    with pytest.raises(TypeError):
        paddle.zeros([2], dtype="foo")


def test_another_number_is_the_same_program() -> None:
    from proa.ir import report

    before = 0
    for i in range(12):
        if i == 6:
            before = report.STATISTICS.compiles
        result = paddle.full([3], i * 0.5) + paddle.arange(i, i + 3, dtype="float32") + paddle.linspace(0, i, 3)
        np.testing.assert_allclose(result.numpy(), i * 0.5 + np.arange(i, i + 3) + np.linspace(0, i, 3), rtol=1e-6)
    assert report.STATISTICS.compiles == before


def test_arange() -> None:
    assert paddle.arange(5).dtype == paddle.int64
    assert paddle.arange(5.0).dtype == paddle.float32
    assert paddle.arange(paddle.to_tensor(1), paddle.to_tensor([5]), 2).tolist() == [1, 3]
    assert paddle.arange(5, 0).shape == [0]
    assert len(paddle.arange(1, 2.1, 0.1)) == 11  # 1.1 / 0.1 is 11 in float32 and a little more in float64
    big = 2**62
    assert paddle.arange(big, big + 3).tolist() == [big, big + 1, big + 2]
    with pytest.raises(ValueError, match="step"):
        paddle.arange(0, 5, 0)
    with pytest.raises(ValueError, match="finite"):
        paddle.arange(0.0, float("inf"))
    with pytest.raises(TypeError):
        paddle.arange("a")


def test_linspace_eye_meshgrid() -> None:
    np.testing.assert_array_equal(paddle.linspace(0, 10, 4, dtype="int32").numpy(), [0, 3, 6, 10])
    assert paddle.linspace(paddle.to_tensor(0.0), 1, paddle.to_tensor(3)).tolist() == [0, 0.5, 1]
    for act, error in [
        (lambda: paddle.linspace(0, 1, -1), ValueError),
        (lambda: paddle.linspace(0, 1, 3, dtype="bool"), TypeError),
        (lambda: paddle.linspace(1j, 1, 3), TypeError),
        (lambda: paddle.eye(-1), ValueError),
        (lambda: paddle.eye(2.5), TypeError),
        (lambda: paddle.meshgrid(), ValueError),
        (lambda: paddle.meshgrid(paddle.ones([2, 2])), ValueError),
        (lambda: paddle.meshgrid(paddle.ones([2]), indexing="zz"), ValueError),
    ]:
        with pytest.raises(error):
            act()
    rows, columns = paddle.meshgrid(paddle.arange(2), paddle.arange(3), indexing="xy")
    expected = np.meshgrid(np.arange(2), np.arange(3))
    np.testing.assert_array_equal(rows.numpy(), expected[0])
    np.testing.assert_array_equal(columns.numpy(), expected[1])


def test_a_leaf_is_given_other_numbers_and_stays_a_leaf() -> None:
    """As observed in Paddle 3.3.1."""
    x = paddle.ones([2])
    x.stop_gradient = False
    paddle.assign(paddle.to_tensor([5.0, 6.0]), output=x)
    assert (x.numpy().tolist(), x.is_leaf, x.stop_gradient) == ([5.0, 6.0], True, False)
    paddle.assign(np.array([1.0, 3.0], "float32"), output=x)
    (x * x).sum().backward()
    assert x.grad.numpy().tolist() == [2.0, 6.0]
    squares = x * x
    paddle.assign(paddle.to_tensor([5.0, 6.0]), output=x)
    with pytest.raises(RuntimeError):  # the old numbers are needed, and gone
        squares.sum().backward()
    with pytest.raises(ValueError, match=r"\(assign\) a leaf tensor"):
        paddle.assign(x * 2, output=x)


def test_what_is_written_into_a_result_cuts_its_history() -> None:
    x = paddle.ones([2])
    x.stop_gradient = False
    y = x * 3
    paddle.assign(paddle.to_tensor([5.0, 6.0]), output=y)
    (y * x).sum().backward()
    assert x.grad.numpy().tolist() == [5.0, 6.0]


def test_assign() -> None:
    assert paddle.assign([1.0, 2]).dtype == paddle.float64
    assert paddle.assign(3).shape == [1]
    out = paddle.zeros([2])
    assert paddle.assign(paddle.ones([2]), out) is out
    assert out.tolist() == [1, 1]
    assert out.inplace_version == 1
    assert paddle.assign(paddle.ones([2, 2]), out).shape == [2, 2]
    with pytest.raises(TypeError):
        paddle.assign("a")
    x = paddle.ones([2])
    x.stop_gradient = False
    paddle.assign(x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_keywords_of_creation() -> None:
    out = paddle.zeros([2, 2])
    assert paddle.ones([2, 2], out=out) is out
    assert out.tolist() == [[1, 1], [1, 1]]
    made = paddle.zeros([2], device="cpu", requires_grad=True)
    assert not made.stop_gradient
    with pytest.raises(ValueError, match="fit"):
        paddle.ones([3], out=out)
    x = paddle.ones([2], "float16")
    assert x.new_full([2], 3).dtype == paddle.float16
    assert x.new_ones([1], dtype="int64").dtype == paddle.int64


def test_questions() -> None:
    x = paddle.ones([2, 3])
    assert paddle.shape(x).dtype == paddle.int64
    assert paddle.shape(x).tolist() == [2, 3]
    assert paddle.shape(paddle.to_tensor(1.0)).shape == [0]
    assert paddle.rank(x).dtype == paddle.int32
    assert paddle.rank(x).item() == 2
    assert paddle.is_tensor(x)
    assert not paddle.is_tensor([1])
    assert paddle.is_floating_point(x.astype("bfloat16"))
    assert not paddle.is_integer(x.astype("bool"))
    assert paddle.is_integer(x.astype("uint8"))
    assert paddle.is_complex(x.astype("complex64"))
    assert not paddle.is_empty(x).item()
    assert paddle.is_empty(paddle.zeros([0, 2])).item()
    for question in (paddle.is_complex, paddle.is_floating_point, paddle.is_integer):
        with pytest.raises(TypeError, match="Tensor"):
            question(1)


@pytest.mark.parametrize("make", [paddle.zeros, paddle.ones, paddle.rand, lambda shape: paddle.full(shape, 1.0)])
def test_a_text_is_no_size(make):
    with pytest.raises(TypeError, match=r"shape must be an integer; received shape: 'a'"):
        make([2, "a"])
