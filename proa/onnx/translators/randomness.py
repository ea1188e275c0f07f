"""Random numbers: drawn anew, by the runtime's own generator, at each run of the model."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder, Made
from ..registry import Call, translates
from .arithmetic import scaled
from .order import top


def _drawn(b: Builder, operator: str, sizes: Sequence[int], dtype: str) -> Made:
    """Numbers in a shape that may be known only when the model runs."""
    kind = dtype if dtype in ("float32", "float64") else "float32"
    like = b.expand(b.scalar(0, kind), sizes)
    return b.cast(b.emit(operator, [like], (kind, sizes), dtype=kind), dtype)


def uniform_numbers(b: Builder, sizes: Sequence[int], dtype: str) -> Made:
    """From 0 up to 1."""
    return _drawn(b, "RandomUniformLike", sizes, dtype)


@translates("uniform")
def uniform(b: Builder, c: Call) -> Made:
    low, high = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    return b.binary("Add", b.binary("Mul", uniform_numbers(b, c.sizes, c.dtype), b.binary("Sub", high, low)), low)


@translates("gaussian")
def gaussian(b: Builder, c: Call) -> Made:
    mean, deviation = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    return b.binary("Add", b.binary("Mul", _drawn(b, "RandomNormalLike", c.sizes, c.dtype), deviation), mean)


@translates("randint")
def randint(b: Builder, c: Call) -> Made:
    low, span = c.tensor(b, 0, "float64"), c.tensor(b, 1, "float64")
    numbers = b.same("Floor", b.binary("Mul", uniform_numbers(b, c.sizes, "float64"), span))
    return b.cast(b.binary("Add", b.binary("Min", numbers, b.with_number("Sub", span, 1)), low), c.dtype)


@translates("randperm")
def randperm(b: Builder, c: Call) -> Made:
    numbers = uniform_numbers(b, c.sizes, "float64")
    return b.cast(top(b, numbers, c.sizes[0], 0, True)[1], c.dtype)


@translates("dropout_mask")
def dropout_mask(b: Builder, c: Call) -> Made:
    p = c.tensor(b, 0, "float32")
    return b.cast(b.binary("GreaterOrEqual", uniform_numbers(b, c.sizes, "float32"), p, "bool"), c.dtype)


@translates("dropout")
def dropout(b: Builder, c: Call) -> Made:
    x, mask = c.operands[0], c.operands[1]
    return b.binary("Mul", b.binary("Mul", x, b.cast(mask, x.dtype)), c.tensor(b, 2, x.dtype))


@translates("dropout_scale")
def dropout_scale(b: Builder, c: Call) -> Made:
    x, factor = c.operands
    return b.binary("Mul", x, factor) if isinstance(factor, Made) else scaled(b, x, factor)


@translates("bernoulli")
def bernoulli(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.cast(b.binary("Less", uniform_numbers(b, x.sizes, "float32"), b.cast(x, "float32"), "bool"), c.dtype)


@translates("exponential")
def exponential(b: Builder, c: Call) -> Made:
    rest = scaled(b, uniform_numbers(b, c.sizes, c.dtype), -1, 1)  # in (0, 1]: its logarithm is finite
    return b.binary("Div", b.same("Neg", b.same("Log", rest)), c.tensor(b, 0, c.dtype))


@translates("multinomial")
def multinomial(b: Builder, c: Call) -> Made:
    """The largest of log(p) + noise is category i with probability p(i); the k largest are drawn without replacement."""
    x = c.operands[0]
    count, replacement = c.attributes
    log_probabilities = b.same("Log", x)
    if not replacement:
        noisy = b.binary("Add", log_probabilities, _noise(b, x.sizes, x.dtype))
        return b.cast(top(b, noisy, count, x.ndim - 1, True)[1], c.dtype)
    sizes = (*x.sizes[:-1], count, x.sizes[-1])
    noisy = b.binary("Add", b.reshape(log_probabilities, (*x.sizes[:-1], 1, x.sizes[-1])), _noise(b, sizes, x.dtype))
    return b.cast(b.emit("ArgMax", [noisy], ("int64", sizes[:-1]), axis=len(sizes) - 1, keepdims=0), c.dtype)


def _noise(b: Builder, sizes: Sequence[int], dtype: str) -> Made:
    """Gumbel's distribution: -log(-log(u)), with u kept away from 0 and 1."""
    numbers = uniform_numbers(b, sizes, dtype)
    inside = b.with_number("Min", b.with_number("Max", numbers, 1e-30), 1 - 2**-24)
    return b.same("Neg", b.same("Log", b.same("Neg", b.same("Log", inside))))


@translates("chance")
def chance(b: Builder, c: Call) -> Made:
    """Nothing uses it there: operators inside a condition or loop draw by themselves."""
    return b.filled(c.sizes, 0, c.dtype)
