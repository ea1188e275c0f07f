"""`python -m paddle.distributed.launch`."""

from ..launching import launch

__all__ = ["launch"]
