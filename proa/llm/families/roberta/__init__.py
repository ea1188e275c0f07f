"""RoBERTa and XLM-RoBERTa: BERT whose positions count words only."""

from ...encoder import Encoder
from .. import Family
from ..encoders import fitted
from .configuration import read, write
from .weights import names

FAMILY = Family("roberta", read, write, names, Encoder, fitted)
