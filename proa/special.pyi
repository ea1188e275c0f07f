# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.special`: functions of the package that are exported here (collected at import)."""

from proa.compat.nn.functional import softmax as softmax
from proa.eager.tensor import Tensor
from proa.ops.math.reduction import logsumexp as logsumexp

def expm1(x: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`exp(x) - 1`, exact near 0 as well."""
