"""A linear layer and the cross entropy behind it, without the logits: classes are taken a chunk at a time.

With a large vocabulary the logits of a batch are the largest array of a training step, several times over (their softmax,
their gradient). Here the forward pass keeps two numbers a row, the maximum and the sum of powers so far; the backward pass
computes the logits of a chunk again, and from them this chunk's share of the gradients. A composition would not do: nothing
tells a compiler in which order independent parts must run, and it keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.aval import make_aval
from ....core.dtype import is_floating
from ....core.namespaces import can_write
from ....eager.declare import op
from ....eager.dispatch import record
from ....eager.tensor import Tensor
from ....ir.operation import Check
from ....ir.padding import rules
from ....ir.recorder import LOCAL
from ...basic import cast_to
from ...linear.linalg import matmul
from .labels import softmax_cross_entropy_grad

_FLOAT32 = np.dtype("float32")
_LOWEST = float(np.finfo(np.float32).min)
Product = Callable[[Any, Any, Any, bool, bool], Any]


class _Operands:
    """The arrays of a call by name, and how a chunk of classes is cut from them."""

    def __init__(self, xp: Any, arrays: Sequence[Any], by_class: bool, cap: float, product: Product) -> None:
        self.xp, self.by_class, self.cap, self.product = xp, by_class, cap, product
        self.hidden, self.weight, self.label = arrays[:3]
        self.classes = self.weight.shape[0 if by_class else 1]

    @property
    def kind(self) -> np.dtype:
        """What is added up in."""
        return np.dtype("float64") if self.hidden.dtype == np.float64 else _FLOAT32

    def rows(self, begin: Any, size: int) -> Any:
        """A chunk of the weight."""
        axis = 0 if self.by_class else 1
        if can_write(self.xp):
            return self.weight[begin : begin + size] if axis == 0 else self.weight[:, begin : begin + size]
        from jax import lax

        return lax.dynamic_slice_in_dim(self.weight, begin, size, axis)

    def logits(self, weight: Any) -> Any:
        """Those of a chunk, with their cap."""
        raw = self.product(self.xp, self.hidden, weight, False, self.by_class).astype(self.kind, copy=False)
        cap = raw.dtype.type(self.cap)
        return self.xp.tanh(raw / cap) * cap if self.cap else raw

    def is_label(self, begin: Any, size: int) -> Any:
        return (self.xp.arange(size) + begin)[None, :] == self.label[:, None]

    def each_chunk(self, chunk: int, body: Callable[[Any, Any, int], Any], state: Any) -> Any:
        """`state = body(state, first class, classes)` for all chunks; the last may be shorter."""
        whole, rest = divmod(self.classes, chunk)
        if can_write(self.xp):
            for number in range(whole):
                state = body(state, number * chunk, chunk)
        elif whole:
            from jax import lax

            state = lax.fori_loop(0, whole, lambda number, now: body(now, number * chunk, chunk), state)
        return body(state, whole * chunk, rest) if rest else state


def _plain_product(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    x, y = (x.swapaxes(-1, -2) if transpose_x else x), (y.swapaxes(-1, -2) if transpose_y else y)
    if can_write(xp):
        kind = np.float64 if x.dtype == np.float64 else np.float32
        return xp.matmul(x.astype(kind, copy=False), y.astype(kind, copy=False))
    return xp.matmul(x, y, preferred_element_type=None if x.dtype == np.float64 else np.float32)


def _forward(o: _Operands, chunk: int, ignored: int) -> tuple[Any, Any]:
    xp, rows = o.xp, o.hidden.shape[0]

    def body(state: Any, begin: Any, size: int) -> Any:
        maximum, total, picked = state
        logits = o.logits(o.rows(begin, size))
        higher = xp.maximum(maximum, logits.max(axis=1))
        total = total * xp.exp(maximum - higher) + xp.exp(logits - higher[:, None]).sum(axis=1)
        picked = picked + xp.where(o.is_label(begin, size), logits, logits.dtype.type(0)).sum(axis=1)
        return higher, total, picked

    first = (xp.full((rows,), _LOWEST, o.kind), xp.zeros((rows,), o.kind), xp.zeros((rows,), o.kind))
    maximum, total, picked = o.each_chunk(chunk, body, first)
    log_sum = maximum + xp.log(total)
    return xp.where(o.label == ignored, o.kind.type(0), log_sum - picked), log_sum


def _backward(o: _Operands, log_sum: Any, g: Any, chunk: int, ignored: int, wanted: tuple[bool, ...]) -> Any:
    xp, (rows, size_of_state) = o.xp, o.hidden.shape
    scale = xp.where(o.label == ignored, o.kind.type(0), g.astype(o.kind))[:, None]

    def body(state: Any, begin: Any, size: int) -> Any:
        to_hidden, to_weight = state
        weight = o.rows(begin, size)
        logits = o.logits(weight)
        dlogits = xp.exp(logits - log_sum[:, None]) - o.is_label(begin, size).astype(o.kind)
        dlogits = dlogits * scale
        if o.cap:
            dlogits = dlogits * (1 - (logits / logits.dtype.type(o.cap)) ** 2)
        dlogits = dlogits.astype(o.hidden.dtype)
        if wanted[0]:
            to_hidden = to_hidden + o.product(xp, dlogits, weight, False, not o.by_class).astype(o.kind)
        if wanted[1]:
            pair = (dlogits, o.hidden) if o.by_class else (o.hidden, dlogits)
            part = o.product(xp, *pair, True, False).astype(o.weight.dtype)
            to_weight = _written(xp, to_weight, part, begin, 0 if o.by_class else 1)
        return to_hidden, to_weight

    first = (
        xp.zeros((rows, size_of_state) if wanted[0] else (), o.kind),
        xp.zeros(o.weight.shape if wanted[1] else (), o.weight.dtype),
    )
    to_hidden, to_weight = o.each_chunk(chunk, body, first)
    found = (to_hidden.astype(o.hidden.dtype), to_weight)
    return tuple(grad for grad, flag in zip(found, wanted, strict=True) if flag)


def _written(xp: Any, whole: Any, part: Any, begin: Any, axis: int) -> Any:
    if can_write(xp):
        here = slice(begin, begin + part.shape[axis])
        whole[here if axis == 0 else (slice(None), here)] = part
        return whole
    from jax import lax

    return lax.dynamic_update_slice_in_dim(whole, part, begin, axis)


# ---- the two operations --------------------------------------------------------------------------


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    hidden, weight, label = operands
    by_class, _, chunk, _, classes = attributes
    if not (is_floating(hidden.dtype) and weight.dtype == hidden.dtype and label.dtype.kind in "iu"):
        raise operation.error(TypeError, "states and weight are floats of one kind, labels whole numbers", operands)
    if hidden.ndim != 2 or weight.ndim != 2 or label.shape != hidden.shape[:1]:
        raise operation.error(
            ValueError, "expected states [rows, size], a weight with two axes, labels [rows]", operands
        )
    if weight.shape != ((classes, hidden.shape[1]) if by_class else (hidden.shape[1], classes)) or chunk < 1:
        raise operation.error(ValueError, "the weight does not fit the states", operands)
    kind = np.dtype("float64") if hidden.dtype == np.float64 else _FLOAT32
    return (make_aval(label.shape, kind, place),) * 2


def _labels_in_range(xp: Any, hidden: Any, weight: Any, label: Any, *attributes: Any) -> Any:
    *_, ignored, classes = attributes  # the other operands may not be known yet
    return xp.all(((label >= 0) & (label < classes)) | (label == ignored))


def _gradients(grads: Any, tensors: list[Any], attributes: Any, needed: Any) -> list[Any]:
    hidden, weight, label, _, log_sum = tensors
    by_class, cap, _, ignored, _ = attributes
    wanted = (bool(needed[0]), bool(needed[1]))
    if LOCAL.grad_enabled:  # differentiated again: of ordinary operations
        found = _composed(grads[0], hidden, weight, label, by_class, cap, ignored)
        return [*(grad if flag else None for grad, flag in zip(found, wanted, strict=True)), None]
    operands = [hidden, weight, label, log_sum, grads[0]]
    made = iter(record(linear_cross_entropy_grad.operation, operands, (*attributes, wanted)))
    return [*(next(made) if flag else None for flag in wanted), None]


def _composed(
    g: Any, hidden: Any, weight: Any, label: Any, by_class: bool, cap: float, ignored: int
) -> tuple[Any, Any]:
    classes = weight._aval.shape[0 if by_class else 1]
    logits: Any = cast_to(matmul(hidden, weight, False, by_class), g._aval.dtype)
    capped = (logits / cap).tanh() * cap if cap else logits
    dlogits: Any = softmax_cross_entropy_grad(capped, label, g, "none", 1, classes, ignored, False)
    dlogits = dlogits * (1 - (capped / cap) ** 2) if cap else dlogits
    dlogits = cast_to(dlogits, hidden._aval.dtype)
    pair = (dlogits, hidden) if by_class else (hidden, dlogits)
    return matmul(dlogits, weight, False, not by_class), matmul(*pair, True, False)


@op(
    variadic=True, outputs="list", contracts=True, infer=_infer, grad=_gradients, differentiable_outputs=(0,),
    check=Check(
        _labels_in_range,
        lambda kinds, attributes: f"a label is out of range: expected 0 to {attributes[4] - 1}, or {attributes[3]}",
        IndexError, (2,),
    ), padding=rules.refused("batches that it is for are cut to one length beforehand"),
)  # fmt: skip
def linear_cross_entropy(
    xp: Any, arrays: Sequence[Any], by_class: bool, cap: float, chunk: int, ignored: int, classes: int
) -> Any:
    """-log softmax(states · weight)[label] for each row, and the logarithm of the sum of powers."""
    return _forward(_Operands(xp, arrays, by_class, cap, _plain_product), chunk, ignored)


linear_cross_entropy.operation.gradient.saves_outputs = True


def _infer_grad(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    return tuple(aval for aval, flag in zip(operands[:2], attributes[-1], strict=True) if flag)


@op(
    variadic=True,
    outputs="list",
    contracts=True,
    infer=_infer_grad,
    padding=rules.refused("batches that it is for are cut to one length beforehand"),
)
def linear_cross_entropy_grad(
    xp: Any,
    arrays: Sequence[Any],
    by_class: bool,
    cap: float,
    chunk: int,
    ignored: int,
    classes: int,
    wanted: tuple[bool, ...],
) -> Any:
    """Gradients of states and weight, those that are wanted, from the operands, the logarithm and the losses' gradient."""
    operands = _Operands(xp, arrays, by_class, cap, _plain_product)
    return _backward(operands, arrays[3], arrays[4], chunk, ignored, wanted)


