"""`paddle.incubate.optimizer`: LookAhead, ModelAverage, LARS, and BFGS as functions.

They build on optimisers, so they live in this room and declare themselves into `paddle.incubate`.
"""

from __future__ import annotations

from ...eager.declare import PUBLIC
from ..lbfgs import LBFGS
from .bfgs import minimize_bfgs, minimize_lbfgs
from .lars import LarsMomentumOptimizer
from .look_ahead import LookAhead
from .model_average import ModelAverage

# As classes, not through @public: users derive from them and ask isinstance().
for _kind in (LBFGS, LookAhead, ModelAverage, LarsMomentumOptimizer):
    PUBLIC[f"incubate.optimizer.{_kind.__name__}"] = _kind
for _kind in (LookAhead, ModelAverage):
    PUBLIC[f"incubate.{_kind.__name__}"] = _kind

__all__ = ["LBFGS", "LarsMomentumOptimizer", "LookAhead", "ModelAverage", "minimize_bfgs", "minimize_lbfgs"]
