"""`x[index]` and `x[index] = value` for random indices against NumPy, with gradients, on both tiers.

One rule is Paddle's (and PyTorch's) and not NumPy's: an integer is taken first, whatever stands beside it, so that it
never counts as an array when arrays and slices are sorted. The reference takes integers first too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import proa as paddle

_SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
_FEW = settings(_SETTINGS, max_examples=20)


@st.composite
def slices(draw: st.DrawFn, extent: int) -> slice:
    bound = st.none() | st.integers(-extent - 2, extent + 2)
    step = draw(st.none() | st.integers(-3, 3).filter(bool))
    return slice(draw(bound), draw(bound), step)


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """A shape and an index for it. All arrays have one common shape, as far as they are not masks."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=0, max_size=4)))
    common = draw(st.sampled_from([(1,), (2,), (3,), (2, 2), (0,)]))
    with_arrays = draw(st.booleans())
    index: list[Any] = []
    axis = 0
    has_dots = masked = False
    # Behind the dots everything is named, so that they mean the axes that were left out for them.
    while axis < len(shape) and (has_dots or draw(st.integers(0, 9)) > 0):
        kinds = ["integer", "slice", "none"]
        kinds += [] if has_dots else ["dots"]
        if with_arrays:
            kinds += ["array", "array", "boolean"]
            kinds += [] if masked else ["mask"]
        kind = draw(st.sampled_from(kinds))
        extent = shape[axis]
        if kind == "integer":
            index.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "slice":
            index.append(draw(slices(extent)))
        elif kind == "none":
            index.append(None)
            continue
        elif kind == "boolean":
            index.append(draw(st.booleans()))
            continue
        elif kind == "dots":
            index.append(Ellipsis)
            has_dots = True
            axis += draw(st.integers(0, len(shape) - axis))
            continue
        elif kind == "array":
            size = int(np.prod(common))
            numbers = draw(st.lists(st.integers(-extent, extent - 1), min_size=size, max_size=size))
            index.append(np.array(numbers, "int64").reshape(common))
        else:
            masked = True
            depth = draw(st.integers(1, len(shape) - axis))
            covered = shape[axis : axis + depth]
            size = int(np.prod(covered))
            index.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool).reshape(covered))
            axis += depth
            continue
        axis += 1
    return shape, tuple(index)


def integers_first(x: np.ndarray, index: tuple[Any, ...]) -> tuple[np.ndarray, tuple[Any, ...]]:
    """A view of `x` without the axes that integers take, and the rest of the index."""

    def axes(item: Any) -> int:
        if item is None or isinstance(item, bool) or item is Ellipsis:
            return 0
        return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1

    left = x.ndim - sum(map(axes, index))
    chosen: list[Any] = []
    rest: list[Any] = []
    for item in index:
        if isinstance(item, int) and not isinstance(item, bool):
            chosen.append(item)
            continue
        chosen += [slice(None)] * (left if item is Ellipsis else axes(item))
        rest.append(item)
    return x[(*chosen, Ellipsis)], tuple(rest)  # the dots make it a view even of one element


def reference(x: np.ndarray, index: tuple[Any, ...]) -> np.ndarray | None:
    """What the index means; None where NumPy finds that arrays do not fit together."""
    view, rest = integers_first(x, index)
    try:
        return view[rest]
    except IndexError:
        return None


def as_tensors(index: tuple[Any, ...], how: str) -> Any:
    def convert(item: Any) -> Any:
        if not isinstance(item, np.ndarray):
            return item
        return paddle.to_tensor(item) if how == "tensor" else item.tolist() if how == "list" and item.size else item

    converted = tuple(convert(item) for item in index)
    return converted[0] if len(converted) == 1 and how == "array" else converted


