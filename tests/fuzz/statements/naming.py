"""Statements about names: deleting them, and binding several at once.

Memory whose last name is gone may be reused by the implementation; views may outlive their base.
"""

from __future__ import annotations

from ..model import Storage
from ..scope import Scope
from .table import statement


@statement("deletion", 1.5)
def deletion(scope: Scope) -> bool:
    """Only names of this block go, as the next repetition needs those from outside."""
    found = scope.pick(
        lambda variable: not variable.storage.outer and variable.depth > 0 and not variable.storage.frozen
    )
    if found is None:
        return False
    if len(found.storage.variables) > 1:
        scope.feature("view outlives base")
    scope.emit(f"del {found.name}")
    scope.forget([found])
    return True


@statement("split", 1)
def several_at_once(scope: Scope) -> bool:
    """An operation with two results that both stay in reach."""
    base = scope.pick_float(lambda variable: variable.rank > 0 and any(size % 2 == 0 for size in variable.shape))
    if base is None:
        return False
    axis = scope.chance.choice([axis for axis, size in enumerate(base.shape) if size % 2 == 0])
    shape = (*base.shape[:axis], base.shape[axis] // 2, *base.shape[axis + 1 :])
    names = scope.fresh("v"), scope.fresh("v")
    scope.feature("several results")
    scope.emit(f"{names[0]}, {names[1]} = paddle.split({base.name}, 2, axis={axis})")
    for name in names:
        storage = Storage(base.magnitude, base.noise, saved=base.differentiable)
        scope.bind_derived(name, base, storage, shape=shape)
    return True
