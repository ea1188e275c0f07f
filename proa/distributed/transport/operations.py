"""Collectives as operations: what the public functions and parallel layers are made of.

Tensors are each process's own (`exchange.py` says how they travel). A call runs by itself, between recorded segments, so
that it does not matter where other processes cut theirs. `ranks` are the group's processes, this one among them. Gradients
are those of the sum of all processes' losses: what a process gives to others gets its gradient from them.
"""

from __future__ import annotations

from typing import Any

from ...core.aval import Aval
from ...eager.declare import op
from ...eager.infer import same_shape
from ...eager.tensor import Tensor
from . import movements, packing
from .exchange import line_of

Ranks = tuple[int, ...]


def _with_length(aval: Aval, length: int) -> Aval:
    return aval.with_shape((length, *aval.shape[1:]))


def _infer_gathered(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    aval, count = operands[0], len(attributes[0])
    return _with_length(aval, count * aval.shape[0] if aval.shape else count)


def _infer_part(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    aval, count = operands[0], len(attributes[0])
    if not aval.shape or aval.shape[0] % count:
        raise operation.error(
            ValueError, f"the first dimension must divide into {count} equal parts, one for each process", operands
        )
    return _with_length(aval, aval.shape[0] // count)


def _infer_swapped(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    (aval,), (ranks, sizes, wanted) = operands, attributes
    length = aval.shape[0] if aval.shape else -1
    fits = length >= 0 and (sum(sizes) == length and len(sizes) == len(ranks) if sizes else length % len(ranks) == 0)
    if not fits or (wanted and len(wanted) != len(ranks)):
        raise operation.error(
            ValueError, f"axis 0 is cut into {len(ranks)} pieces, whose sizes must add up to it", operands, attributes
        )
    return _with_length(aval, sum(wanted) if wanted else length)


def _grad_of_reduction(g: Tensor, x: Tensor, out: Tensor, reduction: str, ranks: Ranks) -> Tensor:
    total = all_reduce_op(g, "sum", ranks)
    if reduction == "sum":
        return total
    if reduction == "avg":
        return total / len(ranks)
    if reduction == "prod":
        return total * out / x
    return total * (x == out).astype(g.dtype)


@op("x", infer=same_shape, grad={"x": _grad_of_reduction}, alone=True, name="group_all_reduce")
def all_reduce_op(xp: Any, x: Any, reduction: str, ranks: tuple[int, ...]) -> Any:
    """The reduction ("sum", "max", "min", "prod", "avg") of the tensors of all processes."""
    return movements.all_reduce(line_of(ranks), x, reduction).wait()


@op("x", infer=same_shape, grad={"x": lambda g: g}, alone=True, name="group_sum_forward")
def sum_forward(xp: Any, x: Any, ranks: tuple[int, ...]) -> Any:
    """The sum of the tensors of all processes, whose gradient is the same in each of them and is passed on as it is."""
    return movements.all_reduce(line_of(ranks), x, "sum").wait()


@op("x", infer=same_shape, grad={"x": lambda g, ranks: sum_forward(g, ranks)}, name="group_sum_backward")
def sum_backward(xp: Any, x: Any, ranks: tuple[int, ...]) -> Any:
    """The tensor as it is; its gradient is the sum of all processes' gradients."""
    return x


@op(
    "x",
    infer=_infer_gathered,
    grad={"x": lambda g, x_aval, ranks: _part(g, ranks, x_aval)},
    alone=True,
    name="group_all_gather",
)
def all_gather_op(xp: Any, x: Any, ranks: tuple[int, ...]) -> Any:
    """The tensors of all processes, end to end along axis 0; of 0-d tensors, a vector."""
    return movements.all_gather(line_of(ranks), x).wait()


def _part(g: Tensor, ranks: Ranks, aval: Aval) -> Tensor:
    part = reduce_scatter_op(g, ranks, "sum")
    return part if aval.shape else part.reshape([])


def _grad_of_part(g: Tensor, ranks: Ranks, reduction: str) -> Tensor:
    whole = all_gather_op(g, ranks)
    return whole / len(ranks) if reduction == "avg" else whole


@op("x", infer=_infer_part, grad={"x": _grad_of_part}, alone=True, name="group_reduce_scatter")
def reduce_scatter_op(xp: Any, x: Any, ranks: tuple[int, ...], reduction: str) -> Any:
    """This process's part, along axis 0, of the reduction of all tensors."""
    return movements.reduce_scatter(line_of(ranks), x, reduction).wait()


def _grad_of_swapped(g: Tensor, ranks: Ranks, sizes: tuple[int, ...], wanted: tuple[int, ...]) -> Tensor:
    return all_to_all_op(g, ranks, wanted, sizes)


@op("x", infer=_infer_swapped, grad={"x": _grad_of_swapped}, alone=True, name="group_all_to_all")
def all_to_all_op(xp: Any, x: Any, ranks: tuple[int, ...], sizes: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    """Piece i along axis 0 goes to process i, and the pieces of the others for this one come, end to end.

    `sizes` of the pieces that go and `wanted` of those that come; both empty: equal pieces.
    """
    return movements.all_to_all(line_of(ranks), x, sizes or None, wanted or None).wait()


def _grad_of_broadcast(g: Tensor, ranks: Ranks, source: int) -> Tensor:
    total = all_reduce_op(g, "sum", ranks)
    return total if line_of(ranks).position == source else total * 0.0


@op("x", infer=same_shape, grad={"x": _grad_of_broadcast}, alone=True, name="group_broadcast")
def broadcast_op(xp: Any, x: Any, ranks: tuple[int, ...], source: int) -> Any:
    """The tensor of the process at position `source` of the group."""
    return movements.broadcast(line_of(ranks), x, source).wait()


@op("x", infer=_infer_gathered, alone=True, name="group_gather")
def gather_op(xp: Any, x: Any, ranks: tuple[int, ...], target: int) -> Any:
    """All tensors, end to end, at position `target`; elsewhere something of that shape."""
    return movements.gather(line_of(ranks), x, target).wait()


@op("x", infer=_infer_part, alone=True, name="group_scatter")
def scatter_op(xp: Any, x: Any, ranks: tuple[int, ...], source: int) -> Any:
    """This process's part of the tensor at position `source`; the others' only have its shape."""
    return movements.scatter(line_of(ranks), x, source).wait()


def _infer_all(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    return tuple(operands)


@op("x", variadic=True, outputs="list", infer=_infer_all, alone=True, name="group_reduce_all")
def reduce_all_op(xp: Any, x: list[Any], reduction: str, ranks: tuple[int, ...]) -> Any:
    """The reductions of many tensors of one dtype, exchanged as one piece."""
    packed = packing.pack(x)
    return packing.unpack(movements.all_reduce(line_of(ranks), packed, reduction).wait(), x)


@op("x", variadic=True, outputs="list", infer=_infer_all, alone=True, name="group_broadcast_all")
def broadcast_all_op(xp: Any, x: list[Any], ranks: tuple[int, ...], source: int) -> Any:
    """Many tensors of one dtype as those of the process at position `source`, exchanged as one piece."""
    packed = packing.pack(x)
    return packing.unpack(movements.broadcast(line_of(ranks), packed, source).wait(), x)
