"""Gradients of decompositions whose results are free in sign, phase or the triangle that is read.

Losses are made so that the freedom does not show: they are built from a matrix that is symmetric by
construction, and from what does not change with signs and phases. First order is compared with
central differences of the loss, second order with central differences of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle

STEP = 1e-6


def matrices(*shape: int, is_complex: bool = False, seed: int = 3) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.normal(size=shape)
    return values + 1j * random.normal(size=shape) if is_complex else values


def symmetric(x: Any) -> Any:
    return x + paddle.matrix_transpose(x).conj()


def positive(x: Any) -> Any:
    transposed = paddle.matrix_transpose(x).conj()
    return paddle.matmul(x, transposed) + paddle.to_tensor(2.0 * np.eye(x.shape[-1])).astype(x.dtype)


def weighed(*parts: Any) -> Any:
    """A sum of the parts with fixed weights; of complex parts, the real part of it."""
    total = None
    for position, part in enumerate(parts):
        weights = np.random.default_rng(position).uniform(0.5, 1.5, part.shape)
        if "complex" in str(part.dtype):
            weights = weights * np.exp(1j * np.random.default_rng(position + 9).uniform(0, 3, part.shape))
        term = (part * paddle.to_tensor(weights.astype(part.numpy().dtype))).sum()
        term = term.real() if "complex" in str(term.dtype) else term
        total = term if total is None else total + term
    return total


def projectors(columns: Any) -> list[Any]:
    """`v v^H` for each column: the same for every phase of the column."""
    return [
        paddle.matmul(columns[..., i : i + 1], columns[..., i : i + 1].conj(), transpose_y=True)
        for i in range(columns.shape[-1])
    ]


def eigh_loss(x: Any) -> Any:
    values, vectors = paddle.linalg.eigh(symmetric(x))
    return weighed(values**2, *projectors(vectors))


def upper_eigh_loss(x: Any) -> Any:
    values, vectors = paddle.linalg.eigh(symmetric(x), "U")
    return weighed(values, *projectors(vectors))


def eig_loss(x: Any) -> Any:
    values, vectors = paddle.linalg.eig(x)
    return weighed(values, *projectors(vectors))


def svd_loss(x: Any) -> Any:
    left, values, right = paddle.linalg.svd(x)
    size = values.shape[-1]
    pairs = [paddle.matmul(left[..., i : i + 1], right[..., i : i + 1, :]) for i in range(size)]
    return weighed(values, *projectors(left), *projectors(paddle.matrix_transpose(right)), *pairs)


def full_svd_loss(x: Any) -> Any:
    left, values, right = paddle.linalg.svd(x, full_matrices=True)
    size = values.shape[-1]
    return weighed(values, *projectors(left[..., :size]), *projectors(paddle.matrix_transpose(right)[..., :size]))


LOSSES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "cholesky": (lambda x: weighed(paddle.linalg.cholesky(positive(x))), (3, 3)),
    "cholesky upper": (lambda x: weighed(paddle.linalg.cholesky(positive(x), upper=True)), (2, 3, 3)),
    "eigh": (eigh_loss, (3, 3)),
    "eigh upper, batch": (upper_eigh_loss, (2, 3, 3)),
    "eigvalsh": (lambda x: weighed(paddle.linalg.eigvalsh(symmetric(x))), (2, 3, 3)),
    "eig": (eig_loss, (3, 3)),
    "eig, batch": (eig_loss, (2, 3, 3)),
    "svd": (svd_loss, (3, 3)),
    "svd tall": (svd_loss, (4, 2)),
    "svd wide, batch": (svd_loss, (2, 2, 4)),
    "svd full": (full_svd_loss, (4, 2)),
    "pinv hermitian": (lambda x: weighed(paddle.linalg.pinv(symmetric(x), hermitian=True)), (3, 3)),
}


def gradient(loss: Callable[[Any], Any], values: np.ndarray) -> np.ndarray:
    x = paddle.to_tensor(values)
    x.stop_gradient = False
    return paddle.grad(loss(x), x)[0].numpy()


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", LOSSES)
def test_first_and_second_order(name: str, is_complex: bool) -> None:
    loss, shape = LOSSES[name]
    values = matrices(*shape, is_complex=is_complex)
    direction = matrices(*shape, is_complex=is_complex, seed=8)

    found = gradient(loss, values)
    expected = (loss(paddle.to_tensor(values + STEP * direction)).item()
                - loss(paddle.to_tensor(values - STEP * direction)).item()) / (2 * STEP)  # fmt: skip
    assert np.sum(np.real(found.conj() * direction)) == pytest.approx(expected, rel=1e-5, abs=1e-6)

    x = paddle.to_tensor(values)
    x.stop_gradient = False
    (first,) = paddle.grad(loss(x), x, create_graph=True)
    second = paddle.grad(weighed(first), x)[0].numpy()
    moved = [weighed(paddle.to_tensor(gradient(loss, values + s * STEP * direction))).item() for s in (1, -1)]
    expected = (moved[0] - moved[1]) / (2 * STEP)
    assert np.sum(np.real(second.conj() * direction)) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_compiled_gradient_agrees() -> None:
    """The same loss again and again is compiled; its gradient stays what it was."""
    values = matrices(4, 3)
    expected = gradient(svd_loss, values)
    for _ in range(4):
        np.testing.assert_allclose(gradient(svd_loss, values), expected, rtol=1e-9, atol=1e-10)


def test_equal_eigenvalues_give_a_finite_gradient() -> None:
    x = paddle.to_tensor(np.diag([1.0, 1.0, 3.0]))
    x.stop_gradient = False
    values, vectors = paddle.linalg.eigh(x)
    paddle.matmul(vectors * values**2, vectors, transpose_y=True).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_eigh_gradient_is_that_of_paddle() -> None:
    """Symmetric, whichever triangle is read (observed from Paddle 3.3.1)."""
    x = paddle.to_tensor([[2.0, 1.0], [1.0, 3.0]], dtype="float64")
    x.stop_gradient = False
    values, vectors = paddle.linalg.eigh(x)
    (values * paddle.to_tensor([1.0, 2.0], dtype="float64")).sum().backward()
    first = vectors.numpy()
    expected = first @ np.diag([1.0, 2.0]) @ first.T
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-12)


def test_det_of_singular_matrices() -> None:
    """The cofactors, where `det(x) inv(x)` has no meaning; also beside an invertible matrix."""
    values = np.array([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]])
    for _ in range(4):
        x = paddle.to_tensor(values)
        x.stop_gradient = False
        paddle.linalg.det(x).sum().backward()
        expected = np.array([[[4.0, -2.0], [-2.0, 1.0]], [[4.0, -3.0], [-2.0, 1.0]]])
        np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-12)


def test_complete_qr_of_tall_matrices_has_no_gradient() -> None:
    x = paddle.to_tensor(matrices(4, 2))
    x.stop_gradient = False
    q, r = paddle.linalg.qr(x, "complete")
    total = q.sum() + r.sum()
    with pytest.raises(ValueError, match="complete Q"):
        total.backward()


def test_lu_gradient_keeps_the_row_exchanges() -> None:
    """`P L U = x` holds for the derivative too: the loss of `P L U` has the gradient of the loss of `x`."""
    x = paddle.to_tensor(matrices(2, 4, 3))
    x.stop_gradient = False
    order, low, high = paddle.linalg.lu_unpack(*paddle.linalg.lu(x))
    weights = matrices(2, 4, 3, seed=5)
    (paddle.matmul(paddle.matmul(order, low), high) * paddle.to_tensor(weights)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), weights, rtol=1e-10, atol=1e-12)
