"""`paddle.enable_compat()`: from then on `import torch` gives this package.

A finder in `sys.meta_path` answers for `torch` and what is below it with stand-in modules. A stand-in looks a name up in
`paddle.compat` first (PyTorch's signatures), then in `paddle`. A real `torch` that was imported before is put aside
meanwhile.

With `scope`, only imports written in the named modules (and below them) are answered, and those in `blocked_modules`
never are. Python looks into `sys.modules` before it asks a finder, so the two kinds of modules take turns there: for the
length of an import statement it holds those that the importing module is to see.
"""

from __future__ import annotations

import builtins
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
                return _stand_in(f"{self.__name__}.{name}")
            if value is not None:
                return value
        raise AttributeError(f"module {self.__name__!r} (here {_own_name(self.__name__)}) has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        names: set[str] = set()
        for package in (f"{_OWN}.compat", _OWN):
            names.update(dir(sys.modules.get(_own_name(self.__name__, package))))
        return sorted(names)


def _stand_in(name: str) -> types.ModuleType:
    """The stand-in module of that full name, made when first asked for."""
    found = _state["ours"].get(name)
    if found is None:
        found = _state["ours"][name] = _StandIn(name, f"`{_own_name(name)}` under another name.")
        version = getattr(sys.modules.get(_OWN), "__version__", None)
        if version is not None:
            vars(found)["__version__"] = version
        if _state["visible"] == "ours":
            sys.modules[name] = found
    return found


class _Finder:
    """Answers imports of the other package; also the loader of what it finds."""

    def __init__(self, scope: frozenset[str] | None, blocked: frozenset[str]) -> None:
        self.scope = scope
        self.blocked = blocked

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != _OTHER or not self.answers(_importing_module()):
            return None
        if fullname != _OTHER and _find(_own_name(fullname)) is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]
        return spec

    def answers(self, importer: str) -> bool:
        """Whether an import written in that module is answered."""
        if _within(importer, self.blocked):
            return False
        return self.scope is None or _within(importer, self.scope)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _stand_in(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run: a stand-in looks its names up."""


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


# The finder in force; stand-ins and the modules of a real `torch`; which of the two `sys.modules` holds now.
_state: dict[str, Any] = {"finder": None, "ours": {}, "theirs": {}, "visible": "theirs"}
_import, _import_module = builtins.__import__, importlib.import_module


def _show(side: str) -> None:
    """Lets `sys.modules` hold the stand-ins ("ours") or the real modules ("theirs")."""
    if side == _state["visible"]:
        return
    loaded = [name for name in sys.modules if name.partition(".")[0] == _OTHER]
    _state[_state["visible"]] = {name: sys.modules.pop(name) for name in loaded}
    _state["visible"] = side
    sys.modules.update(_state[side])


@contextlib.contextmanager
def _as_seen_by(importer: str) -> Iterator[None]:
    """`sys.modules` for the length of an import statement of a module."""
    finder, before = _state["finder"], _state["visible"]
    _show("ours" if finder is not None and finder.answers(importer) else "theirs")
    try:
        yield
    finally:
        _show(before)


def _scoped_import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> types.ModuleType:
    if level or name.partition(".")[0] != _OTHER:
        return _import(name, globals, locals, fromlist, level)
    with _as_seen_by((globals or {}).get("__name__", "")):
        return _import(name, globals, locals, fromlist, level)


def _scoped_import_module(name: str, package: str | None = None) -> types.ModuleType:
    if name.partition(".")[0] != _OTHER:
        return _import_module(name, package)
    with _as_seen_by(_importing_module()):
        return _import_module(name, package)


def _install(finder: _Finder | None) -> None:
    """Makes `finder` the one in force (None: none), with the right modules loaded."""
    if _state["finder"] is not None:
        sys.meta_path.remove(_state["finder"])
        _show("theirs")
        _state["ours"] = {}
        if builtins.__import__ is _scoped_import:
            builtins.__import__, importlib.import_module = _import, _import_module
    _state["finder"] = finder
    if finder is not None:
        sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
        _apply(finder)


def _apply(finder: _Finder) -> None:
    """Brings what `sys.modules` holds, and how imports are done, in line with the finder's scope."""
    _show("ours" if finder.scope is None else "theirs")
    if (finder.scope is not None or finder.blocked) and builtins.__import__ is _import:
        builtins.__import__, importlib.import_module = _scoped_import, _scoped_import_module


def _names(value: Any) -> frozenset[str] | None:
    return None if value is None else frozenset([value] if isinstance(value, str) else value)


@public()
def enable_compat(
    *, scope: Any = None, blocked_modules: Any = None, backend: str = "torch", silent: bool = False
) -> None:
    """Lets `import torch` give this package, everywhere or only in some modules.

    Args:
        scope: names of the modules that it holds for; all by default.
        blocked_modules: names of modules whose imports are left alone.
        backend: what is imported instead; "torch".
        silent: say nothing about it.

    Examples:
        >>> paddle.enable_compat(silent=True)
        >>> import torch
        >>> torch.ones(2).tolist()
        [1.0, 1.0]
        >>> paddle.disable_compat()
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
    _apply(current)


@public()
def disable_compat() -> None:
    """Ends `enable_compat`: `import torch` means PyTorch again.

    Examples:
        >>> paddle.enable_compat(silent=True)
        >>> paddle.disable_compat()
    """
    if _state["finder"] is None:
        warnings.warn("(disable_compat) it is not enabled.", stacklevel=2)
        return
    _install(None)


@public()
@contextlib.contextmanager
def use_compat_guard(*, enable: bool = True, scope: Any = None, silent: bool = False) -> Iterator[None]:
    """`enable_compat`, or its absence, for a block; what was in force before comes back after it.

    Args:
        enable: whether `import torch` gives this package inside.
        scope: names of the modules that it holds for; all by default.
        silent: say nothing about it.

    Examples:
        >>> with paddle.use_compat_guard(silent=True):
        ...     import torch
        >>> torch.ones(2).tolist()
        [1.0, 1.0]
    """
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
