"""The rule of Taylor mode for operations that declare none: elementwise ones follow from their gradients."""

from __future__ import annotations

from ...core.errors import message
from ..backward.engine import gradients, zeros_of
from ..backward.tape import PassNode, edge_of
from ..dispatch import record
from ..tensor import Tensor, alias
from .calls import Call, Series, plus, product_of, scaled, scaled_by


def by_derivatives(call: Call) -> Series:
    """A function of one number, by its derivatives: `f(x0 + u) = f(x0) + f'(x0) u + f''(x0) u^2 / 2 + ...`."""
    names = call.operation.operand_names
    point = separate(call.saved[names[0]])
    value = record(call.operation, [point, *(call.saved[n] for n in names[1:])], call.node.attributes)
    increment = [None, *call.series(0)[1:]]
    power: Series = increment
    total: Series = [None] * (call.order + 1)
    factorial = 1.0
    for degree in call.places():
        factorial *= degree
        (derivative,) = gradients([value], [point], create_graph=True)
        if derivative is None:
            break
        value = derivative
        for k in range(degree, call.order + 1):
            total[k] = plus(total[k], scaled(scaled_by(power[k], derivative), 1.0 / factorial))
        power = product_of(power, increment)
    return total


def separate(x: Tensor) -> Tensor:
    """The same tensor at a place of its own in the graph: derivatives count this use alone."""
    own = alias(x)
    own.stop_gradient = False
    edge = edge_of(x)
    if edge is not None:
        own._node = PassNode(edge, x._aval)
    return own


def along_one_number(call: Call) -> Series:
    """A function of several numbers, by derivatives in t: every element has a t of its own, which is zero."""
    t = separate(zeros_of(call.node.out_aval))
    operands = []
    for position, name in enumerate(call.operation.operand_names):
        value, *rest = call.series(position)
        if value is None and name not in call.saved:
            raise _no_rule(call)
        moved = None
        for coefficient in reversed(rest):  # by Horner's rule
            moved = plus(None if moved is None else moved * t, coefficient)
        operands.append(value if moved is None else value + moved * t)
    value = record(call.operation, operands, call.node.attributes)
    result: Series = [None]
    factorial = 1.0
    for degree in call.places():
        factorial *= degree
        (derivative,) = gradients([value], [t], create_graph=True)
        if derivative is None:
            return result + [None] * (call.order - len(result) + 1)
        value = derivative
        result.append(scaled(value, 1.0 / factorial))
    return result


def advance(call: Call) -> Series:
    """The series of a call's result."""
    rule = call.operation.traits.series
    if rule is None and call.operation.elementwise:
        names = call.operation.operand_names
        alone = names[0] in call.saved and all(operand is None for operand in call.operands[1:])
        rule = by_derivatives if alone else along_one_number
    if rule is None:
        raise _no_rule(call)
    return rule(call)


def _no_rule(call: Call) -> NotImplementedError:
    return NotImplementedError(
        message(
            "taylor",
            f"there is no rule for the operation {call.operation.name}",
            fix="use paddle.grad(create_graph=True)",
        )
    )
