"""`paddle.Size`: the shape of a tensor as users see it, a list that also equals a tuple."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, cast

_list_item: Any = cast(Any, list).__getitem__


class Size(list[int]):
    """The shape of a tensor: a list that also equals a tuple. Changing it does not touch the tensor.

    Examples:
        >>> paddle.zeros([2, 3]).shape == (2, 3)
        True
        >>> paddle.Size([2, 3])[1:]
        paddle.Size([3])
    """

    __slots__ = ()

    def numel(self) -> int:
        """How many elements a tensor of this shape has.

        Examples:
            >>> paddle.Size([2, 3]).numel()
            6
        """
        return math.prod(self)

    def __repr__(self) -> str:
        return f"paddle.Size({list(self)})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Size:
        return Size([*self, *other])

    def __radd__(self, other: Any) -> Size:
        return Size([*other, *self])

    def __getitem__(self, item: SupportsIndex | slice) -> Any:  # type: ignore[override]
        found = _list_item(self, item)
        return Size(found) if isinstance(item, slice) else found


class TensorSize(int):
    """How many elements a tensor has; called, its shape (`x.size()`) or one dimension of it (`x.size(0)`)."""

    _shape: tuple[int, ...]

    def __new__(cls, shape: tuple[int, ...]) -> TensorSize:
        made = int.__new__(cls, math.prod(shape))
        made._shape = shape
        return made

    def __call__(self, dim: SupportsIndex | None = None) -> Any:
        return Size(self._shape) if dim is None else self._shape[dim]

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return int, (int(self),)
