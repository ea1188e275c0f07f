"""Tensors as text, letter by letter as Paddle 3.3.1 prints them.

What a reader should know of that format:

* A floating number with no fraction prints as `2.` (infinity as `inf.`), any other with `precision`
  digits after the point; scientific notation appears only when asked for with `sci_mode`.
* Numbers are padded on the right to one width. Where a negative number is in sight, the others get
  a blank in front if the width leaves room for it.
* Above `threshold` elements, each axis longer than twice `edgeitems` shows its ends around `...`.
* Width and sign are measured on the ends of each axis even if everything is printed, so that a wide
  number in the middle of a long axis stands out of its column.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

PARAMETER_PREFIX = "Parameter containing:\nTensor"


@dataclass(slots=True)
class PrintOptions:
    """How tensors are printed; the defaults are Paddle's."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


OPTIONS = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Changes how tensors are printed; what is None stays as it is.

    Args:
        precision: digits behind the point.
        threshold: the number of elements above which a tensor is summarised.
        edgeitems: how many elements at each end of an axis a summary shows.
        sci_mode: scientific notation for all floating numbers.
        linewidth: characters in a line.

    Examples:
        >>> paddle.set_printoptions(precision=2)
        >>> paddle.to_tensor([1 / 3])
        Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
               [0.33])
        >>> paddle.set_printoptions(precision=8)
    """
    options: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    given = {name: _natural_number(name, value) for name, value in options.items() if value is not None}
    if sci_mode not in (None, True, False):
        raise TypeError(f"(set_printoptions) sci_mode must be True or False; received sci_mode: {sci_mode!r}.")
    for name, value in given.items():  # only now: a call with one bad value changes nothing
        setattr(OPTIONS, name, value)
    if sci_mode is not None:
        OPTIONS.sci_mode = bool(sci_mode)


def _natural_number(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"(set_printoptions) {name} must be an integer; received {name}: {value!r}.")
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"(set_printoptions) {name} must not be negative; received {name}: {value}.")
    return number


def tensor_to_string(
    array: Array,
    *,
    shape: Sequence[int],
    dtype_name: str,
    place_text: str,
    stop_gradient: bool,
    prefix: str = "Tensor",
    layout: str = "",
) -> str:
    """The text of a tensor: a line that describes it, then its numbers. `layout`: how it lies on a mesh, if it does.

    The numbers are indented to stand behind the prefix's last line and its bracket.
    """
    indent = len(prefix.rsplit("\n", 1)[-1]) + 1
    return (
        f"{prefix}(shape={list(shape)}, dtype={dtype_name}, place={place_text}, "
        f"stop_gradient={stop_gradient},{layout}\n{' ' * indent}{array_to_string(array, indent)})"
    )


def array_to_string(array: Array, indent: int = 0, options: PrintOptions = OPTIONS) -> str:
    """The numbers of an array in nested brackets, every line but the first indented."""
    ends = readable(_keep_ends(array, options.edgeitems))
    is_summary = array.size > options.threshold
    # In a summary only the ends are ever looked at, whatever the array's size.
    shown = ends if is_summary and options.edgeitems else readable(array)
    write = _writer_for(shown.dtype, options)
    texts = [write(value) for value in ends.ravel().tolist()]
    column = _Column(
        width=max(map(len, texts), default=0),
        has_negative=bool(_is_negative(ends).any()),
    )
    layout = _Layout(column, write, tuple(array.shape), is_summary, options)
    return layout.block(shown, _is_negative(shown), indent)


@dataclass(slots=True)
class _Column:
    """The common width of all numbers, and whether one of them has a minus sign."""

    width: int
    has_negative: bool

    def pad(self, text: str, is_negative: bool) -> str:
        if len(text) < self.width and self.has_negative and not is_negative:
            text = " " + text
        return text.ljust(self.width)


@dataclass(slots=True)
class _Layout:
    """Brackets, commas and line breaks around the numbers."""

    column: _Column
    write: Callable[[Any], str]
    shape: tuple[int, ...]
    is_summary: bool
    options: PrintOptions

    def block(self, values: Array, negative: Array, indent: int) -> str:
        """One level of nesting; `values` may hold just the ends of the axes that are cut."""
        if values.ndim == 0:
            return self.column.pad(self.write(values.item()), bool(negative))
        if values.ndim == 1:
            parts = [
                self.column.pad(self.write(value), sign)
                for value, sign in zip(values.tolist(), negative.tolist(), strict=True)
            ]
            parts = self._mark_cut(parts, axis=len(self.shape) - 1)
            room = max(1, (self.options.linewidth - indent) // (self.column.width + 2))
            parts = [", ".join(parts[i : i + room]) for i in range(0, len(parts), room)]
            separator = ",\n" + " " * (indent + 1)
        else:
            rows = zip(values, negative, strict=True)
            parts = [self.block(row, signs, indent + 1) for row, signs in rows]
            parts = self._mark_cut(parts, axis=len(self.shape) - values.ndim)
            separator = "," + "\n" * (values.ndim - 1) + " " * (indent + 1)
        return f"[{separator.join(parts)}]"

    def _mark_cut(self, parts: list[str], axis: int) -> list[str]:
        """Puts `...` in the middle if the axis was too long to be shown."""
        edge = self.options.edgeitems
        if not self.is_summary or self.shape[axis] <= 2 * edge:
            return parts
        return [*parts[:edge], "...", *(parts[-edge:] if edge else [])]


def _keep_ends(array: Array, edge: int) -> Array:
    """The array without the middle of each axis that is longer than two edges."""
    if edge == 0:
        return array  # nothing to measure at the ends: Paddle then looks at everything
    for axis, extent in enumerate(array.shape):
        if extent > 2 * edge:
            before: list[slice] = [slice(None)] * array.ndim
            after = list(before)
            before[axis], after[axis] = slice(edge), slice(extent - edge, None)
            array = np.concatenate([array[tuple(before)], array[tuple(after)]], axis=axis)
    return array


def readable(array: Array) -> Array:
    """Types foreign to NumPy (bfloat16, float8: kind "V") in float32, which holds them exactly."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _is_negative(array: Array) -> Array:
    """Which numbers begin with a minus sign in Paddle's eyes: below zero, so neither -0. nor nan.

    Complex numbers compare by their real part, and by the imaginary one where that is zero.
    """
    if array.dtype.kind in "bu":
        return np.zeros(array.shape, np.bool_)
    with np.errstate(invalid="ignore"):
        return np.less(array, 0)


def _writer_for(dtype: np.dtype[Any], options: PrintOptions) -> Callable[[Any], str]:
    digits = f".{options.precision}{'e' if options.sci_mode else 'f'}"

    def write_float(value: float) -> str:
        if options.sci_mode or math.isnan(value) or (math.isfinite(value) and value % 1 != 0):
            return format(value, digits)
        return f"{value:.0f}."

    def write_complex(value: complex) -> str:
        sign = "+" if value.imag >= 0 else ""  # a nan there has no sign: Paddle prints (nannanj)
        return f"({value.real:{digits}}{sign}{value.imag:{digits}}j)"

    return {"f": write_float, "c": write_complex}.get(dtype.kind, str)
