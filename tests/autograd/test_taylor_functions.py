"""Taylor rules of functions with a slope of their own, selections, norms and matrices: against nested gradients."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

taylor = paddle.incubate.autograd.taylor
F = paddle.nn.functional
RANDOM = np.random.default_rng(8)
BASE = RANDOM.uniform(0.15, 0.75, (3, 4))
DIRECTION = RANDOM.uniform(-0.5, 0.5, (3, 4))
WEIGHTS = RANDOM.uniform(0.5, 1.5, (3, 4))
SQUARE = RANDOM.uniform(-1, 1, (3, 3)) + 3 * np.eye(3)
# Nested gradients of these are JAX's own, and slow to compile.
FEW = {"layer_norm": 2, "layer_norm with moving scale": 2, "group_norm": 2, "inverse": 3, "solve": 3}


def fixed(values):
    return paddle.to_tensor(np.asarray(values, "float64"))


FUNCTIONS = {
    "atan": paddle.atan, "atanh": paddle.atanh, "asin": paddle.asin, "acos": paddle.acos, "asinh": paddle.asinh,
    "acosh": lambda x: paddle.acosh(x + 1.5), "log1p": paddle.log1p, "log2": paddle.log2, "log10": paddle.log10,
    "logit": paddle.logit, "erf": paddle.erf, "silu": F.silu, "gelu": F.gelu, "log_sigmoid": F.log_sigmoid,
    "gelu by tanh": lambda x: F.gelu(x, approximate=True), "softplus": lambda x: F.softplus(x, beta=1.5, threshold=0.6),
    "atan2": lambda x: paddle.atan2(x, x * x + 0.2), "atan2 of a row": lambda x: paddle.atan2(x, fixed(BASE[:1])),
    "hypot": lambda x: paddle.hypot(x, paddle.exp(x)), "softmax": lambda x: F.softmax(x * 3, axis=0),
    "log_softmax": lambda x: F.log_softmax(x * 3), "logsumexp": lambda x: paddle.logsumexp(x * 2, axis=1, keepdim=True) * x,
    "logsumexp of all": lambda x: paddle.logsumexp(x * 2) * x, "logaddexp": lambda x: paddle.logaddexp(x, x * x),
    "maximum": lambda x: paddle.maximum(x * x, fixed(BASE[::-1].copy()) ** 2),
    "minimum": lambda x: paddle.minimum(paddle.sin(x), fixed(BASE[:1])),
    "fmax": lambda x: paddle.fmax(x**3, 0.3 * x), "max": lambda x: paddle.exp(x).max(axis=1, keepdim=True) * x,
    "min of all": lambda x: (x * x).min() * x, "clip": lambda x: paddle.sin(paddle.clip(x, 0.3, 0.6)) * x,
    "abs": lambda x: (x - 0.4).abs() ** 3, "leaky_relu": lambda x: F.leaky_relu(x - 0.4, 0.2) ** 2,
    "remainder": lambda x: paddle.remainder(x * x, fixed(0.2)),
    "norm": lambda x: paddle.norm(x, p=2, axis=1, keepdim=True) * x,
    "norm 1": lambda x: paddle.norm(x - 0.4, p=1) * x, "norm 3": lambda x: paddle.linalg.norm(x - 0.4, p=3, axis=0) * x,
    "layer_norm": lambda x: F.layer_norm(x * x, 4, fixed(WEIGHTS[0]), fixed(WEIGHTS[1])),
    "layer_norm with moving scale": lambda x: F.layer_norm(x, 4, x[0] * x[0], x[1]),
    "group_norm": lambda x: F.group_norm(x.reshape([3, 4, 1]), 2).reshape([3, 4]), "cumsum": lambda x: (x * x).cumsum(1),
    "inverse": lambda x: paddle.inverse(fixed(SQUARE) + x[:, :3]) @ x,
    "solve": lambda x: paddle.linalg.solve(fixed(SQUARE) + x[:, :3], x),
    "index": lambda x: x[:, [0, 2, 1, 1]] * x[::-1], "matmul": lambda x: paddle.matmul(x @ x.T, x),
    "conv": lambda x: F.conv1d(x.reshape([1, 3, 4]), (x * x).reshape([4, 3, 1])).sum() * x,
    "expand": lambda x: x[0].expand([3, 4]) * x, "interpolate": lambda x: F.interpolate(
        x.reshape([1, 1, 3, 4]) ** 2, size=[6, 8], mode="bilinear").reshape([-1])[:12].reshape([3, 4]),
}  # fmt: skip


def along(function):
    """A number that depends on a number: the function on a line, its results weighted and added up."""
    return lambda t: (function(fixed(BASE) + t * fixed(DIRECTION)) * fixed(WEIGHTS)).sum()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_by_nesting(name):
    t = paddle.to_tensor(np.float64(0.0), stop_gradient=False)
    function = along(FUNCTIONS[name])
    found = taylor(function, t, FEW.get(name, 4))
    wanted = function(t)
    for k, got in enumerate(found):
        assert float(got) == pytest.approx(float(wanted), rel=1e-8, abs=1e-8), f"order {k}"
        (wanted,) = paddle.grad(wanted, t, create_graph=True, allow_unused=True)
        wanted = paddle.zeros_like(t) if wanted is None else wanted


def test_equal_elements_share():
    """At a tie each side counts half, as in the gradient."""
    x = paddle.to_tensor([1.0, 2.0], dtype="float64", stop_gradient=False)
    slope = taylor(lambda x: paddle.maximum(x * x, x), x, 1)[1]
    np.testing.assert_allclose(slope.numpy(), [1.5, 4.0])
    slope = taylor(lambda x: (x * 0 + paddle.sin(x) * 0 + 1 + x - x.detach()).max(), x, 1)[1]
    assert float(slope) == pytest.approx(1.0)


def test_results_can_be_differentiated():
    x = paddle.to_tensor([0.2, 0.5], dtype="float64", stop_gradient=False)
    second = taylor(paddle.atan, x, 2)[2]
    (third,) = paddle.grad(second, x)
    np.testing.assert_allclose(third.numpy(), taylor(paddle.atan, x, 3)[3].numpy(), rtol=1e-12)


@pytest.mark.parametrize("p", [0, float("inf")])
def test_norms_without_a_rule_say_so(p):
    x = paddle.to_tensor([0.2, 0.5], stop_gradient=False)
    with pytest.raises(NotImplementedError, match="norm"):
        taylor(lambda x: paddle.linalg.norm(x, p=p), x, 2)
