"""How tensors look in a notebook: `_repr_html_` (see `core/html.py`)."""

from __future__ import annotations

from typing import Any

from ..core.html import tensor_to_html, words_to_html
from .attaching import attach


def _repr_html_(self: Any) -> str:
    """A line on the tensor and a small table of its values. Never raises: what cannot be read is said in words."""
    head = type(self).__name__
    try:
        head = _head(self)
        if hasattr(self, "_parts"):  # a sparse tensor: what it is made of, by name
            return tensor_to_html(head, self._parts())
        if self._value is None and self._segment.captures:
            return words_to_html(head, "has no value: it is part of a graph")
        return tensor_to_html(head, [("", self._data())])
    except Exception as error:
        return words_to_html(head, f"{type(error).__name__}: {error}")


def _head(tensor: Any) -> str:
    parts = [f"{type(tensor).__name__} {tensor.dtype.name}{list(tensor._aval.shape)}", str(tensor._aval.place)]
    if tensor.persistable and tensor._name:
        parts.append(tensor._name)
    return " · ".join([*parts, f"stop_gradient={tensor.stop_gradient}"])


attach(__name__, _repr_html_=_repr_html_)
