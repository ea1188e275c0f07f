"""What parallel layers do between the processes of a group, with gradients; in a group of one, nothing.

The loss is the same in all processes of the group, so a gradient is complete in each of them: what was the same everywhere
before a division is summed over the parts behind it, and a sum passes its gradient on as it is.
"""

from __future__ import annotations

from typing import Any

from .....autograd.py_layer import PyLayer
from .....eager.tensor import Tensor
from .....ir.recorder import recording_gradients
from .....nn import functional as F
from .....ops.shape.joining import concat, split
from ....collective import reduction_of
from ....group import Group, resolve
from ....transport.operations import all_gather_op, all_reduce_op, sum_backward, sum_forward


def _ranks(where: str, group: Group | None) -> tuple[int, ...]:
    """The processes that take part; none where this one does not, or is alone."""
    found = resolve(where, group)
    return tuple(found.ranks) if found is not None and found.nranks > 1 else ()


def _c_identity(tensor: Tensor, group: Group | None = None, skip_c_identity_dynamic: bool = False) -> Tensor:
    """The tensor; its gradient is summed over the group."""
    ranks = _ranks("_c_identity", group)
    return sum_backward(tensor, ranks) if ranks else tensor


def _gathered_last(x: Tensor, ranks: tuple[int, ...]) -> Tensor:
    """The parts of all processes side by side along the last axis."""
    whole = all_gather_op(x.reshape([1, *x.shape]), ranks)
    return concat([whole[number] for number in range(len(ranks))], axis=-1)


def _own_last(x: Tensor, ranks: tuple[int, ...], position: int) -> Tensor:
    return split(x, len(ranks), axis=-1)[position]


class _Gather(PyLayer):
    """The gradient of the whole is the same in every process: each takes its part of it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ranks: tuple[int, ...], position: int) -> Tensor:
        ctx.ranks, ctx.position = ranks, position
        return _gathered_last(x, ranks)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _own_last(gradient, ctx.ranks, ctx.position)


class _Divide(PyLayer):
    """The gradients of the parts, gathered."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ranks: tuple[int, ...], position: int) -> Tensor:
        ctx.ranks = ranks
        return _own_last(x, ranks, position)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _gathered_last(gradient, ctx.ranks)


def _c_concat(tensor: Tensor, group: Group | None = None) -> Tensor:
    """The parts of all processes, side by side along the last axis; each part's gradient is its part of the whole's."""
    ranks = _ranks("_c_concat", group)
    if not ranks:
        return tensor
    return _Gather.apply(tensor, ranks, resolve("_c_concat", group).rank)  # type: ignore[union-attr]


def _c_split(tensor: Tensor, group: Group | None = None) -> Tensor:
    """This process's part along the last axis; the gradients of all parts are gathered."""
    ranks = _ranks("_c_split", group)
    if not ranks:
        return tensor
    return _Divide.apply(tensor, ranks, resolve("_c_split", group).rank)  # type: ignore[union-attr]


def _mp_allreduce(
    tensor: Tensor, op: Any = None, group: Group | None = None, use_calc_stream: bool = True,
    use_model_parallel: bool = True, skip_c_identity_dynamic: bool = False,
) -> Tensor:  # fmt: skip
    """The sum over the group; its gradient is passed on as it is, or, without `use_model_parallel`, summed as well."""
    ranks = _ranks("_mp_allreduce", group)
    if not ranks:
        return tensor
    if use_model_parallel:
        return sum_forward(tensor, ranks)
    return all_reduce_op(tensor, "sum" if op is None else reduction_of("_mp_allreduce", op, tensor), ranks)


def _c_lookup_table(
    table: Tensor, index: Tensor, start_index: int = 0, vocab_size: int = -1, name: str | None = None
) -> Tensor:
    """Rows of this process's part of a table, which begins with row `start_index`; zeros for rows that others have."""
    rows = table.shape[0]
    if start_index == 0 and vocab_size in (-1, rows):
        return F.embedding(index, table)
    local = index - start_index
    here = (local >= 0).logical_and(local < rows)
    found = F.embedding(local * here.astype(local.dtype), table)
    return found * here.astype(found.dtype).unsqueeze(-1)


def _c_softmax_with_cross_entropy(
    logits: Tensor, label: Tensor, group: Group | None = None, return_softmax: bool = False, ignore_index: int = -100
) -> Any:
    """Cross entropy over classes that are divided among processes; a loss for each sample, `[..., 1]`."""
    indices = label.unsqueeze(-1) if label.ndim == logits.ndim - 1 else label
    ranks = _ranks("_c_softmax_with_cross_entropy", group)
    if not ranks:
        return F.softmax_with_cross_entropy(logits, indices, ignore_index=ignore_index, return_softmax=return_softmax)
    position, classes = resolve("_c_softmax_with_cross_entropy", group).rank, logits.shape[-1]  # type: ignore[union-attr]
    with recording_gradients(False):
        highest = all_reduce_op(logits.max(axis=-1, keepdim=True), "max", ranks)
        local = indices - position * classes
        here = (local >= 0).logical_and(local < classes)
        chosen = F.one_hot((local * here.astype(local.dtype)).squeeze(-1), classes).astype(logits.dtype)
        chosen = chosen * here.astype(logits.dtype)
    shifted = logits - highest
    exponentials = shifted.exp()
    total = sum_forward(exponentials.sum(axis=-1, keepdim=True), ranks)
    of_label = sum_forward((shifted * chosen).sum(axis=-1, keepdim=True), ranks)
    loss = (total.log() - of_label) * (indices != ignore_index).astype(logits.dtype)
    return (loss, exponentials / total) if return_softmax else loss
