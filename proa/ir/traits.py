"""What is declared about an operation besides how it is computed: everybody who treats operations differently asks here.

A trait is given where the operation is declared (`@op(..., amp="wide", family="reduction")`) or follows from its shape
rule. So nobody else keeps lists of names, and a new operation is one file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

# Paddle's name of the operator that a call stands for: always one, or by operands and attributes.
PaddleName = str | Callable[[Sequence[Any], tuple[Any, ...]], str]
# Operands that mixed precision leaves as they are, by position: always the same, or by operands and attributes.
Positions = tuple[int, ...] | Callable[[Sequence[Any], tuple[Any, ...]], Sequence[int]]

ELEMENT_BY_ELEMENT = "element by element"
_AMP = ("", "low", "wide", "never")


class GivenTraits(TypedDict, total=False):
    """The keywords of `@op` that are traits; see `Traits`."""

    amp: str
    amp_keeps: Positions
    commutative: bool
    effect: bool
    family: str
    flops: Callable[[Any], int]
    free: bool
    ordering: bool
    padding: Any
    paddle_name: PaddleName
    series: Any
    uniform: bool


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of an operation.

    `family` is what reports call its kind of work; `flops(instruction)` counts its floating-point operations where the
    family does not say. `amp` is what mixed precision does with it: "low" computes it in 16 bits, "wide" in float32,
    "never" leaves it alone; without one Paddle's lists decide by `paddle_name`. `padding` is its rule for padded axes
    (`ir/padding`), `series` its rule in Taylor mode (`eager/series.py`). `uniform`: the result of operands whose elements
    are all equal is one, though the operation is not elementwise. `commutative`: two operands may change places. `free`: XLA
    does it for nothing. `effect`: running it does more than make its results; `ordering`: it keeps others apart.
    """

    amp: str = ""
    amp_keeps: Positions = ()
    commutative: bool = False
    effect: bool = False
    family: str = ELEMENT_BY_ELEMENT
    flops: Callable[[Any], int] | None = None
    free: bool = False
    ordering: bool = False
    padding: Any = None
    paddle_name: PaddleName | None = None
    series: Any = None
    uniform: bool = False

    def __post_init__(self) -> None:
        if self.amp not in _AMP:
            raise ValueError(f"(op) amp must be 'low', 'wide' or 'never'; received {self.amp!r}.")


def traits_of(infer: Callable[..., Any] | None, given: GivenTraits) -> Traits:
    """The traits that are given, and those that follow from the shape rule (see `eager/infer.py`)."""
    traits: dict[str, Any] = dict(getattr(infer, "traits", {}))
    traits.update(given)
    return Traits(**traits)
