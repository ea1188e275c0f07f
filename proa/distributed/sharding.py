"""`paddle.distributed.sharding`: optimiser state divided among processes; one process keeps it whole."""

from __future__ import annotations

import os
from typing import Any

from ..core.errors import value_error
from ..framework.io import save
from .environment import require_one_process


def group_sharded_parallel(
    model: Any, optimizer: Any, level: str, scaler: Any = None, group: Any = None, offload: bool = False,
    sync_buffers: bool = False, buffer_max_size: int = 2**23, segment_size: int = 2**20, sync_comm: bool = False,
    dp_group: Any = None, exclude_layer: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Model, optimiser and scaler, as they are."""
    require_one_process("group_sharded_parallel")
    if level not in ("os", "os_g", "p_g_os"):
        raise value_error("group_sharded_parallel", "level must be 'os', 'os_g' or 'p_g_os'", repr(level))
    return model, optimizer, scaler


def save_group_sharded_model(model: Any, output: str, optimizer: Any = None) -> None:
    """Writes `model.pdmodel` and, with an optimiser, `model.pdopt` into a folder: the states, as Paddle names the files."""
    os.makedirs(output, exist_ok=True)
    save(model.state_dict(), os.path.join(output, "model.pdmodel"))
    if optimizer is not None:
        save(optimizer.state_dict(), os.path.join(output, "model.pdopt"))
