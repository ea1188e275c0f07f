"""Further products and matrices: kron, tensordot, baddbmm, ger, block_diag, vander, and the fp8 product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype import is_reduced_precision, to_numpy_dtype
from ...core.errors import failed_check, type_error, value_error
from ...eager.annotations import AxisLike
from ...eager.declare import PUBLIC, public
from ...eager.infer import normalise_axis
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import integer, require_tensor
from ..basic import cast_to, full_of, reshape_to, transpose_to
from ..shape.joining import concat_along
from .linalg import matmul, outer

# ---- kron ----------------------------------------------------------------------------------------


@samples(
    S(A(2, 3), A(2, 2)), S(A(2, 3), A(2)), S(A(), A(2)), S(A(2, 2, 2), A(2, 2)), S(A(0, 2), A(2, 2)), S(A(), A()),
    S(A(2, dtype="int64"), A(2, dtype="int64")), S(A(2, dtype="complex128"), A(2, dtype="complex128")),
    reference=np.kron,
)  # fmt: skip
@public(method=True)
@one_operator("kron")
def kron(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The Kronecker product: every element of `x` times all of `y`, as blocks.

    Args:
        x: the left factor.
        y: the right factor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.kron(paddle.to_tensor([[1, 2]]), paddle.to_tensor([[1, 1]])).tolist()
        [[1, 1, 2, 2]]
    """
    first, second = (require_tensor("kron", n, v)._aval for n, v in (("x", x), ("y", y)))
    if first.dtype != second.dtype and "c" not in (first.dtype.kind, second.dtype.kind):
        raise type_error("kron", "x and y must have one data type", f"x: {first}, y: {second}", "use astype()")
    ndim = max(first.ndim, second.ndim)
    left, right = ((1,) * (ndim - a.ndim) + a.shape for a in (first, second))
    blocks = reshape_to(x, tuple([n for size in left for n in (size, 1)]))
    inside = reshape_to(y, tuple([n for size in right for n in (1, size)]))
    return reshape_to(blocks * inside, tuple([a * b for a, b in zip(left, right, strict=True)]))


# ---- tensordot -----------------------------------------------------------------------------------


def _contracted(axes: Any, x: Any, y: Any) -> tuple[list[int], list[int]]:
    """The axes to sum over, of both; the shorter list is continued with the end of the longer."""
    if isinstance(axes, Tensor):
        axes = axes.tolist()
    if isinstance(axes, (int, np.integer)):
        count = int(axes)
        if count < 0 or count > min(x.ndim, y.ndim):
            raise failed_check(
                "tensordot", f"an integer axes is from 0 to {min(x.ndim, y.ndim)}", f"axes: {axes}, x: {x}, y: {y}"
            )
        return list(range(x.ndim - count, x.ndim)), list(range(count))
    if not isinstance(axes, (list, tuple)):
        raise type_error("tensordot", "axes is an integer, a list or two lists", f"axes: {axes!r}")
    parts = [part.tolist() if isinstance(part, Tensor) else part for part in axes]
    if not parts or (isinstance(parts[0], (int, np.integer)) and all(isinstance(p, (int, np.integer)) for p in parts)):
        parts = [parts, parts]
    elif len(parts) == 1:
        parts = [parts[0], parts[0]]
    lists = [[integer("tensordot", "axes", a) for a in (p if isinstance(p, (list, tuple)) else [p])] for p in parts[:2]]
    first, second = lists
    first, second = first + second[len(first) :], second + first[len(second) :]
    result = [
        [normalise_axis("tensordot", axis, aval.ndim) for axis in chosen] for chosen, aval in ((first, x), (second, y))
    ]
    if any(len(set(chosen)) != len(chosen) for chosen in result):
        raise value_error("tensordot", "an axis is named twice", f"axes: {axes}")
    return result[0], result[1]


def _reference_tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    pair: Any = (axes, axes) if isinstance(axes, list) and not isinstance(axes[0], list) else axes
    return np.tensordot(x, y, pair)


