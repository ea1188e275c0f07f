"""Errors in values: declared checks, and NaN or infinity where `FLAGS_check_nan_inf` asks for it.

Tier 0 looks at every watched result as it goes; a compiled program returns one flag for each watched instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.dtype import is_differentiable
from ..core.errors import message
from .program import Instruction, Program
from .tiers.interpreter import Problem


class NonFiniteError(FloatingPointError, RuntimeError):
    """A result has NaN or infinite elements while `FLAGS_check_nan_inf` is on."""

    instruction: Instruction  # that gave it
    operands: list[Any] | None = None  # what it was given, where that is known
    report: Any = None  # what `proa.debug` found out about it


class Inspection:
    """Who looks at floating results under `FLAGS_check_nan_inf` instead of the rule here; it gives the error, or None.

    Only tier 0 asks, so whoever sets it also sets the eager mode to immediate (see `amp/numerics.py`).
    """

    inspect: Callable[[Instruction, Any], Exception | None] | None = None


def can_be_nan(aval: Aval) -> bool:
    return is_differentiable(aval.dtype)


def is_watched(instruction: Instruction, check_nan: bool) -> bool:
    return instruction.flagged or (check_nan and any(can_be_nan(aval) for aval in instruction.outputs))


Location = tuple[str, int] | None


def flags_of(
    program: Program, check_nan: bool, locations: dict[int, tuple[str, int]] | None = None
) -> list[tuple[Instruction, Location]]:
    """What reports into the vector of flags, in its order: watched instructions, and those inside conditions and loops."""
    found: list[tuple[Instruction, Location]] = []
    for instruction in program.instructions:
        if is_watched(instruction, check_nan):
            found.append((instruction, (locations or {}).get(instruction.index)))
        found += inner_checks(instruction)
    return found


def inner_checks(instruction: Instruction) -> list[tuple[Instruction, Location]]:
    """The checked instructions inside a condition or loop (its kernel knows them), with the lines they come from."""
    checks = getattr(instruction.operation.kernel, "checks", None)
    return [] if checks is None else checks(instruction.kinds, *instruction.attributes)


def nan_error(instruction: Instruction, operands: list[Any] | None = None) -> NonFiniteError:
    operation = instruction.operation
    error = NonFiniteError(
        message(
            operation.name,
            f"the result {instruction.outputs[0]} has NaN or infinite elements",
            operation.received(instruction.kinds, instruction.attributes),
            "FLAGS_check_nan_inf is on; look at what goes into this operation",
        )
    )
    error.instruction, error.operands = instruction, operands
    return error


def watch_results(check_nan: bool, xp: Any = np) -> Any:
    """A callback for tier 0 that raises `Problem` at the first result which is not acceptable.

    `xp` is CuPy where the arrays are CuPy's: what is checked stays on the device, and one answer comes back.
    """

    def watch(instruction: Instruction, arguments: list[Any], results: Sequence[Any]) -> None:
        if instruction.flagged and not _holds(xp, instruction, arguments):
            raise Problem(instruction.value_error(), instruction.index)
        if check_nan:
            inspect = Inspection.inspect
            for result, aval in zip(results, instruction.outputs, strict=True):
                if not can_be_nan(aval):
                    continue
                if inspect is not None:
                    error = inspect(instruction, result if xp is np else to_host(result))
                    if error is not None:
                        raise Problem(error, instruction.index)
                elif not np.isfinite(to_host(result)).all():
                    raise Problem(nan_error(instruction, [to_host(a) for a in arguments]), instruction.index)

    return watch


def _holds(xp: Any, instruction: Instruction, arguments: list[Any]) -> bool:
    """What the check of an instruction says of its operands."""
    check = instruction.operation.check
    assert check is not None
    if xp is not np:
        try:
            return bool(check.condition(xp, *arguments, *instruction.attributes))
        except (TypeError, AttributeError, NotImplementedError):  # CuPy cannot compute it
            pass
    return bool(check.condition(np, *[to_host(a) for a in arguments], *instruction.attributes))


def to_host(value: Any) -> Any:
    """An array of any tier as NumPy's; None stays None."""
    if value is None or value.__class__ is np.ndarray:
        return value
    get = getattr(value, "get", None)  # CuPy's arrays are not converted without being asked
    return np.asarray(value) if get is None else get()
