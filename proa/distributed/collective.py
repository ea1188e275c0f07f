"""Collectives among the processes of a group: with one process, what each of them leaves behind.

A reduction over one process is the tensor itself, a gathered list holds it alone. Functions that change a tensor in place
change it as Paddle's do. Messages to another process are refused: there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from .environment import require_one_process
from .group import Group


class ReduceOp:
    """What a reduction does with the numbers of the processes."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


class Task:
    """A collective that was started; it is done."""

    def wait(self, timeout: Any = None) -> bool:
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def is_completed(self) -> bool:
        return True


def _begin(where: str, *tensors: Any) -> None:
    require_one_process(where)
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise type_error(where, "tensors are exchanged", type(tensor).__name__, "use the *_object functions")


def _only(where: str, rank: int, group: Group | None = None) -> None:
    if rank not in (0, -1):
        raise value_error(where, "there is one process, number 0", f"rank: {rank}", "start with one process in mind")


def _one(where: str, tensors: Sequence[Tensor]) -> Tensor:
    if len(tensors) != 1:
        raise value_error(where, "one tensor for each process is wanted, and there is one", f"{len(tensors)} tensors")
    return tensors[0]


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task:
    """Reduces a tensor over the processes, in place: with one, it stays as it is."""
    _begin("all_reduce", tensor)
    return Task()


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task:
    """As `all_reduce`, for process `dst`."""
    _begin("reduce", tensor)
    _only("reduce", dst)
    return Task()


def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True) -> Task:
    """Gives every process the tensor of process `src`, in place."""
    _begin("broadcast", tensor)
    _only("broadcast", src)
    return Task()


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group | None = None, sync_op: bool = True) -> Task:
    """Appends the tensors of all processes to a list."""
    _begin("all_gather", tensor)
    tensor_list.clear()
    tensor_list.append(tensor.clone())
    return Task()


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Appends the objects of all processes to a list."""
    _begin("all_gather_object")
    object_list.clear()
    object_list.append(obj)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True
) -> Task:  # fmt: skip
    """As `all_gather`, for process `dst`."""
    _only("gather", dst)
    return all_gather([] if gather_list is None else gather_list, tensor)


def scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | None = None, src: int = 0, group: Group | None = None,
    sync_op: bool = True,
) -> Task:  # fmt: skip
    """Gives each process one tensor of the list of process `src`, in place."""
    _begin("scatter", tensor)
    _only("scatter", src)
    if tensor_list:
        tensor.set_value(_one("scatter", tensor_list))
    return Task()


def reduce_scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task:  # fmt: skip
    """Reduces the lists of all processes and gives each process one tensor of the result."""
    _begin("reduce_scatter", tensor)
    tensor.set_value(_one("reduce_scatter", tensor_list))
    return Task()


def alltoall(
    out_tensor_list: list[Tensor], in_tensor_list: Sequence[Tensor], group: Group | None = None, sync_op: bool = True
) -> Task:  # fmt: skip
    """Process i gets the i-th tensor of every process's list."""
    _begin("alltoall")
    received = _one("alltoall", in_tensor_list).clone()
    out_tensor_list.clear()
    out_tensor_list.append(received)
    return Task()


def alltoall_single(
    out_tensor: Tensor,
    in_tensor: Tensor,
    in_split_sizes: Sequence[int] | None = None,
    out_split_sizes: Sequence[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task:
    """As `alltoall`, with the pieces of one tensor."""
    _begin("alltoall_single", out_tensor, in_tensor)
    out_tensor.set_value(in_tensor)
    return Task()


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Gives every process the objects of process `src`, in place."""
    _begin("broadcast_object_list")
    _only("broadcast_object_list", src)


def scatter_object_list(
    out_object_list: list[Any], in_object_list: Sequence[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:  # fmt: skip
    """Gives each process one object of the list of process `src`."""
    _begin("scatter_object_list")
    _only("scatter_object_list", src)
    out_object_list[:] = list(in_object_list or [])[:1]


def barrier(group: Group | None = None) -> None:
    """Waits for all processes."""
    require_one_process("barrier")


def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Waits until the tensor has been exchanged."""
    _begin("wait", tensor)


def _nobody(where: str) -> Any:
    def function(tensor: Any, rank: int = 0, group: Group | None = None, *more: Any, **named: Any) -> Any:
        raise ValueError(f"({where}) there is no other process to exchange with: the job has one process, number 0.")

    function.__name__ = function.__qualname__ = where
    function.__doc__ = "Messages between two processes; there is one, so it raises ValueError."
    return function


send, recv, isend, irecv = (_nobody(name) for name in ("send", "recv", "isend", "irecv"))
send_object_list, recv_object_list = _nobody("send_object_list"), _nobody("recv_object_list")
