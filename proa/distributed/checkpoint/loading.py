"""`load_state_dict`: every process reads just the blocks it needs, however the tensors were spread when they were saved.

A tensor is asked for as blocks (one for each device that holds a part of it); a block is put together from the parts of
the checkpoint that overlap with it. Nothing is exchanged between processes: all read the same folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...core.tracebacks import boundary
from ...eager.tensor import tensor_from_data
from ...framework import background
from .files import Reader
from .metadata import Catalogue, Part
from .opening import open_checkpoint
from .pieces import block_of, flatten, is_tensor, spans_devices
from .processes import Processes
from .sharded_weight import ShardedWeight

if TYPE_CHECKING:
    from ..group import Group

_COMMUNICATION = ("send_recv", "broadcast", "multi_group_broadcast", "grouped_send_recv")


@boundary
def load_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Group | None = None, coordinator_rank: int = 0,
    unique_id: int | None = None, offload: bool = False, mw_name_compatibility: bool = True, aoa_config: Any = None,
    safetensors: bool = False, worker_groups: Any = None, comm_method: str = "broadcast",
) -> None:  # fmt: skip
    """Fills the tensors of a (nested) state dictionary, in place, from a checkpoint in the folder `path`.

    The checkpoint may have been saved by any number of processes and devices, by Paddle as well; every tensor keeps its own
    placement and data type. `unique_id` is the number of a checkpoint, otherwise the last is taken. `path` may also be a
    folder of safetensors (`model.safetensors`, or several with their `model.safetensors.index.json`) or such a file.
    Values that are no tensors are replaced by those of the checkpoint. Names and shapes are compared before anything is
    changed, and checksums as files are read: a damaged file is named.

    Every process reads what it needs from the folder, so that `worker_groups`, `comm_method` and `offload` have nothing to
    decide; names are the same in eager and static code, which is what `mw_name_compatibility` is about.

    Examples:
        >>> model = paddle.nn.Linear(2, 1)
        >>> paddle.distributed.save_state_dict({"model": model.state_dict()}, "checkpoints")
        >>> other = paddle.nn.Linear(2, 1)
        >>> paddle.distributed.load_state_dict({"model": other.state_dict()}, "checkpoints")
        >>> bool((other.weight == model.weight).all())
        True
    """
    if aoa_config:
        raise no_conversion("load_state_dict")
    if comm_method not in _COMMUNICATION:
        raise value_error("load_state_dict", f"comm_method must be one of {_COMMUNICATION}", repr(comm_method))
    background.clear_async_save_task_queue()
    processes = Processes("load_state_dict", process_group, coordinator_rank)
    folder_path, catalogue = open_checkpoint(path, unique_id, processes)
    values, paths = flatten(state_dict, "load_state_dict")
    targets = {key: value for key, value in values.items() if is_tensor(value)}
    _check_names(path, catalogue, values, targets)
    for key, target in targets.items():
        _check_shape(path, key, target, catalogue.parts[key])
    with Reader(folder_path, catalogue.sizes) as reader:
        reader.check(part.file for key in targets for part in catalogue.parts[key])
        for key, target in targets.items():
            _fill(target, Blocks(reader, catalogue.parts[key]))
    for key in values.keys() - targets.keys():
        _put(state_dict, paths[key], catalogue.values[key])


def no_conversion(where: str) -> NotImplementedError:
    return NotImplementedError(
        f"({where}) aoa_config, which renames, joins and cuts tensors while they are loaded, is not there; load the tensors "
        "with load_merged_state_dict() and change the dictionary."
    )


def _check_names(path: Any, catalogue: Catalogue, values: dict[str, Any], targets: dict[str, Any]) -> None:
    missing = [key for key in values if key not in (catalogue.parts if key in targets else catalogue.values)]
    if missing:
        there = sorted({*catalogue.parts, *catalogue.values})
        raise value_error(
            "load_state_dict", f"the checkpoint in {os.fspath(path)!r} has no {', '.join(map(repr, missing[:10]))}",
            f"{len(missing)} such names; it has {there[:10]}" + (f" and {len(there) - 10} more" * (len(there) > 10)),
            "load a state dictionary of the same structure as was saved, or a part of it",
        )  # fmt: skip


def _check_shape(path: Any, key: str, target: Any, parts: list[Part]) -> None:
    expected = target.global_shape if isinstance(target, ShardedWeight) else tuple(target.shape)
    if tuple(expected) != parts[0].global_shape:
        raise value_error(
            "load_state_dict", f"{key!r} has another shape in the checkpoint in {os.fspath(path)!r}",
            f"tensor: {list(expected)}, checkpoint: {list(parts[0].global_shape)}",
        )  # fmt: skip


class Blocks:
    """One tensor of a checkpoint, read block by block."""

    def __init__(self, reader: Reader, parts: list[Part]) -> None:
        self._reader = reader
        self.shape = parts[0].global_shape
        self.dtype = to_numpy_dtype(parts[0].dtype)
        # Copies of a block are one block; parts of a block that was divided further come together.
        self._blocks: dict[tuple[Any, Any], dict[Any, Part]] = {}
        for part in parts:
            self._blocks.setdefault((part.offset, part.shape), {}).setdefault(part.flat, part)
        self._read: dict[Any, np.ndarray] = {}

    def take(self, offset: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
        """A block, in memory of its own."""
        found = np.empty(shape, self.dtype)
        filled = 0
        for block, parts in self._blocks.items():
            starts = [max(*pair) for pair in zip(offset, block[0])]
            stops = [min(a + m, b + n) for a, m, b, n in zip(offset, shape, *block)]
            if any(stop <= start for start, stop in zip(starts, stops)):
                continue
            into = tuple(slice(a - start, b - start) for a, b, start in zip(starts, stops, offset))
            out_of = tuple(slice(a - start, b - start) for a, b, start in zip(starts, stops, block[0]))
            source = self._numbers(block, parts)[out_of]
            found[into] = source
            filled += source.size
        if filled != found.size:
            key = next(iter(next(iter(self._blocks.values())).values())).key
            raise value_error(
                "load_state_dict", f"the checkpoint has not all of {key!r}",
                f"{filled} of the {found.size} elements of the block {list(shape)} at {list(offset)}",
            )  # fmt: skip
        return found

    def _numbers(self, block: tuple[Any, Any], parts: dict[Any, Part]) -> np.ndarray:
        if block not in self._read:
            if None in parts:
                self._read[block] = self._reader.read(parts[None])
            else:
                ordered = sorted(parts.values(), key=lambda part: part.flat or (0, 0))
                flat = np.concatenate([self._reader.read(part) for part in ordered])
                self._read[block] = flat.reshape(block[1])
        return self._read[block]


def _fill(target: Any, blocks: Blocks) -> None:
    if isinstance(target, ShardedWeight):
        array = blocks.take(target.global_offset, target.local_shape)
        array = array if target.flat is None else array.reshape(-1)[slice(*target.flat)]
        tensor = target.local_tensor
        tensor.set_value(_converted(array.reshape(tensor.shape), tensor._aval.dtype))
        return
    data, dtype = target._data(), target._aval.dtype
    if not spans_devices(data):
        target.set_value(_converted(blocks.take((0,) * len(blocks.shape), blocks.shape), dtype))
        return
    if not data.sharding.addressable_devices:
        return  # nothing of it lies in this process
    import jax

    taken: dict[Any, np.ndarray] = {}  # devices that hold the same block get the same array

    def block(index: Any) -> np.ndarray:
        place = block_of(index, blocks.shape)
        if place not in taken:
            taken[place] = _converted(blocks.take(*place), dtype)
        return taken[place]

    target.set_value(tensor_from_data(jax.make_array_from_callback(blocks.shape, data.sharding, block)))


def _converted(array: np.ndarray, dtype: Any) -> np.ndarray:
    return array if array.dtype == dtype else array.astype(dtype)


def _put(state_dict: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        state_dict = state_dict[key]
    state_dict[path[-1]] = value
