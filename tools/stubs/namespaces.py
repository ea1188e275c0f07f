"""Stubs of the namespaces whose names are collected when the package is imported: `proa`, `proa.nn.functional` …"""

from __future__ import annotations

import importlib
import inspect
import types
from typing import Any

from proa._namespace import LAZY_MODULES
from tools.public_names import NAMESPACES

from .annotations import Imports
from .functions import definition, is_offered_as_written, source_of, summary

# Those of which the source says too little.
COLLECTED = (
    "proa", "proa.cuda", "proa.distribution", "proa.fft", "proa.functional", "proa.geometric", "proa.incubate.autograd",
    "proa.incubate.optimizer", "proa.incubate.optimizer.functional", "proa.linalg", "proa.nn.functional", "proa.random",
    "proa.regularizer", "proa.signal", "proa.special",
)  # fmt: skip
# The modules of `proa` that users reach by attribute and that are no files.
_NO_FILES = frozenset({"annotations"})


def namespace_stub(path: str) -> str:
    """The text of the stub of one namespace, formatted by nobody yet."""
    module = importlib.import_module(path)
    names = sorted(name for name in _public(module) if name not in _NO_FILES)
    imports = Imports(path, names)
    lines: list[str] = []
    for name in names:
        lines += _entry(path, name, getattr(module, name), imports, names)
    if path == "proa":
        lines += ["__version__: builtins.str", "__git_commit__: builtins.str"]
        imports.need("builtins")
    doc = inspect.cleandoc(module.__doc__ or "")
    named = [line for line in lines if line.startswith("from ")]
    return "\n".join([f'"""{doc}"""', *imports.lines(), *named, *(line for line in lines if line not in named)])


def _public(module: types.ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    names = {name for name in (dir(module) if listed is None else listed) if not name.startswith("_")}
    # `__all__` says what `import *` brings; namespaces that users import from are below as well.
    below = {full.rpartition(".")[2] for full in NAMESPACES if f"proa.{full}".rpartition(".")[0] == module.__name__}
    return sorted(names | below)


def _entry(path: str, name: str, value: Any, imports: Imports, names: list[str]) -> list[str]:
    if isinstance(value, types.ModuleType):
        return _module(path, name, value)
    if inspect.isclass(value):
        return _class(name, value, imports)
    if inspect.isfunction(value):
        if is_offered_as_written(name, value):
            source = source_of(value)
            return _named(name, source.__module__, source.__name__, imports)
        return definition(name, value, imports, names)
    if value is None:
        return [f"{name}: None"]
    kind = type(value)
    if kind.__module__ == "builtins":
        return [f"{name}: {imports.need('builtins')}.{kind.__name__}"]
    return [f"{name}: {imports.need(kind.__module__, kind.__name__)}"]


def _named(name: str, module: str, there: str, imports: Imports) -> list[str]:
    """A name of another module; an import under another name would not count as offered."""
    if name == there:
        return [f"from {module} import {there} as {name}"]
    return [f"{name} = {imports.need(module, there)}"]


def _module(path: str, name: str, value: types.ModuleType) -> list[str]:
    """Modules that are files; what Paddle has below other names is left to `paddle_layout`."""
    if name in LAZY_MODULES:
        return [f"from {path} import {name} as {name}"]
    home, _, own = value.__name__.rpartition(".")
    is_public = f"{path}.{name}".removeprefix("proa.") in NAMESPACES
    if getattr(value, "__file__", None) is None or own != name or (home != path and not is_public):
        return []
    return [f"from {home} import {name} as {name}"]


def _class(name: str, value: type, imports: Imports) -> list[str]:
    module = importlib.import_module(value.__module__)
    if vars(module).get(value.__name__) is value:
        return _named(name, value.__module__, value.__name__, imports)
    # A class that was made in a loop: what can be done with it is said by calling it.
    anything, tensor = imports.need("typing", "Any"), imports.need("proa.eager.tensor", "Tensor")
    return [f"def {name}(*args: {anything}, **kwargs: {anything}) -> {tensor}:", f"    {summary(value)}"]
