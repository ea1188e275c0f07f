"""`paddle.incubate`: functions that Paddle tries out here before they get their final place.

What lives elsewhere declares itself into this namespace: graph functions (`proa.ops.graph`), derivatives of functions
(`paddle.incubate.autograd`, in `proa.autograd`). The rest is here:

    nn/              fused layers and functions, as compositions
    functional.py    softmax_mask_fuse, softmax_mask_fuse_upper_triangle, identity_loss
"""

from __future__ import annotations

from .functional import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle

__all__ = ["identity_loss", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]
