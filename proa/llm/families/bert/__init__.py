"""BERT, and ERNIE 3, which adds a table of tasks."""

from ...encoder import Encoder
from .. import Family
from ..encoders import fitted
from .configuration import read, write
from .weights import names, paddle_names

FAMILY = Family("bert", read, write, names, Encoder, fitted, paddle_names)
