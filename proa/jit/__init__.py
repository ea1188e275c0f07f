"""Code as graphs: `to_static`, `train_step`; seeing and steering how eager code compiles itself: `explain`, `eager_mode`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .api import ignore_module, not_to_static, to_static
from .concrete_program import ConcreteProgram
from .explain import Explanation, explain, reset_statistics
from .mode import eager_mode
from .settings import enable_to_static, set_code_level, set_verbosity
from .static_function import StaticFunction
from .train_step import TrainStep, train_step

if TYPE_CHECKING:
    from .saving import TranslatedLayer as TranslatedLayer
    from .saving import load as load
    from .saving import save as save

_SAVING = ("TranslatedLayer", "load", "save")

if not TYPE_CHECKING:  # so that a misspelt name is seen

    def __getattr__(name: str) -> Any:
        if name in _SAVING:
            try:
                from . import saving
            except ImportError:
                raise AttributeError(f"module 'proa.jit' has no attribute {name!r}") from None
            return getattr(saving, name)
        raise AttributeError(f"module 'proa.jit' has no attribute {name!r}")


__all__ = [
    "ConcreteProgram", "Explanation", "StaticFunction", "TrainStep", "TranslatedLayer", "eager_mode", "enable_to_static",
    "explain", "ignore_module", "load", "not_to_static", "reset_statistics", "save", "set_code_level", "set_verbosity",
    "to_static", "train_step",
]  # fmt: skip
