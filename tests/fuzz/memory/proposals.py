"""Statements that a memory program may have. The writer tries them; here nothing is checked twice.

Sizes are taken from the first repetition. Where shapes change between repetitions, a statement that does not fit all
of them is not written.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .strided import Tensor
from .writer import Writer

Proposal = Callable[[Writer], bool]
VIEWS: list[tuple[Proposal, float]] = []
COPIES: list[tuple[Proposal, float]] = []
CHANGES: list[tuple[Proposal, float]] = []


def enter(table: list[tuple[Proposal, float]], weight: float = 1.0) -> Callable[[Proposal], Proposal]:
    def keep(function: Proposal) -> Proposal:
        table.append((function, weight))
        return function

    return keep


def bind(writer: Writer, expression: str, base: str, feature: str) -> bool:
    """`name = expression`: a new name as a rule, else one that is in use, whose old tensor is dropped."""
    name = base if writer.decide(0.15) else None
    if name is None and writer.decide(0.1):
        name = writer.pick()
    if not writer.write(f"{name or (name := writer.fresh('v'))} = {expression}", binds=name):
        return False
    writer.features.add(feature)
    return True


def number(writer: Writer) -> str:
    """A factor or value that costs few binary digits."""
    return writer.chance.choice(("0.5", "-0.5", "2.0", "-1.0", "1.5", "0.25", "-1.25", "3.0"))


# Subscripts


def subscript(writer: Writer, shape: list[int], with_none: bool = True) -> str:
    parts: list[str] = []
    count = writer.chance.randint(1, len(shape)) if shape else 0
    from_the_end = writer.decide(0.15) and count > 0
    for size in shape[len(shape) - count :] if from_the_end else shape[:count]:
        # Paddle puts the axes of a second None elsewhere than NumPy does.
        if with_none and "None" not in parts and writer.decide(0.08):
            parts.append("None")
        parts.append(one_axis(writer, size))
    if from_the_end or not parts:
        parts.insert(0, "...")
    elif count < len(shape) and writer.decide(0.1):
        parts.append("...")
    return ", ".join(parts)


def one_axis(writer: Writer, size: int) -> str:
    chance = writer.chance
    if writer.decide(0.35):
        return str(chance.randrange(-size, size))
    start = chance.randrange(size)
    return chance.choice(
        (
            ":", f"{start}:", f":{start + 1}", f"{start}:{chance.randint(start + 1, size)}", "-1:", "::2", "1::2",
            "::-1", "::-2", f"{start}::-1",
        )
    )  # fmt: skip


# Views, and what looks like one but copies


@enter(VIEWS, 8)
def sliced(writer: Writer) -> bool:
    base = writer.pick(lambda one: one.positions.ndim > 0)
    if base is None:
        return False
    text = subscript(writer, writer.tensor(base).shape)
    if "None" in text:
        writer.features.add("None in subscript")
    if not bind(writer, f"{base}[{text}]", base, "negative step" if ":-" in text else "slice view"):
        return False
    if writer.with_gradients and writer.tensor(writer.names[-1]).has_twin:
        writer.known.add("slice of everything under no_grad")
    return True


@enter(VIEWS, 6)
def reshaped(writer: Writer) -> bool:
    base = writer.pick()
    if base is None:
        return False
    tensor = writer.tensor(base)
    shape = [str(one) for one in factors(writer, math.prod(tensor.shape))]
    if shape and writer.decide(0.4):
        shape[writer.chance.randrange(len(shape))] = "-1"
    text = ", ".join(shape)
    form = writer.chance.choice(("{0}.reshape([{1}])",) * 3 + ("paddle.reshape({0}, [{1}])", "{0}.view([{1}])"))
    feature = "reshape" if tensor.positions.flags.c_contiguous else "reshape of strides"
    return bind(writer, form.format(base, text), base, feature)


def factors(writer: Writer, size: int) -> list[int]:
    """A random shape with that many elements."""
    shape: list[int] = []
    while size > 1 and len(shape) < 3:
        shape.append(writer.chance.choice([one for one in range(2, size + 1) if size % one == 0]))
        size //= shape[-1]
    if size > 1:
        shape.append(size)
    if len(shape) < 3 and writer.decide(0.2):
        shape.insert(writer.chance.randint(0, len(shape)), 1)
    return shape


@enter(VIEWS, 4)
def flattened(writer: Writer) -> bool:
    base = writer.pick(lambda one: one.positions.ndim > 0)
    if base is None:
        return False
    rank = writer.tensor(base).positions.ndim
    first = writer.chance.randrange(rank)
    text = "" if writer.decide(0.6) else f"{first}, {writer.chance.randrange(first, rank)}"
    return bind(writer, f"{base}.flatten({text})", base, "flatten")


@enter(VIEWS, 4)
def reordered(writer: Writer) -> bool:
    base = writer.pick(lambda one: one.positions.ndim > 1)
    if base is None:
        return False
    rank = writer.tensor(base).positions.ndim
    order = writer.chance.sample(range(rank), rank)
    forms = [f"{base}.transpose({order})", f"paddle.transpose({base}, {order})", f"{base}.T"]
    if rank == 2:
        forms += [f"{base}.t()"] * 2
    return bind(writer, writer.chance.choice(forms), base, "transpose")


@enter(VIEWS, 3)
def other_rank(writer: Writer) -> bool:
    base = writer.pick()
    if base is None:
        return False
    shape = writer.tensor(base).shape
    axis = writer.chance.randrange(-len(shape) - 1, len(shape) + 1)
    forms = [f"{base}.unsqueeze({axis})"]
    ones = [place for place, size in enumerate(shape) if size == 1]
    if ones:
        forms += [f"{base}.squeeze({writer.chance.choice(ones)})", f"{base}.squeeze()"]
    text = writer.chance.choice(forms)
    return bind(writer, text, base, "squeeze" if ".squeeze" in text else "unsqueeze")


@enter(VIEWS, 1.5)
def diagonal(writer: Writer) -> bool:
    base = writer.pick(lambda one: one.positions.ndim == 2)
    return base is not None and bind(
        writer, f"{base}.diagonal({writer.chance.choice(('', '', '1', '-1'))})", base, "diagonal"
    )


@enter(VIEWS, 2.5)
def part(writer: Writer) -> bool:
    """One of the parts of `unbind`, `split`, `chunk` or of an iteration; only unbind's and rows are views."""
    base = writer.pick(lambda one: one.positions.ndim > 0)
    if base is None:
        return False
    shape = writer.tensor(base).shape
    axis = writer.chance.randrange(len(shape))
    size = shape[axis]
    first = writer.chance.randrange(size)
    forms = [(f"paddle.unbind({base}, {axis})[{first}]", "unbind")] * 3
    forms.append((f"list({base})[{writer.chance.randrange(shape[0])}]", "row of an iteration"))
    if size > 1:
        place = writer.chance.randrange(2)
        forms.append((f"paddle.split({base}, [{first or 1}, {size - (first or 1)}], axis={axis})[{place}]", "split"))
        if size % 2 == 0:
            forms.append((f"paddle.chunk({base}, 2, {axis})[{place}]", "chunk"))
    text, feature = writer.chance.choice(forms)
    return bind(writer, text, base, feature)


