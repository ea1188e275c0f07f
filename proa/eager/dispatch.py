"""Recording with care: coercion, promotion, device moves, operations with many operands or outputs.

`record` is the general form of what `binder.py` generates; both write the same instruction (`Segment.record`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error
from ..core.place import CPU
from ..core.promotion import promote_scalar, promote_tensors
from ..core.symbols import SymbolicSize, is_symbolic, plain, whole
from ..ir import meshes
from ..ir.capture import operand_of
from ..ir.live import LiveNumber, LiveScalar
from ..ir.operation import NeedsCast, Operation, PrefersHost
from ..ir.recorder import LOCAL, WrongPlace, after_record, enter_place, flush_current, run_next_at_once, value_of
from .backward.tape import NOT_SAVED, SAVED_HOOKS, GradNode, MultiGradNode, OutputNode, pack_saved
from .binder import next_sequence
from .moving import moved, put_whole
from .needed import NEEDED
from .tensor import Tensor, alias, new_results, tensor_from_data

_SCALARS = (float, int, bool, complex)


def record(operation: Operation, operands: Sequence[Any], attributes: tuple[Any, ...]) -> Any:
    """Records one call; operands are Tensors, Python scalars or None. Gives a Tensor or a tuple of them."""
    segment = LOCAL.segment
    indices: list[Any] = []
    kinds: list[Any] = []
    scalars: list[Any] = []
    has_tensor = wants_gradient = False
    try:
        for operand in operands:
            if isinstance(operand, Tensor):
                index = operand._index
                indices.append(index if operand._segment is segment else segment.input_index(operand))
                kinds.append(operand._aval)
                has_tensor = True
                if not operand.stop_gradient:
                    wants_gradient = True
            elif operand is None:
                indices.append(None)
                kinds.append(None)
            else:
                kind = operand.__class__
                if kind not in _SCALARS:  # a number that depends on an unknown size, or one that is read at each run
                    kind = int if isinstance(operand, int) else float
                if kind is int and not -0x80000000 <= plain(operand) <= 0x7FFFFFFF:
                    _check_range(operation, plain(operand), operands)
                indices.append(kind)
                kinds.append(kind)
                scalars.append(operand)
        if not has_tensor and segment.root.place is not LOCAL.place:
            segment = enter_place(LOCAL.place)
    except WrongPlace:
        return record(operation, _same_place(operation, operands), attributes)
    attributes, keys = operation.identify(*attributes) if attributes else ((), ())
    try:
        node = segment.record(operation, indices, kinds, attributes, keys, scalars)
    except NeedsCast:
        return record(operation, cast_for_scope(operation, operands, attributes), attributes)
    except PrefersHost:
        run_next_at_once()
        return record(operation, operands, attributes)
    instruction = node.instruction
    assert instruction is not None
    outputs = new_results(segment, instruction.outputs, node.index)
    if wants_gradient and operation.gradient is not None and LOCAL.grad_enabled:
        _attach(operation, operands, attributes, outputs)
    if node.hook:
        after_record(segment, node)
    return outputs[0] if len(outputs) == 1 and not operation.returns_tuple else tuple(outputs)


def _attach(operation: Operation, operands: Sequence[Any], attributes: tuple[Any, ...], outputs: list[Tensor]) -> None:
    """Puts the call on the tape."""
    gradient = operation.gradient
    several = operation.returns_tuple
    node = MultiGradNode() if several else GradNode()
    node.operation = operation
    node.sequence = next_sequence()
    node.edges = tuple([(o._node or o) if isinstance(o, Tensor) and not o.stop_gradient else None for o in operands])
    node.avals = tuple([o._aval if isinstance(o, Tensor) else None for o in operands])
    node.attributes = attributes
    if operation.variadic:
        saved = tuple(operands) if gradient.saves_operands else ()
        if gradient.saves_outputs:
            saved += tuple(alias(out) for out in outputs)
        node.version = sum(s._version for s in operands if isinstance(s, Tensor)) if gradient.saves_operands else 0
    else:
        names = operation.operand_names
        by_name = dict(zip(names, operands, strict=True))
        for position, out in enumerate(outputs):
            by_name["out" if not several else f"out{position}"] = out
        wanted = {name for name, edge in zip(names, node.edges, strict=True) if edge is not None}
        saved = tuple(
            alias(by_name[s])
            if s.startswith("out") and s not in names
            else by_name[s]
            if wanted.intersection(gradient.users.get(s, names))
            else NOT_SAVED
            for s in gradient.saved
        )
        node.version = sum(t._version for i, _ in gradient.versioned if isinstance(t := saved[i], Tensor))
    node.saved = saved
    refs, made = outputs[0]._segment.refs, len(outputs)
    if refs[-1] is not outputs[-1]:
        # Saved results go in front: when a result dies unused, what was saved with it dies too (`ir/recording/memory.py`).
        first = next(i for i in range(len(refs) - 1, -1, -1) if refs[i] is outputs[-1]) - made + 1
        refs[first:] = refs[first + made :] + outputs
    if several:
        node.out_aval = tuple([out._aval for out in outputs])
        for position, out in enumerate(outputs):
            if operation.is_differentiable_output(position, out._aval):
                out.stop_gradient = False
                out._node = OutputNode(node, position, next_sequence(), out._aval)
    else:
        node.out_aval = outputs[0]._aval
        outputs[0].stop_gradient = False
        outputs[0]._node = node
    if SAVED_HOOKS:
        pack_saved(node)


def _same_place(operation: Operation, operands: Sequence[Any]) -> list[Any]:
    """Operands on one device: what is on the CPU follows what is not; two accelerators are the user's mistake."""
    places = {operand._aval.place for operand in operands if isinstance(operand, Tensor)}
    if len(places) == 1 and LOCAL.segment.root.place in places:
        return _same_mesh(operation, operands)
    accelerators = {place for place in places if place is not CPU}
    if len(accelerators) > 1:
        raise operation.error(
            ValueError, f"the tensors are on different devices: {', '.join(sorted(map(str, places)))}",
            [o._aval if isinstance(o, Tensor) else None for o in operands], fix="move them to one device with .to()",
        )  # fmt: skip
    target = accelerators.pop() if accelerators else CPU
    together = [moved(operand, target) if isinstance(operand, Tensor) else operand for operand in operands]
    enter_place(target)
    return together


