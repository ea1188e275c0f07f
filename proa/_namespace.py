"""Collects what the modules declare with `@public` into the package's namespaces."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import types
from typing import Any

from . import ops
from .core import dtype as _dtype
from .core.flags import get_flags, set_flags
from .eager import entrances as entrances
from .eager import notebook as notebook
from .eager.declare import PUBLIC
from .eager.tensor import Tensor

_MODULES = (
    "nn", "optimizer", "autograd", "framework", "jit", "device", "compat", "utils",
    "version", "sysconfig", "sparse", "distribution", "incubate", "amp", "io",
)  # fmt: skip

# Areas that a program may never touch are imported when they are first asked for (`proa/__init__.py`).
LAZY_MODULES = frozenset({
    "audio", "callbacks", "compress", "convert", "debug", "distributed", "hapi", "hub", "inference", "llm", "metric",
    "ocr", "onnx", "profiler", "quantization", "static", "text", "vision",
})  # fmt: skip

# Single names of such areas, and the module each is found in.
LAZY_NAMES = {
    "DataParallel": "distributed", "IrGuard": "static", "Model": "hapi", "disable_static": "static",
    "enable_static": "static", "flops": "hapi", "ir_guard": "static", "summary": "hapi",
}  # fmt: skip


def collect(namespace: dict[str, Any]) -> None:
    """Fills the top-level namespace and makes the sub-modules that only hold collected names."""
    for area in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
        importlib.import_module(area.name)
    for module in _MODULES:
        namespace[module] = importlib.import_module(f"proa.{module}")
    namespace.update(_dtype.DTYPES)
    namespace.update(
        __version__=namespace["version"].proa_version,
        __git_commit__=namespace["version"].commit,
        Tensor=Tensor,
        dtype=_dtype.DType,
        finfo=_dtype.FInfo,
        iinfo=_dtype.IInfo,
        get_default_dtype=_dtype.get_default_dtype,
        set_flags=set_flags,
        get_flags=get_flags,
    )
    for dotted, value in list(PUBLIC.items()):
        module, _, name = dotted.rpartition(".")
        if not module:
            namespace[name] = value
            continue
        holder = _module(module, namespace)
        setattr(holder, name, value)
        listed = vars(holder).get("__all__")
        if listed is not None and name not in listed:
            holder.__all__ = [*listed, name]  # so that `from paddle.incubate import *` brings it
    namespace["compat"].layout.install_layout()
    _fill_tensor_function(namespace)


def _fill_tensor_function(namespace: dict[str, Any]) -> None:
    """`paddle.tensor` is a function, and programs find tensor functions in it as in a module (`paddle.tensor.triu`)."""
    names = {name: value for name, value in vars(namespace["linalg"]).items() if f"linalg.{name}" in PUBLIC}
    names.update((name, namespace[name]) for name in PUBLIC if "." not in name and callable(namespace[name]))
    arrays = importlib.import_module("proa.ops.create.arrays")
    names.update((name, getattr(arrays, name)) for name in arrays.__all__)
    vars(namespace["tensor"]).update(names)
    for part in ("creation", "linalg", "logic", "manipulation", "math", "random", "search", "stat"):
        setattr(namespace["tensor"], part, namespace["compat"].layout.layout_module(f"proa.tensor.{part}"))


def _module(dotted: str, namespace: dict[str, Any]) -> types.ModuleType:
    """The module `proa.<dotted>`: a real one, or one made here to hold collected names."""
    full = f"proa.{dotted}"
    found = sys.modules.get(full)
    if found is None:
        try:
            found = importlib.import_module(full)
        except ModuleNotFoundError:
            found = sys.modules[full] = types.ModuleType(full, f"`paddle.{dotted}`: collected names.")
        parent, _, name = dotted.rpartition(".")
        if parent:
            setattr(_module(parent, namespace), name, found)
        else:
            namespace[name] = found
    return found