@enter(VIEWS, 2)
def detached(writer: Writer) -> bool:
    base = writer.pick()
    return base is not None and bind(writer, f"{base}.detach()", base, "detach")


@enter(VIEWS, 0.7)
def contiguous(writer: Writer) -> bool:
    base = writer.pick(lambda one: one.positions.ndim == 2)
    if base is None:
        return False
    form = writer.chance.choice(("{0}.T.contiguous()", "{0}.unbind(1)[0].contiguous()", "{0}[:, ::2].contiguous()"))
    return bind(writer, form.format(base), base, "contiguous")


# Results with memory of their own


def fitting(writer: Writer, shape: list[int], but: str | None = None) -> str | None:
    """A name whose tensor broadcasts to `shape`, as a rule one that lies elsewhere in memory."""

    def fits(one: Tensor) -> bool:
        wanted = np.broadcast_shapes(tuple(one.shape), tuple(shape)) if compatible(one.shape, shape) else None
        return wanted == tuple(shape) and one.values.dtype != bool

    apart = None if but is None else writer.tensor(but).storage
    return writer.pick(lambda one: fits(one) and (one.storage is not apart or writer.decide(0.1)))


def compatible(first: list[int], second: list[int]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(first[::-1], second[::-1], strict=False))


@enter(COPIES, 4)
def arithmetic(writer: Writer) -> bool:
    first = writer.pick()
    if first is None:
        return False
    second = fitting(writer, writer.tensor(first).shape)
    symbol = writer.chance.choice("+-*")
    right = second if second is not None and writer.decide(0.6) else number(writer)
    if writer.decide(0.4):
        writer.features.add("augmented assignment")
        return writer.write(f"{first} {symbol}= {right}", binds=first)
    return bind(writer, f"{first} {symbol} {right}", first, "arithmetic")


@enter(COPIES, 2)
def other_copy(writer: Writer) -> bool:
    base = writer.pick()
    if base is None:
        return False
    forms = [f"{base}.clone()", f"{base}.sum()", f"paddle.where({base} > {number(writer)}, {base}, {base} * 0.5)"]
    shape = writer.tensor(base).shape
    if shape:
        axis = writer.chance.randrange(len(shape))
        forms += [f"paddle.concat([{base}, {base}], axis={axis})", f"{base}.sum({axis})"]
    return bind(writer, writer.chance.choice(forms), base, "copy")


# Changes in place


def changed(writer: Writer, target: str, text: str, feature: str) -> bool:
    """Write a change of `target`, and note what Paddle is known to do otherwise."""
    if not writer.write(text):
        return False
    writer.features.add(feature)
    tensor = writer.tensor(target)
    if tensor.storage.has_changed_leaf:
        writer.known.add("change of a leaf through a view")
    if tensor.storage.is_shared:
        writer.features.add("change of shared memory")
        if writer.with_gradients and tensor.storage.slopes:
            writer.known.add("gradient of shared memory")
    return True


