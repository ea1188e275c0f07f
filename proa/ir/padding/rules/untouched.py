"""Operations that work along some axes, which must not be padded, and leave the others alone; and updates, whose arrays
are parameters and gradients of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...program import Instruction
from ..analysis import Analysis, refuse, rule
from ..axes import Axes, Refused, broadcast, padded


def _last_axes(count: int, reason: str) -> Callable[..., list[Axes]]:
    """For operations on the last axes of their operands, whose other axes are rows by themselves."""

    def find(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        present = [axes for axes in operands if axes is not None]
        if instruction.flagged:  # a matrix of zeros is singular
            raise Refused("it checks its matrices, those of the surplus too", *(a for axes in present for a in axes))
        for axes in present:
            if any(map(padded, axes[-count:])):
                raise Refused(reason, *axes[-count:])
        rows = broadcast([axes[:-count] for axes in present])
        return [[*rows, *((size,) for size in aval.shape[len(rows) :])] for aval in instruction.outputs]

    return find


_MATRICES = "a matrix with surplus rows has another result"
rule(
    "cofactors det slogdet cholesky lu qr matrix_exp inverse solve solve_again eig eigh eigvals eigvalsh svd svdvals "
    "triangular_solve"
)(_last_axes(2, _MATRICES))


@rule("fft_c2c fft_r2c fft_c2r", shapes="")
def _transform(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, axes = operands[0], instruction.attributes[0]
    along = [x[axis] for axis in axes]
    if any(map(padded, along)):
        raise Refused("a transform of more elements has other frequencies", *along)
    return [
        [(size,) if i in axes else axis for i, (axis, size) in enumerate(zip(x, aval.shape, strict=True))]
        for aval in instruction.outputs
    ]


@rule("floor_divide_integers remainder_of_integers gammainc gammaincc", repeats=True)
def _checked(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Element by element, with a check that 0 would not pass."""
    check = instruction.operation.check
    for position in check.operands if check is not None and instruction.flagged else ():
        analysis.fill_all(instruction, position, operands[position], 1)
    return [broadcast([axes for axes in operands if axes is not None])]


@rule("covering")
def _covering(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    analysis.fill_all(instruction, 0, operands[0], 1)
    return [operands[0]]


@rule("quantise to_levels from_levels")
def _levels(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Element by element, with scales for a channel whose number is known."""
    if any(padded(axis) for axes in operands[1:] if axes is not None for axis in axes):
        raise Refused("the scales are padded")
    return [operands[0]]


refuse("quantise_dynamic", "its scales are found from all values together")

# ---- all gradients together --------------------------------------------------------------------------------------------


@rule("barrier clip_by_value")
def _each(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return list(operands[len(operands) - len(instruction.outputs) :])


@rule("clip_by_norm clip_by_global_norm")
def _norms(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    for position, axes in enumerate(operands):
        analysis.fill_all(instruction, position, axes, 0)
    return list(operands[len(operands) - len(instruction.outputs) :])


refuse("sum_of_squares clip_by_total", "gradients on several meshes have sizes of their own")
refuse(
    "adam_update momentum_update sgd_update adadelta_update adagrad_update adamax_update asgd_update lamb_update "
    "nadam_update radam_update rmsprop_update rprop_update lars_update look_ahead_update average_update moved_along "
    "newton_direction unscale_gradients",
    "a parameter or its gradient has a padded axis",
)
