"""T5: reads one text, writes another."""

from ...translator import Translator
from .. import Family
from .configuration import read, write
from .weights import names

FAMILY = Family("t5", read, write, names, Translator)
