"""backward(): seeds, accumulation, leaves, freed graphs. The expected behaviour was observed in
Paddle 3.3.1.
"""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from tests.autograd.reference import check_gradient, constant, leaf


def test_a_result_with_many_elements_is_seeded_with_ones():
    x = leaf([1.0, 2.0])
    (x * x).backward()
    assert x.grad.numpy().tolist() == [2, 4]


def test_a_given_gradient_scales_the_result():
    x = leaf([1.0, 2.0])
    (x * x).backward(constant([10.0, 100.0]))
    assert x.grad.numpy().tolist() == [20, 400]


def test_a_given_gradient_of_another_dtype_is_cast():
    x = leaf([1.0, 2.0], "float32")
    (x * 2).backward(constant([1.0, 2.0], "float64"))
    assert x.grad.dtype == paddle.float32
    assert x.grad.numpy().tolist() == [2, 4]


@pytest.mark.parametrize(
    ("seed", "error", "text"),
    [
        (
            5,
            TypeError,
            "(backward) the gradient of a result must be a Tensor or None; received int",
        ),
        (np.ones(2), TypeError, "received ndarray"),
        (
            constant([1.0]),
            ValueError,
            "(backward) the gradient of a result must have its shape; received float64[1]",
        ),
    ],
)
def test_wrong_gradients_are_refused(seed, error, text):
    y = leaf([1.0, 2.0]) * 2
    with pytest.raises(error) as caught:
        y.backward(seed)
    assert text in str(caught.value)


def test_backward_of_a_leaf_is_ones():
    x = leaf([1.0, 2.0])
    x.backward()
    assert x.grad.numpy().tolist() == [1, 1]


def test_backward_without_anything_to_differentiate_does_nothing():
    x = constant([1.0, 2.0])
    assert (x * 2).backward() is None
    assert x.backward() is None
    assert x.grad is None


def test_backward_of_a_stopped_result_does_nothing():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.stop_gradient = True
    y.backward()
    assert x.grad is None


def test_gradients_of_several_passes_add_up():
    x = leaf([1.0, 2.0])
    for _ in range(3):
        (x * 3).backward()
    assert x.grad.numpy().tolist() == [9, 9]


def test_who_holds_the_gradient_sees_the_sum():
    x = leaf([1.0, 2.0])
    (x * 2).backward()
    held = x.grad
    (x * 3).backward()
    assert held.numpy().tolist() == [5, 5]


def test_gradients_of_different_leaves_are_different_objects():
    a, b = leaf([1.0]), leaf([2.0])
    seed = constant([1.0])
    (a + b).backward(seed)
    assert a.grad is not b.grad
    a.grad.add_(constant([5.0]))
    assert [a.grad.item(), b.grad.item(), seed.item()] == [6, 1, 1]


def test_the_seed_is_not_changed_by_accumulation():
    x, seed = leaf([1.0]), constant([1.0])
    (x + 1).backward(seed)
    (x * 2).backward()
    assert seed.item() == 1
    assert x.grad.item() == 3


def test_a_tensor_used_many_times_gets_the_sum():
    x = leaf([2.0])
    y = x
    for _ in range(50):
        y = y + x
    (y * x).backward()
    assert x.grad.item() == pytest.approx(2 * 51 * 2)


def test_a_diamond():
    check_gradient(lambda x: (x.sin() * x.exp() + x.sin() * x).tanh() * x.exp(), [0.3, -0.7])


def test_broadcast_operands_get_gradients_of_their_own_shape():
    check_gradient(lambda a, b: a * b + b, [[1.0, 2.0], [3.0, 4.0]], [0.5, -1.5])
    check_gradient(lambda a, b: a / b, [1.0, 2.0], 0.7)


def test_mixed_dtypes_give_each_operand_its_own():
    x, y = leaf([1.0, 2.0], "float32"), leaf([3.0, 4.0], "float64")
    (x * y).backward()
    assert x.grad.dtype == paddle.float32
    assert y.grad.dtype == paddle.float64
    assert x.grad.numpy().tolist() == [3, 4]


def test_leaves_and_results():
    x = leaf([1.0])
    y = x * 2
    stopped = constant([1.0]) * 2
    assert [x.is_leaf, y.is_leaf, stopped.is_leaf] == [True, False, True]
    assert x.grad_fn is None
    assert y.grad_fn.name() == "MultiplyGradNode"
    assert (y * 2).grad_fn.next_functions == [y.grad_fn]
    y.backward()
    assert y.grad is None


def test_stopping_and_going_on_in_the_middle():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.stop_gradient = True
    assert (y * 3).stop_gradient
    y.stop_gradient = False
    (y * 3).backward()
    assert x.grad.numpy().tolist() == [6, 6]


