"""What hooks put off until a backward pass is over (the exchange of gradients) happens once, at its very end."""

from __future__ import annotations

import pytest

import proa as paddle
from proa.eager.backward.engine import after_backward


def leaf() -> paddle.Tensor:
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def test_a_pass_inside_another_does_not_end_it() -> None:
    x, inner, seen = leaf(), leaf(), []
    y = x * 2

    def hook(grad: paddle.Tensor) -> None:
        after_backward("key", lambda: seen.append(x.grad is not None))
        (inner * 3).sum().backward()
        seen.append("inner is over")

    y.register_hook(hook)
    y.sum().backward()
    assert seen == ["inner is over", True]


def test_a_pass_that_fails_leaves_nothing_for_the_next_one() -> None:
    x, seen = leaf(), []
    y = x * 2

    def hook(grad: paddle.Tensor) -> None:
        after_backward("key", lambda: seen.append("called"))
        raise ValueError("this is meant")

    y.register_hook(hook)
    with pytest.raises(ValueError, match="this is meant"):
        y.sum().backward()
    leaf().sum().backward()
    assert seen == []
