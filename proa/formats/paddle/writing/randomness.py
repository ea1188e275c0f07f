"""Random numbers: drawn anew, by Paddle's own generator, at each run of the saved model."""

from __future__ import annotations

from .builder import Builder, Made
from .registry import Call, translates


def _uniform(b: Builder, sizes: object, dtype: str, low: float = 0.0, high: float = 1.0) -> Made:
    inputs = [b.shape_of(sizes), b.argument(low, "float32"), b.argument(high, "float32")]  # type: ignore[arg-type]
    return b.emit("uniform", inputs, {"dtype": dtype, "seed": 0, "place": "undefined"}, (dtype, sizes))


@translates("uniform")
def uniform(b: Builder, c: Call) -> Made:
    low, high = c.operands[:2]
    if isinstance(low, Made) or isinstance(high, Made):
        low, high = c.tensor(b, 0), c.tensor(b, 1)
        span = b.binary("subtract", high, low)
        return b.binary("add", b.binary("multiply", _uniform(b, c.sizes, c.dtype), span), low)
    return _uniform(b, c.sizes, c.dtype, float(low), float(high))


@translates("gaussian")
def gaussian(b: Builder, c: Call) -> Made:
    mean, std = c.operands[:2]
    attributes = {"mean": 0.0, "std": 1.0, "seed": 0, "dtype": c.dtype, "place": "undefined"}
    if not isinstance(mean, Made) and not isinstance(std, Made):
        attributes |= {"mean": float(mean), "std": float(std)}
        return b.emit("gaussian", [b.shape_of(c.sizes)], attributes, c.types[0])
    normal = b.emit("gaussian", [b.shape_of(c.sizes)], attributes, c.types[0])
    return b.binary("add", b.binary("multiply", normal, c.tensor(b, 1)), c.tensor(b, 0))


@translates("randint")
def randint(b: Builder, c: Call) -> Made:
    low, span = c.operands[:2]
    attributes = {"low": int(low), "high": int(low) + int(span), "dtype": "int64", "place": "undefined"}
    return b.cast(b.emit("randint", [b.shape_of(c.sizes)], attributes, ("int64", c.sizes)), c.dtype)


@translates("randperm")
def randperm(b: Builder, c: Call) -> Made:
    attributes = {"n": int(c.sizes[0]), "dtype": "int64", "place": "undefined"}
    return b.cast(b.emit("randperm", [], attributes, ("int64", c.sizes)), c.dtype)


@translates("dropout_mask")
def dropout_mask(b: Builder, c: Call) -> Made:
    p = c.tensor(b, 0, "float32")
    return b.cast(b.binary("greater_equal", _uniform(b, c.sizes, "float32"), b.cast(p, "float32"), "bool"), c.dtype)


@translates("bernoulli", "poisson", "standard_gamma")
def from_parameters(b: Builder, c: Call) -> Made:
    return b.emit(c.name, [c.operands[0]], {}, c.types[0])


@translates("binomial")
def binomial(b: Builder, c: Call) -> Made:
    return b.emit("binomial", [c.tensor(b, 0), c.tensor(b, 1)], {}, c.types[0])


@translates("multinomial")
def multinomial(b: Builder, c: Call) -> Made:
    count, replacement = c.attributes
    inputs = [c.operands[0], b.argument(count, "int32")]
    return b.emit("multinomial", inputs, {"replacement": bool(replacement)}, c.types[0])


@translates("exponential")
def exponential(b: Builder, c: Call) -> Made:
    rest = b.scale(_uniform(b, c.sizes, c.dtype), -1, 1)  # in (0, 1]: its logarithm is finite
    draws = b.scale(b.same("log", rest), -1)
    return b.binary("divide", draws, b.cast(c.tensor(b, 0, c.dtype), c.dtype))


@translates("chance")
def chance(b: Builder, c: Call) -> Made:
    """Nothing uses it in Paddle, whose operations inside a condition or loop draw by themselves."""
    return b.full(c.sizes, 0, c.dtype)