@samples(
    S(A(2, 3), A(3, 2), 1), S(A(2, 3, 4), A(3, 4, 5)), S(A(2, 3), A(3, 2), 0), S(A(2, 3), A(3, 2), [[1], [0]]),
    S(A(2, 3), A(2, 3), [0, 1]), S(A(2, 3), A(2, 4), [0]), S(A(2, 3, 4), A(4, 3), [[1, 2], [1, 0]]),
    S(A(0, 3), A(3, 2), 1), S(A(3, dtype="int64"), A(3, dtype="int64"), 1),
    reference=_reference_tensordot,
)  # fmt: skip
@public(method=True)
def tensordot(x: Tensor, y: Tensor, axes: AxisLike = 2, name: str | None = None) -> Tensor:
    """Products summed over pairs of axes; the axes that remain are those of `x`, then those of `y`.

    Args:
        x: the left factor.
        y: the right factor.
        axes: how many of the last axes of `x` meet the first of `y`; a list of axes that both have; or one list for each.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 4]), axes=1).shape
        paddle.Size([2, 4])
    """
    first, second = (require_tensor("tensordot", n, v)._aval for n, v in (("x", x), ("y", y)))
    left, right = _contracted(axes, first, second)
    sizes_left, sizes_right = [first.shape[a] for a in left], [second.shape[a] for a in right]
    if any(a != b and 1 not in (a, b) for a, b in zip(sizes_left, sizes_right, strict=True)):
        raise failed_check(
            "tensordot", "the axes that meet must be equally long", f"x: {first}, y: {second}, axes: {axes}"
        )
    # An axis of 1 is broadcast, as in Paddle: the other side is summed over it.
    for position, (a, b) in enumerate(zip(sizes_left, sizes_right, strict=True)):
        if a != b:
            if a == 1:
                y = y.sum(right[position], keepdim=True)
            else:
                x = x.sum(left[position], keepdim=True)
            sizes_left[position] = 1
    rows = [a for a in range(first.ndim) if a not in left]
    columns = [a for a in range(second.ndim) if a not in right]
    inner = math.prod(sizes_left)
    shape_left, shape_right = [first.shape[a] for a in rows], [second.shape[a] for a in columns]
    x = reshape_to(transpose_to(x, (*rows, *left)), (math.prod(shape_left), inner))
    y = reshape_to(transpose_to(y, (*right, *columns)), (inner, math.prod(shape_right)))
    return reshape_to(matmul(x, y), (*shape_left, *shape_right))


# ---- baddbmm, ger --------------------------------------------------------------------------------


def _reference_baddbmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
    product = alpha * np.matmul(x, y)
    return product if beta == 0 else beta * input + product


