"""ERNIE 4.5 (text), dense and with experts."""

from ...model import CausalLM
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("ernie4_5", read, write, names, CausalLM)
