"""Inner names of `paddle.distributed.flex_checkpoint.dcp.metadata`."""

from ......distributed.checkpoint.metadata import LocalTensorIndex, LocalTensorMetadata, Metadata

__all__ = ["LocalTensorIndex", "LocalTensorMetadata", "Metadata"]
