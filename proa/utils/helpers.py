"""deprecated, run_check."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import runtime_error
from ..eager.declare import PUBLIC
from ..eager.tensor import Tensor, tensor_from_data


class VisibleDeprecationWarning(UserWarning):
    """A deprecation that users are shown, unlike Python's own."""


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[[Any], Any]:
    """Marks a function as deprecated: in its documentation, with a warning (`level` 1) or an error (`level` 2).

    Args:
        update_to: what is to be used instead.
        since: a version.
        reason: why.
        level: 0, 1 or 2.

    Examples:
        >>> @paddle.utils.deprecated(update_to="paddle.add")
        ... def plus(x, y):
        ...     return x + y
        >>> plus(1, 2), "paddle.add" in plus.__doc__
        (3, True)
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{function.__module__}.{function.__qualname__}"
        text = (
            f'API "{name}" is deprecated{f" since {since}" if since else ""}, and will be removed in future versions.'
        )
        if update_to:
            text += f' Please use "{update_to}" instead.'
        if reason:
            text += f"\n    Reason: {reason}"

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            if level >= 2:
                raise runtime_error(name, f"this function is gone. {text}".rstrip("."))
            if level == 1:
                warnings.warn(f"\nWarning:\n{text}", VisibleDeprecationWarning, stacklevel=2)
            return function(*arguments, **named)

        call.__doc__ = f"\n\nWarning:\n    {text}\n\n{function.__doc__ or ''}"
        return call

    return decorate


def _one_step(x: Tensor, weight: Tensor) -> tuple[np.ndarray, np.ndarray]:
    loss = (PUBLIC["matmul"](x, weight) ** 2).sum()
    loss.backward()
    assert weight.grad is not None
    gradient = weight.grad.numpy()
    weight.clear_gradient(False)
    return loss.numpy(), gradient


def run_check() -> None:
    """Runs a small computation with its gradient, compiled too, on the device in use, and says whether it was right.

    Examples:
        >>> paddle.utils.run_check()
        Running a small program ...
        ...
    """
    random = np.random.default_rng(0)
    left, right = random.standard_normal((4, 3)).astype("float32"), random.standard_normal((3, 2)).astype("float32")
    x, weight = tensor_from_data(left), tensor_from_data(right)
    weight.stop_gradient = False
    product = left @ right
    expected = (product**2).sum(), 2 * left.T @ product
    print("Running a small program ...")
    for _ in range(4):  # the first times operation by operation, then compiled
        for found, wanted in zip(_one_step(x, weight), expected, strict=True):
            if not np.allclose(found, wanted, rtol=1e-4, atol=1e-4):
                raise runtime_error("run_check", "a small computation came out wrong", f"{found} instead of {wanted}")
    print(f"proa works well on {x.place!r}.")
    print("proa is installed successfully: `import proa as paddle` and go.")
