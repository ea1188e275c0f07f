"""Sampling of neighbours in a graph stored by columns: node i's neighbours are `row[colptr[i] : colptr[i + 1]]`.

How many neighbours come out depends on the graph, so sampling runs on the host at the call. It follows `seed()`: each
call takes the next place in the random stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...core.generator import default_generator
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integer, require_tensor
from .reindex import host_integers, renumber

_ROW = A(13, dtype="int64", values=[3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7])
_COLUMNS = A(11, dtype="int64", values=[0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13])
_NODES = A(4, dtype="int64", values=[0, 8, 1, 7])
_WEIGHTS = A(13, low=0.5, grad=False)
_EIDS = A(13, dtype="int64", values=np.arange(100, 113))


class _Graph:
    """A graph on the host, checked."""

    def __init__(self, where: str, row: Tensor, colptr: Tensor) -> None:
        self.where = where
        self.row = host_integers(where, "row", row)
        self.starts = host_integers(where, "colptr", colptr).astype(np.int64)
        ordered = self.starts.size and self.starts[0] >= 0 and (np.diff(self.starts) >= 0).all()
        if not ordered or self.starts[-1] > self.row.size:
            raise value_error(
                where, "colptr must rise from 0 to the number of edges",
                f"row: {row._aval}, colptr: {colptr._aval}",
            )  # fmt: skip

    def edges_of(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positions in `row` of all neighbours of the nodes, in order, and how many each node has."""
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < self.starts.size - 1:
            raise IndexError(
                f"({self.where}) a node is out of range; expected 0 to {self.starts.size - 2}, "
                f"received {nodes.min()} to {nodes.max()}."
            )
        first, counts = self.starts[nodes], self.starts[nodes + 1] - self.starts[nodes]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(first, counts) + offsets, counts

    def sample(
        self, nodes: np.ndarray, size: int, random: np.random.Generator, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions of at most `size` neighbours of each node (all for -1), none twice, in order; and their counts."""
        edges, counts = self.edges_of(nodes)
        if size < 0 or not edges.size or counts.max() <= size:
            return edges, counts
        owner = np.repeat(np.arange(nodes.size), counts)
        # Every edge waits an exponential time, shorter for a larger weight; the first ones of each node are taken.
        times = random.standard_exponential(edges.size)
        if weights is not None:
            with np.errstate(divide="ignore"):
                times = times / weights[edges]
        order = np.lexsort((times, owner))
        rank = np.arange(edges.size) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = np.sort(order[rank < size])
        return edges[chosen], np.minimum(counts, size)


def _random() -> np.random.Generator:
    seed, offset = default_generator.draw()
    return np.random.Generator(np.random.Philox(key=np.array([seed, offset], np.uint64)))


def _sample_size(where: str, size: Any) -> int:
    size = integer(where, "sample_size", size)
    if size < -1:
        raise value_error(where, "sample_size is a number of neighbours, or -1 for all", f"sample_size: {size}")
    return size


def _edge_ids(where: str, eids: Any, return_eids: bool, num_edges: int, name: str = "eids") -> np.ndarray | None:
    if not return_eids:
        return None
    if eids is None:
        raise value_error(where, f"return_eids needs {name}", f"{name}: None", "pass the number of each edge")
    ids = host_integers(where, name, eids)
    if ids.size != num_edges:
        raise value_error(where, f"{name} must have one number for each edge", f"{name}: {ids.size} for {num_edges}")
    return ids


def _sampled(
    where: str,
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    sample_size: Any,
    eids: Any,
    return_eids: bool,
    weights: np.ndarray | None = None,
) -> tuple[Tensor, ...]:
    size = _sample_size(where, sample_size)
    graph = _Graph(where, row, colptr)
    ids = _edge_ids(where, eids, return_eids, graph.row.size)
    edges, counts = graph.sample(host_integers(where, "input_nodes", input_nodes), size, _random(), weights)
    place = row._aval.place
    results = [graph.row[edges], counts.astype(np.int32)]
    if ids is not None:
        results.append(ids[edges])
    return tuple(tensor_from_data(array, place=place) for array in results)


def _reference_all(row: Any, columns: Any, nodes: Any, sample_size: int = -1, eids: Any = None, *_: Any) -> Any:
    spans = [(columns[n], columns[n + 1]) for n in nodes.reshape(-1)]
    counts = np.asarray([end - start for start, end in spans], "int32")
    found = [np.concatenate([row[start:end] for start, end in spans] + [row[:0]]), counts]
    return found if eids is None else [*found, np.concatenate([eids[start:end] for start, end in spans])]


@samples(
    S(_ROW, _COLUMNS, _NODES), S(_ROW, _COLUMNS, _NODES, 2), S(_ROW, _COLUMNS, _NODES, 9, _EIDS, True),
    S(_ROW, _COLUMNS, A(0, dtype="int64", values=np.zeros(0))),
    S(_ROW, _COLUMNS, A(2, 1, dtype="int64", values=[[3], [3]])),
    reference=_reference_all,
)  # fmt: skip
@public(values=True, module="geometric")
def sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    sample_size: int = -1,
    eids: Tensor | None = None,
    return_eids: bool = False,
    perm_buffer: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """At most `sample_size` neighbours of each node, chosen evenly and none twice.

    Computed on the host.

    Args:
        row: the neighbours of all nodes, one node's behind another's.
        colptr: where each node's neighbours begin in `row`, and the end.
        input_nodes: the nodes.
        sample_size: at most how many; -1 for all.
        eids: a number for each edge.
        return_eids: whether those of the chosen edges are given too.
        perm_buffer: accepted and not needed.
        name: a label; it changes nothing.

    Returns:
        The neighbours, and how many each node has (int32); with `return_eids` also the chosen edges' numbers.

    Examples:
        >>> row, colptr = paddle.to_tensor([1, 2, 3, 0]), paddle.to_tensor([0, 3, 4])
        >>> neighbors, count = paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([0, 1]))
        >>> neighbors.tolist(), count.tolist()
        ([1, 2, 3, 0], [3, 1])
        >>> paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([0, 1]), sample_size=2)[1].tolist()
        [2, 1]
    """
    return _sampled("sample_neighbors", row, colptr, input_nodes, sample_size, eids, return_eids)


@samples(
    S(_ROW, _COLUMNS, _WEIGHTS, _NODES), S(_ROW, _COLUMNS, _WEIGHTS, _NODES, 2),
    S(_ROW, _COLUMNS, _WEIGHTS, _NODES, 5, _EIDS, True),
    reference=lambda row, columns, weights, *rest: _reference_all(row, columns, *rest),
)  # fmt: skip
@public(values=True, module="geometric")
def weighted_sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    edge_weight: Tensor,
    input_nodes: Tensor,
    sample_size: int = -1,
    eids: Tensor | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """`sample_neighbors` where an edge is chosen in proportion to its weight among those that are left.

    Args:
        row: the neighbours of all nodes, one node's behind another's.
        colptr: where each node's neighbours begin in `row`, and the end.
        edge_weight: a weight for each edge.
        input_nodes: the nodes.
        sample_size: at most how many; -1 for all.
        eids: a number for each edge.
        return_eids: whether those of the chosen edges are given too.
        name: a label; it changes nothing.

    Returns:
        The neighbours, and how many each node has (int32); with `return_eids` also the chosen edges' numbers.

    Examples:
        >>> row, colptr, weight = paddle.to_tensor([1, 2, 3]), paddle.to_tensor([0, 3]), paddle.to_tensor([0.0, 1.0, 0.0])
        >>> input_nodes = paddle.to_tensor([0])
        >>> paddle.geometric.weighted_sample_neighbors(row, colptr, weight, input_nodes, sample_size=1)[0].tolist()
        [2]
    """
    where = "weighted_sample_neighbors"
    weights = np.asarray(require_tensor(where, "edge_weight", edge_weight)._data(), np.float64).reshape(-1)
    require_tensor(where, "row", row)
    if weights.size != row._aval.size or not (weights >= 0).all():
        raise value_error(
            where, "edge_weight must have a number, not negative, for each edge",
            f"edge_weight: {edge_weight._aval}, row: {row._aval}",
        )  # fmt: skip
    return _sampled(where, row, colptr, input_nodes, sample_size, eids, return_eids, weights)


@samples(
    S(_ROW, _COLUMNS, _NODES), S(_ROW, _COLUMNS, _NODES, sample_size=2),
    S(_ROW, _COLUMNS, _NODES, eids=_EIDS, return_eids=True),
    reference=lambda row, columns, nodes, eids=None, **_: _reference_all(row, columns, nodes, -1, eids),
)  # fmt: skip
@public(module="incubate")
def graph_sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    eids: Tensor | None = None,
    perm_buffer: Tensor | None = None,
    sample_size: int = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """`geometric.sample_neighbors` under its older name, with its parameters in another order.

    Examples:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> found, counts = paddle.incubate.graph_sample_neighbors(row, colptr, paddle.to_tensor([0, 1]))
        >>> found.tolist(), counts.tolist()
        ([1, 2, 0], [2, 1])
    """
    return _sampled("graph_sample_neighbors", row, colptr, input_nodes, sample_size, eids, return_eids)


def _reference_khop(row: Any, columns: Any, nodes: Any, sizes: Any, eids: Any = None, *_: Any) -> Any:
    known = {int(node): number for number, node in enumerate(nodes)}
    frontier, source, target, ids = list(known), [], [], []
    for _ in sizes:
        before = len(known)
        for node in frontier:
            for edge in range(columns[node], columns[node + 1]):
                source.append(known.setdefault(int(row[edge]), len(known)))
                target.append(known[node])
                ids.append(edge)
        frontier = list(known)[before:]
    found = [np.asarray(source)[:, None], np.asarray(target)[:, None], np.asarray(list(known)), np.arange(len(nodes))]
    return found if eids is None else [*found, eids[ids]]


@samples(
    S(_ROW, _COLUMNS, _NODES, [2, 2]), S(_ROW, _COLUMNS, _NODES, [-1]), S(_ROW, _COLUMNS, _NODES, [5, 4, 3]),
    S(_ROW, _COLUMNS, _NODES, [2, 2], _EIDS, True),
    reference=_reference_khop,
)  # fmt: skip
@public(module="incubate")
def graph_khop_sampler(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    sample_sizes: Sequence[int],
    sorted_eids: Tensor | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Samples neighbours, then neighbours of the nodes that were found, and so on: a hop for each of `sample_sizes`.

    Gives source and target of the edges by new numbers (`[edges, 1]` each), the old numbers in the new order, the new
    numbers of `input_nodes`, and, with `return_eids`, the entries of `sorted_eids` for the edges.

    Examples:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])  # 1 and 2 lead to 0, 0 leads to 1
        >>> source, target, nodes, own = paddle.incubate.graph_khop_sampler(row, colptr, paddle.to_tensor([0]), [2])
        >>> source.flatten().tolist(), target.flatten().tolist(), nodes.tolist()
        ([1, 2], [0, 0], [0, 1, 2])
    """
    where = "graph_khop_sampler"
    graph = _Graph(where, row, colptr)
    ids = _edge_ids(where, sorted_eids, return_eids, graph.row.size, "sorted_eids")
    nodes = host_integers(where, "input_nodes", input_nodes)
    if np.unique(nodes).size != nodes.size:
        raise value_error(where, "a node is listed twice", f"input_nodes: {input_nodes._aval}", "pass unique nodes")
    random = _random()
    known = frontier = nodes
    edges, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in sample_sizes:
        found, counts = graph.sample(frontier, _sample_size(where, size), random)
        first = known.size - frontier.size
        edges.append(found)
        targets.append(np.repeat(np.arange(first, known.size), counts))
        _, _, renewed = renumber(known, graph.row[found])
        frontier, known = renewed[known.size :], renewed
    chosen = np.concatenate(edges)
    _, sources, _ = renumber(known, graph.row[chosen])
    results = [sources[:, None], np.concatenate(targets)[:, None], known, np.arange(nodes.size)]
    results = [array.astype(graph.row.dtype) for array in results]
    if ids is not None:
        results.append(ids[chosen])
    return tuple(tensor_from_data(array, place=row._aval.place) for array in results)
