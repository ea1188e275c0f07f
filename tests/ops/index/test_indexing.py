"""Indexing: values and shapes against NumPy, gradients, errors, and what must not compile again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir import report

F = paddle.nn.functional
DATA = np.arange(24, dtype="float32").reshape(2, 3, 4)
EVERY = slice(None)

# Indices whose meaning is the same in NumPy.
INDICES = [
    0,
    -1,
    (0, 1),
    (0, 1, 2),
    (..., 0),
    None,
    (EVERY, None),
    (0, None, 1),
    slice(1, None),
    slice(0, 1),
    (slice(None, None, -1), 0),
    (EVERY, slice(None, None, 2)),
    (EVERY, slice(None, None, -2)),
    (EVERY, slice(2, 0, -1)),
    (EVERY, slice(5, 0)),
    (EVERY, slice(1, 3)),
    (EVERY, slice(1, 3), slice(2, 4)),
    (1, slice(1, 3), 2),
    (slice(0, 2),) * 3,
    (slice(None, None, -1),) * 3,
    (slice(0, 0),),
    slice(-1, 5),
    (),
    ...,
    (..., None),
    (1, ..., None, slice(1, 2)),
    [0, 1],
    ([0, 1], [1, 2]),
    [[0, 1], [1, 0]],
    ([0, 1], EVERY, [0, 1]),
    (EVERY, [0, 1], None),
    ([0, 1], None),
    ([0, 1], None, [1, 2]),
    (None, [0, 1]),
    np.array([0, 1]),
    [],
    [-1],
    (..., [0, 1]),
    (slice(1, 2), [0, 2]),
    (EVERY, [0, 2], [1, 3]),
    ([1], EVERY, slice(1, 3)),
    (np.array([[0, 1]]), np.array([[1], [0]])),
    ([0], [1], [2]),
    np.array([True, False]),
    [True, False],
    (EVERY, np.array([True, False, True])),
    (np.array([True, True]), [0, 1]),
    DATA > 5,
    np.zeros((2, 3), bool),
    np.array([[True, False, True], [False, False, True]]),
    True,
    False,
    (True, 0),
]


def as_tensors(index: Any) -> Any:
    """Arrays in an index as tensors."""
    if isinstance(index, tuple):
        return tuple(as_tensors(item) for item in index)
    return paddle.to_tensor(index) if isinstance(index, np.ndarray) else index


def check(actual: Any, expected: np.ndarray) -> None:
    assert list(actual.shape) == list(expected.shape)
    np.testing.assert_array_equal(actual.numpy(), expected)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_getitem_is_numpys(index: Any) -> None:
    x = paddle.to_tensor(DATA)
    for _ in range(4):  # the third time is compiled
        check(x[index], DATA[index])
        check(x[as_tensors(index)], DATA[index])
    with paddle.jit.eager_mode("immediate"):
        check(x[index], DATA[index])


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_setitem_is_numpys(index: Any) -> None:
    random = np.random.default_rng(0)
    shape = DATA[index].shape
    values: list[Any] = [
        7.5,
        random.normal(size=shape).astype("float32"),
        random.normal(size=shape[-1:]),
    ]
    for value in values:
        expected = DATA.copy()
        expected[index] = value
        for _ in range(4):
            x = paddle.to_tensor(DATA)
            x[as_tensors(index)] = paddle.to_tensor(value) if isinstance(value, np.ndarray) else value
            check(x, expected)
            assert x.inplace_version == 1


def test_integers_beside_arrays_are_basic() -> None:
    x = paddle.to_tensor(DATA)
    check(x[0, :, [0, 1]], DATA[0][:, [0, 1]])
    check(x[:, [0, 1], None, 0], DATA[:, :, 0][:, [0, 1], None])
    check(x[[0, 1], 0, [1, 2]], DATA[:, 0][[0, 1], [1, 2]])
    x[0, :, [0, 1]] = paddle.to_tensor(np.ones((3, 2), "float32"))
    assert x.numpy()[0, :, :2].sum() == 6


def test_tensors_without_dimensions_are_integers() -> None:
    x = paddle.to_tensor(DATA)
    one, zero = paddle.to_tensor(1), paddle.to_tensor(0)
    for position in (one, one + zero, paddle.to_tensor(-1)):
        check(x[position], DATA[1])
        check(x[position, [0, 1]], DATA[1, [0, 1]])
        check(x[:, position % 2, [0, 1]], DATA[:, 1, [0, 1]])
        check(x[position % 2, 1:3, zero + one], DATA[1, 1:3, 1])
    check(x[zero:one], DATA[0:1])
    x[one + zero, 0] = 5.0
    assert (x.numpy()[1, 0] == 5).all()
    check(x[np.int64(1), np.int32(0)], x.numpy()[1, 0])


def test_five_and_more_index_tensors() -> None:
    data = np.random.default_rng(0).normal(size=(2, 3, 2, 2, 3, 2))
    x = paddle.to_tensor(data)
    indices = [
        np.array([0, 1, -1]),
        np.array([2, 0, 1]),
        np.array([1, 1, 0]),
        np.array([0, -1, 1]),
        np.array([2, 2, 0]),
    ]
    for index in (
        tuple(indices),
        (EVERY, *(i % 2 for i in indices)),
        (*(i % 2 for i in indices[:4]), EVERY, indices[0]),
    ):
        for _ in range(4):
            check(x[as_tensors(index)], data[index])
        value = np.random.default_rng(1).normal(size=data[index].shape)
        expected = data.copy()
        expected[index] = value
        y = paddle.to_tensor(data)
        y[as_tensors(index)] = paddle.to_tensor(value)
        check(y, expected)


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (5, IndexError, "index 5 is out of range for axis 0; allowed: -2 to 1"),
        (-3, IndexError, "axis 0"),
        ((0, 3), IndexError, "axis 1; allowed: -3 to 2"),
        ((0, 0, 0, 0), IndexError, "names 4 axes, the tensor has 3"),
        ([5], IndexError, "out of range"),
        (([0], [-4]), IndexError, "-3 to 2 for axis 1"),
        (1.0, ValueError, "an index is made of"),
        ("a", ValueError, "an index is made of"),
        ([1.5], ValueError, "an index is made of"),
        ([0, slice(None)], ValueError, "an index is made of"),
        ({0}, ValueError, "an index is made of"),
        (slice(None, None, 0), ValueError, "step"),
        (slice(1.0, 2), ValueError, "integer"),
        ((..., ...), ValueError, "one Ellipsis"),
        (np.array([True, False, True]), IndexError, "mask of shape [3]"),
        (([0, 1], [0, 1, 2]), ValueError, "broadcast"),
    ],
    ids=repr,
)
def test_bad_indices(index: Any, error: type[Exception], text: str) -> None:
    x = paddle.to_tensor(DATA)
    for act in (lambda: x[as_tensors(index)], lambda: x.__setitem__(as_tensors(index), 0.0)):
        with pytest.raises(error) as caught:
            act()
        assert text in str(caught.value)
    check(x, DATA)
    check(x + 1.0, DATA + 1)  # what was refused leaves nothing behind


def test_pending_indices_out_of_range_are_found_when_the_work_runs() -> None:
    x = paddle.to_tensor(DATA)
    for _ in range(4):
        index = paddle.to_tensor([1]) + paddle.to_tensor([4])
        taken = x[index]
        with pytest.raises(IndexError, match="out of range"):
            taken.numpy()


def test_indexing_nothing() -> None:
    scalar = paddle.to_tensor(3.0)
    check(scalar[None], np.full((1,), 3, "float32"))
    check(scalar[...], np.full((), 3, "float32"))
    check(scalar[True], np.full((1,), 3, "float32"))
    with pytest.raises(IndexError):
        scalar[0]
    empty = paddle.zeros([0, 3])
    check(empty[:, 1:2], np.zeros((0, 1), "float32"))
    with pytest.raises(IndexError, match="no elements"):
        empty[0]
    with pytest.raises(IndexError):
        empty[[0]]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.ones((5,), "float32"), ValueError),
        (np.ones((2, 3, 4), "float32"), ValueError),
        ("a", ValueError),
        (None, ValueError),
        (1 + 2j, TypeError),
    ],
)
def test_values_that_do_not_fit(value: Any, error: type[Exception]) -> None:
    x = paddle.to_tensor(DATA)
    with pytest.raises(error):
        x[0] = paddle.to_tensor(value) if isinstance(value, np.ndarray) else value
    check(x, DATA)


def test_values_take_the_type_and_lose_leading_ones() -> None:
    x = paddle.zeros([3], "int32")
    x[0] = 2.7
    x[1] = paddle.to_tensor(3.9)
    x[2] = True
    assert x.tolist() == [2, 3, 1]
    y = paddle.to_tensor(DATA)
    y[0] = paddle.ones([1, 3, 4])
    y[[0, 1]] = np.ones((1, 2, 3, 4))
    assert (y.numpy() == 1).all()


def test_masks_with_values() -> None:
    x = paddle.to_tensor(DATA)
    x[x > 5] = paddle.arange(18, dtype="float32")
    expected = DATA.copy()
    expected[DATA > 5] = np.arange(18)
    check(x, expected)
    y = paddle.to_tensor(DATA)
    rows = y[:, :, 0] > 5
    y[rows] = paddle.arange(4, dtype="float32")
    expected = DATA.copy()
    expected[DATA[:, :, 0] > 5] = np.arange(4)
    check(y, expected)
    z = paddle.to_tensor(DATA)
    z[:, paddle.to_tensor([True, False, True])] = paddle.to_tensor(np.arange(8, dtype="float32").reshape(2, 1, 4))
    expected = DATA.copy()
    expected[:, [0, 2]] = np.arange(8).reshape(2, 1, 4)
    check(z, expected)
    with pytest.raises(ValueError, match="broadcast"):
        x[x >= 0] = paddle.ones([3])


# ---- gradients -----------------------------------------------------------------------------------

GRADIENT_INDICES = [
    0,
    (EVERY, 1),
    slice(0, 1),
    (EVERY, slice(None, None, -2)),
    (EVERY, slice(1, 3), slice(0, 2)),
    (0, None, 1),
    ...,
    [0, 0, 1],
    ([0, 1, 0], [1, 2, 1]),
    ([0, 1], EVERY, [0, 1]),
    DATA > 5,
    (EVERY, np.array([True, False, True])),
]


@pytest.mark.parametrize("index", GRADIENT_INDICES, ids=repr)
def test_gradient_of_getitem(index: Any) -> None:
    weight = np.random.default_rng(3).normal(size=DATA[index].shape)
    expected = np.zeros(DATA.shape)
    np.add.at(expected, index, weight)
    for _ in range(4):
        x = paddle.to_tensor(DATA.astype("float64"), stop_gradient=False)
        (x[as_tensors(index)] * paddle.to_tensor(weight)).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), expected)


@pytest.mark.parametrize("index", GRADIENT_INDICES, ids=repr)
def test_gradients_of_setitem(index: Any) -> None:
    random = np.random.default_rng(3)
    weight = random.normal(size=DATA.shape)
    shape = DATA[index].shape
    region = np.zeros(DATA.shape, bool)
    region[index] = True
    for value_shape in (shape, shape[-1:], ()):
        if region.sum() != np.prod(shape) and value_shape == shape:
            continue  # of values for one place the last wins; only its gradient would be right
        for _ in range(4):
            x = paddle.to_tensor(DATA.astype("float64"), stop_gradient=False)
            v = paddle.to_tensor(random.normal(size=value_shape), stop_gradient=False)
            y = x * 1.0
            y[as_tensors(index)] = v
            (y * paddle.to_tensor(weight)).sum().backward()
            np.testing.assert_allclose(x.grad.numpy(), np.where(region, 0, weight))
            assert v.grad.shape == list(value_shape)
            if region.sum() == np.prod(shape):
                np.testing.assert_allclose(v.grad.numpy().sum(), weight[region].sum())


def test_second_order_through_indexing() -> None:
    x = paddle.to_tensor(DATA.astype("float64"), stop_gradient=False)
    y = (x[:, 1:3] * x[[1, 0], 0:2]).sum() + (x[0, ..., 2] ** 3).sum()
    (first,) = paddle.grad([y], [x], create_graph=True)
    (second,) = paddle.grad([(first * first).sum()], [x])

    def gradient(array: np.ndarray) -> np.ndarray:
        g = np.zeros_like(array)
        g[:, 1:3] += array[[1, 0], 0:2]
        g[[1, 0], 0:2] += array[:, 1:3]
        g[0, :, 2] += 3 * array[0, :, 2] ** 2
        return g

    step = 1e-6
    for place in ((0, 1, 2), (1, 2, 0), (0, 0, 3)):
        up, down = DATA.astype("float64"), DATA.astype("float64")
        up[place] += step
        down[place] -= step
        numeric = ((gradient(up) ** 2).sum() - (gradient(down) ** 2).sum()) / (2 * step)
        assert second.numpy()[place] == pytest.approx(numeric, rel=1e-5, abs=1e-4)


def test_setitem_on_leaves() -> None:
    x = paddle.to_tensor(DATA, stop_gradient=False)
    with pytest.raises(ValueError, match="leaf"):
        x[0] = 1.0
    with paddle.no_grad():
        x[0] = 1.0
    assert (x.numpy()[0] == 1).all()
    assert x.is_leaf
    assert not x.stop_gradient
    constant = paddle.zeros([2, 2])
    w = paddle.ones([2], "float32")
    w.stop_gradient = False
    constant[0] = w * 3.0
    assert not constant.stop_gradient
    constant.sum().backward()
    assert w.grad.tolist() == [3, 3]


# ---- loops ---------------------------------------------------------------------------------------


def compiles_during(act: Any, warm_up: int, rounds: int) -> int:
    """How many programs are compiled after the warm-up."""
    before = 0
    for round_number in range(rounds):
        if round_number == warm_up:
            before = report.STATISTICS.compiles
        act(round_number)
    return report.STATISTICS.compiles - before


def test_positions_and_windows_that_move_do_not_compile_again() -> None:
    data = np.random.default_rng(0).normal(size=(40, 8, 4)).astype("float32")
    x = paddle.to_tensor(data)

    def step(i: int) -> None:
        result = x[i] + x[i + 1, 2] * x[:, i % 8][i] + x[i : i + 4].sum(0)
        expected = data[i] + data[i + 1, 2] * data[:, i % 8][i] + data[i : i + 4].sum(0)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)

    assert compiles_during(step, 6, 30) == 0

    def write(i: int) -> None:
        cache = paddle.zeros([4, 32])
        cache[:, i : i + 2] = paddle.ones([4, 2])
        cache[i % 4, i] = 5.0
        expected = np.zeros((4, 32), "float32")
        expected[:, i : i + 2] = 1
        expected[i % 4, i] = 5
        check(cache, expected)

    assert compiles_during(write, 6, 30) == 0


def test_iteration_and_membership() -> None:
    x = paddle.to_tensor(DATA, stop_gradient=False)
    rows = list(x)
    assert len(rows) == 2
    check(rows[1], DATA[1])
    (rows[0] * 2.0 + rows[1]).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.stack([np.full((3, 4), 2), np.ones((3, 4))]))
    many = paddle.arange(3000)
    assert [int(v) for _, v in zip(range(3), many)] == [0, 1, 2]
    assert 5 in many
    assert -1 not in many
    with pytest.raises(TypeError, match="0-d"):
        iter(paddle.to_tensor(1.0))


# ---- gather, scatter and relatives: errors that samples do not show ------------------------------


def integers(*values: Any) -> Any:
    return paddle.to_tensor(np.array(values, "int64"))


@pytest.mark.parametrize(
    ("act", "errors"),
    [
        (lambda x: paddle.gather(x, integers(5)), (IndexError, ValueError)),
        (lambda x: paddle.gather(x, paddle.to_tensor([1.0])), (ValueError,)),
        (lambda x: paddle.gather(x, integers([1, 0])), (ValueError,)),
        (lambda x: paddle.gather(x, integers(0), axis=5), (IndexError, ValueError)),
        (lambda x: paddle.gather(x, [1]), (TypeError,)),
        (lambda x: paddle.index_select(x, integers(5), 1), (IndexError, ValueError)),
        (lambda x: paddle.index_select(x, paddle.to_tensor(1), 1), (ValueError,)),
        (lambda x: paddle.gather_nd(x, integers([1, 5])), (IndexError, ValueError)),
        (lambda x: paddle.gather_nd(x, integers([1, 1, 1])), (ValueError,)),
        (lambda x: paddle.scatter(x, integers(5), paddle.ones([1, 3])), (IndexError,)),
        (lambda x: paddle.scatter(x, integers(1), paddle.ones([1, 2])), (ValueError,)),
        (lambda x: paddle.scatter(x, integers(1), paddle.ones([1, 3], "float64")), (ValueError,)),
        (lambda x: paddle.scatter_nd_add(x, integers([5]), paddle.ones([1, 3])), (IndexError,)),
        (
            lambda x: paddle.index_add(x, integers(7), 1, paddle.ones([2, 1])),
            (IndexError, ValueError),
        ),
        (lambda x: paddle.index_put(x, integers(0), paddle.to_tensor(9.0)), (ValueError,)),
        (lambda x: paddle.index_put(x, (integers(0),), paddle.to_tensor(9)), (ValueError,)),
        (lambda x: paddle.index_put(x, (integers(5),), paddle.to_tensor(9.0)), (IndexError,)),
        (lambda x: paddle.index_fill(x, integers(5), 1, 7), (IndexError,)),
        (lambda x: paddle.take(x, integers(6)), (IndexError, ValueError)),
        (lambda x: paddle.take(x, integers(6), mode="foo"), (ValueError,)),
        (lambda x: paddle.take_along_axis(x, integers([5]), 1), (IndexError,)),
        (lambda x: paddle.take_along_axis(x, integers(0), 1), (ValueError,)),
        (lambda x: paddle.take_along_axis(x, integers([0]), 2), (ValueError,)),
        (lambda x: paddle.put_along_axis(x, integers([5]), 9.0, 1), (IndexError,)),
        (lambda x: paddle.put_along_axis(x, integers([0]), 9.0, 1, reduce="foo"), (ValueError,)),
        (lambda x: paddle.index_sample(x, integers([0, 5], [0, 0])), (IndexError, ValueError)),
        (lambda x: paddle.index_sample(x, integers([0, 1])), (ValueError,)),
        (lambda x: F.one_hot(integers(0, 3), 3), (IndexError, ValueError)),
        (lambda x: F.one_hot(integers(0, -1), 3), (ValueError,)),
        (lambda x: F.one_hot(x, 3), (TypeError,)),
        (lambda x: F.embedding(integers(0, 5), x), (ValueError,)),
        (lambda x: F.embedding(integers(-1), x), (ValueError,)),
        (lambda x: F.embedding(x, x), (NotImplementedError,)),
        (lambda x: F.embedding(integers(0), x, padding_idx=5), (ValueError,)),
        (lambda x: F.embedding(integers(0), x[0]), (ValueError,)),
        (lambda x: paddle.slice(x, [0, 1], [1], [2]), (ValueError,)),
        (lambda x: paddle.slice(x, [3], [1], [2]), (ValueError,)),
        (lambda x: paddle.strided_slice(x, [0], [0], [2], [0]), (ValueError,)),
    ],
)
def test_misuse_of_gather_and_scatter(act: Any, errors: tuple[type[Exception], ...]) -> None:
    x = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    for error in errors:  # some errors are of two types, because Paddle raises now the one, now the other
        with pytest.raises(error) as caught:
            act(x)
        assert str(caught.value).startswith("(")


def test_embedding_with_a_largest_norm_changes_the_rows_in_use() -> None:
    weight = paddle.to_tensor(np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], "float32"))
    rows = F.embedding(integers(0, 1), weight, max_norm=1.0)
    np.testing.assert_allclose(rows.numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)


def test_gradient_of_a_large_embedding_adds_up() -> None:
    random = np.random.default_rng(0)
    ids = random.integers(0, 50, (40, 30))
    seed = random.normal(size=(40, 30, 8)).astype("float32")
    expected = np.zeros((50, 8), "float64")
    np.add.at(expected, ids, seed)
    for dtype, tolerance in (("float32", 1e-5), ("float16", 2e-2), ("bfloat16", 5e-2)):
        for _ in range(4):
            weight = paddle.ones([50, 8], dtype)
            weight.stop_gradient = False
            (F.embedding(paddle.to_tensor(ids), weight) * paddle.to_tensor(seed).astype(dtype)).sum().backward()
            np.testing.assert_allclose(
                weight.grad.numpy().astype("float64"), expected, rtol=tolerance, atol=tolerance * 30
            )
