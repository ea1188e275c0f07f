"""`paddle.utils.custom_op`: operations of the user's own, recorded, compiled and differentiated like the built-in ones.

    @paddle.utils.custom_op(operands="x y", grad={"x": lambda g, y: g * y, "y": lambda g, x: g * x})
    def weighted(xp, x, y):
        return xp.multiply(x, y)

The kernel gets an array namespace (`numpy` while code is cold on the CPU, `jax.numpy` once it is compiled and on
accelerators), the arrays, and further parameters as plain Python values. A kernel that only exists for XLA (Pallas, a
custom call) says `compiled=True` and always gets `jax.numpy`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import to_numpy_dtype
from ..core.errors import runtime_error, type_error
from ..eager.declare import op
from ..ir.operation import all_operations
from ..ir.traits import GivenTraits
from ..ir.xla import started_jax

Kernel = Callable[..., Any]


def custom_op(
    kernel: Kernel | None = None,
    *,
    operands: str = "x",
    scalars: str = "",
    optional: str = "",
    outputs: int = 1,
    result: Any = None,
    grad: Any = "auto",
    compiled: bool = False,
    name: str | None = None,
    **traits: Unpack[GivenTraits],
) -> Any:
    """Makes an operation from a kernel; used as a decorator, with or without arguments.

    operands: the kernel's parameters that are tensors, separated by spaces.
    optional: those of them that may be None.
    scalars: parameters that are numbers and change often; they arrive as 0-d arrays, and a change never recompiles.
        All other parameters are fixed values (an axis, a mode); give them defaults, whose type they then keep.
    result: the result's shape and data type: "same" as the first tensor, or a function of the tensors' descriptions
        (`.shape`, `.dtype`) and the fixed values that gives (shape, dtype), or a list of these for several `outputs`. By
        default it is found by tracing the kernel with JAX.
    grad: "auto" derives the gradient from the kernel with JAX; None: there is none; or a dictionary from a tensor's name
        to a function of `g` (the gradient of the result, `g0, g1 …` of several) and of any of the kernel's parameters and
        `out`, written with tensors.
    compiled: the kernel is written for `jax.numpy` alone.

    Examples:
        >>> @paddle.utils.custom_op
        ... def cube(xp, x):
        ...     return x * x * x
        >>> x = paddle.to_tensor([2.0], stop_gradient=False)
        >>> y = cube(x)
        >>> y.backward()
        >>> y.tolist(), x.grad.tolist()
        ([8.0], [12.0])
    """

    def declare(function: Kernel) -> Any:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        known = {p.name for p in parameters}
        missing = [n for n in f"{operands} {scalars} {optional}".split() if n not in known]
        if missing:
            raise type_error("custom_op", f"the kernel has no parameter {', '.join(missing)}", f"{sorted(known)}")
        recorded = op(
            operands, scalars=scalars, optional=optional, outputs=outputs, infer=_rule(result, outputs), grad=grad,
            name=_free_name(name or function.__name__), **traits,
        )(function)  # fmt: skip
        if compiled:
            recorded.operation.kernels["numpy"] = through_xla(function)
        tensors = set(f"{operands} {scalars} {optional}".split())
        fixed = {p.name: p.default for p in parameters if p.name not in tensors}
        return _normalising(recorded, function, [p.name for p in parameters], fixed) if fixed else recorded

    return declare if kernel is None else declare(kernel)


def _free_name(name: str) -> str:
    """An identifier that no operation has for its name yet: in a notebook the same cell is run again."""
    taken = all_operations()
    name = re.sub(r"\W", "_", name)
    number = 1
    while (free := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return free


def _rule(result: Any, outputs: int) -> Callable[..., Any] | None:
    """The shape rule for the op table from what the user said about results."""
    if result is None:
        return None
    if result == "same":
        return lambda _operation, kinds, _attributes, _place: kinds[0] if outputs == 1 else (kinds[0],) * outputs
    if not callable(result):
        raise type_error("custom_op", "result is 'same' or a function giving (shape, dtype)", repr(result))

    def infer(operation: Any, kinds: Any, attributes: tuple[Any, ...], place: Any) -> Any:
        given = [k for k in kinds if not isinstance(k, type)]
        described = described_results(result(*given, *attributes), outputs)
        made = tuple(make_aval(shape, dtype, place) for shape, dtype in described)
        return made[0] if outputs == 1 else made

    return infer


def described_results(described: Any, outputs: int) -> list[tuple[tuple[int, ...], np.dtype]]:
    """(shape, dtype) of each result, from what a `result` function gave.

    Examples:
        >>> paddle.utils.cpp_extension.described_results(([2, 3], "float32"), 1)
        [((2, 3), dtype('float32'))]
    """
    parts = [described] if outputs == 1 else list(described)
    found: list[tuple[tuple[int, ...], np.dtype]] = []
    for part in parts:
        if isinstance(part, Aval):
            found.append((part.shape, part.dtype))
            continue
        try:
            shape, dtype = part
            found.append((tuple(int(n) for n in shape), to_numpy_dtype(dtype)))
        except (TypeError, ValueError):
            raise type_error("custom_op", "result must give (shape, dtype)", repr(part)) from None
    return found


def _frozen(name: str, value: Any, default: Any) -> Any:
    """A fixed value as a dictionary key: of its default's type, lists as tuples."""
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(name, item, inspect.Parameter.empty) for item in value)
    for kind in (bool, int, float):
        if type(default) is kind and isinstance(value, (bool, int, float, np.number)):
            return kind(value)
    try:
        hash(value)
    except TypeError:
        raise type_error(
            "custom_op", f"{name} is a fixed value and must be hashable", type(value).__name__,
            "name it in operands or scalars if it is data",
        ) from None  # fmt: skip
    return value


def _normalising(recorded: Any, kernel: Kernel, names: list[str], fixed: dict[str, Any]) -> Any:
    @functools.wraps(kernel)
    def call(*arguments: Any, **named: Any) -> Any:
        given = list(arguments)
        for position, name in enumerate(names[: len(given)]):
            if name in fixed:
                given[position] = _frozen(name, given[position], fixed[name])
        for name in fixed.keys() & named.keys():
            named[name] = _frozen(name, named[name], fixed[name])
        return recorded(*given, **named)

    call.__dict__.update(operation=recorded.operation, __signature__=inspect.signature(recorded))
    return call


def through_xla(kernel: Kernel) -> Kernel:
    """The form of an XLA kernel that cold code on the CPU runs: compiled by itself, arrays in and out."""
    jitted: dict[Any, Any] = {}

    def run(_xp: Any, *values: Any) -> Any:
        jax = started_jax()
        arrays = [isinstance(value, np.ndarray) for value in values]
        key = tuple(
            (None if is_array else (type(value), value)) for value, is_array in zip(values, arrays, strict=True)
        )
        function = jitted.get(key)
        if function is None:

            def call(*given: Any) -> Any:
                remaining = iter(given)
                return kernel(jax.numpy, *[next(remaining) if a else v for v, a in zip(values, arrays, strict=True)])

            function = jitted[key] = jax.jit(call)
        try:
            found = function(*[value for value, is_array in zip(values, arrays, strict=True) if is_array])
        except RuntimeError as error:
            raise runtime_error(kernel.__name__, f"XLA refused the call: {str(error).strip()}") from None
        return tuple(np.asarray(part) for part in found) if isinstance(found, (tuple, list)) else np.asarray(found)

    return run
