"""Conditions and loops on values that are not known when the program is recorded. On known values they are Python's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.control import BlockCapture, cond_of, is_unknown, while_of
from ...graph.structure import flatten, rebuild

_NUMBERS = (bool, int, float, np.generic)


def _nothing() -> None:
    return None


def cond(
    pred: Tensor | bool,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Any = None,
) -> Any:
    """What `true_fn` or `false_fn` gives, by the value of `pred`; both must give the same structure.

    Args:
        pred: a boolean of one element.
        true_fn: a function without arguments; None: nothing is given.
        false_fn: the other one.
        name: a label; it changes nothing.
        return_names: taken; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [1])
        ...     y = paddle.static.nn.cond(x.sum() > 0, lambda: x * 2, lambda: x * 10)
        >>> paddle.static.Executor().run(main, feed={"x": np.array([-1], "float32")}, fetch_list=[y])[0].tolist()
        [-10.0]
    """
    for given, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if given is not None and not callable(given):
            raise type_error("static.nn.cond", f"{what} must be a function", type(given).__name__)
    then, otherwise = true_fn or _nothing, false_fn or _nothing
    if not isinstance(pred, Tensor) or not is_unknown(pred):
        return then() if bool(pred) else otherwise()
    if pred._aval.dtype.kind != "b":
        raise type_error("static.nn.cond", "pred must be boolean", f"pred: {pred._aval}", "compare it with something")
    structures: list[Any] = []

    def unify(first: BlockCapture, second: BlockCapture) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        lists: list[list[Tensor]] = [[], []]
        for block, tensors in zip((first, second), lists, strict=True):
            structures.append(flatten(block.record(_as_tensors, block.result), tensors))
        if repr(structures[0]) != repr(structures[1]):
            raise type_error(
                "static.nn.cond", "both functions must give the same structure of tensors",
                f"{structures[0]} and {structures[1]}",
            )  # fmt: skip
        return lists[0], lists[1]

    results = cond_of(pred, then, otherwise, unify)
    return rebuild(structures[0], results)


def _as_tensors(value: Any) -> Any:
    """The same structure with tensors for its numbers."""
    if isinstance(value, _NUMBERS):
        return tensor_from_data(value)
    if isinstance(value, dict):
        return type(value)((key, _as_tensors(part)) for key, part in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_as_tensors(part) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)([_as_tensors(part) for part in value])
    return value


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """Repeats `body(*loop_vars)` while `cond(*loop_vars)`; gives the loop variables in the end.

    Args:
        cond: gives a boolean of one element.
        body: gives the next loop variables, of the same shapes.
        loop_vars: what they begin with.
        is_test: taken; it changes nothing.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [1])
        ...     (y,) = paddle.static.nn.while_loop(lambda y: (y < 100).all(), lambda y: [y * 2], [x])
        >>> paddle.static.Executor().run(main, feed={"x": np.array([3], "float32")}, fetch_list=[y])[0].tolist()
        [192.0]
    """
    for given, what in ((cond, "cond"), (body, "body")):
        if not callable(given):
            raise type_error("static.nn.while_loop", f"{what} must be a function", type(given).__name__)
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise value_error("static.nn.while_loop", "loop_vars must be a non-empty list", f"{loop_vars!r}")
    first = cond(*loop_vars)
    if not is_unknown(first) and not any(map(is_unknown, _flat(loop_vars))):
        return _python_loop(cond, body, list(loop_vars), first)
    if isinstance(first, Tensor) and (first._aval.dtype.kind != "b" or first._aval.size != 1):
        raise type_error(
            "static.nn.while_loop", "cond must give a boolean of one element", f"{first._aval}",
            "compare it with something, or take all() of it",
        )  # fmt: skip
    state: list[Tensor] = []
    structure = flatten(_as_tensors(list(loop_vars)), state)

    def run_test(*tensors: Tensor) -> Tensor:
        return _as_tensors(cond(*rebuild(structure, list(tensors))))

    def run_body(*tensors: Tensor) -> list[Tensor]:
        result = body(*rebuild(structure, list(tensors)))
        found: list[Tensor] = []
        after = flatten(_as_tensors(list(result) if isinstance(result, (list, tuple)) else [result]), found)
        if repr(after) != repr(structure):
            raise value_error(
                "static.nn.while_loop", "body must give as many variables, in the same structure, as it takes",
                f"{after} for {structure}",
            )  # fmt: skip
        return found

    return rebuild(structure, while_of(run_test, run_body, state))


def _flat(value: Any) -> list[Tensor]:
    tensors: list[Tensor] = []
    flatten(value, tensors)
    return tensors


def _python_loop(cond: Callable[..., Any], body: Callable[..., Any], state: list[Any], going: Any) -> list[Any]:
    count = len(state)
    while bool(going):
        result = body(*state)
        state = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(state) != count:
            raise value_error("static.nn.while_loop", f"body must give {count} variables", f"{len(state)}")
        going = cond(*state)
    return state


def case(
    pred_fn_pairs: Sequence[tuple[Tensor, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of the first true predicate gives; without a default the last function stands for it.

    Args:
        pred_fn_pairs: pairs of a boolean and a function without arguments.
        default: a function without arguments.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [1])
        ...     y = paddle.static.nn.case([((x < 0).all(), lambda: -x), ((x < 5).all(), lambda: x)], lambda: x * 0 + 5)
        >>> paddle.static.Executor().run(main, feed={"x": np.array([9], "float32")}, fetch_list=[y])[0].tolist()
        [5.0]
    """
    if not isinstance(pred_fn_pairs, (list, tuple)) or not pred_fn_pairs:
        raise type_error("static.nn.case", "pred_fn_pairs must be a non-empty list", type(pred_fn_pairs).__name__)
    pairs = list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise type_error("static.nn.case", "each pair must be a (predicate, function)", f"{pair!r}")
    if default is not None and not callable(default):
        raise type_error("static.nn.case", "default must be a function", type(default).__name__)
    last = pairs.pop()[1] if default is None else default
    return _chain(pairs, last)


