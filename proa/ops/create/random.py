"""Random tensors, and the state that they are drawn from.

Every call takes the next (seed, offset) of the generator and hands both to its kernel as data, so
that drawing again compiles nothing and both tiers draw the same numbers (see
kernels/random_bits.py). What the samples do not say, such as moments, is in tests/ops/test_random.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import (
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    INT64,
    default_float,
    is_floating,
    real_dtype,
    to_numpy_dtype,
)
from ...core.errors import type_error, value_error
from ...core.generator import OWN_SEED, Generator, GeneratorState, default_generator
from ...eager.annotations import DeviceLike, DTypeLike, Number, ShapeLike
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ...ir.recorder import LOCAL
from ...kernels import random_bits
from ..arguments import finish, integer, listed, new_shape, require_tensor
from ..basic import cast_to
from .creation import real_of, scalar_of


def draw(seed: int = 0) -> tuple[int, int]:
    """The next (seed, offset); a seed of its own, if one is given, always gives the same
    numbers."""
    return (int(seed), OWN_SEED) if seed else default_generator.draw()


def infer_new(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return make_aval(attributes[0], attributes[1], place)


def _floating_dtype(where: str, dtype: Any) -> np.dtype:
    wanted = default_float() if dtype is None else to_numpy_dtype(dtype)
    if not is_floating(wanted):
        raise type_error(where, "the type must be a floating one", f"dtype: {dtype}")
    return wanted


# ---- state ---------------------------------------------------------------------------------------


@public()
def seed(seed: int) -> Generator:
    """Makes everything random from here on repeatable.

    Args:
        seed: an integer.

    Returns:
        The default generator.

    Examples:
        >>> _ = paddle.seed(7)
        >>> first = paddle.rand([3])
        >>> _ = paddle.seed(7)
        >>> paddle.equal_all(first, paddle.rand([3])).item()
        True
    """
    return default_generator.manual_seed(integer("seed", "seed", seed))


@public()
def get_rng_state(device: DeviceLike | None = None) -> list[GeneratorState]:
    """The state of the random numbers, from which `set_rng_state` continues.

    Args:
        device: accepted; there is one state for all devices.

    Returns:
        A list with one state.

    Examples:
        >>> state = paddle.get_rng_state()
        >>> first = paddle.rand([3])
        >>> paddle.set_rng_state(state)
        >>> paddle.equal_all(first, paddle.rand([3])).item()
        True
    """
    return [default_generator.get_state()]


@public()
def set_rng_state(state_list: Sequence[Any], device: DeviceLike | None = None) -> None:
    """Continues from a state that `get_rng_state` gave.

    Args:
        state_list: that state.
        device: accepted; there is one state for all devices.

    Examples:
        >>> state = paddle.get_rng_state()
        >>> first = paddle.randn([2])
        >>> paddle.set_rng_state(state)
        >>> paddle.equal_all(first, paddle.randn([2])).item()
        True
    """
    if len(state_list) != 1:
        raise value_error("set_rng_state", "there is one state", f"{len(state_list)} states")
    default_generator.set_state(state_list[0])


@public()
def get_cuda_rng_state() -> list[GeneratorState]:
    """The state of the random numbers on GPUs, which is the one state; empty where there is no GPU.

    Examples:
        >>> paddle.get_cuda_rng_state() == [] or paddle.is_compiled_with_cuda()
        True
    """
    return [default_generator.get_state()] if LOCAL.place.kind == "gpu" else []


@public()
def set_cuda_rng_state(state_list: Sequence[Any]) -> None:
    """Continues from a state that `get_cuda_rng_state` gave.

    Args:
        state_list: that state.

    Examples:
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    if state_list:
        default_generator.set_state(state_list[0])


@public(name="Generator")
def new_generator(device: DeviceLike | None = None) -> Generator:
    """A generator of random numbers of its own, seeded like the default one.

    Args:
        device: accepted; a generator serves all devices.

    Examples:
        >>> generator = paddle.Generator().manual_seed(5)
        >>> generator.initial_seed()
        5
    """
    return Generator(default_generator.initial_seed())


# ---- uniform and normal --------------------------------------------------------------------------


