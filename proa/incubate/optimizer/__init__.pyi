# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.incubate.optimizer`: classes of `proa.optimizer` that are exported here (collected at import)."""

from proa.incubate.optimizer import functional as functional
from proa.optimizer.incubate.lars import LarsMomentumOptimizer as LarsMomentumOptimizer
from proa.optimizer.incubate.look_ahead import LookAhead as LookAhead
from proa.optimizer.incubate.model_average import ModelAverage as ModelAverage
from proa.optimizer.lbfgs import LBFGS as LBFGS
