"""Samples to batches: stacking field by field, and arrays to tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.dtype import is_supported
from ...core.errors import type_error, value_error
from ...core.place import CPU, Place
from ...eager.tensor import Tensor, move_value, tensor_from_data, wrap

Allocate = Callable[[tuple[int, ...], np.dtype], np.ndarray]


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """A list of samples as one batch.

    Arrays and tensors are stacked, numbers become arrays, lists and dicts go field by field, text stays a list.

    Args:
        batch: the samples.

    Raises:
        ValueError: their shapes or numbers of fields differ.
        TypeError: something of another kind is in them.

    Examples:
        >>> paddle.io.default_collate_fn([{"x": np.array([1, 2]), "name": "a"}, {"x": np.array([3, 4]), "name": "b"}])
        {'x': array([[1, 2],
               [3, 4]]), 'name': ['a', 'b']}
    """
    return collate(batch, np.empty)


def default_convert_fn(batch: Any) -> Any:
    """A sample as it is given out when there are no batches: lists for tuples, everything else unchanged.

    Args:
        batch: the sample.

    Examples:
        >>> paddle.io.default_convert_fn((1, {"names": ("a", "b")}))
        [1, {'names': ['a', 'b']}]
    """
    if isinstance(batch, (str, bytes, np.ndarray, Tensor)):
        return batch
    if isinstance(batch, Mapping):
        return {key: default_convert_fn(value) for key, value in batch.items()}
    if isinstance(batch, Sequence):
        return [default_convert_fn(value) for value in batch]
    return batch


def collate(batch: Sequence[Any], allocate: Allocate) -> Any:
    """`default_collate_fn` with a say in where the stacked arrays lie."""
    if len(batch) == 0:
        raise IndexError("(default_collate_fn) a batch of no samples cannot be collated.")
    first = batch[0]
    if isinstance(first, np.ndarray):
        return _stack(batch, allocate)
    if isinstance(first, Tensor):
        return wrap(_stack([np.asarray(sample._data()) for sample in batch], allocate))
    if isinstance(first, (Number, np.generic)):
        return np.array(batch)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        missing = next((sample for sample in batch if sample.keys() != first.keys()), None)
        if missing is not None:
            raise KeyError(
                "(default_collate_fn) samples of a batch must have the same keys; received "
                f"{sorted(map(str, first))} and {sorted(map(str, missing))}."
            )
        return {key: collate([sample[key] for sample in batch], allocate) for key in first}
    if isinstance(first, Sequence):
        lengths = {len(sample) for sample in batch}
        if len(lengths) > 1:
            raise value_error(
                "default_collate_fn", "samples of a batch must have equally many fields", f"lengths {sorted(lengths)}",
                "pad them, or give the loader a collate_fn",
            )  # fmt: skip
        return [collate(field, allocate) for field in zip(*batch, strict=True)]
    raise type_error(
        "default_collate_fn", "a sample is made of tensors, arrays, numbers, text, lists and dicts",
        type(first).__name__, "convert it, or give the loader a collate_fn",
    )  # fmt: skip


def _stack(samples: Sequence[Any], allocate: Allocate) -> np.ndarray:
    first = samples[0]
    shape, dtype = first.shape, first.dtype
    for position, sample in enumerate(samples):
        if not isinstance(sample, np.ndarray) or sample.shape != shape:
            found = f"{sample.dtype}{list(sample.shape)}" if isinstance(sample, np.ndarray) else type(sample).__name__
            raise value_error(
                "default_collate_fn", "arrays of a batch must have equal shapes",
                f"{dtype}{list(shape)} for sample 0 and {found} for sample {position}",
                "pad or crop them, or give the loader a collate_fn",
            )  # fmt: skip
        if sample.dtype != dtype:
            dtype = np.result_type(dtype, sample.dtype)
    stacked = allocate((len(samples), *shape), dtype)
    for position, sample in enumerate(samples):
        stacked[position] = sample
    return stacked


def to_tensors(batch: Any, place: Place, owned: bool) -> Any:
    """The batch with tensors for its arrays. `owned`: nobody else will change the arrays, they need not be copied."""
    if isinstance(batch, np.ndarray):
        if not is_supported(batch.dtype):
            return batch
        if not owned:
            return tensor_from_data(batch, place=place)
        return wrap(batch if place is CPU else move_value(batch, place), make_aval(batch.shape, batch.dtype, place))
    if isinstance(batch, Tensor):
        return batch._to_place(place)
    if isinstance(batch, (list, tuple)):
        items = [to_tensors(item, place, owned) for item in batch]
        if isinstance(batch, list):
            return items
        return type(batch)(*items) if hasattr(batch, "_fields") else tuple(items)
    if type(batch) is dict:
        return {key: to_tensors(value, place, owned) for key, value in batch.items()}
    if isinstance(batch, Mapping) and hasattr(batch, "copy"):
        copied: Any = batch.copy()  # pyright: ignore[reportAttributeAccessIssue]
        for key, value in batch.items():
            copied[key] = to_tensors(value, place, owned)
        return copied
    return batch
