"""The arguments of a call: which are tensors, which are part of what was captured."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..graph.structure import Leaf
from ..ir.keys import attribute_key


class _ById:
    """An argument that has no hash: told apart by identity, and kept alive so that its identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.value is self.value


class Input:
    """A tensor of the call, as a spec for the capture."""

    __slots__ = ("dtype", "name", "shape", "stop_gradient")

    def __init__(self, shape: Any, dtype: Any, name: str | None, stop_gradient: bool) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.name = name
        self.stop_gradient = stop_gradient

    @property
    def key(self) -> Any:
        return (self.shape, self.dtype, self.stop_gradient)


class Arguments:
    """The arguments of one call, taken apart: tensors, their specs, the structure around them, and a key."""

    __slots__ = ("inputs", "key", "structure", "tensors")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], specs: tuple[Any, ...] | None) -> None:
        self.tensors: list[Tensor] = []
        self.inputs: list[Input] = []
        parts: list[Any] = []
        structure_args = tuple(
            [
                self._take(a, parts, specs[i] if specs is not None and i < len(specs) else None)
                for i, a in enumerate(args)
            ]
        )
        structure_kwargs = {name: self._take(value, parts, None, name) for name, value in kwargs.items()}
        self.structure = (structure_args, structure_kwargs)
        self.key = (tuple(parts), tuple(kwargs))

    @property
    def has_unknown_sizes(self) -> bool:
        return any(size in (None, -1) for given in self.inputs for size in given.shape)

    @property
    def examples(self) -> list[tuple[int, ...]] | None:
        """The shapes of the call; None where tensors only stand for specs."""
        if any(_spec_behind(tensor) is not None for tensor in self.tensors):
            return None
        return [tensor._aval.shape for tensor in self.tensors]

    def _take(self, value: Any, parts: list[Any], spec: Any, name: str | None = None) -> Any:
        if isinstance(value, np.ndarray) or (isinstance(value, np.generic) and value.dtype.kind in "biufc"):
            value = tensor_from_data(value)
        if isinstance(value, Tensor):
            made = _input_of(value, spec, name)
            self.tensors.append(value)
            self.inputs.append(made)
            parts.append(made.key)
            return Leaf(len(self.tensors) - 1)
        if isinstance(value, (list, tuple)):
            parts.append((type(value), len(value)))
            inner = spec if isinstance(spec, (list, tuple)) else ()
            taken = [self._take(v, parts, inner[i] if i < len(inner) else None) for i, v in enumerate(value)]
            return type(value)(*taken) if hasattr(value, "_fields") else type(value)(taken)
        if isinstance(value, dict):
            parts.append((type(value), tuple([attribute_key(key) for key in value])))
            inner_dict = spec if isinstance(spec, dict) else {}
            return type(value)((k, self._take(v, parts, inner_dict.get(k))) for k, v in value.items())
        parts.append(_key(value))
        return value


def _key(value: Any) -> Any:
    """What tells calls apart by an argument that is no tensor: its type and value, or its identity."""
    if isinstance(value, slice):
        return slice, _key(value.start), _key(value.stop), _key(value.step)
    try:
        hash(value)
    except TypeError:
        return _ById(value)
    # Fields of equal objects may still differ as 0.0 and -0.0 do.
    inner = tuple([_key(getattr(value, name)) for name in getattr(type(value), "__dataclass_fields__", ())])
    return type(value), attribute_key(value), inner


def _spec_behind(tensor: Tensor) -> Any:
    """The InputSpec that a tensor stands for, as one without real arguments does."""
    return getattr(tensor, "stands_for_spec", None)


def _input_of(tensor: Tensor, spec: Any, name: str | None) -> Input:
    aval = tensor._aval
    behind = _spec_behind(tensor)
    spec = spec if behind is None else behind
    if spec is None or not hasattr(spec, "shape"):
        return Input(aval.shape, aval.dtype, name, tensor.stop_gradient)
    shape = tuple(spec.shape)
    name = spec.name or name
    fits = len(shape) == aval.ndim and all(
        wanted in (None, -1) or wanted == size for wanted, size in zip(shape, aval.shape, strict=True)
    )
    if not fits:
        raise value_error(
            "to_static",
            f"{f'the argument {name}' if name else 'a tensor argument'} must have the shape of its InputSpec, {list(shape)}",
            f"{aval}",
        )
    return Input([None if n in (None, -1) else n for n in shape], aval.dtype, name, tensor.stop_gradient)


def flat_specs(specs: Any) -> tuple[Any, ...] | None:
    """input_spec as a tuple, or None."""
    if specs is None:
        return None
    if isinstance(specs, (list, tuple)):
        return tuple(specs)
    raise TypeError(f"(to_static) input_spec must be a list or tuple of InputSpec; received {type(specs).__name__}.")


def positional(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with as many positional arguments as possible, so that specs find theirs."""
    if not kwargs or signature is None:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    return bound.args, bound.kwargs


def signature_of(function: Callable[..., Any], is_method: bool) -> inspect.Signature | None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())
    return signature.replace(parameters=parameters[1:]) if is_method and parameters else signature
