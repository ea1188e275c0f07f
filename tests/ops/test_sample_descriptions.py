"""Descriptions of inputs: what `A` makes of a layout, and how it reaches a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.eager.samples import A, Made, S, samples


def made(spec: A) -> Made:
    (value,), _ = S(spec).arrays()
    return value


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 4), (7,)])
def test_about_half_of_a_sparse_array_is_zero(shape: tuple[int, ...]) -> None:
    array = made(A(*shape, layout="coo")).array
    assert np.count_nonzero(array) == -(-array.size // 2)
    np.testing.assert_array_equal(array, made(A(*shape, layout="coo")).array)


def test_dense_dimensions_vanish_together() -> None:
    array = made(A(3, 4, 5, layout="coo", sparse_dim=2)).array
    stored = array.any(axis=-1)
    assert stored.sum() == 6
    assert (array[stored] != 0).all()


def test_given_values_keep_their_zeros() -> None:
    value = made(A(values=[[0.0, 2.0], [3.0, 4.0]], layout="csr"))
    sparse = value.in_layout(paddle.to_tensor(value.array))
    assert sparse.is_sparse_csr()
    assert sparse.nnz() == 3
    np.testing.assert_array_equal(sparse.to_dense().numpy(), [[0, 2], [3, 4]])


@pytest.mark.parametrize(("spec", "sparse_dim"), [(A(3, 4, layout="coo"), 2), (A(3, 4, layout="coo", sparse_dim=1), 1)])
def test_gradients_reach_the_dense_source(spec: A, sparse_dim: int) -> None:
    value = made(spec)
    source = paddle.to_tensor(value.array)
    source.stop_gradient = False
    sparse = value.in_layout(source)
    assert sparse.is_sparse_coo()
    assert sparse.sparse_dim() == sparse_dim
    (slope,) = paddle.grad([sparse.to_dense().sum()], [source])
    np.testing.assert_array_equal(slope.numpy(), value.array != 0)


def test_an_array_without_layout_stays_dense() -> None:
    value = made(A(2))
    tensor = paddle.to_tensor(value.array)
    assert value.in_layout(tensor) is tensor


def test_descriptions_can_be_told_apart() -> None:
    specs = [A(3, 4), A(3, 4, layout="coo"), A(3, 4, layout="coo", sparse_dim=1), A(3, 4, layout="csr")]
    assert len({repr(spec) for spec in specs}) == len(specs)


def test_unknown_layouts_are_refused() -> None:
    with pytest.raises(ValueError, match="layout"):
        A(2, 2, layout="dense")


def test_marks_are_kept() -> None:
    @samples(S(3), random=True, unspecified=False)
    def drawn(n: int) -> Any:
        return n

    assert drawn.samples.random
    assert not drawn.samples.unspecified
