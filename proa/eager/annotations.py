"""What public functions take where several kinds of things will do, by one name each, for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # annotations are not evaluated, so that these may come from rooms above
    import numpy as np

    from ..core.dtype import DType
    from ..core.place import Place
    from ..device.handle import Device
    from ..nn.base.attributes import ParamAttr
    from ..nn.initializer import Initializer
    from .tensor import Tensor

DTypeLike: TypeAlias = "DType | np.dtype[Any] | type[Any] | str"
DeviceLike: TypeAlias = "Place | Device | str | int"
TensorLike: TypeAlias = "Tensor | np.ndarray[Any, Any] | np.generic | complex | Sequence[Any]"
Number: TypeAlias = "float | Tensor"
# One axis or several; the sizes of a window along each axis, or one for all of them.
AxisLike: TypeAlias = "int | Sequence[int] | Tensor"
SizesLike: TypeAlias = "int | Sequence[int | None] | Tensor"
ShapeLike: TypeAlias = "Sequence[int | Tensor] | Tensor | int"
PaddingLike: TypeAlias = "int | str | Sequence[Any] | Tensor"
# How a parameter is made: False for none at all.
AttrLike: TypeAlias = "ParamAttr | Initializer | str | bool"
