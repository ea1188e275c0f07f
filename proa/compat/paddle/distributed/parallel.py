"""Inner names of `paddle.distributed.parallel`."""

import types
from typing import Any

from ....distributed.environment import is_initialized

parallel_helper = types.SimpleNamespace(
    _is_parallel_ctx_initialized=is_initialized, _is_data_parallel_mode=lambda: False
)


def sync_params_buffers(model: Any, comm_group: Any = None, src_rank: int = 0, **kwargs: Any) -> None:
    """All processes begin with the parameters of one: there is one."""
