"""Inner names of `paddle.nn.clip`."""

from __future__ import annotations

from typing import Any

from ....ops.basic import reshape_to


def _squared_l2_norm(x: Any) -> Any:
    """The sum of squares, as a tensor of one element."""
    return reshape_to((x * x).sum(), (1,))


def merge_selected_rows(x: Any) -> Any:
    """Gradients of sparse embeddings are merged when they are made."""
    return x


def get_tensor_from_selected_rows(x: Any) -> Any:
    """A gradient is a tensor here, whichever rows it touches."""
    return x
