"""`paddle.sparse` functions against NumPy and SciPy, and against what Paddle was seen to give."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import proa as paddle

from .common import as_array, check_gradient, random_coo, sparse

UNARY = {
    "sin": np.sin, "tan": np.tan, "asin": np.arcsin, "atan": np.arctan, "sinh": np.sinh, "tanh": np.tanh,
    "asinh": np.arcsinh, "atanh": np.arctanh, "sqrt": np.sqrt, "square": np.square, "log1p": np.log1p,
    "expm1": np.expm1, "abs": np.abs, "neg": np.negative, "deg2rad": np.deg2rad, "rad2deg": np.rad2deg,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x, array = random_coo(3, 4)
    function = getattr(sparse, name)
    for tensor in (x, x.to_sparse_csr()):
        result = function(tensor)
        assert type(result) is type(tensor)
        assert result.dtype == paddle.float64
        np.testing.assert_allclose(as_array(result), UNARY[name](array), rtol=1e-12)
        np.testing.assert_allclose(as_array(getattr(tensor, name)()), UNARY[name](array), rtol=1e-12)
    check_gradient(function, x)
    with pytest.raises(TypeError, match="sparse"):
        function(paddle.ones([2]))
    with pytest.raises(TypeError, match="sparse"):
        function([1.0])


def test_other_unary():
    x, array = random_coo(3, 4)
    np.testing.assert_allclose(as_array(sparse.pow(x, 3)), array**3)
    np.testing.assert_allclose(as_array(x**2.5), array**2.5)
    check_gradient(lambda t: sparse.pow(t, 2.5), x)
    with pytest.raises(TypeError, match="number"):
        sparse.pow(x, x)
    nan = sparse.sparse_coo_tensor([[0, 1]], [1.0, float("nan")], [3])
    assert sparse.isnan(nan).dtype == paddle.bool
    assert sparse.isnan(nan).to_dense().numpy().tolist() == [0, 1, 0]
    changed = sparse.cast(x.to_sparse_csr(), "int32", "float32")
    assert changed.crows().dtype == paddle.int32
    assert changed.dtype == paddle.float32
    assert sparse.cast(x, value_dtype="int64").indices().dtype == paddle.int64
    with pytest.raises(TypeError, match="integers"):
        sparse.cast(x, "float32")
    check_gradient(lambda t: sparse.cast(t, "int32"), x)
    assert sparse.sin(sparse.cast(x, None, "int64")).dtype == paddle.float32


BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dense", [(), (2,)])
def test_binary(name, dense):
    x, a = random_coo(3, 4, seed=1, dense=dense)
    y, b = random_coo(3, 4, seed=2, dense=dense)
    function = getattr(sparse, name)
    expected = BINARY[name](a, b)
    result = function(x, y)
    np.testing.assert_allclose(as_array(result), expected)
    stored = (a != 0) | (b != 0)
    assert result.nnz() == (stored.any(-1) if dense else stored).sum()  # of the product too, as in Paddle
    np.testing.assert_allclose(as_array(function(x, x)), BINARY[name](a, a))
    check_gradient(function, x, y)
    if not dense:
        rows = function(x.to_sparse_csr(), y.to_sparse_csr())
        assert rows.is_sparse_csr()
        np.testing.assert_allclose(as_array(rows), expected)
        np.testing.assert_allclose(as_array(function(x, y.to_sparse_csr())), expected)
    for other in (random_coo(4, 3)[0], sparse.reshape(x, [4, 3, *dense])):
        with pytest.raises(ValueError, match="shapes"):
            function(x, other)


def test_binary_of_duplicates():
    x = sparse.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2, 3], [3, 3])
    for name, function in BINARY.items():
        np.testing.assert_allclose(as_array(getattr(sparse, name)(x, x)), function(as_array(x), as_array(x)))


def test_divide():
    x = sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2, 3], [3, 3], stop_gradient=False)
    y = sparse.sparse_coo_tensor([[0, 1, 2], [1, 1, 0]], [4.0, 5, 6], [3, 3], stop_gradient=False)
    result = sparse.divide(x, y)
    nan, inf = float("nan"), float("inf")
    assert result.nnz() == 9  # as in Paddle: where nothing is stored, 0 / 0
    np.testing.assert_array_equal(as_array(result), [[nan, 0.25, nan], [nan, 0, inf], [0.5, nan, nan]])
    first, second = paddle.grad(result, [x, y])
    np.testing.assert_allclose(first.values().numpy(), [0.25, inf, 1 / 6])
    np.testing.assert_allclose(second.values().numpy(), [-0.0625, 0, -1 / 12], rtol=1e-6)
    assert sparse.divide(x.to_sparse_csr(), y.to_sparse_csr()).is_sparse_csr()


def test_numbers_and_operators():
    x, a = random_coo(3, 3, seed=1)
    y, b = random_coo(3, 3, seed=2)
    dense = np.random.default_rng(0).random((3, 3))
    d = paddle.to_tensor(dense)
    for result, expected in (
        (sparse.multiply(x, 2), a * 2), (sparse.divide(x, 2.0), a / 2), (x * 2, a * 2), (2 * x, a * 2), (x / 4, a / 4),
        (x + y, a + b), (x - y, a - b), (x * y, a * b), (-x, -a), (abs(x), abs(a)), (x @ y, a @ b), (x @ d, a @ dense),
        (d @ x, dense @ a), (x * d, a * dense), (d * x, a * dense), (x.T, a.T),
    ):  # fmt: skip
        np.testing.assert_allclose(as_array(result), expected)
    for call in (lambda: sparse.add(x, 2.0), lambda: sparse.subtract(x, 2.0), lambda: x + 1, lambda: 1 + x):
        with pytest.raises(TypeError, match="sparse tensor"):
            call()
    for call in (lambda: x + d, lambda: d - x, lambda: sparse.add(d, x), lambda: sparse.divide(x, d)):
        with pytest.raises(NotImplementedError, match="to_dense"):
            call()


def test_bias_is_added_to_stored_rows():
    x, array = random_coo(3, 4, dense=(2,))
    result = as_array(sparse.add(x, paddle.to_tensor([1.0, 2.0], dtype="float64")))
    np.testing.assert_allclose(result, np.where(array != 0, array + np.array([1, 2]), 0))


def test_mask_as():
    x, array = random_coo(3, 4)
    dense = paddle.to_tensor(np.arange(12.0).reshape(3, 4))
    for mask in (x, x.to_sparse_csr()):
        result = sparse.mask_as(dense, mask)
        assert type(result) is type(mask)
        np.testing.assert_array_equal(as_array(result), np.where(array != 0, dense.numpy(), 0))
    dense.stop_gradient = False
    check_gradient(lambda t: sparse.mask_as(t, x), dense)
    for wrong in (paddle.ones([2, 4], "float64"), paddle.ones([3, 4], "float32")):
        with pytest.raises(ValueError, match="same"):
            sparse.mask_as(wrong, x)


def test_matmul():
    x, a = random_coo(3, 4, seed=1)
    y, b = random_coo(4, 5, seed=2)
    dense = paddle.to_tensor(np.random.default_rng(0).random((4, 2)), stop_gradient=False)
    for left, right in ((x, y), (x.to_sparse_csr(), y.to_sparse_csr())):
        product = sparse.matmul(left, right)
        assert type(product) is type(left)
        np.testing.assert_allclose(as_array(product), (scipy.sparse.coo_array(a) @ scipy.sparse.coo_array(b)).toarray())
        np.testing.assert_allclose(sparse.matmul(left, dense).numpy(), a @ dense.numpy())
    check_gradient(sparse.matmul, x, dense)
    check_gradient(sparse.matmul, x, y)
    np.testing.assert_allclose(sparse.matmul(dense.t(), y).numpy(), dense.numpy().T @ b)
    np.testing.assert_allclose(sparse.mv(x, dense[:, 0]).numpy(), a @ dense.numpy()[:, 0])
    check_gradient(lambda s, d: sparse.mv(s, d[:, 1]), x, dense)


def test_matmul_of_batches():
    x, a = random_coo(2, 3, 4, seed=1)
    y, b = random_coo(2, 4, 5, seed=2)
    dense = np.random.default_rng(0).random((2, 4, 3))
    for left, right in ((x, y), (x.to_sparse_csr(), y.to_sparse_csr())):
        np.testing.assert_allclose(as_array(sparse.matmul(left, right)), a @ b)
        np.testing.assert_allclose(sparse.matmul(left, paddle.to_tensor(dense)).numpy(), a @ dense)


def test_matmul_refuses():
    x, _ = random_coo(3, 4)
    for call, text in (
        (lambda: sparse.matmul(x, paddle.ones([3, 2], "float64")), "rows"),
        (lambda: sparse.matmul(x, paddle.ones([4, 2], "float32")), "dtype"),
        (lambda: sparse.matmul(x, x), "rows"),
        (lambda: sparse.mv(x, paddle.ones([4, 1], "float64")), "vector"),
        (lambda: sparse.mv(x, paddle.ones([3], "float64")), "rows"),
        (lambda: sparse.matmul(random_coo(2, 3, 4)[0], paddle.ones([3, 4, 2], "float64")), "batches"),
        (lambda: sparse.matmul(random_coo(3, 4, dense=(2,))[0], paddle.ones([4, 2], "float64")), "matrices"),
        (lambda: sparse.addmm(paddle.ones([3], "float64"), x, paddle.ones([4, 2], "float64")), "shape"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    for call in (lambda: sparse.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])), lambda: sparse.matmul(x, 2.0)):
        with pytest.raises(TypeError):
            call()


def test_addmm():
    x, a = random_coo(3, 3, seed=1)
    y, b = random_coo(3, 3, seed=2)
    dense = paddle.to_tensor(np.random.default_rng(0).random((3, 3)))
    result = sparse.addmm(dense, x, dense, 2.0, 3.0)
    np.testing.assert_allclose(result.numpy(), 2 * dense.numpy() + 3 * (a @ dense.numpy()))
    np.testing.assert_allclose(as_array(sparse.addmm(x, x, y, 2.0, 3.0)), 2 * a + 3 * (a @ b))
    with pytest.raises(TypeError, match="input"):
        sparse.addmm(x, x, dense)


def test_masked_matmul():
    mask, m = random_coo(3, 5)
    random = np.random.default_rng(0)
    x = paddle.to_tensor(random.random((3, 4)), stop_gradient=False)
    y = paddle.to_tensor(random.random((4, 5)), stop_gradient=False)
    for pattern in (mask, mask.to_sparse_csr()):
        result = sparse.masked_matmul(x, y, pattern)
        assert type(result) is type(pattern)
        np.testing.assert_allclose(as_array(result), np.where(m != 0, x.numpy() @ y.numpy(), 0))
    check_gradient(lambda p, q: sparse.masked_matmul(p, q, mask), x, y)
    mask, m = random_coo(2, 3, 5)
    a, b = random.random((2, 3, 4)), random.random((2, 4, 5))
    result = sparse.masked_matmul(paddle.to_tensor(a), paddle.to_tensor(b), mask.to_sparse_csr())
    np.testing.assert_allclose(as_array(result), np.where(m != 0, a @ b, 0))
    with pytest.raises(ValueError, match="fit"):
        sparse.masked_matmul(paddle.to_tensor(a), paddle.to_tensor(b[:, :3]), mask)


def test_transpose_reshape():
    x, array = random_coo(2, 3, 4)
    for perm in ([2, 0, 1], [0, 2, 1], [-1, 0, 1]):
        np.testing.assert_array_equal(as_array(sparse.transpose(x, perm)), array.transpose(perm))
        np.testing.assert_array_equal(as_array(sparse.transpose(x.to_sparse_csr(), perm)), array.transpose(perm))
    for shape in ([6, 4], [24], [0, -1], [4, 3, 2]):
        expected = array.reshape([2, 12] if shape == [0, -1] else shape)
        np.testing.assert_array_equal(as_array(sparse.reshape(x, shape)), expected)
    assert sparse.reshape(x.to_sparse_csr(), [6, 4]).is_sparse_csr()
    check_gradient(lambda t: sparse.transpose(t, [2, 0, 1]), x)
    check_gradient(lambda t: sparse.reshape(t, [4, 6]), x)
    hybrid, array = random_coo(2, 3, dense=(4, 5))
    np.testing.assert_array_equal(as_array(sparse.transpose(hybrid, [1, 0, 3, 2])), array.transpose([1, 0, 3, 2]))
    np.testing.assert_array_equal(as_array(sparse.reshape(hybrid, [6, 4, 5])), array.reshape(6, 4, 5))
    for call in (
        lambda: sparse.transpose(x, [0, 0, 1]), lambda: sparse.transpose(x, [0]), lambda: sparse.transpose(x, [0, 1, 5]),
        lambda: sparse.transpose(hybrid, [0, 2, 1, 3]), lambda: sparse.reshape(x, [5, -1]),
        lambda: sparse.reshape(x, [-1, -1]), lambda: sparse.reshape(hybrid, [2, 3, 20]),
        lambda: sparse.reshape(x.to_sparse_csr(), [24]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="sparse"):
            call()


def test_slice():
    x, array = random_coo(4, 5)
    for axes, starts, ends, place in (
        ([0, 1], [0, 1], [2, 3], np.s_[0:2, 1:3]), ([1], [-3], [100], np.s_[:, -3:]), ([-2], [2], [1], np.s_[2:1]),
    ):  # fmt: skip
        for tensor in (x, x.to_sparse_csr()):
            result = sparse.slice(tensor, axes, starts, ends)
            assert type(result) is type(tensor)
            np.testing.assert_array_equal(as_array(result), array[place])
    check_gradient(lambda t: sparse.slice(t, [0], [1], [3]), x)
    hybrid, array = random_coo(3, 4, dense=(5,))
    np.testing.assert_array_equal(as_array(sparse.slice(hybrid, [0, 2], [1, 1], [3, 4])), array[1:3, :, 1:4])
    for arguments in (([5], [0], [1]), ([0], [0, 1], [1, 2]), ([0, 0], [0, 0], [1, 1])):
        with pytest.raises(ValueError, match="slice"):
            sparse.slice(x, *arguments)


def test_sum():
    x, array = random_coo(2, 3, 4)
    for axis in (0, -1, 1, [0, 2], [1, 2]):
        for keepdim in (False, True):
            expected = array.sum(tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdim)
            np.testing.assert_allclose(as_array(sparse.sum(x, axis, keepdim=keepdim)), expected)
            rows = sparse.sum(x.to_sparse_csr(), axis, keepdim=keepdim)
            assert rows.is_sparse_csr()
            np.testing.assert_allclose(as_array(rows).reshape(expected.shape), expected)
    assert sparse.sum(x).shape == [1]
    assert sparse.sum(x, keepdim=True).shape == [1, 1, 1]
    assert sparse.sum(x.to_sparse_csr()).shape == [1, 1]
    np.testing.assert_allclose(as_array(sparse.sum(x)), [array.sum()])
    matrix, _ = random_coo(3, 4)
    assert sparse.sum(matrix.to_sparse_csr(), -1).shape == [3, 1]  # as in Paddle
    hybrid, array = random_coo(2, 3, dense=(4,))
    for axis in (0, 2, [1, 2]):
        expected = array.sum(tuple(axis) if isinstance(axis, list) else axis)
        np.testing.assert_allclose(as_array(sparse.sum(hybrid, axis)), expected)
    assert sparse.sum(sparse.cast(x, None, "int32")).dtype == paddle.int64
    assert sparse.sum(x, 0, "float32").dtype == paddle.float32
    check_gradient(lambda t: sparse.sum(t, [0, 2]), x)
    check_gradient(sparse.sum, hybrid)
    with pytest.raises(ValueError, match="axis"):
        sparse.sum(x, 3)
    empty = sparse.sparse_coo_tensor(np.zeros((2, 0), "int64"), np.zeros(0), [3, 3])
    assert as_array(sparse.sum(empty)).tolist() == [0]
    assert sparse.sum(empty, 1).nnz() == 0


def test_coalesce_and_shape():
    x, array = random_coo(3, 4, dense=(2,))
    twice = sparse.sparse_coo_tensor(
        np.concatenate([x.indices().numpy()] * 2, 1), np.concatenate([x.values().numpy()] * 2), [3, 4, 2]
    )
    together = sparse.coalesce(twice)
    assert together.nnz() == x.nnz()
    assert (np.diff(np.ravel_multi_index(together.indices().numpy(), (3, 4))) > 0).all()
    np.testing.assert_allclose(as_array(together), 2 * array)
    assert sparse.is_same_shape(x, twice)
    assert x.is_same_shape(paddle.ones([3, 4, 2]))
    assert not sparse.is_same_shape(paddle.ones([2]), x)
    with pytest.raises(TypeError, match="Tensor"):
        sparse.is_same_shape(x, [3, 4, 2])


@pytest.mark.parametrize("center", [True, False])
def test_pca_lowrank(center):
    from proa.eager.declare import PUBLIC

    if "linalg.svd" not in PUBLIC or "linalg.qr" not in PUBLIC:
        pytest.skip("no linalg.qr or linalg.svd yet")
    random = np.random.default_rng(0)
    array = random.random((8, 3)) @ random.random((3, 6)) * (random.random((8, 1)) > 0.3)
    for x in (paddle.to_tensor(array).to_sparse_coo(2), paddle.to_tensor(array).to_sparse_csr()):
        u, s, v = sparse.pca_lowrank(x, q=4, center=center)
        assert u.shape == [8, 4]
        assert s.shape == [4]
        assert v.shape == [6, 4]
        expected = array - array.mean(0) if center else array
        np.testing.assert_allclose(u.numpy() @ np.diag(s.numpy()) @ v.numpy().T, expected, atol=1e-8)
        np.testing.assert_allclose(s.numpy(), np.linalg.svd(expected, compute_uv=False)[:4], atol=1e-8)
    for options in ({"q": 7}, {"q": -1}, {"niter": -1}):
        with pytest.raises(ValueError, match="pca_lowrank"):
            sparse.pca_lowrank(x, **options)
    with pytest.raises(TypeError, match="sparse"):
        sparse.pca_lowrank(paddle.to_tensor(array))


def test_a_hot_loop_compiles_and_agrees():
    x, array = random_coo(6, 6, dtype="float32")
    weight = paddle.ones([6, 2])
    weight.stop_gradient = False
    losses = []
    for _ in range(6):
        loss = (sparse.matmul(sparse.tanh(x), weight) ** 2).mean()
        loss.backward()
        losses.append((float(loss), weight.grad.numpy().copy(), x.grad.values().numpy().copy()))
        weight.clear_gradient(False)
        x.clear_gradient(False)
    expected = np.mean((np.tanh(array) @ np.ones((6, 2))) ** 2)
    for loss, for_weight, for_x in losses:
        assert loss == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(for_weight, losses[0][1], rtol=1e-4)
        np.testing.assert_allclose(for_x, losses[0][2], rtol=1e-4)
