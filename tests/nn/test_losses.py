"""Losses: numbers that Paddle 3.3.1 gave, gradients, options, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import proa as paddle

F, nn = paddle.nn.functional, paddle.nn

_STATE = np.random.RandomState(0)
LOGITS = _STATE.randn(4, 5).astype("float32")
_SOFT = _STATE.randn(4, 5).astype("float32")
SOFT = np.exp(_SOFT) / np.exp(_SOFT).sum(-1, keepdims=True)
WEIGHT = np.array([0.1, 0.2, 0.3, 0.4, 0.5], "float32")


def labels(*values, dtype="int64"):
    return paddle.to_tensor(np.array(values, dtype))


def x():
    return paddle.to_tensor(LOGITS)


def weight():
    return paddle.to_tensor(WEIGHT)


def soft():
    return paddle.to_tensor(SOFT)


# ---- cross entropy -------------------------------------------------------------------------------

HARD = (0, 1, 2, 3)
OBSERVED = [
    (HARD, {}, 1.4395424),
    (HARD, {"reduction": "sum"}, 5.7581697),
    (HARD, {"reduction": "none"}, [1.4887761, 0.8795226, 1.5676932, 1.8221776]),
    ((0, 1, -100, -100), {}, 0.5920747),  # a negative ignore_index still counts in the mean
    ((0, 1, -100, -100), {"reduction": "none"}, [1.4887761, 0.8795226, 0, 0]),
    ((-100,) * 4, {}, 0.0),
    ((0, 1, 2, 1), {"ignore_index": 1}, 1.5282347),
    ((0, 1, 255, 2), {"ignore_index": 255}, 1.5695673),
    (HARD, {"weight": "w"}, 1.5239611),
    (HARD, {"weight": "w", "reduction": "none"}, [0.1488776, 0.1759045, 0.470308, 0.728871]),
    (HARD, {"weight": "w", "reduction": "sum"}, 1.5239611),
    ((0, 1, -100, 3), {"weight": "w"}, 1.5052189),
    (HARD, {"weight": "w", "ignore_index": 1}, 1.6850706),
    (HARD, {"label_smoothing": 0.1}, 1.4773151),
    (HARD, {"label_smoothing": 0.1, "reduction": "none"},
     [[1.5201534], [0.9719548], [1.585299], [1.831853]]),
    (HARD, {"label_smoothing": 0.1, "weight": "w"}, 1.5456288),
    ("soft", {}, 1.6509626),
    ("soft", {"reduction": "none"}, [[1.7130119], [1.6539619], [1.5730336], [1.6638434]]),
    ("soft", {"weight": "w"}, 1.6599016),
    ("soft", {"weight": "w", "reduction": "none"},
     [[0.7232315], [0.6723684], [0.3809804], [0.4349406]]),
    ("soft", {"label_smoothing": 0.1}, 1.6675934),
]  # fmt: skip


@pytest.mark.parametrize(("label", "options", "expected"), OBSERVED, ids=str)
def test_cross_entropy_is_paddles(label, options, expected):
    options = {k: weight() if k == "weight" else v for k, v in options.items()}
    is_soft = label == "soft"
    for _ in range(4):
        given = soft() if is_soft else labels(*label)
        out = F.cross_entropy(x(), given, soft_label=is_soft, **options)
        np.testing.assert_allclose(out.numpy(), expected, rtol=2e-6, atol=1e-7)
        assert out.shape == list(np.shape(expected))


def test_cross_entropy_of_probabilities():
    p = F.softmax(x())
    assert F.cross_entropy(p, labels(*HARD), use_softmax=False).item() == pytest.approx(1.4395424)
    ignored = F.cross_entropy(p, labels(0, 1, -100, 3), use_softmax=False)
    assert ignored.item() == pytest.approx(1.0476191)
    weighted = F.cross_entropy(p, labels(*HARD), use_softmax=False, weight=weight())
    assert weighted.item() == pytest.approx(1.5239611)
    assert F.cross_entropy(p, soft(), use_softmax=False, soft_label=True).item() == pytest.approx(1.6509626)
    zeros = F.cross_entropy(paddle.zeros([4, 5]), labels(*HARD), use_softmax=False)
    assert zeros.item() == pytest.approx(1e20)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "float32"])
def test_labels_of_all_types(dtype):
    out = F.cross_entropy(x(), labels(*HARD, dtype=dtype))
    assert out.item() == pytest.approx(1.4395424)


def test_label_shapes():
    column = labels(*HARD).reshape([4, 1])
    assert F.cross_entropy(x(), column).item() == pytest.approx(1.4395424)
    assert F.cross_entropy(x(), column, reduction="none").shape == [4, 1]
    y = paddle.to_tensor(np.random.default_rng(0).standard_normal((2, 5, 3)).astype("float32"))
    zeros = paddle.zeros([2, 3], dtype="int64")
    plain = F.cross_entropy(y, zeros, axis=1, reduction="none")
    kept = F.cross_entropy(y, zeros.unsqueeze(1), axis=1, reduction="none")
    assert (plain.shape, kept.shape) == ([2, 3], [2, 1, 3])
    moved = F.cross_entropy(y.transpose([0, 2, 1]), zeros, reduction="none")
    np.testing.assert_allclose(plain.numpy(), moved.numpy(), rtol=1e-6)
    assert F.cross_entropy(x()[0], paddle.to_tensor(1)).item() == pytest.approx(2.8526711)
    assert F.cross_entropy(x()[0], labels(1)).shape == []
    assert math.isnan(F.cross_entropy(paddle.zeros([0, 5]), labels()).item())


def test_gradient_is_softmax_minus_onehot():
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)
    for mode in ("immediate", "auto", "auto", "auto"):
        paddle.set_flags({"FLAGS_eager_mode": mode})
        try:
            logits = x()
            logits.stop_gradient = False
            F.cross_entropy(logits, labels(0, 1, -100, 3)).backward()
            onehot = np.eye(5)[[0, 1, 0, 3]]
            expected = (p - onehot) * np.array([1, 1, 0, 1])[:, None] / 4
            np.testing.assert_allclose(logits.grad.numpy(), expected, atol=1e-7)
        finally:
            paddle.set_flags({"FLAGS_eager_mode": "auto"})


def test_large_logits_do_not_overflow():
    logits = paddle.to_tensor([[1e4, 0.0, -1e4]])
    logits.stop_gradient = False
    loss = F.cross_entropy(logits, labels(2))
    loss.backward()
    assert loss.item() == pytest.approx(2e4)
    assert logits.grad.tolist() == [[1.0, 0.0, -1.0]]


@pytest.mark.parametrize("bad", [5, -1, 7])
def test_label_out_of_range_is_named(bad):
    message = r"\(softmax_cross_entropy\) a label is out of range: expected 0 to 4"
    with pytest.raises(IndexError, match=message):
        F.cross_entropy(x(), labels(0, 1, bad, 2))
    with pytest.raises(IndexError, match="out of range"):
        F.cross_entropy(x(), labels(0, 1, bad, 2), label_smoothing=0.1)
    with pytest.raises(ValueError, match="out of range"):
        F.nll_loss(x(), labels(0, 1, bad, 2))


def test_computed_label_out_of_range():
    """The labels are not known at the call: the error comes when the loss is looked at."""
    for _ in range(4):
        with pytest.raises(IndexError, match="out of range"):
            F.cross_entropy(x(), labels(0, 1, 2, 3) + 3).item()
    assert F.cross_entropy(x(), labels(*HARD)).item() == pytest.approx(1.4395424)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.cross_entropy(x(), labels(0, 1, 2)), ValueError),
        (lambda: F.cross_entropy(x(), paddle.zeros([4, 2, 2], dtype="int64")), ValueError),
        (lambda: F.cross_entropy(x(), paddle.zeros([4, 5], dtype="int64")), ValueError),
        (lambda: F.cross_entropy(x(), labels(*HARD), reduction="foo"), ValueError),
        (lambda: F.cross_entropy(x(), labels(*HARD), label_smoothing=1.5), ValueError),
        (lambda: F.cross_entropy(x(), labels(*HARD), weight=paddle.ones([4])), ValueError),
        (lambda: F.cross_entropy(x(), labels(*HARD), axis=9), ValueError),
        (lambda: F.cross_entropy(x(), soft(), soft_label=True, ignore_index=2), ValueError),
        (lambda: F.cross_entropy(x(), labels(*HARD), soft_label=True), ValueError),
        (lambda: F.cross_entropy(x().astype("int32"), labels(*HARD)), TypeError),
        (lambda: F.cross_entropy(x(), [0, 1, 2, 3]), ValueError),
        (lambda: F.softmax_with_cross_entropy(x(), labels(*HARD)), ValueError),
        (lambda: F.nll_loss(x()[0], labels(1)), ValueError),
        (lambda: F.nll_loss(x(), labels(0, 1, 2)), ValueError),
        (lambda: F.mse_loss(x(), x(), "foo"), ValueError),
        (lambda: F.mse_loss(x(), 1.0), ValueError),
        (lambda: F.binary_cross_entropy(soft(), soft()[:2]), ValueError),
        (lambda: F.binary_cross_entropy_with_logits(x(), soft()[:2]), ValueError),
        (lambda: F.kl_div(x(), soft(), reduction="foo"), ValueError),
        (lambda: F.kl_div(x(), soft()[:2]), ValueError),
        (lambda: nn.CrossEntropyLoss(reduction="foo"), ValueError),
        (lambda: nn.KLDivLoss(reduction="foo"), ValueError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


def test_softmax_with_cross_entropy():
    column = labels(*HARD).reshape([4, 1])
    loss, p = F.softmax_with_cross_entropy(x(), column, return_softmax=True)
    np.testing.assert_allclose(loss.numpy().ravel(), [1.4887761, 0.8795226, 1.5676932, 1.8221776], rtol=2e-6)
    np.testing.assert_allclose(p.numpy().sum(-1), 1, rtol=1e-6)


# ---- the others ----------------------------------------------------------------------------------


def test_nll_loss_is_paddles():
    logp = F.log_softmax(x())
    assert F.nll_loss(logp, labels(*HARD)).item() == pytest.approx(1.4395424)
    assert F.nll_loss(logp, labels(*HARD), weight=weight()).item() == pytest.approx(1.5239611)
    # Unlike cross_entropy, the mean leaves out what is ignored.
    assert F.nll_loss(logp, labels(0, 1, -100, 2)).item() == pytest.approx(1.5695673)
    assert F.nll_loss(logp, labels(*(-100,) * 4)).item() == 0.0
    assert F.nll_loss(logp, labels(*HARD).reshape([4, 1])).item() == pytest.approx(1.4395424)


def test_regression_losses_are_paddles():
    a, b = paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([1.5, 0.0, 3.2])
    assert F.mse_loss(a, b).item() == pytest.approx(1.43)
    assert F.mse_loss(a, paddle.ones([2, 3])).item() == pytest.approx(1.6666666)
    assert F.l1_loss(a, b).item() == pytest.approx(0.9)
    assert F.l1_loss(a, b, "sum").item() == pytest.approx(2.7)
    np.testing.assert_allclose(F.smooth_l1_loss(a, b, "none").numpy(), [0.125, 1.5, 0.02], rtol=1e-5)
    small = F.smooth_l1_loss(a, b, "none", delta=0.3)
    np.testing.assert_allclose(small.numpy(), [0.105, 0.555, 0.02], rtol=1e-5)
    scaled = F.smooth_l1_loss(a, b, "none", delta=0.3, is_huber=False)
    np.testing.assert_allclose(scaled.numpy(), [0.35, 1.85, 0.0666667], rtol=1e-5)


def test_binary_losses_are_paddles():
    p, q = paddle.to_tensor([0.1, 0.9, 0.5]), paddle.to_tensor([0.0, 1.0, 1.0])
    scale = paddle.to_tensor([1.0, 2.0, 3.0])
    assert F.binary_cross_entropy(p, q).item() == pytest.approx(0.3012894)
    none = F.binary_cross_entropy(p, q, scale, "none").numpy()
    np.testing.assert_allclose(none, [0.1053605, 0.2107211, 2.0794415], rtol=1e-5)
    edge = F.binary_cross_entropy(
        paddle.to_tensor([0.0, 1.0, 0.0]), paddle.to_tensor([1.0, 0.0, 0.0]), reduction="none"
    )
    assert edge.tolist() == [100.0, 100.0, 0.0]
    a = paddle.to_tensor([1.0, 2.0, 3.0])
    assert F.binary_cross_entropy_with_logits(a, q).item() == pytest.approx(0.496259)
    both = F.binary_cross_entropy_with_logits(a, q, scale, "none", pos_weight=paddle.to_tensor([2.0, 2.0, 3.0]))
    np.testing.assert_allclose(both.numpy(), [1.3132616, 0.5077122, 0.437286], rtol=1e-5)
    huge = F.binary_cross_entropy_with_logits(
        paddle.to_tensor([100.0, -100.0]), paddle.to_tensor([0.0, 1.0]), reduction="none"
    )
    assert huge.tolist() == [100.0, 100.0]


def test_probabilities_are_checked():
    for _ in range(4):
        with pytest.raises(ValueError, match="from 0 to 1"):
            F.binary_cross_entropy(paddle.to_tensor([-1.0, 2.0]), paddle.ones([2])).item()
        with pytest.raises(ValueError, match="from 0 to 1"):
            F.binary_cross_entropy(paddle.ones([2]) * 3.0, paddle.ones([2])).item()


def test_kl_divergence_is_paddles():
    logp = F.log_softmax(x())
    for reduction, expected in [("mean", 0.0808511), ("sum", 1.617022), ("batchmean", 0.4042555)]:
        assert F.kl_div(logp, soft(), reduction=reduction).item() == pytest.approx(expected, rel=1e-5)
    logs = F.kl_div(logp, soft().log(), log_target=True)
    assert logs.item() == pytest.approx(0.0808511, rel=1e-5)
    none = F.kl_div(paddle.to_tensor([[1.0, -math.inf]]), paddle.to_tensor([[0.0, -1.0]]), "none")
    assert none.tolist() == [[0.0, 0.0]]


def test_layers_call_the_functions():
    y = labels(*HARD)
    z = soft()
    for layer, arguments, expected in [
        (nn.CrossEntropyLoss(weight(), label_smoothing=0.1), (x(), y),
         F.cross_entropy(x(), y, weight(), label_smoothing=0.1)),
        (nn.NLLLoss(reduction="sum"), (x(), y), F.nll_loss(x(), y, reduction="sum")),
        (nn.MSELoss(), (x(), z), F.mse_loss(x(), z)),
        (nn.L1Loss("sum"), (x(), z), F.l1_loss(x(), z, "sum")),
        (nn.SmoothL1Loss(delta=0.5), (x(), z), F.smooth_l1_loss(x(), z, delta=0.5)),
        (nn.BCELoss(), (z, z), F.binary_cross_entropy(z, z)),
        (nn.BCEWithLogitsLoss(pos_weight=weight()), (x(), z),
         F.binary_cross_entropy_with_logits(x(), z, pos_weight=weight())),
        (nn.KLDivLoss("batchmean"), (x(), z), F.kl_div(x(), z, "batchmean")),
    ]:  # fmt: skip
        assert layer(*arguments).item() == pytest.approx(expected.item(), rel=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types(dtype):
    logits = x().astype(dtype)
    logits.stop_gradient = False
    loss = F.cross_entropy(logits, labels(*HARD))
    loss.backward()
    assert loss.dtype == logits.grad.dtype == dtype
    assert loss.astype("float32").item() == pytest.approx(1.4395424, abs=0.02)
