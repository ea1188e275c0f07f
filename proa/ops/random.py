"""Random tensors, and the state that they are drawn from.

Every call takes the next (seed, offset) of the generator and hands both to its kernel as data, so
that drawing again compiles nothing and both tiers draw the same numbers (see
kernels/random_bits.py). There are no samples here, because two calls must differ;
tests/ops/test_random.py has the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import (
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    INT64,
    default_float,
    is_floating,
    real_dtype,
    to_numpy_dtype,
)
from ..core.errors import type_error, value_error
from ..core.generator import Generator, GeneratorState, default_generator
from ..eager.declare import op, public
from ..eager.tensor import Tensor
from ..eager.views import assign_in_place
from ..ir.operation import Check
from ..ir.recorder import LOCAL
from ..kernels import random_bits
from .arguments import deliver, integer, listed, new_shape, require_tensor
from .basic import cast_to, expand_to
from .creation import real_of, scalar_of


def draw(seed: int = 0) -> tuple[int, int]:
    """The next (seed, offset); a seed of its own, if one is given, always gives the same numbers."""
    return (int(seed), 0) if seed else default_generator.draw()


def _infer_new(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return make_aval(attributes[0], attributes[1], place)


def _floating_dtype(where: str, dtype: Any) -> np.dtype:
    wanted = default_float() if dtype is None else to_numpy_dtype(dtype)
    if not is_floating(wanted):
        raise type_error(where, "the type must be a floating one", f"dtype: {dtype}")
    return wanted


# ---- state ---------------------------------------------------------------------------------------


@public()
def seed(seed: int) -> Generator:
    """Makes everything random from here on repeatable."""
    return default_generator.manual_seed(integer("seed", "seed", seed))


@public()
def get_rng_state(device: Any = None) -> list[GeneratorState]:
    """The state of the random numbers; `set_rng_state` continues from it."""
    return [default_generator.get_state()]


@public()
def set_rng_state(state_list: Any, device: Any = None) -> None:
    """Continues from a state that `get_rng_state` gave."""
    if len(state_list) != 1:
        raise value_error("set_rng_state", "there is one state", f"{len(state_list)} states")
    default_generator.set_state(state_list[0])


@public()
def get_cuda_rng_state() -> list[GeneratorState]:
    """The state of the random numbers on GPUs, which is the one state; empty where there is no GPU."""
    return [default_generator.get_state()] if LOCAL.place.kind == "gpu" else []


@public()
def set_cuda_rng_state(state_list: Any) -> None:
    """Continues from a state that `get_cuda_rng_state` gave."""
    if state_list:
        default_generator.set_state(state_list[0])


@public(name="Generator")
def new_generator(device: Any = None) -> Generator:
    """A generator of its own, seeded like the default one."""
    return Generator(default_generator.initial_seed())


# ---- uniform and normal --------------------------------------------------------------------------


@op("", scalars="low high seed offset", infer=_infer_new, follow_scalars=False, name="uniform")
def uniform_of(
    xp: Any, low: Any, high: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    compute = FLOAT64 if dtype == FLOAT64 else FLOAT32
    fraction = random_bits.uniform(xp, shape, dtype, seed, offset).astype(compute)
    low, high = low.astype(compute), high.astype(compute)
    return (low + (high - low) * fraction).astype(dtype)


@op("", scalars="mean std seed offset", infer=_infer_new, follow_scalars=False, name="gaussian")
def normal_of(
    xp: Any, mean: Any, std: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    if dtype.kind == "c":
        # A complex number of variance 1: its two parts have half of it each.
        parts = random_bits.normal(xp, (*shape, 2), real_dtype(dtype), seed, offset) * np.sqrt(
            0.5
        ).astype(real_dtype(dtype))
        return (mean + std * (parts[..., 0] + 1j * parts[..., 1])).astype(dtype)
    compute = FLOAT64 if dtype == FLOAT64 else FLOAT32
    numbers = random_bits.normal(xp, shape, compute, seed, offset)
    return (mean.astype(compute) + std.astype(compute) * numbers).astype(dtype)


@public()
@listed("shape", 0)
def rand(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    made = uniform_of(0.0, 1.0, *draw(), new_shape("rand", shape), _floating_dtype("rand", dtype))
    return deliver(made, out, device, requires_grad)


@public()
def uniform(
    shape: Any,
    dtype: Any = None,
    min: Any = 0,
    max: Any = 1.0,
    seed: int = 0,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn uniformly from [min, max); always the same ones for a `seed` other than 0."""
    low, high = real_of("uniform", "min", min), real_of("uniform", "max", max)
    dims = new_shape("uniform", shape)
    made = uniform_of(low, high, *draw(seed), dims, _floating_dtype("uniform", dtype))
    return deliver(made, out, device, requires_grad)


