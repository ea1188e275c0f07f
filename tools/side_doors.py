"""Ways past the check of imports: modules reached by name instead of by an import statement.

`import_module`, `__import__` and `sys.modules` with the name of a module of the package are judged as an import of it would
be; packages from elsewhere and a module's own package are free. A name that is not known before the program runs is a door,
and so is a function `provide` that is handed something from above: doors stand in `SIDE_DOORS` with a reason each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.check_imports import TOP_FILES, Checker, Problem

# File, or folder with a slash at its end: why names of modules are worked out there.
SIDE_DOORS: dict[str, str] = {
    "proa/_namespace.py": "collects what all rooms declare; it stands above them",
    "proa/compat/": "answers `import paddle`: modules by name are what it is about",
    "proa/cli/accelerators.py": "asks whether packages that the user may have installed can be imported",
    "proa/cli/convert.py": "a module that the user names on the command line",
    "proa/cli/script.py": "looks up names that a user's script mentions",
    "proa/core/tracebacks.py": "finds the files of packages whose frames are left out of tracebacks",
    "proa/device/handle.py": "a module of this room, or `proa.cuda` that the namespace makes, by kind of device",
    "proa/eager/dispatch.py": "`provide`: promotion casts, and operations are declared above the dispatcher",
    "proa/eager/backward/engine.py": "`provide`: the engine adds up gradients, and operations are declared above it",
    "proa/eager/instrument.py": "observers reach layers and optimisers that a program has imported, without importing them",
    "proa/formats/paddle/reading/functions.py": "operators of detection models are those of paddle.vision, above this room",
    "proa/hapi/callbacks/writers.py": "looks for one of several packages that write logs",
    "proa/hub/repository.py": "modules of a user's repository, and which of them its import brought",
    "proa/inference/engines/foreign.py": "packages of other engines, by the name that each engine states",
    "proa/io/dataloader/batch_sampler.py": "asks paddle.distributed for the rank only where a program has imported it",
    "proa/io/workers/hygiene.py": "keeps a worker process from importing what it must not",
    "proa/serving/host.py": "asks whether the packages of an extra are installed",
    "proa/static/nn/convolution.py": "the static form of an operation of paddle.vision, above this room",
    "proa/utils/helpers.py": "`try_import` is Paddle's function that imports what the user names",
}


class SideDoors:
    """Finds the doors of one package."""

    def __init__(self, package: Path, allowed: Mapping[str, str] = SIDE_DOORS) -> None:
        self.package = package
        self.allowed = allowed
        self._checker = Checker(package)

    def problems(self) -> Iterator[Problem]:
        used: set[str] = set()
        for path in sorted(self.package.rglob("*.py")):
            shown = path.relative_to(self.package.parent)
            if shown.parts[1] in TOP_FILES:
                continue
            entry = self._entry(shown)
            for line, sentence in self._doors(shown, ast.parse(path.read_text(encoding="utf-8"))):
                if entry is None:
                    yield Problem(shown, line, sentence)
                else:
                    used.add(entry)
        for entry in sorted(self.allowed.keys() - used):
            yield Problem(Path(entry), 1, "there is no side door here any more: take it out of SIDE_DOORS.")

    def _entry(self, shown: Path) -> str | None:
        text = shown.as_posix()
        found = (entry for entry in self.allowed if text == entry or (entry.endswith("/") and text.startswith(entry)))
        return next(found, None)

    def _doors(self, shown: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "provide":
                yield node.lineno, "`provide` lets rooms above hand something down past the check of imports."
                continue
            target = _target(node)
            if target is not None:
                sentence = self._judge(shown, target)
                if sentence:
                    yield target.lineno, sentence

    def _judge(self, shown: Path, target: ast.expr) -> str | None:
        start = _known_start(target)
        if start is None:
            return "a module is reached by a name that is worked out: import it, or give a reason in SIDE_DOORS."
        parts = start.split(".")
        if parts[0] != self.package.name:
            return None  # its own package, or one from elsewhere
        if len(parts) == 1:
            return "the whole package is reached by name: import what is needed from the module that defines it."
        own = shown.parts[1].removesuffix(".py")
        return self._checker.judge(own, parts[1])


def _target(node: ast.AST) -> ast.expr | None:
    """What names the module, where one is imported or looked up by name."""
    if isinstance(node, ast.Call) and node.args:
        called = ast.unparse(node.func)
        if called in ("importlib.import_module", "import_module", "_importlib.import_module", "__import__"):
            return node.args[0]
        if called in ("sys.modules.get", "sys.modules.pop", "sys.modules.setdefault"):
            return node.args[0]
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules":
        return node.slice
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[-1]) == "sys.modules":
        return node.left
    return None


def _known_start(target: ast.expr) -> str | None:
    """The part of a module's name that stands in the source; empty for names below the module's own."""
    if isinstance(target, ast.Constant) and isinstance(target.value, str):
        return target.value
    if isinstance(target, ast.Name) and target.id == "__name__":
        return ""
    if isinstance(target, ast.JoinedStr) and target.values:
        first = target.values[0]
        if isinstance(first, ast.FormattedValue):
            return _known_start(first.value)
        return str(first.value) if isinstance(first, ast.Constant) else None
    return None
