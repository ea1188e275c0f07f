"""Native recurrent layers, forward and backward, against the NumPy kernels in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa
from proa.kernels.cpu import library
from tests.kernels.cases.recurrences import FORWARD, KINDS, both, recurrence_case, wide
from tests.kernels.cases.references import calls_native, draw, error_of, jitted

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


def check(arrays: list[np.ndarray], attributes: tuple[Any, ...], generator: np.random.Generator) -> None:
    grads = 2 if attributes[0] == "LSTM" else 1
    given = arrays + [draw(generator, arrays[0].shape[0], *arrays[1].shape) for _ in range(grads)]
    found = jitted(lambda xp, *flat: both(xp, flat, grads, True, attributes), given)
    expected = both(np, tuple(wide(given)), grads, False, attributes)
    assert len(found) == len(expected)
    for one, reference in zip(found, expected, strict=True):
        # A simple layer with ReLU may grow from step to step, and its errors with it.
        assert error_of(one, np.asarray(reference)) < 1e-5, ([a.shape for a in arrays], attributes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_random_shapes(kind: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    arrays, attributes = recurrence_case(generator, kind)
    check(arrays, attributes, generator)


@pytest.mark.parametrize(
    ("kind", "sizes"), [("LSTM", (6, 32, 256)), ("GRU", (5, 33, 130)), ("LSTM", (3, 1, 350)), ("GRU", (1, 70, 16))]
)
def test_several_threads_and_long_sums(kind: str, sizes: tuple[int, int, int]) -> None:
    generator = np.random.default_rng(7)
    arrays, attributes = recurrence_case(generator, kind, sizes)
    assert calls_native(lambda xp, *flat: FORWARD.kernels["cpu"](xp, list(flat), *attributes), list(arrays))
    check(arrays, attributes, generator)


def test_gates_far_from_zero_and_next_to_it() -> None:
    """One unit after the other: with no recurrent weight, a step is the plain functions."""
    x = np.concatenate([np.linspace(-100, 100, 2000), np.linspace(-0.6, 0.6, 2001), [1e-30, -1e-30, 88.0]])
    x = np.resize(x, 4096).astype(np.float32).reshape(1, 16, 256)
    zeros, weight = np.zeros((16, 256), np.float32), np.zeros((256, 256), np.float32)
    attributes = ("RNN_TANH", False, False, False, False)
    (found,) = jitted(lambda xp, *a: FORWARD.kernels["cpu"](xp, list(a), *attributes), [x, zeros, weight])
    np.testing.assert_allclose(found, np.tanh(x.astype(np.float64)), rtol=4e-7)


def test_nans_and_infinities_stay_in_their_rows() -> None:
    arrays, attributes = recurrence_case(np.random.default_rng(3), "LSTM", (3, 20, 40))
    arrays[0][0, 4, 0] = np.nan
    arrays[0][0, 5] = np.inf
    hidden, *_ = jitted(lambda xp, *a: FORWARD.kernels["cpu"](xp, list(a), "LSTM", False, *attributes[2:]), arrays)
    lengths = arrays[-1] if attributes[3] else np.full(20, 3)
    assert np.isnan(hidden[0, 4, 0]) or lengths[4] == 0
    assert np.isfinite(hidden[:, [row for row in range(20) if row not in (4, 5)]]).all()
    assert np.isfinite(hidden[0, 5]).all()  # every gate is open, and the cell is 1 more than it was


def test_other_types_and_small_layers_stay_with_xla() -> None:
    arrays, attributes = recurrence_case(np.random.default_rng(4), "GRU", (4, 20, 32))

    def kernel(xp: Any, *flat: Any) -> Any:
        return FORWARD.kernels["cpu"](xp, list(flat), *attributes)

    assert calls_native(kernel, list(arrays))
    assert not calls_native(kernel, wide(arrays))
    small, attributes = recurrence_case(np.random.default_rng(4), "GRU", (2, 2, 4))
    assert not calls_native(kernel, list(small))


def test_layers_that_run_at_the_same_time_share_the_pool() -> None:
    """More layers at once than there are threads: each must finish with whatever threads it gets."""
    generator = np.random.default_rng(6)
    cases = [recurrence_case(generator, "LSTM", (20, 16, 64)) for _ in range(6)]

    def run(xp: Any, *flat: Any) -> Any:
        values = iter(flat)
        return tuple(FORWARD.kernels["cpu"](xp, [next(values) for _ in arrays], *at)[0] for arrays, at in cases)

    found = jitted(run, [array for arrays, _ in cases for array in arrays])
    for one, (arrays, attributes) in zip(found, cases, strict=True):
        assert error_of(one, FORWARD.kernel(np, wide(arrays), *attributes)[0]) < 1e-5


def test_a_gradient_that_is_differentiated_again() -> None:
    """The kept gates serve first derivatives alone: second ones agree with those in float64, which are XLA's."""
    x = draw(np.random.default_rng(8), 2, 5, 24)
    proa.seed(3)
    layer = proa.nn.LSTM(24, 24)

    def penalty(values: np.ndarray) -> list[np.ndarray]:
        given = proa.to_tensor(values, stop_gradient=False)
        out, _ = layer(given)
        (grad,) = proa.grad((out * out).sum(), [given], create_graph=True)
        (grad * grad).sum().backward()
        found = [given.grad.numpy(), layer.parameters()[0].grad.numpy()]
        layer.clear_gradients()
        return found

    found = penalty(x)
    layer.to(dtype="float64")
    expected = penalty(x.astype(np.float64))
    for one, reference in zip(found, expected, strict=True):
        assert reference.dtype == np.float64
        assert error_of(one, reference) < 1e-4
