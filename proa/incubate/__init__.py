"""`paddle.incubate`: functions that Paddle tries out here before they get their final place.

What lives elsewhere declares itself into this namespace: graph functions (`proa.ops.graph`), derivatives of functions
(`paddle.incubate.autograd`, in `proa.autograd`). The rest is here:

    nn/              fused layers and functions, as compositions
    functional.py    softmax_mask_fuse, softmax_mask_fuse_upper_triangle, identity_loss
    asp/             weights of which two in four are zero
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .functional import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle

if TYPE_CHECKING:  # loaded when they are asked for; type checkers see them at once
    from . import asp as asp
    from . import autograd as autograd
    from . import autotune as autotune
    from . import nn as nn
    from . import optimizer as optimizer

__all__ = ["identity_loss", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]
