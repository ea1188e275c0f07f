"""Transforms of whole events: softmax, stick breaking, reshape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from . import variable
from .functions import functional, paddle
from .transform_base import Transform, Type


class SoftmaxTransform(Transform):
    """y = softmax(x) over the last axis; it forgets a constant, so `inverse` gives log(y).

    Examples:
        >>> paddle.distribution.SoftmaxTransform().forward(paddle.zeros([4])).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    _type = Type.OTHER

    @property
    def _domain(self) -> variable.Variable:
        return variable.Real(1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, variable.constraint.simplex)

    def _forward(self, x: Any) -> Any:
        return functional.softmax(x, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return paddle.log(y)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if not shape:
            raise value_error("SoftmaxTransform", "a shape with at least one dimension is needed", "shape: []")
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._forward_shape(shape)


class StickBreakingTransform(Transform):
    """From K real numbers to K + 1 that are positive and sum to 1.

    Each number says which part of what is left of a stick of length 1 is broken off; zeros give equal parts.

    Examples:
        >>> print(paddle.distribution.StickBreakingTransform().forward(paddle.zeros([3])).numpy().round(4))
        [0.25 0.25 0.25 0.25]
    """

    _type = Type.BIJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.Real(1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, variable.constraint.simplex)

    def _shifted(self, x: Any) -> Any:
        """The log odds of each part: x = 0 breaks the stick into equal pieces."""
        count = x.shape[-1]
        return x - paddle.log(paddle.arange(count, 0, -1, dtype=x.dtype))

    def _forward(self, x: Any) -> Any:
        part = functional.sigmoid(self._shifted(x))
        left = paddle.cumprod(1.0 - part, dim=-1)
        one = paddle.ones([*x.shape[:-1], 1], dtype=x.dtype)
        return paddle.concat([part, one], axis=-1) * paddle.concat([one, left], axis=-1)

    def _inverse(self, y: Any) -> Any:
        broken = y[..., :-1]
        count = broken.shape[-1]
        left = 1.0 - paddle.cumsum(broken, axis=-1)
        return paddle.log(broken) - paddle.log(left) + paddle.log(paddle.arange(count, 0, -1, dtype=y.dtype))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        shifted = self._shifted(x)
        return (-shifted + functional.log_sigmoid(shifted) + paddle.log(self._forward(x)[..., :-1])).sum(-1)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._changed(shape, 1)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._changed(shape, -1)

    def _changed(self, shape: Sequence[int], by: int) -> tuple[int, ...]:
        if not shape:
            raise value_error("StickBreakingTransform", "a shape with at least one dimension is needed", "shape: []")
        return (*shape[:-1], shape[-1] + by)


class ReshapeTransform(Transform):
    """Gives events another shape.

    Args:
        in_event_shape: the shape of events.
        out_event_shape: the shape of their images, with as many elements.

    Raises:
        TypeError: one is no list.
        ValueError: the numbers of elements differ.

    Examples:
        >>> paddle.distribution.ReshapeTransform([6], [2, 3]).forward(paddle.ones([4, 6])).shape
        paddle.Size([4, 2, 3])
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        received = f"in_event_shape: {in_event_shape}, out_event_shape: {out_event_shape}"
        if not isinstance(in_event_shape, (list, tuple)) or not isinstance(out_event_shape, (list, tuple)):
            raise type_error("ReshapeTransform", "both shapes must be lists of integers", received)
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise value_error("ReshapeTransform", "both shapes must have the same number of elements", received)
        self._in_event_shape = tuple(in_event_shape)
        self._out_event_shape = tuple(out_event_shape)

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of events.

        Examples:
            >>> paddle.distribution.ReshapeTransform([6], [2, 3]).in_event_shape
            (6,)
        """
        return self._in_event_shape

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape of their images.

        Examples:
            >>> paddle.distribution.ReshapeTransform([6], [2, 3]).out_event_shape
            (2, 3)
        """
        return self._out_event_shape

    @property
    def _domain(self) -> variable.Variable:
        return variable.Real(len(self._in_event_shape))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Real(len(self._out_event_shape))

    def _batch_of(self, shape: Sequence[int], event: tuple[int, ...]) -> tuple[int, ...]:
        cut = len(shape) - len(event)
        if cut < 0 or tuple(shape[cut:]) != event:
            raise value_error("ReshapeTransform", f"the last dimensions must be {list(event)}", f"shape: {list(shape)}")
        return tuple(shape[:cut])

    def _forward(self, x: Any) -> Any:
        return x.reshape([*self._batch_of(x.shape, self._in_event_shape), *self._out_event_shape])

    def _inverse(self, y: Any) -> Any:
        return y.reshape([*self._batch_of(y.shape, self._out_event_shape), *self._in_event_shape])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return paddle.zeros(list(self._batch_of(x.shape, self._in_event_shape)), dtype=x.dtype)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*self._batch_of(shape, self._in_event_shape), *self._out_event_shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*self._batch_of(shape, self._out_event_shape), *self._in_event_shape)