def _on_cpu(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """The product of `matmul` there: native code where it suits. Halves are added up in float32, and stay it."""
    kind = np.float64 if x.dtype == np.float64 else np.float32
    kernel = matmul.operation.kernels["cpu"]
    return kernel(xp, x.astype(kind), y.astype(kind), transpose_x, transpose_y)


def _cpu_forward(
    xp: Any, arrays: Sequence[Any], by_class: bool, cap: float, chunk: int, ignored: int, classes: int
) -> Any:
    return _forward(_Operands(xp, arrays, by_class, cap, _on_cpu), chunk, ignored)


def _cpu_backward(
    xp: Any,
    arrays: Sequence[Any],
    by_class: bool,
    cap: float,
    chunk: int,
    ignored: int,
    classes: int,
    wanted: tuple[bool, ...],
) -> Any:
    operands = _Operands(xp, arrays, by_class, cap, _on_cpu)
    return _backward(operands, arrays[3], arrays[4], chunk, ignored, wanted)


linear_cross_entropy.operation.kernels["cpu"] = _cpu_forward
linear_cross_entropy_grad.operation.kernels["cpu"] = _cpu_backward


def cross_entropy_of_states(
    hidden: Tensor, weight: Tensor, label: Tensor, by_class: bool, cap: float, chunk: int, ignored: int
) -> Tensor:
    """The losses of `linear_cross_entropy`, float32 [rows]."""
    classes = weight._aval.shape[0 if by_class else 1] if weight._aval.ndim == 2 else 0
    attributes = (bool(by_class), float(cap), int(chunk), int(ignored), classes)
    return linear_cross_entropy([hidden, weight, label], *attributes)[0]
