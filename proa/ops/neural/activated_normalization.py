"""Gradients of a batch norm with an activation behind it, as one operation.

The gradient before the activation (`relu_grad(g, result)`) would be written to memory and read twice: by the sums over
channels, and by the gradient of the input. What the activation was applied to follows from the batch norm's input, which is
read anyway. Programs are recorded without this; it takes the place of three operations where they are lowered.
"""

from __future__ import annotations

from typing import Any

from ...core.aval import Aval
from ...core.dtype import BFLOAT16, FLOAT32
from ...eager.declare import op
from ...ir.editing import changed
from ...ir.padding import rules
from ...ir.program import Instruction
from ...ir.transforms.fusion import Surroundings, joins
from ...kernels.cpu.normalisation import SLOPES, native_grad_through
from .activation import hardswish_slope, relu, relu_slope
from .normalization import normalise, normalise_grad_bias, normalise_grad_input, normalise_grad_weight

Shape = tuple[int, ...]


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    wanted, broadcast = attributes[0], attributes[4]
    return operands[0] if wanted == "input" else operands[0].with_shape(broadcast)


@op("x y", optional="weight bias", infer=_infer, family="normalisation", padding=rules.normalisation.through)
def normalise_grad_through(
    xp: Any,
    x: Any,
    y: Any,
    weight: Any = None,
    bias: Any = None,
    wanted: str = "input",
    activation: str = "relu",
    epsilon: float = 1e-5,
    axes: Shape = (),
    broadcast: Shape = (),
) -> Any:
    """A gradient of `activation(normalise(x, weight, bias))` over channels, for the gradient `y` of its result.

    `wanted` says in what: "input", "weight" or "bias".
    """
    attributes = (epsilon, x.shape, axes, broadcast, True)
    before = SLOPES[activation][1](xp, y, _kernel(normalise)(xp, x, weight, bias, *attributes))
    if wanted == "input":
        return _kernel(normalise_grad_input)(xp, x, before, weight, *attributes)
    if wanted == "weight":
        return _kernel(normalise_grad_weight)(xp, x, before, *attributes)
    return _kernel(normalise_grad_bias)(xp, x, before, axes).reshape(broadcast)


def _kernel(primitive: Any) -> Any:
    return primitive.operation.kernel


def _operation(primitive: Any) -> Any:
    return primitive.operation


_THROUGH = _operation(normalise_grad_through)
_THROUGH.kernels["cpu"] = native_grad_through(_THROUGH.kernel)
_WANTED = {
    _operation(normalise_grad_input): "input",
    _operation(normalise_grad_weight): "weight",
    _operation(normalise_grad_bias): "bias",
}


def _activated(gradient: Instruction, around: Surroundings) -> tuple[str, Instruction | None]:
    """The activation whose gradient an instruction is, and what made that which it was applied to."""
    if gradient.operation is _operation(relu_slope):
        result = around.maker(gradient.operands[1])
        applied = result is not None and result.operation is _operation(relu)
        return "relu", around.maker(result.operands[0]) if applied and result is not None else None
    if gradient.operation is _operation(hardswish_slope):
        return "hardswish", around.maker(gradient.operands[1])
    return "", None


@joins("cpu", *_WANTED)
def _join_activation(instruction: Instruction, around: Surroundings) -> Instruction | None:
    x, y = instruction.operands[:2]
    gradient = around.maker(y)
    if gradient is None or not around.used_only_by(y, tuple(_WANTED)):
        return None
    activation, norm = _activated(gradient, around)
    if norm is None or norm.operation is not _operation(normalise) or norm.operands[0] != x:
        return None
    epsilon, view, axes, broadcast, centred = norm.attributes
    aval = norm.outputs[0]
    over_channels = centred and view == aval.shape and len(axes) == aval.ndim - 1 and 0 in axes
    if not over_channels or aval.dtype not in (FLOAT32, BFLOAT16) or gradient.outputs[0].dtype != aval.dtype:
        return None
    if instruction.operation is not _operation(normalise_grad_bias) and instruction.attributes != norm.attributes:
        return None
    wanted = _WANTED[instruction.operation]
    outputs = instruction.outputs if wanted == "input" else (instruction.outputs[0].with_shape(broadcast),)
    if outputs[0].shape != instruction.outputs[0].shape:
        return None
    return changed(
        instruction, operation=_THROUGH, operands=(x, gradient.operands[0], *norm.operands[1:3]),
        attributes=(wanted, activation, epsilon, axes, broadcast), kinds=(*instruction.kinds[:2], *norm.kinds[1:3]),
        flagged=False,
    )  # fmt: skip
