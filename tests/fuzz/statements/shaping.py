"""Statements that change shapes: views of the same memory, and joins and copies."""

from __future__ import annotations

import math

from ..model import Variable
from ..scope import Scope
from .table import statement


def factorisation(scope: Scope, size: int) -> tuple[int, ...]:
    """A random shape of up to four dimensions with that many elements."""
    shape: list[int] = []
    rest = size
    while rest > 1 and len(shape) < 3:
        divisors = [number for number in range(2, rest + 1) if rest % number == 0]
        shape.append(scope.chance.choice(divisors))
        rest //= shape[-1]
    if rest > 1:
        shape.append(rest)
    if len(shape) < 3 and scope.decide(0.2):
        shape.insert(scope.chance.randint(0, len(shape)), 1)
    return tuple(shape)


def view_of(scope: Scope, base: Variable) -> Variable | None:
    """Write a view of the whole tensor in another shape or order."""
    kind = scope.chance.choice(("reshape", "reshape", "transpose", "unsqueeze", "squeeze", "flatten", "t", "detach"))
    name, shape = base.name, base.shape
    contiguous, certain, smooth, detached = True, True, kind not in ("squeeze", "t"), False
    if kind in ("reshape", "flatten"):
        # Paddle copies where the memory is not contiguous or the tensor has no dimensions; only there the
        # outcome is left open.
        certain = base.contiguous and base.rank > 0
        new = (base.size,) if kind == "flatten" else factorisation(scope, base.size)
        if kind == "flatten":
            if base.rank == 0:
                return None
            expression = f"{name}.flatten()"
        else:
            written = list(new)
            if written and scope.decide(0.3):
                written[scope.chance.randrange(len(written))] = -1
            form = "{0}.reshape({1})" if scope.decide(0.6) else "paddle.reshape({0}, {1})"
            expression = form.format(name, written)
    elif kind == "transpose":
        if base.rank < 2:
            return None
        order = scope.chance.sample(range(base.rank), base.rank)
        new, contiguous = tuple(shape[axis] for axis in order), False
        expression = f"paddle.transpose({name}, {order})"
        if scope.decide(0.4):
            expression = f"{name}.transpose({order})"
    elif kind == "t":
        if base.rank != 2:
            return None
        new, contiguous = shape[::-1], False
        expression = f"{name}.t()" if scope.decide(0.5) else f"{name}.T"
    elif kind == "unsqueeze":
        if base.rank > 3:
            return None
        axis = scope.chance.randint(0, base.rank)
        new = (*shape[:axis], 1, *shape[axis:])
        expression = f"{name}.unsqueeze({axis})"
    elif kind == "squeeze":
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        if not ones:
            return None
        axis = scope.chance.choice(ones)
        new = shape[:axis] + shape[axis + 1 :]
        expression = f"paddle.squeeze({name}, axis={axis})"
    else:
        new, detached, expression = shape, True, f"{name}.detach()"
    scope.feature("view", kind)
    return scope.alias(expression, base, new, contiguous=contiguous, whole=True, certain=certain,
                       smooth=smooth, detached=detached)  # fmt: skip


@statement("shape", 4)
def reshaped_view(scope: Scope) -> bool:
    base = scope.pick(lambda variable: variable.dtype != "bool" and variable.size > 0)
    return scope.may_view and base is not None and view_of(scope, base) is not None


@statement("shape", 1)
def unbound(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank > 1 and variable.shape[0] > 1)
    if base is None or not scope.may_view:
        return False
    position = scope.chance.randrange(base.shape[0])
    scope.feature("unbind")
    scope.alias(f"paddle.unbind({base.name}, axis=0)[{position}]", base, base.shape[1:],
                contiguous=True, whole=False, certain=False, smooth=False)  # fmt: skip
    return True


