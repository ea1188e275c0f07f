"""Windows for signals (`hann_window` and its like), and positions: `range`, `tril_indices`, `triu_indices`.

All of these are small and depend on plain numbers alone, so they are computed on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import INT32, INT64, default_float, is_floating, to_numpy_dtype
from ...core.errors import runtime_error, type_error, value_error
from ...eager.annotations import DeviceLike, DTypeLike, Number
from ...eager.declare import public
from ...eager.samples import S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import finish
from ..math.statistics.counting import count_from
from .creation import real_of, scalar_of

# ---- windows -------------------------------------------------------------------------------------


def _window(
    where: str,
    length: Any,
    periodic: bool,
    shape: Callable[[np.ndarray], np.ndarray],
    dtype: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """A window from its curve over [0, 1]. A periodic one is the symmetric one of one more point, without the last."""
    if not isinstance(length, (int, np.integer)) or isinstance(length, bool) or length < 0:
        raise type_error(where, "window_length must be an integer, not negative", f"window_length: {length!r}")
    wanted = default_float() if dtype is None else to_numpy_dtype(dtype)
    if not is_floating(wanted):
        raise type_error(where, "a window has a floating type", f"dtype: {dtype}")
    count = int(length)
    points = count + 1 if periodic else count
    values = np.ones(count) if count <= 1 else shape(np.arange(count) / (points - 1))
    return finish(tensor_from_data(values.astype(wanted)), None, device, requires_grad)


def _cosines(*coefficients: float) -> Callable[[np.ndarray], np.ndarray]:
    """The sum of cosines with alternating signs."""

    def shape(t: np.ndarray) -> np.ndarray:
        terms = [(-1) ** k * a * np.cos(2 * np.pi * k * t) for k, a in enumerate(coefficients)]
        return np.sum(terms, axis=0)

    return shape


def _periodic(window: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's symmetric windows as references."""

    def reference(length: int, periodic: bool = True, *rest: Any, dtype: str = "float32") -> Any:
        if length <= 1:
            return np.ones(length, dtype)
        return (window(length + 1, *rest)[:-1] if periodic else window(length, *rest)).astype(dtype)

    return reference


_SAMPLES = (S(5), S(5, False), S(1), S(0), S(4, dtype="float64"))


@samples(*_SAMPLES, reference=_periodic(np.bartlett))
@public()
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike = "float32",
    layout: str | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle with zero ends.

    Args:
        window_length: the number of elements.
        periodic: leave out the last element, so that windows may follow each other.
        dtype: the type.
        layout: accepted; windows are dense.
        device: where the result lies; the current device by default.
        pin_memory: accepted; memory is pinned by XLA where it helps.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.bartlett_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    return _window(
        "bartlett_window", window_length, periodic, lambda t: 1 - np.abs(2 * t - 1), dtype, device, requires_grad
    )


@samples(*_SAMPLES, reference=_periodic(np.blackman))
@public()
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike = "float32",
    layout: str | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The sum of three cosines that Blackman proposed.

    Args:
        window_length: the number of elements.
        periodic: leave out the last element, so that windows may follow each other.
        dtype: the type.
        layout: accepted; windows are dense.
        device: where the result lies; the current device by default.
        pin_memory: accepted; memory is pinned by XLA where it helps.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.blackman_window(5, periodic=False).numpy().round(2)[1:4]
        array([0.34, 1.  , 0.34], dtype=float32)
    """
    return _window("blackman_window", window_length, periodic, _cosines(0.42, 0.5, 0.08), dtype, device, requires_grad)


@samples(
    *_SAMPLES,
    S(6, True, 0.6, 0.4),
    reference=lambda n, periodic=True, alpha=0.54, beta=0.46, dtype="float32": np.where(
        np.ones(n, bool) & (n > 1),
        (alpha - beta * np.cos(2 * np.pi * np.arange(n) / max(n if periodic else n - 1, 1))),
        1,
    ).astype(dtype),
)
@public()
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DTypeLike = "float32",
    layout: str | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`alpha - beta * cos`, the window of Hamming by default.

    Args:
        window_length: the number of elements.
        periodic: leave out the last element, so that windows may follow each other.
        alpha: the constant term.
        beta: the height of the cosine.
        dtype: the type.
        layout: accepted; windows are dense.
        device: where the result lies; the current device by default.
        pin_memory: accepted; memory is pinned by XLA where it helps.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.hamming_window(4).numpy().round(2)
        array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    curve = _cosines(real_of("hamming_window", "alpha", alpha), real_of("hamming_window", "beta", beta))
    return _window("hamming_window", window_length, periodic, curve, dtype, device, requires_grad)


@samples(*_SAMPLES, reference=_periodic(np.hanning))
@public()
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike = "float32",
    layout: str | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A cosine raised so that it begins at zero.

    Args:
        window_length: the number of elements.
        periodic: leave out the last element, so that windows may follow each other.
        dtype: the type.
        layout: accepted; windows are dense.
        device: where the result lies; the current device by default.
        pin_memory: accepted; memory is pinned by XLA where it helps.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.hann_window(4).numpy().round(2)
        array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _window("hann_window", window_length, periodic, _cosines(0.5, 0.5), dtype, device, requires_grad)


@samples(
    *_SAMPLES,
    S(5, False, 3.0),
    reference=lambda n, periodic=True, beta=12.0, dtype="float32": _periodic(np.kaiser)(n, periodic, beta, dtype=dtype),
)
@public()
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DTypeLike = "float32",
    layout: str | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The window of Kaiser, narrower for a greater `beta`.

    Args:
        window_length: the number of elements.
        periodic: leave out the last element, so that windows may follow each other.
        beta: how narrow it is.
        dtype: the type.
        layout: accepted; windows are dense.
        device: where the result lies; the current device by default.
        pin_memory: accepted; memory is pinned by XLA where it helps.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.kaiser_window(4, beta=5.0).numpy().round(2)
        array([0.04, 0.55, 1.  , 0.55], dtype=float32)
    """
    factor = real_of("kaiser_window", "beta", beta)

    def curve(t: np.ndarray) -> np.ndarray:
        return np.i0(factor * np.sqrt(np.maximum(1 - (2 * t - 1) ** 2, 0))) / np.i0(factor)

    return _window("kaiser_window", window_length, periodic, curve, dtype, device, requires_grad)


