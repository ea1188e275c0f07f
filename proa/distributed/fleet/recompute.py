"""Recomputation: less memory for more arithmetic (how it works: `proa/ops/recompute.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.dtype import is_differentiable
from ...core.errors import type_error, value_error, warn
from ...eager.tensor import Tensor
from ...ops.recompute import recompute_call
from .layers.mpu.random import get_rng_state_tracker
from .layers.mpu.sequence_ops import GatherOp, ScatterOp


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, whose intermediate results are not kept for the backward pass but computed again.

    `preserve_rng_state` (True): the second run draws the same random numbers, so that dropout drops the same elements, also
    from the named states of `get_rng_state_tracker()`.
    `use_reentrant` is accepted for Paddle's sake: there is one way, which does what both of Paddle's do (also for inputs
    without gradient, for `paddle.grad`, and for gradients of gradients).

    Args:
        function: a Layer or a function.
        *args: its arguments.
        **kwargs: its named arguments, and the two settings above.

    Returns:
        What the function gives.

    Examples:
        >>> layer = paddle.nn.Linear(2, 2)
        >>> x = paddle.ones([1, 2])
        >>> y = paddle.distributed.fleet.utils.recompute(layer, x)
        >>> bool((y == layer(x)).all())
        True
        >>> y.sum().backward()
        >>> layer.weight.grad.tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    kwargs.pop("use_reentrant", True)
    if not callable(function):
        raise type_error("recompute", "the first argument must be a Layer or a function", type(function).__name__)
    if preserve and get_rng_state_tracker().states_:
        function = _drawing_again(function)
    return recompute_call(function, args, kwargs, bool(preserve))


def _drawing_again(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, every later run of which begins with the named random states of the first, and leaves them alone."""
    tracker = get_rng_state_tracker()
    begin = tracker.get_states_tracker()
    runs = 0

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal runs
        runs += 1
        if runs == 1:
            return function(*args, **kwargs)
        now = tracker.get_states_tracker()
        tracker.set_states_tracker(begin)
        try:
            return function(*args, **kwargs)
        finally:
            tracker.set_states_tracker(now)

    return run


def recompute_hybrid(ctx: dict[str, Any], function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`recompute` beside divided weights. `ctx`: "mp_group", and "partition" (False), whether each of its processes keeps
    a part only of the inputs, which all of them have: the parts are gathered before each run. "offload" is not done."""
    group = ctx.get("mp_group")
    if group is None:
        raise value_error("recompute_hybrid", "ctx must have the key 'mp_group'", f"{sorted(ctx)}")
    if ctx.get("offload"):
        warn("(recompute_hybrid) offload: inputs stay on the device.")
    if not ctx.get("partition") or group.nranks == 1:
        return recompute(function, *args, **kwargs)
    shapes: dict[int, list[int]] = {}

    def keep(position: int, value: Any) -> Any:
        divisible = isinstance(value, Tensor) and is_differentiable(value._aval.dtype)
        if not divisible or value._aval.size % group.nranks:
            return value
        shapes[position] = value.shape
        return ScatterOp.apply(value.reshape([-1]), group=group)

    def run(*kept: Any, **more: Any) -> Any:
        whole = [
            GatherOp.apply(value, group=group).reshape(shapes[position]) if position in shapes else value
            for position, value in enumerate(kept)
        ]
        return function(*whole, **more)

    return recompute(run, *(keep(position, value) for position, value in enumerate(args)), **kwargs)


def recompute_sequential(
    ctx: dict[str, Any], functions: Sequence[Callable[..., Any]] | Any, *args: Any, **kwargs: Any
) -> Any:
    """Runs functions (or the layers of a Sequential) one after another, in `ctx["segments"]` parts of equal length.

    All parts but the last are recomputed; with one part (the default) that is the whole. `ctx["preserve_rng_state"]`
    (True) as in `recompute`.
    """
    segments = ctx.get("segments", 1)
    preserve = ctx.get("preserve_rng_state", True)
    layers: Any = functions
    chain = list(layers.children()) if hasattr(layers, "children") else list(layers)
    if not isinstance(segments, int) or not 1 <= segments <= max(1, len(chain)):
        raise value_error(
            "recompute_sequential",
            f"segments must be between 1 and the number of functions, {len(chain)}",
            repr(segments),
        )
    length = len(chain) // segments
    begin = 0
    for _ in range(segments - 1):
        args = (recompute(_in_turn(chain[begin : begin + length]), *args, preserve_rng_state=preserve, **kwargs),)
        begin, kwargs = begin + length, {}
    if segments == 1:
        return recompute(_in_turn(chain), *args, preserve_rng_state=preserve, **kwargs)
    return _in_turn(chain[begin:])(*args, **kwargs)


def _in_turn(functions: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        for function in functions:
            result = function(*args, **kwargs)
            args, kwargs = result if isinstance(result, tuple) else (result,), {}
        return args if len(args) != 1 else args[0]

    return run
