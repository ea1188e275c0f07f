"""Native updates of SGD, momentum and Adam against the NumPy kernels in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa
from proa.kernels.cpu import library
from proa.optimizer import updates
from tests.kernels.cases.references import calls_native, draw, error_of, jitted

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

SGD, MOMENTUM, ADAM = (
    primitive.operation for primitive in (updates.sgd_update, updates.momentum_update, updates.adam_update)
)
# Of every remainder of a vector, and one that is cut into pieces for several threads.
SHAPES = [(3, 5), (16,), (), (33, 7), (70_001,), (1, 1, 15)]


def update_case(generator: np.random.Generator, scalars: list[float], states: int, steps: int | None) -> list[Any]:
    """Scalars, parameters, gradients and states (which are not negative), and the number of steps before, if any."""
    tensors = [draw(generator, *shape) for _ in range(2) for shape in SHAPES]
    tensors += [np.abs(draw(generator, *shape)) for _ in range(states) for shape in SHAPES]
    return [
        *(np.asarray(s) for s in scalars),
        *map(np.asarray, tensors),
        *([] if steps is None else [np.float64(steps)]),
    ]


def check(operation: Any, arrays: list[Any], attributes: tuple[Any, ...]) -> None:
    def kernel(xp: Any, *flat: Any) -> Any:
        return operation.kernels["cpu"](xp, list(flat), *attributes)

    assert calls_native(kernel, list(arrays))
    found = jitted(kernel, list(arrays))
    wide = [np.asarray(a, np.float64) for a in arrays]
    expected = operation.kernel(np, wide, *attributes)
    assert len(found) == len(expected)
    for one, reference in zip(found, expected, strict=True):
        assert error_of(one, np.asarray(reference)) < 1e-6, (one.shape, attributes)


@pytest.mark.parametrize("decay", ["", "l1", "l2"])
def test_sgd(decay: str) -> None:
    check(SGD, update_case(np.random.default_rng(0), [0.1, 0.03], 0, None), (len(SHAPES), decay, False))


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("decay", ["", "l2"])
def test_momentum(decay: str, nesterov: bool) -> None:
    arrays = update_case(np.random.default_rng(1), [0.1, 0.03, 0.9, 0.5], 1, None)
    check(MOMENTUM, arrays, (len(SHAPES), decay, False, nesterov))


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("decay", ["", "l1", "l2", "decoupled"])
def test_adam(decay: str, amsgrad: bool) -> None:
    arrays = update_case(np.random.default_rng(2), [0.01, 1e-8, 0.03, 0.9, 0.999], 2 + amsgrad, 6)
    check(ADAM, arrays, (len(SHAPES), decay, False, amsgrad))


def test_infinities_and_nans_stay_where_they_are() -> None:
    arrays = update_case(np.random.default_rng(3), [0.01, 1e-8, 0.0, 0.9, 0.999], 2, 0)
    arrays[5 + len(SHAPES)][1, 2] = np.nan
    found = jitted(lambda xp, *a: ADAM.kernels["cpu"](xp, list(a), len(SHAPES), "", False, False), arrays)
    assert np.argwhere(np.isnan(found[0])).tolist() == [[1, 2]]
    assert all(np.isfinite(one).all() for one in found[1 : len(SHAPES)])


def test_half_types_and_doubles_stay_with_xla() -> None:
    arrays = update_case(np.random.default_rng(4), [0.1, 0.03], 0, None)

    def kernel(xp: Any, *flat: Any) -> Any:
        return SGD.kernels["cpu"](xp, list(flat), len(SHAPES), "", False)

    assert calls_native(kernel, list(arrays))
    assert not calls_native(kernel, [np.asarray(a, np.float64) for a in arrays])
    assert not calls_native(kernel, [*arrays[:2], *(np.asarray(a, np.float16) for a in arrays[2:])])


def test_training_changes_parameters_in_place_of_old_ones() -> None:
    """A few steps of AdamW by the public interface; values kept from before a step are not touched by it."""
    generator = np.random.default_rng(5)
    start, target = draw(generator, 40, 30), draw(generator, 40, 30)
    weight = proa.create_parameter([40, 30], "float32", default_initializer=proa.nn.initializer.Assign(start))
    optimizer = proa.optimizer.AdamW(0.1, parameters=[weight], weight_decay=0.01)
    value, first, second = start.astype(np.float64), np.zeros((40, 30)), np.zeros((40, 30))
    kept = []
    for step in range(1, 5):
        kept.append((weight.detach().clone(), value.copy()))
        ((weight - proa.to_tensor(target)) ** 2).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        grad = 2 * (value - target)
        value = value * (1 - 0.1 * 0.01)
        first, second = 0.9 * first + 0.1 * grad, 0.999 * second + 0.001 * grad * grad
        value = value - 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(weight.numpy(), value, atol=1e-5)
    for before, expected in kept:
        np.testing.assert_allclose(before.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize(("operation", "scalars", "states", "attributes"), [
    (SGD, [0.0, 0.0], 0, ("none", False)), (MOMENTUM, [0.0, 0.0, 1.0, 0.0], 1, ("none", False, False)),
])  # fmt: skip
def test_results_of_numpy_are_no_operands(operation: Any, scalars: list[float], states: int, attributes: Any) -> None:
    """Not even where nothing changes: an operand is the value of somebody else's tensor."""
    arrays = update_case(np.random.default_rng(3), scalars, states, None)
    copies = [array.copy() for array in arrays]
    results = operation.kernel(np, arrays, len(SHAPES), *attributes)
    for result in results:
        assert not any(np.shares_memory(result, array) for array in arrays)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
