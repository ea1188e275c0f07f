"""`paddle.sparse`: sparse tensors by coordinates (COO) and by compressed rows (CSR).

A sparse tensor is a pattern (`pattern.py`: positions, on the host) and a dense tensor of values; see `tensor.py`, the
central file. Every function here works out positions in NumPy, once for each pattern, and then records ordinary operations
on values (`rows.py`), so gradients, compilation and devices need nothing of their own. No operation outside this room
knows of sparse tensors; one that is given such a tensor raises TypeError.

To add a function: positions in `Pattern.remember`, values by `take_rows` and `sum_rows`, its name here.
"""

from __future__ import annotations

import inspect

from ..eager.declare import PUBLIC
from . import convert, creation, methods, nn
from .binary import add, divide, is_same_shape, mask_as, multiply, subtract
from .convert import coalesce
from .creation import sparse_coo_tensor, sparse_csr_tensor
from .lowrank import pca_lowrank
from .product import addmm, masked_matmul, matmul, mv
from .shape import reshape, slice, sum, transpose
from .unary import (
    abs,
    asin,
    asinh,
    atan,
    atanh,
    cast,
    deg2rad,
    expm1,
    isnan,
    log1p,
    neg,
    pow,
    rad2deg,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)

__all__ = [
    "abs", "add", "addmm", "asin", "asinh", "atan", "atanh", "cast", "coalesce", "convert", "creation", "deg2rad",
    "divide", "expm1", "is_same_shape", "isnan", "log1p", "mask_as", "masked_matmul", "matmul", "methods", "multiply",
    "mv", "neg", "nn", "pca_lowrank", "pow", "rad2deg", "reshape", "sin", "sinh", "slice", "sparse_coo_tensor",
    "sparse_csr_tensor", "sqrt", "square", "subtract", "sum", "tan", "tanh", "transpose",
]  # fmt: skip

# They keep the form in which they are written: Paddle's sparse functions have no parameter aliases.
PUBLIC.update(
    {f"sparse.{name}": value for name, value in globals().items() if name in __all__ and inspect.isfunction(value)}
)
