"""Clipping of gradients in place, without an optimiser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.errors import runtime_error, value_error
from ...eager.tensor import Tensor
from ...eager.views import replace_value
from ...ir.recorder import recording_gradients
from ...ops.basic import full_of
from ...ops.shape.joining import stack_along


def _with_grads(parameters: Any) -> list[Any]:
    found: Iterable[Any] = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter for parameter in found if parameter._grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scales all gradients together, in place, so that their joint norm is at most `max_norm`.

    Args:
        parameters: a tensor, or several; those without a gradient are left out.
        max_norm: the largest norm.
        norm_type: the p of the norm; infinity for the largest absolute value.
        error_if_nonfinite: raises where the norm is NaN or infinite.

    Returns:
        The norm before.

    Raises:
        ValueError: `norm_type` is negative.
        RuntimeError: the norm is not finite, and `error_if_nonfinite` is True.

    Examples:
        >>> weight = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
        >>> (weight ** 2 / 2).sum().backward()  # the gradient is the weight
        >>> paddle.nn.utils.clip_grad_norm_([weight], max_norm=1.0).item()
        5.0
        >>> print(weight.grad.numpy().round(3))
        [0.6 0.8]
    """
    chosen = _with_grads(parameters)
    limit, order = float(max_norm), float(norm_type)
    if order not in (0.0, 1.0, 2.0, float("inf")) and order <= 0:
        raise value_error("clip_grad_norm_", "norm_type must be 0 or positive", f"norm_type: {norm_type}")
    if not chosen:
        return full_of(0.0, (), np.dtype("float32"))
    with recording_gradients(False):
        grads = [parameter._grad for parameter in chosen]
        if order == float("inf"):
            total: Any = stack_along([grad.abs().max() for grad in grads], 0).max()
        else:
            norms = stack_along([grad.flatten().norm(p=order) for grad in grads], 0)
            total = norms.norm(p=order)
        if error_if_nonfinite and not bool(total.isfinite()):
            raise runtime_error(
                "clip_grad_norm_", "the joint norm of the gradients is not finite", f"norm: {total.item()}"
            )
        scale = (limit / (total + 1e-6)).clip(max=1.0)
        for grad in grads:
            replace_value(grad, grad * scale)
        return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Cuts every element of the gradients to [-clip_value, clip_value], in place.

    Args:
        parameters: a tensor, or several; those without a gradient are left out.
        clip_value: the largest absolute value.

    Raises:
        ValueError: `clip_value` is negative.

    Examples:
        >>> weight = paddle.to_tensor([3.0, 0.5], stop_gradient=False)
        >>> (weight ** 2 / 2).sum().backward()
        >>> paddle.nn.utils.clip_grad_value_([weight], 1.0)
        >>> weight.grad.tolist()
        [1.0, 0.5]
    """
    limit = float(clip_value)
    if limit < 0:
        raise value_error("clip_grad_value_", "clip_value cannot be negative", f"clip_value: {clip_value}")
    with recording_gradients(False):
        for parameter in _with_grads(parameters):
            replace_value(parameter._grad, parameter._grad.clip(-limit, limit))
