"""Gradients and parameters of many tensors, exchanged in few large pieces.

Tensors of a dtype are laid end to end into buckets (`packing.py`). A training step is two programs with the exchange between
them: forward and backward, and the update.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.errors import runtime_error
from ..eager.backward.engine import zeros_of
from ..eager.tensor import Tensor, wrap
from ..eager.views import replace_value
from ..ir.recorder import recording_gradients
from .group import Group
from .transport import operations
from .transport.objects import all_gather_object

MEGABYTES = 25


def buckets(tensors: Sequence[Tensor], megabytes: float) -> Iterator[list[Tensor]]:
    """The tensors in groups of one dtype and place and of about that size each, in their order."""
    open_buckets: dict[Any, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        aval = tensor._aval
        bucket, size = open_buckets.get((aval.dtype, aval.place), ([], 0))
        bucket.append(tensor)
        size += aval.size * aval.dtype.itemsize
        if size >= megabytes * 2**20:
            yield bucket
            bucket, size = [], 0
        open_buckets[aval.dtype, aval.place] = (bucket, size)
    yield from (bucket for bucket, _ in open_buckets.values() if bucket)


def average(tensors: Sequence[Tensor], group: Group, megabytes: float = MEGABYTES, reduction: str = "avg") -> None:
    """Gives tensors the mean (or another reduction) of those of all processes, in place."""
    with recording_gradients(False):
        for bucket in buckets(tensors, megabytes):
            _replace(bucket, operations.reduce_all_op(bucket, reduction, tuple(group.ranks)))


def broadcast_from(tensors: Sequence[Tensor], group: Group, source: int, megabytes: float = MEGABYTES) -> None:
    """Gives tensors the values of the process at position `source`, in place."""
    with recording_gradients(False):
        for bucket in buckets(tensors, megabytes):
            _replace(bucket, operations.broadcast_all_op(bucket, tuple(group.ranks), source))


def _replace(tensors: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for tensor, value in zip(tensors, values, strict=True):
        replace_value(tensor, value)


def average_gradients(
    parameters: Sequence[Tensor], group: Group, megabytes: float = MEGABYTES, find_unused: bool = True
) -> None:  # fmt: skip
    """Gives parameters the mean of all processes' gradients.

    With `find_unused` a parameter may be without gradient in some processes, where it counts as zero; one that is without
    in all of them stays so. Otherwise that is an error.
    """
    unused = [parameter for parameter in parameters if parameter._grad is None]
    if find_unused:
        used = wrap(np.array([parameter._grad is not None for parameter in parameters], np.int32))
        with recording_gradients(False):
            somewhere = operations.all_reduce_op(used, "max", tuple(group.ranks)).numpy()
        parameters = [parameter for parameter, any_grad in zip(parameters, somewhere, strict=True) if any_grad]
        for parameter in parameters:
            if parameter._grad is None:
                parameter._grad = zeros_of(parameter._aval)
    elif unused:
        names = ", ".join(str(parameter.name) for parameter in unused[:5])
        raise runtime_error(
            "DataParallel", f"the loss of this process does not depend on {len(unused)} parameters: {names}",
            fix="take them out of the model, or give find_unused_parameters=True",
        )  # fmt: skip
    average([parameter._grad for parameter in parameters], group, megabytes)  # type: ignore[misc]


def require_equal(where: str, parameters: Sequence[tuple[str, Tensor]], group: Group) -> None:
    """RuntimeError where processes have other parameters: names, shapes or dtypes."""
    own = [(name, str(parameter._aval)) for name, parameter in parameters]
    found: list[Any] = []
    all_gather_object(found, own, group)
    for rank, other in zip(group.ranks, found, strict=True):
        if other != own:
            mine, theirs = next(
                ((a, b) for a, b in zip(own, other, strict=False) if a != b),
                (f"{len(own)} parameters", f"{len(other)}"),
            )
            raise runtime_error(
                where, f"process {rank} has other parameters than process {group.ranks[group.rank]}: {theirs}", f"{mine}",
                "make the same model in every process",
            )  # fmt: skip
