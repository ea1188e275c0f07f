"""Taylor mode and high derivatives by nesting: against formulas, against each other, and how long they get."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import proa as paddle
from proa.ir.recorder import LOCAL

taylor = paddle.incubate.autograd.taylor
F = paddle.nn.functional
POINTS = np.array([0.3, 0.7, 1.2])


def point(values=POINTS):
    return paddle.to_tensor(np.asarray(values, "float64"), stop_gradient=False)


def falling(power, k):
    return math.prod(power - i for i in range(k))


# Derivative number k of each function, by its formula.
FORMULAS = {
    "sin": (paddle.sin, lambda x, k: np.sin(x + k * np.pi / 2)),
    "cos": (paddle.cos, lambda x, k: np.cos(x + k * np.pi / 2)),
    "sinh": (paddle.sinh, lambda x, k: np.cosh(x) if k % 2 else np.sinh(x)),
    "cosh": (paddle.cosh, lambda x, k: np.sinh(x) if k % 2 else np.cosh(x)),
    "exp": (paddle.exp, lambda x, k: np.exp(x)),
    "expm1": (paddle.expm1, lambda x, k: np.exp(x) - (k == 0)),
    "log": (paddle.log, lambda x, k: np.log(x) if k == 0 else -math.factorial(k - 1) / (-x) ** k),
    "log1p": (paddle.log1p, lambda x, k: np.log1p(x) if k == 0 else -math.factorial(k - 1) / (-1 - x) ** k),
    "reciprocal": (paddle.reciprocal, lambda x, k: falling(-1, k) * x ** (-1.0 - k)),
    "sqrt": (paddle.sqrt, lambda x, k: falling(0.5, k) * x ** (0.5 - k)),
    "rsqrt": (paddle.rsqrt, lambda x, k: falling(-0.5, k) * x ** (-0.5 - k)),
    "square": (paddle.square, lambda x, k: falling(2, k) * x ** (2.0 - k)),
    "cube": (lambda x: x**3, lambda x, k: falling(3, k) * x ** (3.0 - k)),
    "power -2": (lambda x: x**-2, lambda x, k: falling(-2, k) * x ** (-2.0 - k)),
    "power 2.5": (lambda x: x**2.5, lambda x, k: falling(2.5, k) * x ** (2.5 - k)),
    "2 ** x": (lambda x: 2.0**x, lambda x, k: np.log(2) ** k * 2**x),
    "quotient": (lambda x: (x + 1) / (x + 2), lambda x, k: (k == 0) - falling(-1, k) * (x + 2) ** (-1.0 - k)),
    "scale": (lambda x: paddle.scale(x, 3.0, 1.0), lambda x, k: 3 * x + 1 if k == 0 else (k == 1) * 3 + 0 * x),
    "constant": (lambda x: x * 0.0 + 2.0, lambda x, k: 0 * x + 2.0 * (k == 0)),
    "steps": (paddle.floor, lambda x, k: np.floor(x) * (k == 0)),
    "relu": (lambda x: F.relu(x - 0.5), lambda x, k: [np.maximum(x - 0.5, 0), x > 0.5, 0 * x][min(k, 2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_seven_derivatives_by_formula(name):
    function, formula = FORMULAS[name]
    for k, got in enumerate(taylor(function, point(), 7)):
        np.testing.assert_allclose(got.numpy(), formula(POINTS, k), rtol=1e-10, atol=1e-10, err_msg=f"order {k}")


def nested(function, x, order):
    """The same by nested backward passes."""
    derivatives = [function(x)]
    for _ in range(order):
        (slope,) = paddle.grad(derivatives[-1], x, create_graph=True, allow_unused=True)
        derivatives.append(paddle.zeros_like(x) if slope is None else slope)
    return derivatives


COMPOSED = {
    "tanh": paddle.tanh,
    "tan": lambda x: paddle.tan(x * 0.5),
    "sigmoid": F.sigmoid,
    "x ** x": lambda x: x**x,
    "gelu": F.gelu,
    "silu": F.silu,
    "softplus": F.softplus,
    "erf": paddle.erf,
    "atan": paddle.atan,
    "lgamma": paddle.lgamma,
    "log_sigmoid": F.log_sigmoid,
    "where": lambda x: paddle.where(x > 0.5, x * x * x, paddle.sin(x)),
    "a long chain": lambda x: paddle.exp(paddle.sin(x) * paddle.log(x)) / paddle.sqrt(1 + x * x) - paddle.tanh(-x),
    "a gradient inside": lambda x: paddle.grad(paddle.tanh(x) * F.sigmoid(x), x, create_graph=True)[0],
    "stack, reshape, mean": lambda x: paddle.stack([x, x * x], 1).reshape([-1, 1]).reshape([3, 2]).mean(1) ** 2,
    "split": lambda x: sum(part.squeeze(1) for part in paddle.split(paddle.stack([x, paddle.exp(x)], 1), 2, axis=1)),
    "index": lambda x: paddle.concat([x[:1] ** 3, x[1:]]) * paddle.flip(paddle.flip(x, [0]), [0]),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_five_derivatives_as_by_nesting(name):
    x = point()
    expected = nested(COMPOSED[name], x, 5)
    for k, (got, wanted) in enumerate(zip(taylor(COMPOSED[name], x, 5), expected, strict=True)):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9, err_msg=f"order {k}")


class Network:
    """Four tanh layers and a linear one, on (x, y) in two columns."""

    def __init__(self, width=8):
        random = np.random.default_rng(5)
        sizes = [2, width, width, width, width, 1]
        self.parameters = []
        for fan_in, fan_out in itertools.pairwise(sizes):
            for shape in ((fan_in, fan_out), (fan_out,)):
                values = random.standard_normal(shape) / math.sqrt(fan_in)
                self.parameters.append(paddle.to_tensor(values, stop_gradient=False))

    def __call__(self, x, y):
        hidden = paddle.concat([x, y], axis=1)
        for i in range(0, len(self.parameters), 2):
            hidden = F.linear(hidden, self.parameters[i], self.parameters[i + 1])
            hidden = paddle.tanh(hidden) if i < 8 else hidden
        return hidden


def columns(rows=4):
    random = np.random.default_rng(6)
    return point(random.uniform(-1, 1, (rows, 1))), point(random.uniform(-1, 1, (rows, 1)))


class TestNetwork:
    def test_derivatives_and_their_gradients(self):
        net, (x, y) = Network(), columns()
        series = taylor(lambda x: net(x, y), x, 4)
        expected = nested(lambda x: net(x, y), x, 4)
        for got, wanted in zip(series, expected, strict=True):
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9)
        grads = paddle.grad((series[4] ** 2).mean(), [*net.parameters[:-1], x, y])
        wanted = paddle.grad((expected[4] ** 2).mean(), [*net.parameters[:-1], x, y])
        for a, b in zip(grads, wanted, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-8, atol=1e-8)

    def test_against_central_differences(self):
        net, (x, y) = Network(), columns()
        third, fourth = taylor(lambda x: net(x, y), x, 4)[3:]
        step = 1e-4
        above, below = (taylor(lambda x: net(x, y), x.detach() + d, 3)[3].numpy() for d in (step, -step))
        np.testing.assert_allclose(fourth.numpy(), (above - below) / (2 * step), rtol=1e-5, atol=1e-6)
        assert np.abs(third.numpy()).max() > 1e-3

    def test_mixed_derivatives_from_directions(self):
        net, (x, y) = Network(), columns()
        one = paddle.ones_like(x)
        along = [taylor(net, [x, y], 2, [one * a, one * b])[2] for a, b in ((1, 1), (1, 0), (0, 1))]
        mixed = (along[0] - along[1] - along[2]) / 2
        (u_x,) = paddle.grad(net(x, y), x, create_graph=True)
        np.testing.assert_allclose(mixed.numpy(), paddle.grad(u_x, y)[0].numpy(), rtol=1e-9, atol=1e-9)

    def test_training_steps_compile_and_agree(self):
        """The loss falls, and is the same whether a step is compiled or not."""
        losses = {}
        for mode in ("auto", "immediate"):
            paddle.set_flags({"FLAGS_eager_mode": mode})
            try:
                net, (x, y) = Network(), columns(8)
                optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=net.parameters)
                losses[mode] = []
                for _ in range(6):
                    loss = ((taylor(lambda x: net(x, y), x, 2)[2] - 1) ** 2).mean()  # noqa: B023
                    loss.backward()
                    optimizer.step()
                    optimizer.clear_grad()
                    losses[mode].append(loss.item())
            finally:
                paddle.set_flags({"FLAGS_eager_mode": "auto"})
        np.testing.assert_allclose(losses["auto"], losses["immediate"], rtol=1e-9)
        assert losses["auto"][-1] < losses["auto"][0]


def recorded(work):
    """How many instructions a piece of work records."""
    paddle.zeros([1]).numpy()
    before = len(LOCAL.segment.node.program(()).instructions)
    kept = work()
    after = len(LOCAL.segment.node.program(()).instructions)
    del kept
    return after - before


class TestLength:
    def test_taylor_grows_slowly(self):
        net, (x, y) = Network(), columns()
        lengths = [recorded(lambda n=n: taylor(lambda x: net(x, y), x, n)) for n in range(1, 9)]
        # Quadratic: steps between neighbours grow by a constant.
        assert lengths[-1] < 700
        assert max(np.diff(lengths, 2)) < 30

    def test_nesting_grows_no_more_than_fourfold(self):
        net, (x, y) = Network(), columns()
        lengths = []
        u = net(x, y)
        for _ in range(5):
            found = []
            lengths.append(recorded(lambda: found.extend(paddle.grad(u, x, create_graph=True))))  # noqa: B023
            (u,) = found
        assert lengths[0] < 30
        assert all(b < 4 * a for a, b in itertools.pairwise(lengths))

    def test_equal_terms_have_equal_programs(self):
        """Rules use fixed numbers: none of them may travel as data, which XLA could not fold or share."""
        x = point()
        y = F.sigmoid(paddle.tanh(x)) + paddle.sqrt(paddle.square(x)) + x**3 + paddle.cos(x) + paddle.log2(x)
        paddle.zeros([1]).numpy()
        slopes = paddle.grad(y, x, paddle.ones_like(y), create_graph=True)
        slopes = paddle.grad(slopes, x, [paddle.ones_like(y)])
        names = {
            i.operation.name for i in LOCAL.segment.node.program(()).instructions if i.scalars
        }  # fmt: skip
        assert names <= {"full", "times"}, names
        assert slopes[0].shape == [3]


def test_several_results_and_unused_inputs():
    x, y = point(), point([1.0, 2.0, 3.0])
    first, second = taylor(lambda x, y: (x * x, paddle.ones([2], "float64")), [x, y], 2)
    np.testing.assert_allclose([t.numpy() for t in first], [POINTS**2, 2 * POINTS, [2, 2, 2]])
    np.testing.assert_array_equal([t.numpy() for t in second], [[1, 1], [0, 0], [0, 0]])
    (only,) = taylor(paddle.sin, x, 0)
    np.testing.assert_allclose(only.numpy(), np.sin(POINTS))


def test_broadcast_operands():
    x = point([[0.5], [0.25]])
    row = paddle.to_tensor([1.0, 2.0, 3.0], dtype="float64")
    for function in (lambda x: x + row, lambda x: row - x, lambda x: x * row, lambda x: row / x, lambda x: x**row):
        got = taylor(function, x, 2)
        h = 1e-4
        ups, downs = (function(x.detach() + d).numpy() for d in (h, -h))
        assert all(t.shape == [2, 3] for t in got)
        np.testing.assert_allclose(got[1].numpy(), (ups - downs) / (2 * h), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            got[2].numpy(), (ups - 2 * got[0].numpy() + downs) / h**2, rtol=1e-4, atol=1e-5
        )  # fmt: skip


def test_wrong_input():
    x = point()
    for order in (-1, 1.5, True, None):
        with pytest.raises(ValueError, match="order"):
            taylor(paddle.sin, x, order)
    with pytest.raises(ValueError, match="shape"):
        taylor(paddle.sin, x, 2, paddle.ones([2], "float64"))
    with pytest.raises(TypeError, match="callable"):
        taylor(x, x, 2)
    with pytest.raises(NotImplementedError, match="no rule for the operation cumprod"):
        taylor(lambda x: paddle.cumprod(x, 0), x, 2)


def test_prim_switches_are_accepted():
    autograd = paddle.incubate.autograd
    autograd.enable_prim()
    assert autograd.prim_enabled()
    autograd.disable_prim()
    assert not autograd.prim_enabled()
