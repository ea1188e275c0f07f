"""Inner names of `paddle.io.dataloader.dataloader_iter`."""

from .....io.iterators import Epoch as _DataLoaderIterBase

__all__ = ["_DataLoaderIterBase"]
