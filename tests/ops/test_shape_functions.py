"""Functions of shape: bad input, sharing, in-place forms, and what was observed in Paddle 3.3.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle

MATRIX = np.arange(12, dtype="float32").reshape(3, 4)
SMALL = np.arange(6, dtype="float32").reshape(2, 3)
CUBE = np.arange(24, dtype="float32").reshape(2, 3, 4)


def tensor(array: Any, gradient: bool = False) -> Any:
    return paddle.to_tensor(array, stop_gradient=not gradient)


# ---- sharing memory ------------------------------------------------------------------------------

VIEWS = {
    "as_strided": lambda x: paddle.as_strided(x, [2, 2], [1, 5], 4),
    "unfold": lambda x: x.unfold(1, 2, 2),
    "permute": lambda x: x.permute(1, 0),
    "ravel": lambda x: x.ravel(),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "as_complex": lambda x: x.reshape([6, 2]).as_complex(),
    "atleast_3d": lambda x: paddle.atleast_3d(x),
}
NEW = {
    "crop": lambda x: paddle.crop(x, [2, 2], [1, 1]),
    "tensor_split": lambda x: x.tensor_split(2, 1)[0],
    "hsplit": lambda x: x.hsplit([1])[1],
    "split_with_sizes": lambda x: x.split_with_sizes([1, 2])[1],
    "hstack": lambda x: paddle.hstack([x]),
    "diagonal_scatter": lambda x: paddle.diagonal_scatter(x, paddle.ones([3])),
    "select_scatter": lambda x: x.select_scatter(paddle.ones([3]), 1, 0),
    "masked_scatter": lambda x: x.masked_scatter(x > 100, paddle.ones([1])),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_changes_both_ways(name: str) -> None:
    x = tensor(MATRIX.copy())
    base = x.reshape([6, 2]) if name == "as_complex" else x
    view = base.as_complex() if name == "as_complex" else VIEWS[name](x)
    before = view.numpy()
    x.multiply_(tensor(np.float32(2)))
    np.testing.assert_array_equal(view.numpy(), before * 2)
    view.fill_(-1.0)
    untouched = tensor(MATRIX * 2)
    expected_view = VIEWS[name](x).numpy()
    np.testing.assert_array_equal(expected_view, np.full_like(expected_view, -1))
    assert (x.numpy() != untouched.numpy()).sum() >= expected_view.size // (2 if name == "unfold" else 1)


@pytest.mark.parametrize("name", NEW)
def test_new_tensors_share_nothing(name: str) -> None:
    x = tensor(MATRIX.copy())
    made = NEW[name](x)
    before = made.numpy()
    x.zero_()
    np.testing.assert_array_equal(made.numpy(), before)


def test_tensors_that_have_the_dimensions_are_returned_themselves() -> None:
    x = tensor(CUBE)
    assert paddle.atleast_1d(x) is x
    assert paddle.atleast_2d(x) is x
    assert paddle.atleast_3d(x) is x


def test_atleast_takes_numbers_lists_and_several() -> None:
    assert paddle.atleast_2d(123).shape == [1, 1]
    assert paddle.atleast_2d([1, 2]).numpy().tolist() == [[1, 2]]
    first, second = paddle.atleast_1d(tensor(1.0), 2.5)
    assert (first.item(), second.item()) == (1.0, 2.5)
    assert [t.shape for t in paddle.atleast_1d([tensor(1.0), tensor([1.0, 2.0])])] == [[1], [2]]
    assert paddle.atleast_1d() == []


# ---- in place ------------------------------------------------------------------------------------


def test_an_in_place_reshape_under_no_grad_keeps_gradients_in_shape() -> None:
    # In Paddle 3.3.1 the gradient of x comes out with the shape [3, 2].
    x = tensor(SMALL, gradient=True)
    y = x * 2.0
    with paddle.no_grad():
        y.reshape_([3, 2])
    (y * tensor(SMALL.reshape(3, 2))).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * SMALL)


@pytest.mark.parametrize("change", ["unsqueeze_", "transpose_", "flatten_", "squeeze_", "t_"])
def test_other_shapes_under_no_grad(change: str) -> None:
    arguments: dict[str, tuple[Any, ...]] = {"unsqueeze_": (0,), "transpose_": ([1, 0],)}
    x = tensor(SMALL, gradient=True)
    y = x * 3.0
    with paddle.no_grad():
        getattr(y, change)(*arguments.get(change, ()))
    weights = getattr(tensor(SMALL), change)(*arguments.get(change, ()))
    (y * weights).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 3 * SMALL)


def test_a_leaf_that_is_reshaped_stays_a_leaf_and_its_gradient_follows() -> None:
    x = tensor(SMALL, gradient=True)
    (x * 3.0).sum().backward()
    with paddle.no_grad():
        x.reshape_([3, 2])
    assert x.is_leaf
    assert not x.stop_gradient
    (x * tensor(SMALL.reshape(3, 2))).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 3 + SMALL.reshape(3, 2))


def test_transpose_in_place_keeps_sharing_and_history() -> None:
    x = tensor(SMALL.copy())
    row = x[0]
    assert x.transpose_([1, 0]) is x
    row.zero_()
    np.testing.assert_array_equal(x.numpy(), [[0, 3], [0, 4], [0, 5]])
    x.fill_(7.0)
    np.testing.assert_array_equal(row.numpy(), [7, 7, 7])
    leaf = tensor(SMALL, gradient=True)
    y = leaf * 2.0
    y.t_()
    (y * tensor(SMALL.reshape(3, 2))).sum().backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), [[0, 4, 8], [2, 6, 10]])
    with pytest.raises(ValueError, match="leaf"):
        leaf.transpose_([1, 0])


def test_fill_diagonal() -> None:
    assert tensor(MATRIX).fill_diagonal_(9.0, 1).numpy().tolist() == [[0, 9, 2, 3], [4, 5, 9, 7], [8, 9, 10, 9]]
    tall = paddle.zeros([7, 3]).fill_diagonal_(1.0, 0, True).numpy()
    assert np.argwhere(tall).tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    shifted = paddle.zeros([7, 3]).fill_diagonal_(1.0, -1, True).numpy()
    assert np.argwhere(shifted).tolist() == [[1, 0], [2, 1], [5, 0], [6, 1]]
    assert np.argwhere(paddle.zeros([7, 3]).fill_diagonal_(1.0).numpy()).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert np.argwhere(paddle.zeros([2, 2, 2]).fill_diagonal_(1.0).numpy()).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert np.argwhere(paddle.zeros([2, 2, 2]).fill_diagonal_(1.0, 1).numpy()).tolist() == [[0, 0, 1]]
    assert paddle.zeros([2, 2], dtype="int64").fill_diagonal_(1.7).numpy().tolist() == [[1, 0], [0, 1]]
    assert tensor(MATRIX).fill_diagonal_(9.0, 10).numpy().tolist() == MATRIX.tolist()
    with pytest.raises(ValueError, match="two dimensions"):
        paddle.zeros([2]).fill_diagonal_(1.0)  # a crash in Paddle
    x = tensor(MATRIX, gradient=True)
    y = x * 2.0
    y.fill_diagonal_(3.0)
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.where(np.eye(3, 4, dtype=bool), 0, 8 * MATRIX))


def test_fill_diagonal_tensor() -> None:
    numbers = tensor(np.arange(1, 7, dtype="float32").reshape(3, 2))
    x = paddle.zeros([2, 3, 4])
    assert x.fill_diagonal_tensor(numbers, 0, 0, 2).numpy()[1, :, 1].tolist() == [2, 4, 6]
    assert x.numpy().sum() == 0
    assert x.fill_diagonal_tensor_(numbers, dim1=0, dim2=2) is x
    assert x.numpy()[0, :, 0].tolist() == [1, 3, 5]
    # Paddle reads the bytes of another type as they are; here they are converted.
    assert tensor(MATRIX).fill_diagonal_tensor(paddle.ones([3], dtype="int32")).numpy()[0, 0] == 1


def test_scatters_in_place() -> None:
    index = tensor(np.array([[0, 1, 0], [1, 0, 1]]))
    x = tensor(SMALL.copy())
    assert x.scatter_add_(1, index, paddle.full([2, 3], 10.0)) is x
    assert x.numpy().tolist() == [[20, 11, 2], [13, 24, 5]]
    y = tensor(SMALL.copy())
    y.masked_scatter_(y > 3, tensor([-1.0, -2.0, -3.0]))
    assert y.numpy().tolist() == [[0, 1, 2], [3, -1, -2]]


# ---- values observed in Paddle -------------------------------------------------------------------


def test_broadcast_shapes() -> None:
    assert paddle.broadcast_shape([2, 1, 3], [1, 3, 1]) == [2, 3, 3]
    assert paddle.broadcast_shape([-1, 3], [3, 3]) == [3, 3]
    assert paddle.broadcast_shape([0, 3], (1, 3)) == [0, 3]
    assert paddle.broadcast_shapes([2, 1], [3], (1,)) == [2, 3]
    assert paddle.broadcast_shapes() == []
    with pytest.raises(ValueError, match="2 and 3"):
        paddle.broadcast_shape([2, 1], [3, 1])
    with pytest.raises(TypeError):
        paddle.broadcast_shapes(2, [3, 1])


def test_concat_has_three_names() -> None:
    x = tensor(SMALL)
    assert paddle.cat is paddle.concat
    assert paddle.cat(tensors=[x, x], dim=1).shape == paddle.concatenate([x, x], 1).shape == [2, 6]
    for wrong in (x.concat, x.stack, x.broadcast_tensors):
        with pytest.raises(ValueError, match="list"):
            wrong()


@pytest.mark.parametrize(
    ("function", "shape"), [("hstack", [6]), ("vstack", [2, 3]), ("dstack", [1, 3, 2]), ("column_stack", [3, 2])]
)
def test_stacking_the_rows_of_one_tensor(function: str, shape: list[int]) -> None:
    assert getattr(paddle, function)(tensor(SMALL)).shape == shape


def test_parts_between_positions_need_not_rise() -> None:
    assert [t.shape[0] for t in paddle.tensor_split(tensor(CUBE), [2, 1])] == [2, 0, 1]
    assert [t.shape[1] for t in paddle.hsplit(tensor(CUBE), 5)] == [1, 1, 1, 0, 0]
    assert [t.shape[2] for t in paddle.dsplit(tensor(CUBE), (0, 10))] == [0, 4, 0]
    assert [t.shape for t in tensor(CUBE).vsplit([])] == [[2, 3, 4]]


def test_overlapping_strides_add_their_gradients() -> None:
    x = tensor(np.arange(5, dtype="float32"), gradient=True)
    paddle.as_strided(x, [3, 3], [1, 1]).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1, 2, 3, 2, 1])


def test_masked_scatter_gradients() -> None:
    mask = tensor(np.array([[True, False, True], [False, True, False]]))
    x, value = tensor(SMALL, gradient=True), tensor(SMALL.copy(), gradient=True)
    out = paddle.masked_scatter(x, mask, value)
    (out * out).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0, 2, 0], [6, 0, 10]])
    np.testing.assert_array_equal(value.grad.numpy(), [[0, 2, 4], [0, 0, 0]])


def test_scatter_reduce_names() -> None:
    index, source = paddle.zeros([2, 3], dtype="int64"), paddle.full([2, 3], 10.0)
    for name, other in (("sum", "add"), ("prod", "mul"), ("prod", "multiply")):
        first = paddle.scatter_reduce(tensor(SMALL), 0, index, source, name)
        second = paddle.scatter_reduce(tensor(SMALL), 0, index, source, other)
        np.testing.assert_array_equal(first.numpy(), second.numpy())
    alone = paddle.scatter_reduce(tensor(SMALL), 0, index, source, "amin", include_self=False)
    assert alone.numpy().tolist() == [[10, 10, 10], [3, 4, 5]]


def test_take_along_dim() -> None:
    assert paddle.take_along_dim(input=tensor(SMALL), indices=tensor([[0], [2]]), dim=1).numpy().tolist() == [[0], [5]]


def test_complex_views_keep_infinities_apart() -> None:
    pairs = tensor(np.array([[np.inf, 1.0], [0.0, -np.inf]], "float32"))
    assert paddle.view_as_real(paddle.view_as_complex(pairs)).numpy().tolist() == pairs.numpy().tolist()


# ---- misuse --------------------------------------------------------------------------------------

_INDEX = np.array([[0, 1, 0], [1, 0, 1]])
MISUSE: dict[str, tuple[Any, type[Exception]]] = {
    "as_complex of three": (lambda x: paddle.as_complex(x), ValueError),
    "as_complex of integers": (lambda x: paddle.as_complex(x.astype("int32")[:, :2]), RuntimeError),
    "as_complex 0-d": (lambda x: paddle.as_complex(x.sum()), ValueError),
    "as_real of real": (lambda x: paddle.as_real(x), RuntimeError),
    "as_strided outside": (lambda x: paddle.as_strided(x, [2, 2], [10, 20]), ValueError),
    "as_strided before": (lambda x: paddle.as_strided(x, [2, 2], [1, -1]), ValueError),
    "as_strided lengths": (lambda x: paddle.as_strided(x, [2, 2], [1]), ValueError),
    "as_strided half an element": (lambda x: paddle.as_strided(x, [2], [1], 3), ValueError),
    "as_strided negative": (lambda x: paddle.as_strided(x, [-1, 2], [1, 1]), ValueError),
    "as_strided huge": (lambda x: paddle.as_strided(x, [2**40], [1]), ValueError),
    "unfold too wide": (lambda x: x.unfold(1, 5, 1), ValueError),
    "unfold step 0": (lambda x: x.unfold(1, 2, 0), ValueError),
    "unfold axis": (lambda x: x.unfold(3, 2, 1), ValueError),
    "unfold negative": (lambda x: x.unfold(1, -1, 1), ValueError),
    "hstack nothing": (lambda x: paddle.hstack([]), ValueError),
    "vstack types": (lambda x: paddle.vstack([x, x.astype("int64")]), ValueError),
    "hstack shapes": (lambda x: paddle.hstack([x[0], x]), ValueError),
    "vsplit 1-d": (lambda x: paddle.vsplit(x[0], 2), ValueError),
    "dsplit 2-d": (lambda x: paddle.dsplit(x, 2), ValueError),
    "hsplit 0-d": (lambda x: paddle.hsplit(x.sum(), 2), ValueError),
    "hsplit zero": (lambda x: paddle.hsplit(x, 0), ValueError),
    "tensor_split by tensor": (lambda x: paddle.tensor_split(x, paddle.to_tensor([1])), ValueError),
    "tensor_split axis": (lambda x: paddle.tensor_split(x, 2, 7), ValueError),
    "split_with_sizes sum": (lambda x: x.split_with_sizes([1, 1], 1), ValueError),
    "split_with_sizes negative": (lambda x: x.split_with_sizes([4, -1], 1), ValueError),
    "crop too large": (lambda x: paddle.crop(x, [3, 3]), ValueError),
    "crop before": (lambda x: paddle.crop(x, [1, 1], [-1, 0]), ValueError),
    "crop lengths": (lambda x: paddle.crop(x, [1]), ValueError),
    "diag_embed same": (lambda x: paddle.diag_embed(x, 0, 0, 0), ValueError),
    "diag_embed axis": (lambda x: paddle.diag_embed(x, 0, 0, 5), IndexError),
    "diag_embed 0-d": (lambda x: paddle.diag_embed(x.sum()), IndexError),
    "diagonal_scatter shape": (lambda x: paddle.diagonal_scatter(x, paddle.ones([1])), ValueError),
    "select_scatter axis": (lambda x: paddle.select_scatter(x, paddle.ones([2]), 3, 1), IndexError),
    "select_scatter index": (lambda x: paddle.select_scatter(x, paddle.ones([2]), 1, 5), IndexError),
    "select_scatter shape": (lambda x: paddle.select_scatter(x, paddle.ones([3]), 1, 1), RuntimeError),
    "slice_scatter shape": (lambda x: paddle.slice_scatter(x, x, [1], [0], [3], [2]), ValueError),
    "slice_scatter lengths": (lambda x: paddle.slice_scatter(x, x, [1], [0, 1], [3], [2]), ValueError),
    "slice_scatter stride": (lambda x: paddle.slice_scatter(x, x, [1], [0], [3], [0]), ValueError),
    "masked_scatter types": (lambda x: paddle.masked_scatter(x, x > 0, paddle.arange(9)), TypeError),
    "masked_scatter mask": (lambda x: paddle.masked_scatter(x, x, x), TypeError),
    "masked_scatter too few": (lambda x: paddle.masked_scatter(x, x > 0, x[0]).numpy(), IndexError),
    "scatter_add outside": (lambda x: paddle.scatter_add(x, 1, tensor(_INDEX + 5), x).numpy(), IndexError),
    "scatter_add small src": (lambda x: paddle.scatter_add(x, 1, tensor(_INDEX), x[:1]), RuntimeError),
    "scatter_add types": (lambda x: paddle.scatter_add(x, 1, tensor(_INDEX), x.astype("float64")), ValueError),
    "scatter_reduce name": (lambda x: paddle.scatter_reduce(x, 1, tensor(_INDEX), x, "median"), ValueError),
    "narrow too long": (lambda x: x.narrow(1, 2, 2), ValueError),
    "narrow start": (lambda x: x.narrow(1, 5, 0), ValueError),
    "narrow negative": (lambda x: x.narrow(1, 1, -1), ValueError),
    "narrow axis": (lambda x: x.narrow(5, 1, 2), IndexError),
    "permute twice": (lambda x: x.permute((0, 0)), ValueError),
    "transpose_ short": (lambda x: x.transpose_([0]), ValueError),
    "t_ of a cube": (lambda x: tensor(CUBE).t_(), ValueError),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse(name: str) -> None:
    act, error = MISUSE[name]
    with pytest.raises(error, match=r"^\("):
        act(tensor(SMALL))
