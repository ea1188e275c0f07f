"""`paddle.distributed.utils.moe_utils`: the way of tokens to experts and back."""

from .....distributed.models.moe.routing import global_gather, global_scatter

__all__ = ["global_gather", "global_scatter"]
