# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.functional`: functions of the package that are exported here (collected at import)."""

from proa.compat.tensor import split as split
from proa.ops.index.runs import unique_consecutive as unique_consecutive
from proa.ops.linear.einsum import einsum as einsum
from proa.ops.math.norm import norm as norm
from proa.ops.math.statistics.counting import meshgrid as meshgrid
from proa.ops.shape.repetition import broadcast_shapes as broadcast_shapes
from proa.ops.shape.stacking import atleast_1d as atleast_1d
from proa.ops.shape.stacking import atleast_2d as atleast_2d
from proa.ops.shape.stacking import atleast_3d as atleast_3d
