"""The public functions by their public names, for code below the modules that collect them: `paddle.concat`, `F.conv2d`.

Functions are looked up at their first use, in the table that the declarations fill, so that using them imports nothing.
"""

from __future__ import annotations

from typing import Any

from ..eager.declare import PUBLIC


class PublicFunctions:
    """Attributes are the functions that `@public` collected below a dotted name."""

    def __init__(self, module: str = "") -> None:
        self._prefix = f"{module}." if module else ""

    def __getattr__(self, name: str) -> Any:
        try:
            function = PUBLIC[self._prefix + name]
        except KeyError:
            raise AttributeError(f"there is no public function {self._prefix}{name}") from None
        setattr(self, name, function)
        return function
