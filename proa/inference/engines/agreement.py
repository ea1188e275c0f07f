"""Whether an engine computes the model: what its results are compared with, and how far from that they may be.

In float32 engines differ by the order of sums, and the largest difference of single numbers says all. With fewer bits it
says little: where a model is steep (the edge of a sigmoid) single numbers jump by half of the range, in every engine. So two
things are asked then. In float32 the engine has to agree as ever: it has understood the model. And in the precision that is
wanted its typical difference has to be of the size of ours: it has rounded, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...eager.tensor import Tensor, tensor_from_data
from ..examples import Vector
from ..models import Model
from . import make_engine
from .base import Engine, Settings, Unavailable
from .foreign import ForeignEngine

EXACT = "float32"
# The largest difference relative to the largest number of a result. Other orders of summation cost 1e-6 for a layer; a
# wrong layer costs far more than this.
_TOLERANCE = 1e-3
# Typical differences that need no comparison with ours.
_TYPICAL = {"bfloat16": 5e-2, "float16": 1e-2}
# How many times as far as ours: we round what enters products, others all that they store (measured: up to 3.6 times).
_TIMES_OURS = 4.0
_MOST = 0.5  # zeros in the place of a result are at 1

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Reference:
    """Vectors with their results in float32, and how far from them fewer bits may lead."""

    vectors: list[Vector]
    results: list[list[np.ndarray]]
    ours: float = 0.0  # our own typical difference
    allowed: float = 0.0


def reference_of(model: Model, settings: Settings, ours: Engine, vectors: list[Vector]) -> Reference:
    """What all engines with these settings are compared with."""
    if settings.precision == EXACT or not vectors:
        return Reference(vectors, [vector.outputs or arrays_of(ours.run(tensors_of(vector))) for vector in vectors])
    exact = make_engine("xla", model, replace(settings, precision=EXACT))
    results = [vector.outputs or arrays_of(exact.run(tensors_of(vector))) for vector in vectors]
    found = [arrays_of(ours.run(tensors_of(vector))) for vector in vectors]
    off = max(typical_difference(one, wanted) for one, wanted in zip(found, results, strict=True))
    allowed = max(_TYPICAL[settings.precision], _TIMES_OURS * off if off < np.inf else 0.0)
    return Reference(vectors, results, off, min(_MOST, allowed))


def agreeing(name: str, model: Model, settings: Settings, reference: Reference) -> tuple[Engine, float]:
    """An engine that agrees with the reference, and how far from it it is; Unavailable says why it does not."""
    engine = make_engine(name, model, settings)
    if settings.precision == EXACT:
        return engine, _distance(engine, reference, difference, _TOLERANCE)
    _distance(make_engine(name, model, replace(settings, precision=EXACT)), reference, difference, _TOLERANCE)
    return engine, _distance(engine, reference, typical_difference, reference.allowed)


def _distance(
    engine: Engine, reference: Reference, measure: Callable[[Arrays, Arrays], float], allowed: float
) -> float:
    worst = 0.0
    for vector, wanted in zip(reference.vectors, reference.results, strict=True):
        if isinstance(engine, ForeignEngine):
            engine.prepare(tensors_of(vector))
        try:
            found = arrays_of(engine.run(tensors_of(vector)))
        except Exception as error:
            raise Unavailable(f"it failed: {' '.join(str(error).split())[:300]}") from error
        worst = max(worst, measure(found, wanted))
        if worst > allowed:
            text = described(worst, engine.settings.precision)
            raise Unavailable(f"its results {text}; {allowed:.1e} is allowed")
    return worst


def described(distance: float, precision: str) -> str:
    """A difference in words."""
    if precision == EXACT:
        return f"differ from ours by {distance:.1e} of the largest number"
    return f"in {precision} typically differ from float32 by {distance:.1e} of themselves"


# ---- differences -------------------------------------------------------------------------------------------------


def difference(found: Arrays, wanted: Arrays) -> float:
    """The largest difference, relative to the largest number of the result; infinite where shape, type or NaN differ."""
    return _worst(found, wanted, lambda values: float(values.max(initial=0.0)))


def typical_difference(found: Arrays, wanted: Arrays) -> float:
    """The root of the mean square of the differences, relative to that of the result; infinite where `difference` is."""
    return _worst(found, wanted, lambda values: float(np.sqrt(np.mean(values**2))) if values.size else 0.0)


def _worst(found: Arrays, wanted: Arrays, size: Callable[[np.ndarray], float]) -> float:
    if len(found) != len(wanted):
        return float("inf")
    return max((_relative(a, b, size) for a, b in zip(found, wanted, strict=True)), default=0.0)


def _relative(found: np.ndarray, wanted: np.ndarray, size: Callable[[np.ndarray], float]) -> float:
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    if found.dtype.kind in "iub":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    x, y = found.astype(wide), wanted.astype(wide)
    same = (x == y) | ((x != x) & (y != y))
    if not np.isfinite(x[~same]).all() or not np.isfinite(y[~same]).all():
        return float("inf")
    apart = np.zeros(x.shape)
    apart[~same] = np.abs(x[~same] - y[~same])
    return size(apart) / (size(np.abs(y[np.isfinite(y)])) or 1.0)


# ---- vectors -----------------------------------------------------------------------------------------------------


def tensors_of(vector: Vector) -> list[Tensor]:
    return [tensor_from_data(array) for array in vector.inputs]


def arrays_of(tensors: Sequence[Tensor]) -> list[np.ndarray]:
    return [np.asarray(tensor._data()) for tensor in tensors]


__all__ = [
    "Reference",
    "agreeing",
    "arrays_of",
    "described",
    "difference",
    "reference_of",
    "tensors_of",
    "typical_difference",
]
