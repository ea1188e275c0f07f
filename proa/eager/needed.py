"""Operations that the machinery itself records: promotion casts, the backward engine adds gradients up and fills in zeros.

They are declared above it, in `proa/ops/basic.py`, where each enters itself with `@needed`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


class Needed:
    """One attribute for each of them."""

    cast: Callable[[Tensor, Any], Tensor]
    sum_to: Callable[[Tensor, tuple[int, ...]], Tensor]
    ones_of_aval: Callable[[Any], Tensor]
    zeros_of_aval: Callable[[Any], Tensor]


NEEDED = Needed()


def needed(function: Function) -> Function:
    """Enters a function under its own name."""
    if function.__name__ not in Needed.__annotations__:
        known = ", ".join(Needed.__annotations__)
        raise NameError(f"the machinery needs no operation {function.__name__}; it needs: {known}.")
    setattr(NEEDED, function.__name__, function)
    return function
