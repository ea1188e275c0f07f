"""`paddle.distributed.communication.stream`: the collectives with a choice of stream, which XLA makes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import value_error
from ..core.tracebacks import boundary
from ..eager.tensor import Tensor
from ..eager.views import replace_value
from ..ir.recorder import recording_gradients
from ..ops.basic import reshape_to
from . import collective
from .collective import ReduceOp, Task, reduction_of
from .group import position, resolve
from .transport import operations
from .transport.messages import require_tensors

if TYPE_CHECKING:
    from .group import Group


def all_reduce(
    tensor: Tensor,
    op: int | str = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """As `paddle.distributed.all_reduce`; XLA chooses the stream.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.communication.stream.all_reduce(x)
        >>> x.tolist()
        [1.0, 2.0]
    """
    return collective.all_reduce(tensor, op, group, sync_op)


def _fit(where: str, tensor: Tensor, whole: Tensor) -> None:
    """Puts what came into a tensor that has room for it, whatever its shape."""
    if whole._aval.size != tensor._aval.size or whole._aval.dtype != tensor._aval.dtype:
        raise value_error(where, f"what comes is {whole._aval}", f"a tensor for it of {tensor._aval}")
    replace_value(tensor, reshape_to(whole, tensor._aval.shape))


@boundary
def all_gather(
    tensor_or_tensor_list: Tensor | list[Tensor],
    tensor: Tensor,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """As `paddle.distributed.all_gather`: into a list, or into one tensor that holds the gathered ones one after another.

    Examples:
        >>> whole = paddle.zeros([2])
        >>> task = paddle.distributed.communication.stream.all_gather(whole, paddle.to_tensor([1.0, 2.0]))
        >>> whole.tolist()
        [1.0, 2.0]
    """
    if not isinstance(tensor_or_tensor_list, Tensor):
        return collective.all_gather(tensor_or_tensor_list, tensor, group, sync_op)
    require_tensors("all_gather", tensor)
    found = resolve("all_gather", group)
    if found is None:
        return None
    with recording_gradients(False):
        whole = operations.all_gather_op(tensor, tuple(found.ranks)) if found.nranks > 1 else tensor
        _fit("all_gather", tensor_or_tensor_list, whole)
    return Task()


def broadcast(
    tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """As `paddle.distributed.broadcast`; XLA chooses the stream.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.communication.stream.broadcast(x, src=0)
        >>> x.tolist()
        [1.0, 2.0]
    """
    return collective.broadcast(tensor, src, group, sync_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: int | str = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    """As `paddle.distributed.reduce`; XLA chooses the stream.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.communication.stream.reduce(x, dst=0)
        >>> x.tolist()
        [1.0, 2.0]
    """
    return collective.reduce(tensor, dst, op, group, sync_op)


@boundary
def reduce_scatter(
    tensor: Tensor,
    tensor_or_tensor_list: Tensor | list[Tensor],
    op: int | str = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """As `paddle.distributed.reduce_scatter`: from a list, or from one tensor that is divided along axis 0.

    Examples:
        >>> part = paddle.zeros([2])
        >>> task = paddle.distributed.communication.stream.reduce_scatter(part, paddle.to_tensor([1.0, 2.0]))
        >>> part.tolist()
        [1.0, 2.0]
    """
    if not isinstance(tensor_or_tensor_list, Tensor):
        return collective.reduce_scatter(tensor, tensor_or_tensor_list, op, group, sync_op)
    require_tensors("reduce_scatter", tensor)
    reduction = reduction_of("reduce_scatter", op, tensor)
    found = resolve("reduce_scatter", group)
    if found is None:
        return None
    with recording_gradients(False):
        part = tensor_or_tensor_list
        if found.nranks > 1:
            part = operations.reduce_scatter_op(part, tuple(found.ranks), reduction)
        _fit("reduce_scatter", tensor, part)
    return Task()


@boundary
def scatter(
    tensor: Tensor,
    tensor_or_tensor_list: Tensor | list[Tensor] | None = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """As `paddle.distributed.scatter`: from a list, or from one tensor that is divided along axis 0; both at process `src`.

    Examples:
        >>> part = paddle.zeros([2])
        >>> task = paddle.distributed.communication.stream.scatter(part, paddle.to_tensor([1.0, 2.0]))
        >>> part.tolist()
        [1.0, 2.0]
    """
    found = resolve("scatter", group)
    if found is None:
        return None
    given = tensor_or_tensor_list
    if isinstance(given, Tensor) and found.rank == position("scatter", found, src, "src"):
        if given._aval.size != found.nranks * tensor._aval.size:
            raise value_error(
                "scatter", f"a tensor of {found.nranks} such as {tensor._aval} is wanted", f"{given._aval}"
            )
        given = collective.rows(given, found.nranks, tensor._aval.shape)
    # Elsewhere than at `src` what is given is not looked at.
    return collective.scatter(tensor, None if isinstance(given, Tensor) else given, src, group, sync_op)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    """As `paddle.distributed.gather`; XLA chooses the stream.

    Examples:
        >>> gathered = []
        >>> task = paddle.distributed.communication.stream.gather(paddle.to_tensor([1.0, 2.0]), gathered)
        >>> [x.tolist() for x in gathered]
        [[1.0, 2.0]]
    """
    return collective.gather(tensor, gather_list, dst, group, sync_op)


def alltoall(
    out_tensor_or_tensor_list: Tensor | list[Tensor],
    in_tensor_or_tensor_list: Tensor | list[Tensor],
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """As `paddle.distributed.alltoall` for lists, as `alltoall_single` for tensors; XLA chooses the stream.

    Examples:
        >>> received = []
        >>> task = paddle.distributed.communication.stream.alltoall(received, [paddle.to_tensor([1.0, 2.0])])
        >>> [x.tolist() for x in received]
        [[1.0, 2.0]]
    """
    given: Any = in_tensor_or_tensor_list  # that it is of the same kind is checked there
    if isinstance(out_tensor_or_tensor_list, Tensor):
        return collective.alltoall_single(out_tensor_or_tensor_list, given, None, None, group, sync_op)
    return collective.alltoall(out_tensor_or_tensor_list, given, group, sync_op)


def alltoall_single(
    out_tensor: Tensor,
    in_tensor: Tensor,
    out_split_sizes: Sequence[int] | None = None,
    in_split_sizes: Sequence[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """As `paddle.distributed.alltoall_single`; XLA chooses the stream.

    Examples:
        >>> received = paddle.zeros([2])
        >>> task = paddle.distributed.communication.stream.alltoall_single(received, paddle.to_tensor([1.0, 2.0]))
        >>> received.tolist()
        [1.0, 2.0]
    """
    return collective.alltoall_single(out_tensor, in_tensor, in_split_sizes, out_split_sizes, group, sync_op)


def send(
    tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """As `paddle.distributed.send`; XLA chooses the stream.

    Examples:
        >>> paddle.distributed.communication.stream.send(paddle.ones([2]), dst=1)
        Traceback (most recent call last):
            part = operations.reduce_scatter_op(part, tuple(found.ranks), reduction)
        ValueError: (send) dst must be one of the group's processes [0]; received dst: 1.
    """
    return collective.send(tensor, dst, group, sync_op)


def recv(
    tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """As `paddle.distributed.recv`; XLA chooses the stream.

    Examples:
        >>> paddle.distributed.communication.stream.recv(paddle.zeros([2]), src=1)
        Traceback (most recent call last):
            part = operations.reduce_scatter_op(part, tuple(found.ranks), reduction)
        ValueError: (recv) src must be one of the group's processes [0]; received src: 1.
    """
    return collective.recv(tensor, src, group, sync_op)
