"""`paddle.enable_compat()`: from then on `import torch` gives this package.

A finder in `sys.meta_path` answers for `torch` and what is below it with stand-in modules. A stand-in looks a name up in
`paddle.compat` first (PyTorch's signatures), then in `paddle`. With `scope`, only imports written in the named modules
(and below them) are answered; once loaded, the stand-in is in `sys.modules` for everybody until `disable_compat()`. A
real `torch` that was imported before is put aside meanwhile.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import sys
import types
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..core.errors import value_error
from ..eager.declare import public

_OWN = __name__.partition(".")[0]
_OTHER = "torch"


def _own_name(name: str, package: str = _OWN) -> str:
    return package + name[len(_OTHER) :]


def _find(name: str) -> types.ModuleType | None:
    """The module by its full name, loaded or not; None if there is none."""
    found = sys.modules.get(name)
    if found is not None:
        return found
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


class _StandIn(types.ModuleType):
    """A module of the other name, with this package's things in it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        for package in (f"{_OWN}.compat", _OWN):
            module = sys.modules.get(_own_name(self.__name__, package))
            value = getattr(module, name, None)
            if isinstance(value, types.ModuleType) and value.__name__.startswith(f"{_OWN}."):
                return importlib.import_module(f"{self.__name__}.{name}")
            if value is not None:
                return value
        raise AttributeError(f"module {self.__name__!r} (here {_own_name(self.__name__)}) has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        names: set[str] = set()
        for package in (f"{_OWN}.compat", _OWN):
            names.update(dir(sys.modules.get(_own_name(self.__name__, package))))
        return sorted(names)


class _Finder:
    """Answers imports of the other package; also the loader of what it finds."""

    def __init__(self, scope: frozenset[str] | None, blocked: frozenset[str]) -> None:
        self.scope = scope
        self.blocked = blocked

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != _OTHER or not self._answers():
            return None
        if fullname != _OTHER and _find(_own_name(fullname)) is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]
        return spec

    def _answers(self) -> bool:
        importer = _importing_module()
        if _within(importer, self.blocked):
            return False
        return self.scope is None or _within(importer, self.scope)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name, f"`{_own_name(spec.name)}` under another name.")

    def exec_module(self, module: types.ModuleType) -> None:
        version = getattr(sys.modules.get(_OWN), "__version__", None)
        if version is not None:
            module.__version__ = version  # type: ignore[attr-defined]


def _importing_module() -> str:
    """The name of the module whose import statement is running."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != __name__ and not name.startswith("importlib") and "importlib" not in frame.f_code.co_filename:
            return name
        frame = frame.f_back
    return ""


def _within(name: str, modules: Iterable[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


# The finder in force, and the modules of a real `torch` that were loaded before it.
_state: dict[str, Any] = {"finder": None, "aside": {}}


def _loaded() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == _OTHER]


def _install(finder: _Finder | None) -> None:
    """Makes `finder` the one in force (None: none), with the right modules loaded."""
    if _state["finder"] is not None:
        sys.meta_path.remove(_state["finder"])
        for name in _loaded():
            del sys.modules[name]
        sys.modules.update(_state["aside"])
        _state["aside"] = {}
    _state["finder"] = finder
    if finder is not None:
        _state["aside"] = {name: sys.modules.pop(name) for name in _loaded()}
        sys.meta_path.insert(0, finder)  # type: ignore[arg-type]


def _names(value: Any) -> frozenset[str] | None:
    return None if value is None else frozenset([value] if isinstance(value, str) else value)


@public()
def enable_compat(
    *, scope: Any = None, blocked_modules: Any = None, backend: str = "torch", silent: bool = False
) -> None:
    """Lets `import torch` give this package, everywhere or only in the modules named by `scope`.

    Imports written in `blocked_modules` are left alone.
    """
    if backend != "torch":
        raise value_error("enable_compat", "the only backend is 'torch'", f"backend: {backend!r}")
    wanted, blocked = _names(scope), _names(blocked_modules) or frozenset()
    current: _Finder | None = _state["finder"]
    if current is None:
        _install(_Finder(wanted, blocked))
        return
    current.blocked |= blocked
    if current.scope is None and wanted is not None:
        if not silent:
            warnings.warn("(enable_compat) it is enabled everywhere already; the scope is ignored.", stacklevel=2)
    elif current.scope is not None:
        current.scope = None if wanted is None else current.scope | wanted


@public()
def disable_compat() -> None:
    """Ends `enable_compat`: `import torch` means PyTorch again."""
    if _state["finder"] is None:
        warnings.warn("(disable_compat) it is not enabled.", stacklevel=2)
        return
    _install(None)


@public()
@contextlib.contextmanager
def use_compat_guard(*, enable: bool = True, scope: Any = None, silent: bool = False) -> Iterator[None]:
    """`enable_compat` (or its absence) for the block; what was in force before comes back after it."""
    before: _Finder | None = _state["finder"]
    kept = None if before is None else (before.scope, before.blocked)
    if enable:
        enable_compat(scope=scope, silent=silent)
    elif before is not None:
        _install(None)
    try:
        yield
    finally:
        if kept is not None:
            restored = _Finder(*kept)
            _install(restored)
        elif _state["finder"] is not None:
            _install(None)
