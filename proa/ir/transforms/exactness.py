"""Programs whose rows do not notice each other, to the last bit.

What a compiled program computes for one row of a batch depends, in its last bits, on all else that it computes: products are
summed in another order for another number of rows, and whether `a * b + c` is rounded once or twice is a matter of what XLA
fuses. Programs that are lowered inside `exact_rows()` give that up. An operation that has a kernel `"exact"` uses it: that
one sums in an order which depends on nothing but the row. Everything else is computed one operation at a time, without
fusion. Native code is taken whatever the size, since a threshold would look at the number of rows. It is slower.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

# How XLA is told to leave operations apart: no fusion of its own, none by the libraries that it hands large arrays to,
# and no
# sums in the form of a tree.
COMPILER_OPTIONS: dict[str, Any] = {
    "xla_disable_hlo_passes": "fusion,dot-library-rewriter,tree_reduction_rewriter,tree-reduction-rewriter"
}


class _Thread(threading.local):
    on = False


_THREAD = _Thread()


@contextmanager
def exact_rows(on: bool = True) -> Generator[None]:
    """Programs that are lowered inside compute each row alike, whatever stands beside it."""
    before, _THREAD.on = _THREAD.on, on
    try:
        yield
    finally:
        _THREAD.on = before


def wanted() -> bool:
    return _THREAD.on
