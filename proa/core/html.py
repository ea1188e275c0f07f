"""Tensors in a notebook: a line that describes one, and a small table of its values.

Whatever the tensor, at most `_MOST_TABLES` tables of `_MOST` rows and columns are written; the middle of a longer axis is
left out. Only what is shown is fetched from a device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .printing import readable

Array = np.ndarray[Any, np.dtype[Any]]

_MOST = 8  # rows and columns of a table
_MOST_TABLES = 2
_CUT = "…"
_TABLE = '<table border="1" cellpadding="4" style="border-collapse:collapse;font-family:monospace;text-align:right">'


def tensor_to_html(head: str, parts: Iterable[tuple[str, Any]]) -> str:
    """`head` in bold, then each array under its name. An array is NumPy's or JAX's."""
    blocks = [f"<div><b>{_escape(head)}</b></div>"]
    for name, array in parts:
        if name:
            blocks.append(f"<div>{_escape(name)}: {_escape(f'{array.dtype}{list(array.shape)}')}</div>")
        blocks += _tables(array)
    return f"<div>{''.join(blocks)}</div>"


def words_to_html(head: str, words: str) -> str:
    """The same for a tensor whose values cannot be shown."""
    return f"<div><div><b>{_escape(head)}</b></div><div><i>{_escape(words[:500])}</i></div></div>"


def _tables(array: Any) -> list[str]:
    shape = tuple(array.shape)
    if 0 in shape:
        return ["<div><i>empty</i></div>"]
    leading = shape[:-2]
    num_tables = int(np.prod(leading, dtype=object)) if leading else 1
    blocks: list[str] = []
    for number in range(min(num_tables, _MOST_TABLES)):
        position = tuple(int(i) for i in np.unravel_index(number, leading)) if leading else ()
        if leading:
            blocks.append(f"<div>[{', '.join(map(str, position))}, :, :]</div>")
        blocks.append(_table(_ends(array, position), shape[len(leading) :]))
    if num_tables > _MOST_TABLES:
        blocks.append(f"<div><i>{num_tables - _MOST_TABLES:,} more</i></div>")
    return blocks


def _ends(array: Any, position: tuple[int, ...]) -> Array:
    """What is shown of the matrix (vector, number) at `position`, as a NumPy matrix."""
    shape = array.shape[len(position) :]
    edge = _MOST // 2
    shown: Array
    if all(extent <= _MOST for extent in shape):
        shown = np.asarray(array[position])
    else:
        pieces: Any = array[position]
        for axis, extent in enumerate(shape):
            if extent > _MOST:
                before, after = (
                    (slice(None),) * axis + (slice(edge),),
                    (slice(None),) * axis + (slice(extent - edge, None),),
                )
                pieces = np.concatenate([np.asarray(pieces[before]), np.asarray(pieces[after])], axis=axis)
        shown = np.asarray(pieces)
    return readable(shown).reshape((1, 1) if shown.ndim == 0 else (1, -1) if shown.ndim == 1 else shown.shape)


def _table(values: Array, shape: tuple[int, ...]) -> str:
    """Rows and columns of what is shown; `shape` says which axes were cut."""
    rows = [_with_cut([_text(v) for v in row], shape[-1] if shape else 1) for row in values.tolist()]
    rows = _with_cut(rows, shape[0], [_CUT] * len(rows[0])) if len(shape) == 2 else rows
    lines = ["".join([f"<td>{text}</td>" for text in row]) for row in rows]
    return f"{_TABLE}{''.join([f'<tr>{line}</tr>' for line in lines])}</table>"


def _with_cut(items: list[Any], extent: int, mark: Any = _CUT) -> list[Any]:
    edge = _MOST // 2
    return items if extent <= _MOST else [*items[:edge], mark, *items[edge:]]


def _text(value: Any) -> str:
    if isinstance(value, complex):
        return _escape(f"{value.real:.4g}{value.imag:+.4g}j")
    return _escape(f"{value:.4g}" if isinstance(value, float) else str(value))


def _escape(text: str) -> str:
    from html import escape  # here: its table of entities is long, and few programs are notebooks

    return escape(text)
