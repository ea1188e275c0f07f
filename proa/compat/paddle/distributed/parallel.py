"""Inner names of `paddle.distributed.parallel`."""

import types

from ....distributed.environment import get_world_size, is_initialized
from ....distributed.parallel import sync_params_buffers

parallel_helper = types.SimpleNamespace(
    _is_parallel_ctx_initialized=is_initialized, _is_data_parallel_mode=lambda: get_world_size() > 1
)

__all__ = ["parallel_helper", "sync_params_buffers"]
