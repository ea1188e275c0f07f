"""Inner names of `paddle.framework`."""

from ..base.framework import dygraph_only

__all__ = ["dygraph_only"]
