"""Functions as layers, so that a quantisation configuration can name them: `self.add = FloatFunctional…; self.add(x, y)`."""

from __future__ import annotations

from typing import Any

from ...ops.linear.linalg import matmul as _matmul
from ...ops.shape.joining import concat as _concat
from ..layer import Layer


class FloatFunctionalLayer(Layer):
    """A function that a configuration can give observers to."""

    def __init__(self) -> None:
        super().__init__()


class add(FloatFunctionalLayer):
    """x + y."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return x + y


class subtract(FloatFunctionalLayer):
    """x - y."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return x - y


class multiply(FloatFunctionalLayer):
    """x * y."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return x * y


class divide(FloatFunctionalLayer):
    """x / y."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return x / y


class reshape(FloatFunctionalLayer):
    """x in another shape."""

    def forward(self, x: Any, shape: Any, name: str | None = None) -> Any:
        return x.reshape(shape)


class transpose(FloatFunctionalLayer):
    """x with its axes in another order."""

    def forward(self, x: Any, perm: Any, name: str | None = None) -> Any:
        return x.transpose(perm)


class concat(FloatFunctionalLayer):
    """Tensors one behind the other."""

    def forward(self, x: Any, axis: int = 0, name: str | None = None) -> Any:
        return _concat(x, axis)


class flatten(FloatFunctionalLayer):
    """Some axes as one."""

    def forward(self, x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
        return x.flatten(start_axis, stop_axis)


class matmul(FloatFunctionalLayer):
    """The matrix product."""

    def forward(
        self, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
    ) -> Any:
        return _matmul(x, y, transpose_x, transpose_y)