@op(
    "",
    scalars="low high seed offset",
    infer=infer_new,
    follow_scalars=False,
    name="uniform",
    family="random",
    padding=rules.creation.drawn,
)
def uniform_of(xp: Any, low: Any, high: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    compute = FLOAT64 if dtype == FLOAT64 else FLOAT32
    fraction = random_bits.uniform(xp, shape, dtype, seed, offset).astype(compute)
    low, high = low.astype(compute), high.astype(compute)
    return (low + (high - low) * fraction).astype(dtype)


@op(
    "",
    scalars="mean std seed offset",
    infer=infer_new,
    follow_scalars=False,
    name="gaussian",
    family="random",
    padding=rules.creation.drawn,
)
def normal_of(xp: Any, mean: Any, std: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype.kind == "c":
        # A complex number of variance 1: its two parts have half of it each.
        parts = random_bits.normal(xp, (*shape, 2), real_dtype(dtype), seed, offset) * np.sqrt(0.5).astype(
            real_dtype(dtype)
        )
        return (mean + std * (parts[..., 0] + 1j * parts[..., 1])).astype(dtype)
    compute = FLOAT64 if dtype == FLOAT64 else FLOAT32
    numbers = random_bits.normal(xp, shape, compute, seed, offset)
    return (mean.astype(compute) + std.astype(compute) * numbers).astype(dtype)


@samples(S([3, 4]), S([]), S([0, 3]), S([2, 6], "float64"), random=True)
@public(aliases="shape=size")
@listed("shape", 0)
def rand(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers drawn uniformly from [0, 1).

    Args:
        shape: a list, a tuple, a tensor of integers, or the dimensions one by one.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> x = paddle.rand([2, 3])
        >>> x.shape, bool((0 <= x).all() and (x < 1).all())
        (paddle.Size([2, 3]), True)
    """
    made = uniform_of(0.0, 1.0, *draw(), new_shape("rand", shape), _floating_dtype("rand", dtype))
    return finish(made, out, device, requires_grad)


@samples(
    S([3, 4]), S([2, 0], "float64"), S([4, 4], min=-2.0, max=3.0), S([2, 6], "float64", -1, 1), S([2, 2], seed=7),
    random=True,
)  # fmt: skip
@public(values=True)
def uniform(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    min: Number = 0,
    max: Number = 1.0,
    seed: int = 0,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn uniformly from [min, max).

    Args:
        shape: a list, a tuple or a tensor of integers.
        dtype: the type; the default floating type if left out.
        min: the smallest number.
        max: the limit, which is not drawn.
        seed: a seed of its own: with one other than 0 the numbers are always the same.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> x = paddle.uniform([1000], min=-2.0, max=-1.0)
        >>> bool((-2 <= x).all() and (x < -1).all())
        True
        >>> paddle.equal_all(paddle.uniform([3], seed=1), paddle.uniform([3], seed=1)).item()
        True
    """
    low, high = real_of("uniform", "min", min), real_of("uniform", "max", max)
    dims = new_shape("uniform", shape)
    made = uniform_of(low, high, *draw(seed), dims, _floating_dtype("uniform", dtype))
    return finish(made, out, device, requires_grad)


def _normal_dtype(where: str, dtype: Any) -> np.dtype:
    wanted = default_float() if dtype is None else to_numpy_dtype(dtype)
    return wanted if wanted.kind == "c" else _floating_dtype(where, wanted)


@samples(S([3, 4]), S([]), S([0, 3]), S([2, 6], "float64"), S([2, 5], "complex64"), random=True)
@public(aliases="shape=size")
@listed("shape", 0)
def randn(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and deviation 1.

    Args:
        shape: a list, a tuple, a tensor of integers, or the dimensions one by one.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.randn([2, 3]).shape
        paddle.Size([2, 3])
        >>> abs(paddle.randn([10000]).mean().item()) < 0.1
        True
    """
    made = normal_of(0.0, 1.0, *draw(), new_shape("randn", shape), _normal_dtype("randn", dtype))
    return finish(made, out, device, requires_grad)


@samples(S([3, 4]), S([]), S([0, 3]), S([2, 6], "float64"), S([2, 5], "complex64"), random=True)
@public(values=True)
@listed("shape", 0)
def standard_normal(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and deviation 1; the same as `randn`.

    Args:
        shape: a list, a tuple or a tensor of integers.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.standard_normal([2, 3]).shape
        paddle.Size([2, 3])
    """
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
    return finish(made, out, device, requires_grad)


@samples(
    S(), S(1.0, 2.0, [3, 4]), S(A(3, 4), A(3, 4, low=0.5)), S(A(3, 4), 2.0), S(0.5, A(2, 6, dtype="float64", low=0.5)),
    S(A(0, 2), 1.0), S(1 + 2j, 1.0, [2, 5]),
    random=True,
)  # fmt: skip
@public(aliases="shape=size")
def normal(
    mean: Number = 0.0,
    std: Number = 1.0,
    shape: ShapeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers drawn from normal distributions: one for all, or one for each element of `mean` and `std`.

    Args:
        mean: the means, a number or a tensor.
        std: the standard deviations, a number or a tensor.
        shape: the shape of the result where both are numbers.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.normal(mean=100.0, std=0.0, shape=[3]).tolist()
        [100.0, 100.0, 100.0]
        >>> paddle.normal(paddle.zeros([2, 3])).shape
        paddle.Size([2, 3])
    """
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        given: Any = mean if isinstance(mean, Tensor) else std
        numbers = normal_of(0.0, 1.0, *draw(), given._aval.shape, _normal_dtype("normal", given._aval.dtype))
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
    return finish(made, out)


@samples(S(A(3, 4)), S(A(2, 6, dtype="float64")), S(A(0, 2)), S(A(3, 4), dtype="float64"), random=True)
@public()
def rand_like(
    input: Tensor,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn uniformly from [0, 1), in the shape of a tensor.

    Args:
        input: the tensor.
        name: a label; it changes nothing.
        dtype: the type; that of `input` by default.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.rand_like(paddle.zeros([2, 3])).shape
        paddle.Size([2, 3])
    """
    aval = require_tensor("rand_like", "input", input)._aval
    return rand(
        aval.shape,
        aval.dtype if dtype is None else dtype,
        device=device,
        requires_grad=requires_grad,
    )


@samples(S(A(3, 4)), S(A(2, 6, dtype="float64")), S(A(0, 2)), S(A(3, 4), "float64"), random=True)
@public()
def randn_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and deviation 1, in the shape of a tensor.

    Args:
        x: the tensor.
        dtype: the type; that of `x` by default.
        name: a label; it changes nothing.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.randn_like(paddle.zeros([2, 3], dtype="float64")).dtype
        paddle.float64
    """
    aval = require_tensor("randn_like", "x", x)._aval
    return randn(
        aval.shape,
        aval.dtype if dtype is None else dtype,
        device=device,
        requires_grad=requires_grad,
    )


# ---- integers ------------------------------------------------------------------------------------


@op(
    "",
    scalars="low span seed offset",
    infer=infer_new,
    follow_scalars=False,
    name="randint",
    family="random",
    padding=rules.creation.drawn,
)
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


def integers_from(where: str, low: Any, high: Any, shape: tuple[int, ...], dtype: np.dtype) -> Tensor:
    first = integer(where, "low", low)
    if high is None:
        if first <= 0:
            raise value_error(where, "low must be positive when it is the only bound", f"low: {first}")
        first, last = 0, first
    else:
        last = integer(where, "high", high)
    if first >= last:
        raise value_error(where, "low must be less than high", f"low: {first}, high: {last}")
    if not -(2**63) <= first < last <= 2**63 or last - first >= 2**63:
        raise value_error(where, "the range must fit into 63 bits", f"low: {first}, high: {last}")
    return integers_of(first, last - first, *draw(), shape, dtype, last - first < 2**32)


@samples(
    S(10), S(0, 100, [3, 4]), S(-50, 50, [2, 6], "int32"), S(1000, shape=[0, 2]), S(-(2**40), 2**40, [3, 4]), S(1, 2, [3]),
    random=True,
)  # fmt: skip
@public(values=True)
def randint(
    low: int | Tensor = 0,
    high: int | Tensor | None = None,
    shape: ShapeLike = (1,),
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Integers drawn uniformly from [low, high), or from [0, low) where `high` is left out.

    Args:
        low: the smallest number, or the limit.
        high: the limit, which is not drawn.
        shape: the shape of the result.
        dtype: the type; int64 by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.randint(3, 4, shape=[2, 2]).tolist()
        [[3, 3], [3, 3]]
    """
    wanted = INT64 if dtype is None else to_numpy_dtype(dtype)
    if wanted.kind not in "iu":
        raise type_error("randint", "the type must be an integer one", f"dtype: {dtype}")
    return integers_from(
        "randint",
        low,
        high,
        new_shape("randint", list(shape) if isinstance(shape, tuple) else shape),
        wanted,
    )


@samples(
    S(A(3, 4), 0, 100), S(A(3, 4, dtype="int32"), 1000), S(A(0, 2), 5), S(A(2, 6), -50, 50, "int64"),
    gradient=False, why="the numbers do not depend on the tensor", random=True,
)  # fmt: skip
@public(method=True)
def randint_like(
    x: Tensor,
    low: int | Tensor = 0,
    high: int | Tensor | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Integers drawn uniformly from [low, high), in the shape of a tensor.

    Args:
        x: the tensor.
        low: the smallest number, or the limit where `high` is left out.
        high: the limit, which is not drawn.
        dtype: the type; that of `x` by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.randint_like(paddle.zeros([3]), 5, 6).tolist()
        [5.0, 5.0, 5.0]
    """
    aval = require_tensor("randint_like", "x", x)._aval
    return cast_to(
        integers_from("randint_like", low, high, aval.shape, INT64),
        to_numpy_dtype(aval.dtype if dtype is None else dtype),
    )


@op(
    "",
    scalars="seed offset",
    infer=infer_new,
    name="randperm",
    family="random",
    padding=rules.refused("how many numbers it draws depends on how much data there is"),
)
def permutation_of(xp: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The order that sorts random 64-bit numbers."""
    keys = random_bits.words64(xp, shape, seed, offset)
    return xp.argsort(keys, **({"kind": "stable"} if xp is np else {"stable": True})).astype(dtype)


@samples(S(20), S(0), S(1), S(12, "int32"), S(12, "float32"), random=True)
@public(values=True)
def randperm(
    n: int,
    dtype: DTypeLike = "int64",
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The numbers from 0 to `n - 1` in random order.

    Args:
        n: how many.
        dtype: their type.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.sort(paddle.randperm(5)).tolist()
        [0, 1, 2, 3, 4]
    """
    count = integer("randperm", "n", n)
    if count < 0:
        raise value_error("randperm", "n cannot be negative", f"n: {count}")
    return finish(permutation_of(*draw(), (count,), to_numpy_dtype(dtype)), out, device, requires_grad)
