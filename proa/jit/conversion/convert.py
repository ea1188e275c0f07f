"""A function -> the converted function: found, rewritten and compiled once, with the user's own lines."""

from __future__ import annotations

import ast
import sys
import threading
import types
import weakref
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ...core.locks import new_reentrant_lock
from .names import own_nodes, read_outside, stored_outside
from .reads import OPEN, Surroundings
from .rewrite import RUNTIME, SURROUNDINGS, rewrite
from .source import Mangler, function_node
from .state import ConversionError

_IGNORED = {
    "proa", "numpy", "scipy", "jax", "jaxlib", "PIL", "matplotlib", "pytest", "_pytest", "safetensors", "einops",
    "typing_extensions",
}  # fmt: skip
# By code: functions made anew at each call of another one share theirs.
_CONVERTED: weakref.WeakKeyDictionary[CodeType, Any] = weakref.WeakKeyDictionary()
_LOCK = new_reentrant_lock()
_FACTORY, _CONVERTED_NAME = "_jst_factory", "_jst_converted"


def ignore_modules(modules: Any) -> None:
    """Functions of these modules are called as they are."""
    for module in modules if isinstance(modules, (list, tuple, set)) else [modules]:
        _IGNORED.add(module.__name__ if isinstance(module, ModuleType) else str(module))


def leave_alone(function: Any) -> bool:
    """Whether a function runs as it is: marked so, or of a module whose code knows tensors or has none."""
    if getattr(function, "_jst_not_to_static", False):
        return True
    if not isinstance(function, FunctionType) or function.__name__.startswith("_jst_"):
        return True
    return is_ignored(function.__module__ or "")


def is_ignored(module: str) -> bool:
    """Whether functions of a module are called as they are."""
    parts = module.split(".")
    if parts[0] in sys.stdlib_module_names and parts[0] != "__main__":
        return True
    return any(".".join(parts[: i + 1]) in _IGNORED for i in range(len(parts)))


class _Seen(threading.local):
    layers: list[Any] | None = None  # layers that the code being captured calls
    failures: list[ConversionError] | None = None  # helpers that could not be converted


SEEN = _Seen()


def convert(function: FunctionType) -> FunctionType:
    """The function with control flow that knows tensors; ConversionError naming what cannot be converted."""
    code = _converted_code(function)[0]
    if OPEN.reads is not None:
        OPEN.reads.note_function(function, stored_outside(function.__code__))
    return _rebuilt(function, code)


def converted(function: FunctionType) -> Any:
    """The converted function, or the function itself where it is left alone or cannot be converted."""
    if leave_alone(function):
        return function
    try:
        return convert(function)
    except ConversionError as error:
        if SEEN.failures is not None:
            SEEN.failures.append(error)
        return unconverted(function)  # it may well run as it is


def unconverted(function: FunctionType) -> FunctionType:
    """The function itself, which is going to run as it is, with the functions that it names."""
    reads = OPEN.reads
    waiting, seen = [function], {function}
    while waiting and reads is not None:
        each = waiting.pop()
        reads.note_function(each, stored_outside(each.__code__))
        reads.note_unconverted(each)
        around = Surroundings(each)
        called = [around.value(name) for name in read_outside(each.__code__)]
        found = {f for f in called if isinstance(f, FunctionType) and not leave_alone(f)} - seen
        waiting += found
        seen |= found
    return function


def converted_source(function: FunctionType) -> str:
    """The text of the converted function."""
    factory: Any = _converted_code(function)[1].body[0]
    node = factory.body[0]
    node.name = function.__name__ if function.__name__.isidentifier() else "_jst_lambda"
    return ast.unparse(node)


def _converted_code(function: FunctionType) -> tuple[CodeType, ast.Module]:
    with _LOCK:
        found = _CONVERTED.get(function.__code__)
        if found is None:
            try:
                found = _convert(function)
            except ConversionError as error:
                found = error
            _CONVERTED[function.__code__] = found
    if isinstance(found, ConversionError):
        raise found.with_traceback(None)
    return found


def _convert(function: FunctionType) -> tuple[CodeType, ast.Module]:
    code = function.__code__
    location = (code.co_filename, code.co_firstlineno)
    if code.co_flags & 0x2A0:  # generator, coroutine, asynchronous generator
        raise ConversionError("(to_static) a generator or coroutine cannot become a graph", location)
    node = function_node(function)
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Return(node.body), node.body)
        named: Any = ast.FunctionDef("_jst_lambda", node.args, [body], [])
        if "type_params" in named._fields:
            named.type_params = []
        node = ast.copy_location(named, node)
    node.decorator_list = []
    node.returns = None
    for part in own_nodes(node):
        if isinstance(part, (ast.AsyncFor, ast.AsyncWith)):
            raise ConversionError(
                "(to_static) asynchronous code cannot become a graph", (code.co_filename, part.lineno)
            )
    _strip_signature(node)
    names = code.co_qualname.split(".") if hasattr(code, "co_qualname") else function.__qualname__.split(".")
    class_name = names[-2] if len(names) > 1 and names[-2] != "<locals>" else None
    first = node.args.posonlyargs + node.args.args
    node = Mangler(class_name, first[0].arg if first else None).visit(node)
    rewrite(node, code.co_filename, read_outside(code))
    node.name = _CONVERTED_NAME  # its own name means what it meant outside
    module = _in_factory(node, code.co_freevars)
    try:
        compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE)
    except (SyntaxError, ValueError) as error:
        raise ConversionError(f"(to_static) the function could not be converted: {error}", location) from None
    return _inner_code(_inner_code(compiled, _FACTORY), _CONVERTED_NAME), module


_FUTURE = 0x1000000  # from __future__ import annotations


def _strip_signature(node: ast.FunctionDef) -> None:
    """Defaults come from the function itself; annotations are not needed."""
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    arguments.defaults = [ast.copy_location(ast.Constant(None), node) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.copy_location(ast.Constant(None), node) for d in arguments.kw_defaults]


def _in_factory(node: ast.FunctionDef, free: tuple[str, ...]) -> ast.Module:
    """The function inside another one whose parameters are its free variables."""
    names = [*free, RUNTIME, SURROUNDINGS]
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    factory: Any = ast.FunctionDef(_FACTORY, arguments, [node], [])
    if "type_params" in factory._fields:
        factory.type_params = []
    module = ast.Module([ast.copy_location(factory, node)], [])
    return ast.fix_missing_locations(module)


def _inner_code(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _rebuilt(function: FunctionType, code: CodeType) -> FunctionType:
    """The new code with the original's globals, defaults and closure."""
    from . import runtime

    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = types.CellType(runtime)
    cells[SURROUNDINGS] = types.CellType(Surroundings(function))
    code = code.replace(co_name=function.__code__.co_name)
    converted = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, tuple(cells[n] for n in code.co_freevars)
    )
    converted.__kwdefaults__ = function.__kwdefaults__
    converted.__qualname__ = function.__qualname__
    converted.__module__ = function.__module__
    converted.__doc__ = function.__doc__
    converted._jst_not_to_static = True  # it is converted already
    return converted
