"""Gemma 3 (text): Gemma 2 with norms of queries and keys, and two rotations."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("gemma3", read, write, names, CausalLM)
