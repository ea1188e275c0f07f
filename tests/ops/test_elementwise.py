"""Operations that are declared to work element by element do: a part of their operands gives that part of the result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.eager.declare import PUBLIC
from proa.eager.samples import SampleSet
from proa.eager.tensor import Tensor
from proa.ir.operation import Operation, all_operations
from tests.ops.test_samples import leaves, to_tensors

ELEMENTWISE = {name: operation for name, operation in all_operations().items() if operation.elementwise}
# No sample reaches these: an in-place form, and one that belongs to gradients of gradients.
WITHOUT_SAMPLES = {"fill", "triple_product"}


def part_of(array: Any, ndim: int, axis: int, part: slice) -> Any:
    """The part of an operand that belongs to a part of the (broadcast) result."""
    if not isinstance(array, np.ndarray):
        return array
    own = axis - (ndim - array.ndim)
    if own < 0 or array.shape[own] == 1:
        return array
    return array[(*[slice(None)] * own, part)]


class Watched:
    """Kernels that try every call again on parts of its operands."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.wrong: set[str] = set()

    def kernel(self, operation: Operation) -> Any:
        original = operation.kernels.get("numpy") or operation.kernel

        def watched(xp: Any, *arguments: Any) -> Any:
            result = original(xp, *arguments)
            results = result if isinstance(result, tuple) else (result,)
            shape = np.shape(results[0])
            for axis, length in enumerate(shape):
                for part in (slice(0, length // 2), slice(1, None, 2)) if length > 1 else ():
                    again = original(xp, *(part_of(a, len(shape), axis, part) for a in arguments))
                    self._compare(operation.name, results, again, axis, part)
            return result

        return watched

    def _compare(self, name: str, results: tuple[Any, ...], again: Any, axis: int, part: slice) -> None:
        self.seen.add(name)
        for one, other in zip(results, again if isinstance(again, tuple) else (again,), strict=True):
            expected = one[(*[slice(None)] * axis, part)]
            if expected.shape != other.shape or not np.allclose(
                expected.astype(complex), other.astype(complex), rtol=1e-6, atol=1e-12, equal_nan=True
            ):
                self.wrong.add(name)


@pytest.fixture
def watched() -> Iterator[Watched]:
    found = Watched()
    before = {name: operation.kernels.get("numpy") for name, operation in ELEMENTWISE.items()}
    for operation in ELEMENTWISE.values():
        operation.kernels["numpy"] = found.kernel(operation)
    yield found
    for name, kernel in before.items():
        if kernel is None:
            del ELEMENTWISE[name].kernels["numpy"]
        else:
            ELEMENTWISE[name].kernels["numpy"] = kernel


def run(function: Any, case: Any) -> None:
    """One sample and its gradients; calls that are meant to fail do."""
    inputs: list[Tensor] = []
    args, kwargs = (to_tensors(given, inputs, True) for given in case.arrays())
    results = [r for r in leaves(function(*args, **kwargs)) if isinstance(r, Tensor)]
    for result in results:
        result.numpy()
    wanted = [r for r in results if not r.stop_gradient]
    if wanted and inputs:
        for grad in paddle.grad(wanted, inputs, allow_unused=True):
            if grad is not None:
                grad.numpy()


def test_a_part_of_the_operands_gives_that_part_of_the_result(watched: Watched) -> None:
    with paddle.jit.eager_mode("immediate"), np.errstate(all="ignore"):
        for function in PUBLIC.values():
            samples = getattr(function, "samples", None)
            for case in samples.cases if isinstance(samples, SampleSet) else ():
                try:
                    run(function, case)
                except Exception:  # what samples must raise is another test's
                    continue
    assert watched.wrong == set()
    assert set(ELEMENTWISE) - watched.seen == WITHOUT_SAMPLES
