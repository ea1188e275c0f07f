"""The public functions that translators call, by their public names: `paddle.concat`, `F.conv2d`.

They are looked up in the table that the declarations fill, so that this folder depends on no module above it.
"""

from __future__ import annotations

from ....ops.public_functions import PublicFunctions

paddle = PublicFunctions()
F = PublicFunctions("nn.functional")
linalg = PublicFunctions("linalg")
fft = PublicFunctions("fft")
geometric = PublicFunctions("geometric")

__all__ = ["F", "PublicFunctions", "fft", "geometric", "linalg", "paddle"]
