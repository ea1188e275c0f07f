"""The categorical distribution: one of several classes.

Paddle's reading of `logits` is kept: `prob` and `log_prob` take them for weights (divided by their sum), `sample`,
`entropy` and `kl_divergence` for log weights (through a softmax).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.errors import value_error
from ...eager.annotations import Number, TensorLike
from ...eager.tensor import Tensor
from ...ops.arguments import integer
from ..arguments import sample_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import functional, paddle


class Categorical(Distribution):
    """One of several classes, along the last axis of `logits`.

    Paddle's reading of `logits` is kept: `prob` and `log_prob` take them for weights (divided by their sum), `sample`,
    `entropy` and `kl_divergence` for log weights (through a softmax).

    Args:
        logits: a list or a tensor.
        name: a label; it changes nothing.

    Raises:
        ValueError: `logits` has no axis.

    Examples:
        >>> classes = paddle.distribution.Categorical([1.0, 3.0])
        >>> classes.prob(paddle.to_tensor([0, 1])).tolist()
        [0.25, 0.75]
        >>> classes.sample([5]).shape
        paddle.Size([5])
    """

    def __init__(self, logits: Number, name: str | None = None) -> None:
        self.name = "Categorical" if name is None else name
        (self.logits,) = tensors("Categorical", logits=logits)
        if not self.logits.ndim:
            raise value_error("Categorical", "logits must have at least one dimension", f"logits: {self.logits._aval}")
        super().__init__(tuple(self.logits.shape)[:-1])

    def _weights(self) -> Any:
        return self.logits / self.logits.sum(-1, keepdim=True)

    def _log_softmax(self) -> Any:
        return functional.log_softmax(self.logits, axis=-1)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers of classes, as int64.

        Args:
            shape: how many samples: a list of extents, or one integer.

        Examples:
            >>> paddle.distribution.Categorical([1.0, 3.0]).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        if isinstance(shape, int) and not isinstance(shape, bool):
            shape = [integer("Categorical", "shape", shape)]
        dims = sample_shape("Categorical", shape)
        rows = paddle.exp(self._log_softmax()).reshape([-1, self.logits.shape[-1]])
        drawn = paddle.multinomial(rows, math.prod(dims), True)
        return without_gradient(drawn.transpose([1, 0]).reshape([*dims, *self._batch_shape]))

    def prob(self, value: TensorLike) -> Any:
        """The weights of classes, divided by the sum of all.

        Args:
            value: a list of classes for every distribution of the batch, or a tensor with one row of classes for each.

        Raises:
            ValueError: the classes are no integers, or have another number of axes.

        Examples:
            >>> law = paddle.distribution.Categorical([1.0, 3.0])
            >>> print(law.prob(paddle.to_tensor([0, 1])).numpy().round(4))
            [0.25 0.75]
        """
        weights = self._weights()
        classes = value if isinstance(value, Tensor) else paddle.to_tensor(value)
        if classes._aval.dtype.kind not in "iu":
            raise value_error("Categorical", "classes must be integers", f"value: {classes._aval}")
        if weights.ndim == 1:
            return paddle.gather(weights, classes.reshape([-1])).reshape(list(classes.shape))
        if classes.ndim == 1:
            classes = classes.reshape([1] * (weights.ndim - 1) + [-1])
        if classes.ndim != weights.ndim:
            raise value_error(
                "Categorical",
                f"the classes must have one dimension, or {weights.ndim} like the logits",
                f"value: {classes._aval}, logits: {self.logits._aval}",
            )
        rows = paddle.expand(classes, [*self._batch_shape, classes.shape[-1]])
        return paddle.take_along_axis(weights, rows, -1, broadcast=False)

    def log_prob(self, value: TensorLike) -> Any:
        """The logarithm of the probability of a value.

        Args:
            value: the value.

        Examples:
            >>> law = paddle.distribution.Categorical([1.0, 3.0])
            >>> print(law.log_prob(paddle.to_tensor([0, 1])).numpy().round(4))
            [-1.3863 -0.2877]
        """
        return paddle.log(self.prob(value))

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Categorical([1.0, 3.0]).entropy().numpy().round(4))
            0.3653
        """
        logs = self._log_softmax()
        return -(paddle.exp(logs) * logs).sum(-1)
