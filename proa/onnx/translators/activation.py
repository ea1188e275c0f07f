"""Activation functions."""

from __future__ import annotations

import math

from ..builder import Builder, Made
from ..registry import Call, translates
from .arithmetic import log_one_plus, scaled


@translates("hardswish")
def hardswish(b: Builder, c: Call) -> Made:
    return b.same("HardSwish", c.operands[0])


@translates("silu")
def silu(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.binary("Mul", x, b.same("Sigmoid", x))


@translates("log_sigmoid")
def log_sigmoid(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.same("Neg", _soft_plus(b, b.same("Neg", x)))


def _soft_plus(b: Builder, x: Made) -> Made:
    """log(1 + exp(x)), without overflow."""
    rest = log_one_plus(b, b.same("Exp", b.same("Neg", b.same("Abs", x))))
    return b.binary("Add", b.with_number("Max", x, 0), rest)


@translates("softplus")
def softplus(b: Builder, c: Call) -> Made:
    x, beta, threshold = c.operands
    bent = scaled(b, _soft_plus(b, scaled(b, x, beta)), 1 / beta)
    above = b.with_number("Greater", scaled(b, x, beta), threshold, "bool")
    return b.where(above, x, bent)


@translates("leaky_relu")
def leaky_relu(b: Builder, c: Call) -> Made:
    x, slope = c.operands
    return b.same("LeakyRelu", x, alpha=float(slope))


@translates("gelu")
def gelu(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    if b.opset >= 20:
        return b.same("Gelu", x, approximate="tanh" if c.attributes[0] else "none")
    if c.attributes[0]:
        cubed = b.binary("Mul", b.binary("Mul", x, x), x)
        argument = b.with_number(
            "Mul", b.binary("Add", x, b.with_number("Mul", cubed, 0.044715)), math.sqrt(2 / math.pi)
        )
        share = b.with_number("Add", b.same("Tanh", argument), 1)
        return b.binary("Mul", b.with_number("Mul", x, 0.5), share)
    # In this order runtimes recognise it and make one kernel of it.
    share = b.with_number("Add", b.same("Erf", b.with_number("Div", x, math.sqrt(2))), 1)
    return b.with_number("Mul", b.binary("Mul", x, share), 0.5)


@translates("exponential_unit")
def exponential_unit(b: Builder, c: Call) -> Made:
    x, height, width = c.operands
    if width == 1:
        return b.same("Elu", x, alpha=float(height))
    if width == height:
        return b.same("Celu", x, alpha=float(height))
    bent = scaled(b, b.same("Exp", scaled(b, b.with_number("Min", x, 0), 1 / width)), height, -height)
    return b.where(b.with_number("Greater", x, 0, "bool"), x, bent)


@translates("softmax", "log_softmax")
def softmax(b: Builder, c: Call) -> Made:
    x = b.cast(c.operands[0], c.dtype)
    return b.same("Softmax" if c.name == "softmax" else "LogSoftmax", x, axis=int(c.attributes[0]))
