"""Programs whose numbers are decided to the last bit: rows that do not notice each other, or another program's arithmetic.

What a compiled program computes for one row of a batch depends, in its last bits, on all else that it computes: products are
summed in another order for another number of rows, and whether `a * b + c` is rounded once or twice is a matter of what XLA
fuses. Programs that are lowered inside `arithmetic(name)` give that up. An operation that has a kernel of that name uses it
("exact gpu" is one for a GPU only). Everything else is computed one operation at a time, without fusion. Native code is
taken whatever the size, as a threshold would look at the number of rows. It is slower.

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
_ON_CPU = ("fusion", "dot-library-rewriter", "tree_reduction_rewriter", "tree-reduction-rewriter")
# The same for a GPU, whose passes have other names; those of several versions, as XLA overlooks what it does not know. Each
# operation is a kernel of its own then: the pass that wraps it up ("fusion-wrapper") must stay. So do those that divide long
# rows: sums do not go through XLA there, and the largest of a row has no order.
_ON_GPU = (
    "fusion", "priority-fusion", "fusion_merger", "multi_output_fusion", "multi-output-fusion", "horizontal_loop_fusion",
    "gpu_horizontal_loop_fusion", "horizontal_input_fusion", "gpu_horizontal_input_fusion", "triton-softmax-rewriter",
    "softmax-rewriter-triton", "fusion-block-level-rewriter", "norm-rewriter",
)  # fmt: skip


def compiler_options(kind: str) -> dict[str, Any]:
    """What XLA is told for a kind of place. On a GPU nothing is chosen by measuring it, either."""
    if kind == "gpu":
        return {"xla_disable_hlo_passes": ",".join(_ON_GPU), "xla_gpu_autotune_level": 0}
    return {"xla_disable_hlo_passes": ",".join(_ON_CPU)}


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
