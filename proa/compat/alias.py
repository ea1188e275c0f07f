"""`import paddle` gives this package: the same module objects under both names.

A finder in front of `sys.meta_path` answers for `paddle` and everything below it by importing `proa` and what is below
that. Other processes are reached by PYTHONPATH: the folder `path` beside this file holds a package `paddle` that does the
same when it is imported, and the metadata of a distribution `paddlepaddle` (`importlib.metadata.version`).
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

from ..version import full_version
from .layout import keep_namesake

OWN, OTHER = "proa", "paddle"
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")  # as `proa run` finds it, see proa_command


def install() -> None:
    """From now on `import paddle` gives this package, here and in the processes that are started from here.

    Call it before anything imports paddle. Calling it again changes nothing.

    Examples:
        >>> import proa.compat
        >>> proa.compat.install()  # doctest: +SKIP
        >>> import paddle  # doctest: +SKIP
    """
    from proa_command.run import announce  # the command: it is not needed before

    take_over()
    announce(os.environ)
    if FOLDER not in sys.path:
        sys.path.insert(1, FOLDER)  # behind the script's own folder, which programs take sys.path[0] to be


def take_over() -> None:
    """Makes `import paddle` mean this package in this process."""
    own = importlib.import_module(OWN)
    there = sys.modules.get(OTHER)
    if there is not None and there is not own and getattr(there, "__file__", None) != _SHIM:
        raise RuntimeError(
            f"(compat.install) paddle is already imported, from {getattr(there, '__file__', 'somewhere else')}, and a "
            "process has one paddle; call proa.compat.install() before the first import of paddle, or start the program "
            "with `proa run`."
        )
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())
    sys.modules[OTHER] = own
    vars(own)["__version__"] = full_version  # programs compare it with the Paddle they need


_SHIM = os.path.join(FOLDER, OTHER, "__init__.py")


def _own_name(name: str) -> str:
    return OWN + name[len(OTHER) :]


class AliasFinder:
    """Finds `paddle.x.y` where `proa.x.y` is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != OTHER and not fullname.startswith(f"{OTHER}."):
            if fullname == "pip":
                _load_setuptools()
            return None
        own = _own_name(fullname)
        loaded = sys.modules.get(own)
        origin = importlib.util.find_spec(own) if loaded is None else loaded.__spec__
        if loaded is None and origin is None:
            return None
        # A module that is loaded keeps its own `__path__`; runpy asks the spec whether there is a `__main__` to look for.
        spec = importlib.machinery.ModuleSpec(fullname, AliasLoader(origin))  # type: ignore[arg-type]
        spec.submodule_search_locations = (
            origin.submodule_search_locations if origin else getattr(loaded, "__path__", None)
        )
        return spec


def _load_setuptools() -> None:
    """`import paddle` has always brought setuptools, which cannot be imported any more once pip was (Python 3.11)."""
    if sys.version_info < (3, 12):
        with contextlib.suppress(ImportError):
            importlib.import_module("setuptools")


class AliasLoader:
    """Loads a module by handing out the one of the other name."""

    def __init__(self, origin: importlib.machinery.ModuleSpec | None) -> None:
        self.origin = origin
        self.own_spec: importlib.machinery.ModuleSpec | None = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(_own_name(spec.name))
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        # Python has just written the alias's spec into the module; it has run long ago, under its own.
        module.__spec__ = self.own_spec
        keep_namesake(module.__name__)

    def get_code(self, fullname: str) -> types.CodeType | None:
        """For `python -m paddle.x`."""
        loader = self.origin.loader if self.origin else None
        return loader.get_code(_own_name(fullname)) if hasattr(loader, "get_code") else None  # type: ignore[union-attr]
