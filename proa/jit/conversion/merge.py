"""Values that differ between branches, or change in a loop, as tensors of one shape and type.

Numbers become tensors where they must; dtypes are promoted by Paddle's rules; a number beside a tensor takes its shape.
Lists, tuples and dictionaries are merged part by part. Whatever cannot be a tensor must be the same on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import get_default_dtype, name_of, to_numpy_dtype
from ...core.promotion import promote_scalar, promote_tensors
from ...eager.tensor import Tensor
from ...graph.control import BlockCapture
from ...ir.capture import can_put_off
from ...ops.basic import cast
from ...ops.create.creation import full
from .state import Site, Undefined

_NUMBERS = (bool, int, float, complex)


class Dynamic:
    """Stands for tensor number `position` among the results of a condition or loop."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def fill(value: Any, values: Sequence[Tensor]) -> Any:
    """A merged value with its tensors in their places."""
    if isinstance(value, Dynamic):
        return values[value.position]
    if isinstance(value, dict):
        return type(value)((key, fill(part, values)) for key, part in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(fill(part, values) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)([fill(part, values) for part in value])
    return value


def is_number(value: Any) -> bool:
    return value.__class__ in _NUMBERS or isinstance(value, np.generic)


def same_value(a: Any, b: Any) -> bool:
    """Whether two things that are no tensors may stand for each other."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    try:
        return bool(a == b) or (a != a and b != b)
    except Exception:
        return False


def number_dtype(value: Any) -> np.dtype:
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool):
        return np.dtype(bool)
    if isinstance(value, int):
        return np.dtype(np.int64)
    if isinstance(value, complex):
        return np.dtype(np.complex64)
    return to_numpy_dtype(get_default_dtype())


def common_dtype(a: Any, b: Any) -> np.dtype:
    """The dtype of a value that is `a` or `b`; each is a Tensor or a number."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        first, second = a._aval.dtype, b._aval.dtype
        if first == second:
            return first
        return promote_tensors("to_static", first, second, a_is_0d=not a._aval.shape, b_is_0d=not b._aval.shape)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        tensor, number = (a, b) if isinstance(a, Tensor) else (b, a)
        dtype = tensor._aval.dtype
        if isinstance(number, (bool, np.bool_)):
            return dtype
        if dtype == np.dtype(bool):
            return number_dtype(number)
        kind = float if isinstance(number, (float, np.floating)) else complex if isinstance(number, complex) else int
        return promote_scalar("to_static", dtype, kind)
    first, second = number_dtype(a), number_dtype(b)
    return first if first == second else np.result_type(first, second) if "f" not in (first.kind, second.kind) else (
        first if first.kind == "f" else second
    )  # fmt: skip


def as_tensor(value: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Tensor:
    """A tensor of this dtype; a number is spread over the shape."""
    if isinstance(value, Tensor):
        return value if value._aval.dtype == dtype else cast(value, dtype)
    number = value.item() if isinstance(value, np.generic) else value
    return full(list(shape), number, name_of(dtype))


def filler(aval: Aval) -> Tensor:
    """Stands where there is no value: NaN, so that an impossible use shows; the smallest integer; False."""
    kind = aval.dtype.kind
    number: Any = (
        False if kind == "b" else int(np.iinfo(aval.dtype).min) if kind == "i" else 0 if kind == "u" else float("nan")
    )
    return as_tensor(number, aval.dtype, aval.shape)


class BranchMerge:
    """Makes the variables after a condition from those after each branch."""

    def __init__(self, names: Sequence[str], site: Site, num_variables: int = 0) -> None:
        self.names = names
        # Plain variables: one that nobody uses behind the condition may be anything.
        self.variables = {name for name in names[:num_variables] if not name.startswith("_jst_")}
        self.site = site
        self.merged: list[Any] = []
        # Attributes that a branch sets, with what they were before; filled while the branches run.
        self.owners: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.attributes: list[tuple[Any, str, Any]] = []
        self.first: list[Tensor] = []
        self.second: list[Tensor] = []

    def unify(self, first: BlockCapture, second: BlockCapture) -> tuple[list[Tensor], list[Tensor]]:
        self.one, self.two = first, second
        changed = {id(tensor) for tensor, _ in (*first.updates, *second.updates)}
        (values, attributes), (other_values, other_attributes) = first.result, second.result
        for name, a, b in zip(self.names, values, other_values, strict=True):
            self.merged.append(self._merge(name, a, b, changed))
        for key, (owner, name, old) in self.owners.items():
            a, b = attributes.get(key, old), other_attributes.get(key, old)
            self.attributes.append((owner, name, self._merge(f"{type(owner).__name__}.{name}", a, b, changed)))
        if not self.first:  # a branch may do something without giving anything (print)
            self._dynamic(*[lambda: as_tensor(False, np.dtype(bool), ())] * 2)
        return self.first, self.second

    def _dynamic(self, make_first: Callable[[], Tensor], make_second: Callable[[], Tensor]) -> Dynamic:
        self.first.append(self.one.record(make_first))
        self.second.append(self.two.record(make_second))
        return Dynamic(len(self.first) - 1)

    def _merge(self, name: str, a: Any, b: Any, changed: set[int]) -> Any:
        missing_a, missing_b = a.__class__ is Undefined, b.__class__ is Undefined
        if missing_a and missing_b:
            return a
        if missing_a or missing_b:
            return self._one_sided(name, a, b, missing_a)
        if isinstance(a, Tensor) and a is b and id(a) not in changed:
            return a
        if isinstance(a, (Tensor, *_NUMBERS, np.generic)) and isinstance(b, (Tensor, *_NUMBERS, np.generic)):
            if is_number(a) and is_number(b) and same_value(a, b):
                return a
            return self._tensors(name, a, b)
        if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
            return type(a)((key, self._merge(f"{name}[{key!r}]", a[key], b[key], changed)) for key in a)
        if isinstance(a, (list, tuple)) and type(a) is type(b):
            if len(a) != len(b):
                raise self.site.error(
                    f"{name!r} has {len(a)} elements in one branch and {len(b)} in the other, but which branch is taken is "
                    "only known when the graph runs; append in both branches, or keep a tensor and use paddle.where"
                )
            parts = [self._merge(f"{name}[{i}]", x, y, changed) for i, (x, y) in enumerate(zip(a, b, strict=True))]
            return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
        if same_value(a, b):
            return a
        return self._refuse(name, a, b, "make both tensors (or numbers)")

    def _refuse(self, name: str, a: Any, b: Any, fix: str) -> Any:
        """What cannot be one value: an error if it is the result, else when somebody uses the variable."""
        where = f"{_described(a)} in one branch and {_described(b)} in the other"
        text = f"{where} of the condition at line {self.site.line}, and which is taken is only known at run time; {fix}"
        if name in self.variables:
            return Undefined(name, f"it is {text}")
        shown = "what is returned" if name.startswith("_jst_result") else name
        raise self.site.error(f"{shown} is {text}")

    def _one_sided(self, name: str, a: Any, b: Any, missing_a: bool) -> Any:
        there = b if missing_a else a
        if not (self.site.is_guard or name.startswith("_jst_")):
            return Undefined(
                name,
                f"it is assigned in only one branch of the condition at line {self.site.line}, and which branch is taken "
                "is only known when the graph runs; give it a value before the condition",
            )
        structure: list[Tensor] = []

        def stand_in(part: Any) -> Any:
            if isinstance(part, Tensor) or is_number(part):
                number = not isinstance(part, Tensor)
                dtype = number_dtype(part) if number else part._aval.dtype
                shape = () if number else part._aval.shape
                aval = make_aval(shape, dtype, self.one.segment.root.place)
                make_there, make_filler = (lambda: as_tensor(part, dtype, shape)), (lambda: filler(aval))
                return self._dynamic(make_filler, make_there) if missing_a else self._dynamic(make_there, make_filler)
            if isinstance(part, dict):
                return type(part)((key, stand_in(value)) for key, value in part.items())
            if isinstance(part, tuple) and hasattr(part, "_fields"):
                return type(part)(*(stand_in(value) for value in part))
            if isinstance(part, (list, tuple)):
                return type(part)([stand_in(value) for value in part])
            return part

        assert not structure
        return stand_in(there)

    def _tensors(self, name: str, a: Any, b: Any) -> Any:
        try:
            dtype = common_dtype(a, b)
        except Exception as error:
            return self._refuse(name, a, b, str(error))
        shapes = [value._aval.shape for value in (a, b) if isinstance(value, Tensor)]
        if len(shapes) == 2 and shapes[0] != shapes[1] and not (len(shapes[0]) == len(shapes[1]) and can_put_off()):
            return self._refuse(name, a, b, "both must have the same shape: expand or reshape one of them")
        shape = shapes[0] if shapes else ()
        return self._dynamic(lambda: as_tensor(a, dtype, shape), lambda: as_tensor(b, dtype, shape))


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {value._aval}"
    if value is None:
        return "None"
    return f"{value!r}" if is_number(value) or isinstance(value, str) else f"a {type(value).__name__}"
