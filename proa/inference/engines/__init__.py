"""Engines: what can run a model behind a predictor.

    base.py         Engine, the one interface, and Settings
    kept.py         which shapes of the inputs an engine keeps something for
    xla.py          ours: XLA with native kernels; executables for few shapes, operation by operation for the others
    foreign.py      what the engines of others have in common: they get the model as ONNX
    onnxruntime.py  ONNX Runtime
    openvino.py     OpenVINO
    agreement.py    how far the results of engines may be apart
    choosing.py     `auto`: which one is quickest here and agrees with ours

An engine is thread-safe and keeps a bounded amount of memory, whatever shapes it is given. The packages of other engines are
imported when one is asked for. To add one: a module with an Engine, and a line in `KINDS`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ...core.errors import value_error
from .base import Engine, Settings, Unavailable

if TYPE_CHECKING:
    from ..models import Model

# name -> (module, class); the first is ours, and the one that all others have to agree with.
KINDS = {
    "xla": ("xla", "XlaEngine"),
    "onnxruntime": ("onnxruntime", "OnnxRuntimeEngine"),
    "openvino": ("openvino", "OpenVinoEngine"),
}
AUTO = "auto"


def check_name(where: str, name: str) -> str:
    """The name of an engine in small letters; ValueError if there is none of this name."""
    found = str(name).lower()
    if found not in (AUTO, *KINDS):
        raise value_error(where, f"there is no engine of this name; there are {', '.join((AUTO, *KINDS))}", f"{name!r}")
    return found


def make_engine(name: str, model: Model, settings: Settings) -> Engine:
    """An engine with a model in it; Unavailable says why it cannot be."""
    module, kind = KINDS[name]
    return getattr(importlib.import_module(f".{module}", __name__), kind)(model, settings)


__all__ = ["AUTO", "KINDS", "Engine", "Settings", "Unavailable", "check_name", "make_engine"]
