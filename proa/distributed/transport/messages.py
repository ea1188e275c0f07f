"""Messages from one process to another: `send`, `recv`, and both without waiting.

The two directions between two processes are independent, and messages of one direction are matched in the order of the
calls. So two processes may send to each other at the same time if they use `isend` (or `batch_isend_irecv`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import job
from ...core.errors import failed_check, type_error
from ...core.tracebacks import boundary
from ...eager.tensor import Tensor, wrap
from ...eager.views import replace_value
from ...ir import meshes
from ...ir.recorder import value_of
from ..group import Group, position, resolve
from . import movements
from .exchange import Call, line_of


class Task:
    """A collective that was started. `wait()` (or `synchronize()`) gives its result to the tensors that wait for it."""

    def __init__(self, call: Call | None = None, deliver: Callable[[Any], None] | None = None) -> None:
        self._call, self._deliver = call, deliver

    def wait(self, timeout: Any = None) -> bool:
        """Waits, at most `timeout` (a timedelta, or seconds); True when it is done."""
        if self._call is not None:
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
            result = self._call.wait(None if seconds is None else int(1000 * seconds))
            if self._deliver is not None:
                self._deliver(result)
            self._call = self._deliver = None
        return True

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return self._call is None or self._call.finished.is_set()


def require_tensors(where: str, *tensors: Any) -> None:
    """TypeError for anything else."""
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise type_error(where, "tensors are exchanged", type(tensor).__name__, "use the *_object functions")


def put_value(tensor: Tensor, value: Any) -> None:
    """Other numbers for a tensor, in its dtype; what was recorded with it stays as it is (so in Paddle)."""
    replace_value(tensor, wrap(value, tensor._aval))


def _begin(where: str, tensor: Tensor, rank: int, group: Group | None, sends: bool) -> Task | None:
    require_tensors(where, tensor)
    found = resolve(where, group)
    if found is None:
        return None
    position(where, found, rank, "dst" if sends else "src")
    if rank == job.rank():
        raise failed_check(where, "a process exchanges messages with another one", f"its own number, {rank}")
    if sends:
        return Task(movements.send(line_of((job.rank(), rank)), value_of(tensor)))
    empty = np.zeros(tensor._aval.shape, tensor._aval.dtype)
    call = movements.send(line_of((rank, job.rank())), empty)
    return Task(call, lambda value: put_value(tensor, value))


@boundary
def isend(tensor: Tensor, dst: int, group: Group | None = None) -> Task | None:
    """Sends a tensor to process `dst` without waiting for it to be received. The tensor may be changed at once.

    Args:
        tensor: what to send.
        dst: the process that receives it.
        group: the processes that `dst` is one of; None: all.

    Returns:
        A task with `wait()`; None where this process is not in the group.

    Examples:
        >>> paddle.distributed.isend(paddle.ones([2]), dst=0)
        Traceback (most recent call last):
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
        proa.core.errors.FailedCheck: (isend) a process exchanges messages with another one; received its own number, 0.
    """
    return _begin("isend", tensor, dst, group, True)


@boundary
def irecv(tensor: Tensor, src: int | None = None, group: Group | None = None) -> Task | None:
    """Receives into a tensor what process `src` sends; it is there after the task's `wait()`.

    Args:
        tensor: what it is put into.
        src: the process that sends; None: process 0.
        group: the processes that `src` is one of; None: all.

    Examples:
        >>> paddle.distributed.irecv(paddle.zeros([2]), src=0)
        Traceback (most recent call last):
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
        proa.core.errors.FailedCheck: (irecv) a process exchanges messages with another one; received its own number, 0.
    """
    return _begin("irecv", tensor, 0 if src is None else src, group, False)


@boundary
def send(tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Sends a tensor to process `dst`; with `sync_op`, waits until it is received.

    Args:
        tensor: what to send.
        dst: the process that receives it.
        group: the processes that `dst` is one of; None: all.
        sync_op: whether to wait.

    Examples:
        >>> paddle.distributed.send(paddle.ones([2]), dst=1)
        Traceback (most recent call last):
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
        ValueError: (send) dst must be one of the group's processes [0]; received dst: 1.
    """
    task = _begin("send", tensor, dst, group, True)
    if sync_op and task is not None:
        task.wait()
    return task


@boundary
def recv(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Receives into a tensor what process `src` sends; without `sync_op` it is there after the task's `wait()`.

    Args:
        tensor: what it is put into.
        src: the process that sends.
        group: the processes that `src` is one of; None: all.
        sync_op: whether to wait.

    Examples:
        >>> paddle.distributed.recv(paddle.zeros([2]), src=1)
        Traceback (most recent call last):
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
        ValueError: (recv) src must be one of the group's processes [0]; received src: 1.
    """
    task = _begin("recv", tensor, src, group, False)
    if sync_op and task is not None:
        task.wait()
    return task


class P2POp:
    """One message of a batch: `op` is `isend` or `irecv`, `peer` the other process.

    Args:
        op: `isend` or `irecv`.
        tensor: what is sent, or put into.
        peer: the other process.
        group: the processes that it is one of; None: all.

    Examples:
        >>> message = paddle.distributed.P2POp(paddle.distributed.isend, paddle.ones([2]), 1)
        >>> message.peer
        1
    """

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int, group: Group | None = None) -> None:
        if op not in (isend, irecv):
            raise failed_check("P2POp", "op must be paddle.distributed.isend or irecv", f"op: {op!r}")
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


@boundary
def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Task]:
    """Starts all messages of a list; the tasks of those that this process takes part in.

    Examples:
        >>> message = paddle.distributed.P2POp(paddle.distributed.isend, paddle.ones([2]), 0)
        >>> paddle.distributed.batch_isend_irecv([message])
        Traceback (most recent call last):
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
        proa.core.errors.FailedCheck: (isend) a process exchanges messages with another one; received its own number, 0.
    """
    if not p2p_op_list or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise failed_check("batch_isend_irecv", "a list of P2POp is wanted", repr(p2p_op_list)[:80])
    tasks = [each.op(each.tensor, each.peer, each.group) for each in p2p_op_list]
    return [task for task in tasks if task is not None]


def _carry(array: Any, shape: tuple[int, ...], dtype: Any, sender: int, receivers: Sequence[int]) -> Any:
    """An array from one process to others, for tensors that move between meshes.

    The sender waits as well: XLA has one communicator for a set of devices, and programs over these devices that ran beside
    the message would take its bytes for theirs.
    """
    if job.rank() == sender:
        for call in [movements.send(line_of((sender, rank)), array) for rank in receivers]:
            call.wait()
        return array
    return np.asarray(movements.send(line_of((sender, job.rank())), np.zeros(shape, dtype)).wait())


meshes.CARRIERS.append(_carry)
