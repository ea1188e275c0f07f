"""Transforms: inverses, Jacobians against autograd, shapes, errors; transformed distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import proa as paddle

D = paddle.distribution


def tensor(value: Any) -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(value, "float64"))


ELEMENTWISE = {
    "affine": (D.AffineTransform(tensor(1.0), tensor(-2.0)), [0.3, -1.2]),
    "exp": (D.ExpTransform(), [0.3, -1.2]),
    "power": (D.PowerTransform(tensor([2.0, -0.5])), [0.3, 1.2]),
    "sigmoid": (D.SigmoidTransform(), [0.3, -1.2]),
    "tanh": (D.TanhTransform(), [0.3, -1.2]),
    "chain": (D.ChainTransform([D.ExpTransform(), D.AffineTransform(tensor(1.0), tensor(2.0))]), [0.3, -1.2]),
    "stack": (D.StackTransform([D.ExpTransform(), D.TanhTransform()]), [0.3, -1.2]),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str) -> None:
    transform, values = ELEMENTWISE[name]
    x = tensor(values)
    x.stop_gradient = False
    y = transform.forward(x)
    (slope,) = paddle.grad([y.sum()], [x], retain_graph=True)
    np.testing.assert_allclose(transform.inverse(y).numpy(), values, rtol=1e-9)
    np.testing.assert_allclose(transform.forward_log_det_jacobian(x).numpy(), np.log(abs(slope.numpy())), atol=1e-9)
    np.testing.assert_allclose(transform.inverse_log_det_jacobian(y).numpy(), -np.log(abs(slope.numpy())), atol=1e-9)
    assert tuple(transform.forward_shape((5, 2))) == (5, 2)
    assert tuple(transform.inverse_shape((5, 2))) == (5, 2)
    np.testing.assert_array_equal(transform(x).numpy(), y.numpy())


def test_large_arguments_stay_finite() -> None:
    for transform in (D.SigmoidTransform(), D.TanhTransform()):
        assert np.isfinite(transform.forward_log_det_jacobian(tensor([-60.0, 60.0])).numpy()).all()


def test_stick_breaking() -> None:
    transform = D.StickBreakingTransform()
    x = tensor([0.3, -1.2, 0.8])
    x.stop_gradient = False
    y = transform.forward(x)
    assert y.shape == [4]
    assert y.sum().item() == pytest.approx(1.0)
    np.testing.assert_allclose(transform.forward(tensor([0.0, 0.0])).numpy(), 1 / 3)
    np.testing.assert_allclose(transform.inverse(y).numpy(), [0.3, -1.2, 0.8], rtol=1e-9)
    rows = [paddle.grad([y[i]], [x], retain_graph=True)[0].numpy() for i in range(3)]
    expected = np.log(abs(np.linalg.det(np.array(rows))))
    assert transform.forward_log_det_jacobian(x).item() == pytest.approx(expected)
    assert transform.inverse_log_det_jacobian(y).item() == pytest.approx(-expected)
    assert transform.forward_shape((2, 3)) == (2, 4)
    assert transform.inverse_shape((2, 4)) == (2, 3)
    with pytest.raises(ValueError, match="at least one dimension"):
        transform.forward_shape(())
    # Observed in Paddle 3.3.1.
    np.testing.assert_allclose(transform.forward(tensor([1.0, 2.0])).numpy(), [0.57612, 0.37336, 0.05053], atol=1e-5)


def test_softmax_is_not_injective() -> None:
    transform = D.SoftmaxTransform()
    np.testing.assert_allclose(transform.forward(tensor([1.0, 2.0])).numpy(), [0.268941, 0.731059], atol=1e-6)
    np.testing.assert_allclose(transform.inverse(tensor([0.1, 0.2])).numpy(), np.log([0.1, 0.2]))
    for ask in (transform.forward_log_det_jacobian, transform.inverse_log_det_jacobian):
        with pytest.raises(NotImplementedError):
            ask(tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="at least 1 dimension"):
        transform.forward(tensor(1.0))


def test_abs() -> None:
    transform = D.AbsTransform()
    np.testing.assert_array_equal(transform.forward(tensor([-1.0, 2.0])).numpy(), [1.0, 2.0])
    below, above = transform.inverse(tensor([1.0, 2.0]))
    np.testing.assert_array_equal(below.numpy(), [-1.0, -2.0])
    np.testing.assert_array_equal(above.numpy(), [1.0, 2.0])
    assert not transform._is_injective()
    with pytest.raises(NotImplementedError, match="not injective"):
        transform.forward_log_det_jacobian(tensor([1.0]))


def test_reshape() -> None:
    transform = D.ReshapeTransform((2, 3), (3, 2))
    x = paddle.arange(12, dtype="float64").reshape([2, 2, 3])
    np.testing.assert_array_equal(transform.forward(x).numpy(), x.numpy().reshape(2, 3, 2))
    np.testing.assert_array_equal(transform.inverse(transform.forward(x)).numpy(), x.numpy())
    np.testing.assert_array_equal(transform.forward_log_det_jacobian(x).numpy(), [0.0, 0.0])
    assert transform.forward_shape((4, 2, 3)) == (4, 3, 2)
    assert transform.inverse_shape((3, 2)) == (2, 3)
    assert transform.in_event_shape == (2, 3)
    assert transform.out_event_shape == (3, 2)
    for bad in (lambda: transform.forward_shape((4, 3, 3)), lambda: transform.forward(x[0, 0])):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(ValueError, match="same number of elements"):
        D.ReshapeTransform((2, 3), (3, 3))
    with pytest.raises(TypeError, match="lists of integers"):
        D.ReshapeTransform(2, (3, 3))


def test_events_in_chains_and_independent() -> None:
    x = tensor([[0.3, -1.2]])
    independent = D.IndependentTransform(D.ExpTransform(), 1)
    np.testing.assert_allclose(independent.forward_log_det_jacobian(x).numpy(), [-0.9])
    np.testing.assert_allclose(independent.inverse_log_det_jacobian(independent.forward(x)).numpy(), [0.9])
    chain = D.ChainTransform([D.StickBreakingTransform(), D.ExpTransform()])
    assert chain._domain.event_rank == 1
    assert chain.forward_shape((2, 3)) == (2, 4)
    inner = D.StickBreakingTransform()
    expected = inner.forward_log_det_jacobian(x).numpy() + inner.forward(x).numpy().sum(-1)
    np.testing.assert_allclose(chain.forward_log_det_jacobian(x).numpy(), expected)
    assert not D.ChainTransform([D.ExpTransform(), D.AbsTransform()])._is_injective()
    both = D.ExpTransform()(D.AffineTransform(tensor(1.0), tensor(2.0)))
    assert both.forward(tensor(1.0)).item() == pytest.approx(2 * np.e + 1)


@pytest.mark.parametrize(("make", "error"), [
    (lambda: D.Transform().forward(tensor(1.0)), NotImplementedError),
    (lambda: D.ExpTransform().forward(1.0), TypeError),
    (lambda: D.ExpTransform().forward_shape(2), TypeError),
    (lambda: D.AffineTransform(1.0, 2.0), TypeError),
    (lambda: D.PowerTransform(2.0), TypeError),
    (lambda: D.ChainTransform("a"), TypeError),
    (lambda: D.ChainTransform([1]), TypeError),
    (lambda: D.IndependentTransform("a", 1), TypeError),
    (lambda: D.IndependentTransform(D.ExpTransform(), 0), ValueError),
    (lambda: D.IndependentTransform(D.ExpTransform(), 1).forward(tensor(1.0)), ValueError),
    (lambda: D.StackTransform([]), TypeError),
    (lambda: D.StackTransform([1]), TypeError),
    (lambda: D.StackTransform([D.ExpTransform()], "a"), TypeError),
    (lambda: D.StackTransform([D.ExpTransform()], 1).forward(tensor([[1.0, 2.0]])), ValueError),
    (lambda: D.StackTransform([D.ExpTransform()], 1).forward(tensor([1.0])), ValueError),
])  # fmt: skip
def test_errors(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^\("):
        make()


def test_transformed_normal() -> None:
    d = D.TransformedDistribution(D.Normal(tensor([0.0, 1.0]), tensor([1.0, 0.5])), [D.ExpTransform()])
    expected = stats.lognorm([1.0, 0.5], scale=np.exp([0.0, 1.0]))
    np.testing.assert_allclose(d.log_prob(tensor([0.7, 2.0])).numpy(), expected.logpdf([0.7, 2.0]))
    assert d.batch_shape == (2,)
    assert d.event_shape == ()
    assert d.rsample([3]).shape == [3, 2]
    by_call = D.ExpTransform()(D.Normal(tensor([0.0, 1.0]), tensor([1.0, 0.5])))
    np.testing.assert_allclose(by_call.log_prob(tensor([0.7, 2.0])).numpy(), expected.logpdf([0.7, 2.0]))


def test_transformed_events() -> None:
    base = D.Normal(tensor([0.0, 1.0]), tensor([1.0, 2.0]))
    sticks = D.TransformedDistribution(base, [D.StickBreakingTransform()])
    assert sticks.batch_shape == ()
    assert sticks.event_shape == (3,)
    assert sticks.sample([4]).shape == [4, 3]
    assert sticks.log_prob(tensor([0.7, 0.2, 0.1])).item() == pytest.approx(0.53942, abs=1e-5)  # observed in Paddle
    turned = D.TransformedDistribution(base, [D.ReshapeTransform((2,), (1, 2))])
    assert turned.event_shape == (1, 2)
    assert turned.log_prob(tensor([[0.5, 0.2]])).item() == pytest.approx(base.log_prob(tensor([0.5, 0.2])).sum().item())
    whole = D.TransformedDistribution(D.Independent(base, 1), [D.ExpTransform()])
    parts = D.LogNormal(tensor([0.0, 1.0]), tensor([1.0, 2.0])).log_prob(tensor([0.5, 0.2])).sum()
    assert whole.event_shape == (2,)
    assert whole.log_prob(tensor([0.5, 0.2])).item() == pytest.approx(parts.item())


def test_transformed_errors() -> None:
    normal = D.Normal(0.0, 1.0)
    for base, transforms in (("a", []), (normal, ["a"]), (normal, D.ExpTransform())):
        with pytest.raises(TypeError):
            D.TransformedDistribution(base, transforms)
    with pytest.raises(ValueError, match="need a base with 1 dimensions"):
        D.TransformedDistribution(normal, [D.SoftmaxTransform()])
    for missing in ("mean", "variance"):
        with pytest.raises(NotImplementedError):
            getattr(D.TransformedDistribution(normal, [D.ExpTransform()]), missing)


def test_constraints_and_variables() -> None:
    constraint, variable = D.constraint, D.variable
    np.testing.assert_array_equal(constraint.positive(tensor([0.0, 1.0, -1.0])).numpy(), [True, True, False])
    np.testing.assert_array_equal(constraint.real(tensor([0.0, np.nan])).numpy(), [True, False])
    np.testing.assert_array_equal(constraint.Range(0, 1)(tensor([0.5, 2.0])).numpy(), [True, False])
    np.testing.assert_array_equal(constraint.simplex(tensor([[0.5, 0.5], [0.5, 0.6]])).numpy(), [True, False])
    assert variable.real.event_rank == 0
    assert not variable.real.is_discrete
    rows = variable.Independent(variable.positive, 1)
    assert rows.event_rank == 1
    np.testing.assert_array_equal(rows.constraint(tensor([[1.0, 2.0], [-1.0, 3.0]])).numpy(), [True, False])
    stacked = variable.Stack([variable.real, variable.positive])
    np.testing.assert_array_equal(stacked.constraint(tensor([[-1.0], [-1.0]])).numpy(), [[True], [False]])
    with pytest.raises(NotImplementedError):
        constraint.Constraint()(tensor(1.0))
