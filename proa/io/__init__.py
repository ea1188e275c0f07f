"""`paddle.io`: datasets, samplers and the `DataLoader`."""

from .dataloader.batch_sampler import BatchSampler, DistributedBatchSampler
from .dataloader.collate import default_collate_fn, default_convert_fn
from .dataloader.dataset import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .dataloader.sampler import RandomSampler, Sampler, SequenceSampler, SubsetRandomSampler, WeightedRandomSampler
from .dataloader.worker import get_worker_info
from .reader import DataLoader

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedBatchSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate_fn",
    "default_convert_fn",
    "get_worker_info",
    "random_split",
]