def is_contiguous(tensor: Tensor) -> bool:
    return tensor.positions.strides == np.empty(tensor.shape, tensor.positions.dtype).strides


@enter(CHANGES, 6)
def by_number(writer: Writer) -> bool:
    target = writer.pick()
    if target is None:
        return False
    value = number(writer)
    method = writer.chance.choice(
        ("zero_()", "zero_()", f"fill_({value})", f"scale_({value})", f"scale_({value}, bias=0.5)", f"add_({value})",
         "clip_(-1.25, 0.75)", "neg_()", "fill_diagonal_(0.5)")
    )  # fmt: skip
    if method.startswith("add_"):  # Paddle's add_ takes tensors alone
        method = f"add_(paddle.to_tensor({value}))"
    return changed(writer, target, f"{target}.{method}", method.split("(")[0])


@enter(CHANGES, 4)
def by_tensor(writer: Writer) -> bool:
    target = writer.pick()
    if target is None:
        return False
    value = fitting(writer, writer.tensor(target).shape, but=target)
    if value is None:
        return False
    if overlap(writer, target, value):
        writer.known.add("overlap of source and target")
    method = writer.chance.choice(("add_", "add_", "subtract_", "multiply_"))
    return changed(writer, target, f"{target}.{method}({value})", method)


def overlap(writer: Writer, first: str, second: str) -> bool:
    """Whether two tensors share memory without being the same part of it."""
    a, b = writer.tensor(first), writer.tensor(second)
    return a.storage is b.storage and not (a.shape == b.shape and bool((a.positions == b.positions).all()))


@enter(CHANGES, 2)
def whole_value(writer: Writer) -> bool:
    """`set_value` and `copy_` leave no trace in a history, so that they stand in programs without gradients alone."""
    target = writer.pick()
    if target is None or writer.with_gradients:
        return False
    tensor = writer.tensor(target)
    value = writer.pick(lambda one: one.shape == tensor.shape and one.storage is not tensor.storage)
    if value is None:
        return False
    text = writer.chance.choice(
        (f"{target}.set_value({value})", f"{target}.set_value({value}.numpy())", f"{target}.copy_({value}, True)")
    )
    if "set_value" in text and not is_contiguous(tensor):
        if writer.decide(0.8):
            return False
        writer.known.add("set_value of a view")
    return changed(writer, target, text, "set_value" if "set_value" in text else "copy_")


@enter(CHANGES, 7)
def set_item(writer: Writer) -> bool:
    target = writer.pick(lambda one: one.positions.ndim > 0)
    if target is None:
        return False
    tensor = writer.tensor(target)
    text = subscript(writer, tensor.shape) if writer.decide(0.8) else "..."
    symbol = writer.chance.choice(("=", "=", "=", "*=", "+=", "-="))
    try:
        shape = list(np.empty(tensor.shape)[eval(f"np.s_[{text}]")].shape)
    except IndexError:
        return False
    value = fitting(writer, shape, but=target) if writer.decide(0.5) else None
    if value is not None and overlap(writer, target, value):
        writer.known.add("overlap of source and target")
    feature = "setitem with None" if "None" in text else "setitem" if symbol == "=" else "augmented setitem"
    return changed(writer, target, f"{target}[{text}] {symbol} {value or number(writer)}", feature)


@enter(CHANGES, 2)
def set_by_tensor(writer: Writer) -> bool:
    target = writer.pick(lambda one: one.positions.ndim > 0)
    if target is None:
        return False
    tensor, value = writer.tensor(target), number(writer)
    if writer.decide(0.6):
        mask = f"{target} > {writer.chance.choice(('0.5', '-0.25', '0.0'))}"
        text = writer.chance.choice((f"{target}[{mask}] = {value}", f"{target}.masked_fill_({mask}, {value})"))
        return changed(writer, target, text, "masked setitem")
    size = tensor.shape[0]
    rows = writer.chance.sample(range(size), writer.chance.randint(1, size))
    if not is_contiguous(tensor):
        if writer.decide(0.8):
            return False
        writer.known.add("subscript by tensor of a view")
    return changed(writer, target, f"{target}[paddle.to_tensor({rows})] = {value}", "setitem by tensor")


@enter(CHANGES, 2.5)
def shape_in_place(writer: Writer) -> bool:
    target = writer.pick()
    if target is None:
        return False
    tensor = writer.tensor(target)
    if tensor.has_twin:
        if writer.decide(0.9):
            return False
        writer.known.add("shape of a detached tensor")
    shape, rank = tensor.shape, tensor.positions.ndim
    order = writer.chance.sample(range(rank), rank)
    method = writer.chance.choice(
        (f"unsqueeze_({writer.chance.randint(0, rank)})", f"reshape_({factors(writer, math.prod(shape))})",
         "squeeze_()", "flatten_()", f"transpose_({order})")
    )  # fmt: skip
    if not rank and method.startswith(("reshape_", "flatten_")):
        return False  # without dimensions Paddle shares in the one, copies out of place, and refuses the other
    return changed(writer, target, f"{target}.{method}", method.split("(")[0])
