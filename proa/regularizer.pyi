# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.regularizer`: classes of `proa.optimizer` that are exported here (collected at import)."""

from proa.optimizer.regularizer import L1Decay as L1Decay
from proa.optimizer.regularizer import L2Decay as L2Decay
