"""Loops and conditions of `.pdmodel` files.

`while` runs a block that writes variables of the blocks around it; here it gets those as block arguments and results.

A condition is a `conditional_block` for each branch (the second one under the negated condition; a branch that only gives
an existing value has none), and a `select_input` for each result. They become one `if` when the first `select_input` is
met. A `conditional_block` whose variables had a value before is an `if` with the old values in the other branch.
"""

from __future__ import annotations

from typing import Any

from proa.formats.paddle.files import dtypes
from proa.formats.paddle.files.legacy.reader import Operation, Pending, Reader, Scope
from proa.formats.paddle.model import Block, Op, Value

# What may stand between the `select_input`s of one condition: it is moved before them.
_MAY_STAND_BETWEEN = {"fill_constant", "assign_value", "assign", "cast", "fill_any_like", "fill_zeros_like", "scale"}


class Branch(Pending):
    """A conditional block that was read but is not part of an `if` yet."""

    def __init__(self, condition: Value, inner: Scope, old: dict[str, Any]) -> None:
        self.condition = condition
        self.inner = inner
        self.old = old  # what the written variables held before, or None


def _touched(reader: Reader, index: int, seen: frozenset[int] = frozenset()) -> dict[str, None]:
    """Variables of the surrounding blocks that a block writes, itself or in blocks within it."""
    found: dict[str, None] = {}
    if not isinstance(index, int) or not 0 <= index < len(reader.messages) or index in seen or len(seen) > 32:
        raise ValueError(f"(pdmodel) block {index} does not exist or contains itself; the file is damaged")
    for operation in reader.operations_of(index):
        names = [name for written in operation.outputs.values() for name in written]
        if "sub_block" in operation.attributes:
            names += _touched(reader, operation.attributes["sub_block"], seen | {index})
        for name in names:
            if not reader.declared_in(index, name):
                found[name] = None
    return found


def _one(operation: Operation, slot: str) -> str:
    names = operation.inputs.get(slot, [])
    if len(names) != 1:
        raise ValueError(f"(pdmodel) {operation.type} has {len(names)} variables in {slot}; the file is damaged")
    return names[0]


def _is_array(reader: Reader, scope: Scope, name: str) -> bool:
    return reader.kind(scope, name)[0].endswith(dtypes.ARRAY)


def read_while(reader: Reader, scope: Scope, operation: Operation, position: int) -> None:
    condition = _one(operation, "Condition")
    index = operation.attribute("sub_block", int)
    test = reader.read(scope, condition)
    carried = [
        name
        for name in _touched(reader, index)
        if name != condition and (scope.values.get(name) is not None or _is_array(reader, scope, name))
    ]
    before = [reader.read(scope, name) for name in carried]
    inside = Scope(scope.index, scope)
    arguments = []
    for name, value in zip(carried, before, strict=True):
        arguments.append(Value(reader.fresh(name), value.dtype, value.shape))
        inside.values[name] = arguments[-1]
    body = reader.enter(index, inside)
    body.block.arguments = arguments
    body.block.results = [reader.read(body, name) for name in [condition, *carried]]
    op = Op("while", [test, *before], {}, [], [body.block])
    scope.block.ops.append(op)
    op.outputs = [_like(reader, scope, name, value) for name, value in zip(carried, before, strict=True)]
    ended = reader.emit(
        scope, "full", [], {"shape": list(test.shape or ()), "value": 0.0, "dtype": "bool"}, "bool", test.shape or ()
    )
    reader.bind(scope, condition, ended)


def _like(reader: Reader, scope: Scope, name: str, value: Value) -> Value:
    made = Value(reader.fresh(name), value.dtype, value.shape)
    reader.bind(scope, name, made)
    return made


def read_conditional_block(reader: Reader, scope: Scope, operation: Operation, position: int) -> None:
    condition = reader.read(scope, _one(operation, "Cond"))
    index = operation.attribute("sub_block", int)
    names = list(_touched(reader, index))
    for name in names:  # an earlier condition that wrote the same variable comes first
        if isinstance(scope.values.get(name), Pending) or _is_array(reader, scope, name):
            reader.read(scope, name)
    old = {name: scope.values.get(name) for name in names}
    inner = reader.enter(index, scope)
    branch = Branch(condition, inner, old)
    for name in names:
        if name in inner.values:
            reader.bind(scope, name, branch)


def settle(reader: Reader, scope: Scope, name: str) -> Value:
    """A variable of a conditional block is read: the block becomes an `if` whose other branch keeps the old values."""
    branch = scope.values[name]
    assert isinstance(branch, Branch)
    if branch.old.get(name) is None:
        raise ValueError(f"(pdmodel) the variable {name!r} has a value in one branch of a condition only")
    _join(reader, scope, branch.condition, branch, None, [])
    return scope.values[name]


