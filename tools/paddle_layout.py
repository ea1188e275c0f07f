"""Write down which names each module of PaddlePaddle has, for `proa/compat/layout.txt`.

    python tools/paddle_layout.py > proa/compat/layout.txt     # with an interpreter that has PaddlePaddle

Programs import by path what Paddle also offers by a public name (`paddle.nn.layer.norm.LayerNorm` is
`paddle.nn.LayerNorm`). The table says where: a line is a module (without the `paddle.` in front), then its names.

    Name=nn.LayerNorm   the same object as that one
    name=nn.            the same, where the last part is the name itself
    name=/              the package
    name()              a function without another name
    Name!               a class without another name

Names alone are taken, by looking at the loaded modules: no code, no values, no documentation.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pathlib
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

# Compilers, launchers and search programs that nobody imports from; importing some of them starts things.
SKIPPED = (
    "paddle._C", "paddle._classes", "paddle._pir_ops", "paddle._typing", "paddle.api_tracer", "paddle.apy",
    "paddle.base.libpaddle.eager.ops", "paddle.base.libpaddle.pir.ops", "paddle.compat",
    "paddle.distributed.auto_parallel.static", "paddle.distributed.auto_parallel.tuner",
    "paddle.distributed.auto_tuner", "paddle.distributed.elastic",
    "paddle.distributed.fleet.base.meta_optimizer_factory", "paddle.distributed.fleet.elastic",
    "paddle.distributed.launch", "paddle.distributed.passes", "paddle.distributed.ps",
    "paddle.distributed.transpiler", "paddle.incubate.distributed", "paddle.jit.sot", "paddle.proto", "paddle.tests",
    "paddle.utils.gast",
)  # fmt: skip
# Everything in the C++ module is also in `paddle.base.core`, which is the one that programs name.
RENAMED = {"base.libpaddle": "base.core"}
# Where a name of these modules has its public namesake: the public function often wraps the inner one.
NAMESAKES = {"tensor": "", "base": "static", "framework": "static", "device": "static"}


# What makes a dotted name worse than another: not public, not where it was defined, internal, long.
Rank = tuple[bool, bool, bool, int, str]
Known = dict[int, list[tuple[Rank, str]]]


def load_modules() -> dict[str, types.ModuleType]:
    """Every module of the package that can be imported, by its full name."""
    root = pathlib.Path(importlib.import_module("paddle").__file__ or "").parent
    for path in sorted(root.rglob("*.py")):
        parts = ("paddle", *path.relative_to(root).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if parts[-1] == "__main__" or _skipped(name):
            continue
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if (name == "paddle" or name.startswith("paddle."))
        and not _skipped(name)
        and isinstance(module, types.ModuleType)
    }


def _skipped(name: str) -> bool:
    return any(name == start or name.startswith(f"{start}.") for start in SKIPPED)


def places(modules: dict[str, types.ModuleType]) -> Known:
    """For each object the dotted names that it is known by, the best first: public, where it was defined, short."""
    found: Known = {}
    for path, module in modules.items():
        declared = set(getattr(module, "__all__", None) or ())
        for name, value in own_names(module):
            if isinstance(value, types.ModuleType):
                continue
            dotted = f"{path}.{name}"
            home = getattr(value, "__module__", None) == path and getattr(value, "__name__", None) == name
            public = name in declared or path == "paddle"
            rank = (not public, not home, "._" in dotted or ".base." in dotted, dotted.count("."), dotted)
            found.setdefault(id(value), []).append((rank, dotted))
    return {key: sorted(candidates) for key, candidates in found.items()}


def own_names(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Modules, classes and functions of Paddle; imported libraries and constants are left out."""
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") and name.endswith("__"):
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__.split(".")[0] == "paddle" and not _skipped(value.__name__):
                yield name, value
        elif callable(value) and str(getattr(value, "__module__", "")).split(".")[0] in ("paddle", "libpaddle"):
            yield name, value
        elif isinstance(value, types.BuiltinFunctionType) and value.__module__ is None:
            yield name, value  # of the C++ core


def lines() -> Iterator[str]:
    modules = load_modules()
    known = places(modules)
    for path, module in modules.items():
        if path != "paddle.base.libpaddle":
            words = [_entry(path, name, value, known, modules) for name, value in own_names(module)]
            yield " ".join([_short(path) or ".", *filter(None, words)])


def _short(dotted: str) -> str:
    """A dotted name without the package, and with the C++ module's other name."""
    short = dotted.partition(".")[2]
    for old, new in RENAMED.items():
        if short == old or short.startswith(f"{old}."):
            return new + short[len(old) :]
    return short


def _entry(path: str, name: str, value: Any, known: Known, modules: dict[str, types.ModuleType]) -> str:
    if isinstance(value, types.ModuleType):
        # A module's own parts are found by their path.
        return "" if value.__name__ == f"{path}.{name}" else f"{name}={_short(value.__name__) or '/'}"
    candidates = known[id(value)]
    public = [dotted for (private, *_), dotted in candidates if not private]
    # One function may have several public names, whose counterparts here differ: the same spelling is meant.
    spelled = [dotted for dotted in public if dotted.rpartition(".")[2] == name]
    target = min(spelled, key=lambda dotted: dotted.count(".")) if spelled else candidates[0][1]
    target = _short(_namesake(path, name, modules) or target)
    if target == f"{_short(path)}.{name}".lstrip("."):
        return f"{name}!" if isinstance(value, type) else f"{name}()"
    room, _, last = target.rpartition(".")
    return f"{name}={room}." if last == name else f"{name}={target}"


def _namesake(path: str, name: str, modules: dict[str, types.ModuleType]) -> str:
    public = NAMESAKES.get(path.split(".")[1]) if "." in path else None
    if public is None or path.startswith("paddle.base.libpaddle") or path == "paddle.base.core":
        return ""
    room = "paddle." + public if public else "paddle"
    return f"{room}.{name}" if name in getattr(modules[room], "__all__", ()) else ""


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        text = "\n".join(lines())
    print(text)
