"""How snippets are collected: a function as a user would write it, with the arguments it is tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SNIPPETS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def snippet(*calls: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Each call is a tuple of arguments (a list becomes a tensor, anything else stays as it is)."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        SNIPPETS.append((function, calls))
        return function

    return note
