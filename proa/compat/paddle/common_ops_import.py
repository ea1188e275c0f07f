"""`paddle.common_ops_import`: what inner code imports together."""

from .base.framework import dygraph_only

__all__ = ["dygraph_only"]
