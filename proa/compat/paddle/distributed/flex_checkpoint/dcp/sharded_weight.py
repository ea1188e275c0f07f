"""Inner names of `paddle.distributed.flex_checkpoint.dcp.sharded_weight`."""

from ......distributed.checkpoint.sharded_weight import (
    ShardedWeight,
    build_sharded_state_dict,
    create_sharded_weight_with_new_local,
    make_replicated_sharded_weight,
    make_tp_sharded_weight_for_checkpoint,
    shard_weight,
)

__all__ = [
    "ShardedWeight", "build_sharded_state_dict", "create_sharded_weight_with_new_local",
    "make_replicated_sharded_weight", "make_tp_sharded_weight_for_checkpoint", "shard_weight",
]  # fmt: skip
