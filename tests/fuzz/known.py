"""The differences from Paddle 3.3.1 that random programs are known to show: the one place where they are listed.

The generator marks a program with the names of those that it may show. `row` is the first column of the line in
docs/differences.md that explains it to people; a test looks each of them up there.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compare import Difference

EVERYTHING = ".*"


@dataclasses.dataclass(frozen=True)
class Known:
    """A known difference: in which recorded values of a marked program it may show."""

    row: str
    entries: str = EVERYTHING  # regular expression for the keys of recorded values
    kind: str = ""  # where it shows as one kind of difference alone

    def covers(self, difference: Difference) -> bool:
        return self.kind in ("", difference.kind) and re.match(self.entries, difference.key) is not None

    @property
    def spoils_everything(self) -> bool:
        """Whether nothing that Paddle gives for such a program can be relied on; it may even end the process."""
        return self.entries == EVERYTHING and not self.kind


GRADIENTS = r".*\.grad#|refused#"  # where histories differ, so does what a gradient needs and may refuse

KNOWN = {
    "subscript by tensor out of range": Known("a tensor index out of range"),
    "subscript by tensor of a view": Known("an integer tensor as the subscript of a view that is not contiguous"),
    "set_value of a view": Known("`set_value` on a non-contiguous view"),
    "shape of a detached tensor": Known("shape changed in place (`unsqueeze_`, `reshape_`) through `detach()`"),
    "overlap of source and target": Known("in-place with a source that overlaps its target"),
    "reading while another thread trains": Known("a parameter read while another thread trains", "expected: "),
    "slice of everything under no_grad": Known("`x[:]` under `no_grad`", kind="stop_gradient"),
    "hook of an unused result": Known("a hook on one of several results that the loss does not need", "hook"),
    "gradient of a view": Known("the gradient of a view that is not a leaf"),
    "change of a leaf through a view": Known("in-place on a view of a leaf whose gradient is wanted", GRADIENTS),
    "gradient of shared memory": Known("in-place on a view of a non-leaf tensor", GRADIENTS),
}

# What any program may show: differences by their kind.
OF_ANY_PROGRAM = {
    "refused by the reference": Known("needed operands that were changed in place"),
    "stop_gradient of an integer": Known("`stop_gradient` of the positions that `argsort` and its kin give"),
    "stop_gradient": Known("`.grad.stop_gradient`", r".*(\.grad#|hook)"),
}


def is_comparable(known: frozenset[str]) -> bool:
    """Whether a program with these marks can be compared with Paddle at all."""
    return not any(KNOWN[name].spoils_everything for name in known)


def explanation(known: frozenset[str], difference: Difference) -> str | None:
    """The name of the known difference that explains one that was found, or None."""
    for name in sorted(known):
        if KNOWN[name].covers(difference):
            return name
    general = OF_ANY_PROGRAM.get(difference.kind)
    return general.row if general is not None and general.covers(difference) else None
