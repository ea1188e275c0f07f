"""Mistral: Llama with a window."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("mistral", read, write, names, CausalLM)
