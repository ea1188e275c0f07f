"""Native attention, softmax with cross entropy, and the gradient of an embedding's table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.kernels.cpu import attention as native
from proa.kernels.cpu import embedding, library, losses
from tests.kernels.cases import attentions
from tests.kernels.cases.references import calls_native, draw, error_of, jitted
from tests.kernels.cases.references import native as natively

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


@pytest.fixture(autouse=True)
def small_work(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (native, losses, embedding):
        monkeypatch.setattr(module, "WORTHWHILE", 0)


def _compare(function: Any, arrays: list[Any], attributes: Any, reference: Any = None) -> None:
    found = jitted(lambda xp, *given: function(xp, True, given, attributes), arrays)
    expected = function(np, False, attentions.wide(arrays), attributes) if reference is None else reference
    for one, other in zip(found, expected, strict=True):
        assert error_of(one, np.asarray(other)) < 2e-6, [None if a is None else a.shape for a in arrays]


@pytest.mark.parametrize("seed", range(10))
def test_attention_and_its_gradients(seed: int) -> None:
    arrays, attributes = attentions.attention_case(np.random.default_rng(seed))
    assert calls_native(lambda xp, *given: attentions.attend(xp, True, given, attributes), arrays)
    _compare(attentions.attend, arrays, attributes)


def _plain(generator: np.random.Generator, queries: int, keys: int, mask: Any = None) -> list[Any]:
    shapes = ((queries, 8), (keys, 8), (keys, 8), (queries, 8))
    return [*(draw(generator, 1, length, 2, size) for length, size in shapes), mask]


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 200), (70, 1)])
def test_sequences_of_one(queries: int, keys: int) -> None:
    arrays = _plain(np.random.default_rng(9), queries, keys)
    for causal in (False, True):
        attributes = (0.3, causal)
        found = jitted(lambda xp, *given, attributes=attributes: attentions.attend(xp, True, given, attributes), arrays)
        expected = attentions.attend(np, False, attentions.wide(arrays), attributes)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


def test_a_row_that_may_look_nowhere_looks_everywhere() -> None:
    mask = np.ones((1, 1, 70, 300), bool)
    mask[..., 5, :], mask[..., 6, :299] = False, False
    arrays = _plain(np.random.default_rng(0), 70, 300, mask)
    for causal in (False, True):
        _compare(attentions.attend, arrays, (0.3, causal))
    (found, *_) = jitted(lambda xp, *given: attentions.attend(xp, True, given, (0.3, False)), arrays)
    np.testing.assert_allclose(found[0, 5], arrays[2][0].mean(0), rtol=1e-5, atol=1e-6)


def test_scores_of_minus_infinity() -> None:
    mask = np.zeros((60, 400), np.float32)
    mask[3, :200], mask[4, 200:], mask[5] = -np.inf, -np.inf, -np.inf
    arrays = _plain(np.random.default_rng(1), 60, 400, mask)
    found = jitted(lambda xp, *given: attentions.attend(xp, True, given, (0.3, False))[:1], arrays)[0]
    assert np.isnan(found[0, 5]).all()  # as softmax of nothing but minus infinity is
    with np.errstate(invalid="ignore"):
        expected = attentions.attend(np, False, attentions.wide(arrays), (0.3, False))[0]
    rows = np.arange(60) != 5
    assert error_of(found[:, rows], expected[:, rows]) < 2e-6


def test_large_scores_do_not_overflow() -> None:
    arrays = _plain(np.random.default_rng(2), 40, 300)
    arrays[0] *= 300
    found = jitted(lambda xp, *given: attentions.attend(xp, True, given, (0.3, True)), arrays)
    expected = attentions.attend(np, False, attentions.wide(arrays), (0.3, True))
    assert all(np.isfinite(one).all() for one in found)
    assert error_of(found[0], expected[0]) < 1e-3  # the scores themselves, of some thousands, are not more exact


def test_keys_that_nobody_sees_have_no_gradient() -> None:
    arrays = _plain(np.random.default_rng(3), 10, 300)
    _, _, keys, values = jitted(lambda xp, *given: attentions.attend(xp, True, given, (0.3, True)), arrays)
    assert not keys[:, 10:].any()
    assert not values[:, 10:].any()
    assert keys[:, :10].any()
    _compare(attentions.attend, arrays, (0.3, True))


def test_a_step_makes_one_call_in_each_direction() -> None:
    from proa.ir.xla import started_jax

    jax = started_jax()
    arrays = [a for a in _plain(np.random.default_rng(4), 64, 64) if a is not None]

    def run(*given: Any) -> Any:
        return attentions.attend(jax.numpy, True, (*given, None), (0.3, True))

    assert jax.jit(run).lower(*arrays).compile().as_text().count("custom_call_target") == 2


def test_double_precision_and_empty_operands_stay_with_xla() -> None:
    kernel = attentions.ops.attention.operation.kernels["cpu"]
    for array in (np.ones((1, 64, 2, 8)), np.zeros((0, 64, 2, 8), np.float32)):
        assert not calls_native(kernel, [array, array, array, None], (1.0, False))


def test_second_derivatives() -> None:
    """Of the sum of squares of the gradient, by differences of the gradient itself."""
    generator = np.random.default_rng(5)
    values = [generator.standard_normal((1, 9, 2, 4)) for _ in range(3)]

    def gradient_norm(given: list[np.ndarray], create_graph: bool) -> tuple[Any, list[Any]]:
        tensors = [paddle.to_tensor(v.astype("float32"), stop_gradient=False) for v in given]
        out = paddle.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True)
        first = paddle.grad((out**2).sum(), tensors, create_graph=create_graph)
        return sum((g**2).sum() for g in first), tensors

    total, tensors = gradient_norm(values, True)
    found = [g.numpy() for g in paddle.grad(total, tensors)]
    direction = [generator.standard_normal(v.shape) for v in values]
    step = 1e-2
    ends = [gradient_norm([v + sign * step * d for v, d in zip(values, direction)], True)[0].item() for sign in (1, -1)]
    along = sum(float((g * d).sum()) for g, d in zip(found, direction))
    assert along == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-2)


def test_training_is_the_same_without_native_code() -> None:
    """A small model with an embedding, causal attention and cross entropy, until its step is compiled and beyond."""

    def losses_of_training() -> list[float]:
        paddle.seed(3)
        layer, head = paddle.nn.Embedding(50, 32), paddle.nn.Linear(32, 50)
        optimizer = paddle.optimizer.SGD(0.5, parameters=[*layer.parameters(), *head.parameters()])
        tokens = paddle.to_tensor(np.random.default_rng(6).integers(0, 50, (4, 41)))
        found = []
        for _ in range(5):
            x = layer(tokens[:, :-1]).reshape([4, 40, 2, 16])
            mixed = paddle.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
            loss = paddle.nn.functional.cross_entropy(head(mixed.reshape([4, 40, 32])), tokens[:, 1:])
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            found.append(loss.item())
        return found

    with natively(False):
        expected = losses_of_training()
    assert losses_of_training() == pytest.approx(expected, rel=1e-5)
    assert expected[-1] < expected[0]


# ---- cross entropy and embedding -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_cross_entropy_and_its_gradient(seed: int) -> None:
    arrays, attributes = attentions.loss_case(np.random.default_rng(seed))
    _compare(attentions.loss_and_gradient, arrays, attributes)
    native = calls_native(lambda xp, *given: attentions.loss_and_gradient(xp, True, given, attributes), arrays)
    assert native == (arrays[0].shape[-1] >= 8)  # fewer classes are not worth a call


def test_cross_entropy_of_special_logits() -> None:
    logits = draw(np.random.default_rng(7), 6, 40)
    logits[0, 3], logits[1, 4], logits[2] = np.nan, -np.inf, 1e30
    label = np.array([0, 0, 1, 2, 3, -100])
    arrays, attributes = [logits, label, np.ones(6, np.float32)], ("none", 1, 40, -100, False)
    found = jitted(lambda xp, *given: attentions.loss_and_gradient(xp, True, given, attributes), arrays)
    assert np.isnan(found[0][0])
    assert np.isnan(found[1][0]).all()
    assert np.isfinite(found[0][1:]).all()
    assert np.isfinite(found[1][1:]).all()
    assert found[0][2] == pytest.approx(np.log(40))
    assert found[0][5] == 0
    assert not found[1][5].any()
    assert found[1][1, 4] == 0


@pytest.mark.parametrize("seed", range(10))
def test_gradient_of_an_embedding(seed: int) -> None:
    arrays, attributes = attentions.rows_case(np.random.default_rng(seed))
    _compare(attentions.sum_rows, arrays, attributes)


def test_numbers_that_are_no_row_are_left_out() -> None:
    numbers = np.array([0, 5, 2**40, -1, 2], np.int64)
    vectors = draw(np.random.default_rng(8), 5, 4)
    (found,) = jitted(lambda xp, *given: (embedding.add_by_row(xp, *given, 3),), [numbers, vectors])
    np.testing.assert_array_equal(found, np.stack([vectors[0], np.zeros(4), vectors[4]]).astype(np.float32))
