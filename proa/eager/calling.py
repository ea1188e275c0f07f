"""Other ways to call a public function: parameter aliases and `out=`.

Paddle 3.3 takes `input` for `x`, `other` for `y`, `dim` for `axis`, and `out=` for a tensor to write into. None of that
costs anything when it is not used: internal code and operators call the function as it was written, users get a form
that looks twice only when it was given a keyword that the function itself does not have.

A few functions also take PyTorch's order of arguments (`gather(x, dim, index)` beside `gather(x, index, axis)`). Such a
function declares the other form (`@public(otherwise=…)`), which answers `MISSING` to calls that are not meant for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ..core.errors import type_error
from ..core.tracebacks import trim
from ..ir.capture import CaptureError, put_off
from .signatures import DeferredSignature, parameter_names
from .tensor import Tensor
from .views import assign_in_place

# Accepted by every public function that has the parameter on the left and none of the name on the right.
COMMON_ALIASES = {"x": "input", "y": "other", "axis": "dim", "axes": "dim", "epsilon": "eps"}


class _Missing:
    """Stands for an argument that was not given."""

    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()


def alias_table(parameters: Iterable[str], extra: str) -> dict[str, str]:
    """Accepted other names by what they stand for: the common ones and `extra` ("y=exponent p=ord")."""
    own = list(parameters)
    table = {alias: name for name, alias in COMMON_ALIASES.items() if name in own and alias not in own}
    for pair in extra.split():
        name, _, alias = pair.partition("=")
        if name not in own:
            raise ValueError(f"aliases: there is no parameter {name!r} among {own}")
        table[alias] = name
    return table


def deliver(result: Any, out: Any) -> Any:
    """The end of a call with `out=`: the result itself, or `out` with the result in it."""
    if out is None:
        return result
    if isinstance(result, Tensor):
        if isinstance(out, Tensor):
            return assign_in_place(out, result, "out", reshapes=True)
        raise TypeError(f"out must be a Tensor; received {type(out).__name__}.")
    if not isinstance(out, (tuple, list)) or len(out) != len(result):
        raise TypeError(f"out must be a tuple of {len(result)} Tensors; received {type(out).__name__}.")
    filled = [deliver(part, target) for part, target in zip(result, out, strict=True)]
    return type(result)(*filled) if hasattr(result, "_fields") else type(result)(filled)


def renamed(function_name: str, table: dict[str, str], given: Iterable[str], named: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments under the function's own names; TypeError for one that is given twice."""
    result: dict[str, Any] = {}
    taken = set(given)
    for name, value in named.items():
        own = table.get(name, name)
        if own in result or own in taken:
            raise TypeError(f"{function_name}() got multiple values for argument {own!r}")
        result[own] = value
    return result


def with_options(
    function: Callable[..., Any], extra: str, out: bool, otherwise: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The form of a function that users get: with aliases, `out=` if asked for, and its other order of arguments."""
    if otherwise is not None:
        offered = _with_other_form(with_options(function, extra, out), otherwise)
        function.__dict__.setdefault("offered", []).append(offered)
        return offered
    parameters = parameter_names(function)
    table = alias_table(parameters, extra)
    has_own_out = "out" in parameters
    if not table and (has_own_out or not out):
        return function
    takes_out = out and not has_own_out
    again = _called_again(function, parameters, table, takes_out)
    generate = getattr(function, "generate_lenient", None)
    if generate is not None:
        lenient = generate(again)
        lenient.__name__, lenient.__qualname__ = function.__name__, function.__qualname__
        lenient.__doc__, lenient.__module__ = function.__doc__, function.__module__
        lenient.__dict__.update(__wrapped__=function, operation=vars(function)["operation"])
    else:

        @functools.wraps(function)
        def lenient(*arguments: Any, **named: Any) -> Any:
            try:
                try:
                    return again(arguments, named) if named else function(*arguments)
                except AttributeError as error:
                    if error.name is not None and error.name in Tensor.__slots__ and not isinstance(error.obj, Tensor):
                        raise _no_tensor(function.__name__, error.obj) from None
                    raise
                except CaptureError as refusal:  # it looked at a value: a program may put off the call
                    return put_off(lenient, arguments, named, refusal)
            except Exception as failure:
                trim(failure)
                raise

    lenient.__dict__["__signature__"] = DeferredSignature(
        [*parameters, "out"] if takes_out else parameters,
        lambda: _with_out(inspect.signature(function)) if takes_out else inspect.signature(function),
    )
    function.__dict__.setdefault("offered", []).append(lenient)
    if hasattr(function, "samples"):  # exported again, under another name
        lenient.__dict__["samples"] = vars(function)["samples"]
    return lenient


def putting_off(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that looks at values, as users get it: a program under construction may put off the call as a whole."""

    @functools.wraps(function)
    def offered(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except CaptureError as refusal:
            return put_off(offered, arguments, named, refusal)

    return offered


def _with_other_form(function: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:

    @functools.wraps(function)
    def either(*arguments: Any, **named: Any) -> Any:
        try:
            answer = otherwise(*arguments, **named)
            return function(*arguments, **named) if answer is MISSING else answer
        except Exception as failure:
            trim(failure)
            raise

    either.__dict__["__signature__"] = DeferredSignature(parameter_names(function), lambda: inspect.signature(function))
    return either


def _no_tensor(where: str, value: Any) -> TypeError:
    return type_error(where, "a Tensor is needed", type(value).__name__, "convert it with to_tensor()")


def _called_again(
    function: Callable[..., Any], parameters: list[str], table: dict[str, str], takes_out: bool
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    def again(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        out = named.pop("out", None) if takes_out else None
        if not table.keys().isdisjoint(named):
            named = renamed(function.__name__, table, parameters[: len(arguments)], named)
        result = function(*arguments, **named)
        return result if out is None else deliver(result, out)

    return again


def _with_out(signature: inspect.Signature) -> inspect.Signature:
    parameters = list(signature.parameters.values())
    place = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_KEYWORD), len(parameters))
    own = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None")
    parameters.insert(place, own)
    return signature.replace(parameters=parameters)
