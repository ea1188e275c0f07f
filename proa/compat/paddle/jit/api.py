"""Inner names of `paddle.jit.api`."""

from typing import Any


def set_dynamic_shape(variable: Any, shape_list: Any) -> None:
    """Sizes that change are found by `to_static` itself."""
