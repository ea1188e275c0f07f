"""Control flow that depends on values: branches, loops over values, numbers read early."""

from __future__ import annotations

from ..model import FLOATS, ROUNDING, Index, Scalar, Storage
from ..scope import Scope
from .reducing import ramp
from .table import statement, write_some

# What may stand in a branch: nothing that binds a name which the other branch does not bind.
BRANCH_AREAS = frozenset({"elementwise", "in-place", "reduction", "matmul", "indexing"})


def value_test(scope: Scope) -> str | None:
    """Text of a condition on a computed value, away from ties."""
    operand = scope.pick_float(lambda variable: variable.size > 0)
    if operand is None:
        return None
    threshold = scope.odd(-0.3, 0.3)
    return scope.chance.choice(
        (
            f"float({operand.name}.sum()) > {threshold}",
            f"{operand.name}.mean().item() < {threshold}",
            f"bool(({operand.name} > {threshold}).any())",
            f"{operand.name}.max() > {threshold}",
            f"float({operand.name}.numpy().sum()) > {threshold}",
        )
    )


def bounds_of(scope: Scope) -> dict[Storage, tuple[float, float]]:
    return {variable.storage: (variable.magnitude, variable.noise) for variable in scope.variables}


def widen(before: dict[Storage, tuple[float, float]]) -> None:
    """A block may not have run: what held before it still may."""
    for storage, (magnitude, noise) in before.items():
        storage.magnitude = max(storage.magnitude, magnitude)
        storage.noise = max(storage.noise, noise)


@statement("control flow", 2)
def branch(scope: Scope) -> bool:
    """`if` and `else` that give the same name values of the same shape."""
    test = value_test(scope)
    base = scope.pick_float()
    if test is None or base is None:
        return False
    scope.feature("branch on value")
    before = bounds_of(scope)
    name = scope.fresh("branch")
    factor, offset = scope.odd(0.3, 0.9), scope.odd(0.1, 0.9)
    with scope.block(f"if {test}:"):
        if scope.decide(0.5):
            write_some(scope, 1, BRANCH_AREAS)
        scope.emit(f"{name} = {base.name} * {factor}")
    first = base.magnitude * factor, base.noise * factor
    widen(before)
    with scope.block("else:"):
        if scope.decide(0.3):
            write_some(scope, 1, BRANCH_AREAS)
        scope.emit(f"{name} = {offset} - {base.name}")
    second = base.magnitude + offset, base.noise
    widen(before)
    magnitude, noise = max(first[0], second[0]), max(first[1], second[1])
    scope.bind_derived(name, base, Storage(magnitude, noise + ROUNDING * magnitude))
    return True


@statement("control flow", 1)
def read_number(scope: Scope) -> bool:
    """A number that is read early and used as a Python scalar later, also beside float64: so it must be as exact."""
    operand = scope.pick_float(lambda variable: variable.size > 0 and variable.dtype == "float64")
    if operand is None:
        return False
    name = scope.fresh("number")
    text = scope.chance.choice(("float({0}.mean())", "{0}.mean().item()", "float({0}.numpy().mean())"))
    scope.feature("early read")
    scope.emit(f"{name} = {text.format(operand.name)}")
    scope.scalars.append(Scalar(name, operand.magnitude, operand.noise + operand.magnitude))
    return True


@statement("control flow", 1)
def read_position(scope: Scope) -> bool:
    """An integer that is computed, read, and used as a subscript later."""
    operand = scope.pick_float(lambda variable: variable.rank == 1 and variable.size <= 3)
    limit = 3
    if operand is not None:
        limit = operand.size
        text = f"int(paddle.argmax({operand.name} + {ramp(operand)}))"
    else:
        integers = scope.pick(lambda variable: variable.dtype == "int64" and variable.size > 0)
        if integers is None:
            return False
        limit = 2
        text = f"int({integers.name}.sum() % {limit})"
    name = scope.fresh("position")
    scope.feature("early read")
    scope.emit(f"{name} = {text}")
    scope.indices.append(Index(name, limit))
    return True


@statement("control flow", 1)
def loop_over_values(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: 0 < variable.size <= 12)
    if operand is None:
        return False
    scope.feature("loop over values")
    name = scope.fresh("total")
    scope.emit(f"{name} = 0.0")
    test = f"if value > {scope.odd(-0.4, 0.4)}:"
    with scope.block(f"for value in {operand.name}.flatten().tolist():"), scope.block(test):
        scope.emit(f"{name} += value * 0.25")
    scope.record(name)
    return True


@statement("control flow", 1)
def loop_over_rows(scope: Scope) -> bool:
    operand = scope.pick_float(
        lambda variable: variable.rank in (1, 2) and variable.shape[0] > 1 and variable.dtype == "float32"
    )
    if operand is None or (operand.rank == 1 and operand.shape[0] > 4):
        return False
    scope.feature("loop over rows")
    name = scope.fresh("folded")
    scope.emit(f"{name} = paddle.zeros({list(operand.shape[1:])}, dtype='{operand.dtype}')")
    with scope.block(f"for row in {operand.name}:"):
        scope.emit(f"{name} = {name} * 0.5 + row")
    storage = Storage(2 * operand.magnitude, 2 * operand.noise + operand.magnitude)
    scope.bind_derived(name, operand, storage, shape=operand.shape[1:], steps=2)
    return True


@statement("control flow", 1)
def loop_until(scope: Scope) -> bool:
    """`while` on a value, bounded by a counter that is recorded as well."""
    operand = scope.pick_float(lambda variable: variable.size > 0 and variable.dtype in FLOATS and variable.rank > 0)
    if operand is None:
        return False
    scope.feature("while on value")
    name, counter = scope.fresh("halved"), scope.fresh("count")
    threshold = scope.odd(0.2, 0.8)
    scope.emit(f"{name}, {counter} = {operand.name} * 0.9, 0")
    with scope.block(f"while float({name}.abs().max()) > {threshold} and {counter} < 3:"):
        scope.emit(f"{name} = {name} * 0.6 + 0.05")
        scope.emit(f"{counter} += 1")
    scope.record(counter)
    storage = Storage(operand.magnitude + 0.1, operand.noise + 2 * ROUNDING * operand.magnitude)
    scope.bind_derived(name, operand, storage, steps=2)
    return True


@statement("control flow", 0.5)
def through_numpy(scope: Scope) -> bool:
    """Values that leave for NumPy and come back as a new tensor."""
    operand = scope.pick_float(lambda variable: variable.size > 0)
    if operand is None:
        return False
    scope.feature("through NumPy")
    return bool(
        scope.assign(
            f"paddle.to_tensor(np.array({operand.name}.numpy()))", operand.shape, [],
            dtype=operand.dtype, magnitude=operand.magnitude, noise=operand.noise,
        )
    )  # fmt: skip


@statement("control flow", 0.3)
def printed(scope: Scope) -> bool:
    operand = scope.pick()
    if operand is None:
        return False
    scope.feature("printed")
    scope.record("printed", f"len(str({operand.name})) > 0")
    return True
