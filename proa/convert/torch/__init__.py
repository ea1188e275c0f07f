"""PyTorch models in: `torch.export` programs -> Layer.

reading.py       an ExportedProgram as plain data; torch is imported here and in reference.py, when they are called
registry.py      `@reads("conv2d")`: which function translates which ATen operator
operators/       the translators, grouped by area
translation.py   goes through a program and calls them
loading.py       `from_torch`
"""

from __future__ import annotations

from .loading import from_torch
from .registry import READERS, reads

__all__ = ["READERS", "from_torch", "reads"]
