"""How many parameters of public functions say nothing: those annotated `Any`, or not at all.

    python -m tools.typed_parameters               # the share
    python -m tools.typed_parameters --check 10    # and whether it is below so many per cent
    python -m tools.typed_parameters --list proa.nn

Functions, methods and constructors of public names are counted (`tools/public_names.py`), each once, without `self`, and
without `*args` and `**kwargs`, which take whatever comes.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tools.public_names import public_names


def parameters() -> Iterator[tuple[str, str, str]]:
    """Path of the function, name of the parameter, its annotation ("" where it has none)."""
    seen: set[int] = set()
    for public in public_names():
        value = _constructor(public.value) if public.kind == "class" else public.value
        if isinstance(value, property) or value is None or id(value) in seen:
            continue
        seen.add(id(value))
        function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        try:
            found = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            continue
        is_bound = public.kind in ("class", "method") and not isinstance(value, staticmethod)
        for parameter in found[is_bound:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            yield public.name, parameter.name, _text(parameter.annotation)


def _constructor(kind: type) -> Any:
    """How a class is made, where that is said in this package; classes that share a private base count it once."""
    for base in kind.__mro__:
        if "__init__" in vars(base):
            return vars(base)["__init__"] if base.__module__.partition(".")[0] == "proa" else None
    return None


def _text(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def says_nothing(annotation: str) -> bool:
    return annotation in ("", "Any", "Any | None", "object")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", type=float, metavar="PERCENT", help="fail unless the share is below this")
    parser.add_argument("--list", nargs="*", metavar="PREFIX", help="name the parameters")
    parser.add_argument("--names", action="store_true", help="count them by their names")
    options = parser.parse_args()
    every = list(parameters())
    silent = [(path, name) for path, name, annotation in every if says_nothing(annotation)]
    share = 100 * len(silent) / len(every)
    if options.list is not None:
        for path, name in silent:
            if not options.list or path.startswith(tuple(options.list)):
                print(f"{path}({name})")
    if options.names:
        for name, count in Counter(name for _, name in silent).most_common():
            print(f"{count:5} {name}")
    print(f"{len(silent)} of {len(every)} parameters of public functions are `Any`: {share:.1f} %")
    return int(options.check is not None and share >= options.check)


if __name__ == "__main__":
    sys.exit(main())
