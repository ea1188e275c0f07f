"""Indexing statements: basic ones are views, those with tensors are copies."""

from __future__ import annotations

import dataclasses
import math

from ..model import Variable
from ..scope import Scope
from .shaping import copy
from .table import statement


@dataclasses.dataclass(frozen=True)
class BasicIndex:
    """A subscript of integers, slices, None and Ellipsis, and what it leads to."""

    text: str
    shape: tuple[int, ...]
    contiguous: bool
    whole: bool


def random_slice(scope: Scope, size: int) -> tuple[str, int, bool]:
    """A slice that takes at least one element; its text, length and whether it takes all."""
    if scope.decide(0.3):
        return ":", size, True
    start = scope.chance.randrange(size)
    stop = scope.chance.randint(start + 1, size)
    step = scope.chance.choice((1, 1, 1, 2, 3))
    if scope.decide(0.12):
        length = len(range(size)[::-step])
        return f"::{-step}", length, False
    first = str(start - size if scope.decide(0.2) else start)
    last = "" if stop == size and scope.decide(0.6) else str(stop)
    text = f"{first}:{last}" + (f":{step}" if step > 1 else "")
    length = len(range(start, stop, step))
    return text, length, length == size


def basic_index(scope: Scope, base: Variable, with_none: bool = True) -> BasicIndex:
    """A random subscript for the leading dimensions of `base`, in its bounds."""
    parts: list[str] = []
    shape: list[int] = []
    contiguous, whole = True, True
    count = scope.chance.randint(1, base.rank)
    trailing = scope.decide(0.15)  # begin with an ellipsis and take the last dimensions
    dimensions = list(enumerate(base.shape))
    chosen = dimensions[base.rank - count :] if trailing else dimensions[:count]
    rest = dimensions[: base.rank - count] if trailing else dimensions[count:]
    if trailing:
        parts.append("...")
        shape.extend(size for _, size in rest)
    for position, (_, size) in enumerate(chosen):
        # Paddle puts the axes of a second None elsewhere than NumPy does.
        if with_none and "None" not in parts and scope.decide(0.08):
            parts.append("None")
            shape.append(1)
            scope.feature("None in subscript")
        if scope.decide(0.45):
            fitting = [index for index in scope.indices if index.limit <= size]
            if fitting and scope.decide(0.5):
                parts.append(scope.chance.choice(fitting).text)
                scope.feature("index that was read")
            else:
                value = scope.chance.randrange(size)
                parts.append(str(value - size if scope.decide(0.3) else value))
            whole = whole and size == 1
            contiguous = contiguous and position == 0 and not trailing
            continue
        text, length, complete = random_slice(scope, size)
        parts.append(text)
        shape.append(length)
        if text.count(":") == 2:
            scope.feature("slice with step")
            contiguous = False
        if not complete:
            whole = False
            contiguous = contiguous and position == 0 and not trailing
    if not trailing:
        shape.extend(size for _, size in rest)
        if rest and scope.decide(0.1):
            parts.append("...")
    return BasicIndex(", ".join(parts), tuple(shape), contiguous, whole)


@statement("indexing", 4)
def basic(scope: Scope) -> bool:
    base = scope.pick(lambda variable: variable.rank > 0 and variable.dtype != "bool")
    if base is None or not scope.may_view:
        return False
    index = basic_index(scope, base)
    scope.feature("view", "slice view")
    scope.alias(f"{base.name}[{index.text}]", base, index.shape, contiguous=index.contiguous,
                whole=index.whole, smooth=False)  # fmt: skip
    return True


def index_tensor(scope: Scope, size: int, unique: bool = False) -> tuple[str, int]:
    """Text of a one-dimensional integer tensor of indices below `size`, and its length."""
    length = scope.chance.randint(1, size if unique else 3)
    found = scope.pick(lambda variable: variable.dtype == "int64" and variable.rank == 1)
    if found is not None and not unique and scope.decide(0.5):
        scope.feature("computed index")
        return f"{found.name} % {size}", found.shape[0]
    if unique:
        values = scope.chance.sample(range(size), length)
    else:
        values = [scope.chance.randrange(size) for _ in range(length)]
    return f"paddle.to_tensor({values})", length


@statement("indexing", 2)
def with_integers(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank > 0)
    if base is None:
        return False
    axis = scope.chance.randrange(min(2, base.rank))
    index, length = index_tensor(scope, base.shape[axis])
    shape = (*base.shape[:axis], length, *base.shape[axis + 1 :])
    if math.prod(shape) > 60:
        return False
    forms = [
        f"paddle.gather({base.name}, {index}, axis={axis})",
        f"paddle.index_select({base.name}, {index}, axis={axis})",
        f"{base.name}[{':, ' * axis}{index}]",
    ]
    if axis == 0 and base.rank == 2:
        forms.append(f"F.embedding({index}, {base.name})")
    scope.feature("integer tensor index")
    chosen = scope.chance.choice(forms)
    if axis and not base.contiguous and chosen == forms[2]:
        scope.known.add("subscript by tensor of a view")
    return copy(scope, chosen, shape, [base], length)


@statement("indexing", 0.7)
def pairs_of_integers(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank > 1)
    if base is None:
        return False
    length = scope.chance.randint(1, 3)
    rows = [scope.chance.randrange(base.shape[0]) for _ in range(length)]
    columns = [scope.chance.randrange(base.shape[1]) for _ in range(length)]
    scope.feature("integer tensor index")
    text = f"{base.name}[paddle.to_tensor({rows}), paddle.to_tensor({columns})]"
    return copy(scope, text, (length, *base.shape[2:]), [base], length)


@statement("indexing", 0.7)
def along_axis(scope: Scope) -> bool:
    base = scope.pick_float(lambda variable: variable.rank == 2)
    if base is None:
        return False
    columns = scope.chance.randint(1, 2)
    values = [[scope.chance.randrange(base.shape[1]) for _ in range(columns)] for _ in range(base.shape[0])]
    text = f"paddle.take_along_axis({base.name}, paddle.to_tensor({values}), 1)"
    scope.feature("take_along_axis")
    return copy(scope, text, (base.shape[0], columns), [base], columns)


@statement("indexing", 1)
def with_mask(scope: Scope) -> bool:
    """The shape depends on values, so the result is recorded and summed at once."""
    base = scope.pick_float(lambda variable: variable.rank > 0)
    if base is None:
        return False
    mask = scope.pick(lambda variable: variable.dtype == "bool" and variable.shape == base.shape)
    text = mask.name if mask else f"{base.name} > {scope.odd(-0.5, 0.5)}"
    name = scope.fresh("selected")
    form = scope.chance.choice(("{0}[{1}]", "paddle.masked_select({0}, {1})"))
    scope.feature("boolean mask")
    scope.emit(f"{name} = {form.format(base.name, text)}")
    if scope.decide(0.5):
        scope.record(name)
    return bool(
        scope.assign(
            f"{name}.sum()", (), [base], dtype=base.dtype, magnitude=base.magnitude * base.size,
            noise=(base.noise + base.magnitude) * base.size, smooth=False,
        )
    )  # fmt: skip
