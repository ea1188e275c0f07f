"""Kernels written in Pallas for NVIDIA GPUs: what they share.

Triton compiles them. Elsewhere they run interpreted, which is how their results are tested without a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_WARPS, _STAGES = 4, 2


def call(
    kernel: Callable[..., None], grid: tuple[int, ...], outputs: Sequence[tuple[tuple[int, ...], Any]], *operands: Any,
    interpret: bool = False, warps: int = _WARPS,
) -> Any:  # fmt: skip
    """Runs `kernel(*operand references, *output references)` once for each cell of a grid; all see whole arrays."""
    import jax
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    parameters: Any = (
        {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=warps, num_stages=_STAGES)}
    )
    made = pl.pallas_call(
        kernel,
        grid=grid,
        out_shape=[jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape, dtype in outputs],
        interpret=interpret,
        **parameters,
    )
    return made(*operands)


def power_of_two(number: int) -> int:
    """The smallest one that is not below a number: tiles have such extents."""
    return 1 << max(0, number - 1).bit_length()
