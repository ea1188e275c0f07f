"""Capturing: recording that is kept as a graph and never run.

While a thread captures, its open segment is a `CaptureSegment`: every operation is recorded as always, but nothing can be
looked at. Inputs are tensors without a value ("placeholders"), and whatever else the code uses from outside (parameters,
buffers, constants) becomes an input when it is first used. A tensor that the code changes in place gets its old state
back at the end; what it would have become is an update of the graph.

Captures nest: the branches of a condition and the body of a loop are captured in segments of their own, whose inputs
are tensors of the surrounding one.
"""

from __future__ import annotations

import threading
from typing import Any

from ..core.aval import Aval
from ..core.errors import message, user_location
from ..core.place import Place
from .live import LiveNumber
from .program import Program
from .recorder import LOCAL, Segment, WrongPlace, flush_current, value_of
from .sizes.assumptions import Assumptions
from .trace import TraceRoot, grow_leaf, move_into

_ENDLESS = 1 << 60


class CaptureError(RuntimeError):
    """The code cannot be captured as one graph; `location` is the user's file and line."""

    def __init__(self, text: str, location: tuple[str, int] | None = None) -> None:
        super().__init__(text if location is None else f"{text}\n  at {location[0]}:{location[1]}")
        self.location = location


class CaptureSegment(Segment):
    """The open segment of a thread that captures. `inputs` are the tensors themselves, not their values."""

    __slots__ = ("assumptions", "outer", "owner", "remembered", "tensor_ids")

    captures = True

    def __init__(self, place: Place, lock: Any, outer: Any = None) -> None:
        super().__init__(place, lock)
        self.root = TraceRoot(place, False, False, _ENDLESS)
        self.root.hook = True  # every instruction's line is remembered: graphs are shown and explained
        self.node = move_into(self.root, LOCAL.scope)
        self.outer = outer
        self.owner = None if outer is None else outer.owner
        self.assumptions: Assumptions = Assumptions() if outer is None else outer.assumptions
        self.tensor_ids: dict[int, int] = {}
        # Tensors from outside that were changed here, with what they were: id -> (tensor, state).
        self.remembered: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def input_index(self, tensor: Any) -> int:
        """Makes a tensor from outside an input of the graph."""
        index = self.tensor_ids.get(id(tensor))
        if index is not None:
            return index
        if tensor._value is None and not (tensor._segment.captures and self._surrounds(tensor._segment)):
            value_of(tensor)
        aval: Aval = tensor._aval
        if aval.place is not self.root.place:
            raise WrongPlace(aval.place)
        index = ~len(self.inputs)
        node = self.node.get(aval)
        self.node = node if node is not None else grow_leaf(self.node, aval)
        self.inputs.append(tensor)  # itself: its value may be another one when the graph runs
        self.tensor_ids[id(tensor)] = index
        self.refs.append(tensor)  # keeps its identity from being given to another
        return index

    def note(self, node: Any) -> None:
        super().note(node)
        self.locations.setdefault(node.index, user_location(2))

    def _surrounds(self, segment: Any) -> bool:
        outer = self.outer
        while outer is not None and outer is not segment:
            outer = outer.outer
        return outer is segment

    def remember(self, tensor: Any) -> None:
        """Called before a tensor changes: one from outside will get its state back."""
        if tensor._segment is self or id(tensor) in self.remembered:
            return
        self.remembered[id(tensor)] = (tensor, saved_state(tensor))

    def updates(self) -> list[tuple[Any, int]]:
        """Tensors from outside that were changed, with the number of their new value; they get their old state back."""
        found: list[tuple[Any, int]] = []
        for tensor, state in self.remembered.values():
            if tensor._segment is self and tensor._value is None:
                found.append((tensor, tensor._index))
            restore_state(tensor, state)
        self.remembered = {}
        return found

    def deferred(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any], refusal: Any) -> Any:
        """What stands for a call that had to look at values: something in a static program and in what is captured for a
        file, nothing elsewhere."""
        if self.outer is not None:
            return self.outer.deferred(function, arguments, named, refusal)
        if _DEFERRING.defer is None:
            raise refusal
        return _DEFERRING.defer(function, (arguments, named), refusal)

    def existing_parameter(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        return None if self.outer is None else self.outer.existing_parameter(name, shape, dtype)

    def note_parameter(self, parameter: Any, initializer: Any) -> None:
        if self.outer is not None:
            self.outer.note_parameter(parameter, initializer)

    def note_states(self, tensors: Any) -> None:
        if self.outer is not None:
            self.outer.note_states(tensors)

    def shape_of(self, aval: Aval) -> tuple[int, ...]:
        """The shape of a tensor as the code that is captured sees it."""
        return aval.shape if self.outer is None else self.outer.shape_of(aval)

    def describe(self, tensor: Any) -> str:
        """The text of a tensor that has no value."""
        if self.outer is None:
            raise refuse_to_read()
        return self.outer.describe(tensor)

    def program(self, outputs: tuple[int, ...]) -> Program:
        return self.node.program(outputs)


def saved_state(tensor: Any) -> tuple[Any, ...]:
    return (
        tensor._aval, tensor._value, tensor._segment, tensor._index, tensor._node, tensor._version, tensor.stop_gradient,
    )  # fmt: skip


def restore_state(tensor: Any, state: tuple[Any, ...]) -> None:
    (
        tensor._aval, tensor._value, tensor._segment, tensor._index, tensor._node, tensor._version, tensor.stop_gradient,
    ) = state  # fmt: skip


def refuse_to_read() -> CaptureError:
    """The error for looking at a value that does not exist while the code is captured."""
    return CaptureError(
        message(
            "capture",
            "the value of a tensor is needed while the code is being captured, where only shapes and types are known",
            fix="keep it a tensor (paddle.where, static.nn.cond, while_loop), or take the function out of the graph "
            "with paddle.jit.not_to_static",
        ),
        user_location(3),
    )


def refuse_to_exchange(name: str) -> CaptureError:
    """The error for an operation that exchanges tensors with other processes: such a call runs between two graphs."""
    return CaptureError(
        message(
            name,
            "tensors are exchanged between processes one call at a time, which a graph cannot hold",
            fix="take the function out of the graph with paddle.jit.not_to_static, or use tensors that are spread over the "
            "devices (paddle.distributed.shard_tensor), whose exchanges are part of the graph",
        ),
        user_location(3),
    )


class _Trials(threading.local):
    """Whether this thread tries a call that was put off on examples, whose numbers may keep a loop going for ever."""

    most_rounds: int | None = None

    def count_round(self, number: int) -> None:
        if self.most_rounds is not None and number >= self.most_rounds:
            raise RuntimeError("the loop does not end soon for these examples")


TRIALS = _Trials()


class _Deferring(threading.local):
    defer: Any = None


_DEFERRING = _Deferring()


class deferring:
    """`with deferring(defer):` captures of this thread may hold calls that look at values, put there by `defer`."""

    def __init__(self, defer: Any) -> None:
        self.defer = defer

    def __enter__(self) -> None:
        self.before, _DEFERRING.defer = _DEFERRING.defer, self.defer

    def __exit__(self, *_exception: Any) -> None:
        _DEFERRING.defer = self.before


def can_put_off() -> bool:
    """Whether what is captured now may hold calls that look at values."""
    segment: Any = LOCAL.segment
    while segment.captures and segment.outer is not None:
        segment = segment.outer
    return segment.captures and (segment.owner is not None or _DEFERRING.defer is not None)


def put_off(function: Any, arguments: tuple[Any, ...], named: dict[str, Any], refusal: Exception) -> Any:
    """What stands for a call that had to look at a value; raises `refusal` where nothing can."""
    segment: Any = LOCAL.segment
    if not segment.captures:  # a variable of a program, used outside of it
        raise refusal
    return segment.deferred(function, arguments, named, refusal)


def operand_of(number: LiveNumber) -> float:
    """A live number as an operand of what is recorded now: live in a graph, its value of now elsewhere."""
    segment: Any = LOCAL.segment
    if not segment.captures:
        return float(number.read())
    if segment.outer is not None:
        raise CaptureError(
            message(
                "capture", "a number that follows a schedule is used inside a condition or loop of the graph",
                fix="use it outside, and what was computed with it inside",
            ),
            user_location(2),
        )  # fmt: skip
    return number.recorded()


class outside_capture:
    """`with outside_capture():` what is recorded inside runs as always, though the thread captures.

    For what a capture must find ready-made: the states of an optimiser, buffers.
    """

    def __enter__(self) -> None:
        self.before = LOCAL.segment
        if self.before.captures:
            LOCAL.segment = Segment(self.before.root.place, LOCAL.lock)

    def __exit__(self, *_exception: Any) -> None:
        if self.before.captures:
            flush_current()
            LOCAL.segment = self.before


class Capturing:
    """`with Capturing(place) as segment:` what this thread does inside is recorded into `segment`."""

    def __init__(self, place: Place | None = None, assumptions: Assumptions | None = None) -> None:
        self.place = place
        self.assumptions = assumptions  # of a capture that is gone on with

    def __enter__(self) -> CaptureSegment:
        self.before = LOCAL.segment
        outer = self.before if self.before.captures else None
        self.segment = CaptureSegment(self.place or self.before.root.place, LOCAL.lock, outer)
        if self.assumptions is not None:
            self.segment.assumptions = self.assumptions
        self.place_before = LOCAL.place
        LOCAL.place = self.segment.root.place
        LOCAL.segment = self.segment
        return self.segment

    def __exit__(self, *_exception: Any) -> None:
        LOCAL.place = self.place_before
        if self.before.done:  # it ran meanwhile: the capture needed a value that was pending there
            LOCAL.segment = Segment(self.before.root.place, LOCAL.lock, LOCAL.window, LOCAL.scope)
            return
        LOCAL.segment = self.before
        if LOCAL.scope is not self.before.node.scope:
            self.before.node = move_into(self.before.node, LOCAL.scope)
