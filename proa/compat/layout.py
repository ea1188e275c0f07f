"""Paddle's modules by path: `proa.nn.layer.norm.LayerNorm` is found, though there is no such file.

`layout.txt` says which names each module of Paddle has, and which public name is the same thing (`tools/paddle_layout.py`
writes it). From it come modules that are no files here, and names that a module of the same path lacks. What has no public
name is written by hand in the file of that path under `proa/compat/paddle/`; what is not there either exists and says, when
it is used, what to use instead (`missing.py`).

Nothing is read before somebody asks for such a module or name. Tables and handwritten files are looked up in this order:

    the module's own file  >  proa/compat/paddle/<path>.py  >  layout.txt  >  missing.py
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import pathlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..eager.tensor import Tensor
from .missing import missing_class, missing_function

OWN = __name__.partition(".")[0]
_HANDWRITTEN = f"{OWN}.compat.paddle"
# Rooms that Paddle does not have: nothing is looked up for them.
_INNER = frozenset({"cli", "compat", "compress", "core", "debug", "eager", "formats", "graph", "ir", "kernels", "ops"})


@functools.cache
def table() -> dict[str, str]:
    """For each module, its line of names."""
    lines = pathlib.Path(__file__).with_name("layout.txt").read_text(encoding="utf-8").splitlines()
    return {path if path != "." else "": names for path, _, names in (line.partition(" ") for line in lines)}


@functools.cache
def entries(path: str) -> dict[str, str]:
    """The names of one module: a dotted name that is the same thing, or the sign of a function `()` or class `!`."""
    found = {}
    for word in table().get(path, "").split():
        name, equals, target = word.partition("=")
        if equals:
            found[name] = target if not target.endswith(".") else f"{target}{name}".lstrip(".")
        else:
            found[name.rstrip("()!")] = word[len(name.rstrip("()!")) :]
    return found


def is_module(path: str) -> bool:
    return _renamed(path) in table() or _handwritten_file(path) is not None


def _renamed(path: str) -> str:
    """The C++ module has two names, of which the table has one."""
    return path.replace("base.libpaddle", "base.core", 1) if path.startswith("base.libpaddle") else path


def _handwritten_file(path: str) -> pathlib.Path | None:
    base = pathlib.Path(__file__).with_name("paddle").joinpath(*path.split("."))
    return next((file for file in (base.with_name(f"{base.name}.py"), base / "__init__.py") if file.is_file()), None)


@functools.cache
def _handwritten(path: str) -> types.ModuleType | None:
    if path and _handwritten_file(path) is None:
        return None
    return importlib.import_module(f"{_HANDWRITTEN}.{path}" if path else _HANDWRITTEN)


def look_up(path: str, name: str) -> Any:
    """What Paddle's module `path` has under `name`; AttributeError if it has nothing."""
    dotted = f"{path}.{name}".lstrip(".")
    if not (name.startswith("__") and name.endswith("__")):
        written = _written_names(path)
        if name in written:
            return written[name]
        target = entries(path).get(name)
        if target in ("()", "!"):
            found = _method(path, name) or _above(path, name)
            return found or (missing_function if target == "()" else missing_class)(dotted)
        if target is not None and target != dotted:
            return resolve(target)
        if is_module(dotted):
            return importlib.import_module(f"{OWN}.{dotted}")
    raise AttributeError(f"module '{OWN}{'.' if path else ''}{path}' has no attribute {name!r}")


@functools.cache
def _written_names(path: str) -> dict[str, Any]:
    """What the handwritten file has; its parts are not meant, they are looked up as modules."""
    written = _handwritten(path)
    if written is None:
        return {}
    return {
        name: value
        for name, value in vars(written).items()
        if not (isinstance(value, types.ModuleType) and value.__name__.startswith(_HANDWRITTEN))
    }


def _above(path: str, name: str) -> Any:
    """What is one file of Paddle's may stand in the folder here: `fleet.model.distributed_model` in `fleet`."""
    while "." in path:
        path = path.rpartition(".")[0]
        module = importlib.import_module(f"{OWN}.{path}")
        if name in vars(module) and not isinstance(module, LayoutModule):
            return vars(module)[name]
    return None


def _method(path: str, name: str) -> Any:
    """In-place forms of tensor functions are methods only: `paddle.tensor.math.add_`."""
    return getattr(Tensor, name, None) if path.split(".")[0] == "tensor" else None


