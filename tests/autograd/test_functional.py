"""jacobian, hessian, jvp, vjp: against formulas and central differences. Shapes as observed in
Paddle 3.3.1.
"""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.autograd import functional, hessian, jacobian, jvp, vjp
from tests.autograd.reference import constant, leaf

A = np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0]])


def curved(x):
    """Two numbers from three: tanh(A x)."""
    return paddle.matmul(constant(A), x).tanh()


def slope(x):
    return (1 - np.tanh(A @ x) ** 2)[:, None] * A


POINT = np.array([0.3, -0.2, 0.5])


class TestJacobian:
    def test_values_and_indexing(self):
        x = leaf(POINT)
        matrix, expected = jacobian(curved(x), x), slope(POINT)
        assert matrix.shape == [2, 3]
        for index in (
            slice(None), 0, 1, -1, (0, slice(None)), (slice(None), 1), (slice(0, 1), slice(None)),
            (1, 2), (slice(None, None, -1), 0),
            (slice(1, 1), slice(None)), (0, slice(1, 3)), (Ellipsis, 0), None,
        ):  # fmt: skip
            got, wanted = matrix[index].numpy(), expected[index]
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-12)

    def test_only_the_rows_that_are_looked_at_are_computed(self):
        x = leaf(POINT)
        passes = []
        h = x * 1
        h.register_hook(lambda g: passes.append(1))
        matrix = jacobian(curved(h), x)
        assert passes == []
        matrix[1]
        matrix[1, 2]
        assert len(passes) == 1
        matrix[:]
        matrix[0]
        assert len(passes) == 2

    def test_it_can_be_used_like_a_tensor(self):
        x = leaf(POINT)
        matrix, expected = jacobian(curved(x), x), slope(POINT)
        np.testing.assert_allclose((matrix + 1).numpy(), expected + 1)
        np.testing.assert_allclose((2 * matrix).numpy(), expected * 2)
        np.testing.assert_allclose((matrix - matrix).numpy(), 0 * expected)
        np.testing.assert_allclose(matrix.numpy(), expected)
        np.testing.assert_allclose(np.asarray(matrix), expected)
        assert matrix.sum().item() == pytest.approx(expected.sum())
        assert len(matrix) == 2
        with pytest.raises(AttributeError):
            matrix.no_such_thing  # noqa: B018

    def test_it_can_be_differentiated(self):
        x = leaf(POINT)
        jacobian(x**3, x)[:].sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 6 * POINT)

    def test_numbers_have_no_dimension(self):
        x, s = leaf(POINT), leaf(2.0)
        gradient = jacobian((x * x).sum(), x)
        assert gradient.shape == [3]
        np.testing.assert_allclose(gradient[:].numpy(), 2 * POINT)
        assert gradient[1].item() == pytest.approx(2 * POINT[1])
        column = jacobian(constant([1.0, 2.0]) * s, s)
        assert column.shape == [2]
        assert column[:].numpy().tolist() == [1, 2]
        assert jacobian(s * s, s).shape == []
        assert jacobian(s * s, s).item() == 4

    def test_tuples(self):
        x, z = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        product, total = x * z, x + z
        (dx, dz) = jacobian(product, (x, z))
        np.testing.assert_allclose(dx[:].numpy(), np.diag([3.0, 4.0]))
        np.testing.assert_allclose(dz[:].numpy(), np.diag([1.0, 2.0]))
        rows = jacobian((product, total), x)
        assert isinstance(rows, tuple)
        both = jacobian([product, total], [x, z])
        assert [[m.shape for m in row] for row in both] == [[[2, 2]] * 2] * 2
        np.testing.assert_allclose(both[1][1][:].numpy(), np.eye(2))

    def test_a_batch(self):
        points = np.stack([POINT, 2 * POINT, -POINT])
        x = leaf(points)
        matrix = jacobian(paddle.matmul(x, constant(A.T)).tanh(), x, batch_axis=0)
        expected = np.stack([slope(p) for p in points])
        assert matrix.shape == [3, 2, 3]
        for index in (
            slice(None),
            0,
            (slice(None), 1),
            (slice(None), 0, 2),
            (slice(1, 3), slice(0, 1)),
            (2, 1, 0),
        ):
            np.testing.assert_allclose(matrix[index].numpy(), expected[index], rtol=1e-12)

    def test_a_batch_of_numbers(self):
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        matrix = jacobian((x * x).sum(-1), x, batch_axis=0)
        assert matrix.shape == [2, 2]
        np.testing.assert_allclose(matrix[:].numpy(), [[2, 4], [6, 8]])

    def test_what_does_not_depend_is_zero(self):
        x, w = leaf([1.0, 2.0]), leaf([1.0])
        assert jacobian(x * x, w)[:].numpy().tolist() == [[0], [0]]

    @pytest.mark.parametrize(
        ("call", "error", "text"),
        [
            (
                lambda x: jacobian(x * x, x, batch_axis=1),
                ValueError,
                "batch_axis must be None or 0; received 1",
            ),
            (lambda x: jacobian(x * x, x), ValueError, "ys must have 0 or 1 dimensions"),
            (lambda x: jacobian(x.sum(), x), ValueError, "xs must have 0 or 1 dimensions"),
            (
                lambda x: jacobian(x.reshape([1, 2, 2]), x, 0),
                ValueError,
                "ys must have 1 or 2 dimensions",
            ),
            (lambda x: jacobian(x.sum(), 5), TypeError, "xs must be a Tensor"),
            (lambda x: jacobian(x[0], leaf([1.0]))[7], IndexError, "row 7 of 2"),
        ],
    )
    def test_wrong_arguments(self, call, error, text):
        with pytest.raises(error) as caught:
            call(leaf([[1.0, 2.0], [3.0, 4.0]]))
        assert str(caught.value).startswith("(jacobian) ")
        assert text in str(caught.value)


