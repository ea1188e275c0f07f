"""How a compat function refuses the keywords of Paddle's own function of the same name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..eager.declare import PUBLIC


def refusing(own: str, other: str, keywords: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes `own` raise TypeError for `keywords`, and name `other`, which has them."""
    foreign = frozenset(keywords.split())

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            if named and not foreign.isdisjoint(named):
                raise unexpected(own, other, sorted(foreign & named.keys()))
            return function(*arguments, **named)

        return call

    return decorate


def unexpected(own: str, other: str, keywords: list[str]) -> TypeError:
    shown = ", ".join(repr(keyword) for keyword in keywords)
    return TypeError(
        f"(paddle.{own}) there is no keyword {shown} here; paddle.{other} takes Paddle's keywords, this one PyTorch's."
    )


def paddle_function(dotted: str) -> Callable[..., Any]:
    """A public function by its name below `paddle`, whichever module declares it."""
    return PUBLIC[dotted]
