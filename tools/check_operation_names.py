"""Check that what is said about an operation is said where it is declared: nobody else keeps lists of operations' names.

    python tools/check_operation_names.py            # checks proa/
    python tools/check_operation_names.py some/tree  # checks another package laid out like it

A list is a collection, or a text of words, most of whose entries are names of declared operations. What others want to know
about operations is a trait (`proa/ir/traits.py`), which the declaration gives. The tables of file formats stay lists, and
so do the few named in `ALLOWED`, with their reasons.

The source is only parsed, never executed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

# Fewer names than this are a pattern that is looked for, or a coincidence; and so are names among many other words.
_FEWEST = 4
_SHARE = 0.6

ALLOWED = {
    "formats/": "Paddle's file formats have operators of their own",
    "onnx/": "so has ONNX",
    "convert/": "and so have the models that are read from other libraries",
    "kernels/cpu/fused.py": "the order of activations in native/epilogue.h",
    "ops/graph/pooling.py": "the kinds of pooling that users name",
    "core/expressions.py": "functions of sizes, not of tensors",
}


def declared_names(package: Path) -> set[str]:
    """The names of all operations that are declared with `@op`."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef):
                found.update(_name_given(call, node.name) for call in node.decorator_list if _is_declaration(call))
            elif isinstance(node, ast.Call) and _is_declaration(node.func):
                found.add(_name_given(node.func, ""))
    return found - {""}


def _is_declaration(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "op"


def _name_given(call: ast.expr, default: str) -> str:
    assert isinstance(call, ast.Call)
    for keyword in call.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return default


def problems(package: Path) -> Iterator[str]:
    names = declared_names(package)
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).as_posix()
        if any(inside.startswith(entry) if entry.endswith("/") else inside == entry for entry in ALLOWED):
            continue
        for line, found in lists_of_names(ast.parse(path.read_bytes()), names):
            yield (
                f"{path}:{line}: a list of operations ({', '.join(sorted(found)[:4])} …): say it where they are declared, "
                "with a trait of proa/ir/traits.py."
            )


def lists_of_names(tree: ast.Module, names: set[str]) -> Iterator[tuple[int, set[str]]]:
    for node in ast.walk(tree):
        if _is_of_exports(node):
            continue
        entries = _entries(node)
        found = names.intersection(entries)
        if len(found) >= _FEWEST and len(found) >= _SHARE * len(set(entries)):
            yield node.lineno, found  # type: ignore[attr-defined]


def _is_of_exports(node: ast.AST) -> bool:
    """A list of names that a module exports; its parts are not looked at."""
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
        for part in ast.walk(node.value):
            part.is_export = True  # type: ignore[attr-defined]
    return getattr(node, "is_export", False)


def _entries(node: ast.AST) -> list[str]:
    """The texts in a collection; the words of a text that is no sentence."""
    if isinstance(node, ast.Dict):
        parts: list[ast.expr] = [key for key in node.keys if key is not None]
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        parts = node.elts
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    else:
        return []
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def main(arguments: list[str]) -> int:
    package = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "proa"
    if not package.is_dir():
        print(f"{package} is not a folder: name the package to check.", file=sys.stderr)
        return 2
    found = list(problems(package))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
