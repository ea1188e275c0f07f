"""Decompositions put together again, and what is random or has no one right answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle

TYPES = ["float32", "float64", "complex64", "complex128"]


def matrices(*shape: int, dtype: str = "float64", seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * random.normal(size=shape)
    return values.astype(dtype)


def close(actual: Any, expected: Any) -> None:
    actual = actual.numpy() if isinstance(actual, paddle.Tensor) else actual
    tolerance = 1e-4 if actual.dtype in (np.float32, np.complex64) else 1e-10
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (2, 3, 4)], ids=str)
def test_products_of_the_parts(shape: tuple[int, ...], dtype: str) -> None:
    values = matrices(*shape, dtype=dtype)
    for _ in range(4):  # the first runs are immediate, the last ones compiled
        x = paddle.to_tensor(values)
        order, low, high = paddle.linalg.lu_unpack(*paddle.linalg.lu(x))
        close(order @ low @ high, values)
        q, r = paddle.linalg.qr(x, "complete")
        close(q @ r, values)
        left, sizes, right = paddle.linalg.svd(x)
        close((left * sizes.unsqueeze(-2).astype(dtype)) @ right, values)
        inverse = paddle.linalg.pinv(x)
        close(x @ inverse @ x, values)


@pytest.mark.parametrize("dtype", TYPES)
def test_eigenvectors(dtype: str) -> None:
    values = matrices(2, 4, 4, dtype=dtype)
    numbers, vectors = paddle.linalg.eig(paddle.to_tensor(values))
    assert "complex" in str(numbers.dtype)
    close(values @ vectors.numpy(), (vectors * numbers.unsqueeze(-2)).numpy())
    symmetric = values + values.swapaxes(-1, -2).conj()
    numbers, vectors = paddle.linalg.eigh(paddle.to_tensor(symmetric))
    assert "complex" not in str(numbers.dtype)
    close(symmetric @ vectors.numpy(), vectors.numpy() * numbers.numpy()[..., None, :])


def test_float32_eigenvectors_have_one_sign() -> None:
    """The immediate and the compiled run give the same vectors, not their negatives."""
    values = matrices(3, 5, 5, dtype="float32")
    results = [paddle.linalg.eig(paddle.to_tensor(values))[1].numpy() for _ in range(4)]
    np.testing.assert_allclose(results[-1], results[0], rtol=1e-3, atol=1e-4)


def test_lu_pivots_and_infos() -> None:
    """As observed from Paddle 3.3.1: exchanges from 1 in int32, the first zero pivot from 1."""
    for _ in range(4):
        x = paddle.to_tensor([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [2.0, 1.0]]])
        factors, pivots, infos = paddle.linalg.lu(x, get_infos=True)
        assert pivots.tolist() == [[2, 2], [2, 2]]
        assert infos.tolist() == [2, 0]
        assert str(pivots.dtype) == str(infos.dtype) == "paddle.int32"
        close(factors[0], [[2.0, 4.0], [0.5, 0.0]])


@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_lu_solve(trans: str) -> None:
    values = matrices(3, 3, dtype="complex128")
    right = matrices(3, 2, dtype="complex128", seed=2)
    found = paddle.linalg.lu_solve(paddle.to_tensor(right), *paddle.linalg.lu(paddle.to_tensor(values)), trans)
    close(found, np.linalg.solve({"N": values, "T": values.T, "C": values.conj().T}[trans], right))


def test_lstsq_results() -> None:
    """Which results each driver gives, and in which types, as observed from Paddle 3.3.1."""
    x, y = matrices(4, 3), matrices(4, 2, seed=2)
    expected, residuals, rank, sizes = np.linalg.lstsq(x, y, rcond=None)
    given = {"gelsy": (0, 1, 0), "gelsd": (1, 1, 1), "gelss": (1, 1, 1), "gels": (1, 0, 0)}
    for driver, (has_residuals, has_rank, has_sizes) in given.items():
        found = paddle.linalg.lstsq(paddle.to_tensor(x), paddle.to_tensor(y), driver=driver)
        close(found[0], expected)
        close(found[1], residuals if has_residuals else np.zeros(0))
        assert found[2].tolist() == (rank if has_rank else [])
        close(found[3], sizes if has_sizes else np.zeros(0))
    defective = paddle.to_tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    solution, _, rank, _ = paddle.linalg.lstsq(defective, paddle.to_tensor([[1.0], [2.0], [3.0]]))
    close(solution, [[1.0], [1.0]])
    assert rank.item() == 1


def test_low_rank() -> None:
    paddle.seed(1)
    values = matrices(20, 3) @ matrices(3, 12, seed=2)
    for source in (values, values.T):
        x = paddle.to_tensor(source)
        left, sizes, right = paddle.linalg.svd_lowrank(x, q=4)
        assert (left.shape, sizes.shape, right.shape) == ([len(source), 4], [4], [source.shape[1], 4])
        close((left * sizes.unsqueeze(0)) @ right.t(), source)
        close(sizes[:3], np.linalg.svd(source, compute_uv=False)[:3])
    mean = values.mean(0, keepdims=True)
    expected = np.linalg.svd(values - mean, compute_uv=False)
    close(paddle.linalg.pca_lowrank(paddle.to_tensor(values), q=3)[1], expected[:3])
    close(paddle.linalg.svd_lowrank(paddle.to_tensor(values), q=3, M=paddle.to_tensor(mean))[1], expected[:3])
    batch = paddle.to_tensor(matrices(2, 5, 8))
    assert [part.shape for part in paddle.linalg.pca_lowrank(batch)] == [[2, 5, 5], [2, 5], [2, 8, 5]]


def test_householder_product_is_the_q_of_qr() -> None:
    from scipy.linalg import qr

    values = matrices(5, 3)
    raw: Any = qr(values, mode="raw")
    packed, tau = raw[0]
    q, r = np.linalg.qr(values)
    close(paddle.linalg.householder_product(paddle.to_tensor(packed), paddle.to_tensor(tau)), q)
    turned = paddle.linalg.ormqr(*map(paddle.to_tensor, (packed, tau, values)), transpose=True)
    close(turned, r)


def test_multi_dot_takes_the_cheap_order() -> None:
    """A column times a row first would need 4e8 numbers; from the right it is a few thousand."""
    column, row, last = (paddle.ones(shape) for shape in ([20000, 1], [1, 20000], [20000, 1]))
    assert paddle.linalg.multi_dot([column, row, last])[0, 0].item() == 20000


def test_zero_pivots_in_triangular_systems_give_infinity() -> None:
    for _ in range(4):
        x = paddle.to_tensor([[1.0, 2.0], [0.0, 0.0]])
        found = paddle.linalg.triangular_solve(x, paddle.to_tensor([[1.0], [2.0]])).numpy()
        assert found.tolist() == [[-np.inf], [np.inf]]


@pytest.mark.parametrize(
    "function",
    ["cholesky", "eigh", "eigvalsh", "eig", "svd", "qr", "matrix_exp", "pinv", "eigvals", "det"],
)
def test_nan_in_one_matrix_of_a_batch(function: str) -> None:
    """It spoils that matrix and nothing else, and ends no process."""
    good = np.array([[2.0, 0.5], [0.5, 1.0]])
    for _ in range(4):
        x = paddle.to_tensor(np.stack([good, np.array([[np.nan, 1.0], [1.0, 2.0]])]))
        result = getattr(paddle.linalg, function)(x)
        first = result[0] if isinstance(result, tuple) else result
        alone = getattr(paddle.linalg, function)(paddle.to_tensor(good))
        close(first[0], (alone[0] if isinstance(alone, tuple) else alone).numpy())
        assert not np.isfinite(first[1].numpy()).all()
