"""Every sample written at an operation, through every generic check.

A check that an operation cannot pass is turned off at the operation, with its reason.
"""

from __future__ import annotations

import inspect
from typing import Any, cast

import numpy as np
import pytest

import proa as paddle
from proa.core.dtype import is_differentiable, is_reduced_precision
from proa.eager.declare import PUBLIC
from proa.eager.samples import Made, S, SampleSet
from proa.eager.tensor import Tensor

FUNCTIONS = {name: f for name, f in PUBLIC.items() if isinstance(getattr(f, "samples", None), SampleSet)}
CASES = [
    pytest.param(function, case, id=f"{name}{case!r}")
    for name, function in FUNCTIONS.items()
    for case in function.samples.cases
]
SEED, OTHER_SEED = 2024, 2025
SURELY_DIFFERENT = 8  # more elements than this are not drawn twice by chance


def to_arrays(value: Any) -> Any:
    if isinstance(value, Made):
        return value.array
    if isinstance(value, (list, tuple)):
        return type(value)(to_arrays(v) for v in value)
    if isinstance(value, dict):
        return {k: to_arrays(v) for k, v in value.items()}
    return value


def to_tensors(value: Any, inputs: list[Tensor], differentiate: bool) -> Any:
    """Arguments as tensors; floating ones are collected in `inputs` as leaves when gradients are wanted."""
    if isinstance(value, Made):
        tensor = paddle.to_tensor(value.array)
        if differentiate and value.spec.grad and is_differentiable(value.array.dtype):
            tensor.stop_gradient = False
            inputs.append(tensor)
        return value.in_layout(tensor)
    if isinstance(value, (list, tuple)):
        return type(value)(to_tensors(v, inputs, differentiate) for v in value)
    if isinstance(value, dict):
        return {k: to_tensors(v, inputs, differentiate) for k, v in value.items()}
    return value


def leaves(result: Any) -> list[Any]:
    """All tensors (sparse ones as dense) and Python values of a result, in order."""
    if isinstance(result, Tensor):
        return [result.to_dense() if result.is_sparse() else result]
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in leaves(item)]
    return [] if result is None else [result]


def flat(result: Any) -> list[Tensor]:
    return [leaf for leaf in leaves(result) if isinstance(leaf, Tensor)]


def value_of(leaf: Any) -> Any:
    return leaf.numpy() if isinstance(leaf, Tensor) else leaf


def run(function: Any, case: S, seed: int = SEED) -> list[Any]:
    """The leaves of a call; whatever is random in it comes from the seed."""
    args, kwargs = case.arrays()
    args, kwargs = to_tensors(args, [], False), to_tensors(kwargs, [], False)
    paddle.seed(seed)
    return leaves(function(*args, **kwargs))


def call(function: Any, made: tuple[Any, Any]) -> tuple[list[Tensor], list[Tensor]]:
    """The tensors that come out of a call with made arguments, and those of them that gradients are wanted of."""
    inputs: list[Tensor] = []
    args, kwargs = (to_tensors(part, inputs, True) for part in made)
    paddle.seed(SEED)
    return flat(function(*args, **kwargs)), inputs


def assert_close(actual: Any, expected: Any, tolerance: float, what: str) -> None:
    if not isinstance(actual, np.ndarray):
        assert isinstance(expected, type(actual)), f"{what}: {actual!r}, expected {expected!r}"
        assert actual == expected, what
        return
    expected = np.asarray(expected)
    assert list(actual.shape) == list(expected.shape), f"{what}: shape {actual.shape}, expected {expected.shape}"
    if expected.dtype.kind == "b" or actual.dtype.kind in "biu":
        np.testing.assert_array_equal(actual, expected, err_msg=what)
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    if is_reduced_precision(actual.dtype):
        tolerance = max(tolerance, 2e-2)
    np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what)


def assert_drawn_alike(actual: np.ndarray, expected: np.ndarray, what: str) -> None:
    """The same numbers: the bits drawn are the same, a function of them may differ by rounding."""
    assert actual.shape == expected.shape, what
    rounding = 0.0 if actual.dtype.kind in "biu" else 64 * float(np.finfo(actual.dtype).eps)
    np.testing.assert_allclose(actual, expected, rtol=rounding, atol=rounding, err_msg=what)


