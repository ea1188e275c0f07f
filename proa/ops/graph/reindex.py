"""Renumbering of sampled graphs: nodes get new numbers from 0 in the order of their appearance.

The number of nodes that come up is the size of the result, so everything here is computed on the host at the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..index.gather import index_tensor

_X = A(3, dtype="int64", values=[0, 1, 2])
_NEIGHBORS = A(7, dtype="int64", values=[8, 9, 0, 4, 7, 6, 7])
_COUNT = A(3, dtype="int32", values=[2, 3, 2])


def host_integers(where: str, name: str, tensor: Any) -> np.ndarray:
    """The numbers of an integer tensor with one dimension (a column [n, 1] counts as one)."""
    shape = index_tensor(where, tensor, name)._aval.shape
    if len(shape) != 1 and not (len(shape) == 2 and shape[1] == 1):
        raise value_error(where, f"{name} must have one dimension", f"{name}: {tensor._aval}")
    return np.asarray(tensor._data()).reshape(-1)


def renumber(nodes: np.ndarray, neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """New numbers of `nodes` and of `neighbors`, and the old numbers in the new order: nodes first."""
    every = np.concatenate([nodes, neighbors])
    values, first, inverse = np.unique(every, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    is_new = first >= len(nodes)
    new_order = np.flatnonzero(is_new)[np.argsort(first[is_new], kind="stable")]
    number = np.empty(len(values), np.int64)
    # A node that is listed twice keeps both places and goes by the last.
    number[inverse[: len(nodes)]] = np.arange(len(nodes))
    number[new_order] = len(nodes) + np.arange(len(new_order))
    numbers = number[inverse]
    return numbers[: len(nodes)], numbers[len(nodes) :], np.concatenate([nodes, values[new_order]])


def _reindexed(where: str, x: Any, neighbors: Sequence[Any], counts: Sequence[Any]) -> tuple[Tensor, Tensor, Tensor]:
    nodes = host_integers(where, "x", x)
    lists = [host_integers(where, "neighbors", each) for each in neighbors]
    lengths = [host_integers(where, "count", each) for each in counts]
    if len(lists) != len(lengths):
        raise value_error(where, "as many counts as neighbors are needed", f"{len(lengths)} for {len(lists)}")
    for each, length in zip(lists, lengths):
        if length.size != nodes.size or (length < 0).any() or length.sum() != each.size:
            raise value_error(
                where, "count must say how many neighbors each node of x has",
                f"x: {nodes.size} nodes, neighbors: {each.size}, count: {length.size} numbers that sum to {length.sum()}",
            )  # fmt: skip
    merged = np.concatenate([*lists, nodes[:0]])
    targets, sources, out_nodes = renumber(nodes, merged)
    repeated = [np.repeat(targets, length) for length in lengths]
    dtype, place = x._aval.dtype, x._aval.place
    found = (sources, np.concatenate([*repeated, targets[:0]]), out_nodes)
    src, dst, names = (tensor_from_data(array.astype(dtype), place=place) for array in found)
    return src, dst, names


def _reference_reindex(x: Any, neighbors: Any, count: Any, *_: Any) -> Any:
    known = {int(node): number for number, node in enumerate(x)}
    source = [known.setdefault(int(node), len(known)) for node in neighbors]
    target = [known[int(node)] for node, times in zip(x, count, strict=True) for _ in range(times)]
    return [np.asarray(part, x.dtype) for part in (source, target, list(known))]


@samples(
    S(_X, _NEIGHBORS, _COUNT), S(_X, A(0, dtype="int64", values=np.zeros(0)), A(3, dtype="int32", values=[0, 0, 0])),
    S(A(1, dtype="int32", values=[5]), A(2, dtype="int32", values=[5, 3]), A(1, dtype="int64", values=[2])),
    reference=_reference_reindex,
)  # fmt: skip
@public(module="geometric")
def reindex_graph(
    x: Tensor,
    neighbors: Tensor,
    count: Tensor,
    value_buffer: Tensor | None = None,
    index_buffer: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Renumbers nodes and their neighbours from 0.

    Computed on the host.

    Args:
        x: nodes.
        neighbors: their neighbours, one node's behind another's.
        count: how many neighbours each node has.
        value_buffer, index_buffer: accepted and not needed.
        name: a label; it changes nothing.

    Returns:
        The edges as new numbers of source and target, and the old numbers in the new order.

    Examples:
        >>> x = paddle.to_tensor([7, 3])
        >>> neighbors = paddle.to_tensor([3, 9, 7])
        >>> count = paddle.to_tensor([2, 1], dtype="int32")
        >>> source, target, nodes = paddle.geometric.reindex_graph(x, neighbors, count)
        >>> source.tolist(), target.tolist(), nodes.tolist()
        ([1, 2, 0], [0, 0, 1], [7, 3, 9])
    """
    return _reindexed("reindex_graph", x, [neighbors], [count])


