"""Operations that work element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Number

_ONE_INPUT = """
    abs acos acosh angle asin asinh atan atanh as_complex as_real bitwise_not ceil conj cos cosh digamma erf erfinv exp
    expm1 floor i0 i0e i1 i1e imag isfinite isinf isnan lgamma log log10 log1p log2 logical_not real reciprocal
    rsqrt sign sin sinh sqrt square tan tanh trunc sigmoid gammaln
"""
_TWO_INPUTS = """
    add subtract multiply maximum minimum fmax fmin floor_divide remainder atan2 bitwise_and bitwise_or bitwise_xor
    logical_and logical_or logical_xor equal not_equal less_than less_equal greater_than greater_equal
    heaviside nextafter copysign gammaincc complex kron
"""


def _one(name: str) -> Any:
    def call(x: Tensor) -> Tensor:
        return getattr(paddle, name)(x)

    return call


def _two(name: str) -> Any:
    def call(x: Tensor, y: Tensor) -> Tensor:
        return getattr(paddle, name)(x, y)

    return call


for _name in _ONE_INPUT.split():
    reads(_name)(_one(_name))
for _name in _TWO_INPUTS.split():
    reads(_name)(_two(_name))
for _fused, _plain in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("div", "divide")):
    reads(f"fused_elementwise_{_fused}")(_two(_plain))


@reads("divide")
def divide(x: Tensor, y: Tensor) -> Tensor:
    # Paddle's kernel divides integers to integers; its Python function casts beforehand.
    if x._aval.dtype.kind in "iu" and y._aval.dtype.kind in "iu":
        return paddle.trunc(paddle.divide(x, y)).astype(x.dtype)
    return paddle.divide(x, y)


@reads("trunc_divide")
def trunc_divide(x: Tensor, y: Tensor) -> Tensor:
    if x._aval.dtype.kind in "iu":
        return paddle.div(x, y, rounding_mode="trunc")
    return paddle.trunc(paddle.divide(x, y))


@reads("elementwise_pow")
def elementwise_pow(x: Tensor, y: Tensor) -> Tensor:
    return paddle.pow(x, y)


@reads("pow")
def power(x: Tensor, *, y: Any) -> Tensor:
    if x._aval.dtype.kind in "iu" and float(y).is_integer():
        y = int(y)  # an integer stays one
    result = paddle.pow(x, y)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


@reads("scale")
def scale(
    x: Tensor, factor: Number = None, *, scale: Any = None, bias: Any = 0.0, bias_after_scale: bool = True
) -> Tensor:
    by: Any = scale if factor is None else factor
    if isinstance(by, Tensor):
        by = by.reshape([]) if by._aval.size == 1 else by
        result = x * by + bias if bias_after_scale else (x + bias) * by
    else:
        # Integers stay integers as long as the numbers are whole: sizes are computed like this.
        if x._aval.dtype.kind in "iu" and float(by).is_integer() and float(bias).is_integer():
            by, bias = int(by), int(bias)
        if by != 1 and not bias_after_scale:
            bias = bias * by
        result = x if by == 1 else x * by
        result = result + bias if bias != 0 else paddle.assign(x) if by == 1 else result
    return result if result.dtype == x.dtype else result.astype(x.dtype)


@reads("cast")
def cast(x: Tensor, *, dtype: str) -> Tensor:
    return paddle.cast(x, dtype)


@reads("view_dtype")
def view_dtype(x: Tensor, *, dtype: str) -> Tensor:
    return paddle.view(x, dtype)


@reads("trans_layout")
def trans_layout(x: Tensor, *, perm: list[int]) -> Tensor:
    return paddle.transpose(x, perm)


@reads("clip")
def clip(x: Tensor, min: Number = None, max: Number = None) -> Tensor:
    result = paddle.clip(x, _scalar(min), _scalar(max))
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def _scalar(value: Any) -> Any:
    return value.reshape([]) if isinstance(value, Tensor) and value._aval.size == 1 else value


@reads("clip_by_norm")
def clip_by_norm(x: Tensor, *, max_norm: float) -> Tensor:
    norm = paddle.sqrt(paddle.sum(x * x))
    return paddle.where(norm > max_norm, x * (max_norm / norm), x)


@reads("round")
def round_(x: Tensor, *, decimals: int = 0) -> Tensor:
    return paddle.round(x, decimals)


@reads("rint")
def rint(x: Tensor) -> Tensor:
    return paddle.round(x)


@reads("logit")
def logit(x: Tensor, *, eps: float = 0.0) -> Tensor:
    # With 0 Paddle's kernel gives NaN outside of [0, 1] instead of clipping.
    return paddle.logit(x, eps if eps else None)


@reads("polygamma")
def polygamma(x: Tensor, *, n: int) -> Tensor:
    return paddle.polygamma(x, n)


@reads("stanh")
def stanh(x: Tensor, *, scale_a: float, scale_b: float) -> Tensor:
    return paddle.stanh(x, scale_a, scale_b)


@reads("lerp")
def lerp(x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    return paddle.lerp(x, y, weight)


@reads("isclose")
def isclose(x: Tensor, y: Tensor, rtol: Number = 1e-5, atol: Number = 1e-8, *, equal_nan: bool = False) -> Tensor:
    return paddle.isclose(x, y, rtol, atol, equal_nan)


@reads("allclose")
def allclose(x: Tensor, y: Tensor, rtol: Number = 1e-5, atol: Number = 1e-8, *, equal_nan: bool = False) -> Tensor:
    return paddle.allclose(x, y, rtol, atol, equal_nan)


@reads("equal_all")
def equal_all(x: Tensor, y: Tensor) -> Tensor:
    return paddle.equal_all(x, y)


@reads("bitwise_left_shift")
def bitwise_left_shift(x: Tensor, y: Tensor, *, is_arithmetic: bool = True) -> Tensor:
    return paddle.bitwise_left_shift(x, y, is_arithmetic)


@reads("bitwise_right_shift")
def bitwise_right_shift(x: Tensor, y: Tensor, *, is_arithmetic: bool = True) -> Tensor:
    return paddle.bitwise_right_shift(x, y, is_arithmetic)


@reads("add_n")
def add_n(tensors: Any) -> Tensor:
    return paddle.add_n(tensors)


@reads("where")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return paddle.where(condition, x, y)


@reads("increment")
def increment(x: Tensor, *, value: float = 1.0) -> Tensor:
    return x + (int(value) if x._aval.dtype.kind in "iu" else value)


@reads("label_smooth")
def label_smooth(label: Tensor, prior: Tensor | None = None, *, epsilon: float = 0.1) -> Tensor:
    return F.label_smooth(label, prior, epsilon)
