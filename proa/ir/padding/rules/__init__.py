"""What operations do with padded axes: the axes of their results, the fills and the rewrites that they need.

One module for each family. A rule is a function `(analysis, instruction, operands)` with `@rule`, and a trait of the
operations whose declaration names it (`@op(padding=rules.scans.sort)`); operations that work element by element need none
(see `analysis.ELEMENTWISE`). What cannot be padded is refused with a reason, which users see in `explain()`.
"""

from ..analysis import ELEMENTWISE as elementwise
from ..analysis import refused
from . import (
    creation,
    indexing,
    labels,
    moving,
    neural,
    normalisation,
    pooling,
    products,
    reductions,
    scans,
    shapes,
    slices,
    untouched,
    windows,
)

__all__ = [
    "creation", "elementwise", "indexing", "labels", "moving", "neural", "normalisation", "pooling", "products",
    "reductions", "refused", "scans", "shapes", "slices", "untouched", "windows",
]  # fmt: skip
