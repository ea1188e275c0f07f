"""16-bit floats on the CPU: which products are computed in what.

Where the processor multiplies bfloat16 by itself (`compiled.multiplies_bfloat16`), products of it go to kernels of their
own (bfloat.py); they sum in float32 and round once. Everywhere else, and in float16, operands are widened to float32, which
is exact and what Paddle computes as well.

`low_products` makes the same kernels take products of float32, whose operands they then round to bfloat16. Nothing else
becomes less precise: a model that was saved in float32 may run quicker that way, for whoever has compared its answers.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ....core.dtype import BFLOAT16, FLOAT16, FLOAT32
from .. import compiled, library

_LOW = (BFLOAT16, FLOAT16)


Kernel = Callable[..., Any]


def in_float32(kernel: Kernel, low: Kernel | None = None) -> Kernel:
    """The kernel with 16-bit operands widened; whoever runs it casts the result to the inferred type.

    `low` is asked first, with operands as they are: it gives None where it does not take them (see bfloat.py).
    """

    @functools.wraps(kernel)
    def widened(xp: Any, *arguments: Any) -> Any:
        if low is not None:
            result = low(xp, *arguments)
            if result is not None:
                return result
        return kernel(xp, *[a.astype(FLOAT32) if hasattr(a, "dtype") and a.dtype in _LOW else a for a in arguments])

    return widened


class _Thread(threading.local):
    low = False


_THREAD = _Thread()


@contextmanager
def low_products(on: bool = True) -> Iterator[None]:
    """Programs that are optimised and lowered inside multiply float32 as bfloat16, where the processor does so by itself."""
    before, _THREAD.low = _THREAD.low, on
    try:
        yield
    finally:
        _THREAD.low = before


def wants_low() -> bool:
    """Whether products of float32 are computed in bfloat16 here."""
    return _THREAD.low and compiled.multiplies_bfloat16()


def is_low(symbol: str, *arrays: Any) -> bool:
    """Whether a native kernel for bfloat16 takes these operands."""
    if not compiled.multiplies_bfloat16() or not all(array.size for array in arrays):
        return False
    dtypes = {array.dtype for array in arrays}
    wanted = dtypes == {BFLOAT16} or (_THREAD.low and dtypes == {FLOAT32})
    return wanted and library.target(symbol) is not None