def _join(
    reader: Reader,
    scope: Scope,
    condition: Value,
    then: Branch | None,
    otherwise: Branch | None,
    chosen: list[tuple[str, str, str]],
) -> None:
    """One `if` from a branch or two. `chosen`: (result, variable if true, variable if false)."""
    branches = [branch for branch in (then, otherwise) if branch is not None]
    kept = list(dict.fromkeys(name for branch in branches for name, old in branch.old.items() if old is not None))
    # A variable that an other, later block has changed meanwhile is not ours any more.
    kept = [name for name in kept if scope.values.get(name) in branches]
    columns = [*chosen, *((name, name, name) for name in kept)]
    blocks = []
    for side, branch in enumerate((then, otherwise)):
        block = branch.inner.block if branch else Block()
        for column in columns:
            name = column[1 + side]
            block.results.append(_value_in(reader, scope, branch, branches, name))
        blocks.append(block)
    op = Op("if", [condition], {}, [], blocks)
    scope.block.ops.append(op)
    for column in columns:
        op.outputs.append(reader.assign(scope, column[0]))
    for branch in branches:  # what only one branch has cannot be read any more
        for name in branch.old:
            if scope.values.get(name) is branch:
                scope.values[name] = None


def _value_in(reader: Reader, scope: Scope, branch: Branch | None, branches: list[Branch], name: str) -> Value:
    """What a variable holds at the end of a branch."""
    if branch is not None and name in branch.old:
        value = branch.inner.values.get(name)
        return reader.read(branch.inner, name) if not isinstance(value, Value) else value
    held = scope.values.get(name)
    if isinstance(held, Branch) and held in branches:
        held = held.old.get(name)
        if held is None:
            raise ValueError(f"(pdmodel) the variable {name!r} has a value in one branch of a condition only")
        return held
    return reader.read(scope, name)


def read_select_input(reader: Reader, scope: Scope, operation: Operation, position: int) -> None:
    first = _selected(operation)
    found = [scope.values.get(name) for name in first[1:]]
    then, otherwise = [value if isinstance(value, Branch) and value.old.get(name) is None else None
                       for name, value in zip(first[1:], found, strict=True)]  # fmt: skip
    if then is None and otherwise is None:
        _plain_select(reader, scope, operation, first)
        return
    if then and otherwise and reader.negations.get(id(otherwise.condition)) is not then.condition:
        raise ValueError(
            "(pdmodel) the two branches of a condition are not each other's negation; this is not supported"
        )
    chosen = [first]
    operations = reader.operations_of(scope.index)
    branches = [branch for branch in (then, otherwise) if branch is not None]
    made = {first[0]}
    between: list[int] = []
    for later in range(position + 1, len(operations)):
        candidate = operations[later]
        if candidate.type == "select_input":
            choice = _selected(candidate)
            if not any(scope.values.get(name) in branches for name in choice[1:]):
                break
            chosen.append(choice)
            made.add(choice[0])
            for earlier in between:
                reader.operation(scope, operations[earlier], earlier)
                scope.done.add(earlier)
            between = []
            scope.done.add(later)
        elif candidate.type in _MAY_STAND_BETWEEN and not made & {
            n for names in candidate.inputs.values() for n in names
        }:
            between.append(later)
        else:
            break
    if then is not None:
        _join(reader, scope, then.condition, then, otherwise, chosen)
    else:
        assert otherwise is not None
        swapped = [(result, no, yes) for result, yes, no in chosen]
        _join(reader, scope, otherwise.condition, otherwise, None, swapped)


def _selected(operation: Operation) -> tuple[str, str, str]:
    names, results = operation.inputs.get("X", []), operation.outputs.get("Out", [])
    if len(names) != 2 or len(results) != 1:
        raise ValueError("(pdmodel) select_input takes two variables and gives one; the file is damaged")
    return results[0], names[1], names[0]


def _plain_select(reader: Reader, scope: Scope, operation: Operation, choice: tuple[str, str, str]) -> None:
    """A choice between two values that both exist."""
    yes, no = reader.read(scope, choice[1]), reader.read(scope, choice[2])
    if yes is no:
        reader.bind(scope, choice[0], yes)
        return
    mask = reader.read(scope, _one(operation, "Mask"))
    condition = reader.emit(scope, "cast", [mask], {"dtype": "bool"}, "bool", mask.shape)
    op = Op("if", [condition], {}, [], [Block(results=[yes]), Block(results=[no])])
    scope.block.ops.append(op)
    op.outputs = [reader.assign(scope, choice[0])]


READERS = {
    "while": read_while,
    "conditional_block": read_conditional_block,
    "select_input": read_select_input,
}
