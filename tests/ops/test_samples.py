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
from tests.parity.settings import is_random

FUNCTIONS = {name: f for name, f in PUBLIC.items() if isinstance(getattr(f, "samples", None), SampleSet)}
# Only shapes and types of their results are the same twice.
RANDOM = {id(function) for name, function in FUNCTIONS.items() if is_random(name)}
CASES = [
    pytest.param(function, case, id=f"{name}{case!r}")
    for name, function in FUNCTIONS.items()
    for case in function.samples.cases
]


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
        return tensor
    if isinstance(value, (list, tuple)):
        return type(value)(to_tensors(v, inputs, differentiate) for v in value)
    if isinstance(value, dict):
        return {k: to_tensors(v, inputs, differentiate) for k, v in value.items()}
    return value


def flat(result: Any) -> list[Tensor]:
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [t for item in result for t in flat(item)]
    return []


def call(
    function: Any, case: S, dtype: str | None = None, differentiate: bool = False
) -> tuple[list[Tensor], list[Tensor]]:
    args, kwargs = case.arrays(dtype)
    inputs: list[Tensor] = []
    args = to_tensors(args, inputs, differentiate)
    kwargs = to_tensors(kwargs, inputs, differentiate)
    return flat(function(*args, **kwargs)), inputs


def assert_close(actual: np.ndarray, expected: Any, tolerance: float, what: str) -> None:
    expected = np.asarray(expected)
    assert list(actual.shape) == list(expected.shape), f"{what}: shape {actual.shape}, expected {expected.shape}"
    if expected.dtype.kind == "b" or actual.dtype.kind in "biu":
        np.testing.assert_array_equal(actual, expected, err_msg=what)
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    if is_reduced_precision(actual.dtype):
        tolerance = max(tolerance, 2e-2)
    np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what)


@pytest.mark.parametrize(("function", "case"), CASES)
def test_reference_and_modes(function: Any, case: S) -> None:
    """Immediate and self-compiled results agree with the reference; inferred shapes are the real ones."""
    with paddle.jit.eager_mode("immediate"):
        immediate = [t.numpy() for t in call(function, case)[0]]
    outputs, _ = call(function, case)
    for tensor in outputs:
        inferred = tensor._aval
        array = tensor.numpy()
        assert array.shape == inferred.shape
        assert array.dtype == inferred.dtype
    compiled = outputs
    for _ in range(3):
        compiled, _ = call(function, case)
        compiled_arrays = [t.numpy() for t in compiled]
    tolerance = function.samples.tolerance
    for position, (first, second) in enumerate(zip(immediate, compiled_arrays, strict=True)):
        assert first.dtype == second.dtype
        if id(function) in RANDOM and function.samples.reference is None:
            assert first.shape == second.shape
            continue
        assert_close(second, first, tolerance, f"output {position}: compiled against immediate")
    reference = function.samples.reference
    if reference is not None:
        args, kwargs = case.arrays()
        expected = reference(*to_arrays(args), **to_arrays(kwargs))
        expected = list(expected) if isinstance(expected, (list, tuple)) else [expected]
        assert len(expected) == len(immediate)
        for position, (actual, wanted) in enumerate(zip(immediate, expected, strict=True)):
            assert_close(actual, wanted, tolerance, f"output {position} against the reference")


DIFFERENTIABLE = [case for case in CASES if cast(Any, case.values[0]).samples.gradient]


def weighted_sum(outputs: list[Tensor], weights: list[np.ndarray]) -> Tensor | None:
    total = None
    position = 0
    for output in outputs:
        if output.stop_gradient or not is_differentiable(output._aval.dtype):
            continue
        weight = weights[position] if position < len(weights) else None
        if weight is None:
            random = np.random.default_rng(7 + position)
            values = random.uniform(0.5, 1.5, output._aval.shape)
            if output._aval.dtype.kind == "c":
                values = values + 1j * random.uniform(0.5, 1.5, output._aval.shape)
            weight = values.astype(output._aval.dtype)
            weights.append(weight)
        position += 1
        product = output * paddle.to_tensor(weight)
        if product._aval.dtype.kind == "c":
            product = product.real()
        term = product.astype("float64").sum()
        total = term if total is None else total + term
    return total


