"""Inner names of `paddle.distributed.flex_checkpoint.dcp.save_state_dict`."""

from ......distributed.checkpoint import save_state_dict
from ......framework.background import clear_async_save_task_queue

__all__ = ["clear_async_save_task_queue", "save_state_dict"]
