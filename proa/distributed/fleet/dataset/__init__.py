"""`paddle.distributed.fleet.dataset`: files of slots for `Executor.train_from_dataset`.

slots.py       records in columns; parsing.py: lines as records
reading.py     files through pipe commands, read ahead
base.py        what datasets share, and those that stream; in_memory.py: those in memory
shuffling.py   records between workers
"""

from __future__ import annotations

from .base import DatasetBase, FileInstantDataset, QueueDataset
from .boxed import BoxPSDataset
from .in_memory import InMemoryDataset

__all__ = ["BoxPSDataset", "DatasetBase", "FileInstantDataset", "InMemoryDataset", "QueueDataset"]
