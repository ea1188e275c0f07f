"""Calls whose results have shapes that values decide: `nonzero(x)`, `x[mask]`, `reshape(x, sizes)`.

Such a function looks at values, which a program under construction has none of. The call is put into the program as a
whole then, as one instruction: a Deferred, which an Executor calls between the compiled parts (`stages.py`). What its
results will be like is found by trying it on small examples: what comes out the same whatever the numbers and sizes is
taken for granted, every other size is a symbol.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..autograd.py_layer import PyLayer
from ..core.aval import Aval, make_aval
from ..core.dtype import is_differentiable
from ..core.errors import value_error
from ..core.generator import default_generator
from ..eager.hooks import grad as gradients_of
from ..eager.modes import enable_grad, no_grad
from ..eager.tensor import Tensor, tensor_from_data
from ..graph.structure import flatten, rebuild
from ..ir.assumptions import example_size
from ..ir.capture import TRIALS, outside_capture
from ..ir.dimensions import Known, SizedByOthers, symbols_in
from ..ir.operation import Operation, register
from ..ir.recorder import LOCAL, after_record
from ..ir.stated import stated
from ..ops.basic import full_of

_SIZES = (2, 3)  # that unknown dimensions have in examples
_MOST_TRIALS = 96
_ENOUGH = 8  # examples that worked
_MOST_ROUNDS = 32  # of a loop, on an example


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


def _not_alone(*_arguments: Any) -> Any:
    raise value_error(
        "static", "values decide a shape here, so that only an Executor can run the program",
        fix="take the operation out of what is saved or compiled as one graph",
    )  # fmt: skip


CALL = register(Operation("deferred_call", _not_alone, ["x"], ["call"], infer=_not_alone, variadic=True))
CALL.returns_tuple = True
CALL.kernel.decides_shapes = True  # type: ignore[attr-defined]
CALL.kernel.replay = lambda operands, call: call(operands)  # type: ignore[attr-defined]


# ---- recording -----------------------------------------------------------------------------------------------------


def defer(function: Callable[..., Any], arguments: Any, refusal: Exception) -> Any:
    """Records a call that looks at values; `refusal` is raised where no example shows what it gives."""
    call = Deferred(function, arguments)
    if not call.tensors:
        raise refusal
    _infer(call, refusal)
    wanted = [n for n, t in enumerate(call.tensors) if not t.stop_gradient and is_differentiable(t._aval.dtype)]
    differentiable = [n for n, aval in enumerate(call.outputs) if is_differentiable(aval.dtype)]
    if not LOCAL.grad_enabled or not wanted or not differentiable:
        return rebuild(call.structure, _record(call, call.tensors))
    return rebuild(call.structure, _with_gradient(call, wanted, differentiable))


def _with_gradient(call: Deferred, wanted: list[int], differentiable: list[int]) -> list[Tensor]:
    class Call(PyLayer):
        @staticmethod
        def forward(ctx: Any, *tensors: Tensor) -> Any:
            ctx.operands = tensors
            results = _record(call, tensors)
            ctx.mark_non_differentiable(*[r for n, r in enumerate(results) if n not in differentiable])
            return tuple(results)

        @staticmethod
        def backward(ctx: Any, *gradients: Tensor) -> Any:
            gradient = DeferredGradient(call, wanted, differentiable)
            gradient.outputs = [ctx.operands[n]._aval for n in wanted]
            found = iter(_record(gradient, [*ctx.operands, *(gradients[n] for n in differentiable)]))
            return tuple(next(found) if n in wanted else None for n in range(len(ctx.operands)))

    made = Call.apply(*call.tensors)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _record(call: Deferred, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Adds the instruction to the open program; its results are tensors without a value."""
    segment: Any = LOCAL.segment
    operands = tuple([t._index if t._segment is segment else segment.input_index(t) for t in tensors])
    kinds = [t._aval for t in tensors]
    node = segment.record(CALL, operands, kinds, (call,), (id(call),), (), tuple(call.outputs))
    results: list[Tensor] = []
    for offset, aval in enumerate(call.outputs):
        result = Tensor.__new__(Tensor)
        result._aval, result._value, result._segment, result._index = aval, None, segment, node.index + offset
        result._version, result._node, result.stop_gradient = 0, None, True
        segment.refs.append(result)
        results.append(result)
    after_record(segment, node)
    return results


# ---- what the results are like -------------------------------------------------------------------------------------


def _infer(call: Deferred, refusal: Exception) -> None:
    """Finds structure, types and sizes of the results; raises `refusal` where examples do not agree on them."""
    state, TRIALS.most_rounds = default_generator.get_state(), _MOST_ROUNDS
    try:
        with outside_capture(), no_grad():
            found = [results for size in _SIZES for results in _tried(call, size)]
    finally:
        TRIALS.most_rounds = None
        default_generator.set_state(state)
    kinds = {tuple((r._aval.dtype, r._aval.ndim) for r in results) for results in found}
    if len(kinds) != 1:
        raise refusal
    assumptions, place = LOCAL.segment.assumptions, LOCAL.segment.root.place  # type: ignore[attr-defined]
    for number, (dtype, ndim) in enumerate(kinds.pop()):
        shape: list[int] = []
        for axis in range(ndim):
            seen = {results[number]._aval.shape[axis] for results in found}
            fixed = len(seen) == 1 and len(found) > len(_SIZES)
            name = f"{call.name}.shape[{axis}]"
            shape.append(seen.pop() if fixed else assumptions.symbol(name, example_size(axis), True))
        call.outputs.append(make_aval(tuple(shape), dtype, place))


def _tried(call: Deferred, size: int) -> list[list[Tensor]]:
    """What comes of some examples whose unknown dimensions have a size."""
    found: list[list[Tensor]] = []
    for examples, bound in itertools.islice(_examples(call, size), _MOST_TRIALS):
        try:
            results = bound(examples)
            for result in results:
                result._data()
        except Exception:  # numbers that the function cannot do with: others may fit
            continue
        call.structure = bound.structure
        found.append(results)
        if len(found) == _ENOUGH:
            break
    return found


def _examples(call: Deferred, size: int) -> Iterator[tuple[list[Tensor], Deferred]]:
    """Operands with a few kinds of numbers, and the call for the size."""
    symbols = {**call.symbols()}
    for tensor in call.tensors:
        symbols |= symbols_in(tensor._aval)
    known = Known({symbol: symbol.example if symbol.stated else size for symbol in symbols})
    kinds = [known.resolve(tensor._aval) for tensor in call.tensors]
    shapes = [aval.shape for aval in kinds]
    for arrays in itertools.product(*[_numbers(aval, shapes) for aval in kinds]):
        yield [tensor_from_data(a, aval.dtype) for a, aval in zip(arrays, kinds, strict=True)], call.bound(known)


def _numbers(aval: Aval, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """Arrays of a type and shape with numbers of several kinds."""
    ones = np.ones(aval.shape)
    rising = np.arange(aval.size).reshape(aval.shape)
    if aval.dtype.kind == "b":
        return [ones, rising % 2, 0 * ones]
    if aval.dtype.kind not in "iu":
        return [rising + 1, ones, 0 * ones]
    # Sizes and axes: plain ones, one that is to be found, those of the other operands and larger ones.
    found = [ones, 2 * ones, 0 * ones, rising, np.where(rising == 0, -1, 1), -ones]
    if aval.ndim == 1:
        for shape in (np.array(shape) for shape in shapes if len(shape) == aval.size):
            found += [np.where(shape == 1, 2, shape), np.where(shape == 1, 3, shape)]
    return found


__all__ = ["CALL", "Deferred", "defer"]