def _reference_heterogeneous(x: Any, neighbors: Any, count: Any) -> Any:
    known = {int(node): number for number, node in enumerate(x)}
    source = [known.setdefault(int(node), len(known)) for each in neighbors for node in each]
    target = [known[int(n)] for counts in count for n, times in zip(x, counts, strict=True) for _ in range(times)]
    return [np.asarray(part, x.dtype) for part in (source, target, list(known))]


@samples(
    S(_X, [_NEIGHBORS, A(5, dtype="int64", values=[0, 2, 3, 5, 1])], [_COUNT, A(3, dtype="int32", values=[1, 3, 1])]),
    S(_X, [_NEIGHBORS], [_COUNT]),
    S(_X, [A(0, dtype="int64", values=np.zeros(0))] * 2, [A(3, dtype="int32", values=[0, 0, 0])] * 2),
    reference=_reference_heterogeneous,
)  # fmt: skip
@public(module="geometric")
def reindex_heter_graph(
    x: Tensor,
    neighbors: Sequence[Tensor],
    count: Sequence[Tensor],
    value_buffer: Tensor | None = None,
    index_buffer: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`reindex_graph` for edges of several kinds, renumbered together.

    Args:
        x: nodes.
        neighbors: for each kind their neighbours.
        count: for each kind how many neighbours each node has.
        value_buffer, index_buffer: accepted and not needed.
        name: a label; it changes nothing.

    Returns:
        The edges as new numbers of source and target, and the old numbers in the new order.

    Examples:
        >>> neighbors = [paddle.to_tensor([3, 9, 7]), paddle.to_tensor([5])]
        >>> count = [paddle.to_tensor([2, 1], dtype="int32"), paddle.to_tensor([1, 0], dtype="int32")]
        >>> source, target, nodes = paddle.geometric.reindex_heter_graph(paddle.to_tensor([7, 3]), neighbors, count)
        >>> source.tolist(), target.tolist(), nodes.tolist()
        ([1, 2, 0, 3], [0, 0, 1, 0], [7, 3, 9, 5])
    """
    several = isinstance(neighbors, (list, tuple)) and isinstance(count, (list, tuple))
    return _reindexed(
        "reindex_heter_graph", x, neighbors if several else [neighbors], count if several else [count]
    )  # fmt: skip


@samples(
    S(_X, _NEIGHBORS, _COUNT), S(_X, A(0, dtype="int64", values=np.zeros(0)), A(3, dtype="int32", values=[0, 0, 0])),
    S(A(1, dtype="int32", values=[5]), A(2, dtype="int32", values=[5, 3]), A(1, dtype="int32", values=[2])),
    reference=_reference_reindex,
)  # fmt: skip
@public(module="incubate")
def graph_reindex(
    x: Tensor,
    neighbors: Tensor,
    count: Tensor,
    value_buffer: Tensor | None = None,
    index_buffer: Tensor | None = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`geometric.reindex_graph` under its older name.

    Examples:
        >>> x, neighbors, count = paddle.to_tensor([5, 7]), paddle.to_tensor([7, 9, 5]), paddle.to_tensor([2, 1])
        >>> source, target, nodes = paddle.incubate.graph_reindex(x, neighbors, count)
        >>> source.tolist(), target.tolist(), nodes.tolist()
        ([1, 2, 0], [0, 0, 1], [5, 7, 9])
    """
    return _reindexed("graph_reindex", x, [neighbors], [count])
