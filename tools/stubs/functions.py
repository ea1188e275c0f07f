"""One function or property as it stands in a stub: parameters, types, defaults, and the first line of its docstring."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection
from typing import Any

from .annotations import Imports, moved

_PLAIN_DEFAULTS = (bool, int, float, str, type(None))


def source_of(function: Callable[..., Any]) -> Any:
    """What was written by hand: the function below forms with aliases and `out=`, or the kernel of a primitive."""
    function = inspect.unwrap(function)
    found = inspect.unwrap(getattr(function, "changes", function))
    operation = getattr(found, "operation", None)
    return found if operation is None else operation.kernel


def definition(
    name: str,
    function: Callable[..., Any],
    imports: Imports,
    hidden: Collection[str],
    *,
    method: bool = False,
    decorator: str = "",
    doc: str = "",
) -> list[str]:
    """`def name(…) -> …:` with its docstring's first line."""
    module: str = source_of(function).__globals__["__name__"]  # not `__module__`, which some functions are given
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if method and parameters:
        first = parameters[0]
        if first.kind is not first.VAR_POSITIONAL:
            parameters = parameters[1:]
    written = [_parameter(p, module, imports, hidden) for p in parameters]
    kinds = [p.kind for p in parameters]
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    if keyword_only in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        written.insert(kinds.index(keyword_only), "*")
    positional_only = kinds.count(inspect.Parameter.POSITIONAL_ONLY)
    if positional_only:
        written.insert(positional_only, "/")
    if method:
        written.insert(0, "self")
    result = moved(signature.return_annotation, module, imports, hidden)
    line = f"def {name}({', '.join(written)}) -> {result}:"
    doc = doc or summary(function)
    head = [decorator] if decorator else []
    return [*head, f"{line} ..."] if not doc else [*head, line, f"    {doc}"]


def attribute(name: str, value: property, imports: Imports, hidden: Collection[str]) -> list[str]:
    """A property, and whether it can be set."""
    assert value.fget is not None
    lines = definition(name, value.fget, imports, hidden, method=True, decorator="@property", doc=summary(value))
    if value.fset is not None:
        lines += [f"@{name}.setter", f"def {name}(self, value: {imports.need('typing', 'Any')}) -> None: ..."]
    return lines


def summary(value: Any) -> str:
    """The first line of a docstring, as a docstring; empty where there is none."""
    doc = inspect.cleandoc(getattr(value, "__doc__", None) or "").partition("\n")[0].strip()
    if not doc:
        return ""
    doc = doc.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{doc} """' if doc.endswith('"') else f'"""{doc}"""'


def _parameter(parameter: inspect.Parameter, module: str, imports: Imports, hidden: Collection[str]) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = f"{stars}{parameter.name}: {moved(parameter.annotation, module, imports, hidden)}"
    if parameter.default is parameter.empty:
        return text
    return f"{text} = {_default(parameter.default)}"


def _default(value: Any) -> str:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return "..."
    if type(value) in _PLAIN_DEFAULTS:
        return repr(value)
    if isinstance(value, tuple) and all(type(part) in _PLAIN_DEFAULTS for part in value):
        return repr(value)
    return "..."


def is_offered_as_written(name: str, function: Any) -> bool:
    """Whether a stub can name the function where it is defined, instead of writing it out."""
    source = source_of(function)
    if not isinstance(source, types.FunctionType) or _is_made(inspect.unwrap(function)):
        return False
    module = inspect.getmodule(source)
    found = getattr(module, source.__name__, None)
    if found is None or inspect.unwrap(found) is not source:
        return False
    return _shape(function) == _shape(source)


def _shape(function: Any) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def _is_made(function: Any) -> bool:
    """Whether it is a primitive or an in-place form: made from something else that was written."""
    return hasattr(function, "operation") or hasattr(function, "changes")
