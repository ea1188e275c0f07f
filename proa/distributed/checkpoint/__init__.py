"""Checkpoints of a job: sharded, atomic, checksummed, in Paddle's own files.

saving.py          `save_state_dict`: the order in which files appear
loading.py         `load_state_dict`: blocks put together for any placement
merging.py         whole tensors; safetensors for others
opening.py         which checkpoint; safetensors from others
staging.py         copies for saves in the background: `prepare_async_save`
memory.py          the memory that those copies lie in
pieces.py          what of a state dictionary lies in this process, and who writes it
sharded_weight.py  local tensors that say which block they are
metadata.py        the file that says where everything lies
files.py           data files, written and read part by part
folder.py          numbers of checkpoints, names of files, what is removed
processes.py       the few words that processes exchange
"""

from __future__ import annotations

from .loading import load_state_dict
from .merging import load_merged_state_dict, merge_sharded_state_dict
from .saving import save_state_dict
from .sharded_weight import ShardedStateDict, ShardedWeight, build_sharded_state_dict, shard_weight
from .staging import prepare_async_save

__all__ = [
    "ShardedStateDict", "ShardedWeight", "build_sharded_state_dict", "load_merged_state_dict", "load_state_dict",
    "merge_sharded_state_dict", "prepare_async_save", "save_state_dict", "shard_weight",
]  # fmt: skip
