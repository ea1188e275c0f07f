"""The updates of SGD, momentum and Adam by native code, for the op table's CPU backend.

One call changes all parameters and states, in place where XLA was given their memory, instead of a few loops of XLA for
each of them. The few numbers that all elements share are computed by XLA, as in the XLA kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

_DECAYS = {"l1": 1, "l2": 2, "decoupled": 3}
_RULES = {"sgd": 0, "momentum": 1, "adam": 2}
_NUM_FACTORS = 7
WORTHWHILE = 1 << 16  # parameters; for fewer XLA's loops are as quick


def _suits(tensors: Sequence[Any], count: int, has_masters: bool, decay_kind: str) -> bool:
    if has_masters or not count or decay_kind not in ("", "none", *_DECAYS):
        return False
    if any(t.dtype != np.float32 or not t.size for t in tensors):
        return False
    if not enough(sum(t.size for t in tensors[:count]), WORTHWHILE):
        return False
    return library.target("Update") is not None


def _update(
    xp: Any, rule: str, factors: list[Any], tensors: Sequence[Any], count: int, decay_kind: str, variant: bool
) -> tuple[Any, ...]:
    """New parameters and states; `tensors` are columns of parameters, gradients and states."""
    numbers = [xp.asarray(f).astype(np.float32).reshape(()) for f in factors]
    numbers += [np.float32(0)] * (_NUM_FACTORS - len(numbers))
    kept = [*tensors[:count], *tensors[2 * count :]]
    # Operand 0 holds the numbers; the gradients stand between parameters and states and have no result.
    over = {1 + i + (count if i >= count else 0): i for i in range(len(kept))}
    return library.call(
        "Update", tuple(library.shaped(t.shape) for t in kept), xp.stack(numbers), *tensors, over=over,
        count=np.int64(count), rule=np.int64(_RULES[rule]), decay=np.int64(_DECAYS.get(decay_kind, 0)),
        variant=bool(variant),
    )  # fmt: skip


@chosen(donates=True)
def native_sgd(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `sgd_update`."""

    def kernel(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
        if decay_kind == "decoupled" or not _suits(arrays[2:], count, has_masters, decay_kind):
            return fallback(xp, arrays, count, decay_kind, has_masters)
        return _update(xp, "sgd", list(arrays[:2]), arrays[2:], count, decay_kind, False)

    return kernel


@chosen(donates=True)
def native_momentum(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `momentum_update`."""

    def kernel(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool, nesterov: bool) -> Any:
        if decay_kind == "decoupled" or not _suits(arrays[4:], count, has_masters, decay_kind):
            return fallback(xp, arrays, count, decay_kind, has_masters, nesterov)
        return _update(xp, "momentum", list(arrays[:4]), arrays[4:], count, decay_kind, nesterov)

    return kernel


@chosen(donates=True)
def native_adam(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `adam_update`."""

    def kernel(
        xp: Any,
        arrays: Sequence[Any],
        count: int,
        decay_kind: str,
        has_masters: bool,
        amsgrad: bool,
        lazy: bool = False,
    ) -> Any:
        if lazy or not _suits(arrays[5:-1], count, has_masters, decay_kind):
            return fallback(xp, arrays, count, decay_kind, has_masters, amsgrad, lazy)
        rate, epsilon, decay, beta1, beta2 = arrays[:5]
        steps = arrays[-1] + 1
        correction = xp.sqrt(1 - beta2**steps)
        if decay_kind == "decoupled":
            decay = 1 - rate * decay
        factors = [
            rate * correction / (1 - beta1**steps), decay, epsilon * correction, beta1, 1 - beta1, beta2, 1 - beta2,
        ]  # fmt: skip
        return (*_update(xp, "adam", factors, arrays[5:-1], count, decay_kind, amsgrad), steps)

    return kernel
