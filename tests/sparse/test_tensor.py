"""What a sparse tensor is: creation, description, text, gradient, and what dense operations say to it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import proa as paddle

from .common import as_array, random_coo, sparse

INDICES, VALUES = [[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0]
DENSE = np.array([[0, 1, 0], [0, 0, 2], [3, 0, 0]], "float32")


def coo(stop_gradient: bool = True, **options):
    return sparse.sparse_coo_tensor(INDICES, VALUES, [3, 3], stop_gradient=stop_gradient, **options)


def csr(stop_gradient: bool = True, **options):
    return sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], VALUES, [3, 3], stop_gradient=stop_gradient, **options)


def test_description():
    for x in (coo(), csr()):
        assert isinstance(x, paddle.Tensor)
        assert x.shape == [3, 3]
        assert x.ndim == 2
        assert x.size == 9
        assert len(x) == 3
        assert x.dtype == paddle.float32
        assert x.nnz() == 3
        assert x.sparse_dim() == 2
        assert x.dense_dim() == 0
        assert x.is_sparse()
        assert not x.is_dense()
        assert x.layout == "NCHW"
        assert x.stop_gradient
        assert x.values().numpy().tolist() == VALUES
        assert np.array_equal(as_array(x), DENSE)
    assert coo().is_sparse_coo()
    assert not coo().is_sparse_csr()
    assert csr().is_sparse_csr()
    assert not csr().is_sparse_coo()
    assert coo().indices().numpy().tolist() == INDICES
    assert coo().indices().dtype == paddle.int64
    assert csr().crows().numpy().tolist() == [0, 1, 2, 3]
    assert csr().cols().numpy().tolist() == [1, 2, 0]


def test_description_of_dense_tensors():
    x = paddle.ones([2, 3])
    assert not x.is_sparse()
    assert not x.is_sparse_coo()
    assert not x.is_sparse_csr()
    assert x.sparse_dim() == 0
    assert x.dense_dim() == 2
    assert x.layout == "NCHW"
    assert x.to_dense() is x
    for method in ("nnz", "indices", "values", "crows", "cols", "is_coalesced", "coalesce"):
        with pytest.raises(TypeError, match=method):
            getattr(x, method)()


def test_methods_of_the_other_layout():
    for x, methods in ((coo(), ("crows", "cols")), (csr(), ("indices", "is_coalesced", "coalesce"))):
        for method in methods:
            with pytest.raises(TypeError, match="sparse"):
                getattr(x, method)()


def test_text_is_paddles():
    assert str(coo()) == (
        "Tensor(shape=[3, 3], dtype=paddle.float32, place=Place(cpu), stop_gradient=True, \n"
        "       indices=[[0, 1, 2],\n"
        "                [1, 2, 0]], \n"
        "       values=[1., 2., 3.])"
    )
    assert str(csr(False)) == (
        "Tensor(shape=[3, 3], dtype=paddle.float32, place=Place(cpu), stop_gradient=False, \n"
        "       crows=[0, 1, 2, 3], \n"
        "       cols=[1, 2, 0], \n"
        "       values=[1., 2., 3.])"
    )


def test_creation():
    assert sparse.sparse_coo_tensor(INDICES, VALUES).shape == [3, 3]
    assert sparse.sparse_coo_tensor(INDICES, [1, 2, 3]).dtype == paddle.int64
    assert coo(dtype="float64").dtype == paddle.float64
    assert sparse.sparse_coo_tensor(np.array(INDICES, "int32"), VALUES).indices().dtype == paddle.int32
    hybrid = sparse.sparse_coo_tensor(INDICES, [[1.0, 2], [3, 4], [5, 6]], [3, 3, 2])
    assert hybrid.sparse_dim() == 2
    assert hybrid.dense_dim() == 1
    assert hybrid.to_dense().numpy()[2, 0].tolist() == [5, 6]
    empty = sparse.sparse_coo_tensor(np.zeros((2, 0), "int64"), np.zeros(0, "float32"), [3, 3])
    assert empty.nnz() == 0
    assert not as_array(empty).any()
    assert as_array(sparse.sin(empty)).shape == (3, 3)
    batch = sparse.sparse_csr_tensor([0, 1, 2, 0, 1, 1], [1, 0, 1], VALUES)
    assert batch.shape == [2, 2, 2]
    assert batch.to_dense().numpy().tolist() == [[[0, 1], [2, 0]], [[0, 3], [0, 0]]]
    assert sparse.creation.sparse_coo_tensor is sparse.sparse_coo_tensor


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([[0, 5], [0, 1]], [1.0, 2], [3, 3]), ValueError, "out of range"),
        (([[0, -1], [0, 1]], [1.0, 2], [3, 3]), ValueError, "negative"),
        (([[0, -1], [0, 1]], [1.0, 2]), ValueError, "negative"),
        ((INDICES, [1.0, 2], [3, 3]), ValueError, "same number"),
        ((INDICES, 1.0, [3, 3]), ValueError, "same number"),
        (([0, 1], [1.0, 2], [3]), ValueError, "two dimensions"),
        (([[[0, 1]]], [1.0, 2], [3]), ValueError, "two dimensions"),
        ((INDICES, VALUES, [3]), ValueError, "sparse dimensions"),
        ((INDICES, VALUES, [3, 3, 3]), ValueError, "sparse dimensions"),
        ((INDICES, [[1.0, 2]] * 3, [3, 3, 5]), ValueError, "sparse dimensions"),
        ((INDICES, VALUES, [-1, 3]), ValueError, "out of range"),
        ((np.array(INDICES, "float32"), VALUES, [3, 3]), TypeError, "integers"),
        ((np.zeros((2, 0), "int64"), np.zeros(0, "float32")), ValueError, "shape must be given"),
        ((np.zeros((0, 3), "int64"), VALUES), ValueError, "at least one"),
        (([[0], [2**62]], [1.0], [2**40, 2**62 + 1]), ValueError, "int64"),
    ],
)
def test_bad_coo(arguments, error, text):
    with pytest.raises(error, match=text):
        sparse.sparse_coo_tensor(*arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([0, 1, 2], [1, 2, 0], VALUES, [3, 3]), "entries"),
        (([0, 1, 2, 5], [1, 2, 0], VALUES, [3, 3]), "last offset"),
        (([1, 1, 2, 3], [1, 2, 0], VALUES, [3, 3]), "begin at 0"),
        (([0, 2, 1, 3], [1, 2, 0], VALUES, [3, 3]), "not fall"),
        (([0, 1, 2, 3], [1, 2, 7], VALUES, [3, 3]), "out of range"),
        (([0, 1, 2, 3], [1, 2, -1], VALUES, [3, 3]), "out of range"),
        (([0, 1, 2, 3], [1, 2], VALUES, [3, 3]), "same number"),
        (([0, 1, 2, 3], [1, 2, 0], [[1.0, 2]] * 3, [3, 3]), "one dimension"),
        (([0, 1], [1], [1.0], [3]), "two or three"),
        (([0, 1], [1], [1.0], [1, 1, 1, 3]), "two or three"),
        (([0, 1, 0], [1], [1.0]), "cannot be told"),
    ],
)
def test_bad_csr(arguments, text):
    with pytest.raises(ValueError, match=text):
        sparse.sparse_csr_tensor(*arguments)


def test_duplicates_add_up():
    x = sparse.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], VALUES, [3, 3], stop_gradient=False)
    assert as_array(x).tolist() == [[0, 3, 0], [0, 0, 3], [0, 0, 0]]
    y = x.coalesce()
    assert not x.is_coalesced()
    assert y.is_coalesced()
    assert y.coalesce() is y
    assert y.indices().numpy().tolist() == [[0, 1], [1, 2]]
    assert y.values().numpy().tolist() == [3, 3]
    sparse.square(y).to_dense().sum().backward()
    assert x.grad.values().numpy().tolist() == [6, 6, 6]


def test_layouts_there_and_back():
    x, array = random_coo(4, 5)
    assert np.array_equal(as_array(x.to_sparse_csr()), array)
    assert np.array_equal(as_array(x.to_sparse_csr().to_sparse_coo(2)), array)
    x, array = random_coo(3, 4, 5)
    assert np.array_equal(as_array(x.to_sparse_csr()), array)
    dense = paddle.to_tensor(array)
    assert np.array_equal(as_array(dense.to_sparse_coo(3)), array)
    assert dense.to_sparse_coo(3).nnz() == x.nnz()
    assert np.array_equal(as_array(dense.to_sparse_csr()), array)
    by_rows = dense.to_sparse_coo(1)
    assert by_rows.values().shape == [3, 4, 5]
    assert by_rows.is_coalesced()
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="sparse_dim"):
            dense.to_sparse_coo(wrong)
    for tensor in (paddle.ones([3]), paddle.ones([1, 1, 1, 3]), random_coo(3, 3, dense=(2,))[0]):
        with pytest.raises(ValueError, match="CSR"):
            tensor.to_sparse_csr()


def test_dense_to_sparse_has_a_gradient():
    x = paddle.to_tensor([[0.0, 1.0], [2.0, 0.0]], stop_gradient=False)
    sparse.square(x.to_sparse_coo(2)).to_dense().sum().backward()
    assert x.grad.numpy().tolist() == [[0, 2], [4, 0]]
    x.clear_gradient(False)
    sparse.square(x.to_sparse_csr()).to_dense().sum().backward()
    assert x.grad.numpy().tolist() == [[0, 2], [4, 0]]


@pytest.mark.parametrize("make", [coo, csr])
def test_gradient_of_a_leaf(make):
    x = make(False)
    assert x.is_leaf
    assert x.grad is None
    y = sparse.square(x)
    assert not y.is_leaf
    assert not y.stop_gradient
    assert not y.values().stop_gradient
    y.to_dense().sum().backward()
    assert type(x.grad) is type(x)
    assert x.grad.values().numpy().tolist() == [2, 4, 6]
    held = x.grad
    sparse.square(x).backward()
    assert x.grad.values().numpy().tolist() == [4, 8, 12]
    assert held.values().numpy().tolist() == [4, 8, 12]
    x.clear_grad()
    assert x.grad.values().numpy().tolist() == [0, 0, 0]
    x.clear_gradient(False)
    assert x.grad is None
    (x.values() * 5).sum().backward()
    assert x.grad.values().numpy().tolist() == [5, 5, 5]
    x.grad = None
    assert x.grad is None


def test_gradient_reaches_given_values():
    values = paddle.to_tensor(VALUES, stop_gradient=False)
    assert sparse.sparse_coo_tensor(INDICES, values, [3, 3]).stop_gradient
    x = sparse.sparse_coo_tensor(INDICES, values, [3, 3], stop_gradient=False)
    assert not x.is_leaf
    x.retain_grads()
    sparse.square(x).to_dense().sum().backward()
    assert values.grad.numpy().tolist() == [2, 4, 6]
    assert x.grad.values().numpy().tolist() == [2, 4, 6]


def test_seeds_hooks_and_modes():
    x = coo(False)
    seed = sparse.sparse_coo_tensor(INDICES, [1.0, 10, 100], [3, 3])
    sparse.square(x).backward(seed)
    assert x.grad.values().numpy().tolist() == [2, 40, 600]
    for wrong in (paddle.ones([3, 3]), sparse.sparse_coo_tensor([[0], [0]], [1.0], [3, 3])):
        with pytest.raises(ValueError, match="same positions"):
            sparse.square(x).backward(wrong)
    x.clear_gradient(False)
    seen = []
    handle = x.register_hook(lambda grad: seen.append(grad) or sparse.multiply(grad, 2.0))
    sparse.square(x).backward()
    assert seen[0].is_sparse_coo()
    assert x.grad.values().numpy().tolist() == [4, 8, 12]
    assert handle.remove()
    with paddle.no_grad():
        assert sparse.sin(x).stop_gradient
    assert x.detach().stop_gradient
    assert not x.stop_gradient
    paddle.autograd.backward([sparse.square(x)], [seed])
    assert x.grad.values().numpy().tolist() == [6, 48, 612]


def test_paddle_grad_any_order():
    x = coo(False)
    (first,) = paddle.grad(sparse.pow(x, 3).to_dense().sum(), x, create_graph=True)
    assert first.is_sparse_coo()
    (second,) = paddle.grad(first, x)
    np.testing.assert_allclose(first.values().numpy(), [3, 12, 27])
    np.testing.assert_allclose(second.values().numpy(), [6, 12, 18])
    with pytest.raises(ValueError, match="not used"):
        paddle.grad(coo(False).values().sum(), x)


def test_copies():
    x = coo(False)
    for copied in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), x.cpu(), x.to("cpu")):
        assert type(copied) is type(x)
        assert np.array_equal(as_array(copied), DENSE)
    assert np.array_equal(as_array(pickle.loads(pickle.dumps(csr()))), DENSE)
    assert x.astype("float64").dtype == paddle.float64
    squared = copy.deepcopy(sparse.square(x))
    assert squared.is_leaf
    assert np.array_equal(as_array(squared), DENSE**2)


def test_dense_operations_refuse():
    x = coo()
    calls = {
        "exp": lambda: paddle.exp(x), "add": lambda: paddle.add(x, x), "matmul": lambda: paddle.matmul(x, x),
        "concat": lambda: paddle.concat([x, x]), "mean": lambda: paddle.mean(x), "equal": lambda: x == x,
    }  # fmt: skip
    for name, call in calls.items():
        with pytest.raises(TypeError, match=rf"\({name}\).*dense tensors only.*to_dense"):
            call()
    for call in (
        x.numpy, x.tolist, x.item, lambda: x[0], lambda: np.asarray(x), lambda: paddle.to_tensor(x), x.exp,
        lambda: paddle.nn.functional.softmax(x), lambda: x.add_(x), lambda: paddle.nn.Linear(3, 2)(x),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            call()
