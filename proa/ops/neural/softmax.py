"""softmax and log_softmax: primitives whose gradients are written in terms of the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import is_floating, to_numpy_dtype
from ...eager import series
from ...eager.annotations import DTypeLike
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ...kernels.cpu.direct import on_host
from ...kernels.cpu.rows import native_softmax
from ...kernels.gpu.cold import elementwise, rows
from ..arguments import require_tensor
from ..axes import flat, single_axis, widened
from ..basic import cast_to, reshape_to, sum_over


def _infer_floating(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    if not is_floating(operands[0].dtype):
        raise operation.error(TypeError, "x must be floating", operands, fix="pass dtype='float32'")
    return operands[0]


def _lowered(xp: Any, x: Any, axis: int) -> Any:
    """A new array: `x` less its maximum along the axis, so that `exp` cannot overflow."""
    wide = widened(x)
    largest = np.maximum.reduce if xp is np else xp.max  # what `max` comes to there, without its wrappers
    return wide - largest(wide, axis=axis, keepdims=True)


def _softmax_grad(g: Tensor, out: Tensor, axis: int) -> Tensor:
    return (g - sum_over(g * out, (axis,), True)) * out


@op(
    infer=_infer_floating,
    grad={"x": _softmax_grad},
    name="softmax",
    family="normalisation",
    padding=rules.neural.softmax,
    series=series.functions.softmax,
)
def softmax_along(xp: Any, x: Any, axis: int) -> Any:
    if not x.size:
        return x
    shares = xp.exp(_lowered(xp, x, axis))
    return (shares / xp.sum(shares, axis=axis, keepdims=True)).astype(x.dtype, copy=False)


def _softmax_numpy(xp: Any, x: Any, axis: int) -> Any:
    """The same in one buffer."""
    if not x.size:
        return x
    shares = _lowered(np, x, axis)
    np.exp(shares, out=shares)
    shares /= np.add.reduce(shares, axis=axis, keepdims=True)
    return shares


softmax_along.operation.kernels["cupy"] = rows.softmax(elementwise.softmax(softmax_along.operation.kernel))
softmax_along.operation.kernels["numpy"] = on_host(native_softmax, _softmax_numpy)
softmax_along.operation.kernels["cpu"] = native_softmax(softmax_along.operation.kernel)


def _log_softmax_grad(g: Tensor, out: Tensor, axis: int) -> Tensor:
    return g - out.exp() * sum_over(g, (axis,), True)


@op(
    infer=_infer_floating,
    grad={"x": _log_softmax_grad},
    name="log_softmax",
    family="normalisation",
    padding=rules.neural.softmax,
    series=series.functions.log_softmax,
)
def log_softmax_along(xp: Any, x: Any, axis: int) -> Any:
    if not x.size:
        return x
    lowered = _lowered(xp, x, axis)
    return (lowered - xp.log(xp.sum(xp.exp(lowered), axis=axis, keepdims=True))).astype(x.dtype, copy=False)


def _log_softmax_numpy(xp: Any, x: Any, axis: int) -> Any:
    """The same in one buffer, by the reductions themselves: their wrappers take longer than a few rows."""
    if not x.size:
        return x
    lowered = _lowered(np, x, axis)
    total = np.add.reduce(np.exp(lowered), axis=axis, keepdims=True)
    lowered -= np.log(total, out=total)
    return lowered


log_softmax_along.operation.kernels["numpy"] = _log_softmax_numpy


def _along(where: str, primitive: Any, x: Tensor, axis: Any, dtype: Any) -> Tensor:
    axis = single_axis(where, axis, require_tensor(where, "x", x)._aval.ndim)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    return primitive(x, axis) if x._aval.ndim else reshape_to(primitive(flat(x), 0), ())


def _reference_softmax(x: Any, axis: int = -1, dtype: Any = None) -> Any:
    powers = np.exp(x.astype("float64"))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(dtype or x.dtype)


_SAMPLES = (
    S(A(2, 3)), S(A(2, 3, 4), 1), S(A(2, 3), -2, "float64"), S(A(0, 3)), S(A(3, 0)), S(A(1)),
    S(A(4, dtype="int64"), 0, "float32"), S(A(2, 5, dtype="bfloat16", grad=False)),
    S(A(2, 5, dtype="float16", grad=False), 0), S(A(values=[[-np.inf, 0.0, 1.0]], grad=False)),
)  # fmt: skip


@samples(*_SAMPLES, reference=_reference_softmax)
@public(module="nn.functional", inplace=True)
def softmax(
    x: Tensor,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis, without overflow.

    Args:
        x: scores.
        axis: the axis along which the result adds up to 1.
        dtype: the dtype that `x` is converted to first; None leaves it.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x`, of probabilities.

    Examples:
        >>> paddle.nn.functional.softmax(paddle.to_tensor([[0.0, 0.0], [1000.0, 0.0]])).tolist()
        [[0.5, 0.5], [1.0, 0.0]]
    """
    return deliver(_along("softmax", softmax_along, x, axis, dtype), out)


@samples(*_SAMPLES, reference=lambda *args: np.log(_reference_softmax(*args)))
@public(module="nn.functional")
def log_softmax(x: Tensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The logarithm of `softmax` along an axis, more exact than the two steps.

    Args:
        x: scores.
        axis: the axis along which probabilities add up to 1.
        dtype: the dtype that `x` is converted to first; None leaves it.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x`.

    Examples:
        >>> print(paddle.nn.functional.log_softmax(paddle.to_tensor([[0.0, 0.0], [1000.0, 0.0]])).numpy().round(4))
        [[-6.931e-01 -6.931e-01]
         [ 0.000e+00 -1.000e+03]]
    """
    return _along("log_softmax", log_softmax_along, x, axis, dtype)
