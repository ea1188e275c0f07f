"""What of a state dictionary lies in this process: blocks of tensors, by device, and who of several holders writes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import failed_type_check, type_error, value_error
from ...eager.tensor import Tensor
from .processes import Processes
from .sharded_weight import ShardedWeight

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)


@dataclass
class Piece:
    """A block that this process holds; `source` is its array, on whatever device, and `whole` the array that it is of."""

    key: str
    device: int
    offset: tuple[int, ...]
    shape: tuple[int, ...]
    global_shape: tuple[int, ...]
    dtype: str
    num_bytes: int
    source: Any
    flat: tuple[int, int] | None = None
    whole: Any = None

    def label(self) -> tuple[Any, ...]:
        """What other processes must know of it."""
        return self.key, self.device, list(self.offset), list(self.shape), self.flat and list(self.flat), self.num_bytes


def flatten(state_dict: Any, where: str) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """The values under names joined by dots, and the path through the dictionaries that each name stands for."""
    if not isinstance(state_dict, dict):
        raise failed_type_check(where, "state_dict must be a dictionary", type(state_dict).__name__)
    values: dict[str, Any] = {}
    paths: dict[str, tuple[str, ...]] = {}
    for path, value in _leaves(state_dict, (), where):
        name = ".".join(path)
        if name in values:
            raise value_error(where, "two values have the same name", f"{paths[name]} and {path}", "rename one of them")
        values[name], paths[name] = value, path
    return values, paths


def _leaves(state: dict[Any, Any], path: tuple[str, ...], where: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in state.items():
        if not isinstance(key, str):
            raise type_error(where, "names must be strings", f"{type(key).__name__} {key!r} under {'.'.join(path)!r}")
        # A dictionary without anything in it is a value: nothing else would say that it was there.
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key), where)
        else:
            yield (*path, key), value


def is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, ShardedWeight))


def checked_value(name: str, value: Any) -> Any:
    """A value that is no tensor, if a file can hold it."""
    if isinstance(value, (list, tuple)):
        return (
            type(value)([checked_value(name, item) for item in value])
            if type(value) in (list, tuple)
            else _refuse(name, value)
        )
    if isinstance(value, dict):
        return {checked_value(name, key): checked_value(name, item) for key, item in value.items()}
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.dtype.fields is None:
        return np.array(value)
    return _refuse(name, value)


def _refuse(name: str, value: Any) -> Any:
    raise type_error(
        "save_state_dict", "a checkpoint holds tensors, arrays, numbers, strings, lists and dictionaries",
        f"{type(value).__name__} under {name!r}", "leave it out, or save what it is made of",
    )  # fmt: skip


def spans_devices(value: Any) -> bool:
    """Whether an array is a `jax.Array` over several devices, or on one of another process."""
    if isinstance(value, np.ndarray) or not hasattr(value, "sharding"):
        return False
    return len(value.sharding.device_set) > 1 or not value.sharding.is_fully_addressable


def held_pieces(key: str, value: Any, own_device: int) -> list[Piece]:
    """The blocks of a tensor in this process."""
    if isinstance(value, ShardedWeight):
        tensor = value.local_tensor
        local = tensor._aval
        return [
            Piece(
                key, own_device, value.global_offset, value.local_shape, value.global_shape, local.dtype.name,
                _num_bytes(tensor.shape, local.dtype), tensor._data(), value.flat,
            )
        ]  # fmt: skip
    data, aval = value._data(), value._aval
    shape = tuple(aval.shape)
    if not spans_devices(data):
        offset = (0,) * len(shape)
        return [Piece(key, own_device, offset, shape, shape, aval.dtype.name, _num_bytes(shape, aval.dtype), data)]
    numbers = device_numbers()
    pieces = []
    for shard in data.addressable_shards:
        offset, block = block_of(shard.index, shape)
        size = _num_bytes(block, aval.dtype)
        number = numbers[shard.device]
        pieces.append(Piece(key, number, offset, block, shape, aval.dtype.name, size, shard.data, whole=data))
    return pieces


def block_of(index: tuple[slice, ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Offset and shape of the block that slices cut out of an array."""
    spans = [part.indices(size)[:2] for part, size in zip(index, shape)]
    return tuple(start for start, _ in spans), tuple(stop - start for start, stop in spans)


def device_numbers() -> dict[Any, int]:
    """The number of each device of the job: a process of a `ProcessMesh`."""
    import jax

    return {device: number for number, device in enumerate(jax.devices())}


def first_local_device() -> int:
    """The number of the device on which this process keeps tensors of its own."""
    import jax

    return device_numbers()[jax.local_devices()[0]] if jax.process_count() > 1 else 0


def array_of(source: Any, buffer: np.ndarray | None = None) -> np.ndarray:
    """The numbers of a piece on the host: in `buffer` if there is one, otherwise where they lie, if that is the host."""
    array = np.asarray(source)
    if buffer is None:
        return np.ascontiguousarray(array).reshape(array.shape)
    np.copyto(buffer, array.reshape(buffer.shape))
    return buffer


def own_pieces(processes: Processes, values: dict[str, Any], replicas: bool) -> list[Piece]:
    """What this process writes of a flat state dictionary; asked by all processes."""
    own = first_local_device()
    pieces = [piece for key, value in values.items() if is_tensor(value) for piece in held_pieces(key, value, own)]
    labels = processes.exchange([piece.label() for piece in pieces])
    chosen = choose_writers(labels, replicas)[processes.ranks.index(processes.rank)]
    return [p for p in pieces if (p.key, p.device, p.offset, p.flat) in chosen]


def choose_writers(labels: list[list[Any]], replicas: bool) -> list[set[tuple[Any, ...]]]:
    """For each process the pieces, as (key, device, offset, flat), that it writes.

    Every block is written once, by the holder that has the least to write so far; all processes come to the same answer.
    With `replicas` everybody writes all that it holds.
    """
    holders: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    sizes: dict[tuple[Any, ...], int] = {}
    shapes: dict[tuple[Any, ...], Any] = {}
    for process, pieces in enumerate(labels):
        for key, device, offset, shape, flat, num_bytes in pieces:
            block = (key, tuple(offset), tuple(flat) if flat else None)
            if shapes.setdefault(block, shape) != shape:
                raise value_error(
                    "save_state_dict", f"processes hold different parts of {key!r} under one name and place",
                    f"shapes {shapes[block]} and {shape}", "say which block each holds: shard_tensor() or ShardedWeight",
                )  # fmt: skip
            holders.setdefault(block, []).append((process, device))
            sizes[block] = num_bytes
    load: dict[int, int] = {}
    chosen: list[set[tuple[Any, ...]]] = [set() for _ in labels]
    for block in sorted(sizes, key=lambda block: (-sizes[block], str(block))):
        key, offset, flat = block
        writers = (
            holders[block] if replicas else [min(holders[block], key=lambda holder: (load.get(holder[1], 0), holder))]
        )
        for process, device in writers:
            chosen[process].add((key, device, offset, flat))
            load[device] = load.get(device, 0) + sizes[block]
    return chosen


def _num_bytes(shape: Any, dtype: Any) -> int:
    return int(np.prod(tuple(shape), dtype=np.int64)) * np.dtype(dtype).itemsize
