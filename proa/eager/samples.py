"""Samples: example calls written at an operation, from which its tests are made.

    @samples(S(A(2, 3), A(3)), S(A(0, 3), A(3)), reference=np.add)

`A` describes an input array (made from a fixed seed), `S` one call. The generic tests (tests/ops) run every sample:
against the reference, immediate = self-compiled = inferred shape, gradients against central differences, second order,
in-place form. What does not apply is said here, with its reason, and counted.

An array with a `layout` reaches the function as a sparse tensor and the reference as it is; sparse results are compared
as dense ones. Functions that draw numbers say `random=True`: the same seed gives the same numbers in both tiers.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..core.dtype import to_numpy_dtype
from .annotations import DTypeLike

Function = TypeVar("Function", bound=Callable[..., Any])


class A:
    """An input array: shape, dtype, range of values (`low` to `high`), `grad=False` to leave it out of gradient checks.

    `values`, if given, are the numbers themselves, or a function that makes them when a test wants them. With `layout` "coo"
    or "csr" about half of the numbers are zeros (of those given: the zeros among them) and the function gets a sparse
    tensor; `sparse_dim` says how many dimensions of a COO tensor are sparse, all by default.
    """

    def __init__(
        self,
        *shape: int,
        dtype: str = "float32",
        low: float = -2.0,
        high: float = 2.0,
        values: Any = None,
        grad: bool = True,
        unique: bool = False,
        layout: str | None = None,
        sparse_dim: int | None = None,
    ) -> None:
        if layout not in (None, "coo", "csr"):
            raise ValueError(f"(A) layout must be 'coo', 'csr' or None; received {layout!r}.")
        self.shape = shape if values is None or callable(values) else np.shape(values)
        self.dtype = dtype
        self.low, self.high = low, high
        self._given = values
        self.grad = grad
        self.unique = unique  # well separated values: for max, sort and the like, whose gradient jumps at ties
        self.layout = layout
        self.sparse_dim = sparse_dim

    @property
    def values(self) -> Any:
        return self._given() if callable(self._given) else self._given

    def make(self, seed: int, dtype: DTypeLike | None = None) -> np.ndarray:
        kind = to_numpy_dtype(dtype or self.dtype)
        if self.values is not None:
            return np.asarray(self.values).astype(kind)
        random = np.random.default_rng(seed)
        made = self._draw(random, kind)
        return made if self.layout is None else self._thinned(random, made)

    def _draw(self, random: np.random.Generator, kind: np.dtype) -> np.ndarray:
        if kind.kind == "b":
            return random.random(self.shape) > 0.5
        if kind.kind in "iu":
            low = max(int(self.low), 0) if kind.kind == "u" else int(self.low)
            return random.integers(low, max(int(self.high), low + 1), self.shape).astype(kind)
        if self.unique:
            size = int(np.prod(self.shape))
            steps = (random.permutation(size) + 0.5) / max(size, 1)
            return (self.low + steps.reshape(self.shape) * (self.high - self.low)).astype(kind)
        values = random.uniform(self.low, self.high, self.shape)
        if kind.kind == "c":
            values = values + 1j * random.uniform(self.low, self.high, self.shape)
        return values.astype(kind)

    def _thinned(self, random: np.random.Generator, made: np.ndarray) -> np.ndarray:
        """Every other element set to zero, in random order; where the last dimensions stay dense, all of theirs."""
        sparse = made.shape[: self.sparse_dim]
        count = math.prod(sparse)
        kept = (random.permutation(count) % 2 == 0).reshape(sparse + (1,) * (made.ndim - len(sparse)))
        return np.where(kept, made, np.zeros((), made.dtype))

    def __repr__(self) -> str:
        text = f"{self.dtype}{list(self.shape)}"
        if self.layout is None:
            return text
        return f"{self.layout} {text}" if self.sparse_dim is None else f"{self.layout}({self.sparse_dim}) {text}"


class S:
    """One call: positional and named arguments, in which every `A` becomes a tensor."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def arrays(self, dtype: str | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with arrays made; `dtype` replaces float32 (for gradient checks in float64)."""
        counter = [zlib.crc32(repr(self).encode()) & 0xFFFF]

        def convert(value: Any) -> Any:
            if isinstance(value, A):
                counter[0] += 1
                floating = value.dtype in ("float32", "float64")
                return Made(value.make(counter[0], dtype if dtype and floating else None), value)
            if isinstance(value, (list, tuple)):
                return type(value)(convert(item) for item in value)
            if isinstance(value, dict):
                return {key: convert(item) for key, item in value.items()}
            return value

        return tuple(convert(a) for a in self.args), {k: convert(v) for k, v in self.kwargs.items()}

    def __repr__(self) -> str:
        named = [f"{k}={v!r}" for k, v in self.kwargs.items()]
        return f"({', '.join([*map(repr, self.args), *named])})"


class Made:
    """A made array with the description it came from."""

    def __init__(self, array: np.ndarray, spec: A) -> None:
        self.array = array
        self.spec = spec

    def in_layout(self, tensor: Any) -> Any:
        """The tensor that was made of the array, as the function gets it; a gradient flows back to `tensor`."""
        if self.spec.layout is None:
            return tensor
        if self.spec.layout == "csr":
            return tensor.to_sparse_csr()
        return tensor.to_sparse_coo(self.array.ndim if self.spec.sparse_dim is None else self.spec.sparse_dim)


class SampleSet:
    """All samples of one public function and how they are to be checked."""

    def __init__(
        self,
        cases: Sequence[S],
        reference: Callable[..., Any] | None,
        gradient: bool,
        second_order: bool,
        tolerance: float,
        why: str,
        random: bool = False,
        unspecified: bool = False,
        changed: int = 0,
        keeps_type: bool = False,
        reshapes: bool = False,
    ) -> None:
        self.cases = list(cases)
        self.reference = reference
        self.gradient = gradient
        self.second_order = second_order
        self.tolerance = tolerance
        self.why = why
        self.random = random
        self.unspecified = unspecified
        self.changed = changed
        self.keeps_type = keeps_type
        self.reshapes = reshapes


def samples(
    *cases: S,
    reference: Callable[..., Any] | None = None,
    gradient: bool = True,
    second_order: bool = True,
    tolerance: float = 1e-5,
    why: str = "",
    random: bool = False,
    unspecified: bool = False,
    changed: int = 0,
    keeps_type: bool = False,
    reshapes: bool = False,
) -> Callable[[Function], Function]:
    """Attaches samples to a public function.

    `reference(*arrays, **options)` gets NumPy arrays in the same places and gives the expected array(s). `why` says
    why a check is turned off (`gradient=False`, `second_order=False`) or there is no reference.

    `random`: the function draws numbers; a sample of more than 8 elements must differ between two seeds.
    `unspecified`: nothing is promised about the values (`empty`).

    Of the in-place form: `changed` is the position of the argument that it changes, `reshapes` says that this gets the
    result's shape, `keeps_type` that it keeps its data type where the result has another one.
    """

    def attach(function: Function) -> Function:
        found = SampleSet(
            cases, reference, gradient, second_order, tolerance, why, random, unspecified, changed, keeps_type, reshapes
        )
        for form in (function, *getattr(function, "offered", ())):  # as written, and as users get it
            form.__dict__["samples"] = found
        return function

    return attach
