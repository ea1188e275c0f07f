"""What converted code calls: Python's own control flow for known values, the graph's for unknown ones."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.symbols import SymbolicSize
from ...eager.tensor import Tensor
from ...graph.control import cond_of, is_unknown
from ...ir.capture import CaptureError
from ...ir.recorder import LOCAL
from ...ops.basic import cast, reshape
from ...ops.create.creation import assign_to, full
from ...ops.math import logic
from ...ops.math.logic import logical_not
from .calls import call
from .iterables import GraphIterable, as_graph_iterable
from .looks import attribute, changing, entry, outside
from .loops import LEARNING, GraphLoop
from .merge import BranchMerge, fill
from .state import (
    ConversionError,
    Journal,
    Site,
    State,
    Undefined,
    UndefinedUse,
    attempt,
    augmented,
    load,
    set_attribute,
)

_MOST_UNROLLED = 2000


class _Local(threading.local):
    branches = 0  # conditions of the graph that this thread is inside of


_IN = _Local()


class _Questions(threading.local):
    to_graph = False  # whether a comparison of unknown sizes is an operation, not a guard


_QUESTIONS = _Questions()


@contextmanager
def sizes_asked_by_graph() -> Generator[None]:
    """Inside, converted code that compares unknown sizes goes both ways, as it does for tensors: a file that is one graph
    for all sizes cannot be captured again for the other answer."""
    before, _QUESTIONS.to_graph = _QUESTIONS.to_graph, True
    try:
        yield
    finally:
        _QUESTIONS.to_graph = before


class _Raised(Exception):
    """An exception that a branch raises, where it is not known yet whether the branch is taken."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def is_graph_value(value: Any) -> bool:
    """Whether a decision on this value belongs to the graph: it is a tensor, and code is being captured."""
    return isinstance(value, Tensor) and LOCAL.segment.captures


def _predicate(value: Tensor, site: Site) -> Tensor:
    """A tensor of one boolean whose value the graph decides, even where it has one now (a buffer may change)."""
    if value._aval.size != 1:
        raise site.error(
            f"a condition must have one element; it is {value._aval}. Use paddle.any(), paddle.all() or paddle.where()"
        )
    if not is_unknown(value):
        value = assign_to(value)
    if value._aval.dtype != np.dtype(bool):
        value = cast(value, np.dtype(bool))
    return reshape(value, []) if value._aval.shape else value


# ---- conditions ------------------------------------------------------------------------------------------------------


def if_(test: Any, then: Callable[[], None], otherwise: Callable[[], None], state: State, site: Site) -> None:
    """`if test: then() else: otherwise()`; both write into the variables of `state`."""
    if not is_graph_value(test):
        (then if test else otherwise)()
        return
    predicate = _predicate(test, site)
    original = state.get()
    merge = BranchMerge(state.names, site, state.num_variables)
    try:
        first, second = _branch(then, state, original, merge), _branch(otherwise, state, original, merge)
        results = cond_of(predicate, first, second, merge.unify)
    except (_Raised, UndefinedUse) as error:
        _run_the_other(error, then, otherwise, predicate, site)
        return
    state.set([fill(value, results) for value in merge.merged])
    for owner, name, value in merge.attributes:
        set_attribute(owner, name, fill(value, results))


def _branch(
    block: Callable[[], None], state: State, original: list[Any], merge: BranchMerge
) -> Callable[[], tuple[list[Any], dict[Any, Any]]]:
    def run() -> tuple[list[Any], dict[Any, Any]]:
        state.set(original)
        _IN.branches += 1
        journal = Journal()
        try:
            with journal:
                block()
                values = state.get()
            merge.owners.update(journal.before)
            return values, journal.take_back()
        except (_Raised, UndefinedUse) as error:
            if not hasattr(error, "block"):
                error.block = block  # type: ignore[union-attr]
            raise
        finally:
            _IN.branches -= 1
            journal.take_back()
            state.set(original)

    return run


def _run_the_other(
    error: Any, then: Callable[[], None], otherwise: Callable[[], None], predicate: Tensor, site: Site
) -> None:
    """Goes on with one branch, where the other raises an error or uses what is not defined yet."""
    in_then = error.block is then
    if isinstance(error, _Raised):
        _check(logical_not(predicate) if in_then else predicate, error.error, site)
    elif LEARNING.learning:
        LEARNING.looked = True
    else:
        raise error
    (otherwise if in_then else then)()


def raised(error: Any) -> Any:
    """`raise error`: inside a branch of the graph it becomes a check of the condition."""
    if _IN.branches and LOCAL.segment.captures:
        return _Raised(error() if isinstance(error, type) else error)
    return error


def choose(test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], site: Site) -> Any:
    """`then() if test else otherwise()`."""
    if not is_graph_value(test):
        return then() if test else otherwise()
    merge = BranchMerge(("the value of the conditional expression",), site)
    results = cond_of(_predicate(test, site), lambda: ([then()], {}), lambda: ([otherwise()], {}), merge.unify)
    return fill(merge.merged[0], results)


# ---- logic -----------------------------------------------------------------------------------------------------------


def _logical(value: Any, name: str, rest: Callable[[], Any]) -> Any:
    other = rest()
    if not isinstance(other, Tensor):
        other = full([], bool(other), "bool")
    return getattr(logic, name)(value, other)


def and_(*operands: Callable[[], Any]) -> Any:
    """`a and b and …`, each computed when it is needed."""
    value = operands[0]()
    if len(operands) == 1:
        return value
    if is_graph_value(value):
        return _logical(value, "logical_and", lambda: and_(*operands[1:]))
    return and_(*operands[1:]) if value else value


