"""Activations of sparse tensors. What is not stored takes no part: a softmax is over the stored elements."""

from __future__ import annotations

import numpy as np

from ....core.dtype import is_differentiable
from ....core.errors import type_error
from ....eager.modes import no_grad
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ops.arguments import one_axis
from ....ops.basic import full_of, reshape_to
from ....ops.index.along import put_along
from ....ops.math.unary import exp
from ....ops.neural import activation as dense
from ....ops.neural.softmax import softmax as softmax_dense
from ...convert import as_coo
from ...pattern import CooPattern, Lookup
from ...rows import sum_rows, take_rows
from ...tensor import require_sparse
from ...unary import map_values
from . import references

_COO, _CSR, _BATCH = A(3, 4, layout="coo"), A(3, 4, layout="csr"), A(2, 3, 4, layout="csr")
_DENSE_ROWS = A(3, 4, 2, dtype="float64", layout="coo", sparse_dim=2)


@samples(S(_COO), S(_CSR), S(_BATCH), S(_DENSE_ROWS), reference=lambda x: np.maximum(x, 0))
def relu(x: Tensor, name: str | None = None) -> Tensor:
    """`max(x, 0)` of every stored element.

    Args:
        x: a sparse tensor.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, -2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.nn.functional.relu(x).values().tolist()
        [0.0, 3.0]
    """
    return map_values("sparse.relu", dense.relu, x)


@samples(
    S(A(3, 4, layout="coo", low=-3, high=9)), S(A(3, 4, layout="csr", low=-3, high=9)), S(_BATCH), S(_DENSE_ROWS),
    reference=lambda x: np.clip(x, 0, 6),
)  # fmt: skip
def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """`min(max(x, 0), 6)` of every stored element.

    Args:
        x: a sparse tensor.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, -2.0], [8.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.nn.functional.relu6(x).values().tolist()
        [0.0, 6.0]
    """
    return map_values("sparse.relu6", dense.relu6, x)


@samples(
    S(_COO), S(_CSR, 0.5), S(_BATCH), S(_DENSE_ROWS, negative_slope=-1.0),
    reference=lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope),
)  # fmt: skip
def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """Every stored element, negative ones scaled down.

    Args:
        x: a sparse tensor.
        negative_slope: the factor of negative elements.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, -2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.nn.functional.leaky_relu(x, 0.5).values().tolist()
        [-1.0, 3.0]
    """
    return map_values("sparse.leaky_relu", dense.leaky_relu, x, float(negative_slope))


@samples(
    S(_COO), S(_CSR), S(_BATCH), S(_COO, 0), S(A(2, 3, 4, dtype="float64", layout="coo"), 1),
    reference=references.softmax,
)  # fmt: skip
def softmax(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis, over the stored elements only.

    Args:
        x: a sparse tensor.
        axis: the axis; the last one of a CSR tensor.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 1.0], [3.0, 0.0]]).to_sparse_csr()
        >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
        [0.5, 0.5, 1.0]
    """
    where = "sparse.softmax"
    x = require_sparse(where, "x", x)
    if not is_differentiable(x._aval.dtype) or x._aval.dtype.kind == "c":
        raise type_error(where, "x must be of a real floating type", f"x: {x._aval}")
    along = one_axis(where, axis, x._aval.ndim)
    coo = as_coo(x)
    pattern = coo._pattern
    if along >= len(pattern.shape):
        return x._with_values(softmax_dense(x._values, along - len(pattern.shape) + 1))
    groups, count = lines_along(pattern, along)
    return x._with_values(softmax_by_group(x._values, groups, count))


def lines_along(pattern: CooPattern, axis: int) -> tuple[Lookup, int]:
    """For each element the number of its line along an axis (lines without elements are not counted), and how many
    there are."""

    def make() -> tuple[Lookup, int]:
        keys = pattern.numbered([a for a in range(len(pattern.shape)) if a != axis]).array
        found, lines = np.unique(keys, return_inverse=True)
        return Lookup(lines.reshape(-1)), len(found)

    return pattern.remember(("lines", axis), make)


def softmax_by_group(values: Tensor, groups: Lookup, count: int) -> Tensor:
    """The softmax of rows that belong together."""
    with no_grad():  # a number that is subtracted from all of a group does not change its softmax
        largest = largest_by_group(values, groups, count)
    powers = exp(values - take_rows(largest, groups))
    return powers / take_rows(sum_rows(powers, groups, count), groups)


def largest_by_group(values: Tensor, groups: Lookup, count: int) -> Tensor:
    """The largest of the rows that belong together, element by element; equal ones share the gradient."""
    aval = values._aval
    lowest = full_of(float("-inf"), (count, *aval.shape[1:]), aval.dtype)
    index = reshape_to(groups.on(aval.place), (aval.shape[0], *(1,) * (aval.ndim - 1)))
    return put_along(lowest, values, index, 0, -1, "amax")
