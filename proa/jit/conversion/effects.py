"""What a graph does besides computing: checks that raise, values that are printed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...eager.declare import op
from ...eager.tensor import Tensor, wrap
from ...ir.operation import Check
from .state import Site

# Errors that checks raise, by kind: an operation's check has one type.
_CHECKS: dict[type, Any] = {}


def _holds(xp: Any, good: Any, text: str, line: str) -> Any:
    return xp.all(good)


def _explain(_kinds: Any, attributes: tuple[Any, ...]) -> str:
    return f"{attributes[0] or 'the assertion does not hold'} (at {attributes[1]})"


def _same(_operation: Any, kinds: Any, _attributes: Any, _place: Any) -> Aval:
    return kinds[0]


def check(good: Tensor, error: BaseException, site: Site) -> Tensor:
    """Raises an error of this type, with this text, when the graph runs and `good` is false."""
    kind: Any = type(error) if isinstance(error, Exception) else RuntimeError
    operation = _CHECKS.get(kind)
    if operation is None:
        checked = Check(_holds, _explain, kind, (0,))
        declare = op("good", infer=_same, check=checked, name=f"assert_{kind.__name__}_{len(_CHECKS)}")
        operation = _CHECKS[kind] = declare(_passed)
    return operation(good, str(error), f"{site.filename}:{site.line}")


def _passed(xp: Any, good: Any, text: str, line: str) -> Any:
    """Its operand, which must be true."""
    return good


@op("arrays", variadic=True, outputs="list", name="print", infer=lambda _o, kinds, _a, _p: tuple(kinds), effect=True)
def print_values(xp: Any, arrays: list[Any], parts: tuple[Any, ...], separator: str, end: str) -> Any:
    """Prints texts and arrays when it runs, and passes the arrays on."""
    if xp is np:
        _show(parts, separator, end, *arrays)
    else:
        import jax

        jax.debug.callback(lambda *values: _show(parts, separator, end, *values), *arrays)
    return tuple(arrays)


def _show(parts: tuple[Any, ...], separator: str, end: str, *arrays: Any) -> None:
    values = iter(arrays)
    shown = [wrap(np.asarray(next(values))) if part is None else part for part in parts]
    print(*shown, sep=separator, end=end)


def graph_print(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """`print` with tensors of the graph: it prints at each run."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    parts = tuple(None if isinstance(value, Tensor) else str(value) for value in values)
    print_values(tensors, parts, sep if sep is not None else " ", end if end is not None else "\n")
