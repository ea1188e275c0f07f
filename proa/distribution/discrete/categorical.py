"""The categorical distribution: one of several classes.

Paddle's reading of `logits` is kept: `prob` and `log_prob` take them for weights (divided by their sum), `sample`,
`entropy` and `kl_divergence` for log weights (through a softmax).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...ops.arguments import integer
from ..arguments import sample_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import functional, paddle


class Categorical(Distribution):
    """Classes along the last dimension of `logits`."""

    def __init__(self, logits: Any, name: str | None = None) -> None:
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
        """Numbers of classes, int64; `shape` may be one integer."""
        if isinstance(shape, int) and not isinstance(shape, bool):
            shape = [integer("Categorical", "shape", shape)]
        dims = sample_shape("Categorical", shape)
        rows = paddle.exp(self._log_softmax()).reshape([-1, self.logits.shape[-1]])
        drawn = paddle.multinomial(rows, math.prod(dims), True)
        return without_gradient(drawn.transpose([1, 0]).reshape([*dims, *self._batch_shape]))

    def prob(self, value: Any) -> Any:
        """The weights of the classes in `value`: a list of classes for every distribution of the batch, or a
        tensor with one row of classes for each."""
        weights = self._weights()
        if not isinstance(value, Tensor):
            value = paddle.to_tensor(value)
        if value._aval.dtype.kind not in "iu":
            raise value_error("Categorical", "classes must be integers", f"value: {value._aval}")
        if weights.ndim == 1:
            return paddle.gather(weights, value.reshape([-1])).reshape(list(value.shape))
        if value.ndim == 1:
            value = value.reshape([1] * (weights.ndim - 1) + [-1])
        if value.ndim != weights.ndim:
            raise value_error(
                "Categorical",
                f"the classes must have one dimension, or {weights.ndim} like the logits",
                f"value: {value._aval}, logits: {self.logits._aval}",
            )
        rows = paddle.expand(value, [*self._batch_shape, value.shape[-1]])
        return paddle.take_along_axis(weights, rows, -1, broadcast=False)

    def log_prob(self, value: Any) -> Any:
        return paddle.log(self.prob(value))

    def entropy(self) -> Any:
        logs = self._log_softmax()
        return -(paddle.exp(logs) * logs).sum(-1)
