"""Kernels written in CUDA: how they are compiled and started."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

# The sum of what the threads of a block (up to 1,024, whole warps) have; every thread gets it.
BLOCK_SUM = """
#define LOWEST __int_as_float(0xff800000)  // minus infinity
__device__ float block_sum(float value) {
    __shared__ float parts[33];
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
        for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
        if (threadIdx.x == 0) parts[32] = value;
    }
    __syncthreads();
    value = parts[32];
    __syncthreads();
    return value;
}
__device__ float block_max(float value) {
    __shared__ float most[33];
    for (int step = 16; step; step >>= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? most[threadIdx.x] : LOWEST;
        for (int step = 16; step; step >>= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
        if (threadIdx.x == 0) most[32] = value;
    }
    __syncthreads();
    value = most[32];
    __syncthreads();
    return value;
}
"""


@functools.cache
def module(source: str) -> Any:
    import cupy  # type: ignore[import-not-found] # pyright: ignore

    return cupy.RawModule(code=BLOCK_SUM + source)


@functools.cache
def function(source: str, name: str) -> Any:
    """A kernel of a module, to be started as `function(…)(grid, block, arguments)`; numbers are NumPy's."""
    return module(source).get_function(name)


def is_float32(*arrays: Any) -> bool:
    """Whether these are arrays of float32, or None."""
    return all(a is None or (a.dtype == np.float32 and not isinstance(a, np.generic)) for a in arrays)


def in_order(xp: Any, *arrays: Any) -> list[Any]:
    """Arrays as kernels want them: one element behind the other. Where there is none, they get a null pointer."""
    return [np.uint64(0) if a is None else a if a.flags.c_contiguous else xp.ascontiguousarray(a) for a in arrays]


def threads_for(count: int, most: int = 256) -> int:
    """Whole warps, enough for `count` elements."""
    return max(32, min(most, -(-count // 32) * 32))
