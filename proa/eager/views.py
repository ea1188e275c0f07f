"""In-place operations and views.

Values are never overwritten: an in-place operation computes a new value and the tensor object takes
it over, with its version one higher. In Paddle some results share memory with their source (a
slice, a reshape, `detach`); such an operation declares how a changed result is written back
(`view=`), and a change on either side is carried to the other.

Histories follow: whoever gets a new value by a recorded operation gets its history too. Where
nothing is recorded (`no_grad`) only values change, and a leaf stays a leaf whatever is done to its
views.

A view refers to its base weakly (a chain of slices must not keep every ancestor alive), so once the
base is gone, two views of it no longer see each other's changes.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..core.errors import value_error
from ..ir.recorder import LOCAL
from .tape import CutNode, OutputNode, PassNode, edge_of, stand_in
from .tensor import Tensor, state_of

_PRUNE_ABOVE = 8


class Views(list["weakref.ref[Tensor]"]):
    """The views of a tensor. The dead ones are removed when the list has doubled: a loop that makes
    thousands of views in one segment, which keeps them all alive, must not look at all of them each time."""

    limit = _PRUNE_ABOVE


def register_view(base: Tensor, view: Tensor, operation: Any, attributes: tuple[Any, ...]) -> None:
    """Remembers that `view` shows (part of) `base`."""
    view._version = base._version
    view._view = (weakref.ref(base), operation, attributes)
    views = base.__dict__.get("_views")
    if views is None:
        views = base._views = Views()
    elif len(views) > views.limit:
        views[:] = [reference for reference in views if reference() is not None]
        views.limit = 2 * len(views) + _PRUNE_ABOVE
    views.append(weakref.ref(view))


def take_over(target: Tensor, source: Tensor) -> None:
    """`target` becomes `source`: value, history, dtype; one version later."""
    value, segment, index = state_of(source)
    if LOCAL.segment.captures:
        LOCAL.segment.remember(target)  # type: ignore[attr-defined]
    was_waiting_here = value is None and target._value is None and target._segment is segment
    target._aval = source._aval
    target._value = value
    target._segment = segment
    target._index = index
    target._node = source._node
    target.stop_gradient = source.stop_gradient
    target._version += 1
    if value is None and not was_waiting_here:
        segment.refs.append(target)


def check_in_place(tensor: Tensor, name: str) -> None:
    """ValueError for an in-place change of a leaf whose gradient is recorded."""
    if not tensor.stop_gradient and tensor._node is None and LOCAL.grad_enabled:
        raise value_error(
            name,
            f"a leaf tensor ({tensor.name}) whose gradient is wanted cannot be changed in place",
            f"x: {tensor._aval}",
            "do it under no_grad(), or out of place",
        )


def assign_in_place(target: Tensor, source: Tensor, name: str, reshapes: bool = False) -> Tensor:
    """The end of every in-place operation: `target`, and whatever shows it, takes a value.

    A value of another shape is refused, unless the operation is declared as one that `reshapes` its tensor.
    """
    check_in_place(target, name)
    if source._aval.shape != target._aval.shape:
        if not reshapes:
            raise value_error(
                name,
                f"the result has the shape {list(source._aval.shape)}, which does not fit",
                f"x: {target._aval}",
            )
        _leave_storage(target)
    if source is target:
        target._version += 1
        return target
    if source._aval.dtype is not target._aval.dtype:
        _leave_storage(target)
    if LOCAL.grad_enabled:
        _become(target, source)
    else:
        _replace_value(target, source)
    if target._view is not None or target._views:
        _carry(target)
    return target


def _become(target: Tensor, source: Tensor) -> None:
    """`target` takes over value and history of `source`, which was computed from it."""
    node = source._node
    if node is None:
        edge, aval = edge_of(target), target._aval
        take_over(target, source)
        if not source.stop_gradient:  # a leaf was copied: its gradient comes from here as well
            target._node = PassNode(source, source._aval)
        elif edge is not None:
            # Overwritten by a constant: it still has a gradient, which is zero from here on.
            target._node, target.stop_gradient = CutNode(edge, aval), False
        return
    node = node.node if node.__class__ is OutputNode else node
    if isinstance(saved := getattr(node, "saved", None), tuple):
        # The node may have saved `target`, which is about to change, and to refer to the node:
        # it keeps a stand-in with the old value instead.
        for item in saved:
            if item is target:
                before = stand_in(target)
                node.saved = tuple(before if item is target else item for item in saved)
                break
    take_over(target, source)


def _leave_storage(target: Tensor) -> None:
    """A change of dtype or shape gives a tensor a memory of its own: its views keep the old data."""
    target._view = None
    for reference in target._views or ():
        view = reference()
        if view is not None:
            view._view = None
    target._views = None


def _carry(changed: Tensor) -> None:
    """Carries a change to the tensors that share memory with `changed`."""
    current = changed
    while current._view is not None:
        reference, operation, attributes = current._view
        base = reference()
        if base is None:
            break
        if operation is None:  # detach: the same value, another history
            _replace_value(base, current)
        elif LOCAL.grad_enabled and edge_of(base) is not base:
            # Stand-ins: the tape must not refer to the tensors that are about to take its result.
            take_over(base, operation.view(stand_in(base), stand_in(current), *attributes))
        else:
            _replace_value(base, operation.view(base, current, *attributes))
        _refresh(base, except_for=current)
        current = base
    _refresh(changed, except_for=None)


def _refresh(base: Tensor, except_for: Tensor | None) -> None:
    """Gives the views of a changed tensor their new values."""
    for reference in base._views or ():
        view = reference()
        if view is None or view is except_for:
            continue
        _, operation, attributes = view._view
        if operation is None:
            _replace_value(view, base)
        else:
            shown = _shown_again(base, operation, attributes)
            if LOCAL.grad_enabled and not view.stop_gradient:
                take_over(view, shown)
            else:
                _replace_value(view, shown)
        _refresh(view, except_for=None)


def _shown_again(base: Tensor, operation: Any, attributes: tuple[Any, ...]) -> Tensor:
    """What a view of `base` shows now. Indexing brings its own way (`remake`): its positions are
    data.
    """
    remake = getattr(operation, "remake", None)
    if remake is not None:
        return remake(base, *attributes)
    from .dispatch import record

    return record(operation, [base], attributes)


def _replace_value(target: Tensor, source: Tensor) -> None:
    """A new value under the old history: what `detach` and `set_value` share."""
    node, stop = target._node, target.stop_gradient
    take_over(target, source)
    target._node, target.stop_gradient = node, stop


def replace_value(target: Tensor, source: Tensor) -> None:
    """Other numbers without a trace in history or version (`set_value`, `copy_`)."""
    _replace_value(target, source)
    target._version -= 1
    if target._view is not None or target._views:
        enabled, LOCAL.grad_enabled = LOCAL.grad_enabled, False
        try:
            _carry(target)
        finally:
            LOCAL.grad_enabled = enabled
