"""Calls whose results have shapes that values decide: `nonzero(x)`, `x[mask]`, `reshape(x, sizes)`.

Such a function looks at values, which a program under construction has none of. The call is put into the program as a
whole then, as one instruction (`graph/deferred.py`). What its results will be like is found by trying it on small
examples: what comes out the same whatever the numbers and sizes is taken for granted, every other size is a symbol.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..autograd.py_layer import PyLayer
from ..core.aval import Aval, make_aval
from ..core.dtype import is_differentiable
from ..core.generator import default_generator
from ..eager.modes import no_grad
from ..eager.tensor import Tensor, tensor_from_data
from ..graph.deferred import CALL, Deferred, DeferredGradient
from ..graph.replay import with_known_sizes
from ..graph.structure import rebuild
from ..ir.block import LOOSE
from ..ir.capture import TRIALS, outside_capture
from ..ir.recorder import LOCAL, after_record
from ..ir.sizes.assumptions import example_size
from ..ir.sizes.dimensions import Known, symbols_in
from ..ir.sizes.known import sizes_held

# That unknown dimensions have in examples: two of them, the first for which the call works (a slice may want more than two).
_SIZES = (2, 3, 5, 8)
_MOST_TRIALS = 96
_ENOUGH = 8  # examples that worked
_MOST_ROUNDS = 32  # of a loop, on an example


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
    if LOCAL.segment.owner is None:  # for a file: who loads it calls again, with a gradient
        results = _record(call, call.tensors)
        for position in differentiable:
            results[position].stop_gradient = False
        return rebuild(call.structure, results)
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
            tried = list(itertools.islice(filter(None, (_tried(call, size) for size in _SIZES)), 2))
    finally:
        TRIALS.most_rounds = None
        default_generator.set_state(state)
    found = [results for examples in tried for results in examples]
    kinds = {tuple((r._aval.dtype, r._aval.ndim) for r in results) for results in found}
    if len(kinds) != 1:
        raise refusal
    assumptions, place = LOCAL.segment.assumptions, LOCAL.segment.root.place
    any_size = getattr(call.function, "any_size", None)
    loose = any_size(*rebuild(call.arguments, call.tensors)[0]) if any_size is not None else ()
    for number, (dtype, ndim) in enumerate(kinds.pop()):
        shape: list[int] = []
        for axis in range(ndim):
            seen = {results[number]._aval.shape[axis] for results in found}
            # What one example says, or all of one size, may be that number or size.
            fixed = len(seen) == 1 and len(tried) == 2 and len(found) > 2 and (number, axis) not in loose
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
        symbols |= symbols_in(tensor._aval) | {s: None for s in symbols_in(sizes_held(tensor) or ()) if s.name != LOOSE}
    known = Known({symbol: symbol.example if symbol.stated else size for symbol in symbols})
    kinds = [known.resolve(tensor._aval) for tensor in call.tensors]
    shapes = [aval.shape for aval in kinds]
    choices: list[list[Any]] = [
        [with_known_sizes(tensor, known)] if sizes_held(tensor) is not None else _numbers(aval, shapes)
        for tensor, aval in zip(call.tensors, kinds, strict=True)
    ]
    for chosen in itertools.product(*choices):
        examples = [
            part if isinstance(part, Tensor) else tensor_from_data(part, aval.dtype)
            for part, aval in zip(chosen, kinds, strict=True)
        ]
        yield examples, call.bound(known)


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


__all__ = ["defer"]
