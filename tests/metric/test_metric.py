"""Metrics: values that Paddle 3.3.1 was seen to give for the same input, and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.metric import Accuracy, Auc, Metric, Precision, Recall, accuracy

PRED = np.array(
    [[0.1, 0.2, 0.4, 0.1, 0.1], [0.5, 0.1, 0.1, 0.2, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2], [0.9, 0.0, 0.0, 0.1, 0.0]],
    "float32",
)
LABEL = np.array([[2], [1], [3], [0]], "int64")
CHANCES = np.array([0.1, 0.5, 0.6, 0.7, 0.51, 0.2])
TRUTH = np.array([0, 1, 1, 0, 1, 1])


def tensors(*arrays):
    return [paddle.to_tensor(array) for array in arrays]


def test_accuracy_of_one_and_of_several_places():
    metric = Accuracy()
    correct = metric.compute(*tensors(PRED, LABEL))
    assert correct.shape == [4, 1]
    assert correct.dtype == paddle.float32
    np.testing.assert_array_equal(correct.numpy().ravel(), [1, 0, 0, 1])
    assert metric.update(correct) == 0.5
    assert metric.update(np.array([[1.0], [1.0], [1.0], [0.0]])) == 0.75
    assert metric.accumulate() == 0.625
    assert metric.name() == ["acc"]
    metric.reset()
    assert metric.accumulate() == 0.0

    several = Accuracy(topk=(1, 2, 3), name="my")
    assert several.update(several.compute(*tensors(PRED, LABEL)).numpy()) == [0.5, 0.5, 0.75]
    assert several.accumulate() == [0.5, 0.5, 0.75]
    assert several.name() == ["my_top1", "my_top2", "my_top3"]
    assert several.total == [2.0, 2.0, 3.0]
    assert several.count == [4, 4, 4]


@pytest.mark.parametrize("label", [LABEL[:, 0], np.eye(5, dtype="float32")[LABEL[:, 0]], LABEL.astype("int32")])
def test_accuracy_takes_every_form_of_labels(label):
    correct = Accuracy(topk=(1, 3)).compute(*tensors(PRED, label))
    np.testing.assert_array_equal(correct.numpy(), [[1, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_accuracy_of_sequences():
    metric = Accuracy(topk=(1, 2, 3))
    correct = metric.compute(*tensors(np.stack([PRED, PRED]), np.stack([LABEL, LABEL])))
    assert correct.shape == [2, 4, 3]
    metric.update(correct)
    assert metric.total == [4.0, 4.0, 6.0]
    assert metric.count == [8, 8, 8]
    without = metric.compute(*tensors(np.stack([PRED, PRED]), np.stack([LABEL, LABEL])[..., 0]))
    np.testing.assert_array_equal(without.numpy(), correct.numpy())


def test_accuracy_that_is_read_late_is_the_same():
    late, now = Accuracy(topk=(1, 2)), Accuracy(topk=(1, 2))
    random = np.random.default_rng(0)
    for _ in range(150):  # more than may wait
        pred, label = tensors(random.random((3, 5)).astype("float32"), random.integers(0, 5, (3, 1)))
        late.update_later(late.compute(pred, label))
        now.update(now.compute(pred, label))
    assert late.reads_late
    assert late.accumulate() == now.accumulate()
    assert late.count == [450, 450]


def test_a_subclass_with_its_own_update_is_not_read_late():
    class Other(Accuracy):
        def update(self, correct, *args):
            return super().update(correct)

    assert not Other().reads_late


def test_accuracy_refuses():
    with pytest.raises(TypeError, match="tuple of positive integers"):
        Accuracy(topk=2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be Tensors"):
        Accuracy().compute(PRED, LABEL)
    with pytest.raises(ValueError, match="do not fit"):
        Accuracy().compute(*tensors(PRED, LABEL[:3]))
    with pytest.raises(ValueError, match="as many columns"):
        Accuracy().compute(*tensors(PRED, np.zeros((4, 3), "int64")))
    with pytest.raises(ValueError, match="NumPy array or a Tensor"):
        Accuracy().update([1.0])


def test_precision_and_recall():
    precision, recall = Precision(), Recall()
    for metric in (precision, recall):
        metric.update(CHANCES, TRUTH)
    # A prediction of exactly 0.5 counts for Precision and not for Recall, as in Paddle.
    assert precision.accumulate() == 0.75
    assert (precision.tp, precision.fp) == (3, 1)
    assert recall.accumulate() == 0.5
    assert (recall.tp, recall.fn) == (2, 2)
    for metric in (precision, recall):
        metric.update(*tensors(CHANCES[:, None], TRUTH[:, None]))
    assert precision.accumulate() == 0.75
    assert recall.accumulate() == 0.5
    assert precision.tp == 6
    precision.reset()
    assert precision.accumulate() == 0.0
    assert precision.name() == "precision"
    assert recall.name() == "recall"


@pytest.mark.parametrize("metric", [Precision, Recall])
def test_precision_and_recall_refuse(metric):
    with pytest.raises(ValueError, match="NumPy array or a Tensor"):
        metric().update([1.0], [1])
    with pytest.raises(ValueError, match="one number a sample"):
        metric().update(CHANCES, TRUTH[:3])
    with pytest.raises(ValueError, match="one number a sample"):
        metric().update(np.stack([1 - CHANCES, CHANCES], 1), TRUTH[:, None])


def test_auc():
    random = np.random.RandomState(0)
    chances = random.rand(1000)
    truth = (random.rand(1000) < chances).astype(int)
    metric = Auc()
    metric.update(np.stack([1 - chances, chances], 1), truth[:, None])
    assert metric.accumulate() == pytest.approx(0.8129116862669494, abs=1e-12)  # observed in Paddle
    ranks = chances.argsort().argsort() + 1
    positives = truth.sum()
    exact = (ranks[truth == 1].sum() - positives * (positives + 1) / 2) / positives / (1000 - positives)
    assert metric.accumulate() == pytest.approx(exact, abs=1e-3)
    metric.reset()
    assert metric.accumulate() == 0.0
    assert metric.name() == "auc"
    assert Auc.trapezoid_area(1, 3, 2, 4) == 6.0


def test_auc_of_tensors_in_parts_is_that_of_the_whole():
    both = np.stack([1 - CHANCES, CHANCES], 1)
    whole, parts = Auc(num_thresholds=10), Auc(num_thresholds=10)
    whole.update(both, TRUTH)
    parts.update_later(*tensors(both[:2], TRUTH[:2]))
    parts.update(*tensors(CHANCES[2:, None], TRUTH[2:]))
    assert whole.accumulate() == parts.accumulate() == 0.5


def test_auc_refuses():
    with pytest.raises(ValueError, match="between 0 and 1"):
        Auc().update(np.array([[0, 2.0]]), np.array([1]))
    with pytest.raises(ValueError, match=r"\[samples, 2\]"):
        Auc().update(CHANCES, TRUTH)
    with pytest.raises(ValueError, match="num_thresholds"):
        Auc(num_thresholds=0)


def test_the_accuracy_function():
    pred, label = tensors(PRED, LABEL)
    assert accuracy(pred, label).item() == 0.5
    assert accuracy(pred, label).shape == []
    correct, total = paddle.zeros([1], "int32"), paddle.zeros([1], "int32")
    assert accuracy(pred, label, k=3, correct=correct, total=total).item() == 0.75
    assert (correct.item(), total.item()) == (3, 4)
    assert correct.dtype == paddle.int32
    with pytest.raises(ValueError, match="label"):
        accuracy(pred, label[:, 0])
    with pytest.raises(ValueError, match="k must be between"):
        accuracy(pred, label, k=9)
    with pytest.raises(TypeError, match="integer type"):
        accuracy(pred, label.astype("float32"))


def test_a_metric_must_be_complete():
    class Half(Metric):
        def reset(self):
            pass

    class Whole(Half):
        def update(self, *args):
            return None

        def accumulate(self):
            return 0.0

        def name(self):
            return "whole"

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
    assert Whole().compute(1, 2, 3) == (1, 2, 3)
