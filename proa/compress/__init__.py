"""`proa.compress`: smaller models. Paddle has no names for this (PaddleSlim, a package of its own, does).

    pruning.py       weights that matter little become zero
    channels.py      channels that matter little are taken out: layers really shrink
    dependencies.py  which channels of which weights hang together, followed through a captured program
    distillation.py  a small model learns from a large one

Weights in few bits are in `paddle.quantization`; two of four in `paddle.incubate.asp`.
"""

from __future__ import annotations

from .channels import prune_channels
from .distillation import Distiller, distillation_loss, feature_loss
from .pruning import Masks, prune_weights, sparsity_of

__all__ = [
    "Distiller", "Masks", "distillation_loss", "feature_loss", "prune_channels", "prune_weights", "sparsity_of",
]  # fmt: skip