@pytest.mark.parametrize(("function", "case"), CASES)
def test_reference_and_modes(function: Any, case: S) -> None:
    """Immediate and self-compiled results agree with the reference; inferred shapes are the real ones."""
    with paddle.jit.eager_mode("immediate"):
        immediate = [value_of(leaf) for leaf in run(function, case)]
    for leaf in run(function, case):
        if isinstance(leaf, Tensor):
            inferred = leaf._aval
            array = leaf.numpy()
            assert array.shape == inferred.shape
            assert array.dtype == inferred.dtype
    compiled: list[Any] = []
    for _ in range(3):
        compiled = [value_of(leaf) for leaf in run(function, case)]
    samples: SampleSet = function.samples
    for position, (first, second) in enumerate(zip(immediate, compiled, strict=True)):
        what = f"output {position}: compiled against immediate"
        assert getattr(first, "dtype", None) == getattr(second, "dtype", None)
        if samples.unspecified:
            assert first.shape == second.shape
        elif samples.random:
            assert_drawn_alike(second, first, what)
        else:
            assert_close(second, first, samples.tolerance, what)
    if samples.reference is not None:
        args, kwargs = case.arrays()
        expected = samples.reference(*to_arrays(args), **to_arrays(kwargs))
        if not any(isinstance(value, np.ndarray) for value in immediate):
            expected = leaves(expected)
        expected = list(expected) if isinstance(expected, (list, tuple)) else [expected]
        assert len(expected) == len(immediate)
        for position, (actual, wanted) in enumerate(zip(immediate, expected, strict=True)):
            assert_close(actual, wanted, samples.tolerance, f"output {position} against the reference")


RANDOM = [case for case in CASES if cast(Any, case.values[0]).samples.random]


@pytest.mark.parametrize(("function", "case"), RANDOM)
def test_seeds(function: Any, case: S) -> None:
    """Another seed gives other numbers of the same shape and type."""
    one = [value_of(leaf) for leaf in run(function, case)]
    other = [value_of(leaf) for leaf in run(function, case, OTHER_SEED)]
    assert [(array.shape, array.dtype) for array in one] == [(array.shape, array.dtype) for array in other]
    if sum(array.size for array in one) > SURELY_DIFFERENT:
        assert any(not np.array_equal(first, second) for first, second in zip(one, other, strict=True))


DIFFERENTIABLE = [case for case in CASES if cast(Any, case.values[0]).samples.gradient]


def weights_of(outputs: list[Tensor]) -> dict[int, np.ndarray]:
    """Fixed weights for the outputs that carry a gradient, by position."""
    weights: dict[int, np.ndarray] = {}
    for position, output in enumerate(outputs):
        if output.stop_gradient or not is_differentiable(output._aval.dtype):
            continue
        random = np.random.default_rng(7 + position)
        values: Any = random.uniform(0.5, 1.5, output._aval.shape)
        if output._aval.dtype.kind == "c":
            values = values + 1j * random.uniform(0.5, 1.5, output._aval.shape)
        weights[position] = np.asarray(values).astype(output._aval.dtype)
    return weights


def weighted_sum(outputs: list[Tensor], weights: dict[int, np.ndarray]) -> Tensor | None:
    total = None
    for position, weight in weights.items():
        product = outputs[position] * paddle.to_tensor(weight)
        if product._aval.dtype.kind == "c":
            product = product.real()
        term = product.astype("float64").sum()
        total = term if total is None else total + term
    return total


@pytest.mark.parametrize(("function", "case"), DIFFERENTIABLE)
def test_gradients(function: Any, case: S) -> None:
    """First-order gradients against central differences, second order against differences of the first, in float64."""
    outputs, inputs = call(function, case.arrays("float64"))
    weights = weights_of(outputs)
    total = weighted_sum(outputs, weights)
    if total is None or not inputs:
        pytest.skip("nothing in this sample carries a gradient")
    grads = paddle.grad([total], inputs, create_graph=function.samples.second_order, allow_unused=True)
    random = np.random.default_rng(11)
    directions = [_direction(random, made) for made in _differentiated(case.arrays("float64"))]
    step = 1e-6

    def value_at(scale: float) -> float:
        with paddle.no_grad():
            moved, _ = call(function, _moved(case, directions, scale))
        return float(_weigh(moved, weights))

    analytic = _inner(grads, directions)
    numeric = (value_at(step) - value_at(-step)) / (2 * step)
    assert analytic == pytest.approx(numeric, rel=1e-5, abs=1e-6)
    if not function.samples.second_order:
        return
    first_order = [g for g in grads if g is not None and not g.stop_gradient]
    if not first_order:
        return
    seeds = [np.random.default_rng(13 + i).uniform(0.5, 1.5, g._aval.shape) for i, g in enumerate(first_order)]
    scalar = None
    for g, seed in zip(first_order, seeds, strict=True):
        term = _real_product(g, seed)
        scalar = term if scalar is None else scalar + term
    second = paddle.grad([scalar], inputs, allow_unused=True)

    def gradient_at(scale: float) -> float:
        moved_outputs, moved_inputs = call(function, _moved(case, directions, scale))
        moved_total = weighted_sum(moved_outputs, weights)
        moved_grads = paddle.grad([moved_total], moved_inputs, create_graph=True, allow_unused=True)
        usable = [g for g in moved_grads if g is not None and not g.stop_gradient]
        return sum(_real_product(g, s).item() for g, s in zip(usable, seeds, strict=True))

    analytic = _inner(second, directions)
    numeric = (gradient_at(step) - gradient_at(-step)) / (2 * step)
    assert analytic == pytest.approx(numeric, rel=1e-4, abs=1e-5)


