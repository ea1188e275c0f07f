"""Deliberately wrong statements: the program ends with their error, or catches it.

An error that depends on a value alone may be found later in the self-compiling mode; it still
belongs to the line that asked for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..model import Variable
from ..scope import Scope
from .gradients import leaves_of
from .table import statement, write_some

# Each writer emits its statements and returns the line that must raise, or None where nothing in
# reach fits. The name that holds the wrong result is `bad`.
Writer = Callable[[Scope], int | None]


@dataclasses.dataclass(frozen=True)
class Wrong:
    name: str
    write: Writer
    catchable: bool = True  # raised at the call in both modes and without side effects
    known: str | None = None  # the difference that Paddle shows where it does not raise
    deferred: bool = False  # depends on values: may be found after the call


TABLE: list[Wrong] = []


def wrong(
    name: str, *, catchable: bool = True, known: str | None = None, deferred: bool = False
) -> Callable[[Writer], Writer]:
    def enter(function: Writer) -> Writer:
        TABLE.append(Wrong(name, function, catchable and not deferred, known, deferred))
        return function

    return enter


def some_float(scope: Scope, rank: int = 1) -> Variable | None:
    return scope.pick(
        lambda variable: variable.dtype == "float32" and variable.rank >= rank and min(variable.shape) > 0
    )


def one_line(scope: Scope, form: Callable[[Scope, Variable], str], rank: int = 1) -> int | None:
    operand = some_float(scope, rank)
    return None if operand is None else scope.emit(f"bad = {form(scope, operand)}")


@wrong("shapes do not broadcast")
def broadcast(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None or operand.shape[-1] == 1:
        return None
    symbol = scope.chance.choice(("+", "*", "-", "<"))
    return scope.emit(f"bad = {operand.name} {symbol} paddle.ones([{operand.shape[-1] + 1}])")


@wrong("matmul sizes")
def matmul(scope: Scope) -> int | None:
    return one_line(scope, lambda _, one: f"paddle.matmul({one.name}, paddle.ones([{one.shape[-1] + 1}, 2]))")


@wrong("axis out of range")
def axis(scope: Scope) -> int | None:
    def form(scope: Scope, one: Variable) -> str:
        beyond = one.rank + scope.chance.randint(1, 3)
        return scope.chance.choice(
            (
                f"{one.name}.sum(axis={beyond})",
                f"paddle.mean({one.name}, axis={-beyond - 1})",
                f"paddle.squeeze({one.name}, axis={beyond})",
                f"{one.name}.unsqueeze({beyond})",
                f"paddle.concat([{one.name}, {one.name}], axis={beyond})",
            )
        )

    return one_line(scope, form)


@wrong("reshape to another size")
def reshape(scope: Scope) -> int | None:
    return one_line(scope, lambda _, one: f"{one.name}.reshape([{one.size + 1}, 2])")


@wrong("concat sizes")
def concat(scope: Scope) -> int | None:
    def form(_: Scope, one: Variable) -> str:
        shape = list(one.shape)
        shape[-1] += 1
        return f"paddle.concat([{one.name}, paddle.ones({shape})], axis=0)"

    return one_line(scope, form, rank=2)


@wrong("split sizes")
def split(scope: Scope) -> int | None:
    return one_line(scope, lambda _, one: f"paddle.split({one.name}, {one.shape[0] + 1}, axis=0)")


@wrong("expand sizes")
def expand(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None or operand.shape[-1] == 1:
        return None
    shape = [*operand.shape[:-1], operand.shape[-1] + 2]
    return scope.emit(f"bad = paddle.expand({operand.name}, {shape})")


@wrong("index out of range")
def index(scope: Scope) -> int | None:
    def form(scope: Scope, one: Variable) -> str:
        beyond = one.shape[0] + scope.chance.randint(0, 3)
        return f"{one.name}[{beyond if scope.decide(0.5) else -beyond - 1}]"

    return one_line(scope, form)


@wrong("index out of range that was read")
def read_index(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None:
        return None
    scope.emit(f"beyond = int(paddle.to_tensor({operand.shape[0]}) + 1)")
    return scope.emit(f"bad = {operand.name}[beyond]")


@wrong("int32 with float32")
def dtypes(scope: Scope) -> int | None:
    def form(scope: Scope, one: Variable) -> str:
        symbol = scope.chance.choice(("+", "*", "-"))
        return f"{one.name} {symbol} paddle.ones({list(one.shape)}, dtype='int32')"

    return one_line(scope, form)


@wrong("mask of another shape")
def mask(scope: Scope) -> int | None:
    return one_line(scope, lambda _, one: f"{one.name}[paddle.ones([{one.shape[0] + 1}], dtype='bool')]")


@wrong("setitem shapes")
def set_item(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None:
        return None
    scope.emit(f"bad = {operand.name}.detach().clone()")
    return scope.emit(f"bad[0:1] = paddle.ones([{operand.shape[-1] + 1}, {operand.shape[-1] + 2}])")


@wrong("setitem out of range")
def set_item_beyond(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None:
        return None
    scope.emit(f"bad = {operand.name}.detach().clone()")
    return scope.emit(f"bad[{operand.shape[0] + 1}] = 1.0")


@wrong("in-place result does not fit")
def inplace_shape(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None:
        return None
    scope.emit(f"bad = {operand.name}.detach().clone()")
    return scope.emit(f"bad.add_(paddle.ones([2, {', '.join(map(str, operand.shape))}]))")


@wrong("several elements as a number")
def as_number(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None or operand.size < 2:
        return None
    form = scope.chance.choice(("float({0})", "bool({0} > 0.1)", "{0}.item()"))
    return scope.emit(f"bad = {form.format(operand.name)}")


@wrong("in-place on a leaf", catchable=False)
def leaf_inplace(scope: Scope) -> int | None:
    leaves = leaves_of(scope)
    if not leaves:
        return None
    bad = scope.chance.choice(leaves)
    scope.emit(f"bad = {bad.name}")
    return scope.emit("bad.scale_(0.5)")


@wrong("in-place on a tensor needed by backward", catchable=False)
def needed_by_backward(scope: Scope) -> int | None:
    leaves = leaves_of(scope)
    if not leaves:
        return None
    leaf = scope.chance.choice(leaves)
    scope.emit(f"needed = {leaf.name} * 0.5")
    scope.emit("bad = (needed * needed).sum()")
    scope.emit("needed.add_(paddle.ones_like(needed))")
    return scope.emit("bad.backward()")


@wrong("backward twice", catchable=False)
def backward_twice(scope: Scope) -> int | None:
    leaves = leaves_of(scope)
    if not leaves:
        return None
    leaf = scope.chance.choice(leaves)
    scope.emit(f"bad = ({leaf.name} * {leaf.name}).sum()")
    scope.emit("bad.backward()")
    return scope.emit("bad.backward()")


@wrong("gradient of an unused tensor", catchable=False)
def unused(scope: Scope) -> int | None:
    leaves = leaves_of(scope)
    if not leaves:
        return None
    leaf = scope.chance.choice(leaves)
    scope.emit("stranger = paddle.to_tensor([0.5], stop_gradient=False)")
    return scope.emit(f"bad = paddle.grad([({leaf.name} * 0.5).sum()], [stranger])[0]")


@wrong("computed index out of range", deferred=True)
def computed_index(scope: Scope) -> int | None:
    def form(scope: Scope, one: Variable) -> str:
        return scope.chance.choice(
            (
                f"paddle.gather({one.name}, beyond)",
                f"paddle.index_select({one.name}, beyond)",
            )
        )

    operand = some_float(scope)
    if operand is None:
        return None
    scope.emit(f"beyond = paddle.to_tensor([0]) + {operand.shape[0] + scope.chance.randint(0, 2)}")
    return scope.emit(f"bad = {form(scope, operand)}")


@wrong("computed subscript out of range", known="subscript by tensor out of range", deferred=True)
def computed_subscript(scope: Scope) -> int | None:
    operand = some_float(scope)
    if operand is None:
        return None
    scope.emit(f"beyond = paddle.to_tensor([0, 1]) + {operand.shape[0]}")
    return scope.emit(f"bad = {operand.name}[beyond]")


@wrong("computed class out of range", deferred=True)
def computed_class(scope: Scope) -> int | None:
    operand = scope.pick(lambda variable: variable.dtype == "float32" and variable.rank == 2)
    if operand is None:
        return None
    scope.emit(f"beyond = paddle.to_tensor([1]) * {operand.shape[0] + 1}")
    return scope.emit(f"bad = F.embedding(beyond, {operand.name})")


def wrong_in_loop(scope: Scope) -> int | None:
    """An index that leaves the tensor in a late repetition, when the loop is hot.

    It is computed by the operations before it, either those of the same repetition or those of
    the one before.
    """
    operand = some_float(scope)
    if operand is None:
        return None
    size, counter = operand.shape[0], scope.fresh("step")
    forms = ["paddle.gather({0}, beyond)", "paddle.index_select({0}, beyond)", "{0}[beyond]"]
    if operand.rank == 2:
        forms.append("F.embedding(beyond, {0})")
    form = scope.chance.choice(forms)
    if form == "{0}[beyond]":
        scope.known.add("subscript by tensor out of range")
    text = f"bad = {form.format(operand.name)} * 0.5"
    if scope.decide(0.3):
        scope.emit("beyond = paddle.to_tensor([0])")
        with scope.block(f"for {counter} in range({size + 3}):"):
            line = scope.emit(text)
            scope.emit("beyond = beyond + 1")
            if scope.decide(0.7):
                scope.record("bad")
        return line
    scope.feature("hot error")
    with scope.block(f"for {counter} in range({size + 6}):"):
        scope.emit(f"beyond = paddle.to_tensor([max(0, {counter} - 4)]) * 3 // 3")
        write_some(scope, scope.chance.randint(0, 1), frozenset({"elementwise", "reduction"}))
        line = scope.emit(text)
        scope.emit(f"bad = bad.tanh() + {scope.scalar().text}")
        scope.record("bad")
    return line


@statement("caught error", 0.5)
def write_caught(scope: Scope) -> bool:
    """A wrong statement whose error the program catches; it must leave no trace."""
    entry = scope.chance.choice([one for one in TABLE if one.catchable])
    start = len(scope.lines)
    with scope.block("try:"):
        line = entry.write(scope)
    if line is None:
        del scope.lines[start:]
        return False
    with scope.block("except Exception:"):
        scope.record("caught", str(line))
    return True
