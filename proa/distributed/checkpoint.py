"""Checkpoints of a job: a folder with a file for each process, of which there is one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..core.errors import value_error
from ..eager.tensor import Tensor
from ..framework.io import async_save as save_in_background
from ..framework.io import load, save
from .environment import require_one_process

_FILE = "0_0.distcp"  # Paddle's name: process 0, first checkpoint


def _flat(state: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in state.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def save_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Any = None, coordinator_rank: int = 0,
    unique_id: int | None = None, async_save: bool = False, safetensors: bool = False, **options: Any,
) -> None:  # fmt: skip
    """Writes the tensors of a (nested) state dictionary into a folder."""
    require_one_process("save_state_dict")
    os.makedirs(path, exist_ok=True)
    (save_in_background if async_save else save)(dict(_flat(state_dict)), os.path.join(path, _FILE))


def load_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Any = None, coordinator_rank: int = 0,
    unique_id: int | None = None, offload: bool = False, aoa_config: Any = None, safetensors: bool = False, **options: Any,
) -> None:  # fmt: skip
    """Fills the tensors of a (nested) state dictionary from such a folder, in place."""
    require_one_process("load_state_dict")
    found = load(os.path.join(path, _FILE))
    for name, value in _flat(state_dict):
        if name not in found:
            raise value_error("load_state_dict", f"the checkpoint has no {name!r}", f"{sorted(found)[:10]}")
        if isinstance(value, Tensor):
            value.set_value(found[name])
