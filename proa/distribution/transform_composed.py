"""Transforms made of transforms: one after the other, over more dimensions, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from . import variable
from .functions import paddle, sum_rightmost
from .transform_base import Transform


class ChainTransform(Transform):
    """Several transforms, one after the other.

    Args:
        transforms: a list of them.

    Raises:
        TypeError: one is no transform.

    Examples:
        >>> from proa.distribution import ChainTransform, ExpTransform, PowerTransform
        >>> chain = ChainTransform([ExpTransform(), PowerTransform(paddle.to_tensor(2.0))])
        >>> chain.forward(paddle.to_tensor([0.0])).tolist(), chain.inverse(paddle.to_tensor([1.0])).tolist()
        ([1.0], [0.0])
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
            raise type_error("ChainTransform", "transforms must be a list of Transforms", f"{transforms!r}")
        self.transforms = list(transforms)

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(t._is_injective() for t in self.transforms)

    @property
    def _domain(self) -> variable.Variable:
        rank = self.transforms[-1]._codomain.event_rank if self.transforms else 0
        for t in reversed(self.transforms):
            rank = max(rank + t._domain.event_rank - t._codomain.event_rank, t._domain.event_rank)
        return _with_rank(self.transforms[0]._domain, rank) if self.transforms else variable.real

    @property
    def _codomain(self) -> variable.Variable:
        rank = self.transforms[0]._domain.event_rank if self.transforms else 0
        for t in self.transforms:
            rank = max(rank + t._codomain.event_rank - t._domain.event_rank, t._codomain.event_rank)
        return _with_rank(self.transforms[-1]._codomain, rank) if self.transforms else variable.real

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        rank = self._domain.event_rank
        total = paddle.zeros_like(sum_rightmost(x, rank))
        for t in self.transforms:
            total = total + sum_rightmost(t.forward_log_det_jacobian(x), rank - t._domain.event_rank)
            x = t.forward(x)
            rank += t._codomain.event_rank - t._domain.event_rank
        return total

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        return shape


def _with_rank(base: variable.Variable, rank: int) -> variable.Variable:
    more = rank - base.event_rank
    return variable.Independent(base, more) if more > 0 else base


class IndependentTransform(Transform):
    """A transform with further batch axes counted to the event.

    Args:
        base: the transform.
        reinterpreted_batch_rank: how many axes.

    Raises:
        TypeError: `base` is no transform.
        ValueError: the number is not positive.

    Examples:
        >>> transform = paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1)
        >>> transform.forward_log_det_jacobian(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [3.0, 7.0]
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise type_error("IndependentTransform", "base must be a Transform", f"base: {type(base).__name__}")
        if not isinstance(reinterpreted_batch_rank, int) or reinterpreted_batch_rank <= 0:
            raise value_error(
                "IndependentTransform", "reinterpreted_batch_rank must be a positive integer",
                f"reinterpreted_batch_rank: {reinterpreted_batch_rank!r}",
            )  # fmt: skip
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank

    def _is_injective(self) -> bool:  # type: ignore[override]
        return self._base._is_injective()

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return sum_rightmost(self._base.forward_log_det_jacobian(x), self._reinterpreted_batch_rank)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.inverse_shape(shape)


class StackTransform(Transform):
    """One transform for each entry along an axis.

    Args:
        transforms: a list of them.
        axis: the axis.

    Raises:
        TypeError: one is no transform, or the axis is no integer.

    Examples:
        >>> from proa.distribution import ExpTransform, PowerTransform, StackTransform
        >>> stack = StackTransform([ExpTransform(), PowerTransform(paddle.to_tensor(2.0))], axis=0)
        >>> stack.forward(paddle.to_tensor([0.0, 3.0])).tolist()
        [1.0, 9.0]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        if not transforms or not isinstance(transforms, (list, tuple)):
            raise type_error("StackTransform", "transforms must be a list of Transforms", f"transforms: {transforms!r}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise type_error("StackTransform", "transforms must be a list of Transforms", f"transforms: {transforms!r}")
        if not isinstance(axis, int):
            raise type_error("StackTransform", "axis must be an integer", f"axis: {axis!r}")
        self._transforms = transforms
        self._axis = axis

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(t._is_injective() for t in self._transforms)

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms.

        Examples:
            >>> from proa.distribution import ExpTransform, StackTransform, TanhTransform
            >>> len(StackTransform([ExpTransform(), TanhTransform()]).transforms)
            2
        """
        return self._transforms

    @property
    def axis(self) -> int:
        """The axis.

        Examples:
            >>> from proa.distribution import ExpTransform, StackTransform, TanhTransform
            >>> StackTransform([ExpTransform(), TanhTransform()], axis=1).axis
            1
        """
        return self._axis

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([t._domain for t in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([t._codomain for t in self._transforms], self._axis)

    def _each(self, x: Any, method: str) -> Any:
        if not -x.ndim <= self._axis < x.ndim or x.shape[self._axis] != len(self._transforms):
            raise value_error(
                "StackTransform",
                f"the tensor must have {len(self._transforms)} entries along axis {self._axis}",
                f"{x._aval}",
            )
        parts = paddle.unbind(x, self._axis)
        return paddle.stack([getattr(t, method)(part) for t, part in zip(self._transforms, parts)], self._axis)

    def _forward(self, x: Any) -> Any:
        return self._each(x, "forward")

    def _inverse(self, y: Any) -> Any:
        return self._each(y, "inverse")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each(x, "forward_log_det_jacobian")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._each(y, "inverse_log_det_jacobian")
