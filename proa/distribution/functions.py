"""The public tensor functions under their public names, for the distributions to be written with.

`paddle.exp(x)` in this folder is what users call by that name. Functions are looked up at their
first use, so that importing this folder imports nothing else.
"""

from __future__ import annotations

from typing import Any

from ..ops.public_functions import PublicFunctions

paddle = PublicFunctions()
functional = PublicFunctions("nn.functional")
linalg = PublicFunctions("linalg")


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), without the linear part that `nn.functional.softplus` has.

    Examples:
        >>> from proa.distribution.kl import softplus
        >>> round(softplus(paddle.to_tensor(0.0)).item(), 4)
        0.6931
    """
    return -functional.log_sigmoid(-x)


def times_log(factor: Any, x: Any) -> Any:
    """`factor * log(x)`, which is 0 where both are 0; its gradients there are finite.

    Examples:
        >>> from proa.distribution.kl import times_log
        >>> times_log(paddle.to_tensor([0.0, 2.0]), paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 0.0]
    """
    both = paddle.logical_and(factor == 0.0, x == 0.0)
    return factor * paddle.log(paddle.where(both, paddle.ones_like(x), x))


def log_beta(a: Any, b: Any) -> Any:
    """The logarithm of the beta function.

    Examples:
        >>> from proa.distribution.kl import log_beta
        >>> round(log_beta(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).item(), 4)
        -0.6931
    """
    return paddle.lgamma(a) + paddle.lgamma(b) - paddle.lgamma(a + b)


def sum_rightmost(x: Any, count: int) -> Any:
    """The sum over the last `count` axes.

    Examples:
        >>> from proa.distribution.kl import sum_rightmost
        >>> sum_rightmost(paddle.ones([2, 3]), 1).tolist()
        [3.0, 3.0]
    """
    return paddle.sum(x, axis=list(range(-count, 0))) if count > 0 else x


def choose(condition: Any, x: Any, otherwise: float) -> Any:
    """`x` where a condition holds, a number elsewhere.

    Examples:
        >>> from proa.distribution.kl import choose
        >>> choose(paddle.to_tensor([True, False]), paddle.to_tensor([1.0, 2.0]), 0.0).tolist()
        [1.0, 0.0]
    """
    return paddle.where(condition, x, paddle.full_like(x, otherwise))
