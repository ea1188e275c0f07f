"""Writing into a part of a value that what is written was computed from.

XLA on a CPU fuses such a write with the computation of what is written, and does it in place. It looks whether other
elements are read meanwhile, but not behind a change of shape: with `r = x.reshape([8])` and `v = r[1:3]`, `v -= x[0, 1]`
reads `x[0, 1]` again after it was overwritten. Where that can happen, what is written is computed first, apart from the
write.
"""

from __future__ import annotations

from typing import Any

from ..program import Instruction, Program

# What is written by it is its operand number 1, into a part of operand number 0.
_WRITES = "setitem"
# Instructions looked at before one is taken to be in danger without looking further.
_FAR = 200


def endangered(program: Program) -> frozenset[int]:
    """The writes of a program whose value depends on what they write into, seen in another shape."""
    writes = [i for i in program.instructions if i.operation.name == _WRITES]
    if not writes:
        return frozenset()
    makers = {number: instruction for instruction in program.instructions for number in instruction.made}
    return frozenset(i.index for i in writes if _is_endangered(i, makers))


def _is_endangered(write: Instruction, makers: dict[int, Instruction]) -> bool:
    target, value = write.operands[:2]
    root = _root(target, makers)
    if root == target or value.__class__ is not int:
        return False
    waiting, seen = [value], {value}
    while waiting:
        number = waiting.pop()
        if number == root or len(seen) > _FAR:
            return True
        maker = makers.get(number)
        for operand in maker.operands if maker is not None else ():
            if operand.__class__ is int and operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return False


def _root(number: int, makers: dict[int, Instruction]) -> int:
    """What a value shows in another shape: itself, if none was changed."""
    maker = makers.get(number)
    while maker is not None and maker.operation.view is not None and maker.operands[0].__class__ is int:
        number = maker.operands[0]
        maker = makers.get(number)
    return number


def kept_apart(jax: Any, given: list[Any]) -> list[Any]:
    """The operands of an endangered write, with a value that cannot be fused into it.

    A condition is never fused, and nobody but the run knows that the number of the position is not negative. (An
    optimisation barrier would say just that; XLA removes it on a CPU before it fuses.)
    """
    target, value, *others = given
    position = others[0]

    def as_it_is(v: Any) -> Any:
        return v

    value = jax.lax.cond(position >= 0, as_it_is, jax.numpy.zeros_like, jax.numpy.asarray(value))
    return [target, value, *others]
