"""Compositions that count as one operator for mixed precision.

A primitive is cast for where it is recorded. A composition whose parts would be judged one by one (softplus before tanh in
`mish`), or that compares dtypes before its first part is recorded (`conv2d_transpose`), says here which of Paddle's
operators it stands for: its tensors are brought to that operator's type together, and nothing in it is cast again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..core.tracebacks import trim
from ..ir.recorder import LOCAL, set_scope
from .dispatch import cast_operand
from .tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


def one_operator(name: str, wide: bool = False) -> Callable[[Function], Function]:
    """Marks a composition as one operator, by Paddle's name for it; `wide`: no half type will do for it."""

    def declare(function: Function) -> Function:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            scope = LOCAL.scope
            if scope is None:
                try:
                    return function(*arguments, **named)
                except Exception as failure:
                    trim(failure)
                    raise
            tensors: list[Tensor] = []
            for value in (*arguments, *[value for key, value in named.items() if key != "out"]):
                tensors += [
                    t for t in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(t, Tensor)
                ]
            targets = dict(
                zip(map(id, tensors), scope.common_casts(name, [t._aval for t in tensors], wide), strict=True)
            )

            def fitting(value: Any) -> Any:
                if isinstance(value, Tensor):
                    target = targets[id(value)]
                    return value if target is None else cast_operand(value, target)
                return type(value)(map(fitting, value)) if value.__class__ in (list, tuple) else value

            arguments = tuple(map(fitting, arguments))
            named = {key: value if key == "out" else fitting(value) for key, value in named.items()}
            set_scope(scope.without_casts())
            try:
                return function(*arguments, **named)
            finally:
                set_scope(scope)

        return call  # type: ignore[return-value]

    return declare
