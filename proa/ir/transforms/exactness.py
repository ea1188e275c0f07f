"""Programs whose numbers are decided to the last bit: rows that do not notice each other, or another program's arithmetic.

What a compiled program computes for one row of a batch depends, in its last bits, on all else that it computes: products are
summed in another order for another number of rows, and whether `a * b + c` is rounded once or twice is a matter of what XLA
fuses. Programs that are lowered inside `arithmetic(name)` give that up. An operation that has a kernel of that name uses it.
Everything else is computed one operation at a time, without fusion. Native code is taken whatever the size, as a threshold
would look at the number of rows. It is slower.

"exact": kernels that sum in an order which depends on nothing but the row. "ggml": those that compute as llama.cpp does.
"rows": no kernels of their own, for programs whose operations all look at one row at a time, in native code or elementwise.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

# How XLA is told to leave operations apart: no fusion of its own, none by the libraries that it hands large arrays to,
# and no sums in the form of a tree.
COMPILER_OPTIONS: dict[str, Any] = {
    "xla_disable_hlo_passes": "fusion,dot-library-rewriter,tree_reduction_rewriter,tree-reduction-rewriter"
}


class _Thread(threading.local):
    name = ""


_THREAD = _Thread()


@contextmanager
def arithmetic(name: str) -> Generator[None]:
    """Programs that are lowered inside compute with the kernels of this name; without one, as usual."""
    before, _THREAD.name = _THREAD.name, name
    try:
        yield
    finally:
        _THREAD.name = before


def wanted() -> str:
    """The name of the arithmetic that is asked for, or an empty text."""
    return _THREAD.name
