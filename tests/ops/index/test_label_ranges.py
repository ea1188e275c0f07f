"""Labels, lengths and patterns out of range in losses and attention: refused where they are read, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ops.neural.losses.class_loss import _tree

F: Any = paddle.nn.functional


def integers(values: Any, dtype: str = "int64") -> Any:
    return paddle.to_tensor(np.asarray(values, dtype))


def numbers(*shape: int) -> Any:
    return paddle.to_tensor(np.random.RandomState(0).randn(*shape).astype("float32"))


def ctc(labels: Any = ((1, 2),), steps: Any = (4,), counts: Any = (2,)) -> tuple[Callable[..., Any], list[Any]]:
    return lambda *given: F.ctc_loss(numbers(4, 1, 3), *given, reduction="none"), [labels, steps, counts]


def rnnt(labels: Any = ((1, 2),), steps: Any = (3,), counts: Any = (2,)) -> tuple[Callable[..., Any], list[Any]]:
    return lambda *given: F.rnnt_loss(numbers(1, 3, 3, 3), *given, reduction="none"), [labels, steps, counts]


def sparse(offsets: Any, columns: Any) -> tuple[Callable[..., Any], list[Any]]:
    x = numbers(1, 1, 2, 3)
    return lambda *given: F.sparse_attention(x, x, x, *given), [[[offsets]], [[columns]]]


BAD = {
    "ctc label": ctc(labels=[[1, 3]]),
    "ctc negative label": ctc(labels=[[-1, 1]]),
    "ctc steps": ctc(steps=[5]),
    "ctc negative steps": ctc(steps=[-1]),
    "ctc label length": ctc(counts=[3]),
    "ctc negative label length": ctc(counts=[-1]),
    "rnnt label": rnnt(labels=[[1, 3]]),
    "rnnt steps": rnnt(steps=[4]),
    "rnnt no steps": rnnt(steps=[0]),
    "rnnt label length": rnnt(counts=[3]),
    "parent": (lambda p: F.gather_tree(integers([[[1, 2]], [[3, 4]]]), p), [[[[0, 0]], [[2, 0]]]]),
    "negative parent": (lambda p: F.gather_tree(integers([[[1, 2]], [[3, 4]]]), p), [[[[0, 0]], [[-1, 0]]]]),
    "multi label": (lambda y: F.multi_label_margin_loss(numbers(1, 3), y), [[[0, -1, 3]]]),
    "negative multi label": (lambda y: F.multi_label_margin_loss(numbers(1, 3), y), [[[0, -2, 1]]]),
    "adaptive label": (
        lambda y: F.adaptive_log_softmax_with_loss(numbers(1, 3), y, numbers(3, 3), [[numbers(3, 2), numbers(2, 2)]],
                                                   [2, 4])[0],
        [[4]],
    ),
    "hierarchical label": (lambda y: F.hsigmoid_loss(numbers(1, 3), y, 4, numbers(3, 3)), [[[4]]]),
    "sparse column": sparse([0, 1, 2], [0, 2]),
    "sparse offset": sparse([0, 1, 3], [0, 1]),
    "sparse descending": sparse([0, 2, 1], [0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["immediate", "auto"])
@pytest.mark.parametrize("computed", [False, True], ids=["known", "computed"])
@pytest.mark.parametrize("case", BAD)
def test_out_of_range(case: str, computed: bool, mode: str) -> None:
    """A value known at the call raises there; a computed one at the latest when the result is read."""
    function, arguments = BAD[case]
    with paddle.jit.eager_mode(mode):
        tensors = [integers(a) for a in arguments]
        if computed:
            tensors = [t + paddle.zeros_like(t) for t in tensors]
        with pytest.raises(ValueError, match=r"out of range|must ascend"):
            function(*tensors).numpy()


def test_what_stands_behind_a_label_is_ignored() -> None:
    """2.0393486 is what Paddle gives for these logits, whatever pads the label."""
    for padding in (-1, 2, 9):
        loss = F.ctc_loss(numbers(4, 1, 3), integers([[1, padding]], "int32"), integers([4]), integers([1]),
                          reduction="none")  # fmt: skip
        np.testing.assert_allclose(loss.numpy(), [2.0393486], rtol=1e-5)


def test_an_input_without_steps_costs_nothing() -> None:
    loss = F.ctc_loss(numbers(4, 2, 3), integers([[1], [1]]), integers([0, 0]), integers([0, 1]), reduction="none")
    np.testing.assert_array_equal(loss.numpy(), [0.0, 0.0])


def test_parents_of_the_first_step_are_not_followed() -> None:
    paths = F.gather_tree(integers([[[1, 2]], [[3, 4]]]), integers([[[7, 7]], [[1, 0]]]))
    np.testing.assert_array_equal(paths.numpy(), [[[2, 1]], [[3, 4]]])


def test_fastemit_leaves_the_loss_alone() -> None:
    given = numbers(1, 3, 3, 3), integers([[1, 2]]), integers([3]), integers([2])
    plain = F.rnnt_loss(*given, fastemit_lambda=0.0).numpy()
    for weight in (0.5, 1e308, float("inf")):
        with paddle.jit.eager_mode("immediate"):
            np.testing.assert_allclose(F.rnnt_loss(*given, fastemit_lambda=weight).numpy(), plain, rtol=1e-5)
    with pytest.raises(ValueError, match="fastemit_lambda"):
        F.rnnt_loss(*given, fastemit_lambda=float("nan"))


def test_masks_of_attention_must_fit() -> None:
    x = numbers(2, 3, 2, 4)
    for shape in ((4, 3), (3, 1, 3, 3), (1, 2, 1, 3, 3)):
        with pytest.raises(ValueError, match="must broadcast"):
            F.scaled_dot_product_attention(x, x, x, numbers(*shape))
    whole = F.scaled_dot_product_attention(x, x, x, numbers(3, 3)).numpy()
    expanded = F.scaled_dot_product_attention(x, x, x, numbers(3, 3).expand([2, 2, 3, 3])).numpy()
    np.testing.assert_allclose(whole, expanded, rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3, 6, 8, 13])
def test_ways_in_the_tree(classes: int) -> None:
    """Each class is the number that its turns spell, read from the root: the last turn is the first listed."""
    nodes, turns = _tree(classes)
    for number in range(classes):
        code = 1
        for node, turn in zip(nodes[number][::-1], turns[number][::-1], strict=True):
            if node >= 0:
                assert node == code - 1
                code = 2 * code + turn
        assert code == number + classes


def test_more_classes_than_nodes() -> None:
    with pytest.raises(ValueError, match="nodes"):
        F.hsigmoid_loss(numbers(1, 3), integers([[1]]), 2**40, numbers(3, 3))
