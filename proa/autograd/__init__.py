"""`paddle.autograd`: custom gradients, Jacobians, and control over what the tape keeps.

The tape and the backward engine themselves are in `proa.eager` (`tape.py`, `engine.py`), as are the
switches (`modes.py`) and hooks (`hooks.py`). Here is what is built on them:

    py_layer.py      PyLayer: a function with a gradient written by the user
    saved_hooks.py   saved_tensors_hooks: what a node keeps, packed by the user
    lazy.py          jacobian, hessian: matrices whose rows are computed when they are looked at
    functional.py    jvp, vjp; Jacobian and Hessian of a function (`paddle.incubate.autograd`)
    taylor.py        taylor: directional derivatives of any order in one pass; its rules are in `eager/series`
"""

from __future__ import annotations

from ..eager.backward.hooks import backward, grad
from ..eager.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .functional import jvp, vjp
from .lazy import hessian, jacobian
from .py_layer import PyLayer, PyLayerContext
from .saved_hooks import saved_tensors_hooks
from .taylor import taylor as _taylor  # noqa: F401 (declares paddle.incubate.autograd.taylor)

Function = PyLayer

__all__ = [
    "Function",
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "jvp",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
    "vjp",
]
