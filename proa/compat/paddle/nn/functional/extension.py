"""Inner names of `paddle.nn.functional.extension`."""

from typing import Any

from .....ops.shape.scattering import diag_embed as _diag_embed


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """As `paddle.diag_embed`, under its former name."""
    return _diag_embed(input, offset, dim1, dim2)
