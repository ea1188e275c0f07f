"""Collects what the modules declare with `@public` into the package's namespaces."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from .core import dtype as _dtype
from .core.flags import get_flags, set_flags
from .eager.declare import PUBLIC
from .eager.tensor import Tensor

# Files of proa/ops, in no particular order: each declares what it exports with `@public`.
_AREAS = (
    "activation", "arithmetic", "attribute", "basic", "comparison", "convolution", "creation", "einsum", "gather", "indexing",
    "joining", "linalg", "logic", "loss", "manipulation", "normalization", "pooling", "random", "reduction", "scan", "search",
    "softmax", "statistics", "ternary", "unary",
)  # fmt: skip
_MODULES = ("nn", "optimizer", "autograd", "framework", "jit", "device")


def collect(namespace: dict[str, Any]) -> None:
    """Fills the top-level namespace and makes the sub-modules that only hold collected names."""
    import os
    here = os.path.dirname(__file__)
    for area in _AREAS:
        if os.path.exists(f"{here}/ops/{area}.py"):
            importlib.import_module(f"proa.ops.{area}")
    for module in _MODULES:
        if os.path.exists(f"{here}/{module}/__init__.py"):
            namespace[module] = importlib.import_module(f"proa.{module}")
    namespace.update(_dtype.DTYPES)
    namespace.update(
        Tensor=Tensor,
        dtype=_dtype.DType,
        finfo=_dtype.FInfo,
        iinfo=_dtype.IInfo,
        set_default_dtype=_dtype.set_default_dtype,
        get_default_dtype=_dtype.get_default_dtype,
        set_flags=set_flags,
        get_flags=get_flags,
    )
    for dotted, value in PUBLIC.items():
        module, _, name = dotted.rpartition(".")
        if not module:
            namespace[name] = value
            continue
        full = f"proa.{module}"
        holder = sys.modules.get(full)
        if holder is None:
            try:
                holder = importlib.import_module(full)
            except ModuleNotFoundError:
                holder = sys.modules[full] = types.ModuleType(full, f"`paddle.{module}`: collected functions.")
                namespace[module] = holder
        setattr(holder, name, value)
