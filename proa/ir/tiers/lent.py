"""Results of cold code on a GPU that stay there as arrays of CuPy's until somebody else wants them.

To make an array of JAX's of one takes longer than most kernels do, and what a training loop changes at each step, its
parameters and the optimizer's states, goes from one cold run to the next.
"""

from __future__ import annotations

import weakref
from sys import getrefcount
from typing import Any

from ..recording.references import HELD_BY_A_LIST_AND_A_NAME


class Lent:
    """A value of that kind; stands where an array of JAX's would."""

    __slots__ = ("__weakref__", "_kept", "_made", "lender", "own")
    exist = False  # whether there ever was one: no run looks for them where there can be none

    def __init__(self, lender: Any, own: Any) -> None:
        Lent.exist = True
        self.lender = lender  # the `CupyDevice`
        self.own = own
        self._made: Any = None  # refers weakly: what a program writes over must not be held here
        self._kept: Any = None

    @property
    def nbytes(self) -> int:
        return self.own.nbytes

    def get(self) -> Any:
        """The value as an array of JAX's."""
        made = None if self._made is None else self._made()
        if made is None or made.is_deleted():
            made = self.lender.as_jax(self.own)
            self._made, self._kept = weakref.ref(made), None
        return made

    def get_to_keep(self) -> Any:
        """The same, where this value is of use to others, too: it is not to be written over, and is wanted again."""
        self._kept = made = self.get()
        return made


def brought_out(value: Any) -> Any:
    """A value as everybody knows it."""
    return value.get() if value.__class__ is Lent else value


def bring_out(values: list[Any]) -> None:
    """The same for all values of a list, in it: it alone refers to those that nobody else had."""
    for position in range(len(values)):
        value = values[position]
        if value.__class__ is Lent:
            is_shared = getrefcount(value) > HELD_BY_A_LIST_AND_A_NAME
            values[position] = value.get_to_keep() if is_shared else value.get()
