"""Calls whose results have shapes that values decide: `nonzero(x)`, `x[mask]`, `reshape(x, sizes)`.

Such a call is one instruction of a program, with a `Deferred` as its attribute; it runs between the compiled parts of the
program (`stages.py`). `static/deferral.py` puts it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.aval import Aval
from ..core.errors import value_error
from ..eager.backward.hooks import grad as gradients_of
from ..eager.declare import PUBLIC
from ..eager.modes import enable_grad
from ..eager.tensor import Tensor
from ..ir.operation import Operation, register
from ..ir.sizes.dimensions import Known, SizedByOthers, symbols_in
from ..ir.sizes.stated import stated
from ..ops.basic import full_of
from ..ops.index.indexing import get_item
from .blocks import take_branch, take_rounds
from .structure import flatten, rebuild


class Deferred(SizedByOthers):
    """A function with its arguments; tensors among them are operands. Compared by identity: it is an attribute."""

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self.function = function
        self.tensors: list[Tensor] = []
        self.arguments = flatten(arguments, self.tensors)
        self.structure: Any = None  # of the results
        self.outputs: list[Aval] = []

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "function")

    def symbols(self) -> dict[Any, None]:
        """The unknown sizes among its arguments."""
        found: dict[Any, None] = {}
        _mapped(lambda value: found.update(symbols_in(value)), self.arguments)
        return found

    def bound(self, known: Known) -> Deferred:
        """The call for real sizes."""
        if not self.symbols():
            return self
        made = Deferred(self.function, ())
        made.arguments = _mapped(known.resolve, self.arguments)
        made.structure, made.outputs = self.structure, self.outputs
        return made

    def as_stated(self) -> Deferred:
        made = Deferred(self.function, ())
        made.arguments, made.structure = _mapped(stated, self.arguments), self.structure
        made.outputs = [stated(aval) for aval in self.outputs]
        return made

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors of the result."""
        positional, named = rebuild(self.arguments, list(tensors))
        found: list[Tensor] = []
        self.structure = flatten(self.function(*positional, **named), found)
        return found

    def __repr__(self) -> str:
        return f"<{self.name}>"


class DeferredGradient(Deferred):
    """The gradient of such a call: calls it again, and back. Operands are its tensors, then gradients of its results."""

    def __init__(self, call: Deferred, wanted: Sequence[int], differentiable: Sequence[int]) -> None:
        super().__init__(call.function, ())
        self.call, self.wanted, self.differentiable = call, tuple(wanted), tuple(differentiable)

    @property
    def name(self) -> str:
        return f"{self.call.name}_grad"

    def symbols(self) -> dict[Any, None]:
        return self.call.symbols()

    def bound(self, known: Known) -> Deferred:
        return DeferredGradient(self.call.bound(known), self.wanted, self.differentiable)

    def as_stated(self) -> Deferred:
        return DeferredGradient(self.call.as_stated(), self.wanted, self.differentiable)

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        count = len(tensors) - len(self.differentiable)
        operands = [tensor.detach() for tensor in tensors[:count]]
        for position in self.wanted:
            operands[position].stop_gradient = False
        with enable_grad():
            results = self.call(operands)
            chosen = [results[position] for position in self.differentiable]
            found = gradients_of(chosen, [operands[p] for p in self.wanted], list(tensors[count:]), allow_unused=True)
        return [
            full_of(0, operands[p]._aval.shape, operands[p]._aval.dtype) if gradient is None else gradient.detach()
            for p, gradient in zip(self.wanted, found, strict=True)
        ]


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """A structure with a function applied to everything in it that is no container."""
    if isinstance(value, dict):
        return {key: _mapped(function, part) for key, part in value.items()}
    if value.__class__ in (list, tuple):
        return type(value)([_mapped(function, part) for part in value])
    if value.__class__ is slice:
        return slice(*[_mapped(function, part) for part in (value.start, value.stop, value.step)])
    return function(value)


def _not_alone(xp: Any, x: Sequence[Any], call: Deferred) -> Any:
    raise value_error(
        "static", "values decide a shape here, so that the program cannot be one executable",
        fix="take the operation out of what is compiled as one graph",
    )  # fmt: skip


def _as_found(_operation: Any, _kinds: Any, attributes: tuple[Any, ...], _place: Any) -> Any:
    return tuple(attributes[0].outputs)


CALL = register(Operation("deferred_call", _not_alone, ["x"], ["call"], infer=_as_found, variadic=True))
CALL.returns_tuple = True
CALL.kernel.decides_shapes = True
CALL.kernel.replay = lambda operands, call: call(operands)


# ---- in files --------------------------------------------------------------------------------------------------------

# Functions that a file may name: they compute tensors from tensors and plain data, and do nothing else.
_IN_FILES = frozenset({
    "all", "amax", "amin", "any", "arange", "argmax", "argmin", "argsort", "bincount", "broadcast_to", "chunk", "concat",
    "count_nonzero", "crop", "cumprod", "cumsum", "empty", "expand", "eye", "flip", "full", "full_like", "gather",
    "get_item", "histogram", "index_select", "linspace", "logspace", "logsumexp", "masked_fill", "masked_select", "max",
    "mean", "median", "min", "nansum", "nn.functional.interpolate", "nn.functional.one_hot", "nn.functional.pad",
    "nn.functional.sequence_mask", "nn.functional.upsample", "nonzero", "norm", "ones", "prod", "rand", "randint",
    "randn", "repeat_interleave", "reshape", "roll", "shard_index", "slice", "sort", "split", "squeeze", "stack", "std",
    "strided_slice", "sum", "take_along_axis", "take_branch", "take_rounds", "tensor_split", "tile", "topk",
    "tril_indices", "triu_indices", "unbind", "unflatten", "uniform", "unique", "unique_consecutive", "unsqueeze",
    "unstack", "var", "vision.ops.nms", "where", "zeros",
})  # fmt: skip
# Those of them that are not in the public table.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "get_item": get_item, "take_branch": take_branch, "take_rounds": take_rounds,
}  # fmt: skip


def for_files(name: str) -> Callable[[Any], Any]:
    """Registers a function under the name that files have for it."""

    def register_function(function: Any) -> Any:
        assert name in _IN_FILES, name
        _FUNCTIONS[name] = function
        return function

    return register_function


def function_for(name: str) -> Callable[..., Any] | None:
    """The function that a file names; None where there is none that it may name."""
    if name not in _IN_FILES:
        return None
    return _FUNCTIONS.get(name) or PUBLIC.get(name)


def name_in_files(function: Callable[..., Any]) -> str | None:
    """The name of a function in files; None where it has none."""
    own = getattr(function, "__wrapped__", function)
    for name in _IN_FILES:
        if name.rpartition(".")[2] == getattr(function, "__name__", ""):
            found = function_for(name)
            if found is not None and getattr(found, "__wrapped__", found) is own:
                return name
    return None


__all__ = ["CALL", "Deferred", "DeferredGradient", "for_files", "function_for", "name_in_files"]