@pytest.mark.parametrize(("function", "case"), DIFFERENTIABLE)
def test_gradients(function: Any, case: S) -> None:
    """First-order gradients against central differences, second order against differences of the first, in float64."""
    outputs, inputs = call(function, case, "float64", differentiate=True)
    weights: list[np.ndarray] = []
    total = weighted_sum(outputs, weights)
    if total is None or not inputs:
        pytest.skip("nothing in this sample carries a gradient")
    grads = paddle.grad([total], inputs, create_graph=function.samples.second_order, allow_unused=True)
    random = np.random.default_rng(11)
    directions = [_direction(random, tensor) for tensor in inputs]
    step = 1e-6

    def value_at(scale: float) -> float:
        with paddle.no_grad():
            moved = _call_moved(function, case, directions, scale)
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
        moved_outputs, moved_inputs = _call_moved_with_inputs(function, case, directions, scale)
        moved_total = weighted_sum(moved_outputs, list(weights))
        moved_grads = paddle.grad([moved_total], moved_inputs, create_graph=True, allow_unused=True)
        usable = [g for g in moved_grads if g is not None and not g.stop_gradient]
        return sum(_real_product(g, s).item() for g, s in zip(usable, seeds, strict=True))

    analytic = _inner(second, directions)
    numeric = (gradient_at(step) - gradient_at(-step)) / (2 * step)
    assert analytic == pytest.approx(numeric, rel=1e-4, abs=1e-5)


def _direction(random: np.random.Generator, tensor: Tensor) -> np.ndarray:
    values = random.uniform(-1, 1, tensor._aval.shape)
    if tensor._aval.dtype.kind == "c":
        values = values + 1j * random.uniform(-1, 1, tensor._aval.shape)
    return values.astype(tensor._aval.dtype)


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


def _call_moved_with_inputs(function: Any, case: S, directions: list[np.ndarray], scale: float) -> Any:
    args, kwargs = case.arrays("float64")
    position = [0]

    def move(value: Any) -> Any:
        if isinstance(value, Made):
            if value.spec.grad and is_differentiable(value.array.dtype):
                value.array = (value.array + scale * directions[position[0]]).astype(value.array.dtype)
                position[0] += 1
        elif isinstance(value, (list, tuple)):
            for item in value:
                move(item)
        elif isinstance(value, dict):
            for item in value.values():
                move(item)

    move(args)
    move(kwargs)
    inputs: list[Tensor] = []
    args = to_tensors(args, inputs, True)
    kwargs = to_tensors(kwargs, inputs, True)
    return flat(function(*args, **kwargs)), inputs


def _call_moved(function: Any, case: S, directions: list[np.ndarray], scale: float) -> list[Tensor]:
    return _call_moved_with_inputs(function, case, directions, scale)[0]


def _weigh(outputs: list[Tensor], weights: list[np.ndarray]) -> float:
    """The same weighted sum, outside autograd: outputs that carried gradients are those of the weights' shapes, in order."""
    total = 0.0
    remaining = list(weights)
    for output in outputs:
        if remaining and is_differentiable(output._aval.dtype) and output._aval.shape == remaining[0].shape:
            total += float(np.sum(np.real(output.numpy() * remaining.pop(0)), dtype=np.float64))
    return total


# Their in-place forms give the tensor another shape.
RESHAPING = {"reshape", "squeeze", "unsqueeze", "flatten"}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_in_place_form(name: str) -> None:
    """`x.name_(…)` gives what `name(x, …)` gives, changes `x` itself, and counts one version."""
    changing = getattr(Tensor, f"{name}_", None)
    if changing is None or not inspect.isfunction(changing):
        pytest.skip("has no in-place form")
    tried = 0
    for case in FUNCTIONS[name].samples.cases:
        args, kwargs = case.arrays()
        position = 1 if name == "where" else 0  # `where_` changes x, which comes after the condition
        if len(args) <= position or not isinstance(args[position], Made):
            continue
        expected = call(FUNCTIONS[name], case)[0][0]
        if expected._aval.shape != args[position].array.shape and name not in RESHAPING:
            continue
        tensors = to_tensors(args, [], False)
        result = changing(*tensors, **to_tensors(kwargs, [], False))
        assert result is tensors[position]
        assert result.inplace_version == 1
        assert_close(result.numpy(), expected.numpy(), 1e-6, name)
        tried += 1
    assert tried or not FUNCTIONS[name].samples.cases, f"no sample of {name} fits its in-place form"


def test_every_public_function_has_samples() -> None:
    """Counts what is not covered, so that the number only goes down."""
    missing = sorted(
        name
        for name, value in PUBLIC.items()
        if inspect.isfunction(value) and not hasattr(value, "samples") and not name.endswith("_")
    )
    assert len(missing) <= 400, missing
