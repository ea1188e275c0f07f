"""MPNet: RoBERTa with relative positions beside its own."""

from ...encoder import Encoder
from .. import Family
from ..encoders import fitted
from .configuration import read, write
from .weights import names

FAMILY = Family("mpnet", read, write, names, Encoder, fitted)
