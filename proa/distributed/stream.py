"""`paddle.distributed.communication.stream`: the collectives with a choice of stream, which XLA makes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:  # fmt: skip
    return collective.all_reduce(tensor, op, group, sync_op)


def _fit(where: str, tensor: Tensor, whole: Tensor) -> None:
    """Puts what came into a tensor that has room for it, whatever its shape."""
    if whole._aval.size != tensor._aval.size or whole._aval.dtype != tensor._aval.dtype:
        raise value_error(where, f"what comes is {whole._aval}", f"a tensor for it of {tensor._aval}")
    replace_value(tensor, reshape_to(whole, tensor._aval.shape))


@boundary
def all_gather(
    tensor_or_tensor_list: Any, tensor: Tensor, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:  # fmt: skip
    """Into a list, or into one tensor that holds the gathered ones one after another."""
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
    tensor: Tensor, src: int, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    return collective.broadcast(tensor, src, group, sync_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    return collective.reduce(tensor, dst, op, group, sync_op)


@boundary
def reduce_scatter(
    tensor: Tensor, tensor_or_tensor_list: Any, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    """From a list, or from one tensor that is divided along axis 0."""
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
    tensor: Tensor, tensor_or_tensor_list: Any = None, src: int = 0, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    """From a list, or from one tensor that is divided along axis 0; both at process `src`."""
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
    return collective.scatter(tensor, given, src, group, sync_op)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    return collective.gather(tensor, gather_list, dst, group, sync_op)


def alltoall(
    out_tensor_or_tensor_list: Any, in_tensor_or_tensor_list: Any, group: Any = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    if isinstance(out_tensor_or_tensor_list, Tensor):
        return collective.alltoall_single(
            out_tensor_or_tensor_list, in_tensor_or_tensor_list, None, None, group, sync_op
        )
    return collective.alltoall(out_tensor_or_tensor_list, in_tensor_or_tensor_list, group, sync_op)


def alltoall_single(
    out_tensor: Tensor, in_tensor: Tensor, out_split_sizes: Sequence[int] | None = None,
    in_split_sizes: Sequence[int] | None = None, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False,
) -> Task | None:  # fmt: skip
    return collective.alltoall_single(out_tensor, in_tensor, in_split_sizes, out_split_sizes, group, sync_op)


def send(
    tensor: Tensor, dst: int = 0, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    return collective.send(tensor, dst, group, sync_op)


def recv(
    tensor: Tensor, src: int = 0, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    return collective.recv(tensor, src, group, sync_op)
