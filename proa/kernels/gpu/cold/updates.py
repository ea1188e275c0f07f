"""Updates of optimizers: all parameters in one call of CuPy's, instead of ten for each of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .raw import function, in_order, is_float32

_THREADS, _EACH = 256, 4096  # elements that a block changes
_DECAYS = {"l1": 1, "l2": 2, "decoupled": 3}

# `places`: addresses of each parameter's arrays; `blocks`: which parameter a block works on, and which of its parts.
_SOURCE = """
__device__ float decayed(float grad, float value, float decay, int kind) {
    if (kind == 2) return grad + decay * value;
    if (kind == 1) return grad + decay * ((value > 0.0f) - (value < 0.0f));
    return grad;
}
#define EACH_ELEMENT(columns) \\
    const int which = blocks[2 * blockIdx.x]; \\
    const long long first = (long long) blocks[2 * blockIdx.x + 1] * each; \\
    const unsigned long long* at = places + (long long) which * (columns); \\
    const long long end = min((long long) at[(columns) - 1], first + each); \\
    for (long long i = first + threadIdx.x; i < end; i += blockDim.x)
#define GIVEN(n) ((const float*) at[n])
#define MADE(n) ((float*) at[n])

extern "C" __global__ void sgd(
    const unsigned long long* places, const int* blocks, int each, int kind, float rate, float decay
) {
    EACH_ELEMENT(4) MADE(2)[i] = GIVEN(0)[i] - rate * decayed(GIVEN(1)[i], GIVEN(0)[i], decay, kind);
}
extern "C" __global__ void momentum(
    const unsigned long long* places, const int* blocks, int each, int kind, float rate, float decay, float kept,
    float scale, bool nesterov
) {
    EACH_ELEMENT(6) {
        const float value = GIVEN(0)[i], grad = decayed(GIVEN(1)[i] * scale, value, decay, kind);
        const float velocity = kept * GIVEN(2)[i] + grad;
        MADE(3)[i] = value - rate * (nesterov ? grad + kept * velocity : velocity);
        MADE(4)[i] = velocity;
    }
}
// `factors`: beta1, 1 - beta1, beta2, 1 - beta2, epsilon, rate (corrected for the steps so far), 1 - decay.
extern "C" __global__ void adam(
    const unsigned long long* places, const int* blocks, int each, int kind, const float* factors, float decay
) {
    EACH_ELEMENT(8) {
        float value = GIVEN(0)[i], grad = GIVEN(1)[i];
        if (kind == 3) value *= factors[6]; else grad = decayed(grad, value, decay, kind);
        const float first = factors[0] * GIVEN(2)[i] + factors[1] * grad;
        const float second = factors[2] * GIVEN(3)[i] + factors[3] * grad * grad;
        MADE(4)[i] = value - factors[5] * (first / (sqrtf(second) + factors[4]));
        MADE(5)[i] = first;
        MADE(6)[i] = second;
    }
}
"""


def sgd(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `sgd_update`."""

    def kernel(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
        if not _suits(arrays[2:], count, decay_kind, has_masters):
            return otherwise(xp, arrays, count, decay_kind, has_masters)
        return _update(xp, "sgd", arrays[2:], count, decay_kind, *map(np.float32, arrays[:2]))

    return kernel


def momentum(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `momentum_update`."""

    def kernel(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool, nesterov: bool) -> Any:
        if not _suits(arrays[4:], count, decay_kind, has_masters):
            return otherwise(xp, arrays, count, decay_kind, has_masters, nesterov)
        numbers = [np.float32(number) for number in arrays[:4]]
        return _update(xp, "momentum", arrays[4:], count, decay_kind, *numbers, np.bool_(nesterov))

    return kernel


def adam(otherwise: Callable[..., Any]) -> Callable[..., Any]:
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
        tensors = arrays[5:-1]
        if amsgrad or lazy or not _suits(tensors, count, decay_kind, has_masters):
            return otherwise(xp, arrays, count, decay_kind, has_masters, amsgrad, lazy)
        factors, steps = xp.ndarray(7, np.float32), arrays[-1] + 1
        exact = xp.asarray(steps, np.float64)
        function(_FACTORS, "adam_factors")((1,), (1,), (exact, factors, *map(np.float64, arrays[:5])))
        new = _update(xp, "adam", tensors, count, decay_kind, factors, np.float32(arrays[2]))
        return (*new, steps)

    return kernel


# The count of steps is on the GPU: so is what follows from it.
_FACTORS = """
extern "C" __global__ void adam_factors(
    const double* count, float* factors, double rate, double epsilon, double decay, double beta1, double beta2
) {
    const double steps = count[0], correction = sqrt(1.0 - pow(beta2, steps));
    factors[0] = (float) beta1; factors[1] = (float) (1.0 - beta1);
    factors[2] = (float) beta2; factors[3] = (float) (1.0 - beta2);
    factors[4] = (float) (epsilon * correction);
    factors[5] = (float) (rate * correction / (1.0 - pow(beta1, steps)));
    factors[6] = (float) (1.0 - rate * decay);
}
"""


def _suits(tensors: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> bool:
    known = decay_kind in ("", "none", *_DECAYS)
    return known and not has_masters and count > 0 and all(t.size for t in tensors) and is_float32(*tensors)


def _update(xp: Any, name: str, tensors: Sequence[Any], count: int, decay_kind: str, *numbers: Any) -> tuple[Any, ...]:
    """New parameters and states; `tensors` are columns of parameters, gradients and states."""
    tensors = in_order(xp, *tensors)
    columns = [tensors[at : at + count] for at in range(0, len(tensors), count)]
    made = [[xp.ndarray(old.shape, np.float32) for old in column] for at, column in enumerate(columns) if at != 1]
    rows = zip(
        *[[a.data.ptr for a in column] for column in (*columns, *made)], [a.size for a in columns[0]], strict=True
    )
    places = xp.asarray(np.array(list(rows), np.uint64))
    blocks = _blocks(xp, tuple([a.size for a in columns[0]]), places.device.id)
    kind = np.int32(_DECAYS.get(decay_kind, 0))
    function(_SOURCE, name)((len(blocks),), (_THREADS,), (places, blocks, np.int32(_EACH), kind, *numbers))
    return tuple([array for column in made for array in column])


@functools.lru_cache(maxsize=16)
def _blocks(xp: Any, sizes: tuple[int, ...], device: int) -> Any:
    """For each block, which parameter it works on, and which of its parts; on that device."""
    parts = [-(-size // _EACH) for size in sizes]
    which = np.repeat(np.arange(len(sizes)), parts)
    part = np.concatenate([np.arange(count) for count in parts])
    return xp.asarray(np.stack([which, part], axis=1).astype(np.int32))
