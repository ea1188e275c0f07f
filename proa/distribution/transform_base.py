"""`Transform`: a function with an inverse and the logarithm of its Jacobian's determinant.

A subclass defines `_forward`, `_inverse` and one of `_forward_log_det_jacobian` and
`_inverse_log_det_jacobian`, and `_forward_shape` and `_inverse_shape` where shapes change; `_domain`
and `_codomain` say how many dimensions are one event, `_type` whether it can be inverted.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ..core.errors import message, type_error, value_error
from ..eager.tensor import Tensor
from . import variable


class Type(enum.Enum):
    """What kind of mapping a transform is.

    Examples:
        >>> [kind.value for kind in paddle.distribution.transform.Type]
        ['bijection', 'injection', 'surjection', 'other']
    """

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, _type: Type) -> bool:
        """Whether a kind of mapping never maps two things to the same.

        Args:
            _type: the kind.

        Examples:
            >>> Type = paddle.distribution.transform.Type
            >>> Type.is_injective(Type.BIJECTION), Type.is_injective(Type.SURJECTION)
            (True, False)
        """
        return _type in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """A function with an inverse and the logarithm of its Jacobian's determinant.

    Called with a tensor it maps it, with a distribution it gives the transformed one, with a transform it gives the chain of
    both. A subclass defines `_forward`, `_inverse` and one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`.

    Examples:
        >>> class Double(paddle.distribution.Transform):
        ...     def _forward(self, x):
        ...         return 2 * x
        ...     def _inverse(self, y):
        ...         return y / 2
        ...     def _forward_log_det_jacobian(self, x):
        ...         return paddle.full_like(x, np.log(2.0))
        >>> Double()(paddle.to_tensor([3.0])).tolist(), Double().inverse(paddle.to_tensor([6.0])).tolist()
        ([6.0], [3.0])
    """

    _type = Type.INJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    def __call__(self, input: Any) -> Any:
        from .distribution import Distribution

        if isinstance(input, Distribution):
            from .transformed_distribution import TransformedDistribution

            return TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            from .transform_composed import ChainTransform

            return ChainTransform([self, input])
        return self.forward(input)

    # ---- for users ----

    def forward(self, x: Tensor) -> Any:
        """The image of a tensor.

        Args:
            x: the tensor.

        Raises:
            TypeError: it is no tensor.

        Examples:
            >>> paddle.distribution.ExpTransform().forward(paddle.to_tensor([0.0])).tolist()
            [1.0]
        """
        return self._forward(self._checked("x", x, self._domain.event_rank))

    def inverse(self, y: Tensor) -> Any:
        """What a tensor is the image of.

        Args:
            y: the tensor.

        Raises:
            TypeError: it is no tensor.

        Examples:
            >>> paddle.distribution.ExpTransform().inverse(paddle.to_tensor([1.0])).tolist()
            [0.0]
        """
        return self._inverse(self._checked("y", y, self._codomain.event_rank))

    def forward_log_det_jacobian(self, x: Tensor) -> Any:
        """The logarithm of the absolute determinant of the Jacobian, one number for each event.

        Args:
            x: the place.

        Raises:
            NotImplementedError: the transform is not injective, or defines none.

        Examples:
            >>> paddle.distribution.ExpTransform().forward_log_det_jacobian(paddle.to_tensor([3.0])).tolist()
            [3.0]
        """
        x = self._checked("x", x, self._domain.event_rank)
        if not self._is_injective():
            raise self._missing("forward_log_det_jacobian(): the transform is not injective")
        if self._overrides("_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if self._overrides("_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self._forward(x))
        raise self._missing("a log_det_jacobian")

    def inverse_log_det_jacobian(self, y: Tensor) -> Any:
        """The logarithm of the absolute determinant of the inverse's Jacobian, one number for each event.

        Args:
            y: the place.

        Raises:
            NotImplementedError: the transform defines none.

        Examples:
            >>> print(paddle.distribution.ExpTransform().inverse_log_det_jacobian(paddle.to_tensor([2.0])).numpy().round(4))
            [-0.6931]
        """
        y = self._checked("y", y, self._codomain.event_rank)
        if self._overrides("_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if self._overrides("_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self._inverse(y))
        raise self._missing("a log_det_jacobian")

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the image of something of a shape.

        Args:
            shape: the shape.

        Examples:
            >>> paddle.distribution.StickBreakingTransform().forward_shape([2, 3])
            (2, 4)
        """
        return self._forward_shape(self._checked_shape(shape))

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of what has an image of a shape.

        Args:
            shape: the shape.

        Examples:
            >>> paddle.distribution.StickBreakingTransform().inverse_shape([2, 4])
            (2, 3)
        """
        return self._inverse_shape(self._checked_shape(shape))

    # ---- for subclasses ----

    def _forward(self, x: Any) -> Any:
        raise self._missing("forward()")

    def _inverse(self, y: Any) -> Any:
        raise self._missing("inverse()")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise self._missing("forward_log_det_jacobian()")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise self._missing("inverse_log_det_jacobian()")

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    @property
    def _where(self) -> str:
        return type(self).__name__

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(Transform, name)

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(message(self._where, f"this transform does not have {what}"))

    def _checked(self, name: str, value: Any, rank: int) -> Any:
        if not isinstance(value, Tensor):
            raise type_error(self._where, f"{name} must be a Tensor", f"{name}: {type(value).__name__}")
        if value.ndim < rank:
            raise value_error(self._where, f"{name} must have at least {rank} dimension(s)", f"{name}: {value._aval}")
        return value

    def _checked_shape(self, shape: Any) -> Any:
        if not isinstance(shape, (list, tuple)):
            raise type_error(self._where, "a shape is a list of integers", f"shape: {shape!r}")
        return shape
