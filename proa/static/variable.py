"""Variables of static programs: data, parameters, global variables, and what a variable can be asked.

A variable is a Tensor that has no value yet. `Variable` is the name to test for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.aval import make_aval
from ..core.dtype import default_float, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..eager.naming import unique_name
from ..eager.tensor import Tensor, tensor_from_data
from ..graph.capture import placeholder
from ..ir.recorder import LOCAL
from ..ir.sizes.dimensions import shown_shape
from ..nn.base import attributes
from .mode import default_main_program, require_static


class _VariableType(type(Tensor)):
    """Makes `isinstance(x, Variable)` say whether x is a tensor of a program, without a value."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, Tensor):
            return False
        segment = instance._segment
        return instance._value is None and segment is not None and segment.captures


class Variable(Tensor, metaclass=_VariableType):
    """A tensor of a program. Made by operations, `data` and `Block.create_var`."""

    def __new__(
        cls,
        block: Any,
        type: Any = 7,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        lod_level: Any = None,
        capacity: Any = None,
        persistable: bool | None = None,
        error_clip: Any = None,
        stop_gradient: bool = False,
        is_data: bool = False,
        need_check_feed: bool = False,
        belong_to_optimizer: bool = False,
        **kwargs: Any,
    ) -> Any:
        made = block.create_var(name, shape, dtype or "float32", bool(persistable))
        made.stop_gradient = stop_gradient
        return made

    def __init__(
        self,
        block: Any,
        type: Any = 7,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        lod_level: Any = None,
        capacity: Any = None,
        persistable: bool | None = None,
        error_clip: Any = None,
        stop_gradient: bool = False,
        is_data: bool = False,
        need_check_feed: bool = False,
        belong_to_optimizer: bool = False,
        **kwargs: Any,
    ) -> None:
        """`__new__` has made the variable."""


def data(name: str, shape: Any, dtype: Any = None, lod_level: int = 0) -> Tensor:
    """An input of the program; sizes of -1 or None may be any."""
    program = require_static("static.data")
    if not isinstance(name, str):
        raise type_error("static.data", "name must be a string", type(name).__name__)
    if not isinstance(shape, (list, tuple)):
        raise type_error("static.data", "shape must be a list or a tuple", type(shape).__name__)
    for position, size in enumerate(shape):
        if size is not None and (isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < -1):
            raise value_error("static.data", f"shape[{position}] must be a size, -1 or None", f"{size!r}")
    segment = program.segment
    kind = np.dtype(default_float() if dtype is None else to_numpy_dtype(dtype))
    known = program.data.get(name)
    if known is not None:
        wanted = [-1 if size is None or size < 0 else int(size) for size in shape]
        if known._aval.dtype != kind or shown_shape(known._aval.shape) != wanted:
            raise value_error(
                "static.data", f"the program has an input {name} already", f"{kind.name}{list(shape)}",
                f"it is {known!r}; choose another name",
            )  # fmt: skip
        return known
    if LOCAL.segment is not segment:
        raise value_error("static.data", "an input cannot be made inside a branch or a loop", f"name: {name}")
    sizes = [None if size is None or size < 0 else int(size) for size in shape]
    assumed = segment.assumptions.shape if None in sizes else segment.assumptions.stated_shape
    tensor = placeholder(segment, make_aval(assumed(sizes, name), kind, segment.root.place))  # type: ignore[arg-type]
    tensor.name = name
    tensor.is_data = True  # type: ignore[attr-defined]
    tensor.lod_level = lod_level  # type: ignore[attr-defined]
    program.data[name] = tensor
    return tensor


def create_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A parameter that belongs to no layer."""
    return attributes.create_parameter(shape, dtype, name, attr, is_bias, default_initializer)


def create_global_var(
    shape: Any, value: float, dtype: Any, persistable: bool = False, force_cpu: bool = False, name: str | None = None
) -> Tensor:
    """A tensor with a value of its own that operations may change; the startup program fills it with `value`. Outside of
    static mode an ordinary tensor."""
    program = LOCAL.segment.owner
    kind = np.dtype(to_numpy_dtype(dtype))
    array = np.full(tuple(int(size) for size in shape), value, kind)
    tensor = tensor_from_data(array, kind, LOCAL.place if program is None else program.segment.root.place)
    tensor.name = name or unique_name("global_var")
    tensor.persistable = bool(persistable)
    if program is not None:
        program._note(program.states, tensor, tensor._data())
    return tensor


def setitem(x: Tensor, index: Any, value: Any) -> Tensor:
    """`x` with other values at an index, as a new variable."""
    made = x.clone()  # type: ignore[attr-defined]
    made[index] = value
    return made


# ---- what a variable can be asked -----------------------------------------------------------------------------------


def _program_of(tensor: Tensor) -> Any:
    segment = tensor._segment
    owner = segment.owner if segment is not None else None
    if owner is None:
        raise AttributeError("only a variable of a static program belongs to a block")
    return owner


def _block(self: Tensor) -> Any:
    """The block of a variable; for a tensor of dynamic code the one that a program would get it into, as in Paddle."""
    owner = self._segment.owner if self._segment is not None else None
    return (owner or default_main_program()).global_block()


def _op(self: Tensor) -> Any:
    for operator in _program_of(self).global_block().ops:
        first = operator.instruction.index
        if first <= self._index < first + len(operator.instruction.outputs):
            return operator
    return None


Tensor.block = property(_block)  # type: ignore[attr-defined]
Tensor.op = property(_op)  # type: ignore[attr-defined]
Tensor.is_data = False  # type: ignore[attr-defined]
Tensor.lod_level = 0  # type: ignore[attr-defined]
