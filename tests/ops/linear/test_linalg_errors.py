"""Bad arguments and bad matrices: which exception, when, and that nothing breaks afterwards."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import proa as paddle

LINALG = paddle.linalg
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]


def tensor(*shape: int, dtype: str = "float32") -> Any:
    return paddle.to_tensor(np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape))


@pytest.mark.parametrize(
    ("function", "matrix", "match"),
    [
        ("inv", SINGULAR, "singular"),
        ("cholesky", INDEFINITE, "positive definite"),
        ("cholesky", SINGULAR, "positive definite"),
    ],
)
def test_bad_matrices_raise_at_the_call(function: str, matrix: Any, match: str) -> None:
    """As Paddle: ValueError. So `try: … except ValueError: …` around a factorisation works."""
    for _ in range(4):
        with pytest.raises(ValueError, match=match):
            getattr(LINALG, function)(paddle.to_tensor(matrix))
    good = getattr(LINALG, function)(paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]]))
    assert np.isfinite(good.numpy()).all()


def test_bad_matrices_that_are_computed() -> None:
    """Where the matrix is not known at the call, the error comes with the value at the latest."""

    def attempt() -> Any:
        x = paddle.to_tensor(SINGULAR) * 2.0
        return LINALG.solve(x, paddle.to_tensor([1.0, 2.0])).numpy()

    for _ in range(4):
        with pytest.raises(ValueError, match="singular"):
            attempt()


def test_one_bad_matrix_of_a_batch() -> None:
    x = paddle.to_tensor([[[2.0, 0.0], [0.0, 2.0]], SINGULAR])
    with pytest.raises(ValueError, match="singular"):
        LINALG.inv(x)
    with pytest.raises(ValueError, match="singular"):
        LINALG.matrix_power(x, -2)
    with pytest.raises(ValueError, match="singular"):
        LINALG.cond(x, 1)
    assert LINALG.det(x).numpy()[0] == pytest.approx(4.0)


@pytest.mark.parametrize(
    "name",
    ["cholesky", "det", "slogdet", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_exp", "cholesky_inverse"],
)
def test_matrices_must_be_square(name: str) -> None:
    with pytest.raises(ValueError, match=r"square|two dimensions"):
        getattr(LINALG, name)(tensor(2, 3))
    with pytest.raises(ValueError, match="two dimensions"):
        getattr(LINALG, name)(tensor(3))


@pytest.mark.parametrize(
    "name", ["cholesky", "det", "eig", "eigh", "inv", "lu", "matrix_exp", "matrix_rank", "pinv", "qr", "svd", "svdvals"]
)
@pytest.mark.parametrize("dtype", ["int64", "float16", "bool"])
def test_types_that_lapack_has_not(name: str, dtype: str) -> None:
    with pytest.raises(TypeError, match="float32"):
        getattr(LINALG, name)(tensor(2, 2).astype(dtype))


BAD_CALLS = {
    "solve: rows": (lambda: LINALG.solve(tensor(2, 2), tensor(3, 1)), ValueError),
    "solve: vector": (lambda: LINALG.solve(tensor(2, 2), tensor(3)), ValueError),
    "solve: not square": (lambda: LINALG.solve(tensor(2, 3), tensor(2)), ValueError),
    "solve: vector on the right side": (lambda: LINALG.solve(tensor(2, 2), tensor(2), left=False), ValueError),
    "solve: types": (lambda: LINALG.solve(tensor(2, 2), tensor(2, dtype="float64")), TypeError),
    "solve: batches": (lambda: LINALG.solve(tensor(2, 2, 2), tensor(3, 2, 1)), ValueError),
    "triangular_solve: vector": (lambda: LINALG.triangular_solve(tensor(2, 2), tensor(2)), ValueError),
    "cholesky_solve: rows": (lambda: LINALG.cholesky_solve(tensor(3, 1), tensor(2, 2)), ValueError),
    "eigh: UPLO": (lambda: LINALG.eigh(tensor(2, 2), "X"), ValueError),
    "qr: mode": (lambda: LINALG.qr(tensor(2, 2), "x"), ValueError),
    "lu: pivot": (lambda: LINALG.lu(tensor(2, 2), pivot=False), ValueError),
    "lu_unpack: type": (lambda: LINALG.lu_unpack(tensor(2, 2), tensor(2)), ValueError),
    "lu_unpack: shape": (lambda: LINALG.lu_unpack(tensor(2, 2), tensor(3, dtype="int32")), ValueError),
    "lu_unpack: pivot 0": (lambda: LINALG.lu_unpack(tensor(2, 2), tensor(2, dtype="int32")), ValueError),
    "lu_solve: trans": (
        lambda: LINALG.lu_solve(tensor(2, 1), tensor(2, 2), tensor(2, dtype="int32"), "X"), ValueError),
    "lstsq: driver": (lambda: LINALG.lstsq(tensor(3, 2), tensor(3, 1), driver="x"), ValueError),
    "lstsq: rows": (lambda: LINALG.lstsq(tensor(3, 2), tensor(2, 1)), ValueError),
    "lstsq: batch": (lambda: LINALG.lstsq(tensor(2, 3, 2), tensor(3, 1)), ValueError),
    "matrix_power: n": (lambda: LINALG.matrix_power(tensor(2, 2), 1.5), TypeError),
    "matrix_rank: both": (lambda: LINALG.matrix_rank(tensor(2, 2), tol=1.0, rtol=0.5), ValueError),
    "matrix_rank: text": (lambda: LINALG.matrix_rank(tensor(2, 2), "a"), TypeError),
    "cond: p": (lambda: LINALG.cond(tensor(2, 2), 3), ValueError),
    "cond: not square": (lambda: LINALG.cond(tensor(2, 3), "fro"), ValueError),
    "multi_dot: one": (lambda: LINALG.multi_dot([tensor(2, 2)]), ValueError),
    "multi_dot: no list": (lambda: LINALG.multi_dot(tensor(2, 2)), ValueError),
    "multi_dot: shapes": (lambda: LINALG.multi_dot([tensor(2, 3), tensor(2, 3)]), ValueError),
    "multi_dot: vector inside": (lambda: LINALG.multi_dot([tensor(2, 3), tensor(3), tensor(3, 2)]), ValueError),
    "householder_product: wide": (lambda: LINALG.householder_product(tensor(2, 3), tensor(2)), ValueError),
    "householder_product: tau": (lambda: LINALG.householder_product(tensor(3, 2), tensor(3)), ValueError),
    "ormqr: rows": (lambda: LINALG.ormqr(tensor(3, 3), tensor(3), tensor(2, 2)), ValueError),
    "svd_lowrank: q": (lambda: LINALG.svd_lowrank(tensor(4, 3), q=4), ValueError),
    "pca_lowrank: niter": (lambda: LINALG.pca_lowrank(tensor(4, 3), niter=-1), ValueError),
    "pinv: rcond": (lambda: LINALG.pinv(tensor(2, 3, 3), rcond=tensor(3)), ValueError),
    "pinv: hermitian": (lambda: LINALG.pinv(tensor(2, 3), hermitian=True), ValueError),
    "cov: dimensions": (lambda: LINALG.cov(tensor(2, 2, 2)), ValueError),
    "cov: negative weights": (
        lambda: LINALG.cov(tensor(2, 2), aweights=paddle.to_tensor([1.0, -1.0])), ValueError),
    "cov: weights": (lambda: LINALG.cov(tensor(2, 2), fweights=tensor(3, dtype="int64")), ValueError),
    "vecdot: shapes": (lambda: LINALG.vecdot(tensor(2, 3), tensor(2, 4)), ValueError),
    "matrix_transpose: vector": (lambda: LINALG.matrix_transpose(tensor(3)), ValueError),
    "kron: types": (lambda: paddle.kron(tensor(2), tensor(2, dtype="int64")), TypeError),
    "tensordot: sizes": (lambda: paddle.tensordot(tensor(2, 3), tensor(2, 4), 1), ValueError),
    "tensordot: too many": (lambda: paddle.tensordot(tensor(2, 3), tensor(3, 2), 5), ValueError),
    "tensordot: negative": (lambda: paddle.tensordot(tensor(2, 3), tensor(3, 2), -1), ValueError),
    "cdist: p": (lambda: paddle.cdist(tensor(2, 2), tensor(2, 2), -1.0), ValueError),
    "cdist: sizes": (lambda: paddle.cdist(tensor(2, 2), tensor(2, 3)), ValueError),
    "cdist: mode": (lambda: paddle.cdist(tensor(2, 2), tensor(2, 2), compute_mode="x"), ValueError),
    "cdist: complex": (lambda: paddle.cdist(*[tensor(2, 2, dtype="complex64")] * 2), TypeError),
    "pdist: batch": (lambda: paddle.pdist(tensor(2, 2, 2)), ValueError),
    "vander: n": (lambda: paddle.vander(tensor(3), -1), ValueError),
    "vander: matrix": (lambda: paddle.vander(tensor(2, 2)), ValueError),
    "block_diag: none": (lambda: paddle.block_diag([]), ValueError),
    "block_diag: dimensions": (lambda: paddle.block_diag([tensor(2, 2, 2)]), ValueError),
    "block_diag: types": (lambda: paddle.block_diag([tensor(2), tensor(2, dtype="int64")]), ValueError),
    "baddbmm: input": (lambda: paddle.baddbmm(tensor(2, 3, 4), tensor(2, 3, 4), tensor(2, 4, 5)), ValueError),
    "baddbmm: dimensions": (lambda: paddle.baddbmm(tensor(3, 5), tensor(3, 4), tensor(2, 4, 5)), ValueError),
    "fp8: type": (lambda: LINALG.fp8_fp8_half_gemm_fused(tensor(2, 2), tensor(2, 2)), TypeError),
    "lu: no tensor": (lambda: LINALG.lu([[1.0]]), TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_calls(name: str) -> None:
    call, kind = BAD_CALLS[name]
    with pytest.raises(kind, match=r"^\("):
        call()


def test_solve_with_out_and_aliases() -> None:
    out = paddle.zeros([2])
    a, b = paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]), paddle.to_tensor([2.0, 2.0])
    assert LINALG.solve(A=a, B=b, out=out) is out
    assert out.tolist() == [1.0, 0.5]
    parts = (paddle.zeros([2, 2]), paddle.zeros([2]), paddle.zeros([2, 2]))
    assert LINALG.svd(a, out=parts)[1] is parts[1]
    assert parts[1].tolist() == [4.0, 2.0]


def test_names_are_paddles() -> None:
    """At the top level and on the Tensor there is what Paddle 3.3.1 has there, and no more."""
    top = "cholesky eigvalsh inverse matrix_transpose vecdot kron tensordot cdist pdist vander block_diag baddbmm ger"
    methods = (
        "cholesky cholesky_inverse cholesky_solve cond corrcoef cov slogdet eig eigvals eigvalsh householder_product "
        "inverse lstsq lu lu_unpack matrix_power matrix_transpose multi_dot ormqr pca_lowrank svd_lowrank pinv qr solve "
        "kron tensordot cdist vander block_diag baddbmm baddbmm_"
    )
    names = set(top.split()) | set(methods.split()) | {name for name in dir(LINALG) if not name.startswith("_")}
    for name in sorted(
        n for n in names if callable(getattr(LINALG, n, None)) and inspect.isfunction(getattr(LINALG, n))
    ):
        assert hasattr(paddle, name) == (name in top.split() or name in ("norm", "cross", "diagonal", "matmul"))
        assert hasattr(paddle.Tensor, name) == (
            name in methods.split() or name in ("norm", "cross", "diagonal", "matmul")
        )
    for name in top.split():
        assert callable(getattr(paddle, name))
