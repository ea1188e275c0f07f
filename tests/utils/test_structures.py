"""Nested structures, leaf by leaf."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import pytest

from proa.utils import flatten, map_structure, pack_sequence_as

Pair = namedtuple("Pair", "first second")
NEST = [1, {"b": 3, "a": (2,)}, Pair(4, [5])]


def test_flatten_and_pack_are_inverse() -> None:
    assert flatten(NEST) == [1, 2, 3, 4, 5]
    packed = pack_sequence_as(NEST, flatten(NEST))
    assert packed == NEST
    assert isinstance(packed[2], Pair)


def test_map_structure() -> None:
    assert map_structure(lambda a: a + 1, [1, {"b": 2}]) == [2, {"b": 3}]
    assert map_structure(lambda a, b: a * b, (2, [3]), (5, [7])) == (10, [21])
    ordered = map_structure(str, OrderedDict(z=1, a=2))
    assert list(ordered.items()) == [("z", "1"), ("a", "2")]
    assert map_structure(str, 5) == "5"


def test_structures_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        map_structure(lambda a, b: a, [1, 2], [1])
    with pytest.raises(ValueError, match="2 leaves"):
        pack_sequence_as([1, 2], [1])
    with pytest.raises(TypeError, match="callable"):
        map_structure(3, [1])  # type: ignore[arg-type]
