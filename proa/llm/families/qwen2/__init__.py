"""Qwen 2 and 2.5, dense and with experts."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("qwen2", read, write, names, CausalLM)
