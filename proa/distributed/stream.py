"""`paddle.distributed.communication.stream`: the collectives with a choice of stream, which XLA makes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.basic import reshape_to
from . import collective
from .collective import ReduceOp, Task


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task:  # fmt: skip
    return collective.all_reduce(tensor, op, group, sync_op)


def all_gather(
    tensor_or_tensor_list: Any, tensor: Tensor, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task:  # fmt: skip
    """Into a list, or into one tensor that holds the gathered ones one after another."""
    if isinstance(tensor_or_tensor_list, Tensor):
        tensor_or_tensor_list.set_value(reshape_to(tensor, tuple(tensor_or_tensor_list._aval.shape)))
        return Task()
    return collective.all_gather(tensor_or_tensor_list, tensor, group, sync_op)


def broadcast(tensor: Tensor, src: int, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False) -> Task:
    return collective.broadcast(tensor, src, group, sync_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task:  # fmt: skip
    return collective.reduce(tensor, dst, op, group, sync_op)


def reduce_scatter(
    tensor: Tensor, tensor_or_tensor_list: Any, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task:  # fmt: skip
    given = [tensor_or_tensor_list] if isinstance(tensor_or_tensor_list, Tensor) else tensor_or_tensor_list
    return collective.reduce_scatter(tensor, given, op, group, sync_op)


def scatter(
    tensor: Tensor, tensor_or_tensor_list: Any = None, src: int = 0, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task:  # fmt: skip
    given = [tensor_or_tensor_list] if isinstance(tensor_or_tensor_list, Tensor) else tensor_or_tensor_list
    return collective.scatter(tensor, given, src, group, sync_op)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task:  # fmt: skip
    return collective.gather(tensor, gather_list, dst, group, sync_op)


def alltoall(
    out_tensor_or_tensor_list: Any, in_tensor_or_tensor_list: Any, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task:  # fmt: skip
    if isinstance(out_tensor_or_tensor_list, Tensor):
        return collective.alltoall_single(out_tensor_or_tensor_list, in_tensor_or_tensor_list)
    return collective.alltoall(out_tensor_or_tensor_list, in_tensor_or_tensor_list, group, sync_op)


def alltoall_single(
    out_tensor: Tensor, in_tensor: Tensor, out_split_sizes: Sequence[int] | None = None,
    in_split_sizes: Sequence[int] | None = None, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False,
) -> Task:  # fmt: skip
    return collective.alltoall_single(out_tensor, in_tensor, in_split_sizes, out_split_sizes, group, sync_op)


send, recv = collective.send, collective.recv
