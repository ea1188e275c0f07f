"""Qwen 3, dense and with experts."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("qwen3", read, write, names, CausalLM)
