"""Collectives among the processes of a group, on tensors that each process has of its own.

They change tensors and fill lists as Paddle's do, and leave what was recorded for gradients alone; parallel layers use the
differentiable operations that they are made of (`operations.py`). A process that is not in the group gets a warning. In a
group of one a reduction is the tensor itself, and nothing is cut or run for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import failed_check, value_error
from ..core.tracebacks import boundary
from ..eager.tensor import Tensor
from ..eager.views import replace_value
from ..ir.recorder import recording_gradients, value_of
from ..ops.basic import reshape_to
from ..ops.shape.joining import concat
from .group import Group, barrier, position, resolve
from .transport import operations
from .transport.messages import P2POp, Task, batch_isend_irecv, irecv, isend, recv, require_tensors, send
from .transport.objects import (
    all_gather_object,
    broadcast_object_list,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)


class ReduceOp:
    """What a reduction does with the numbers of the processes.

    Examples:
        >>> paddle.distributed.ReduceOp.SUM, paddle.distributed.ReduceOp.AVG
        (0, 4)
    """

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


_REDUCTIONS = {0: "sum", 1: "max", 2: "min", 3: "prod", 4: "avg"}


def reduction_of(where: str, op: Any, *tensors: Tensor) -> str:
    """The reduction's name; refused where the numbers have no order."""
    name = _REDUCTIONS.get(op) if not isinstance(op, bool) and isinstance(op, int) else None
    if name is None:
        raise value_error(where, "op must be ReduceOp.SUM, MAX, MIN, PROD or AVG", f"op: {op!r}")
    for tensor in tensors:
        if name in ("max", "min") and tensor._aval.dtype.kind == "c":
            raise value_error(where, f"complex numbers have no {name}", f"{tensor._aval}", "reduce parts one by one")
    return name


