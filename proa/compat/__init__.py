"""`paddle.compat`: functions and layers under PyTorch's signatures, and `import torch` as this package.

The names are Paddle's for what behaves as in PyTorch where the two differ (`max` along a dimension gives values and
positions, a Linear's weight is [out, in]). Keywords of the other API are refused with a hint. `namespaces.py` fills the
small modules that Paddle keeps for names living elsewhere.

The other half of this room lets programs that were written for Paddle run as they are:

    alias.py        `install()`: from then on `import paddle` gives this package
    layout.py       Paddle's modules by path, from the table `layout.txt`
    paddle/         names of Paddle's inner modules that have no public name, a file for each module
    tensor_names.py methods of Tensor by Paddle's inner names
    missing.py      names that nothing stands behind: errors that say what to use
    path/           what processes started by a program find as `paddle`
"""

from . import alias, layout, namespaces, nn, tensor_names
from .alias import install
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
    "MedianRetType", "MinMaxRetType", "SlogdetResult", "SortRetType", "alias", "disable_compat", "enable_compat", "equal",
    "install", "layout", "max", "median", "min", "namespaces", "nanmedian", "nn", "seed", "slogdet", "sort", "split",
    "tensor_names", "unique", "use_compat_guard",
]  # fmt: skip
