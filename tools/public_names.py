"""Every public name of proa: functions, classes and methods, each once, with the shortest path that leads to it.

    python -m tools.public_names                      # how many there are, and how many have a docstring and an example
    python -m tools.public_names --missing proa.nn    # those below proa.nn that lack one

A name is public where a user reaches it from `import proa` through names without a leading underscore, and where its source
lies in this package. What a namespace's `__all__` leaves out is not public. A method is public where its class is, and is
counted at the class that defines it.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import types
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PACKAGE = "proa"
# Rooms that users import by their own path; `import proa` does not load them.
ROOMS = ("llm", "serving", "ocr", "convert", "compress", "export")
# Rooms of the house itself: what users need of them has a name elsewhere.
INNER = {f"{PACKAGE}.{room}" for room in ("cli", "compat", "core", "eager", "formats", "graph", "ir", "kernels", "ops")}


@dataclass(frozen=True)
class PublicName:
    """One function, class or method."""

    name: str
    kind: str  # function, class or method
    value: Any

    @property
    def docstring(self) -> str:
        return inspect.cleandoc(_own_docstring(self.value) or "")

    @property
    def has_example(self) -> bool:
        return ">>> " in self.docstring

    @property
    def file(self) -> str:
        function = inspect.unwrap(_function(self.value)) if self.kind != "class" else self.value
        try:
            return inspect.getsourcefile(function) or ""
        except TypeError:
            return ""


def public_names() -> list[PublicName]:
    """All of them, in the order of their paths."""
    found: dict[int, PublicName] = {}
    for path, value in _reachable():
        kind = "class" if inspect.isclass(value) else "function"
        known = found.get(id(value))
        if known is None or (path.count("."), len(path)) < (known.name.count("."), len(known.name)):
            found[id(value)] = PublicName(path, kind, value)
    methods = [method for name in found.values() if name.kind == "class" for method in _methods(name)]
    unique: dict[int, PublicName] = {}
    for method in methods:
        unique.setdefault(id(_function(method.value)), method)
    listed = set(found)
    return sorted(
        [*found.values(), *(method for key, method in unique.items() if key not in listed)], key=lambda name: name.name
    )


def _reachable() -> Iterator[tuple[str, Any]]:
    root = importlib.import_module(PACKAGE)
    waiting: deque[tuple[str, types.ModuleType]] = deque([(PACKAGE, root)])
    waiting.extend((f"{PACKAGE}.{room}", importlib.import_module(f"{PACKAGE}.{room}")) for room in ROOMS)
    seen: set[int] = set()
    while waiting:
        path, module = waiting.popleft()
        if id(module) in seen:
            continue
        seen.add(id(module))
        for name in _names_of(module):
            try:
                value = getattr(module, name)
            except (AttributeError, ImportError):
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.split(".")[0] == PACKAGE and value.__name__ not in INNER:
                    waiting.append((f"{path}.{name}", value))
            elif callable(value) and _is_ours(value):
                yield f"{path}.{name}", value


def _names_of(module: types.ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    names = dir(module) if listed is None else [*listed, *(name for name in dir(module) if _is_namespace(module, name))]
    return sorted({name for name in names if not name.startswith("_")})


def _is_namespace(module: types.ModuleType, name: str) -> bool:
    return isinstance(getattr(module, name, None), types.ModuleType)


def _is_ours(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    return module.split(".")[0] == PACKAGE and (
        inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__name__")
    )


def _methods(owner: PublicName) -> Iterator[PublicName]:
    for name, value in sorted(vars(owner.value).items()):
        function = _function(value)
        if name.startswith("_") or not callable(function) or inspect.isclass(function):
            continue
        if (getattr(function, "__module__", "") or "").split(".")[0] == PACKAGE:
            yield PublicName(f"{owner.name}.{name}", "method", value)


def _function(value: Any) -> Any:
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    if isinstance(value, property):
        return value.fget
    return value


def _own_docstring(value: Any) -> str | None:
    """Not the one that a class inherits."""
    if inspect.isclass(value):
        return vars(value).get("__doc__")
    return getattr(_function(value), "__doc__", None)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--missing", nargs="*", metavar="PREFIX", help="list the names that lack a docstring or an example"
    )
    options = parser.parse_args()
    names = public_names()
    if options.missing is not None:
        prefixes = tuple(options.missing) or (PACKAGE,)
        for name in names:
            if name.name.startswith(prefixes) and not name.has_example:
                print(f"{name.kind:9} {name.name:70} {'no example' if name.docstring else 'no docstring'}  {name.file}")
        return
    for kind in ("function", "class", "method"):
        chosen = [name for name in names if name.kind == kind]
        count = Counter((bool(name.docstring), name.has_example) for name in chosen)
        described, shown = sum(count[True, x] for x in (True, False)), sum(count[x, True] for x in (True, False))
        print(f"{kind:9} {len(chosen):5}: {described:5} with a docstring, {shown:5} with an example")


if __name__ == "__main__":
    main()
