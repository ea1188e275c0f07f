"""Whole tensors out of a checkpoint: in memory, or as the safetensors that others read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...core.tracebacks import boundary
from ...eager.tensor import Tensor, tensor_from_data
from ...framework import background, safetensors, shards
from ...framework.writing import replacing
from .files import Reader
from .loading import Blocks, no_conversion
from .metadata import Catalogue
from .opening import open_checkpoint
from .processes import Processes


@boundary
def load_merged_state_dict(
    path: str, prefix: str | None = None, unique_id: int | None = None, offload: bool = False, aoa_config: Any = None,
    safetensors: bool = False,
) -> dict[str, Tensor]:  # fmt: skip
    """The tensors of a checkpoint, each whole, under their flat names.

    With `prefix` only those below that name ("model" for what was saved as `{"model": ...}`), without it.

    Args:
        path: the folder that `save_state_dict` wrote.
        prefix: a name that others begin with.
        unique_id: which checkpoint of the folder; None: the newest.
        offload: taken; it changes nothing.
        aoa_config: not there: NotImplementedError.
        safetensors: taken; what the files are is found out.

    Examples:
        >>> paddle.distributed.save_state_dict({"model": {"w": paddle.to_tensor([1.0, 2.0])}}, "saved")
        >>> paddle.distributed.load_merged_state_dict("saved", prefix="model")["w"].tolist()
        [1.0, 2.0]
    """
    if aoa_config:
        raise no_conversion("load_merged_state_dict")
    background.clear_async_save_task_queue()
    folder, catalogue = open_checkpoint(path, unique_id)
    names = _names(catalogue, prefix, ())
    with Reader(folder, catalogue.sizes) as reader:
        reader.check(part.file for key in names.values() for part in catalogue.parts[key])
        return {name: tensor_from_data(_whole(reader, catalogue, key)) for name, key in names.items()}


@boundary
def merge_sharded_state_dict(
    load_path: str, save_path: str, prefix: str | None = None, safetensor_prefix: str = "model",
    skip_postfix_list: Sequence[str] = (), process_group: Any = None, unique_id: int | None = None,
    offload: bool = False, aoa_config: Any = None, safetensors: bool = False, *, max_file_bytes: int = shards.FILE_BYTES,
) -> None:  # fmt: skip
    """Writes the whole tensors of a checkpoint as safetensors with an index, as Hugging Face and Paddle exchange models.

    `prefix` as in `load_merged_state_dict`; tensors whose names end with one of `skip_postfix_list` are left out. The files
    are `model-00001-of-00003.safetensors` … and `model.safetensors.index.json` (`safetensor_prefix` is their first word);
    no file is larger than `max_file_bytes`, unless one tensor is. The processes of a group share the work.
    """
    if aoa_config:
        raise no_conversion("merge_sharded_state_dict")
    if max_file_bytes < 1:
        raise value_error("merge_sharded_state_dict", "max_file_bytes must be at least 1", repr(max_file_bytes))
    background.clear_async_save_task_queue()
    processes = Processes("merge_sharded_state_dict", process_group, 0)
    folder, catalogue = open_checkpoint(load_path, unique_id, processes)
    names = _names(catalogue, prefix, tuple(skip_postfix_list))
    sizes = {name: _num_bytes(catalogue, key) for name, key in names.items()}
    groups = list(shards.grouped(sizes, max_file_bytes))
    files = shards.file_names(safetensor_prefix, len(groups))
    os.makedirs(save_path, exist_ok=True)
    with Reader(folder, catalogue.sizes) as reader:
        reader.check(part.file for key in names.values() for part in catalogue.parts[key])
        turn = processes.ranks.index(processes.rank)
        for file, group in list(zip(files, groups))[turn :: len(processes.ranks)]:
            _write(os.path.join(save_path, file), {name: _whole(reader, catalogue, names[name]) for name in group})
    processes.exchange(None)  # the index comes last, when all files are there
    if processes.is_coordinator:
        target = os.path.realpath(os.path.join(save_path, safetensor_prefix + shards.INDEX))
        with replacing(target) as file:
            file.write(shards.index_text(sizes, files, groups))
    processes.exchange(None)


def _write(target: str, arrays: dict[str, np.ndarray]) -> None:
    with replacing(os.path.realpath(target)) as file:
        safetensors.write(file, arrays)


def _names(catalogue: Catalogue, prefix: str | None, skipped: tuple[str, ...]) -> dict[str, str]:
    """The name that each tensor gets, and the one it has."""
    begin = "" if not prefix else f"{prefix}."
    names = {
        key[len(begin) :]: key
        for key in catalogue.parts
        if key.startswith(begin) and not (skipped and key.endswith(skipped))
    }
    if not names:
        raise value_error(
            "load_merged_state_dict", f"the checkpoint has no tensor below {prefix!r}",
            f"it has {sorted(catalogue.parts)[:10]}",
        )  # fmt: skip
    return names


def _whole(reader: Reader, catalogue: Catalogue, key: str) -> np.ndarray:
    blocks = Blocks(reader, catalogue.parts[key])
    return blocks.take((0,) * len(blocks.shape), blocks.shape)


def _num_bytes(catalogue: Catalogue, key: str) -> int:
    part = catalogue.parts[key][0]
    return int(np.prod(part.global_shape, dtype=np.int64)) * to_numpy_dtype(part.dtype).itemsize
