"""`paddle.cuda`: functions of `proa.device` under the names that PyTorch gives them (collected at import)."""

import sys as _sys

from .device.handle import DEVICE_MODULES as _DEVICE_MODULES

_DEVICE_MODULES["gpu"] = _sys.modules[__name__]
