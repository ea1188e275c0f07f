"""What parallel layers do between processes: with one, nothing."""

from __future__ import annotations

from typing import Any

from .....nn import functional as F


def _c_identity(tensor: Any, group: Any = None, skip_c_identity_dynamic: bool = False) -> Any:
    """The tensor; its gradient would be summed over the group."""
    return tensor


def _c_concat(tensor: Any, group: Any = None) -> Any:
    """The parts of all processes, side by side."""
    return tensor


def _c_split(tensor: Any, group: Any = None) -> Any:
    """This process's part."""
    return tensor


def _mp_allreduce(
    tensor: Any, op: Any = None, group: Any = None, use_calc_stream: bool = True, use_model_parallel: bool = True,
    skip_c_identity_dynamic: bool = False,
) -> Any:  # fmt: skip
    """The sum over the group."""
    return tensor


def _c_lookup_table(table: Any, index: Any, start_index: int = 0, vocab_size: int = -1, name: str | None = None) -> Any:
    """Rows of this process's part of a table."""
    return F.embedding(index - start_index if start_index else index, table)


def _c_softmax_with_cross_entropy(
    logits: Any, label: Any, group: Any = None, return_softmax: bool = False, ignore_index: int = -100
) -> Any:
    """Cross entropy over classes that are divided among processes."""
    indices = label.unsqueeze(-1) if label.ndim == logits.ndim - 1 else label
    return F.softmax_with_cross_entropy(logits, indices, ignore_index=ignore_index, return_softmax=return_softmax)
