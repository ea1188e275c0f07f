"""Recomputation: less memory for more arithmetic (how it works: `proa/ops/recompute.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import type_error, value_error
from ...ops.recompute import recompute_call


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, whose intermediate results are not kept for the backward pass but computed again.

    `preserve_rng_state` (True): the second run draws the same random numbers, so that dropout drops the same elements.
    `use_reentrant` is accepted for Paddle's sake: there is one way, which does what both of Paddle's do (also for inputs
    without gradient, for `paddle.grad`, and for gradients of gradients).
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    kwargs.pop("use_reentrant", True)
    if not callable(function):
        raise type_error("recompute", "the first argument must be a Layer or a function", type(function).__name__)
    return recompute_call(function, args, kwargs, bool(preserve))


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
