"""PyTorch's orders of arguments, which Paddle's functions of indices take beside their own.

`gather(x, dim, index)` and `scatter(x, dim, index, src)` are other functions than `gather(x, index, axis)` and
`scatter(x, index, updates)`: one element for each element of `index`, not one row. A call is in PyTorch's order when it
names `dim` (or another parameter that only PyTorch's has), or has a number where Paddle's has the index.
"""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.calling import MISSING
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place

_REDUCTIONS = {None: "assign", "add": "add", "multiply": "multiply"}


def _has_number(arguments: tuple[Any, ...]) -> bool:
    return len(arguments) > 1 and isinstance(arguments[1], int)


def gather_by_dim(*arguments: Any, **named: Any) -> Any:
    """`gather(x, dim, index)`."""
    if _has_number(arguments) or ("dim" in named and len(arguments) < 2):
        return _gather(*arguments, **_with_input(named))
    return MISSING


def _gather(input: Tensor, dim: Any, index: Tensor, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    from .along import take_along_axis

    return take_along_axis(input, index, dim, False, out=out)


def scatter_by_dim(*arguments: Any, **named: Any) -> Any:
    """`scatter(x, dim, index, src)`."""
    if _has_number(arguments) or not {"dim", "src", "value", "reduce"}.isdisjoint(named):
        return _scatter(*arguments, **_with_input(named))
    return MISSING


def _scatter(
    input: Tensor,
    dim: Any,
    index: Tensor,
    src: Any = None,
    reduce: str | None = None,
    *,
    value: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    from .along import put_along_axis

    if reduce not in _REDUCTIONS:
        raise value_error("scatter", "reduce is None, 'add' or 'multiply'", f"reduce: {reduce!r}")
    if (src is None) == (value is None):
        raise value_error("scatter", "one of src and value is needed", f"src: {src}, value: {value}")
    numbers = value if src is None else src
    if (
        isinstance(numbers, Tensor)
        and numbers._aval.shape != index._aval.shape
        and numbers._aval.ndim == index._aval.ndim
    ):
        numbers = numbers[tuple(slice(0, size) for size in index._aval.shape)]  # what lies beyond the index is not used
    result = put_along_axis(input, index, numbers, dim, _REDUCTIONS[reduce], True, False)
    return result if out is None else assign_in_place(out, result, "scatter")


def index_select_by_dim(*arguments: Any, **named: Any) -> Any:
    """`index_select(x, dim, index)`."""
    if not _has_number(arguments):
        return MISSING
    from .gather import index_select

    x, dim, *index = arguments
    return index_select(x, *index, axis=dim, **named)


def index_add_by_dim(*arguments: Any, **named: Any) -> Any:
    """`index_add(x, dim, index, source)`."""
    if _has_number(arguments) or "source" in named:
        return _index_add(*arguments, **_with_input(named))
    return MISSING


def _index_add(
    input: Tensor, dim: Any, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    from .gather import index_add

    return index_add(input, index, dim, source, alpha, out=out)


def _with_input(named: dict[str, Any]) -> dict[str, Any]:
    """Named arguments under PyTorch's names."""
    names = {"x": "input", "axis": "dim"}
    return {names.get(name, name): value for name, value in named.items()}
