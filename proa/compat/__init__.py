"""`paddle.compat`: functions and layers under PyTorch's signatures, and `import torch` as this package.

The names are Paddle's for what behaves as in PyTorch where the two differ (`max` along a dimension gives values and
positions, a Linear's weight is [out, in]). Keywords of the other API are refused with a hint. `namespaces.py` fills the
small modules that Paddle keeps for names living elsewhere.
"""

from . import namespaces, nn
from .proxy import disable_compat, enable_compat, use_compat_guard
from .tensor import (
    MedianRetType,
    MinMaxRetType,
    SlogdetResult,
    SortRetType,
    equal,
    max,
    median,
    min,
    nanmedian,
    seed,
    slogdet,
    sort,
    split,
    unique,
)

__all__ = [
    "MedianRetType", "MinMaxRetType", "SlogdetResult", "SortRetType", "disable_compat", "enable_compat", "equal", "max",
    "median", "min", "namespaces", "nanmedian", "nn", "seed", "slogdet", "sort", "split", "unique", "use_compat_guard",
]  # fmt: skip
