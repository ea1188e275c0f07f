"""Loops whose number of rounds is only known when the graph runs.

Which variables vary is found by capturing the body: it runs with what is known before the loop, and wherever a number
has changed, a type was promoted or a variable appeared, the loop starts with a tensor instead and the body is captured
again, until nothing changes. The last capture is the loop's body.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...eager.tensor import Tensor
from ...graph.control import BlockCapture, capture_block, loop_of, loosened
from ...graph.structure import flatten, rebuild
from ...ir.block import is_loose
from ...ir.recorder import LOCAL
from ...ops.shape.repetition import expand
from .merge import _described, as_tensor, common_dtype, filler, is_number, number_dtype, same_value
from .state import Journal, Site, State, Undefined, copy_containers, current_attribute, put, set_attribute

_MOST_CAPTURES = 12


class _Local(threading.local):
    # Whether the body of a loop is captured to learn about its variables: undefined ones may turn out to be defined.
    learning = 0


LEARNING = _Local()


class _Restart(Exception):
    """A variable must start the loop as something else."""


class GraphLoop:
    """One loop on its way into the graph."""

    def __init__(self, test: Callable[[], Any], body: Callable[[], None], state: State, site: Site) -> None:
        self.test = test
        self.body = body
        self.state = state
        self.site = site
        self.weak: set[str] = set()  # began as numbers: they take the shape and type that they get in the body
        self.local: set[str] = set()  # only have a value within a round
        self.loose: dict[int, Aval] = {}  # what variables are, by identity, whose sizes change from round to round
        self.names = list(state.names)
        # Attributes that the body sets, with what they were before; they come behind the variables.
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}

    def run(self) -> None:
        """Puts the loop into the graph; the variables get the values they have behind it."""
        original = self.state.get()
        try:
            self._run(original)
        except BaseException:
            self.state.set(original)
            raise

    def _run(self, original: list[Any]) -> None:
        start, original = list(original), list(original)
        for attempt in range(_MOST_CAPTURES):
            leaves: list[Tensor] = []
            template = [flatten(value, leaves) for value in start]
            avals = [self.loose.get(id(leaf), leaf._aval) for leaf in leaves]
            body = self._capture_body(template, avals, learning=attempt == 0)
            changed = {id(tensor) for tensor, _ in body.updates}
            before = list(start)
            results: list[Tensor] = []
            restart = self._note_attributes(start, original)
            for position, name in enumerate(self.names[: len(before)]):
                try:
                    self._reconcile(name, before, start, position, body, results, changed)
                except _Restart:
                    restart = True
            if not restart and attempt == 0 and self._looked_at_undefined:
                restart = True
            if not restart:
                break
            self._set(original)
        else:
            raise self.site.error("the variables of this loop do not settle on shapes and types")
        test = capture_block(lambda *tensors: self._outcome(template, tensors), avals)
        self._set(original)
        final = loop_of(test, test.result, body, results, leaves)
        behind: list[Any] = []
        for name, value, first in zip(self.names, template, original, strict=True):
            if name in self.local:
                behind.append(Undefined(name, f"it only has a value inside the loop at line {self.site.line}"))
            else:
                tensors: list[Tensor] = []
                rebuilt = rebuild(value, final)
                flatten(rebuilt, tensors)
                behind.append(rebuilt if tensors else first)
        self._set(behind, noted=True)

    def _set(self, values: list[Any], noted: bool = False) -> None:
        count = len(self.state.names)
        self.state.set(values[:count])
        for (owner, name, _), value in zip(self.attributes.values(), values[count:], strict=True):
            (set_attribute if noted else put)(owner, name, value)

    def _get(self) -> list[Any]:
        attributes = [current_attribute(owner, name) for owner, name, _ in self.attributes.values()]
        return [*self.state.get(), *map(copy_containers, attributes)]

    def _note_attributes(self, start: list[Any], original: list[Any]) -> bool:
        """Whether the body has set attributes that were not known to change."""
        new = {key: entry for key, entry in self._journal.before.items() if key not in self.attributes}
        for key, (owner, name, old) in new.items():
            self.attributes[key] = (owner, name, old)
            self.names.append(f"{type(owner).__name__}.{name}")
            self.site.live |= {self.names[-1]}
            start.append(old)
            original.append(old)
        return bool(new)

    def _capture_body(self, template: list[Any], avals: list[Any], learning: bool) -> BlockCapture:
        def round_of(*tensors: Tensor) -> list[Any]:
            self._set([rebuild(value, list(tensors)) for value in template])
            with self._journal:
                self.body()
            values = self._get()
            self._journal.take_back()
            return values

        self._journal = Journal()
        self._looked_at_undefined = False
        LEARNING.learning += learning
        looked, LEARNING.looked = getattr(LEARNING, "looked", False), False
        try:
            return capture_block(round_of, avals)
        finally:
            LEARNING.learning -= learning
            self._journal.take_back()
            self._looked_at_undefined = LEARNING.looked
            LEARNING.looked = looked or LEARNING.looked

    def _outcome(self, template: list[Any], tensors: Any) -> Tensor:
        self._set([rebuild(value, list(tensors)) for value in template])
        outcome = self.test()
        if not isinstance(outcome, Tensor):
            outcome = as_tensor(bool(outcome), np.dtype(bool), ())
        if outcome._aval.size != 1:
            raise self.site.error(f"the condition of the loop must have one element; it is {outcome._aval}")
        return outcome

    # ---- what a variable is before and after a round ---------------------------------------------------------------

    def _reconcile(
        self, name: str, before: list[Any], start: list[Any], position: int, body: BlockCapture, results: list[Tensor],
        changed: set[int],
    ) -> None:  # fmt: skip
        if name in self.local:
            return
        first, after = before[position], body.result[position]
        if first.__class__ is Undefined:
            if after.__class__ is Undefined:
                return
            if name not in self.site.live or not _can_vary(after):
                self.local.add(name)
                return
            start[position] = self._fillers(after)
            self.weak.add(name)
            raise _Restart
        start[position] = self._settle(name, name, first, after, body, results)
        if start[position] is not first:
            raise _Restart

    def _fillers(self, after: Any) -> Any:
        leaves: list[Tensor] = []
        structure = flatten(after, leaves)
        made = rebuild(structure, [filler(leaf._aval) for leaf in leaves])

        def numbers(value: Any) -> Any:
            if is_number(value):
                return filler(make_aval((), number_dtype(value), LOCAL.segment.root.place))
            if isinstance(value, dict):
                return type(value)((key, numbers(part)) for key, part in value.items())
            if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
                return type(value)([numbers(part) for part in value])
            return value

        return numbers(made)

    def _settle(self, name: str, path: str, first: Any, after: Any, body: BlockCapture, results: list[Tensor]) -> Any:
        """`first` where it can stay what it is (its results are noted), else what the loop must start with instead."""
        if after.__class__ is Undefined:
            reason = after._reason or "it is not assigned"
            raise self.site.error(f"the variable {path!r} has a value before the loop and none after a round: {reason}")
        if isinstance(first, Tensor):
            if not (isinstance(after, Tensor) or is_number(after)):
                raise self._changing(path, first, after)
            return self._settle_tensor(name, path, first, after, body, results)
        if is_number(first):
            if is_number(after) and same_value(first, after):
                return first
            if isinstance(after, Tensor) or is_number(after):
                self.weak.add(path)
                shape = after._aval.shape if isinstance(after, Tensor) else ()
                return as_tensor(first, common_dtype(first, after), shape)
            raise self._changing(path, first, after)
        if isinstance(first, dict) and isinstance(after, dict) and list(first) == list(after):
            parts = {
                key: self._settle(name, f"{path}[{key!r}]", first[key], after[key], body, results) for key in first
            }
            return first if all(parts[key] is first[key] for key in first) else type(first)(parts)
        if isinstance(first, (list, tuple)) and type(first) is type(after):
            if len(first) != len(after):
                raise self.site.error(
                    f"{path!r} has {len(first)} elements before and {len(after)} after a round, but how many rounds the "
                    "loop makes is only known when the graph runs; write into a tensor of the greatest size (out[i] = …), "
                    "or loop over a Python range"
                )
            settled = [
                self._settle(name, f"{path}[{i}]", a, b, body, results)
                for i, (a, b) in enumerate(zip(first, after, strict=True))
            ]
            if all(a is b for a, b in zip(settled, first, strict=True)):
                return first
            return type(first)(*settled) if hasattr(first, "_fields") else type(first)(settled)
        if same_value(first, after):
            return first
        raise self._changing(path, first, after)

    def _changing(self, path: str, first: Any, after: Any) -> Exception:
        return self.site.error(
            f"the variable {path!r} is {_described(first)} before and {_described(after)} after a round, but how many "
            "rounds the loop makes is only known when the graph runs; make it a tensor of one shape and type before the loop"
        )

    def _settle_tensor(
        self, name: str, path: str, first: Tensor, after: Any, body: BlockCapture, results: list[Tensor]
    ) -> Tensor:
        weak = path in self.weak or name in self.weak
        dtype = common_dtype(first, after) if not (weak and isinstance(after, Tensor)) else _weak_dtype(first, after)
        aval = self.loose.get(id(first), first._aval)
        shape = aval.shape
        if isinstance(after, Tensor) and after._aval.shape != shape:
            loose = loosened(aval, after._aval)
            if loose is not aval:
                self.loose[id(first)] = loose
                raise _Restart
            if any(map(is_loose, shape)):
                results.append(after)
                return first
            if not (weak and shape == ()):
                raise self._changing(path, first, after)
            return expand(as_tensor(first, dtype, shape), list(after._aval.shape))
        if dtype != first._aval.dtype:
            return as_tensor(first, dtype, shape)
        results.append(body.record(lambda: as_tensor(after, dtype, shape)))
        return first


def _weak_dtype(first: Tensor, after: Tensor) -> np.dtype:
    """A number that started the loop follows the tensor, unless it is a float and the tensor holds integers."""
    if first._aval.dtype.kind == "f" and after._aval.dtype.kind in "iub":
        return first._aval.dtype
    return after._aval.dtype


def _can_vary(value: Any) -> bool:
    """Whether a value can be carried from round to round."""
    if isinstance(value, dict):
        return all(_can_vary(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return all(_can_vary(part) for part in value)
    return isinstance(value, Tensor) or is_number(value)
