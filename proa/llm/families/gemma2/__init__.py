"""Gemma 2: norms around, soft caps, every other layer with a window."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("gemma2", read, write, names, CausalLM)
