"""Matrix products: matmul, linear, and the products that are made of them.

`matmul` is one primitive with transposition as flags, so that neither it nor its gradients record
or copy transposed matrices. Operands of one dimension are vectors: a row on the left, a column on
the right, whatever the flags say.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from ...core.errors import value_error
from ...core.promotion import promote_tensors
from ...eager import series
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes, normalise_axis, same_shape
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ...kernels.cpu.low_precision.bfloat import bfloat_linear, bfloat_product
from ...kernels.cpu.low_precision.precision import in_float32
from ...kernels.cpu.products import native_linear, native_product
from ...kernels.gpu.cold import products as cold
from ..arguments import require_tensor
from ..axes import widened
from ..basic import cast_to, reshape_to, sum_over, sum_to
from ..math.arithmetic import conjugate

# ---- matmul --------------------------------------------------------------------------------------


def _check_product(operation: Any, operands: Any, attributes: tuple[Any, ...]) -> None:
    """The two operands have one numeric type (or one is complex, one a float), and neither is a lone number."""
    x, y = operands[:2]
    if x.dtype != y.dtype and _product_dtype(x, y).kind != "c":
        raise operation.error(
            ValueError, "the operands have different data types", operands, attributes,
            fix="convert one with astype()",
        )  # fmt: skip
    if x.dtype.kind == "b":
        raise operation.error(TypeError, "booleans cannot be multiplied", operands, attributes,
                              fix="convert them with astype()")  # fmt: skip
    if not x.ndim or not y.ndim:
        raise operation.error(ValueError, "an operand has no dimension", operands, attributes,
                              fix="use * for a product with a number")  # fmt: skip


def _product_dtype(x: Aval, y: Aval) -> np.dtype:
    """The type of a product: complex if one operand is complex and the other a float of 32 or 64 bits."""
    if x.dtype == y.dtype or "c" not in (x.dtype.kind, y.dtype.kind):
        return x.dtype
    real = x.dtype if y.dtype.kind == "c" else y.dtype
    return np.result_type(x.dtype, y.dtype) if real in (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128) else real


def _infer_matmul(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, y = operands
    transpose_x, transpose_y = attributes
    _check_product(operation, operands, attributes)
    rows, inner_x = x.shape[-2:] if x.ndim > 1 else (None, x.shape[0])
    inner_y, columns = y.shape[-2:] if y.ndim > 1 else (y.shape[0], None)
    if transpose_x and rows is not None:
        rows, inner_x = inner_x, rows
    if transpose_y and columns is not None:
        inner_y, columns = columns, inner_y
    if inner_x != inner_y:
        raise operation.error(
            ValueError,
            f"the shapes {list(x.shape)} and {list(y.shape)} cannot be multiplied: the rows of x "
            f"have {inner_x} element(s), the columns of y {inner_y}", operands, attributes,
            fix="make the inner dimensions equal, or transpose an operand",
        )  # fmt: skip
    batch = broadcast_shapes(operation, operands, [x.shape[:-2], y.shape[:-2]])
    return make_aval((*batch, *[n for n in (rows, columns) if n is not None]), _product_dtype(x, y), place)


def _as_matrices(g: Tensor, x: Aval, y: Aval) -> Tensor:
    """The gradient of a product with a vector in the shape it has when the vector is a matrix."""
    shape = g._aval.shape
    if y.ndim == 1:
        shape = (*shape, 1)
    if x.ndim == 1:
        shape = (*shape[:-1], 1, shape[-1])
    return g if shape == g._aval.shape else reshape_to(g, shape)


def _as_vector(result: Tensor, aval: Aval) -> Tensor:
    """The gradient of a matrix of one row or column, as that of the vector it stands for."""
    if result._aval.ndim > 2:
        result = sum_to(result, result._aval.shape[-2:])
    return reshape_to(result, aval.shape)


def _rows(x: Tensor) -> Tensor:
    """All leading dimensions folded into one."""
    shape = x._aval.shape
    return x if len(shape) == 2 else reshape_to(x, (math.prod(shape[:-1]), shape[-1]))


def _matmul_grad_x(g: Tensor, y: Tensor, x_aval: Aval, y_aval: Aval, transpose_x: bool, transpose_y: bool) -> Tensor:
    y = conjugate(y)
    if x_aval.ndim > 1 and y_aval.ndim > 1:
        if transpose_x:
            return matmul(y, g, transpose_y, True)
        return matmul(g, y, False, not transpose_y)
    if x_aval.ndim == 1 and y_aval.ndim == 1:
        return g * y
    g = _as_matrices(g, x_aval, y_aval)
    if y_aval.ndim == 1:
        y, transpose_y = reshape_to(y, (y_aval.size, 1)), False
        return matmul(y, g, False, True) if transpose_x else matmul(g, y, False, True)
    return _as_vector(matmul(g, y, False, not transpose_y), x_aval)


def _matmul_grad_y(g: Tensor, x: Tensor, x_aval: Aval, y_aval: Aval, transpose_x: bool, transpose_y: bool) -> Tensor:
    x = conjugate(x)
    if x_aval.ndim > 1 and y_aval.ndim > 1:
        if y_aval.ndim == 2 and not transpose_x:
            # One matrix for a whole batch: one product instead of a batch of them and a sum.
            x, g = _rows(x), _rows(g)
        if transpose_y:
            return matmul(g, x, True, transpose_x)
        return matmul(x, g, not transpose_x, False)
    if x_aval.ndim == 1 and y_aval.ndim == 1:
        return g * x
    g = _as_matrices(g, x_aval, y_aval)
    if x_aval.ndim == 1:
        x = reshape_to(x, (1, x_aval.size))
        return matmul(g, x, True, False) if transpose_y else matmul(x, g, True, False)
    if not transpose_x:
        x, g = _rows(x), _rows(g)
    return _as_vector(matmul(x, g, not transpose_x, False), y_aval)


def _product(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """The product with NumPy or CuPy (BLAS takes transposed views as they are)."""
    if x.ndim > 2 and y.ndim == 2 and x.dtype is y.dtype is FLOAT32 and x.size and not (transpose_x or transpose_y):
        # As below, without its questions: small models call it again and again.
        return xp.matmul(x.reshape(-1, x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[-1])
    x, y = widened(x), widened(y)
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    if x.ndim > 2 and y.ndim == 2 and not transpose_x:
        # NumPy would call BLAS once for each matrix of the batch.
        folded = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
        return _blas(xp, folded, y).reshape(*x.shape[:-1], y.shape[-1])
    return _blas(xp, x, y)


def _blas(xp: Any, x: Any, y: Any) -> Any:
    """The product through BLAS, for integers too where every sum is exact in float64."""
    if xp is np and x.dtype.kind in "iu" and x.size and y.size:
        largest = [max(abs(int(v.min())), abs(int(v.max()))) for v in (x, y)]
        if largest[0] * largest[1] * x.shape[-1] < 2**53:
            product = np.matmul(x.astype(np.float64), y.astype(np.float64))
            return product.astype(np.int64).astype(x.dtype, copy=False)
    return xp.matmul(x, y)


def _product_xla(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """The product as one `dot_general`, whose dimension numbers say what is transposed."""
    from jax import lax

    if x.dtype != y.dtype:  # a real and a complex operand
        x, y = (operand.astype(np.result_type(x.dtype, y.dtype)) for operand in (x, y))
    inner_x = x.ndim - 2 if transpose_x and x.ndim > 1 else x.ndim - 1
    inner_y = y.ndim - 2 if y.ndim > 1 and not transpose_y else y.ndim - 1
    batch_x, batch_y = x.shape[:-2], y.shape[:-2]
    if x.ndim == 1 or not batch_y:
        return lax.dot_general(x, y, (((inner_x,), (inner_y,)), ((), ())))
    if batch_x == batch_y:
        batch = tuple(range(len(batch_x)))
        return lax.dot_general(x, y, (((inner_x,), (inner_y,)), (batch, batch)))
    # XLA folds these transpositions into the product.
    return xp.matmul(xp.swapaxes(x, -1, -2) if transpose_x else x, xp.swapaxes(y, -1, -2) if transpose_y else y)


def _reference_matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    wide = {"f": "float64", "c": "complex128"}.get(x.dtype.kind, x.dtype)
    wide = "float32" if x.dtype.kind == "V" or x.dtype.itemsize == 2 else "complex128" if y.dtype.kind == "c" else wide
    x, y = x.astype(wide), y.astype(wide)
    x = np.swapaxes(x, -1, -2) if transpose_x and x.ndim > 1 else x
    y = np.swapaxes(y, -1, -2) if transpose_y and y.ndim > 1 else y
    return np.matmul(x, y)


def _multiplications(call: Any) -> int:
    """Floating-point operations of a product."""
    shape = call.kinds[0].shape
    return (
        2 * call.outputs[0].size * (shape[-2] if call.attributes[0] and len(shape) > 1 else shape[-1] if shape else 1)
    )


@samples(
    S(A(2, 3), A(3, 4)), S(A(3, 2), A(4, 3), True, True), S(A(2, 3), A(4, 3), transpose_y=True),
    S(A(3, 2), A(3, 4), transpose_x=True), S(A(5, 2, 3), A(3, 4)),
    S(A(5, 2, 3), A(4, 3), False, True), S(A(5, 3, 2), A(3, 4), True), S(A(2, 3), A(5, 3, 4)),
    S(A(3, 2), A(5, 4, 3), True, True), S(A(2, 1, 2, 3), A(3, 3, 2)),
    S(A(2, 1, 3, 2), A(3, 2, 3), True, True), S(A(2, 2, 3), A(2, 3, 2)),
    S(A(2, 3, 2), A(2, 2, 3), True, True), S(A(2, 2, 3), A(2, 4, 3), False, True), S(A(3), A(3)),
    S(A(3), A(3, 4)), S(A(3), A(4, 3), False, True), S(A(2, 3), A(3)), S(A(3, 2), A(3), True),
    S(A(5, 2, 3), A(3)), S(A(5, 3, 2), A(3), True), S(A(3), A(5, 3, 4)),
    S(A(3), A(5, 4, 3), True, True), S(A(2, 0), A(0, 3)), S(A(0, 3), A(3, 4)),
    S(A(0, 2, 3), A(3, 4)),
    S(A(2, 3, dtype="bfloat16", grad=False), A(3, 4, dtype="bfloat16", grad=False)),
    S(A(2, 3, dtype="int32"), A(3, 2, dtype="int32")),
    S(A(2, 3, dtype="float16", grad=False), A(2, 3, dtype="float16", grad=False), False, True),
    S(A(2, 3, dtype="complex128"), A(3, 2, dtype="complex128")),
    S(A(2, 3, dtype="complex128"), A(3, dtype="complex128")), S(A(2, 3, dtype="float64"), A(3, 2, dtype="complex128")),
    S(A(4, 2, 3, dtype="complex128"), A(3, 2, dtype="float64")),
    reference=_reference_matmul,
)  # fmt: skip
@public(module="linalg", out=True)
@public(method=True, operator="@", out=True)
@op(
    "x y",
    contracts=True,
    infer=_infer_matmul,
    grad={"x": _matmul_grad_x, "y": _matmul_grad_y},
    family="product",
    flops=_multiplications,
    paddle_name="matmul_v2",
    padding=rules.products.matmul,
    series=series.algebra.bilinear,
)
def matmul(xp: Any, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """The matrix product over the last two axes, the others broadcast; `x @ y` means the same.

    A vector counts as a row on the left and as a column on the right.

    Args:
        x: the left factor.
        y: the right factor.
        transpose_x: exchange the last two axes of `x` first.
        transpose_y: exchange the last two axes of `y` first.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Raises:
        ValueError: the inner dimensions differ.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.matmul(x, x).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
        >>> paddle.matmul(paddle.ones([5, 2, 3]), paddle.ones([4, 3]), transpose_y=True).shape
        paddle.Size([5, 2, 4])
    """
    return _product(xp, x, y, transpose_x, transpose_y)


matmul.operation.kernels["xla"] = _product_xla
matmul.operation.kernels["cupy"] = cold.matmul(matmul.operation.kernel)


def _product_cpu(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """On the CPU, XLA would fuse what makes the operands of a weight's gradient into copies that transpose them."""
    if transpose_x and x.ndim == 2 and y.ndim == 2:
        from jax import lax

        x, y = lax.optimization_barrier((x, y))
    return _product_xla(xp, x, y, transpose_x, transpose_y)


