"""Weights of PyTorch models onto layers of ours.

files.py      `.pt`, `.pth` and `.safetensors` as arrays by name, read without torch and without running anything
matching.py   which array belongs to which parameter, and what has to be turned for it
"""

from __future__ import annotations

from .files import read_torch_weights
from .matching import WeightReport, load_torch_weights

__all__ = ["WeightReport", "load_torch_weights", "read_torch_weights"]
