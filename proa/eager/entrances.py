"""Where users enter the package through a Tensor: errors leave there without its frames (see `core/tracebacks.py`).

Operations have a `try` of their own. These methods read values, run what they wait for or start a backward pass; one more
call is nothing beside that.
"""

from __future__ import annotations

from ..core.tracebacks import boundary
from .backward import hooks  # noqa: F401 (attaches `backward`)
from .tensor import Tensor

_ENTRANCES = (
    "__array__", "__bool__", "__complex__", "__dlpack__", "__float__", "__format__", "__index__", "__int__",
    "__jax_array__", "__repr__", "backward", "item", "numpy", "tolist",
)  # fmt: skip

for _name in _ENTRANCES:
    setattr(Tensor, _name, boundary(getattr(Tensor, _name)))