matmul.operation.kernels["cpu"] = in_float32(native_product(_product_cpu), bfloat_product)


# ---- linear --------------------------------------------------------------------------------------


def _infer_linear(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, weight, bias = operands
    _check_product(operation, operands, attributes)
    if weight.ndim not in (1, 2) or x.shape[-1] != weight.shape[0]:
        raise operation.error(
            ValueError, f"the last dimension of x, {x.shape[-1]}, does not fit the weight",
            operands, fix="the weight is a matrix [in_features, out_features]",
        )  # fmt: skip
    shape = (*x.shape[:-1], *weight.shape[1:])  # a vector is the weight of one feature without an axis of its own
    if bias is not None:
        if bias.dtype != x.dtype:
            raise operation.error(ValueError, "the bias has another data type", operands,
                                  fix="convert it with astype()")  # fmt: skip
        if broadcast_shapes(operation, operands, [shape, bias.shape]) != shape:
            raise operation.error(
                ValueError, f"the bias does not fit the result {list(shape)}", operands,
                fix="the bias is a vector [out_features]",
            )  # fmt: skip
    return make_aval(shape, x.dtype, place)


def _linear_grad_input(g: Tensor, weight: Tensor) -> Tensor:
    if weight._aval.ndim == 1:
        g, weight = reshape_to(g, (*g._aval.shape, 1)), reshape_to(weight, (weight._aval.size, 1))
    return matmul(g, conjugate(weight), False, True)


def _linear_grad_weight(g: Tensor, x: Tensor, weight_aval: Aval) -> Tensor:
    if weight_aval.ndim == 1:
        column = matmul(_rows_of(conjugate(x)), reshape_to(g, (g._aval.size, 1)), True, False)
        return reshape_to(column, weight_aval.shape)
    if x._aval.ndim == 1 and g._aval.ndim == 1:  # one example without a batch: nothing is summed
        return reshape_to(conjugate(x), (x._aval.size, 1)) * g
    return matmul(_rows_of(conjugate(x)), _rows_of(g), True, False)


def _rows_of(x: Tensor) -> Tensor:
    shape = x._aval.shape
    return _rows(x) if len(shape) > 1 else reshape_to(x, (1, *shape))


def _linear_grad_bias(g: Tensor, bias_aval: Aval) -> Tensor:
    if bias_aval.ndim == 1 and bias_aval.size == g._aval.shape[-1] and g._aval.ndim > 1:
        return sum_over(g, tuple(range(g._aval.ndim - 1)), False)
    return g  # the engine sums what was broadcast


def _reference_linear(x: Any, weight: Any, bias: Any = None) -> Any:
    product = _reference_matmul(x, weight)
    return product if bias is None else product + bias.astype(product.dtype)


@samples(
    S(A(2, 3), A(3, 4), A(4)), S(A(2, 3), A(3, 4)), S(A(5, 2, 3), A(3, 4), A(4)),
    S(A(3), A(3, 4), A(4)), S(A(0, 3), A(3, 4), A(4)), S(A(2, 3), A(3, 4), A(1)),
    S(A(2, 3), A(3, 4), A(2, 4)),
    S(*[A(*shape, dtype="bfloat16", grad=False) for shape in ((2, 3), (3, 4), (4,))]),
    S(A(2, 3, dtype="int64"), A(3, 4, dtype="int64")), S(A(2, 3), A(3, 1), A(1)),
    S(A(2, 3), A(3), A(2)), S(A(4, 2, 3), A(3)), S(A(3), A(3)),
    reference=_reference_linear,
)  # fmt: skip
@public(module="nn.functional")
@op(
    "x weight",
    optional="bias",
    contracts=True,
    infer=_infer_linear,
    grad={
        "x": _linear_grad_input,
        "weight": _linear_grad_weight,
        "bias": _linear_grad_bias,
    },
    family="product",
    flops=lambda call: 2 * call.outputs[0].size * call.kinds[1].shape[0],
    paddle_name="linear_v2",
    padding=rules.products.linear,
    series=series.algebra.bilinear,
)
def linear(xp: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """`x @ weight + bias`.

    Args:
        x: the input, `[..., in_features]`.
        weight: `[in_features, out_features]`, or `[in_features]` for one number a row.
        bias: `[out_features]`, or None.
        name: a label; it changes nothing.

    Returns:
        A tensor `[..., out_features]`.

    Raises:
        ValueError: the last size of `x` is not `in_features`.

    Examples:
        >>> weight = paddle.to_tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
        >>> x = paddle.to_tensor([[1.0, 2.0, 3.0]])
        >>> bias = paddle.to_tensor([0.5, -0.5])
        >>> paddle.nn.functional.linear(x, weight, bias).tolist()
        [[4.5, 6.5]]
    """
    result = _product(xp, x, weight, False, False)
    if bias is not None:
        result += bias
    return result


def _linear_xla(xp: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    result = _product_xla(xp, x, weight, False, False)
    return result if bias is None else result + bias


linear.operation.kernels["xla"] = _linear_xla
linear.operation.kernels["cupy"] = cold.linear(linear.operation.kernel)
linear.operation.kernels["cpu"] = in_float32(native_linear(_linear_xla), bfloat_linear)


# ---- other products ------------------------------------------------------------------------------


def _check_ranks(where: str, x: Any, y: Any, names: str, ranks: tuple[int, int]) -> None:
    first, second = names.split()
    require_tensor(where, first, x)
    require_tensor(where, second, y)
    if (x._aval.ndim, y._aval.ndim) != ranks:
        raise value_error(
            where, f"{first} must have {ranks[0]} dimension(s) and {second} {ranks[1]}",
            f"{first}: {x._aval}, {second}: {y._aval}",
        )  # fmt: skip


@samples(
    S(A(2, 3), A(3, 4)), S(A(0, 3), A(3, 2)), S(A(2, 2, 3), A(2, 3, 4)), S(A(3), A(3)),
    reference=np.matmul,
)  # fmt: skip
@public(method=True)
def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """The matrix product; `matmul` without its flags.

    Args:
        input: the left factor.
        mat2: the right factor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.mm(paddle.eye(2), paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    return matmul(input, mat2)


@samples(
    S(A(2, 3, 4), A(2, 4, 5)),
    S(A(0, 3, 4), A(0, 4, 5)),
    S(A(1, 1, 2), A(1, 2, 1)),
    reference=np.matmul,
)
@public(method=True, aliases="y=mat2")
@one_operator("bmm")
def bmm(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Products of two batches of matrices, one by one; nothing is broadcast.

    Args:
        x: matrices, [batch, n, k].
        y: matrices, [batch, k, m].
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).tolist()
        [[[3.0]], [[3.0]]]
    """
    _check_ranks("bmm", x, y, "x y", (3, 3))
    if x._aval.shape[0] != y._aval.shape[0] or x._aval.shape[2] != y._aval.shape[1]:
        raise value_error("bmm", "x must be [batch, n, m] and y [batch, m, p]", f"x: {x._aval}, y: {y._aval}")
    return deliver(matmul(x, y), out)


@samples(S(A(2, 3), A(3)), S(A(0, 3), A(3)), S(A(2, 0), A(0)), reference=np.matmul)
@public(method=True)
@one_operator("mv")
def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """A matrix times a vector.

    Args:
        x: the matrix.
        vec: the vector.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.mv(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([1.0, 1.0])).tolist()
        [3.0, 7.0]
    """
    _check_ranks("mv", x, vec, "x vec", (2, 1))
    return matmul(x, vec)


@samples(
    S(A(3), A(3)), S(A(2, 3), A(2, 3)), S(A(0), A(0)), S(A(4, dtype="int32"), A(4, dtype="int32")),
    S(A(3, dtype="complex128"), A(3, dtype="complex128")),
    reference=lambda x, y: (x * y).sum(-1, dtype=x.dtype),
)  # fmt: skip
@public(method=True, aliases="y=tensor")
@one_operator("dot")
def dot(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of two vectors, or of each row of two matrices.

    Args:
        x: one side.
        y: the other, of the same shape.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    require_tensor("dot", "x", x)
    require_tensor("dot", "y", y)
    if x._aval.shape != y._aval.shape or x._aval.ndim not in (1, 2) or x._aval.dtype != y._aval.dtype:
        raise value_error(
            "dot", "x and y must be two vectors or two matrices of one shape and data type",
            f"x: {x._aval}, y: {y._aval}",
        )  # fmt: skip
    result = matmul(x, y) if x._aval.ndim == 1 else sum_over(x * y, (1,), False)
    return deliver(result, out)


@samples(
    S(A(2, 3), A(4, 3)), S(A(3), A(3)), S(A(2, 2, 3), A(4, 3)), S(A(3), A(2, 2, 3)),
    S(A(), A(2, 3)), S(A(0, 3), A(2, 3)),
    reference=np.inner,
)  # fmt: skip
@public(method=True)
def inner(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Products summed over the last axis of both; an operand without axes scales the other.

    Args:
        x: one side.
        y: the other.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.inner(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([1.0, 1.0])).tolist()
        [3.0, 7.0]
    """
    require_tensor("inner", "x", x)
    require_tensor("inner", "y", y)
    if not x._aval.ndim or not y._aval.ndim:
        return x * y
    if x._aval.shape[-1] != y._aval.shape[-1]:
        raise value_error("inner", "the last dimensions of x and y must be equal", f"x: {x._aval}, y: {y._aval}")
    result = matmul(_rows_of(x), _rows_of(y), False, True)
    return reshape_to(result, (*x._aval.shape[:-1], *y._aval.shape[:-1]))


@samples(
    S(A(2), A(3)), S(A(2), A(2, 3)), S(A(), A(3)), S(A(0), A(3)),
    S(A(2, dtype="int32"), A(2, dtype="int32")),
    reference=np.outer,
)  # fmt: skip
@public(method=True, aliases="y=vec2")
def outer(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Every element of `x` times every element of `y`, both flattened.

    Args:
        x: the elements of the rows.
        y: the elements of the columns.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.outer(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    require_tensor("outer", "x", x)
    require_tensor("outer", "y", y)
    result = reshape_to(x, (x._aval.size, 1)) * reshape_to(y, (1, y._aval.size))
    return deliver(result, out)


def _reference_addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
    return beta * input + alpha * np.matmul(x, y)


@samples(
    S(A(2, 4), A(2, 3), A(3, 4)), S(A(4), A(2, 3), A(3, 4), 0.5, 2.0), S(A(2, 1), A(2, 3), A(3, 4)),
    S(A(2, 4), A(2, 0), A(0, 4), beta=3.0),
    reference=_reference_addmm,
)  # fmt: skip
@public(method=True, inplace=True, reshapes=True)
@one_operator("addmm")
def addmm(
    input: Tensor,
    x: Tensor,
    y: Tensor,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """`beta * input + alpha * (x @ y)` for matrices.

    Args:
        input: a matrix that broadcasts to the product.
        x: the left factor.
        y: the right factor.
        beta: a number that `input` is multiplied by.
        alpha: a number that the product is multiplied by.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.addmm(paddle.ones([2, 2]), paddle.eye(2), paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[2.0, 3.0], [4.0, 5.0]]
    """
    require_tensor("addmm", "input", input)
    _check_ranks("addmm", x, y, "x y", (2, 2))
    product = matmul(x, y)
    shape = product._aval.shape
    try:
        fits = input._aval.ndim in (1, 2) and np.broadcast_shapes(input._aval.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise value_error(
            "addmm", f"input must be broadcastable to the product {list(shape)}",
            f"input: {input._aval}, x: {x._aval}, y: {y._aval}",
        )  # fmt: skip
    scaled = input if beta == 1 else input * beta
    return scaled + (product if alpha == 1 else product * alpha)


@op(
    "x y",
    infer=same_shape,
    grad={
        "x": lambda g, y, axis: cross_along(conjugate(y), g, axis),
        "y": lambda g, x, axis: cross_along(g, conjugate(x), axis),
    },
    name="cross",
    padding=rules.products.cross,
)
def cross_along(xp: Any, x: Any, y: Any, axis: int) -> Any:
    return xp.cross(x, y, axis=axis)


def _reference_cross(x: Any, y: Any, axis: int = 9) -> Any:
    return np.cross(x, y, axis=x.shape.index(3) if axis == 9 else axis)


@samples(
    S(A(2, 3), A(2, 3)), S(A(3, 3), A(3, 3)), S(A(3, 3), A(3, 3), 1), S(A(0, 3), A(0, 3)),
    S(A(3, dtype="int64"), A(3, dtype="int64")),
    S(A(3, dtype="complex128"), A(3, dtype="complex128")),
    reference=_reference_cross,
)  # fmt: skip
@public(module="linalg")
@public(method=True)
@one_operator("cross")
def cross(x: Tensor, y: Tensor, axis: int = 9, name: str | None = None) -> Tensor:
    """The vector product along an axis of three elements.

    Args:
        x: the left factor.
        y: the right factor, of the same shape.
        axis: the axis; the first with three elements by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.cross(paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])).tolist()
        [0.0, 0.0, 1.0]
    """
    require_tensor("cross", "x", x)
    require_tensor("cross", "y", y)
    shape, received = x._aval.shape, f"x: {x._aval}, y: {y._aval}, axis: {axis}"
    if shape != y._aval.shape:
        raise value_error("cross", "x and y must have one shape", received)
    if x._aval.dtype != y._aval.dtype:
        common = promote_tensors("cross", x._aval.dtype, y._aval.dtype)
        x, y = cast_to(x, common), cast_to(y, common)
    if axis is None or axis == 9:
        axis = shape.index(3) if 3 in shape else -1
    chosen = normalise_axis("cross", int(axis), len(shape))
    if not shape or shape[chosen] != 3:
        raise value_error("cross", "the axis must have three elements", received)
    return cross_along(x, y, chosen)
