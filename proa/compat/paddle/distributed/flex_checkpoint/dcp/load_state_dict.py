"""Inner names of `paddle.distributed.flex_checkpoint.dcp.load_state_dict`."""

from ......distributed.checkpoint import load_merged_state_dict, load_state_dict, merge_sharded_state_dict

__all__ = ["load_merged_state_dict", "load_state_dict", "merge_sharded_state_dict"]
