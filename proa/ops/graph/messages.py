"""Messages along edges: made from the nodes at both ends and the edge itself, pooled where they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import integer, require_tensor
from ..basic import reshape_to
from .pooling import MODES, check_mode, checked_index, pooled, reference_pool, rows_at

_MESSAGES: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}

# No edge twice: the gradients of 'max' and 'min' count every row that ties.
_SOURCE, _TARGET = [0, 1, 2, 0, 2], [1, 2, 1, 0, 2]


def _indices(dtype: str = "int64") -> tuple[A, A]:
    return A(5, dtype=dtype, values=_SOURCE), A(5, dtype=dtype, values=_TARGET)


_EMPTY = (A(0, dtype="int64", values=np.zeros(0)), A(0, dtype="int64", values=np.zeros(0)))


def _edges(where: str, src_index: Any, dst_index: Any, num_sources: int, num_targets: int) -> tuple[Tensor, Tensor]:
    """Both ends of all edges, as checked indices."""
    source = checked_index(where, "src_index", src_index, num_sources)
    target = checked_index(where, "dst_index", dst_index, num_targets)
    if source._aval.size != target._aval.size:
        raise value_error(
            where, "src_index and dst_index must have one number for each edge",
            f"src_index: {source._aval}, dst_index: {target._aval}",
        )  # fmt: skip
    return source, target


def _nodes(where: str, name: str, x: Any) -> int:
    if require_tensor(where, name, x)._aval.ndim == 0:
        raise value_error(where, f"{name} must have a row for each node", f"{name}: {x._aval}")
    return x._aval.shape[0]


def _num_rows(where: str, x: Tensor, out_size: Any) -> int:
    """As many rows as wanted; None, zero and less mean as many as `x` has."""
    wanted = 0 if out_size is None else integer(where, "out_size", out_size)
    return wanted if wanted > 0 else x._aval.shape[0]


def _reference_send_u(x: Any, source: Any, target: Any, mode: str = "sum", out_size: Any = None) -> Any:
    return reference_pool(x[source.reshape(-1)], target, out_size or len(x), mode)


@samples(
    *[S(A(3, 2, unique=True), *_indices(), mode) for mode in MODES],
    S(A(3, unique=True), *_indices("int32"), "max", 5), S(A(3, 2, 2), *_indices(), out_size=4),
    S(A(3, 2, dtype="int64", low=-9, high=9), *_indices(), "mean"), S(A(3, 2), *_EMPTY, "min"),
    S(A(3, 2, dtype="bfloat16", grad=False), *_indices(), "sum"),
    reference=_reference_send_u,
)  # fmt: skip
@public(module="geometric")
def send_u_recv(
    x: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    reduce_op: str = "sum",
    out_size: int | Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Sends the rows of `x` along edges and pools what arrives at each node.

    Args:
        x: a row for each node.
        src_index: for each edge the node it comes from.
        dst_index: the node it goes to.
        reduce_op: 'sum', 'mean', 'max' or 'min'.
        out_size: how many rows the result has; None for as many as `x`.
        name: a label; it changes nothing.

    Returns:
        A tensor of rows; zeros where nothing arrives.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [2.0], [3.0]])
        >>> paddle.geometric.send_u_recv(x, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1])).tolist()
        [[0.0], [4.0], [2.0]]
    """
    return _send(x, src_index, dst_index, check_mode("send_u_recv", "reduce_op", reduce_op, MODES), out_size)


def _send(x: Tensor, src_index: Tensor, dst_index: Tensor, mode: str, out_size: Any) -> Tensor:
    num_nodes = _nodes("send_u_recv", "x", x)
    num_rows = _num_rows("send_u_recv", x, out_size)
    source, target = _edges("send_u_recv", src_index, dst_index, num_nodes, num_rows)
    return pooled("send_u_recv", rows_at(x, source), target, num_rows, mode)


