"""What `getrefcount` says of an object that nobody else refers to.

Whether anybody still wants a value is decided by reference counts. How many references the asking itself makes depends on
the interpreter (since Python 3.14 a name that is passed on may lend its reference instead of making one), so it is measured
here, once, in functions of the same form as those that ask.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any


def _held_by_a_name() -> int:
    things: list[Any] = [object()]
    count = 0
    while things:
        thing = things.pop()
        if getrefcount(thing) > 0:
            count = getrefcount(thing)
    return count


def _held_by_a_list_and_a_name() -> int:
    things: list[Any] = [object()]
    count = 0
    for position in range(len(things)):
        thing = things[position]
        if getrefcount(thing) > 0:
            count = getrefcount(thing)
    return count


HELD_BY_A_NAME = _held_by_a_name()
HELD_BY_A_LIST_AND_A_NAME = _held_by_a_list_and_a_name()
