"""What the generator knows about the tensors of a program while it writes the program.

Nothing is computed here. Each variable carries its shape and dtype, and bounds on how large its
values are, how much rounding noise they carry and how strongly gradients grow on the way back.
The bounds let the generator keep every program tame: two correct implementations then agree to
1e-6, and the comparison needs no wider tolerance for deep programs.
"""

from __future__ import annotations

import dataclasses
import math

# The noise of a value is counted in units of 2**-24, the rounding error of a float32 near one.
# The comparison allows 1e-6, which is about 17 units; the limits below leave room for the noise
# that a bound by worst case and a count of roundings do not see.
NOISE_LIMIT = 6.0
MAGNITUDE_LIMIT = 4.0
GAIN_LIMIT = 8.0
DEPTH_LIMIT = 8
SMALLEST_FACTOR = 0.02  # results that would have to be shrunk by more than this are not generated
INTEGER_LIMIT = 200

ROUNDING = 0.5  # noise of one correctly rounded operation, relative to the result's magnitude
APPROXIMATION = 3.0  # the same for exp, tanh and their kin, which differ by a few units

FLOATS = ("float32", "float64")


@dataclasses.dataclass(eq=False)
class Storage:
    """Memory that one or several variables look at."""

    magnitude: float
    noise: float = 0.0
    saved: bool = False  # an unfinished gradient may need these values: no in-place operation
    frozen: bool = False  # whether another variable aliases it is left open: no in-place operation
    outer: bool = False  # created before the loop that is being written
    variables: list[Variable] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Variable:
    """A name in the program that is bound to a tensor."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    storage: Storage
    contiguous: bool = True
    whole: bool = True  # it covers all of its storage
    view: bool = False  # it was made as a view of another variable
    differentiable: bool = False
    leaf: bool = True
    smooth: bool = True  # second derivatives exist along the whole way from the leaves
    repeatable: bool = True  # a second backward over a retained graph is sound in Paddle too
    gain: float = 0.0  # bound on the gradient of this variable's sum with respect to a leaf
    depth: int = 0

    def __post_init__(self) -> None:
        self.storage.variables.append(self)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def magnitude(self) -> float:
        return self.storage.magnitude

    @property
    def noise(self) -> float:
        return self.storage.noise


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A Python number in the program: a literal, an expression of the step, or a read value."""

    text: str
    magnitude: float
    noise: float = 0.0


@dataclasses.dataclass(frozen=True)
class Index:
    """A Python integer in the program that lies in [0, limit)."""

    text: str
    limit: int


def broadcast_shapes(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    """The broadcast shape of two shapes, or None where they do not fit."""
    result: list[int] = []
    for position in range(1, max(len(first), len(second)) + 1):
        a = first[-position] if position <= len(first) else 1
        b = second[-position] if position <= len(second) else 1
        if a != b and 1 not in (a, b):
            return None
        result.append(b if a == 1 else a)
    return tuple(reversed(result))


def broadcasts_into(source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return broadcast_shapes(source, target) == target