class TestHessian:
    def test_values(self):
        x = leaf(POINT)
        matrix = hessian((x**3).sum() + x[0] * x[1], x)
        expected = np.diag(6 * POINT)
        expected[0, 1] = expected[1, 0] = 1
        assert matrix.shape == [3, 3]
        np.testing.assert_allclose(matrix[:].numpy(), expected)
        assert matrix[0, 1].item() == pytest.approx(1)

    def test_tuples(self):
        x, z = leaf([1.0, 2.0]), leaf([1.0, 2.0, 3.0])
        blocks = hessian((x**3).sum() * (z * z).sum(), (x, z))
        assert [[b.shape for b in row] for row in blocks] == [[[2, 2], [2, 3]], [[3, 2], [3, 3]]]
        np.testing.assert_allclose(blocks[0][1][:].numpy(), [[6, 12, 18], [24, 48, 72]])
        np.testing.assert_allclose(blocks[1][0][:].numpy(), blocks[0][1][:].numpy().T)
        assert isinstance(hessian((x**3).sum(), (x,))[0], tuple)

    def test_a_batch(self):
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        matrix = hessian((x**3).sum(-1), x, batch_axis=0)
        assert matrix.shape == [2, 2, 2]
        np.testing.assert_allclose(matrix[:].numpy(), [[[6, 0], [0, 12]], [[18, 0], [0, 24]]])

    def test_a_linear_function(self):
        x = leaf([1.0, 2.0])
        assert hessian((x * 3).sum(), x)[:].numpy().tolist() == [[0, 0], [0, 0]]

    def test_only_of_one_number(self):
        x = leaf([1.0, 2.0])
        with pytest.raises(ValueError, match=r"\(hessian\) ys must be one number; received ys: float64\[2\]"):
            hessian(x * x, x)


