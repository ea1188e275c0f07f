"""Every public name of proa: functions, classes and methods, each once, with the shortest path that leads to it.

    python -m tools.public_names                      # how many there are, and how many have a docstring and an example
    python -m tools.public_names --missing proa.nn    # those below proa.nn that lack one

A name is public where a namespace that users import from has it, without a leading underscore, and where its source lies in
this package. What a namespace's `__all__` leaves out is not public. A method is public where its class is, and is
counted at the class that defines it, itself or by a part (a base class with `_part_of`).
"""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PACKAGE = "proa"
# The namespaces that users import from: Paddle's, then our own.
NAMESPACES = """
    amp amp.debugging audio audio.backends audio.datasets audio.features audio.functional autograd callbacks compat
    compat.nn compat.nn.functional cost_model cuda device device.cuda device.custom_device device.xpu distributed
    distributed.communication.stream distributed.fleet distributed.fleet.base.topology distributed.fleet.utils
    distributed.fsdp distributed.passes distributed.rpc distributed.sharding distribution distribution.chi2
    distribution.kl distribution.lkj_cholesky distribution.transform fft functional geometric hub incubate
    incubate.asp incubate.autograd incubate.autotune incubate.cc incubate.cc.compiler incubate.cc.fuse
    incubate.cc.typing incubate.nn incubate.nn.functional incubate.optimizer incubate.optimizer.functional inference
    io jit linalg metric nn nn.attention nn.functional nn.initializer nn.initializer.lazy_init nn.quant
    nn.quant.quant_layers nn.utils onnx optimizer optimizer.lr profiler quantization quantization.observers
    quantization.quanters random regularizer signal sparse sparse.creation sparse.nn sparse.nn.functional special
    static static.nn sysconfig text utils utils.cpp_extension utils.dlpack utils.download utils.unique_name version
    vision vision.datasets vision.models vision.ops vision.transforms llm serving ocr convert compress export debug
""".split()  # noqa: SIM905 - a list of a hundred strings is harder to read


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
    for path, value in reachable():
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


def reachable() -> Iterator[tuple[str, Any]]:
    """Every path that leads to a public function or class, with what is there; one thing may have several."""
    for path in (PACKAGE, *(f"{PACKAGE}.{namespace}" for namespace in NAMESPACES)):
        module = find_namespace(path)
        listed = getattr(module, "__all__", None)
        for name in sorted(name for name in (dir(module) if listed is None else listed) if not name.startswith("_")):
            value = getattr(module, name)
            if callable(value) and _is_ours(value):
                yield f"{path}.{name}", value


def find_namespace(path: str) -> Any:
    """A module, or an object that stands for one."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, name = path.rpartition(".")
        return getattr(find_namespace(parent), name)


def _is_ours(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    if module.startswith(f"{PACKAGE}.compat.paddle."):
        return False  # Paddle's inner names
    return module.split(".")[0] == PACKAGE and (
        inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__name__")
    )


def own_members(owner: type) -> dict[str, Any]:
    """What a class defines, in its own body or in those of its parts: base classes that say `_part_of = "<its name>"`."""
    found: dict[str, Any] = {}
    for part in reversed(owner.__mro__):
        if part is owner or vars(part).get("_part_of") == owner.__name__:
            found.update(vars(part))
    return found


def _methods(owner: PublicName) -> Iterator[PublicName]:
    for name, value in sorted(own_members(owner.value).items()):
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
    if isinstance(value, property):  # its own, which may not be that of the function behind it
        return value.__doc__
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