def test_what_was_recorded_before_stopping_still_counts():
    x = leaf([1.0])
    y = x * 2
    z = y * 3
    y.stop_gradient = x.stop_gradient = True
    z.backward()
    assert x.grad.item() == 6


def test_a_constant_becomes_a_leaf():
    c = constant([1.0]) * 2
    c.stop_gradient = False
    (c * 5).backward()
    assert c.grad.item() == 5


class TestSecondTime:
    @pytest.mark.parametrize(
        ("make", "name"),
        [
            (lambda x: x.sin(), "sin_grad"),
            (lambda x: x + x, "add_grad"),
            (lambda x: x.sum(), "sum_grad"),
        ],
    )
    def test_it_is_an_error_that_names_the_operation(self, make, name):
        y = make(leaf([1.0, 2.0]))
        y.backward()
        with pytest.raises(RuntimeError) as caught:
            y.backward()
        assert str(caught.value).startswith(f"({name}) backward runs a second time")
        assert "retain_graph=True" in str(caught.value)

    def test_it_works_with_retain_graph(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        for _ in range(3):
            y.backward(retain_graph=True)
        assert x.grad.numpy().tolist() == [6, 12]

    def test_a_shared_part_is_freed_for_both(self):
        x = leaf([0.5])
        shared = x.exp()
        first, second = shared * 2, shared * 3
        first.backward()
        with pytest.raises(RuntimeError, match=r"\(exp_grad\)"):
            second.backward()

    def test_grad_after_backward(self):
        x = leaf([0.5])
        y = x.exp()
        y.backward()
        with pytest.raises(RuntimeError, match=r"\(exp_grad\) backward runs a second time"):
            paddle.grad(y, x)

    def test_several_outputs(self):
        a, b = paddle.split(leaf([1.0, 2.0]), 2)
        a.backward()
        with pytest.raises(RuntimeError, match=r"\(split_grad\)"):
            b.backward()


class TestSeveralTensors:
    def test_gradients_add_up(self):
        x = leaf([1.0, 2.0])
        paddle.autograd.backward([x * 2, x * 3], [None, constant([1.0, 10.0])])
        assert x.grad.numpy().tolist() == [5, 32]

    def test_one_tensor_alone(self):
        x = leaf([1.0])
        paddle.autograd.backward(x * 2)
        assert x.grad.item() == 2

    def test_one_of_them_depends_on_the_other(self):
        x = leaf([2.0])
        y = x * x
        paddle.autograd.backward([y, y * 3])
        assert x.grad.item() == 4 + 12

    def test_stopped_ones_are_passed_over(self):
        x = leaf([1.0])
        paddle.autograd.backward([constant([1.0]) * 2, x * 3])
        assert x.grad.item() == 3

    def test_wrong_arguments(self):
        x = leaf([1.0])
        y = x * 2
        with pytest.raises(ValueError, match="given twice"):
            paddle.autograd.backward([y, y])
        with pytest.raises(ValueError, match="as many gradients as tensors"):
            paddle.autograd.backward([y, x * 3], [constant([1.0])])
        with pytest.raises(TypeError, match="non-empty list of Tensors"):
            paddle.autograd.backward([])
        with pytest.raises(TypeError, match="tensors must be a Tensor"):
            paddle.autograd.backward(3.0)


def test_only_one_of_several_outputs_is_used():
    check_gradient(lambda x: paddle.split(x, 2)[1].sin(), [0.1, 0.2, 0.3, 0.4])
    check_gradient(lambda x: paddle.unbind(x)[0].exp(), [[0.1, 0.2], [0.3, 0.4]])


def test_all_outputs_are_used_and_one_twice():
    def function(x):
        a, b = paddle.split(x, 2)
        return a.sin() * b + a

    check_gradient(function, [0.1, 0.2, 0.3, 0.4])


def test_complex_gradients_follow_paddle():
    """`d Re(z*z) / dz` is the conjugate of `2z` there."""
    z = leaf([1 + 2j], "complex128")
    paddle.real(z * z).backward()
    assert z.grad.numpy().tolist() == [2 - 4j]


def test_hot_code_gives_the_same_gradients():
    """The third round is compiled; all rounds must agree."""
    x, w = leaf(np.linspace(-1, 1, 6).reshape(2, 3)), leaf(np.linspace(0, 1, 12).reshape(3, 4))
    rounds = []
    for _ in range(6):
        loss = (paddle.matmul(x, w).tanh() ** 2).sum()
        loss.backward()
        rounds.append((x.grad.numpy(), w.grad.numpy()))
        x.clear_grad()
        w.clear_grad()
    for got in rounds[1:]:
        for first, again in zip(rounds[0], got):
            np.testing.assert_allclose(again, first, rtol=1e-12)
