"""Llama 2 and 3 (and what is built like them: SmolLM2, TinyLlama)."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("llama", read, write, names, CausalLM)
