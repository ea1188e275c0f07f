"""In-place operations and views.

Values are never overwritten: an in-place operation computes a new value and the tensor object takes
it over, with its version one higher. In Paddle some results share memory with their source (a
slice, a reshape, `detach`); such an operation declares how a changed result is written back
(`view=`), and a change on either side is carried to the other.

    root ◄── view          (root, the path of operations that lead to what the view shows)
     ▲  ◄─── view of view  the same root, a longer path: nothing between them is needed
     │
    memory ◄── detached    for `detach`: the values alone, outside of any history

A view refers to its root strongly, so what shares memory never depends on which names the program
still has; the root refers to its views weakly. What nobody can see is let go when a segment ends:
a root whose last view is alone with it hands its place down (`is_unseen`).

Histories follow: whoever gets a new value by a recorded operation gets its history too, except
across `detach`, where only values go. Where nothing is recorded (`no_grad`) only values change, and
a leaf stays a leaf whatever is done to its views.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from ..core.errors import value_error
from ..core.locks import new_lock
from ..core.strides import Strides, contiguous_strides
from ..core.symbols import plain
from ..ir.recorder import LOCAL, STATE, recording_gradients
from .attaching import attach
from .backward.tape import CutNode, OutputNode, PassNode, edge_of, stand_in
from .tensor import Tensor, alias, state_of

_PRUNE_ABOVE = 8
_PRUNING = new_lock()


class Views(list["weakref.ref[Tensor]"]):
    """The views of a tensor. The dead ones are removed when the list has doubled: a loop that makes
    thousands of views in one segment, which keeps them all alive, must not look at all of them each time."""

    limit = _PRUNE_ABOVE


class Step:
    """One operation on the way from a root to what a view shows."""

    __slots__ = ("_strides", "attributes", "before", "is_contiguous", "operation", "shape")

    def __init__(
        self,
        before: Step | None,
        operation: Any,
        attributes: tuple[Any, ...],
        shape: tuple[int, ...],
        is_contiguous: bool = False,
    ) -> None:
        self.before = before
        self.operation = operation
        self.attributes = attributes
        self.shape = shape  # of what it gives
        self.is_contiguous = is_contiguous  # known without asking for strides: reshaped from memory without gaps
        self._strides: Strides | None = None

    def strides(self, root: Tensor) -> Strides:
        """Strides of what it gives; of a copy, where the operation has no rule or could not share."""
        if self.is_contiguous:
            return contiguous_strides(plain(self.shape))
        if self._strides is None:
            found = strides_after(self.before, root, self.operation, self.attributes)
            self._strides = contiguous_strides(plain(self.shape)) if found is None else found
        return self._strides


class Link:
    """What a tensor is a view of: a root and the path to what it shows; detached: no history goes along it."""

    __slots__ = ("detached", "path", "root")

    def __init__(self, root: Tensor, path: Step | None, detached: bool = False) -> None:
        self.root = root
        self.path = path
        self.detached = detached


# ---- who shares with whom ------------------------------------------------------------------------


def register_view(base: Tensor, view: Tensor, operation: Any, attributes: tuple[Any, ...]) -> None:
    """Remembers that `view` shows (part of) `base`, unless its strides say that Paddle had to copy."""
    link = base._view
    if link is None:
        root, before, is_contiguous = base, None, operation.copies and base._strides is None
    elif link.detached:
        root, before, is_contiguous = base, None, False
    else:
        root, before = link.root, link.path
        is_contiguous = operation.copies and before.is_contiguous
    if operation.copies and not is_contiguous and strides_after(before, root, operation, attributes) is None:
        return
    view._version = base._version
    view._view = Link(root, Step(before, operation, attributes, view._aval.shape, is_contiguous))
    _note(root, view)


def register_detached(base: Tensor, view: Tensor) -> None:
    """Remembers that `view` is another name for the memory of `base`, outside its history."""
    memory, path = _memory_of(base)
    view._version = base._version
    view._view = Link(memory, path, detached=True)
    _note(memory, view)


def _memory_of(tensor: Tensor) -> tuple[Tensor, Step | None]:
    """A tensor without history that stands for the memory of another, and the path to what that one shows."""
    link = tensor._view
    if link is None:
        memory = alias(tensor)
        memory._strides = tensor._strides
        tensor._view = Link(memory, None, detached=True)
        _note(memory, tensor)
        return memory, None
    if link.detached:
        return link.root, link.path
    memory, path = _memory_of(link.root)
    return memory, _joined(path, link.path)


def _joined(first: Step | None, then: Step | None) -> Step | None:
    """One path behind another."""
    if first is not None:
        for step in _steps(then):
            first = Step(first, step.operation, step.attributes, step.shape)
        return first
    return then


def _steps(path: Step | None) -> list[Step]:
    steps: list[Step] = []
    while path is not None:
        steps.append(path)
        path = path.before
    steps.reverse()
    return steps


def _note(root: Tensor, view: Tensor) -> None:
    views = root._views
    if views is None:
        views = root._views = Views()
    elif len(views) > views.limit and _PRUNING.acquire(blocking=False):
        try:
            count = len(views)  # what another thread appends meanwhile stays
            views[:count] = [r for r in views[:count] if r() is not None]
            views.limit = 2 * len(views) + _PRUNE_ABOVE
        finally:
            _PRUNING.release()
    views.append(weakref.ref(view))


def _members(root: Tensor) -> Iterator[Tensor]:
    """The living views of a root."""
    for reference in tuple(root._views or ()):
        view = reference()
        if view is not None and view._view is not None and view._view.root is root:
            yield view


def is_shared(tensor: Tensor) -> bool:
    """Whether somebody else sees a change of this tensor; forgets those who are gone."""
    if tensor._views and next(_members(tensor), None) is None:
        tensor._views = None
    link = tensor._view
    if link is not None and link.path is None and all(view is tensor for view in _members(link.root)):
        tensor._view = link = None  # the memory of a tensor that was detached and whose detached forms are gone
    return link is not None or tensor._views is not None


def is_unseen(root: Tensor, others: int) -> bool:
    """Whether the value of a root is of no use: only views refer to it (`others` says how many do), and just one of
    them is left. That one takes its place."""
    views = list(_members(root))
    if len(views) != others or others > 1:
        return False
    for view in views:
        path, link = view._view.path, root._view
        view._strides = own_strides(view)
        view._view = None if link is None else Link(link.root, _joined(link.path, path), detached=True)
        if link is not None:
            _note(link.root, view)
    return True


attach(__name__, _is_unseen=is_unseen)  # asked by the recorder when a segment ends


def leave_storage(target: Tensor) -> None:
    """Gives a tensor a memory of its own: whoever shared the old one goes on sharing it without the tensor."""
    if target._views and next(_members(target), None) is not None:
        _hand_over(target)
    target._view = target._views = target._strides = None


def _hand_over(target: Tensor) -> Tensor:
    """A stand-in with the old value takes the place of a tensor among those it shares memory with."""
    before = stand_in(target)
    before._version = target._version
    before._strides = target._strides
    before._view = target._view
    if before._view is not None:
        _note(before._view.root, before)
    views = list(_members(target))
    for view in views:
        view._view = Link(before, view._view.path, view._view.detached)
        _note(before, view)
    target._view = target._views = None
    return before


def see_otherwise(target: Tensor, operation: Any, attributes: tuple[Any, ...], shape: tuple[int, ...]) -> Tensor:
    """The tensor is about to become `operation` of itself and to go on sharing its memory: gives what to compute it from.

    Where Paddle's memory cannot be seen that way, the tensor gets one of its own.
    """
    link = target._view
    root, path = (target, None) if link is None or link.detached else (link.root, link.path)
    strides = strides_after(path, root, operation, attributes)
    if root is target and strides is not None and is_shared(target):
        root = before = _hand_over(target)
    else:
        before = stand_in(target)
        if strides is None:
            leave_storage(target)
        elif root is target:
            target._strides = None if strides == contiguous_strides(plain(shape)) else strides
    if strides is not None and root is not target:
        target._view = Link(root, Step(path, operation, attributes, shape))
        _note(root, target)
    return before


# ---- strides -------------------------------------------------------------------------------------


def strides_of(tensor: Tensor) -> Strides:
    """Strides as Paddle would have them, in elements."""
    link = tensor._view
    if link is not None and link.path is not None:
        return link.path.strides(link.root)
    return tensor._strides or contiguous_strides(plain(tensor._aval.shape))


def own_strides(tensor: Tensor) -> Strides | None:
    """Strides that a tensor has to remember when it is no view any more; None: those of a memory without gaps."""
    strides = strides_of(tensor)
    return None if strides == contiguous_strides(plain(tensor._aval.shape)) else strides


def strides_after(before: Step | None, root: Tensor, operation: Any, attributes: tuple[Any, ...]) -> Strides | None:
    """Strides of what an operation shows at the end of a path; None where it has to copy or there is no rule."""
    rule = operation.strides
    if rule is None:
        return None
    if before is None:
        shape, strides = plain(root._aval.shape), strides_of(root)
    else:
        shape, strides = plain(before.shape), before.strides(root)
    return rule(shape, strides, *plain(attributes))


# ---- in place ------------------------------------------------------------------------------------


def take_over(target: Tensor, source: Tensor) -> None:
    """`target` becomes `source`: value, history, dtype; one version later."""
    value, segment, index = state_of(source)
    recording: Any = LOCAL.segment
    if recording.captures:
        recording.remember(target)
    was_waiting_here = value is None and target._value is None and target._segment is segment
    with STATE:
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
        leave_storage(target)
    if source is target:
        target._version += 1
        return target
    if source._aval.dtype is not target._aval.dtype:
        leave_storage(target)
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


def _carry(changed: Tensor) -> None:
    """Carries a change to the tensors that share memory with `changed`."""
    recording = LOCAL.grad_enabled
    link, family = changed._view, changed
    if link is not None and not link.detached:
        family = link.root
        if recording and edge_of(family) is not family:
            # Stand-ins: the tape must not refer to the tensors that are about to take its result.
            take_over(family, _written(stand_in(family), link.path, stand_in(changed)))
        else:
            _replace_value(family, _written(family, link.path, changed))
    _refresh(family, changed, recording)
    link = family._view
    if link is None:
        return
    with recording_gradients(False):
        memory = link.root
        _replace_value(memory, _written(memory, link.path, family))
        for other in _refresh(memory, family, False):
            _refresh(other, None, False)


def _written(root: Tensor, path: Step | None, value: Tensor) -> Tensor:
    """What a root becomes when what it shows at the end of a path becomes `value`."""
    steps = _steps(path)
    shown = [root]
    for step in steps[:-1]:
        shown.append(_shown(shown[-1], step))
    for before, step in zip(reversed(shown), reversed(steps)):
        value = step.operation.view(before, value, *step.attributes)
    return value


def _refresh(root: Tensor, except_for: Tensor | None, with_history: bool) -> list[Tensor]:
    """Gives the views of a changed root their new values; gives those views."""
    shown: dict[Step | None, Tensor] = {None: root}
    refreshed: list[Tensor] = []
    for view in list(_members(root)):
        if view is except_for:
            continue
        path = view._view.path
        for step in _steps(path):
            if step not in shown:
                shown[step] = _shown(shown[step.before], step)
        if with_history and not view.stop_gradient:
            take_over(view, shown[path])
        else:
            _replace_value(view, shown[path])
        refreshed.append(view)
    return refreshed


def _shown(base: Tensor, step: Step) -> Tensor:
    """What a step shows of a tensor. Indexing brings its own way (`remake`): its positions are data."""
    remake = getattr(step.operation, "remake", None)
    if remake is not None:
        return remake(base, *step.attributes)
    from .dispatch import record

    return record(step.operation, [base], step.attributes)


def _replace_value(target: Tensor, source: Tensor) -> None:
    """A new value under the old history: what `detach` and `set_value` share."""
    node, stop = target._node, target.stop_gradient
    take_over(target, source)
    target._node, target.stop_gradient = node, stop


def replace_value(target: Tensor, source: Tensor) -> None:
    """Other numbers without a trace in history or version (`set_value`, `copy_`), laid out as the tensor is.

    Examples:
        >>> from proa.eager.views import replace_value
        >>> x = paddle.zeros([2])
        >>> replace_value(x, paddle.ones([2]))
        >>> x.tolist()
        [1.0, 1.0]
    """
    if target._layout is not None:
        source = target._layout.lay_out(source)
    _replace_value(target, source)
    target._version -= 1
    if target._view is not None or target._views:
        with recording_gradients(False):
            _carry(target)
