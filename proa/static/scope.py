"""Scopes: where the values of parameters and other persistable variables are.

The values of the global scope are the tensors' own. Another scope keeps values by name, which are put into the tensors while
a program runs in it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.dtype import dtype_of
from ..core.errors import runtime_error, type_error, value_error
from ..core.locks import new_reentrant_lock
from ..eager.tensor import Tensor, tensor_from_data, wrap
from ..eager.views import replace_value
from . import mode
from .program import VARIABLES


class Scope:
    """Values by name: where a program's parameters have theirs.

    Examples:
        >>> scope = paddle.static.Scope()
        >>> scope.var("w").get_tensor().set(np.ones(2, "float32"))
        >>> scope.find_var("w").get_tensor().numpy().tolist()
        [1.0, 1.0]
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.lock = new_reentrant_lock()

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of this name; None where there is none.

        Examples:
            >>> print(paddle.static.Scope().find_var("w"))
            None
        """
        return ScopeVariable(self, name) if self.has(name) else None

    def var(self, name: str) -> ScopeVariable:
        """The variable of this name, made where there is none.

        Examples:
            >>> paddle.static.Scope().var("w").get_tensor().shape()
            [0]
        """
        if not self.has(name):
            self.put(name, np.zeros((0,), np.float32))
        return ScopeVariable(self, name)

    def local_var_names(self) -> list[str]:
        """The names of the variables.

        Examples:
            >>> scope = paddle.static.Scope()
            >>> scope.put("w", np.ones(2, "float32"))
            >>> scope.local_var_names()
            ['w']
        """
        return list(self.values)

    def erase(self, names: Iterable[str]) -> None:
        """Forgets variables.

        Args:
            names: theirs; those that are not there are passed over.

        Examples:
            >>> scope = paddle.static.Scope()
            >>> scope.put("w", np.ones(2, "float32"))
            >>> scope.erase(["w"])
            >>> scope.has("w")
            False
        """
        for name in names:
            self.values.pop(name, None)

    def new_scope(self) -> Scope:
        """An empty scope.

        Examples:
            >>> paddle.static.Scope().new_scope().local_var_names()
            []
        """
        return Scope()

    def drop_kids(self) -> None:
        """Scopes have no kids here.

        Examples:
            >>> print(paddle.static.Scope().drop_kids())
            None
        """

    def has(self, name: str) -> bool:
        """Whether there is a variable of that name.

        Examples:
            >>> paddle.static.Scope().has("w")
            False
        """
        return name in self.values

    def get(self, name: str) -> Any:
        """The value of that name.

        Examples:
            >>> scope = paddle.static.Scope()
            >>> scope.put("w", np.ones(2, "float32"))
            >>> scope.get("w").tolist()
            [1.0, 1.0]
        """
        return self.values[name]

    def put(self, name: str, array: Any) -> None:
        """Keeps a value under a name.

        Examples:
            >>> scope = paddle.static.Scope()
            >>> scope.put("w", np.ones(2, "float32"))
            >>> scope.get("w").tolist()
            [1.0, 1.0]
        """
        self.values[name] = array

    @contextlib.contextmanager
    def in_force(self, tensors: Iterable[Tensor], initialising: bool = False) -> Iterator[None]:
        """Inside, the tensors have this scope's values; what they become is kept here.

        Examples:
            >>> scope, x = paddle.static.Scope(), paddle.to_tensor([1.0])
            >>> x.name = "x_in_scope"
            >>> scope.put("x_in_scope", np.array([5.0], "float32"))
            >>> with scope.in_force([x]):
            ...     print(x.tolist())
            [5.0]
            >>> x.tolist()
            [1.0]
        """
        chosen = list({id(tensor): tensor for tensor in tensors}.values())
        with self.lock, _SWAPPING:
            for tensor in chosen:
                if not initialising and tensor.name not in self.values:
                    raise runtime_error(
                        "Executor.run", f"{tensor.name} has no value in this scope", f"{tensor.name}: {tensor._aval}",
                        "run the startup program in it first",
                    )  # fmt: skip
            before = [tensor._data() for tensor in chosen]
            try:
                for tensor in chosen:
                    if tensor.name in self.values:
                        _set(tensor, self.values[tensor.name])
                yield
                for tensor in chosen:
                    self.values[tensor.name] = tensor._data()
            finally:
                for tensor, value in zip(chosen, before, strict=True):
                    replace_value(tensor, wrap(value, tensor._aval))


_SWAPPING = new_reentrant_lock()


class GlobalScope(Scope):
    """The scope whose values the tensors themselves hold."""

    def has(self, name: str) -> bool:
        return name in VARIABLES or name in self.values

    def get(self, name: str) -> Any:
        tensor = VARIABLES.get(name)
        if tensor is None:
            return self.values[name]
        with mode.running():
            return tensor._data()

    def put(self, name: str, array: Any) -> None:
        tensor = VARIABLES.get(name)
        if tensor is None:
            self.values[name] = array
        else:
            with mode.running():
                _set(tensor, array)

    def local_var_names(self) -> list[str]:
        return [*VARIABLES, *self.values]

    @contextlib.contextmanager
    def in_force(self, tensors: Iterable[Tensor], initialising: bool = False) -> Iterator[None]:
        yield


class ScopeVariable:
    """A variable of a scope."""

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope = scope
        self.name = name

    def get_tensor(self) -> ScopeTensor:
        return ScopeTensor(self._scope, self.name)


class ScopeTensor:
    """The value of a variable: an array to NumPy, and `set` changes it."""

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope = scope
        self._name = name

    def numpy(self) -> np.ndarray:
        return np.array(self._scope.get(self._name))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._scope.get(self._name), dtype=dtype)

    def set(self, array: Any, place: Any = None, zero_copy: bool = False) -> None:
        self._scope.put(self._name, np.array(array))

    def shape(self) -> list[int]:
        return list(self._scope.get(self._name).shape)

    def lod(self) -> list[Any]:
        return []

    def _dtype(self) -> Any:
        return dtype_of(self._scope.get(self._name).dtype)

    def _is_initialized(self) -> bool:
        return True

    def __repr__(self) -> str:
        return repr(self.numpy())


def _set(tensor: Tensor, array: Any) -> None:
    """Gives a tensor other numbers of its shape and dtype."""
    aval = tensor._aval
    source = tensor_from_data(np.asarray(array), aval.dtype, aval.place)
    if source._aval.shape != aval.shape:
        raise value_error("set", f"{tensor.name} has another shape", f"{source._aval}", f"it is {aval}")
    replace_value(tensor, source)


_global = GlobalScope()


class _Thread(threading.local):
    def __init__(self) -> None:
        self.guards: list[Scope] = []


_thread = _Thread()


def global_scope() -> Scope:
    """The scope that programs run in: the innermost `scope_guard`'s, or else the global one.

    Examples:
        >>> scope = paddle.static.Scope()
        >>> with paddle.static.scope_guard(scope):
        ...     print(paddle.static.global_scope() is scope)
        True
    """
    return _thread.guards[-1] if _thread.guards else _global


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Inside, `scope` is the one that programs run in.

    Args:
        scope: a `Scope`.

    Raises:
        TypeError: it is something else.

    Examples:
        >>> scope = paddle.static.Scope()
        >>> with paddle.static.scope_guard(scope):
        ...     print(paddle.static.global_scope() is scope)
        True
    """
    if not isinstance(scope, Scope):
        raise type_error("scope_guard", "scope must be a Scope", type(scope).__name__)
    _thread.guards.append(scope)
    try:
        yield
    finally:
        _thread.guards.pop()


def values_of(tensors: Mapping[str, Tensor], scope: Scope | None = None) -> dict[str, Any]:
    """The values of tensors in a scope, by name."""
    chosen = scope or global_scope()
    if isinstance(chosen, GlobalScope):
        with mode.running():
            return {name: tensor._data() for name, tensor in tensors.items()}
    return {name: chosen.get(tensor.name) for name, tensor in tensors.items() if chosen.has(tensor.name)}


def set_values(values: Mapping[Tensor, Any], scope: Scope | None = None) -> None:
    """Gives tensors other values in a scope."""
    chosen = scope or global_scope()
    with mode.running():
        for tensor, value in values.items():
            array = np.asarray(value)
            if tuple(array.shape) != tensor._aval.shape:
                raise value_error(
                    "set_state_dict", f"{tensor.name} has another shape in the dictionary", f"{list(array.shape)}",
                    f"it is {tensor._aval}",
                )  # fmt: skip
        for tensor, value in values.items():
            array = np.asarray(value)
            if isinstance(chosen, GlobalScope):
                _set(tensor, array)
            else:
                chosen.put(tensor.name, np.asarray(tensor_from_data(array, tensor._aval.dtype)._data()))