def _differentiated(value: Any) -> list[Made]:
    """The made arrays that gradients are wanted of, in the order in which `to_tensors` meets them."""
    if isinstance(value, Made):
        return [value] if value.spec.grad and is_differentiable(value.array.dtype) else []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [made for item in value for made in _differentiated(item)]
    return []


def _direction(random: np.random.Generator, made: Made) -> np.ndarray:
    array = made.array
    values: Any = random.uniform(-1, 1, array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * random.uniform(-1, 1, array.shape)
    if made.spec.layout is not None:
        values = values * (array != 0)  # what is not stored stays so
    return np.asarray(values).astype(array.dtype)


def _inner(grads: list[Tensor | None], directions: list[np.ndarray]) -> float:
    """The directional derivative; for complex inputs Paddle's gradient is df/dRe + i df/dIm."""
    total = 0.0
    for grad, direction in zip(grads, directions, strict=True):
        if grad is not None:
            total += float(np.sum(np.real(np.conj(grad.numpy()) * direction)))
    return total


def _real_product(g: Tensor, seed: np.ndarray) -> Tensor:
    product = g * paddle.to_tensor(seed.astype(g._aval.dtype))
    return (product.real() if product._aval.dtype.kind == "c" else product).sum()


def _moved(case: S, directions: list[np.ndarray], scale: float) -> tuple[Any, Any]:
    """The arguments of a sample, a step away along the directions."""
    arguments = case.arrays("float64")
    for made, direction in zip(_differentiated(arguments), directions, strict=True):
        made.array = (made.array + scale * direction).astype(made.array.dtype)
    return arguments


def _weigh(outputs: list[Tensor], weights: dict[int, np.ndarray]) -> float:
    """The same weighted sum, outside autograd."""
    return sum(
        float(np.sum(np.real(outputs[position].numpy() * weight), dtype=np.float64))
        for position, weight in weights.items()
    )


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_in_place_form(name: str) -> None:
    """`x.name_(…)` gives what `name(x, …)` gives, changes `x` itself, and counts one version."""
    changing = getattr(Tensor, f"{name}_", None)
    if changing is None or not inspect.isfunction(changing):
        pytest.skip("has no in-place form")
    if hasattr(changing, "samples"):
        pytest.skip("the in-place form has samples of its own")
    tried = 0
    samples: SampleSet = FUNCTIONS[name].samples
    for case in samples.cases:
        args, kwargs = case.arrays()
        position = samples.changed
        if len(args) <= position or not isinstance(args[position], Made):
            continue
        expected = run(FUNCTIONS[name], case)[0]
        if expected._aval.shape != args[position].array.shape and not samples.reshapes:
            continue
        if samples.keeps_type and expected._aval.dtype != args[position].array.dtype:
            continue
        tensors = to_tensors(args, [], False)
        result = changing(*tensors, **to_tensors(kwargs, [], False))
        assert result is tensors[position]
        # As in Paddle, no new version where there is nothing to do: then the function gives its argument as it is.
        assert result.inplace_version == (0 if _gives_its_argument(FUNCTIONS[name], case, position) else 1)
        assert_close(result.numpy(), expected.numpy(), 1e-6, name)
        tried += 1
    assert tried or not samples.cases, f"no sample of {name} fits its in-place form"


def _gives_its_argument(function: Any, case: S, position: int) -> bool:
    args, kwargs = (to_tensors(part, [], False) for part in case.arrays())
    return function(*args, **kwargs) is args[position]