class TestProducts:
    def test_jvp_and_vjp_are_products_with_the_same_matrix(self):
        x, right, left = leaf(POINT), constant([1.0, -2.0, 0.5]), constant([0.7, -1.1])
        y, forward = jvp(curved, x, right)
        np.testing.assert_allclose(y.numpy(), np.tanh(A @ POINT))
        np.testing.assert_allclose(forward.numpy(), slope(POINT) @ right.numpy(), rtol=1e-12)
        y, backward = vjp(curved, x, left)
        np.testing.assert_allclose(backward.numpy(), left.numpy() @ slope(POINT), rtol=1e-12)

    def test_ones_by_default(self):
        np.testing.assert_allclose(jvp(curved, leaf(POINT))[1].numpy(), slope(POINT).sum(1), rtol=1e-12)
        np.testing.assert_allclose(vjp(curved, leaf(POINT))[1].numpy(), slope(POINT).sum(0), rtol=1e-12)

    def test_inputs_without_gradient_are_fine(self):
        x = constant([1.0, 2.0])
        assert vjp(lambda x: x * x, x)[1].numpy().tolist() == [2, 4]
        assert jvp(lambda x: x * x, x)[1].numpy().tolist() == [2, 4]
        assert x.stop_gradient
        with paddle.no_grad():
            assert jvp(lambda x: x * x, x)[1].numpy().tolist() == [2, 4]

    def test_several_inputs_and_results(self):
        def function(x, y):
            return x * y, x + y

        xs = [leaf([1.0, 2.0]), leaf([3.0, 4.0])]
        ys, products = vjp(function, xs)
        assert isinstance(ys, tuple)
        assert [p.numpy().tolist() for p in products] == [[4, 5], [2, 3]]
        _, products = jvp(function, xs, [constant([1.0, 0.0]), constant([0.0, 1.0])])
        assert [p.numpy().tolist() for p in products] == [[3, 2], [1, 1]]

    def test_inputs_that_are_not_used_give_zeros(self):
        xs = [leaf([1.0]), leaf([2.0])]
        assert [p.item() for p in vjp(lambda x, y: x * 2, xs)[1]] == [2, 0]
        assert jvp(lambda x, y: x * 2, xs)[1].item() == 2
        assert jvp(lambda x: constant([5.0]), leaf([1.0]))[1].item() == 0

    def test_products_can_be_differentiated(self):
        x = leaf([2.0])
        _, product = jvp(lambda x: x**3, x)
        product.backward()
        assert x.grad.item() == pytest.approx(12)
        x.clear_grad()
        _, product = vjp(lambda x: x**3, x)
        product.backward()
        assert x.grad.item() == pytest.approx(12)

    def test_only_the_functions_own_use_of_its_input_counts(self):
        x = leaf([2.0])
        h = x * 1
        outside = h * 10
        assert vjp(lambda v: v * outside, h)[1].item() == 20

    def test_forward_grad(self):
        x = leaf([2.0])
        assert functional.forward_grad(x**3, x, constant([0.5])).item() == pytest.approx(6)
        assert functional.grad(x**3, x).item() == pytest.approx(12)

    @pytest.mark.parametrize("product", [jvp, vjp])
    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            (
                (lambda x: x * x, leaf([1.0, 2.0]), constant([1.0])),
                ValueError,
                "v[0] must have the shape [2]",
            ),
            (
                (lambda x: x * x, leaf([1.0]), [constant([1.0])] * 2),
                ValueError,
                "v must have 1 tensor(s); received 2",
            ),
            ((lambda x: x * x, leaf([1.0]), [5]), TypeError, "v[0] must be a Tensor"),
            ((lambda x: x * x, 5.0), TypeError, "xs must be a Tensor"),
            ((lambda x: 5, leaf([1.0])), TypeError, "what func returns must be a Tensor"),
            ((None, leaf([1.0])), TypeError, "func must be callable"),
        ],
    )
    def test_wrong_arguments(self, product, arguments, error, text):
        with pytest.raises(error) as caught:
            product(*arguments)
        assert str(caught.value).startswith(f"({product.__name__}) ")
        assert text in str(caught.value)


class TestFullMatrices:
    def test_jacobian_of_several_inputs_and_results(self):
        matrix = functional.Jacobian(lambda x, y: (x * y, x + y), [leaf([1.0, 2.0]), leaf([3.0, 4.0])])
        assert matrix.shape == (4, 4)
        expected = np.array([[3, 0, 1, 0], [0, 4, 0, 2], [1, 0, 1, 0], [0, 1, 0, 1]])
        for index in (slice(None), 0, -1, (slice(1, 3), slice(None)), (slice(None), 2), (3, 1)):
            np.testing.assert_allclose(matrix[index].numpy(), expected[index])

    def test_jacobian_flattens(self):
        matrix = functional.Jacobian(lambda x: x * x, leaf([[1.0, 2.0], [3.0, 4.0]]))
        np.testing.assert_allclose(matrix[:].numpy(), np.diag([2.0, 4, 6, 8]))

    def test_a_batch(self):
        matrix = functional.Jacobian(lambda x: x * x, leaf([[1.0, 2.0], [3.0, 4.0]]), is_batched=True)
        assert matrix.shape == (2, 2, 2)
        expected = np.array([[[2, 0], [0, 4]], [[6, 0], [0, 8]]])
        for index in (slice(None), 1, (slice(None), 0), (slice(None), 1, slice(0, 1)), (1, 0, 0)):
            np.testing.assert_allclose(matrix[index].numpy(), expected[index])

    def test_hessian(self):
        matrix = functional.Hessian(lambda x, y: (x * x * y).sum(), [leaf([1.0, 2.0]), leaf([1.0, 2.0])])
        assert matrix.shape == (4, 4)
        np.testing.assert_allclose(matrix[:].numpy(), [[2, 0, 2, 0], [0, 4, 0, 4], [2, 0, 0, 0], [0, 4, 0, 0]])
        batched = functional.Hessian(
            lambda x: (x**3).sum(-1, keepdim=True), leaf([[1.0, 2.0], [3.0, 4.0]]), is_batched=True
        )
        np.testing.assert_allclose(batched[:].numpy(), [[[6, 0], [0, 12]], [[18, 0], [0, 24]]])

    def test_wrong_arguments(self):
        with pytest.raises(ValueError, match=r"\(Hessian\) func must return one number"):
            functional.Hessian(lambda x: x * x, leaf([1.0, 2.0]))
        with pytest.raises(IndexError, match=r"\(Jacobian\) row 5 of 2"):
            functional.Jacobian(lambda x: x * x, leaf([1.0, 2.0]))[5]
        with pytest.raises(ValueError, match="at least one dimension"):
            functional.Jacobian(lambda x: x * x, leaf(1.0), is_batched=True)