def source(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(1, int(np.prod(shape)) + 1, dtype="float32").reshape(shape)


@_SETTINGS
@given(cases(), st.sampled_from(["tensor", "list", "array"]))
def test_reading(case: Any, how: str) -> None:
    shape, index = case
    data = source(shape)
    wanted = reference(data, index)
    given_index = as_tensors(index, how)
    if wanted is None:
        with pytest.raises((IndexError, ValueError)):
            paddle.to_tensor(data)[given_index].numpy()
        return
    found = paddle.to_tensor(data)[given_index]
    assert tuple(found.shape) == wanted.shape
    np.testing.assert_array_equal(found.numpy(), wanted)


@_SETTINGS
@given(cases(), st.sampled_from(["number", "whole", "last", "ones"]))
def test_writing(case: Any, kind: str) -> None:
    shape, index = case
    data = source(shape)
    wanted = reference(data, index)
    if wanted is None:
        with pytest.raises((IndexError, ValueError)):
            paddle.to_tensor(data)[as_tensors(index, "tensor")] = 1.0
        return
    if kind != "number" and np.unique(wanted).size != wanted.size:
        kind = "number"  # which of two values stays is nobody's promise
    value = _value(kind, wanted.shape)
    expected = data.copy()
    view, rest = integers_first(expected, index)
    view[rest] = value
    x = paddle.to_tensor(data)
    x[as_tensors(index, "tensor")] = value if isinstance(value, float) else paddle.to_tensor(value)
    np.testing.assert_array_equal(x.numpy(), expected)
    assert x.inplace_version == 1


def _value(kind: str, shape: tuple[int, ...]) -> Any:
    if kind == "number":
        return -7.0
    wanted = shape[-1:] if kind == "last" else tuple(1 for _ in shape) if kind == "ones" else shape
    return -np.arange(1, int(np.prod(wanted)) + 1, dtype="float32").reshape(wanted)


def read_and_write(shape: tuple[int, ...], index: tuple[Any, ...], value: np.ndarray) -> list[np.ndarray]:
    """A read, a write, and all gradients of a weighted sum of both results."""
    x = paddle.to_tensor(source(shape), stop_gradient=False)
    v = paddle.to_tensor(value, stop_gradient=False)
    where = as_tensors(index, "tensor")
    part = x[where]
    changed = x * 2.0
    changed[where] = v
    weights = paddle.to_tensor(_weights(part.shape))
    total = (part * weights).sum() + (changed * paddle.to_tensor(_weights(shape) + 0.5)).sum()
    total.backward()
    return [part.numpy(), changed.numpy(), x.grad.numpy(), v.grad.numpy()]


def _weights(shape: Any) -> np.ndarray:
    return np.cos(np.arange(int(np.prod(shape)), dtype="float32")).reshape(list(shape))


def check_gradients(case: Any, rounds: int) -> None:
    shape, index = case
    data = source(shape)
    wanted = reference(data, index)
    if wanted is None or np.unique(wanted).size != wanted.size:
        return
    value = np.full(wanted.shape[-1:], -3.0, "float32")
    changed = np.array(data * 2)
    view, rest = integers_first(changed, index)
    view[rest] = value
    grad_part = np.zeros_like(data)
    view, rest = integers_first(grad_part, index)
    view[rest] = _weights(wanted.shape)
    grad_changed = np.array(_weights(shape) + np.float32(0.5))
    view, rest = integers_first(grad_changed, index)
    grad_value = view[rest].astype("float64")
    grad_value = grad_value.reshape(-1, *value.shape).sum(0) if value.size or not value.ndim else value
    view[rest] = 0
    for _ in range(rounds):
        results = read_and_write(shape, index, value)
        for found, expected in zip(results, (wanted, changed, grad_part + 2 * grad_changed, grad_value), strict=True):
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@_SETTINGS
@given(cases())
def test_gradients(case: Any) -> None:
    check_gradients(case, rounds=1)


@_FEW
@given(cases())
def test_gradients_when_compiled(case: Any) -> None:
    check_gradients(case, rounds=4)


@_SETTINGS
@given(cases())
def test_gradients_add_up_where_elements_are_taken_twice(case: Any) -> None:
    shape, index = case
    data = source(shape)
    wanted = reference(data, index)
    if wanted is None:
        return
    expected = np.zeros_like(data)
    view, rest = integers_first(expected, index)
    np.add.at(view, rest, _weights(wanted.shape))
    x = paddle.to_tensor(data, stop_gradient=False)
    (x[as_tensors(index, "tensor")] * paddle.to_tensor(_weights(wanted.shape))).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5, atol=1e-5)


@_SETTINGS
@given(cases())
def test_a_view_is_written_through_exactly_when_the_index_is_basic(case: Any) -> None:
    shape, index = case
    data = source(shape)
    wanted = reference(data, index)
    if wanted is None:
        return
    x = paddle.to_tensor(data)
    x[as_tensors(index, "tensor")].fill_(-1.0)
    expected = data.copy()
    if not any(isinstance(item, (np.ndarray, bool)) for item in index):
        expected[index] = -1.0
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (1.5, ValueError),
        ("a", ValueError),
        (2, IndexError),
        (-3, IndexError),
        ((0, 0, 0), IndexError),
        ((Ellipsis, Ellipsis), ValueError),
        (slice(None, None, 0), ValueError),
        ([5], IndexError),
        ([True, False, True], IndexError),
        (([0, 1, 1], [0, 1]), ValueError),
        ((False, [0, 1]), ValueError),
    ],
)
def test_what_is_no_index_is_refused(index: Any, error: type[Exception]) -> None:
    x = paddle.to_tensor(source((2, 3)))
    with pytest.raises(error):
        x[index].numpy()
    with pytest.raises(error):
        _write_and_look(x, index)


def _write_and_look(x: Any, index: Any) -> None:
    x[index] = 0.0
    x.numpy()  # an index that is data is checked where it is used
