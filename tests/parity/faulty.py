"""A framework for the tests of the harness: proa with functions that crash, hang, raise, or are wrong."""

from __future__ import annotations

import os
import time
from typing import Any

from proa import Tensor, grad, seed, to_tensor

__all__ = ["Tensor", "add", "exp", "grad", "seed", "sin", "sqrt", "square", "tanh", "to_tensor"]


def exp(x: Any) -> Any:
    os.abort()


def sin(x: Any) -> Any:
    time.sleep(1000)


def sqrt(x: Any) -> Any:
    raise KeyError("no kernel")


def square(x: Any) -> Any:
    return x * x * 1.001


def tanh(x: Any) -> Any:
    return x.detach().tanh() + (x - x.detach()) * 2  # right value, wrong gradient


def add(x: Any, y: Any) -> Any:
    return x + y
