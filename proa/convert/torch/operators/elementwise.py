"""Arithmetic, comparison, logic and casts, element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads
from .promotion import as_tensor, kind_of, promoted, real

# Functions of one tensor that have the same name here; they give real numbers.
_REAL = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "digamma", "erf", "erfinv", "exp", "expm1", "lgamma",
    "log", "log10", "log1p", "log2", "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
_SAME = (
    "abs",
    "ceil",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "neg",
    "sign",
    "sgn",
    "square",
    "trunc",
    "angle",
    "conj",
    "real",
    "imag",
)
_COMPARED: dict[str, Callable[..., Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def _of_one(name: str, prepare: Callable[[Tensor], Tensor] | None) -> Callable[[Tensor], Tensor]:
    def call(x: Tensor) -> Tensor:
        return getattr(paddle, name)(x if prepare is None else prepare(x))

    return call


def _compared(compare: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        x, y = promoted(x, y)
        return compare(x, as_tensor(y, x)) if isinstance(x, Tensor) else compare(x, y)

    return call


for _name in _REAL:
    reads(_name)(_of_one(_name, real))
for _name in _SAME:
    reads(_name)(_of_one(_name, None))
for _name, _compare in _COMPARED.items():
    reads(_name)(_compared(_compare))


def _scaled(y: Any, alpha: Any) -> Any:
    return y if alpha == 1 else y * alpha


@reads("add")
def add(x: Any, y: Any, alpha: Any = 1) -> Any:
    x, y = promoted(x, _scaled(y, alpha))
    return paddle.logical_or(x, y) if _both_bool(x, y) else x + y


@reads("sub")
def sub(x: Any, y: Any, alpha: Any = 1) -> Any:
    x, y = promoted(x, _scaled(y, alpha))
    return x - y


@reads("rsub")
def rsub(x: Any, y: Any, alpha: Any = 1) -> Any:
    return sub(y, x, alpha)


@reads("mul")
def mul(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    return paddle.logical_and(x, y) if _both_bool(x, y) else x * y


def _both_bool(x: Any, y: Any) -> bool:
    return isinstance(x, Tensor) and isinstance(y, Tensor) and kind_of(x) == 0


@reads("div", "true_divide")
def div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    x, y = promoted(x, y)
    if rounding_mode == "floor":
        return floor_divide(x, y)
    if rounding_mode == "trunc":
        kind = (x if isinstance(x, Tensor) else y).dtype
        return paddle.trunc(_divided(x, y)).astype(kind)
    return _divided(x, y)


def _divided(x: Any, y: Any) -> Any:
    x, y = (real(t) if isinstance(t, Tensor) else t for t in (x, y))
    return x / y


@reads("floor_divide")
def floor_divide(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    return x // y


@reads("remainder")
def remainder(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    return x % y


@reads("fmod")
def fmod(x: Tensor, y: Any) -> Tensor:
    x, y = promoted(x, y)
    y = as_tensor(y, x)
    left = paddle.mod(paddle.abs(x), paddle.abs(y))
    return paddle.where(x < 0, -left, left)


@reads("pow")
def power(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    if isinstance(x, Tensor):
        return x * x if isinstance(y, (int, float)) and y == 2 else paddle.pow(x, y)
    return paddle.pow(as_tensor(x, y), y)


@reads("addcmul")
def addcmul(x: Tensor, y: Tensor, z: Tensor, value: Any = 1) -> Tensor:
    return x + _scaled(y * z, value)


@reads("addcdiv")
def addcdiv(x: Tensor, y: Tensor, z: Tensor, value: Any = 1) -> Tensor:
    return x + _scaled(y / z, value)


@reads("lerp")
def lerp(x: Tensor, y: Tensor, weight: Any) -> Tensor:
    return x + weight * (y - x)


@reads("atan2")
def atan2(x: Tensor, y: Tensor) -> Tensor:
    return paddle.atan2(x, y)


@reads("maximum", "max.other")
def maximum(x: Tensor, y: Tensor) -> Tensor:
    return paddle.maximum(*promoted(x, y))


@reads("minimum", "min.other")
def minimum(x: Tensor, y: Tensor) -> Tensor:
    return paddle.minimum(*promoted(x, y))


for _name in ("fmax", "fmin", "copysign", "gcd", "lcm", "logaddexp"):
    reads(_name)(lambda x, y, _ours=_name: getattr(paddle, _ours)(*promoted(x, y)))
reads("exp2")(lambda x: paddle.exp(real(x) * math.log(2)))


@reads("clamp", "clip", "clamp_min", "clamp_max", "clamp.Tensor")
def clamp(x: Tensor, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
    low, high = min if low is None else low, max if high is None else high
    for bound, choose in ((low, paddle.maximum), (high, paddle.minimum)):
        if bound is not None:
            x, bound = promoted(x, bound)
            x = choose(x, as_tensor(bound, x))
    return x


reads("clamp_max")(lambda x, high: clamp(x, None, high))


@reads("round")
def nearest(x: Tensor, decimals: int = 0) -> Tensor:
    factor = 10.0**decimals
    scaled = x * factor if decimals else x
    down = paddle.floor(scaled)
    rest = scaled - down
    up = (rest > 0.5) | ((rest == 0.5) & (paddle.floor(down / 2) * 2 != down))
    made = paddle.where(up, down + 1, down)
    return made / factor if decimals else made


@reads("logical_and")
def logical_and(x: Tensor, y: Tensor) -> Tensor:
    return paddle.logical_and(x.astype("bool"), y.astype("bool"))


@reads("logical_or")
def logical_or(x: Tensor, y: Tensor) -> Tensor:
    return paddle.logical_or(x.astype("bool"), y.astype("bool"))


@reads("logical_xor")
def logical_xor(x: Tensor, y: Tensor) -> Tensor:
    return paddle.logical_xor(x.astype("bool"), y.astype("bool"))


@reads("logical_not")
def logical_not(x: Tensor) -> Tensor:
    return paddle.logical_not(x.astype("bool"))


@reads("bitwise_not")
def bitwise_not(x: Tensor) -> Tensor:
    return paddle.bitwise_not(x)


def _bits(name: str) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        x, y = promoted(x, y)
        return getattr(paddle, name)(as_tensor(x, y), as_tensor(y, x))

    return call


for _name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"):
    reads(_name)(_bits(_name))
reads("__and__")(_bits("bitwise_and"))
reads("__or__")(_bits("bitwise_or"))
reads("__xor__")(_bits("bitwise_xor"))


@reads("where")
def where(condition: Tensor, x: Any, y: Any) -> Tensor:
    x, y = promoted(x, y)
    x, y = (as_tensor(x, y), y) if isinstance(y, Tensor) else (x, y)
    if not isinstance(x, Tensor):
        kind = "float32" if max(kind_of(x), kind_of(y)) == 2 else "int64"
        x, y = paddle.full([], x, kind), paddle.full([], y, kind)
    return paddle.where(condition.astype("bool"), x, as_tensor(y, x))


@reads("masked_fill")
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    filled = value.astype(x.dtype) if isinstance(value, Tensor) else paddle.full([], value, x.dtype)
    return paddle.where(mask, filled, x)


@reads("to", "_to_copy", "type_as")
def convert(x: Tensor, *rest: Any, dtype: Any = None) -> Tensor:
    wanted = dtype
    for given in rest:
        wanted = given if isinstance(given, str) and wanted is None else wanted
        wanted = given.dtype if isinstance(given, Tensor) else wanted
    return paddle.assign(x) if wanted is None else x.astype(wanted)


@reads("clone", "contiguous", "detach", "alias", "lift_fresh_copy", "lift_fresh", "detach_", "dropout", "feature_dropout",
       "alpha_dropout", "positive")  # fmt: skip
def same(x: Tensor, *_rest: Any, **_named: Any) -> Tensor:
    """Models are exported for evaluation, where dropout does nothing."""
    return x


@reads(
    "_assert_tensor_metadata",
    "_assert_scalar",
    "sym_constrain_range_for_size",
    "_assert_async",
    "_check",
    "sym_constrain_range",
)
def nothing(*_arguments: Any, **_named: Any) -> None:
    return None


@reads("copy")
def copy(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    return paddle.expand(source.astype(x.dtype), list(x._aval.shape))


@reads("fill")
def fill(x: Tensor, value: Any) -> Tensor:
    return paddle.expand(as_tensor(value, x).astype(x.dtype), list(x._aval.shape))


@reads("item", "_local_scalar_dense")
def item(x: Tensor) -> Any:
    """A number that decides what is computed: such a program runs operation by operation."""
    return x.item()


_ACTIVATIONS = {
    "relu": "relu", "relu6": "relu6", "silu": "silu", "mish": "mish", "hardswish": "hardswish", "softsign": "softsign",
    "selu": "selu", "log_sigmoid": "log_sigmoid",
}  # fmt: skip
for _name, _ours in _ACTIVATIONS.items():
    reads(_name)(lambda x, _ours=_ours: getattr(F, _ours)(x))


@reads("hardsigmoid")
def hardsigmoid(x: Tensor) -> Tensor:
    return paddle.clip(x / 6 + 0.5, 0.0, 1.0)


@reads("gelu")
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    return F.gelu(x, approximate=approximate == "tanh")


@reads("leaky_relu")
def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
    return F.leaky_relu(x, slope)


@reads("elu")
def elu(x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    return scale * paddle.where(x > 0, x, alpha * paddle.expm1(input_scale * paddle.minimum(x, paddle.zeros_like(x))))


@reads("celu")
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


@reads("hardtanh")
def hardtanh(x: Tensor, low: float = -1.0, high: float = 1.0) -> Tensor:
    return paddle.clip(x, low, high)


@reads("softplus")
def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    return F.softplus(x, beta, threshold)


@reads("threshold")
def threshold(x: Tensor, limit: float, value: float) -> Tensor:
    return paddle.where(x > limit, x, paddle.full([], value, x.dtype))


@reads("prelu")
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    slope = weight.reshape([1, -1, *[1] * (x.ndim - 2)]) if weight._aval.size > 1 else weight.reshape([])
    return paddle.where(x > 0, x, slope * x)


@reads("glu")
def glu(x: Tensor, axis: int = -1) -> Tensor:
    return F.glu(x, axis)


@reads("nan_to_num")
def nan_to_num(x: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    return paddle.nan_to_num(x, nan or 0.0, posinf, neginf)
