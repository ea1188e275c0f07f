"""GPT-2."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("gpt2", read, write, names, CausalLM)