def _same_mesh(operation: Operation, operands: Sequence[Any]) -> list[Any]:
    """Operands on the same devices, in a segment that spans no others. A parameter stays where the user has laid it out,
    data goes where results are, and small things follow large ones: a mask that was made beside one stage of a pipeline
    serves another."""
    flush_current()
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    found = [(tensor, devices) for tensor in tensors if (devices := meshes.devices_of(value_of(tensor))) is not None]
    if not found:
        return list(operands)
    loose = [(tensor, devices) for tensor, devices in found if tensor._layout is None]
    fixed = {d for tensor, d in found if tensor._layout is not None and not (loose and tensor.stop_gradient)}
    if len(fixed) > 1:
        raise operation.error(
            ValueError, f"the tensors lie on different meshes, of the devices {' and '.join(map(str, sorted(fixed)))}",
            [o._aval if isinstance(o, Tensor) else None for o in operands], fix="bring them together with dist.reshard()",
        )  # fmt: skip
    target = fixed.pop() if fixed else max(loose, key=lambda pair: pair[0]._aval.size)[1]
    elsewhere = {id(tensor) for tensor, devices in found if devices != target}
    return [put_whole(operand, target) if id(operand) in elsewhere else operand for operand in operands]


def as_operand(operation_name: str, name: str, value: Any) -> Any:
    """A Tensor or plain Python scalar for anything that may stand where a tensor is expected."""
    kind = value.__class__
    if kind in _SCALARS or kind is LiveScalar or isinstance(value, Tensor) or is_symbolic(value):
        return whole(value) if isinstance(value, SymbolicSize) else value
    if kind is LiveNumber:
        return operand_of(value)
    if isinstance(value, np.generic):
        return tensor_from_data(value) if value.dtype.kind not in "biufc" else value.item()
    if isinstance(value, (np.ndarray, list, tuple)) or hasattr(value, "__jax_array__") or hasattr(value, "sharding"):
        return tensor_from_data(value)
    if isinstance(value, _SCALARS):  # subclasses: IntEnum, numpy floats that derive from float
        return (
            float(value) if isinstance(value, float) else complex(value) if isinstance(value, complex) else int(value)
        )
    raise type_error(
        operation_name, f"{name} must be a Tensor", f"{name}: {type(value).__name__}", "convert it with to_tensor()"
    )


def cast_operand(tensor: Tensor, dtype: np.dtype) -> Tensor:
    """A tensor in another dtype, with its history."""
    return NEEDED.cast(tensor, dtype)


def cast_for_scope(operation: Operation, operands: Sequence[Any], attributes: tuple[Any, ...]) -> Sequence[Any]:
    """Operands in the dtypes that the scope in force wants them in (mixed precision)."""
    scope = LOCAL.segment.node.scope
    if scope is None:
        return operands
    kinds = [
        operand._aval if isinstance(operand, Tensor) else None if operand is None else operand.__class__
        for operand in operands
    ]
    targets = scope.casts(operation, kinds, attributes)
    if targets is None:
        return operands
    return [o if t is None else NEEDED.cast(o, t) for o, t in zip(operands, targets, strict=True)]


def promote(operation: Operation, operands: list[Any]) -> list[Any]:
    """Operands in their common dtype, by Paddle's rules; scalars stay scalars beside a tensor."""
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if len(tensors) == 2:
        first, second = tensors[0]._aval, tensors[1]._aval
        common = promote_tensors(
            operation.name,
            first.dtype,
            second.dtype,
            operation.promotion,
            a_is_0d=not first.shape,
            b_is_0d=not second.shape,
        )
        return [NEEDED.cast(o, common) if isinstance(o, Tensor) and o._aval.dtype != common else o for o in operands]
    if len(tensors) == 1:
        scalar = next((operand for operand in operands if isinstance(operand, _SCALARS)), None)
        if scalar is not None:
            kind = next(kind for kind in (bool, int, float, complex) if isinstance(scalar, kind))
            common = promote_scalar(operation.name, tensors[0]._aval.dtype, kind, operation.promotion)
            return [
                NEEDED.cast(o, common) if isinstance(o, Tensor) and o._aval.dtype != common else o for o in operands
            ]
    elif operands and all(isinstance(operand, _SCALARS) for operand in operands):
        return promote(operation, [tensor_from_data(operands[0]), *operands[1:]])
    return operands


def _check_range(operation: Operation, scalar: int, operands: Sequence[Any]) -> None:
    """OverflowError for an integer that the dtype it is going to take cannot hold: it would wrap around silently."""
    tensor = next((o for o in operands if isinstance(o, Tensor)), None) if operation.follow_scalars else None
    dtype = np.dtype(np.int64) if tensor is None else tensor._aval.dtype
    if dtype.kind == "b":
        return
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if limits.min <= scalar <= limits.max:
            return
    elif -(2**63) <= scalar < 2**63:
        return
    raise OverflowError(
        f"({operation.name}) the integer {scalar} does not fit into {dtype.name if dtype.kind in 'iu' else 'int64'}; "
        "use a float, or a tensor of a wider dtype."
    )
