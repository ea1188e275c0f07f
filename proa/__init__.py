"""proa: PaddlePaddle's API on OpenXLA. `import proa as paddle`."""

from __future__ import annotations

import gc as _gc
import importlib as _importlib
import typing as _typing

from ._namespace import LAZY_MODULES as _LAZY_MODULES
from ._namespace import LAZY_NAMES as _LAZY_NAMES
from ._namespace import collect as _collect
from .core.tracebacks import install as _install_tracebacks


def __getattr__(name: str) -> _typing.Any:
    """Areas that are imported when first asked for; the rest of the namespace is collected below."""
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"proa.{name}")
    if name in _LAZY_NAMES:
        found = globals()[name] = getattr(_importlib.import_module(f"proa.{_LAZY_NAMES[name]}"), name)
        return found
    found = globals()[name] = globals()["compat"].layout.look_up("", name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_NAMES})


# Nearly all that importing makes stays for good, and every full run of the garbage collector would look at it again (tens of
# milliseconds; recording makes many objects): it is not looked for garbage meanwhile, and not looked at afterwards.
_collecting = _gc.isenabled()
_gc.disable()
try:
    _collect(globals())
    _install_tracebacks()
    _gc.freeze()
finally:
    if _collecting:
        _gc.enable()
del _collecting