def _chain(pairs: list[Any], default: Callable[[], Any]) -> Any:
    if not pairs:
        return default()
    (predicate, function), *rest = pairs
    return cond(predicate, function, lambda: _chain(rest, default))


def switch_case(
    branch_index: Tensor,
    branch_fns: dict[int, Callable[[], Any]] | Sequence[Any],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of this index gives; any other index takes the default, or else that of the largest index.

    Args:
        branch_index: an integer of one element.
        branch_fns: functions without arguments: a list, or pairs of an index and a function, or a dictionary.
        default: a function without arguments.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     index = paddle.static.data("index", [1], "int32")
        ...     y = paddle.static.nn.switch_case(index, [lambda: paddle.ones([1]), lambda: paddle.ones([1]) * 7])
        >>> paddle.static.Executor().run(main, feed={"index": np.array([1], "int32")}, fetch_list=[y])[0].tolist()
        [7.0]
    """
    if not isinstance(branch_index, Tensor) or branch_index._aval.dtype.kind not in "iu":
        given = branch_index._aval if isinstance(branch_index, Tensor) else type(branch_index).__name__
        raise type_error("static.nn.switch_case", "branch_index must be an integer tensor", f"branch_index: {given}")
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        pairs = [tuple(f) if isinstance(f, (list, tuple)) else (n, f) for n, f in enumerate(branch_fns)]
    else:
        raise type_error("static.nn.switch_case", "branch_fns must be a list or a dict", type(branch_fns).__name__)
    numbers = [number for number, _ in pairs]
    if not pairs or len(set(numbers)) != len(numbers) or not all(isinstance(n, int) for n in numbers):
        raise value_error("static.nn.switch_case", "each branch needs an index of its own", f"{numbers}")
    if not all(callable(function) for _, function in pairs):
        raise type_error("static.nn.switch_case", "the branches must be functions", f"{branch_fns!r}")
    pairs.sort(key=lambda pair: pair[0])
    last: Any = pairs[-1][1] if default is None else default
    return _chain([(branch_index == number, function) for number, function in pairs], last)