@samples(
    S(A(2, 3, 5), A(2, 3, 4), A(2, 4, 5)), S(A(2, 3, 5), A(2, 3, 4), A(2, 4, 5), 0.5, 2.0),
    S(A(1, 3, 5), A(2, 3, 4), A(2, 4, 5)), S(A(2, 1, 5), A(2, 3, 4), A(2, 4, 5), beta=-1.0),
    S(A(0, 3, 5), A(0, 3, 4), A(0, 4, 5)),
    S(A(values=np.full((1, 2, 2), np.nan), grad=False), A(1, 2, 2), A(1, 2, 2), beta=0.0),
    reference=_reference_baddbmm,
)  # fmt: skip
@public(method=True, inplace=True, reshapes=True)
@one_operator("baddbmm")
def baddbmm(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """`beta * input + alpha * (x @ y)` for batches of matrices.

    Args:
        input: broadcasts to the product.
        x: the left factors, [batch, n, k].
        y: the right factors, [batch, k, m].
        beta: a number that `input` is multiplied by; with 0 it does not count, not even where it is NaN.
        alpha: a number that the product is multiplied by.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.baddbmm(paddle.ones([1, 1, 1]), paddle.ones([1, 1, 2]), paddle.ones([1, 2, 1])).tolist()
        [[[3.0]]]
    """
    avals = [require_tensor("baddbmm", n, v)._aval for n, v in (("input", input), ("x", x), ("y", y))]
    received = f"input: {avals[0]}, x: {avals[1]}, y: {avals[2]}"
    if avals[1].ndim != 3 or avals[2].ndim != 3 or avals[1].shape[0] != avals[2].shape[0]:
        raise value_error("baddbmm", "x and y must be equally many matrices, in three dimensions", received)
    product = matmul(x, y)
    shape = product._aval.shape
    try:
        fits = avals[0].ndim in (2, 3) and np.broadcast_shapes(avals[0].shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise value_error("baddbmm", f"input must be broadcastable to the product {list(shape)}", received)
    if avals[0].dtype != avals[1].dtype:
        raise type_error("baddbmm", "input, x and y must have one data type", received, "use astype()")
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


@samples(S(A(2), A(3)), S(A(2, 2), A(3)), S(A(0), A(3)), S(A(), A(2)), reference=np.outer)
@public(aliases="y=vec2")
def ger(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Every element of `x` times every element of `y`; the same as `outer`.

    Args:
        x: the elements of the rows.
        y: the elements of the columns.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.ger(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    return outer(x, y, out=out)


# ---- block_diag, vander --------------------------------------------------------------------------


def _reference_block_diag(inputs: Any) -> Any:
    blocks = [np.atleast_2d(block) for block in inputs]
    result = np.zeros(np.sum([block.shape for block in blocks], axis=0), blocks[0].dtype)
    row = column = 0
    for block in blocks:
        result[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return result


@samples(
    S([A(2, 2), A(3), A(), A(1, 2)]), S([A(2, 2)]), S([A(0, 2), A(2, 2)]), S([A(2, dtype="int64"), A(1, dtype="int64")]),
    reference=_reference_block_diag,
)  # fmt: skip
@public(method=True)
def block_diag(inputs: Sequence[Tensor], name: str | None = None) -> Tensor:
    """One matrix with the given ones along its diagonal.

    Args:
        inputs: a list of tensors; a vector counts as a row, a number as a matrix of one element.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.block_diag([paddle.to_tensor([[1, 2]]), paddle.to_tensor([[3], [4]])]).tolist()
        [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
    """
    tensors = [require_tensor("block_diag", f"inputs[{i}]", item) for i, item in enumerate(inputs)]
    received = ", ".join(f"inputs[{i}]: {item._aval}" for i, item in enumerate(tensors))
    if not tensors:
        raise value_error("block_diag", "no matrix is given", "inputs: []")
    if any(item._aval.ndim > 2 for item in tensors):
        raise value_error("block_diag", "the matrices have two dimensions at most", received)
    if any(item._aval.dtype != tensors[0]._aval.dtype for item in tensors):
        raise value_error("block_diag", "the matrices must have one data type", received, "use astype()")
    blocks = [reshape_to(t, (1,) * (2 - t._aval.ndim) + t._aval.shape) if t._aval.ndim < 2 else t for t in tensors]
    total = sum(block._aval.shape[1] for block in blocks)
    rows: list[Tensor] = []
    before = 0
    for block in blocks:
        height, width = block._aval.shape
        zeros = [full_of(0.0, (height, n), block._aval.dtype) for n in (before, total - before - width)]
        rows.append(concat_along([zeros[0], block, zeros[1]], 1))
        before += width
    return concat_along(rows, 0)


@samples(
    S(A(3)), S(A(3), 2), S(A(3), 4, True), S(A(3), 0), S(A(0)), S(A(3, dtype="int64")), S(A(2, dtype="complex128"), 3),
    S(A(3), 1),
    reference=lambda x, n=None, increasing=False: np.vander(x, n, increasing),
)  # fmt: skip
@public(method=True)
def vander(x: Tensor, n: int | None = None, increasing: bool = False, name: str | None = None) -> Tensor:
    """The powers of a vector as the columns of a matrix.

    Args:
        x: the vector.
        n: how many powers; as many as elements by default.
        increasing: from the power 0 up, instead of down to it.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.vander(paddle.to_tensor([1, 2, 3]), increasing=True).tolist()
        [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    if require_tensor("vander", "x", x)._aval.ndim != 1:
        raise value_error("vander", "x must have one dimension", f"x: {x._aval}")
    size = x._aval.shape[0]
    count = size if n is None else integer("vander", "n", n)
    if count < 0:
        raise value_error("vander", "n cannot be negative", f"n: {n}")
    ones = full_of(1.0, (size, 1), x._aval.dtype)
    if count < 2:
        return ones[:, :count]
    repeated = reshape_to(x, (size, 1)).expand([size, count - 1])
    columns = concat_along([ones, repeated.cumprod(1)], 1)
    return columns if increasing else columns.flip(1)


# ---- products of 8-bit numbers -------------------------------------------------------------------


def _reference_fp8(x: Any, y: Any, transpose_x: Any = False, transpose_y: Any = False, bias: Any = None,
                   scale: float = 1.0, output_dtype: str = "float16", act: str = "identity") -> Any:  # fmt: skip
    x, y = x.astype("float32"), y.astype("float32")
    result = np.matmul(x.swapaxes(-1, -2) if transpose_x else x, y.swapaxes(-1, -2) if transpose_y else y) * scale
    result = result if bias is None else result + bias.astype("float32")
    return np.maximum(result, 0) if act == "relu" else result


def _eighth(*shape: int) -> A:
    return A(*shape, dtype="float8_e4m3fn", grad=False)


@samples(
    S(_eighth(2, 3), _eighth(3, 4)), S(_eighth(2, 3), _eighth(4, 3), False, True, scale=0.5, output_dtype="bfloat16"),
    S(_eighth(2, 3), _eighth(3, 4), bias=A(4, dtype="float16", grad=False), act="relu"),
    reference=_reference_fp8, gradient=False, why="8-bit numbers carry no gradient",
)  # fmt: skip
@public(module="linalg")
def fp8_fp8_half_gemm_fused(
    x: Tensor,
    y: Tensor,
    transpose_x: bool = False,
    transpose_y: bool = False,
    bias: Tensor | None = None,
    scale: float = 1.0,
    output_dtype: str = "float16",
    act: str = "identity",
    name: str | None = None,
) -> Tensor:
    """`act(scale * (x @ y) + bias)` of 8-bit floating numbers, summed in float32, in a 16-bit type.

    Args:
        x: float8_e4m3fn, `[..., m, k]`.
        y: float8_e4m3fn, `[..., k, n]`.
        transpose_x: whether `x` is given transposed.
        transpose_y: whether `y` is.
        bias: `[n]`, or None.
        scale: the factor of the product.
        output_dtype: "float16" or "bfloat16".
        act: "identity", "relu" or "gelu".
        name: a label; it changes nothing.

    Returns:
        A tensor of `output_dtype`.

    Examples:
        >>> x = paddle.ones([16, 32]).astype("float8_e4m3fn")
        >>> y = paddle.linalg.fp8_fp8_half_gemm_fused(x, x, transpose_y=True, scale=0.5)
        >>> y.dtype, y[0, 0].item()
        (paddle.float16, 16.0)
    """
    where = "fp8_fp8_half_gemm_fused"
    for label, value in (("x", x), ("y", y)):
        dtype = require_tensor(where, label, value)._aval.dtype
        if dtype.itemsize != 1 or not is_reduced_precision(dtype):
            raise type_error(where, f"{label} must have an 8-bit floating type", f"{label}: {value._aval}")
    wanted = to_numpy_dtype(output_dtype)
    if wanted.itemsize != 2 or not is_reduced_precision(wanted):
        raise value_error(where, "output_dtype is 'float16' or 'bfloat16'", f"output_dtype: {output_dtype!r}")
    if act not in ("identity", "relu", "gelu"):
        raise value_error(where, "act is 'identity', 'relu' or 'gelu'", f"act: {act!r}")
    wide = np.dtype(np.float32)
    result = matmul(cast_to(x, wide), cast_to(y, wide), bool(transpose_x), bool(transpose_y)) * float(scale)
    if bias is not None:
        result = result + cast_to(require_tensor(where, "bias", bias), wide)
    if act != "identity":
        result = PUBLIC[f"nn.functional.{act}"](result)
    return cast_to(result, wanted)
