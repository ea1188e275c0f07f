"""`paddle.Size`: the shape of a tensor as users see it, a list that also equals a tuple."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, cast

_list_item: Any = cast(Any, list).__getitem__


class Size(list[int]):
    """A list of dimensions; changing it does not touch the tensor."""

    __slots__ = ()

    def numel(self) -> int:
        return math.prod(self)

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
