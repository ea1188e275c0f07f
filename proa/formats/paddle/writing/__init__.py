"""Graph -> Model: what is captured here, in Paddle's operations.

builder.py       the vocabulary: values with their captured sizes, operations, sizes computed at run time
registry.py      the table of translators, one for each primitive of ours
translation.py   the walk over a Program; `graph_to_model`
the others       translators, a file an area
"""

from __future__ import annotations

from .translation import graph_to_model

__all__ = ["graph_to_model"]
