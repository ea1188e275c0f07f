"""Recurrent layers over a whole sequence: one operation for all steps of an LSTM, GRU or simple RNN, and one backwards.

The input is projected before (one large product); the scan itself adds the recurrent product and goes on. Backwards the
gates of all steps are recomputed at once from the states that the forward pass gave, so that the scan has one product in a
step, and the gradient of the weight is again one large product. In XLA a scan is a loop that is compiled once, in NumPy
a Python loop.

An LSTM that will be differentiated keeps its gates, as one more result, and its gradient takes them in the place of the
projected input; a gradient that is itself differentiated computes them again.

Operands of both: projected [time, batch, gates * hidden], first hidden state [batch, hidden] (for an LSTM also the first
cell), weight_hh, bias_hh and lengths, the last two where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import is_reduced_precision
from ...core.namespaces import can_write
from ...eager.backward.derived import DerivedVariadicGradient
from ...eager.declare import op
from ...eager.dispatch import record
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ...ir.recorder import LOCAL
from ...kernels.cpu.recurrence import native_recurrence, native_recurrence_grad
from ..basic import full_of

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}

# (kind of cell, backwards in time, is there a bias, are there lengths, are the gates kept)
Attributes = tuple[str, bool, bool, bool, bool]


class _Operands:
    """The operands by name, in a type to compute in."""

    def __init__(self, xp: Any, arrays: Sequence[Any], attributes: Attributes) -> None:
        self.kind, self.reverse, has_bias, has_lengths, self.keeps = attributes
        self.is_lstm = self.kind == "LSTM"
        dtype = arrays[0].dtype
        self.dtype = dtype
        wide = np.float32 if is_reduced_precision(dtype) else dtype
        given = iter(arrays)

        def following() -> Any:
            array = next(given)
            return array if array.dtype == wide or array.dtype.kind in "iu" else array.astype(wide)

        self.projected = following()
        self.hidden = following()
        self.cell = following() if self.is_lstm else None
        self.weight = following()
        self.bias = following() if has_bias else None
        lengths = next(given) if has_lengths else None
        steps = self.projected.shape[0]
        self.mask = None
        if lengths is not None:
            self.mask = (xp.arange(steps)[:, None] < lengths[None, :]).astype(self.projected.dtype)[:, :, None]
        self.rest = [following() for _ in range(len(arrays) - self.count(has_bias, has_lengths))]

    def count(self, has_bias: bool, has_lengths: bool) -> int:
        return 3 + self.is_lstm + has_bias + has_lengths


def _sigmoid(xp: Any, x: Any) -> Any:
    if can_write(xp):
        return 0.5 * xp.tanh(0.5 * x) + 0.5
    import jax

    return jax.nn.sigmoid(x)


def _loop(xp: Any, step: Any, state: Any, sequences: Sequence[Any], reverse: bool) -> tuple[Any, Any]:
    """Runs `step(state, values) -> (state, outputs)` over the first axis; gives the last state and stacked outputs."""
    if not can_write(xp):
        import jax

        return jax.lax.scan(step, state, tuple(sequences), reverse=reverse)
    steps = len(next(s for s in sequences if s is not None))
    outputs: Any = [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        state, outputs[t] = step(state, tuple(None if s is None else s[t] for s in sequences))
    return state, tuple(xp.stack(parts) for parts in zip(*outputs, strict=True))


def _activations(xp: Any, o: _Operands, inner: Any, recurrent: Any) -> tuple[Any, ...]:
    """The gates from the two products (the last axis holds all gates)."""
    if o.is_lstm:
        i, f, g, out = xp.split(inner + recurrent, 4, axis=-1)
        return _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(g), _sigmoid(xp, out)
    if o.kind == "GRU":
        xr, xz, xc = xp.split(inner, 3, axis=-1)
        hr, hz, hc = xp.split(recurrent, 3, axis=-1)
        r, z = _sigmoid(xp, xr + hr), _sigmoid(xp, xz + hz)
        return r, z, xp.tanh(xc + r * hc), hc
    total = inner + recurrent
    return (xp.tanh(total) if o.kind == "RNN_TANH" else xp.maximum(total, 0),)


def _kept(mask: Any, new: Any, old: Any) -> Any:
    return new if mask is None else old + mask * (new - old)


def _forward(xp: Any, o: _Operands) -> tuple[Any, ...]:
    def step(state: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        inner, mask = values
        hidden = state[0]
        recurrent = hidden @ o.weight.T
        if o.bias is not None:
            recurrent = recurrent + o.bias
        gates = _activations(xp, o, inner, recurrent)
        if o.is_lstm:
            i, f, g, out = gates
            cell = f * state[1] + i * g
            new = (out * xp.tanh(cell), cell)
        elif o.kind == "GRU":
            _, z, c, _ = gates
            new = ((hidden - c) * z + c,)
        else:
            new = gates
        new = tuple(_kept(mask, a, b) for a, b in zip(new, state, strict=True))
        return new, (*new, xp.concatenate(gates, axis=-1)) if o.keeps else new

    first = (o.hidden, o.cell) if o.is_lstm else (o.hidden,)
    return _loop(xp, step, first, (o.projected, o.mask), o.reverse)[1]


def _before(xp: Any, first: Any, sequence: Any, reverse: bool) -> Any:
    """The state that each step started from."""
    if reverse:
        return xp.concatenate([sequence[1:], first[None]])
    return xp.concatenate([first[None], sequence[:-1]])


def _derivatives(xp: Any, o: _Operands, gates: tuple[Any, ...], before: Any, cell_before: Any) -> tuple[Any, ...]:
    """What the steps of the backward pass multiply with: all that does not depend on the gradient, for all steps at once."""
    if o.is_lstm:
        i, f, g, out = gates
        new_cell = f * cell_before + i * g
        squashed = xp.tanh(new_cell)
        inner = xp.concatenate([g * i * (1 - i), cell_before * f * (1 - f), i * (1 - g * g)], axis=-1)
        return inner, squashed * out * (1 - out), out * (1 - squashed * squashed), f
    if o.kind == "GRU":
        r, z, c, hc = gates
        to_candidate = (1 - z) * (1 - c * c)
        return to_candidate, hc * r * (1 - r), (before - c) * z * (1 - z), z, r
    (a,) = gates
    return (1 - a * a if o.kind == "RNN_TANH" else (a > 0).astype(a.dtype),)


def _backward(xp: Any, o: _Operands) -> tuple[Any, ...]:
    """Gradients of the projected input, the first states, the weight and the recurrent part of the gates."""
    if o.is_lstm:
        hidden, cell, grad_hidden, grad_cell = o.rest
        cell_before = _before(xp, o.cell, cell, o.reverse)
    else:
        hidden, grad_hidden = o.rest
        cell_before = grad_cell = None
    before = _before(xp, o.hidden, hidden, o.reverse)
    if o.keeps:
        gates = tuple(xp.split(o.projected, 4, axis=-1))
    else:
        recurrent = before @ o.weight.T
        if o.bias is not None:
            recurrent = recurrent + o.bias
        gates = _activations(xp, o, o.projected, recurrent)
    constants = _derivatives(xp, o, gates, before, cell_before)

    def step(state: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        mask, g_hidden, g_cell, *parts = values
        total = state[0] + g_hidden
        active = total if mask is None else total * mask
        if o.is_lstm:
            derivatives, to_out, to_cell, f = parts
            total_cell = state[1] + g_cell
            d_cell = (total_cell if mask is None else total_cell * mask) + active * to_cell
            d_gates = xp.concatenate([xp.concatenate([d_cell] * 3, axis=-1) * derivatives, active * to_out], axis=-1)
            d_before = d_gates @ o.weight
            d_cell_before = d_cell * f
            if mask is not None:
                d_before, d_cell_before = d_before + total - active, d_cell_before + total_cell * (1 - mask)
            return (d_before, d_cell_before), (d_gates,)
        if o.kind == "GRU":
            to_candidate, to_reset, to_update, z, r = parts
            d_candidate = active * to_candidate
            d_reset, d_update = d_candidate * to_reset, active * to_update
            d_gates = xp.concatenate([d_reset, d_update, d_candidate], axis=-1)
            d_recurrent = xp.concatenate([d_reset, d_update, d_candidate * r], axis=-1)
            d_before = d_recurrent @ o.weight + active * z
            results: tuple[Any, ...] = (d_gates, d_recurrent)
        else:
            d_gates = active * parts[0]
            d_before = d_gates @ o.weight
            results = (d_gates,)
        if mask is not None:
            d_before = d_before + total - active
        return (d_before,), results

    zeros = xp.zeros_like(o.hidden)
    first = (zeros, xp.zeros_like(o.cell)) if o.is_lstm else (zeros,)
    state, gradients = _loop(xp, step, first, (o.mask, grad_hidden, grad_cell, *constants), not o.reverse)
    d_recurrent = gradients[-1]
    rows = d_recurrent.reshape(-1, d_recurrent.shape[-1])
    d_weight = rows.T @ before.reshape(-1, before.shape[-1])
    return (gradients[0], *state, d_weight, *([rows.sum(0)] if o.bias is not None else []))


# ---- the two operations --------------------------------------------------------------------------


def _infer_forward(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    projected, hidden = operands[0], operands[1]
    shape = (projected.shape[0], *hidden.shape)
    outputs = 2 if attributes[0] == "LSTM" else 1
    return (projected.with_shape(shape),) * outputs + (projected,) * attributes[-1]


def _infer_backward(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    kind, _, has_bias, _, _ = attributes
    return tuple(operands[: 3 + (kind == "LSTM") + has_bias])


def _gradients(grads: Any, tensors: list[Any], attributes: Any, needed: Any) -> list[Any]:
    kind, _, _, has_lengths, keeps = attributes
    outputs = (2 if kind == "LSTM" else 1) + keeps
    operands, states = tensors[:-outputs], tensors[-outputs:]
    if keeps:
        *states, gates = states
        grads = grads[:-1]  # of the gates: nobody saw them
        operands = [gates, *operands[1:]]
    if LOCAL.grad_enabled:  # differentiated again: states that know where they came from
        operands, attributes = [tensors[0], *operands[1:]], (*attributes[:-1], False)
        states = list(record(recurrence.operation, operands, attributes))
    seeds = [
        full_of(0.0, state._aval.shape, state._aval.dtype) if grad is None else grad
        for grad, state in zip(grads, states, strict=True)
    ]
    found = list(record(recurrence_grad.operation, [*operands, *states, *seeds], attributes))
    found += [None] * has_lengths
    return [grad if wanted else None for grad, wanted in zip(found, needed, strict=True)]


@op(
    variadic=True,
    outputs="list",
    contracts=True,
    infer=_infer_forward,
    grad=_gradients,
    family="recurrence",
    paddle_name="rnn",
    padding=rules.neural.recurrence,
)
def recurrence(
    xp: Any, arrays: Sequence[Any], kind: str, reverse: bool, has_bias: bool, has_lengths: bool, keeps: bool
) -> Any:
    """The states after every step: hidden ones, and the cells of an LSTM, and its gates where they are kept."""
    operands = _Operands(xp, arrays, (kind, reverse, has_bias, has_lengths, keeps))
    return tuple(state.astype(operands.dtype) for state in _forward(xp, operands))


recurrence.operation.gradient.saves_outputs = True


@op(
    variadic=True,
    outputs="list",
    contracts=True,
    infer=_infer_backward,
    family="recurrence",
    padding=rules.neural.recurrence_grad,
)
def recurrence_grad(
    xp: Any, arrays: Sequence[Any], kind: str, reverse: bool, has_bias: bool, has_lengths: bool, keeps: bool
) -> Any:
    """Gradients of the operands of `recurrence`, from its operands, its results and their gradients."""
    operands = _Operands(xp, arrays, (kind, reverse, has_bias, has_lengths, keeps))
    return tuple(grad.astype(operands.dtype) for grad in _backward(xp, operands))


def _derive_again() -> None:
    operation = recurrence_grad.operation
    operation.gradient = DerivedVariadicGradient(operation)


_derive_again()

recurrence.operation.kernels["cpu"] = native_recurrence(recurrence.operation.kernel)
recurrence_grad.operation.kernels["cpu"] = native_recurrence_grad(recurrence_grad.operation.kernel)


def run_recurrence(
    projected: Tensor,
    states: Sequence[Tensor],
    weight: Tensor,
    bias: Tensor | None,
    lengths: Tensor | None,
    kind: str,
    reverse: bool,
) -> tuple[Tensor, ...]:
    """`recurrence` with its operands in order."""
    operands = [projected, *states, weight]
    if bias is not None:
        operands.append(bias)
    if lengths is not None:
        operands.append(lengths)
    keeps = kind == "LSTM" and LOCAL.grad_enabled and not all(operand.stop_gradient for operand in operands)
    attributes = (kind, bool(reverse), bias is not None, lengths is not None, keeps)
    found = tuple(record(recurrence.operation, operands, attributes))
    return found[:-1] if keeps else found
