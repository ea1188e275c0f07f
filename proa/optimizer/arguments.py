"""Checks of the numbers that optimisers are made with."""

from __future__ import annotations

from typing import Any

from ..core.errors import failed_check, type_error, value_error
from ..eager.tensor import Tensor


def number(where: str, name: str, value: Any) -> float:
    """A Python number, or the one element of a tensor."""
    if isinstance(value, Tensor):
        return float(value.item())
    if value is None:
        raise failed_check(where, f"{name} must be given", f"{name}: None")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise type_error(where, f"{name} must be a float", f"{name}: {type(value).__name__}")
    return float(value)


def at_least_zero(where: str, name: str, value: Any) -> float:
    found = number(where, name, value)
    if not found >= 0:
        raise value_error(where, f"{name} cannot be negative", f"{name}: {value}")
    return found


def below_one(where: str, name: str, value: Any) -> float:
    found = number(where, name, value)
    if not 0 <= found < 1:
        raise value_error(where, f"{name} must be from 0 up to 1", f"{name}: {value}")
    return found
