"""Messages along the edges of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import geometric
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integers


def _count(sizes: Any) -> Any:
    return sizes[0] if sizes and sizes[0] > 0 else None


@reads("send_u_recv")
def send_u_recv(
    x: Tensor,
    source: Tensor,
    target: Tensor,
    size: Integers | None = None,
    *,
    reduce_op: str = "SUM",
    out_size: Any = None,
) -> Tensor:
    return geometric.send_u_recv(x, source, target, reduce_op.lower(), _count(size or out_size))


@reads("send_ue_recv")
def send_ue_recv(
    x: Tensor, y: Tensor, source: Tensor, target: Tensor, size: Integers | None = None, *, message_op: str = "ADD",
    reduce_op: str = "SUM", out_size: Any = None,
) -> Tensor:  # fmt: skip
    return geometric.send_ue_recv(x, y, source, target, message_op.lower(), reduce_op.lower(), _count(size or out_size))


@reads("send_uv")
def send_uv(x: Tensor, y: Tensor, source: Tensor, target: Tensor, *, message_op: str = "ADD") -> Tensor:
    return geometric.send_uv(x, y, source, target, message_op.lower())


@reads("segment_pool")
def segment_pool(x: Tensor, segments: Tensor, *, pooltype: str = "SUM") -> Tensor:
    return getattr(geometric, f"segment_{pooltype.lower()}")(x, segments)


@reads("reindex_graph")
def reindex_graph(x: Tensor, neighbors: Tensor, count: Tensor, *_rest: Any) -> Any:
    return tuple(geometric.reindex_graph(x, neighbors, count))
