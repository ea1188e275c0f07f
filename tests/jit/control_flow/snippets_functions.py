"""Helpers, closures, lambdas, methods, layers, decorators."""

from __future__ import annotations

import functools

import proa as paddle
from proa import nn

from .collection import snippet


def clipped(value, limit):
    if value.abs().max() > limit:
        return value / value.abs().max() * limit
    return value


def power(x, n):
    if n == 0:
        return paddle.ones_like(x)
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        once = function(*args, **kwargs)
        if once.sum() > 3:
            return once * 2
        return once

    return wrapper


@twice
def decorated_helper(x):
    return x + 1 if x[0] > 0 else x - 1


@snippet(([1.0, 2.0],), ([10.0, 2.0],))
def helper_function(x):
    return clipped(x * 2, 5.0) + clipped(x, limit=3.0)


@snippet(([1.0, 2.0],), ([-1.0, 2.0],))
def recursive_helper(x):
    y = power(x, 5)
    if y.sum() > 20:
        y = y - 1
    return y


@snippet(([1.0, 2.0],), ([-1.0, 2.0],), ([0.1, 0.2],))
def decorated(x):
    return decorated_helper(x) * x


@snippet(([1.0, 2.0],), ([-1.0, 2.0],))
def nested_function(x):
    def inner(value):
        if value[0] > 0:
            return value * scale
        return value - scale

    scale = 3.0
    return inner(x) + inner(-x)


@snippet(([1.0, 2.0],), ([-1.0, 2.0],))
def lambdas(x):
    choose = lambda value, other: value * 2 if value.sum() > 2 else other  # noqa: E731
    positive = map(lambda v: v if v > 0 else -v, [choose(x, x * 3)[0], choose(-x, x)[1]])  # noqa: C417
    return sum(positive)


@snippet(([1.0, 2.0],), ([-1.0, 2.0],))
def nonlocal_variable(x):
    count = paddle.zeros([])
    total = x * 0

    def add(value):
        nonlocal count, total
        count = count + 1
        total = total + value

    add(x)
    if x[0] > 0:
        add(x * 2)
        add(x * 3)
    else:
        add(x * 5)
    return total / count


class Counter:
    """A plain object whose attributes change in branches."""

    def __init__(self):
        self.value = paddle.zeros([2])
        self.__hidden = 2.0

    def grow(self, x):
        if x.sum() > 2:
            self.value = self.value + x * self.__hidden
        else:
            self.value = self.value - x
        return self


@snippet(([1.0, 2.0],), ([-1.0, 2.0],))
def attributes(x):
    counter = Counter()
    for _ in range(3):
        counter.grow(x)
        if counter.value.sum() > 10:
            break
    return counter.value * x


class Gate(nn.Layer):
    """Chooses between two layers."""

    def __init__(self):
        super().__init__()
        self.small = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(0.5))
        self.large = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(-0.25))

    def forward(self, x):
        if x.mean() > 1:
            return self.large(x)
        return self.small(x)


class Base(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gates = nn.LayerList([Gate() for _ in range(3)])

    def forward(self, x, stop=100.0):
        for gate in self.gates:
            x = gate(x)
            if x.sum() > stop:
                break
        return x


class Derived(Base):
    def forward(self, x):
        if x[0, 0] > 0:
            y = super().forward(x, stop=4.0)
        else:
            y = super().forward(x * 2)
        return y.sum()


_GATE, _DERIVED, _SEQUENCE = Gate(), Derived(), nn.Sequential(Gate(), nn.ReLU(), Gate())


@snippet(([[3.0, 2.0]],), ([[-1.0, 2.0]],))
def layer(x):
    return _GATE(x)


@snippet(([[3.0, 2.0]],), ([[-1.0, 2.0]],), ([[0.3, 0.1]],))
def inherited_forward_and_super(x):
    return _DERIVED(x) * x


@snippet(([[3.0, 2.0]],), ([[-1.0, 2.0]],))
def user_layers_inside_library_layers(x):
    return _SEQUENCE(x)


@snippet(([1.0, 2.0],), ([-4.0, 2.0],))
def try_and_with(x):
    try:
        with paddle.amp.auto_cast(enable=False):
            if x[0] > 0:
                return x * 2
            x = x + 1
    finally:
        x = x * 1
    return x * 3


@snippet(([1.0, 2.0], "sum"), ([1.0, 2.0], "mean"), ([-1.0, 2.0], "none"))
def match_statement(x, reduction):
    match reduction:
        case "sum":
            if x[0] > 0:
                return x * x.sum()
            x = x * 2
        case "mean":
            return x * x.mean()
        case _:
            pass
    return x * 3


@snippet(([1.0, 2.0],), ([5.0, 2.0],))
def walrus(x):
    while (total := x.sum()) < 10:
        x = x + total * 0.5
    if (largest := x.max()) > 6:
        x = x / largest
    return x


@snippet(([1.0, 2.0, 3.0, 4.0],), ([4.0, 3.0, 2.0, 1.0],))
def beam_step(scores):
    best = scores[0]
    index = 0
    for i in range(1, 4):
        if scores[i] > best:
            best = scores[i]
            index = i
    return best * (index + 1)


@snippet(([0.2, 0.9],), ([2.0, -0.3],))
def fixed_point_with_layers(x):
    previous = x * 0
    rounds = paddle.zeros([], "int32")
    while (x - previous).abs().max() > 1e-3 and rounds < 20:
        previous = x
        x = paddle.tanh(x * 0.5)
        rounds += 1
    return x * 100
