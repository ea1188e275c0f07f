"""Kinds of statements, one module for each area; importing this package fills the table.

A statement is a function that takes the scope, writes a line or a few, and returns whether it
found something to write. To add one, decorate a function with `statement(area, weight)`.
"""

from . import (
    control,
    elementwise,
    gradients,
    indexing,
    inplace,
    naming,
    randomness,
    reducing,
    shaping,
    wrong,
)
from .table import Statement, statements_of, write_some

__all__ = [
    "Statement",
    "control",
    "elementwise",
    "gradients",
    "indexing",
    "inplace",
    "naming",
    "randomness",
    "reducing",
    "shaping",
    "statements_of",
    "write_some",
    "wrong",
]