@boundary
def all_reduce(
    tensor: Tensor, op: int | str = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:  # fmt: skip
    """Reduces a tensor over the processes, in place.

    Args:
        tensor: what each process has; the result takes its place.
        op: `ReduceOp.SUM`, `MAX`, `MIN`, `PROD` or `AVG`.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Returns:
        A task with `wait()`; None where this process is not in the group.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.all_reduce(x)  # in a job of one process the sum is the tensor
        >>> x.tolist()
        [1.0, 2.0]
    """
    require_tensors("all_reduce", tensor)
    reduction = reduction_of("all_reduce", op, tensor)
    found = resolve("all_reduce", group)
    if found is None:
        return None
    if found.nranks > 1:
        with recording_gradients(False):
            replace_value(tensor, operations.all_reduce_op(tensor, reduction, tuple(found.ranks)))
    return Task()


@boundary
def reduce(
    tensor: Tensor, dst: int, op: int | str = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:  # fmt: skip
    """As `all_reduce`, for process `dst`; the others' tensors stay as they are.

    Args:
        tensor: what each process has.
        dst: the process that gets the result.
        op: what is done with the numbers.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.reduce(x, dst=0, op=paddle.distributed.ReduceOp.MAX)
        >>> x.tolist()
        [1.0, 2.0]
    """
    require_tensors("reduce", tensor)
    reduction = reduction_of("reduce", op, tensor)
    found = resolve("reduce", group)
    if found is None:
        return None
    target = position("reduce", found, dst, "dst")
    if found.nranks > 1:
        with recording_gradients(False):
            total = operations.all_reduce_op(tensor, reduction, tuple(found.ranks))
            if found.rank == target:
                replace_value(tensor, total)
    return Task()


@boundary
def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Gives every process the tensor of process `src`, in place.

    Args:
        tensor: what is given, or what it is put into.
        src: the process that gives.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Raises:
        ValueError: `src` is not in the group.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.broadcast(x, src=0)
        >>> x.tolist()
        [1.0, 2.0]
    """
    require_tensors("broadcast", tensor)
    found = resolve("broadcast", group)
    if found is None:
        return None
    source = position("broadcast", found, src, "src")
    if found.nranks > 1:
        with recording_gradients(False):
            replace_value(tensor, operations.broadcast_op(tensor, tuple(found.ranks), source))
    return Task()


def fill(where: str, tensors: list[Tensor], parts: Sequence[Tensor]) -> None:
    """Gives the tensors of a list their values; an empty list gets new ones."""
    if not tensors:
        tensors.extend(parts)
        return
    if len(tensors) != len(parts):
        raise failed_check(where, f"the list must be empty or have {len(parts)} tensors", f"{len(tensors)} tensors")
    require_tensors(where, *tensors)
    for tensor, part in zip(tensors, parts, strict=True):
        same = tensor._aval.shape == part._aval.shape and tensor._aval.dtype == part._aval.dtype
        if not same:
            raise value_error(where, f"what comes is {part._aval}", f"a tensor for it of {tensor._aval}")
        replace_value(tensor, part)


def rows(tensor: Tensor, count: int, shape: tuple[int, ...]) -> list[Tensor]:
    """A tensor that was laid end to end, taken apart: `count` tensors of a shape."""
    parts = reshape_to(tensor, (count, *shape))
    return [parts[number] for number in range(count)]


@boundary
def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Fills a list with the tensors of all processes; they have the same shape everywhere.

    Args:
        tensor_list: an empty list, or one with a tensor for each process.
        tensor: what this process gives.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> gathered = []
        >>> task = paddle.distributed.all_gather(gathered, paddle.to_tensor([1.0, 2.0]))
        >>> [x.tolist() for x in gathered]
        [[1.0, 2.0]]
    """
    require_tensors("all_gather", tensor)
    found = resolve("all_gather", group)
    if found is None:
        return None
    with recording_gradients(False):
        if found.nranks == 1:
            fill("all_gather", tensor_list, [tensor.clone()])
        else:
            whole = operations.all_gather_op(tensor, tuple(found.ranks))
            fill("all_gather", tensor_list, rows(whole, found.nranks, tensor._aval.shape))
    return Task()


@boundary
def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True
) -> Task | None:  # fmt: skip
    """As `all_gather`, for process `dst`.

    Args:
        tensor: what this process gives.
        gather_list: a list to fill at process `dst`; None elsewhere.
        dst: the process that gets all tensors.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> gathered = []
        >>> task = paddle.distributed.gather(paddle.to_tensor([1.0, 2.0]), gathered, dst=0)
        >>> [x.tolist() for x in gathered]
        [[1.0, 2.0]]
    """
    require_tensors("gather", tensor)
    found = resolve("gather", group)
    if found is None:
        return None
    target = position("gather", found, dst, "dst")
    if found.rank == target and gather_list is None:
        raise failed_check("gather", "process dst needs a list", "gather_list: None", "give it an empty list")
    with recording_gradients(False):
        if found.nranks == 1:
            fill("gather", gather_list, [tensor.clone()])  # type: ignore[arg-type]
        else:
            whole = operations.gather_op(tensor, tuple(found.ranks), target)
            if found.rank == target:
                fill("gather", gather_list, rows(whole, found.nranks, tensor._aval.shape))  # type: ignore[arg-type]
    return Task()


def flattened(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of some tensors as one vector."""
    vectors = [reshape_to(tensor, (tensor._aval.size,)) for tensor in tensors]
    return concat(vectors) if len(vectors) > 1 else vectors[0]


def _end_to_end(where: str, tensors: Sequence[Tensor], like: Tensor, count: int) -> Tensor:
    if len(tensors) != count:
        raise failed_check(where, f"one tensor for each of the {count} processes is wanted", f"{len(tensors)} tensors")
    require_tensors(where, *tensors)
    for number, tensor in enumerate(tensors):
        same = tensor._aval.shape == like._aval.shape and tensor._aval.dtype == like._aval.dtype
        if not same:
            raise value_error(
                where, f"the tensors of the list must be like tensor, {like._aval}", f"[{number}]: {tensor._aval}"
            )
    return flattened(tensors)


@boundary
def scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | None = None, src: int = 0, group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:  # fmt: skip
    """Gives each process one tensor of the list of process `src`, in place.

    Args:
        tensor: what this process's part is put into.
        tensor_list: at process `src`, one tensor for each process.
        src: the process that gives.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> part = paddle.zeros([2])
        >>> task = paddle.distributed.scatter(part, [paddle.to_tensor([1.0, 2.0])], src=0)
        >>> part.tolist()
        [1.0, 2.0]
    """
    require_tensors("scatter", tensor)
    found = resolve("scatter", group)
    if found is None:
        return None
    source = position("scatter", found, src, "src")
    with recording_gradients(False):
        # Those who have nothing to give have something of its size: the program is the same everywhere.
        given = tensor_list if found.rank == source else [tensor] * found.nranks
        whole = _end_to_end("scatter", given or [], tensor, found.nranks)
        if found.nranks > 1:
            whole = operations.scatter_op(whole, tuple(found.ranks), source)
        replace_value(tensor, reshape_to(whole, tensor._aval.shape))
    return Task()


@boundary
def reduce_scatter(
    tensor: Tensor,
    tensor_list: Sequence[Tensor],
    op: int | str = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:
    """Reduces the lists of all processes and gives each process one tensor of the result.

    Args:
        tensor: what this process's part is put into.
        tensor_list: one tensor for each process.
        op: what is done with the numbers.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> part = paddle.zeros([2])
        >>> task = paddle.distributed.reduce_scatter(part, [paddle.to_tensor([1.0, 2.0])])
        >>> part.tolist()
        [1.0, 2.0]
    """
    require_tensors("reduce_scatter", tensor)
    reduction = reduction_of("reduce_scatter", op, tensor)
    found = resolve("reduce_scatter", group)
    if found is None:
        return None
    with recording_gradients(False):
        whole = _end_to_end("reduce_scatter", tensor_list, tensor, found.nranks)
        if found.nranks > 1:
            whole = operations.reduce_scatter_op(whole, tuple(found.ranks), reduction)
        replace_value(tensor, reshape_to(whole, tensor._aval.shape))
    return Task()


@boundary
def alltoall(
    out_tensor_list: list[Tensor], in_tensor_list: Sequence[Tensor], group: Group | None = None, sync_op: bool = True
) -> Task | None:  # fmt: skip
    """Process i gets the i-th tensor of every process's list. Tensors may have different shapes.

    Args:
        out_tensor_list: an empty list, or one with a tensor for each process.
        in_tensor_list: one tensor for each process.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> received = []
        >>> task = paddle.distributed.alltoall(received, [paddle.to_tensor([1.0, 2.0])])
        >>> [x.tolist() for x in received]
        [[1.0, 2.0]]
    """
    require_tensors("alltoall", *in_tensor_list, *out_tensor_list)
    found = resolve("alltoall", group)
    if found is None:
        return None
    like = out_tensor_list or in_tensor_list
    if len(in_tensor_list) != found.nranks or len(like) != found.nranks:
        raise failed_check(
            "alltoall", f"one tensor for each of the {found.nranks} processes is wanted",
            f"{len(in_tensor_list)} and {len(out_tensor_list)} tensors",
        )  # fmt: skip
    with recording_gradients(False):
        if found.nranks == 1:
            fill("alltoall", out_tensor_list, [in_tensor_list[0].clone()])
            return Task()
        whole = flattened(in_tensor_list)
        sizes, wanted = [tuple(tensor._aval.size for tensor in tensors) for tensors in (in_tensor_list, like)]
        swapped = operations.all_to_all_op(whole, tuple(found.ranks), sizes, wanted)
        parts, begin = [], 0
        for tensor, length in zip(like, wanted, strict=True):
            parts.append(reshape_to(swapped[begin : begin + length], tensor._aval.shape))
            begin += length
        fill("alltoall", out_tensor_list, parts)
    return Task()


@boundary
def alltoall_single(
    out_tensor: Tensor,
    in_tensor: Tensor,
    in_split_sizes: Sequence[int] | None = None,
    out_split_sizes: Sequence[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:
    """As `alltoall`, with the pieces of one tensor along axis 0; all processes give sizes of pieces, or none does.

    Args:
        out_tensor: what the pieces that come are put into.
        in_tensor: the pieces that go.
        in_split_sizes: how long each piece that goes is; None: equal ones.
        out_split_sizes: how long each piece that comes is; None: equal ones.
        group: the processes that take part; None: all.
        sync_op: taken; the result is there when it is used.

    Examples:
        >>> received = paddle.zeros([2])
        >>> task = paddle.distributed.alltoall_single(received, paddle.to_tensor([1.0, 2.0]))
        >>> received.tolist()
        [1.0, 2.0]
    """
    require_tensors("alltoall_single", out_tensor, in_tensor)
    found = resolve("alltoall_single", group)
    if found is None:
        return None
    sizes, wanted = tuple(in_split_sizes or ()), tuple(out_split_sizes or ())
    if (sizes or wanted) and not (sizes and wanted):
        equal = (in_tensor if wanted else out_tensor)._aval.shape[0] // found.nranks
        sizes, wanted = sizes or (equal,) * found.nranks, wanted or (equal,) * found.nranks
    with recording_gradients(False):
        swapped = in_tensor
        if found.nranks > 1:
            swapped = operations.all_to_all_op(in_tensor, tuple(found.ranks), sizes, wanted)
        if swapped._aval.shape != out_tensor._aval.shape:
            raise value_error("alltoall_single", f"what comes is {swapped._aval}", f"out_tensor: {out_tensor._aval}")
        replace_value(out_tensor, swapped)
    return Task()


@boundary
def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Waits until the tensor is computed. (A collective is done when its function, or its task's `wait()`, returns.)

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0]) + 1
        >>> paddle.distributed.wait(x)
        >>> x.tolist()
        [2.0, 3.0]
    """
    require_tensors("wait", tensor)
    if resolve("wait", group) is not None:
        value_of(tensor)


__all__ = [
    "P2POp", "ReduceOp", "Task", "all_gather", "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "gather", "irecv", "isend", "recv", "recv_object_list",
    "reduce", "reduce_scatter", "scatter", "scatter_object_list", "send", "send_object_list", "wait",
]  # fmt: skip
