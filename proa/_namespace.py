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

_AREAS = ("basic", "arithmetic")


def collect(namespace: dict[str, Any]) -> None:
    """Fills the top-level namespace and makes the sub-modules that only hold collected names."""
    for area in _AREAS:
        importlib.import_module(f"proa.ops.{area}")
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