@samples(
    S(A(3, 2), *_indices()), S(A(3, 2, unique=True), *_indices(), "min"), S(A(3), *_indices(), "mean"),
    reference=_reference_send_u,
)  # fmt: skip
@public(module="incubate")
def graph_send_recv(
    x: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    pool_type: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """`geometric.send_u_recv` under its older name.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> source, target = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 1, 0])
        >>> paddle.incubate.graph_send_recv(x, source, target).tolist()
        [[4.0], [3.0], [0.0]]
    """
    return _send(x, src_index, dst_index, check_mode("graph_send_recv", "pool_type", pool_type, MODES), out_size)


def _reference_message(x: Any, y: Any, message: str) -> Any:
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[message]
    x = x[:, None] if x.ndim == 1 else x
    return function(x, y.reshape(-1, *[1] * (x.ndim - 1)) if y.ndim == 1 else y)


def _reference_send_ue(
    x: Any, y: Any, source: Any, target: Any, message: str = "add", mode: str = "sum", out_size: Any = None
) -> Any:
    return reference_pool(_reference_message(x[source], y, message), target, out_size or len(x), mode)


@samples(
    S(A(3, 2), A(5), *_indices()), S(A(3, 2), A(5, 2), *_indices("int32"), "sub", "mean"),
    S(A(3, 2), A(5, 1), *_indices(), "mul", "sum", 4), S(A(3, 2), A(5, 2, low=1), *_indices(), "div", "max"),
    S(A(3, 1), A(5, 4), *_indices(), "mul", "min"), S(A(3), A(5), *_indices(), "add"), S(A(3, 2), A(0, 2), *_EMPTY),
    reference=_reference_send_ue,
)  # fmt: skip
@public(module="geometric")
def send_ue_recv(
    x: Tensor,
    y: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: int | Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Combines the row at an edge's source with the edge's own row, and pools what arrives at each node.

    Args:
        x: a row for each node.
        y: a row for each edge; features broadcast.
        src_index: for each edge the node it comes from.
        dst_index: the node it goes to.
        message_op: 'add', 'sub', 'mul' or 'div'.
        reduce_op: 'sum', 'mean', 'max' or 'min'.
        out_size: how many rows the result has; None for as many as `x`.
        name: a label; it changes nothing.

    Returns:
        A tensor of rows; zeros where nothing arrives.

    Examples:
        >>> x, y = paddle.to_tensor([[1.0], [2.0], [3.0]]), paddle.to_tensor([[10.0], [20.0], [30.0]])
        >>> src_index = paddle.to_tensor([0, 1, 2])
        >>> dst_index = paddle.to_tensor([1, 2, 1])
        >>> paddle.geometric.send_ue_recv(x, y, src_index, dst_index, "mul").tolist()
        [[0.0], [100.0], [40.0]]
    """
    where = "send_ue_recv"
    check_mode(where, "message_op", message_op, tuple(_MESSAGES))
    mode = check_mode(where, "reduce_op", reduce_op, MODES)
    num_nodes = _nodes(where, "x", x)
    num_rows = _num_rows(where, x, out_size)
    source, target = _edges(where, src_index, dst_index, num_nodes, num_rows)
    num_edges = source._aval.size
    if _nodes(where, "y", y) != num_edges:
        raise value_error(where, f"y must have a row for each of the {num_edges} edges", f"y: {y._aval}")
    x = _column(x)
    if y._aval.ndim == 1:
        y = reshape_to(y, (num_edges, *[1] * (x._aval.ndim - 1)))
    return pooled(where, _MESSAGES[message_op](rows_at(x, source), y), target, num_rows, mode)


def _reference_send_uv(x: Any, y: Any, source: Any, target: Any, message: str = "add") -> Any:
    return _reference_message(x[source], y[target], message)


@samples(
    S(A(3, 2), A(3, 2), *_indices()), S(A(3, 2), A(3, 2), *_indices("int32"), "sub"),
    S(A(3, 2), A(4, 1), *_indices(), "mul"), S(A(3), A(3, low=1), *_indices(), "div"), S(A(3, 2), A(3, 2), *_EMPTY),
    reference=_reference_send_uv,
)  # fmt: skip
@public(module="geometric")
def send_uv(
    x: Tensor,
    y: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    message_op: str = "add",
    name: str | None = None,
) -> Tensor:
    """The row of `x` at each edge's source combined with the row of `y` at its target.

    Args:
        x: a row for each node.
        y: a row for each node.
        src_index: for each edge the node it comes from.
        dst_index: the node it goes to.
        message_op: 'add', 'sub', 'mul' or 'div'.
        name: a label; it changes nothing.

    Returns:
        A tensor with a row for each edge.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [2.0], [3.0]])
        >>> paddle.geometric.send_uv(x, x, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1])).tolist()
        [[3.0], [5.0], [5.0]]
    """
    where = "send_uv"
    check_mode(where, "message_op", message_op, tuple(_MESSAGES))
    source, target = _edges(where, src_index, dst_index, _nodes(where, "x", x), _nodes(where, "y", y))
    return _MESSAGES[message_op](rows_at(_column(x), source), rows_at(_column(y), target))


def _column(x: Tensor) -> Tensor:
    """One number for each node as a column: so Paddle gives messages."""
    return reshape_to(x, (x._aval.size, 1)) if x._aval.ndim == 1 else x
