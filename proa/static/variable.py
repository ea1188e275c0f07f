"""Variables of static programs: data, parameters, global variables, and what a variable can be asked.

A variable is a Tensor that has no value yet. `Variable` is the name to test for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.aval import make_aval
from ..core.dtype import default_float, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..eager.annotations import AttrLike, DTypeLike, ShapeLike, SizesLike, TensorLike
from ..eager.attaching import attach
from ..eager.naming import unique_name
from ..eager.tensor import Tensor, tensor_from_data
from ..graph.capture import placeholder
from ..ir.recorder import LOCAL
from ..ir.sizes.dimensions import shown_shape
from ..nn.base import attributes
from .mode import default_main_program, require_static

if TYPE_CHECKING:
    from ..nn.initializer import Initializer


class _VariableType(type(Tensor)):
    """Makes `isinstance(x, Variable)` say whether x is a tensor: while programs are built, one without a value."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, Tensor):
            return False
        if not LOCAL.segment.captures:
            return True  # as in Paddle: code for both modes asks for the one name
        segment = instance._segment
        return instance._value is None and segment is not None and segment.captures


class Variable(Tensor, metaclass=_VariableType):
    """A tensor of a program. Made by operations, `data` and `Block.create_var`.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        >>> isinstance(x, paddle.static.Variable)
        True
    """

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
        shape: SizesLike | None = None,
        dtype: DTypeLike | None = None,
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


def data(name: str, shape: SizesLike, dtype: DTypeLike | None = None, lod_level: int = 0) -> Tensor:
    """An input of the program; sizes of -1 or None may be any.

    Args:
        name: what `feed` calls it.
        shape: its sizes.
        dtype: its data type; None: the default one.
        lod_level: 1: rows of sequences of different lengths, which a dataset feeds one behind another; 0: a plain array.

    Raises:
        RuntimeError: outside of static mode.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "int64")
        >>> x.shape, x.dtype
        (paddle.Size([-1, 2]), paddle.int64)
    """
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
    tensor.is_data = True
    tensor.lod_level = lod_level
    program.data[name] = tensor
    return tensor


def create_parameter(
    shape: ShapeLike,
    dtype: DTypeLike | None,
    name: str | None = None,
    attr: AttrLike | None = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:
    """A parameter that belongs to no layer.

    Args:
        shape: its sizes.
        dtype: its data type.
        name: its name; None: one is made.
        attr: a ParamAttr.
        is_bias: whether it begins with zeros, unless something else is said.
        default_initializer: how it begins, unless `attr` says it.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     weight = paddle.static.create_parameter([2, 3], "float32")
        >>> weight.shape
        paddle.Size([2, 3])
    """
    return attributes.create_parameter(shape, dtype, name, attr, is_bias, default_initializer)


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: DTypeLike,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Tensor:
    """A tensor with a value of its own that operations may change.

    The startup program fills it with `value`. Outside of static mode it is an ordinary tensor.

    Args:
        shape: its sizes.
        value: what it begins with.
        dtype: its data type.
        persistable: whether it keeps its value between runs.
        force_cpu: taken; it changes nothing.
        name: its name; None: one is made.

    Examples:
        >>> paddle.static.create_global_var([2], 1.5, "float32").tolist()
        [1.5, 1.5]
    """
    program = LOCAL.segment.owner
    kind = np.dtype(to_numpy_dtype(dtype))
    array = np.full(tuple(int(size) for size in shape), value, kind)
    tensor = tensor_from_data(array, kind, LOCAL.place if program is None else program.segment.root.place)
    tensor.name = name or unique_name("global_var")
    tensor.persistable = bool(persistable)
    if program is not None:
        program._note(program.states, tensor, tensor._data())
    return tensor


def setitem(x: Tensor, index: Any, value: TensorLike) -> Tensor:
    """`x` with other values at an index, as a new variable.

    Args:
        x: a variable.
        index: as in `x[index]`.
        value: what is put there.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [3])
        ...     y = paddle.static.setitem(x, 0, 5.0)
        >>> paddle.static.Executor().run(main, feed={"x": np.ones(3, "float32")}, fetch_list=[y])[0].tolist()
        [5.0, 1.0, 1.0]
    """
    made = x.clone()
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
    """The block of a program that the tensor belongs to; of a tensor of eager code, the one that would take it.

    Examples:
        >>> type(paddle.ones([2]).block).__name__
        'Block'
    """
    owner = self._segment.owner if self._segment is not None else None
    return (owner or default_main_program()).global_block()


def _op(self: Tensor) -> Any:
    """The operator of a program that gives this variable, or None.

    Examples:
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     y = paddle.static.data("x", [2]) * 2
        ...     y.op.type
        'multiply'
    """
    for operator in _program_of(self).global_block().ops:
        first = operator.instruction.index
        if first <= self._index < first + len(operator.instruction.outputs):
            return operator
    return None


attach(__name__, "proa.compat.tensor_names", block=property(_block))
attach(__name__, op=property(_op), is_data=False, lod_level=0)
