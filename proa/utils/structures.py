"""Nested lists, tuples and dictionaries: taken apart, put together, changed leaf by leaf.

Dictionaries are walked in the order of their sorted keys, so that equal structures have equal leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core.errors import type_error, value_error


def flatten(nest: Any) -> list[Any]:
    """The leaves of a nested structure, in order.

    Examples:
        >>> paddle.utils.flatten({"a": [1, 2], "b": (3,)})
        [1, 2, 3]
    """
    return list(_leaves(nest))


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """The structure with `func` of the corresponding leaves of all given structures in the place of each leaf.

    Raises:
        ValueError: the structures differ.

    Examples:
        >>> paddle.utils.map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
        {'a': [11, 22]}
    """
    if not callable(func):
        raise type_error("map_structure", "func must be callable", type(func).__name__)
    if not structure:
        raise value_error("map_structure", "a structure is needed")
    rows = [flatten(each) for each in structure]
    if len({len(row) for row in rows}) > 1:
        counts = ", ".join(str(len(row)) for row in rows)
        raise value_error("map_structure", "the structures have different numbers of leaves", counts)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*rows, strict=True)])


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """A list of leaves in the form of `structure`: what `flatten` took apart.

    Raises:
        ValueError: there are more or fewer leaves.

    Examples:
        >>> paddle.utils.pack_sequence_as({"a": [0, 0], "b": 0}, [1, 2, 3])
        {'a': [1, 2], 'b': 3}
    """
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise value_error("pack_sequence_as", f"the structure has {wanted} leaves", f"{len(flat_sequence)} values")
    return _filled(structure, iter(flat_sequence))


def _leaves(nest: Any) -> Iterator[Any]:
    if isinstance(nest, Mapping):
        for key in sorted(nest):
            yield from _leaves(nest[key])
    elif isinstance(nest, (list, tuple)):
        for item in nest:
            yield from _leaves(item)
    else:
        yield nest


def _filled(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        made = {key: _filled(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)  # type: ignore[call-arg]
    if isinstance(structure, (list, tuple)):
        items = [_filled(item, leaves) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
    return next(leaves)
