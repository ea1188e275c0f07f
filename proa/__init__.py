"""proa: PaddlePaddle's API on OpenXLA. `import proa as paddle`."""

from __future__ import annotations

from ._namespace import collect as _collect

_collect(globals())