def copy(scope: Scope, expression: str, shape: tuple[int, ...], operands: list[Variable],
         repeat: float = 1.0, smooth: bool = False) -> bool:  # fmt: skip
    """Assign a result that only moves values about."""
    result = scope.assign(
        expression,
        shape,
        operands,
        dtype=operands[0].dtype,
        magnitude=max(operand.magnitude for operand in operands),
        noise=max(operand.noise for operand in operands),
        gain=sum(operand.gain for operand in operands) * repeat,
        smooth=smooth,
        saves=False,
    )
    return result is not None


@statement("shape", 1)
def expanded(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank > 0 and variable.size <= 20)
    if base is None:
        return False
    shape = tuple(scope.chance.randint(2, 3) if size == 1 else size for size in base.shape)
    if scope.decide(0.5) and base.rank < 3:
        shape = (scope.chance.randint(1, 3), *shape)
    repeat = math.prod(shape) / base.size
    form = scope.chance.choice(("paddle.expand({0}, {1})", "{0}.expand({1})",
                                "paddle.broadcast_to({0}, {1})"))  # fmt: skip
    scope.feature("expand")
    return copy(scope, form.format(base.name, list(shape)), shape, [base], repeat)


@statement("shape", 0.5)
def tiled(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank in (1, 2) and variable.size <= 20)
    if base is None:
        return False
    repeats = [scope.chance.randint(1, 2) for _ in base.shape]
    shape = tuple(size * count for size, count in zip(base.shape, repeats, strict=True))
    return copy(scope, f"paddle.tile({base.name}, {repeats})", shape, [base], math.prod(repeats))


@statement("join", 2)
def joined(scope: Scope) -> bool:
    first = scope.pick(lambda variable: variable.rank in (1, 2, 3) and variable.size <= 30)
    if first is None:
        return False
    others = [
        variable for variable in scope.variables if variable.shape == first.shape and variable.dtype == first.dtype
    ]
    second = scope.chance.choice(others)
    axis = scope.chance.randrange(first.rank)
    if scope.decide(0.6):
        scope.feature("concat")
        shape = list(first.shape)
        shape[axis] += second.shape[axis]
        text = f"paddle.concat([{first.name}, {second.name}], axis={axis})"
    else:
        scope.feature("stack")
        shape = [*first.shape[:axis], 2, *first.shape[axis:]]
        text = f"paddle.stack([{first.name}, {second.name}], axis={axis})"
    return copy(scope, text, tuple(shape), [first, second])


@statement("split", 1)
def split(scope: Scope) -> bool:
    base = scope.pick(lambda variable: variable.rank > 0 and max(variable.shape) > 1 and variable.dtype != "bool")
    if base is None:
        return False
    axis = scope.chance.choice([axis for axis, size in enumerate(base.shape) if size > 1])
    size = base.shape[axis]
    first = scope.chance.randint(1, size - 1)
    sections = [first, size - first]
    text = f"paddle.split({base.name}, {sections}, axis={axis})"
    if size % 2 == 0 and scope.decide(0.5):
        sections = [size // 2] * 2
        text = scope.chance.choice(
            (f"paddle.split({base.name}, 2, axis={axis})", f"paddle.chunk({base.name}, 2, {axis})")
        )
    position = scope.chance.randrange(2)
    shape = (*base.shape[:axis], sections[position], *base.shape[axis + 1 :])
    return copy(scope, f"{text}[{position}]", shape, [base])


@statement("shape", 1)
def rearranged(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank > 0)
    if base is None:
        return False
    axis = scope.chance.randrange(base.rank)
    forms = [
        f"paddle.flip({base.name}, axis=[{axis}])",
        f"paddle.roll({base.name}, 1, axis={axis})",
        f"{base.name}.clone()",
        f"paddle.assign({base.name})",
    ]
    if base.rank == 2:
        forms += [f"paddle.tril({base.name})", f"paddle.triu({base.name}, 1)"]
    return copy(scope, scope.chance.choice(forms), base.shape, [base])
