"""`paddle.amp`: mixed precision.

`scope.py` is the centre: the settings of `auto_cast` as a scope of the trace tree. `amp_lists.py` says which operations
compute in what, `casting.py` opens and closes scopes, `decorating.py` casts models for O2, `grad_scaler.py` scales losses,
`debugging.py` counts and checks. Nothing here runs while mixed precision is off.
"""

from . import amp_lists, debugging
from .casting import (
    amp_guard,
    auto_cast,
    autocast,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_enabled,
    is_bfloat16_supported,
    is_float16_supported,
)
from .decorating import amp_decorate, decorate
from .grad_scaler import AmpScaler, GradScaler

__all__ = [
    "AmpScaler",
    "GradScaler",
    "amp_decorate",
    "amp_guard",
    "amp_lists",
    "auto_cast",
    "autocast",
    "debugging",
    "decorate",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_enabled",
    "is_bfloat16_supported",
    "is_float16_supported",
]