# ---- positions -----------------------------------------------------------------------------------


@samples(
    S(0, 5, 2),
    S(5),
    S(0.0, 2.0, 0.5),
    S(1, 4, dtype="int32"),
    S(5, 0, -2),
    reference=lambda start, end=None, step=1, dtype="float32": (
        np.arange(0 if end is None else start, (start if end is None else end) + np.sign(step) * 1e-3, step)
    ).astype(dtype),
)
@public(values=True)
def range(
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers from `start` up to and including `end` in steps of `step`.

    Args:
        start: the first number; where only one is given, that is `end` and this is 0.
        end: the limit.
        step: the distance of neighbours.
        dtype: the type; the default floating type if left out.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.range(1, 4).tolist()
        [1.0, 2.0, 3.0, 4.0]
    """
    if end is None:
        start, end = 0, start
    wanted = default_float() if dtype is None else to_numpy_dtype(dtype)
    first, last, by = (scalar_of("range", n, v) for n, v in (("start", start), ("end", end), ("step", step)))
    received = f"start: {first}, end: {last}, step: {by}"
    if wanted.kind in "bc" or any(isinstance(v, complex) or not math.isfinite(v) for v in (first, last, by)):
        raise type_error("range", "real numbers and a real type can be counted", f"{received}, dtype: {wanted}")
    number = int if wanted.kind in "iu" else float
    first, last, by = number(first), number(last), number(by)
    if number is int and not all(-(2**63) <= v < 2**63 for v in (first, last, by)):
        raise value_error("range", "the numbers do not fit into int64", received)
    if by == 0:
        raise value_error("range", "step cannot be 0", received)
    if (last - first) * by < 0:
        raise runtime_error("range", "step leads away from end", received)
    count = math.floor((last - first) / by) + 1
    return finish(count_from(first, by, (count,), wanted), out, device, requires_grad)


def _triangle(where: str, row: Any, col: Any, offset: Any, dtype: Any, lower: bool) -> Tensor:
    sizes = (row, row if col is None else col)
    for name, size in zip(("row", "col"), sizes):
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 0:
            raise type_error(where, f"{name} must be an integer, not negative", f"{name}: {size!r}")
    if not isinstance(offset, (int, np.integer)):
        raise type_error(where, "offset must be an integer", f"offset: {offset!r}")
    wanted = to_numpy_dtype(dtype)
    if wanted not in (INT32, INT64):
        raise runtime_error(where, "positions are int32 or int64", f"dtype: {dtype}")
    choose = np.tril_indices if lower else np.triu_indices
    return tensor_from_data(np.stack(choose(int(sizes[0]), int(offset), int(sizes[1]))).astype(wanted))


@samples(
    S(3, 4, 1), S(3, None), S(2, 2, dtype="int32"), S(0, 3), S(2, 2, -5),
    reference=lambda row, col, offset=0, dtype="int64": np.stack(np.tril_indices(row, offset, col)).astype(dtype),
)  # fmt: skip
@public()
def tril_indices(row: int, col: int | None, offset: int = 0, dtype: DTypeLike = "int64") -> Tensor:
    """Rows and columns of the lower triangle of a matrix.

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: which diagonal ends the triangle; positive ones lie above the main one.
        dtype: int32 or int64.

    Returns:
        A tensor with two rows: those of the rows, and those of the columns.

    Examples:
        >>> paddle.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle("tril_indices", row, col, offset, dtype, True)


@samples(
    S(3, 4, 1), S(3), S(2, 2, dtype="int32"), S(0, 3), S(2, 2, 10),
    reference=lambda row, col=None, offset=0, dtype="int64": np.stack(np.triu_indices(row, offset, col)).astype(dtype),
)  # fmt: skip
@public()
def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64") -> Tensor:
    """Rows and columns of the upper triangle of a matrix.

    Args:
        row: the number of rows.
        col: the number of columns; that of the rows by default.
        offset: which diagonal begins the triangle; positive ones lie above the main one.
        dtype: int32 or int64.

    Returns:
        A tensor with two rows: those of the rows, and those of the columns.

    Examples:
        >>> paddle.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle("triu_indices", row, col, offset, dtype, False)
