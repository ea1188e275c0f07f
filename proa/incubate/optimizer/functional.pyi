# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.incubate.optimizer.functional`: minimisers of functions (collected at import)."""

from proa.optimizer.incubate.bfgs import minimize_bfgs as minimize_bfgs
from proa.optimizer.incubate.bfgs import minimize_lbfgs as minimize_lbfgs