def _normal_dtype(where: str, dtype: Any) -> np.dtype:
    wanted = default_float() if dtype is None else to_numpy_dtype(dtype)
    return wanted if wanted.kind == "c" else _floating_dtype(where, wanted)


@public()
@listed("shape", 0)
def randn(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers drawn from the standard normal distribution."""
    made = normal_of(0.0, 1.0, *draw(), new_shape("randn", shape), _normal_dtype("randn", dtype))
    return deliver(made, out, device, requires_grad)


@public()
@listed("shape", 0)
def standard_normal(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from the standard normal distribution."""
    return randn(shape, dtype, out=out, device=device, requires_grad=requires_grad)


def gaussian(
    shape: Any,
    mean: Any = 0.0,
    std: Any = 1.0,
    seed: int = 0,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from a normal distribution; always the same ones for a `seed` other than 0."""
    centre, width = real_of("gaussian", "mean", mean), real_of("gaussian", "std", std)
    dims = new_shape("gaussian", shape)
    made = normal_of(centre, width, *draw(seed), dims, _normal_dtype("gaussian", dtype))
    return deliver(made, out, device, requires_grad)


@public()
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    shape: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers drawn from normal distributions: one for all, or one for each element of `mean` and `std`."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        given = mean if isinstance(mean, Tensor) else std
        numbers = normal_of(
            0.0, 1.0, *draw(), given._aval.shape, _normal_dtype("normal", given._aval.dtype)
        )
        made = numbers * std + mean
    else:
        centre, width = (scalar_of("normal", n, v) for n, v in (("mean", mean), ("std", std)))
        dtype = COMPLEX64 if isinstance(centre, complex) else default_float()
        centre = centre if isinstance(centre, complex) else float(centre)
        made = normal_of(
            centre,
            float(width),
            *draw(),
            new_shape("normal", [1] if shape is None else shape),
            dtype,
        )
    return deliver(made, out)


@public()
def rand_like(
    input: Tensor,
    name: str | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform numbers from [0, 1) in the shape of a tensor."""
    aval = require_tensor("rand_like", "input", input)._aval
    return rand(
        aval.shape,
        aval.dtype if dtype is None else dtype,
        device=device,
        requires_grad=requires_grad,
    )


@public()
def randn_like(
    x: Tensor,
    dtype: Any = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Standard normal numbers in the shape of a tensor."""
    aval = require_tensor("randn_like", "x", x)._aval
    return randn(
        aval.shape,
        aval.dtype if dtype is None else dtype,
        device=device,
        requires_grad=requires_grad,
    )


# ---- integers ------------------------------------------------------------------------------------


@op("", scalars="low span seed offset", infer=_infer_new, follow_scalars=False, name="randint")
def integers_of(
    xp: Any,
    low: Any,
    span: Any,
    seed: Any,
    offset: Any,
    shape: tuple[int, ...],
    dtype: np.dtype,
    small: bool,
) -> Any:
    return random_bits.integers(xp, shape, dtype, low, span, seed, offset, small)


integers_of.operation.infer_rule = lambda _op, _k, a, place: make_aval(a[0], a[1], place)  # type: ignore[attr-defined]


def _integers(where: str, low: Any, high: Any, shape: tuple[int, ...], dtype: np.dtype) -> Tensor:
    first = integer(where, "low", low)
    if high is None:
        if first <= 0:
            raise value_error(
                where, "low must be positive when it is the only bound", f"low: {first}"
            )
        first, last = 0, first
    else:
        last = integer(where, "high", high)
    if first >= last:
        raise value_error(where, "low must be less than high", f"low: {first}, high: {last}")
    if not -(2**63) <= first < last <= 2**63 or last - first >= 2**63:
        raise value_error(where, "the range must fit into 63 bits", f"low: {first}, high: {last}")
    return integers_of(first, last - first, *draw(), shape, dtype, last - first < 2**32)


@public()
def randint(
    low: Any = 0, high: Any = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> Tensor:
    """Integers drawn uniformly from [low, high), or from [0, low) when one bound is given."""
    wanted = INT64 if dtype is None else to_numpy_dtype(dtype)
    if wanted.kind not in "iu":
        raise type_error("randint", "the type must be an integer one", f"dtype: {dtype}")
    return _integers(
        "randint",
        low,
        high,
        new_shape("randint", list(shape) if isinstance(shape, tuple) else shape),
        wanted,
    )


@public(method=True)
def randint_like(
    x: Tensor, low: Any = 0, high: Any = None, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Integers drawn uniformly, in the shape (and type, unless another is named) of a tensor."""
    aval = require_tensor("randint_like", "x", x)._aval
    return cast_to(
        _integers("randint_like", low, high, aval.shape, INT64),
        to_numpy_dtype(aval.dtype if dtype is None else dtype),
    )


@op("", scalars="seed offset", infer=_infer_new, name="randperm")
def permutation_of(xp: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The order that sorts random 64-bit numbers."""
    keys = random_bits.words64(xp, shape, seed, offset)
    return xp.argsort(keys, **({"kind": "stable"} if xp is np else {"stable": True})).astype(dtype)


@public()
def randperm(
    n: Any,
    dtype: Any = "int64",
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The numbers from 0 to n - 1 in random order."""
    count = integer("randperm", "n", n)
    if count < 0:
        raise value_error("randperm", "n cannot be negative", f"n: {count}")
    return deliver(
        permutation_of(*draw(), (count,), to_numpy_dtype(dtype)), out, device, requires_grad
    )


# ---- from probabilities --------------------------------------------------------------------------


def _infer_bernoulli(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0] if is_floating(operands[0].dtype) else operands[0].with_dtype(FLOAT32)


@op(
    scalars="seed offset",
    infer=_infer_bernoulli,
    check=Check(
        lambda xp, x, *_: xp.all((x >= 0) & (x <= 1)),
        lambda kinds, a: "probabilities must be from 0 to 1",
        IndexError,
        (0,),
    ),
    name="bernoulli",
)
def bernoulli_of(xp: Any, x: Any, seed: Any, offset: Any) -> Any:
    fraction = random_bits.words32(xp, x.shape, seed, offset).astype(np.float64) * 2.0**-32
    return (fraction < x.astype(np.float64)).astype(x.dtype)


@public()
def bernoulli(x: Tensor, p: Any = None, name: str | None = None) -> Tensor:
    """1 with the probability that `x` has at that place (or `p`, everywhere), 0 otherwise."""
    require_tensor("bernoulli", "x", x)
    if p is not None:
        from .basic import full_of

        dtype = x._aval.dtype if is_floating(x._aval.dtype) else FLOAT32
        x = full_of(real_of("bernoulli", "p", p), x._aval.shape, dtype)
    return bernoulli_of(x, *draw())


def _infer_multinomial(
    operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any
) -> Aval:
    aval = operands[0]
    return aval.with_shape((*aval.shape[:-1], attributes[0])).with_dtype(INT64)


def _can_be_drawn(
    xp: Any, x: Any, _seed: Any, _offset: Any, num_samples: int, replacement: bool
) -> Any:
    enough = xp.sum(x > 0, axis=-1) >= (1 if replacement else num_samples)
    return xp.all(x >= 0) & xp.all(enough) & xp.all(xp.isfinite(x))


@op(
    scalars="seed offset",
    infer=_infer_multinomial,
    check=Check(
        _can_be_drawn,
        lambda kinds, a: (
            f"weights must be finite and not negative, {1 if a[1] else a[0]} of them at least positive"
        ),
        ValueError,
        (0,),
    ),
    name="multinomial",
)
def multinomial_of(
    xp: Any, x: Any, seed: Any, offset: Any, num_samples: int, replacement: bool
) -> Any:
    """With replacement by the inverse of the distribution, without by a race of exponential clocks."""
    weights = x.astype(np.float64)
    if not replacement:
        waiting = -xp.log1p(-random_bits.uniform(xp, x.shape, FLOAT64, seed, offset)) / weights
        waiting = xp.where(weights > 0, waiting, np.inf)
        return xp.argsort(
            waiting, axis=-1, **({"kind": "stable"} if xp is np else {"stable": True})
        )[..., :num_samples]
    sums = xp.cumsum(weights, axis=-1)
    fraction = random_bits.uniform(xp, (*x.shape[:-1], num_samples), FLOAT64, seed, offset)
    target = fraction * sums[..., -1:]
    # The number of partial sums that are not above the target; at most the last one with a positive
    # weight.
    if x.ndim == 1:
        found = xp.searchsorted(sums, target, side="right")
    else:
        found = (
            xp.stack([xp.searchsorted(s, t, side="right") for s, t in zip(sums, target)])
            if x.shape[0]
            else target
        )
    last = x.shape[-1] - 1 - xp.argmax(weights[..., ::-1] > 0, axis=-1)
    return xp.minimum(found, last[..., None])


def _multinomial_xla(
    xp: Any, x: Any, seed: Any, offset: Any, num_samples: int, replacement: bool
) -> Any:
    if not replacement or x.ndim == 1:
        return multinomial_of.operation.kernel(xp, x, seed, offset, num_samples, replacement)  # type: ignore[attr-defined]
    import jax

    weights = x.astype(np.float64)
    sums = xp.cumsum(weights, axis=-1)
    target = (
        random_bits.uniform(xp, (x.shape[0], num_samples), FLOAT64, seed, offset) * sums[..., -1:]
    )
    found = jax.vmap(lambda s, t: xp.searchsorted(s, t, side="right"))(sums, target)
    last = x.shape[-1] - 1 - xp.argmax(weights[..., ::-1] > 0, axis=-1)
    return xp.minimum(found, last[..., None])


multinomial_of.operation.kernels["xla"] = _multinomial_xla  # type: ignore[attr-defined]


@public(method=True)
def multinomial(
    x: Tensor,
    num_samples: Any = 1,
    replacement: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers of categories, drawn with the weights that the last dimension of `x` holds."""
    aval = require_tensor("multinomial", "x", x)._aval
    count = integer("multinomial", "num_samples", num_samples)
    received = f"x: {aval}, num_samples: {count}"
    if aval.ndim not in (1, 2):
        raise value_error("multinomial", "x must have one or two dimensions", received)
    if not is_floating(aval.dtype):
        raise type_error(
            "multinomial",
            "the weights must have a floating type",
            received,
            "convert them with astype('float32')",
        )
    if count <= 0 or aval.shape[-1] == 0:
        raise value_error(
            "multinomial", "num_samples must be positive, and there must be categories", received
        )
    if not replacement and count > aval.shape[-1]:
        raise value_error(
            "multinomial", "more samples than categories", received, "draw with replacement=True"
        )
    return deliver(multinomial_of(x, *draw(), count, bool(replacement)), out)


# ---- in place ------------------------------------------------------------------------------------


def _own_type(where: str, x: Tensor) -> np.dtype:
    aval = require_tensor(where, "x", x)._aval
    if not is_floating(aval.dtype):
        raise type_error(where, "the tensor must have a floating type", f"x: {aval}")
    return aval.dtype


def _filled_with(where: str, x: Tensor, numbers: Tensor) -> Tensor:
    place = x._aval.place
    return assign_in_place(
        x, numbers if numbers._aval.place is place else numbers._to_place(place), where
    )


@public(method=True)
def uniform_(
    x: Tensor, min: Any = 0, max: Any = 1.0, seed: int = 0, name: str | None = None
) -> Tensor:
    """Fills `x` with numbers drawn uniformly from [min, max)."""
    low, high = real_of("uniform_", "min", min), real_of("uniform_", "max", max)
    dtype = _own_type("uniform_", x)
    return _filled_with("uniform_", x, uniform_of(low, high, *draw(seed), x._aval.shape, dtype))


@public(method=True)
def normal_(x: Tensor, mean: Any = 0.0, std: Any = 1.0, name: str | None = None) -> Tensor:
    """Fills `x` with numbers drawn from a normal distribution."""
    centre, width = real_of("normal_", "mean", mean), real_of("normal_", "std", std)
    dtype = x._aval.dtype if x._aval.dtype.kind == "c" else _own_type("normal_", x)
    return _filled_with("normal_", x, normal_of(centre, width, *draw(), x._aval.shape, dtype))


@op("", scalars="rate seed offset", infer=_infer_new, follow_scalars=False, name="exponential")
def exponential_of(
    xp: Any, rate: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    compute = FLOAT64 if dtype == FLOAT64 else FLOAT32
    return (
        -xp.log(1 - random_bits.uniform(xp, shape, compute, seed, offset)) / rate.astype(compute)
    ).astype(dtype)


@public(method=True)
def exponential_(x: Tensor, lam: Any = 1.0, name: str | None = None) -> Tensor:
    """Fills `x` with numbers drawn from an exponential distribution of rate `lam`."""
    rate = real_of("exponential_", "lam", lam)
    if not rate > 0:
        raise value_error("exponential_", "lam must be positive", f"lam: {rate}")
    dtype = _own_type("exponential_", x)
    return _filled_with("exponential_", x, exponential_of(rate, *draw(), x._aval.shape, dtype))


@public(method=True)
def bernoulli_(x: Tensor, p: Any = 0.5, name: str | None = None) -> Tensor:
    """Fills `x` with ones, each with probability `p`, and zeros."""
    probabilities = p if isinstance(p, Tensor) else None
    if probabilities is not None:
        drawn = bernoulli_of(expand_to(probabilities, x._aval.shape), *draw())
    else:
        drawn = bernoulli(x, p)
    return _filled_with("bernoulli_", x, cast_to(drawn, x._aval.dtype))


@public(method=True)
def random_(x: Tensor, from_: Any = 0, to: Any = None, *, generator: None = None) -> Tensor:
    """Fills `x` with integers drawn uniformly from [from_, to)."""
    high = (
        to
        if to is not None
        else (2**24 if is_floating(x._aval.dtype) else np.iinfo(x._aval.dtype).max)
    )
    drawn = _integers("random_", from_, int(high), x._aval.shape, INT64)
    return _filled_with("random_", x, cast_to(drawn, x._aval.dtype))
