"""What shares memory with what must not depend on which names a program still has, nor on when work runs.

NumPy has the same rules for views, so it is the reference: the same statements on arrays.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle


@pytest.fixture(params=["auto", "immediate"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    before = paddle.get_flags("FLAGS_eager_mode")
    paddle.set_flags({"FLAGS_eager_mode": request.param})
    yield request.param
    paddle.set_flags(before)


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def test_a_write_through_a_view_whose_own_source_is_gone() -> None:
    for _ in range(6):  # cold, then compiled
        random = np.random.default_rng(5)

        def drawn(*shape: int, random: np.random.Generator = random) -> Any:
            return paddle.to_tensor(random.normal(size=shape).astype("float32"))

        a, x = drawn(2, 3, 2), drawn(3, 2, 4)
        v = x[-1:]
        w = v[0, :]
        v = v * drawn(1, 2, 4)  # the view between x and w is dropped
        b = a.squeeze()
        a.zero_()
        a[paddle.to_tensor([1, 0]), :, None] = 3
        w.zero_()
        c = a[None, :, ::-1, 0:1]
        np.testing.assert_array_equal(x.numpy()[2], np.zeros((2, 4)))
        for tensor in (v, w, b, a, c):
            tensor.numpy()


@pytest.mark.parametrize("read_first", [False, True])
def test_two_views_of_a_tensor_that_is_gone_see_each_other(read_first: bool) -> None:
    for _ in range(6):
        base = paddle.to_tensor(numbers(4)) * 1.0
        left, right = base[:3], base[1:]
        if read_first:
            base.numpy()
        del base
        if read_first:
            left.numpy()
        left.zero_()
        np.testing.assert_array_equal(right.numpy(), [0, 0, 4])
        right[2] = 9.0
        right[0] = 7.0
        np.testing.assert_array_equal(left.numpy(), [0, 7, 0])


def test_views_of_views_with_everything_between_them_dropped() -> None:
    for _ in range(6):
        array = numbers(2, 3, 4)
        tensor = paddle.to_tensor(array) + 0.0
        array = array.copy()
        shown = tensor.transpose([2, 0, 1])[1:3].unsqueeze(0)[:, :, 1]
        shown_array = array.transpose(2, 0, 1)[1:3][None][:, :, 1]
        shown.add_(paddle.to_tensor(10.0))
        shown_array += 10
        np.testing.assert_array_equal(tensor.numpy(), array)
        tensor[1] = -1.0
        array[1] = -1
        np.testing.assert_array_equal(shown.numpy(), shown_array)


def test_a_tensor_and_its_detached_forms_are_one_memory() -> None:
    x = paddle.to_tensor(numbers(2, 3))
    x.stop_gradient = False
    y = x * 2
    part = y[1].detach()
    whole = y.detach()
    part.zero_()
    np.testing.assert_array_equal(y.numpy(), [[2, 4, 6], [0, 0, 0]])
    np.testing.assert_array_equal(whole.numpy(), [[2, 4, 6], [0, 0, 0]])
    whole[0, 0] = 50.0
    np.testing.assert_array_equal(y[0].numpy(), [50, 4, 6])
    y.sum().backward()  # values went across, histories did not
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 3), 2))


def test_detach_does_not_keep_the_graph() -> None:
    x = paddle.to_tensor(numbers(3))
    x.stop_gradient = False
    y = (x * 2).exp()
    node = weakref.ref(y.grad_fn)
    kept = [y.detach(), y[:2].detach()]
    del y
    gc.collect()
    kept[0].numpy()
    paddle.to_tensor(1.0).numpy()
    assert node() is None
    np.testing.assert_allclose(kept[1].numpy(), np.exp([2, 4]), rtol=1e-6)


def test_a_chain_of_slices_does_not_keep_its_ancestors() -> None:
    seen: list[weakref.ref[Any]] = []
    x = paddle.to_tensor(numbers(300)) * 1.0
    for _ in range(200):
        x = x[1:]
        seen.append(weakref.ref(x))
        if len(seen) % 7 == 0:
            float(x[0])
    x.numpy()
    gc.collect()
    assert sum(reference() is not None for reference in seen) <= 1
    np.testing.assert_array_equal(x.numpy(), numbers(300)[200:])


def _random_view(random: np.random.Generator, tensor: Any, array: np.ndarray) -> tuple[Any, np.ndarray]:
    kind = random.integers(5)
    if kind == 0 and array.ndim > 1:
        perm = random.permutation(array.ndim).tolist()
        return tensor.transpose(perm), array.transpose(perm)
    if kind == 1 and array.ndim:
        axis = int(random.integers(array.ndim))
        start, step = int(random.integers(2)), int(random.choice([1, 2, -1]))
        index = (*(slice(None),) * axis, slice(start, None, step) if step > 0 else slice(None, None, step))
        return tensor[index], array[index]
    if kind == 2:
        axis = int(random.integers(array.ndim + 1))
        return tensor.unsqueeze(axis), np.expand_dims(array, axis)
    if kind == 3 and array.ndim:
        position = int(random.integers(array.shape[0])) if array.shape[0] else 0
        return (tensor[position], array[position, ...]) if array.shape[0] else (tensor, array)
    shapes = [s for s in ([-1], [array.shape[0], -1] if array.ndim and array.size else [-1], [1, -1]) if array.size]
    shape = shapes[int(random.integers(len(shapes)))] if shapes else list(array.shape)
    return tensor.reshape(shape), array.reshape(shape)


@pytest.mark.parametrize("seed", range(60))
def test_what_shares_memory_is_what_shares_memory_in_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    array = numbers(*random.integers(1, 5, size=3).tolist())
    tensor = paddle.to_tensor(array.copy())
    shown, shown_array = tensor, array
    for _ in range(int(random.integers(1, 6))):
        shown, shown_array = _random_view(random, shown, shown_array)
    np.testing.assert_array_equal(shown.numpy(), shown_array)
    for axis, extent in enumerate(shown_array.shape):
        if extent > 1 and shown_array.size:
            assert shown.strides[axis] * 4 == shown_array.strides[axis]
    shown.fill_(-5.0)
    shown_array[...] = -5
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_a_copy_where_the_memory_has_gaps() -> None:
    a = paddle.to_tensor(numbers(3, 4))
    for copy in (a.T.contiguous(), a.T.flatten(), a[:, 1:3].reshape([-1]), a.T.ravel()):
        copy.zero_()
    np.testing.assert_array_equal(a.numpy(), numbers(3, 4))
    assert not a.T.is_contiguous()
    assert a.contiguous() is a
    with pytest.raises(ValueError, match=r"\(view\).*strides \[1, 4\].*reshape\(\)"):
        a.T.view([12])


def test_the_same_object_only_for_the_very_shape() -> None:
    x = paddle.to_tensor(numbers(3))
    x.stop_gradient = False
    y = x.reshape([-1])
    assert y is not x
    assert x.reshape([3]) is x
    y.stop_gradient = True
    assert not x.stop_gradient
    z = paddle.to_tensor(numbers(2, 3))
    other = z.reshape([0, 3])
    other.unsqueeze_(0)
    assert z.shape == [2, 3]
    assert other.shape == [1, 2, 3]


def test_in_place_shapes_keep_sharing_after_a_transpose() -> None:
    x = paddle.to_tensor(numbers(2, 3))
    view = x[0]
    x.transpose_([1, 0])
    x[:, 0] = 0.0
    np.testing.assert_array_equal(view.numpy(), [0, 0, 0])
    row = x.T  # [2, 3] again
    row.reshape_([6])
    row[5] = 99.0
    assert x.numpy()[2, 1] == 99


def test_gradients_need_only_what_they_need() -> None:
    def leaf() -> Any:
        tensor = paddle.to_tensor([1.0, 2.0, 3.0])
        tensor.stop_gradient = False
        return tensor

    x = leaf()
    v = x * 3
    v[:1] *= 2
    v.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [6, 3, 3])
    constant = paddle.to_tensor([2.0, 3.0, 4.0])
    for function in (lambda x: x * 0.5 * constant * 2, lambda x: paddle.einsum("i,i->i", x, constant)):
        x = leaf()
        y = function(x)
        with paddle.no_grad():
            x.add_(paddle.to_tensor(1.0))
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2, 3, 4])
    x = leaf()
    other = paddle.to_tensor([1.0, 1.0, 1.0])
    y = x * other
    other.add_(paddle.to_tensor(1.0))
    with pytest.raises(RuntimeError, match="changed in place afterwards"):
        y.sum().backward()
