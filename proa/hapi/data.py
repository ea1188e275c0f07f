"""What goes into a model: datasets and loaders as batches, a batch as inputs and labels."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import io
from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..ops.create.creation import to_tensor


def as_list(value: Any) -> list[Any]:
    """None as nothing, a tuple or list as it is, anything else as the only entry."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def flatten(batch: Any) -> list[Any]:
    """The entries of a nested batch, in order."""
    if isinstance(batch, Mapping):
        return [leaf for entry in batch.values() for leaf in flatten(entry)]
    if isinstance(batch, (list, tuple)):
        return [leaf for entry in batch for leaf in flatten(entry)]
    return [batch]


def as_tensors(where: str, values: Any) -> list[Any]:
    """A list of tensors from tensors, arrays and numbers, alone or in a list."""
    found: list[Any] = []
    value: Any
    for value in flatten(values) if isinstance(values, Mapping) else as_list(values):
        if value is None or isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (np.ndarray, np.generic, int, float, bool, list, tuple)):
            found.append(to_tensor(value))
        else:
            raise type_error(where, "a batch is made of tensors and arrays", type(value).__name__)
    return found


def count_inputs(network: Any) -> int | None:
    """How many arguments `forward` takes by position; None if any number."""
    try:
        parameters = inspect.signature(network.forward).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return sum(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters
    )


def make_loader(
    where: str,
    data: Any,
    batch_size: int,
    shuffle: bool = False,
    drop_last: bool = False,
    num_workers: int = 0,
) -> Iterable[Any]:
    """Batches of a dataset; anything else that can be iterated is taken for batches already."""
    if isinstance(data, io.Dataset):
        if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise value_error(where, "batch_size must be a positive integer", f"batch_size: {batch_size!r}")
        in_order = isinstance(data, io.IterableDataset)
        return io.DataLoader(
            data,
            batch_size=int(batch_size),
            shuffle=shuffle and not in_order,
            drop_last=drop_last,
            num_workers=num_workers,
        )
    if isinstance(data, (str, bytes)) or not (isinstance(data, Iterable) or hasattr(data, "__getitem__")):
        raise type_error(
            where, "the data must be a Dataset, a DataLoader or an iterable of batches", type(data).__name__
        )
    return data


def length_of(loader: Any) -> int | None:
    """How many batches there are, if that is known before."""
    try:
        return len(loader)
    except (TypeError, RuntimeError, NotImplementedError, AttributeError):
        return None


def sizes_of(where: str, batch_size: Any) -> tuple[Any, Any]:
    """Batch sizes for training and evaluation: one for both, or a pair."""
    if isinstance(batch_size, (list, tuple)):
        if len(batch_size) != 2:
            raise value_error(
                where, "batch_size must be a number, or a pair for training and evaluation", f"{batch_size}"
            )
        return batch_size[0], batch_size[1]
    return batch_size, batch_size


def samples_in(inputs: list[Any]) -> int:
    """The number of samples of a batch: the length of its first input."""
    first = inputs[0] if inputs else None
    return int(first.shape[0]) if isinstance(first, Tensor) and first.ndim else 1
