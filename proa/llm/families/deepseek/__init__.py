"""DeepSeek V2 and V3: latent attention, experts in groups."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("deepseek", read, write, names, CausalLM)