def resolve(dotted: str) -> Any:
    """The thing that a dotted name below the package stands for: a module, or something in one."""
    if dotted == "/":
        return sys.modules[OWN]
    if dotted in table():
        return importlib.import_module(f"{OWN}.{dotted}")
    room, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(f"{OWN}.{room}") if room else sys.modules[OWN], name)


class LayoutModule(types.ModuleType):
    """A module of Paddle without a file here; a name is looked up when it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        value = look_up(self.__name__.partition(".")[2], name)
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        target = entries(self.__name__.partition(".")[2]).get(name, "")
        if not isinstance(value, LayoutModule) or not target or target in table():
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *names_of(self.__name__.partition(".")[2])})


class _Keeping(types.ModuleType):
    """What a module is for the length of one import: Python writes a module that it has loaded into its parent, and would
    overwrite the function of the same name (`paddle.tensor`, `paddle.amp.auto_cast`)."""

    def __setattr__(self, name: str, value: Any) -> None:
        waiting = _WAITING.get(self.__name__, set())
        if isinstance(value, types.ModuleType) and name in waiting:
            waiting.discard(name)
            if not waiting:  # other threads may be importing other children
                self.__class__ = types.ModuleType  # type: ignore[assignment]
        else:
            super().__setattr__(name, value)


# For each module that is one of the above, the children that are being imported.
_WAITING: dict[str, set[str]] = {}


def keep_namesake(name: str) -> None:
    """Called before Python writes the module of that full name into its parent."""
    parent, _, child = name.rpartition(".")
    module = sys.modules.get(parent)
    if module is None or type(module) not in (types.ModuleType, _Keeping) or child not in vars(module):
        return
    if not isinstance(vars(module)[child], types.ModuleType):
        _WAITING.setdefault(parent, set()).add(child)
        module.__class__ = _Keeping


def names_of(path: str) -> Iterator[str]:
    yield from entries(path)
    yield from (name for name in _written_names(path) if not name.startswith("__"))


def extend(module: types.ModuleType, path: str = "") -> None:
    """Lets a module of ours find the names that Paddle's module of the same path has and ours lacks."""
    path = path or module.__name__.partition(".")[2]
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")
    if getattr(own, "of_layout", False):
        return

    def __getattr__(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        value = vars(module)[name] = look_up(path, name)
        return value

    __getattr__.of_layout = True
    vars(module)["__getattr__"] = __getattr__
    # What is one file here may be a folder of Paddle's (`nn.layer`): without a path Python would not look below it.
    vars(module).setdefault("__path__", [])


class _ExtendingLoader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        extend(module)


class _LayoutLoader:
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        path = spec.name.partition(".")[2]
        return importlib.import_module(f"{OWN}.{_renamed(path)}") if _renamed(path) != path else _make(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Enters what is at hand, for programs that look into `__dict__` or import everything; the rest is looked up."""
        for name, target in entries(module.__name__.partition(".")[2]).items():
            room, _, last = target.rpartition(".")
            there = vars(sys.modules.get(f"{OWN}.{room}" if room else OWN, sys))
            if last in there and there is not vars(sys):
                vars(module)[name] = there[last]


class LayoutFinder:
    """Finds modules of the package: files, extended; and modules of Paddle that are no files here."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(f"{OWN}.") or fullname.split(".", 2)[1] in _INNER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None:
            if type(spec.loader) is importlib.machinery.SourceFileLoader:
                spec.loader = _ExtendingLoader(spec.loader.name, spec.loader.path)
            return spec
        if is_module(fullname.partition(".")[2]):
            keep_namesake(fullname)
            return importlib.machinery.ModuleSpec(fullname, _LayoutLoader(), is_package=True)  # type: ignore[arg-type]
        return None


def _make(name: str) -> types.ModuleType:
    module = LayoutModule(name, f"`paddle.{name.partition('.')[2]}`: names that live elsewhere.")
    vars(module)["__path__"] = []  # it may have parts
    return module


def layout_module(name: str) -> types.ModuleType:
    """The module of that full name, made without looking into the table."""
    return sys.modules.setdefault(name, _make(name))


def install_layout() -> None:
    """Called once, at the end of the package's own import."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{OWN}.") and name.split(".", 2)[1] not in _INNER and isinstance(module, types.ModuleType):
            extend(module)
    extend(
        sys.modules[f"{OWN}.core"], "base.core"
    )  # `paddle.core` is the C++ module, our room of that name another thing
    sys.meta_path.insert(0, LayoutFinder())