def or_(*operands: Callable[[], Any]) -> Any:
    """`a or b or …`."""
    value = operands[0]()
    if len(operands) == 1:
        return value
    if is_graph_value(value):
        return _logical(value, "logical_or", lambda: or_(*operands[1:]))
    return value if value else or_(*operands[1:])


def not_(value: Any) -> Any:
    """`not value`."""
    if is_graph_value(value):
        return logical_not(value)
    return not value


# ---- loops -----------------------------------------------------------------------------------------------------------


def while_(test: Callable[[], Any], body: Callable[[], None], stop: Any, state: State, site: Site) -> None:
    """`while test() and not stop(): body()`."""
    for _ in range(_MOST_UNROLLED * 1000):
        stopped = stop() if stop is not None else False
        if is_graph_value(stopped):
            _stopped_loop(test, body, stop, state, site)
            return
        if stopped:
            return
        outcome = test()
        if is_graph_value(outcome):
            GraphLoop(_guarded(test, stop), body, state, site).run()
            return
        if not outcome:
            return
        body()


def _guarded(test: Callable[[], Any], stop: Any) -> Callable[[], Any]:
    return test if stop is None else lambda: and_(lambda: not_(stop()), test)


def _stopped_loop(test: Callable[[], Any], body: Callable[[], None], stop: Any, state: State, site: Site) -> None:
    """A loop that a `break` on a tensor may end: one of the graph, or rounds with a condition each."""
    original = state.get()
    try:
        GraphLoop(_guarded(test, stop), body, state, site).run()
        return
    except CaptureError:
        state.set(original)
        if is_graph_value(test()) or _is_constant(test):
            raise
    for _ in range(_MOST_UNROLLED):
        stopped = stop()
        if not is_graph_value(stopped) and stopped:
            return
        outcome = test()
        if is_graph_value(outcome) or not outcome:
            return
        if_(not_(stopped), body, _nothing, state, _guard(site))
    raise site.error(f"the loop makes more than {_MOST_UNROLLED} rounds")


def _is_constant(test: Callable[[], Any]) -> bool:
    return not test.__code__.co_names and not test.__code__.co_freevars


def _nothing() -> None:
    pass


def _guard(site: Site) -> Site:
    return Site(site.filename, site.line, True, tuple(site.live))


def for_(iterable: Any, body: Callable[[Any], None], stop: Any, state: State, site: Site) -> None:
    """`for item in iterable: body(item)`, until `stop()`."""
    graph = as_graph_iterable(iterable)
    if graph is not None:
        _graph_for(graph, body, stop, state, site)
        return
    for item in iterable:
        stopped = stop() if stop is not None else False
        if is_graph_value(stopped):
            if_(not_(stopped), lambda item=item: body(item), _nothing, state, _guard(site))
        elif stopped:
            return
        else:
            body(item)


def _graph_for(graph: GraphIterable, body: Callable[[Any], None], stop: Any, state: State, site: Site) -> None:
    index: Any = full([], 0, "int64")
    length = graph.length()

    def read() -> tuple[Any, ...]:
        return (*state.read(), index)

    def write(values: Any) -> None:
        nonlocal index
        state.write(values[:-1])
        index = values[-1]

    def test() -> Any:
        return index < length

    def one_round() -> None:
        nonlocal index
        body(graph.item(index))
        index = index + 1

    names = (*state.names[: state.num_variables], "the loop's counter")
    counted = State(names, read, write, state.containers, state.names[state.num_variables :])
    GraphLoop(_guarded(test, stop), one_round, counted, site).run()


# ---- statements ------------------------------------------------------------------------------------------------------


_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def arithmetic(name: str, left: Any, right: Any) -> Any:
    """`left + right` and the like, where a number that depends on an unknown size may stand on the right of a float."""
    if _QUESTIONS.to_graph and name in _MIRRORED and LOCAL.segment.captures:
        asked = _asked_by_graph(name, left, right)
        if asked is not None:
            return asked
    if left.__class__ is float and isinstance(right, SymbolicSize):
        if name in _MIRRORED:
            return getattr(operator, _MIRRORED[name])(right, left)
        return getattr(right, f"__r{name}__")(left)
    return getattr(operator, name)(left, right)


def _asked_by_graph(name: str, left: Any, right: Any) -> Tensor | None:
    """A comparison of sizes as an operation; None where there is nothing to ask, or all sizes answer alike."""
    sizes = [isinstance(side, SymbolicSize) for side in (left, right)]
    if not any(sizes) or not all(isinstance(side, (int, float)) for side in (left, right)):
        return None
    with LOCAL.segment.assumptions.collected() as guards:
        if sizes[0]:
            getattr(operator, name)(left, right)
        else:
            getattr(operator, _MIRRORED[name])(right, left)
        if all(guard.is_certain for guard in guards.values()):
            return None
    operands = [
        full([], side, "int64") if is_size else side for side, is_size in zip((left, right), sizes, strict=True)
    ]
    return getattr(operator, name)(*operands)


def assert_(test: Any, message: Callable[[], Any], site: Site) -> None:
    """`assert test, message()`; on a tensor of the graph it is checked at each run."""
    if not is_graph_value(test):
        text = None if test else message()
        if text is not None:
            assert test, text
        assert test
        return
    text = message()
    _check(_predicate(test, site), AssertionError("" if text is None else str(text)), site)


def _check(good: Tensor, error: BaseException, site: Site) -> None:
    from .effects import check

    check(good, error, site)


__all__ = [
    "ConversionError", "Site", "State", "Undefined", "and_", "arithmetic", "assert_", "attempt", "attribute", "augmented",
    "call", "changing", "choose", "entry", "for_", "if_", "load", "not_", "or_", "outside", "raised", "set_attribute",
    "sizes_asked_by_graph", "while_",
]  # fmt: skip
