"""Cross entropy without the logits, beside the plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.nn import functional as F
from proa.ops.neural.losses.linear_cross_entropy import cross_entropy_of_states

ROWS, SIZE, CLASSES = 6, 5, 23


def operands(by_class: bool, dtype: str = "float64") -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(ROWS, SIZE)).astype(dtype)
    weight = rng.normal(size=(CLASSES, SIZE) if by_class else (SIZE, CLASSES)).astype(dtype)
    label = np.array([0, CLASSES - 1, -100, 7, 7, 11])
    return hidden, weight, label, rng.normal(size=ROWS).astype(dtype)


def by_definition(hidden: Any, weight: Any, label: Any, by_class: bool, cap: float) -> np.ndarray:
    logits = hidden.astype(np.float64) @ (weight.T if by_class else weight).astype(np.float64)
    logits = np.tanh(logits / cap) * cap if cap else logits
    losses = np.log(np.exp(logits).sum(1)) - logits[np.arange(len(label)), np.where(label < 0, 0, label)]
    return np.where(label < 0, 0.0, losses)


@pytest.mark.parametrize("eager", ["immediate", "compiled"])
@pytest.mark.parametrize("chunk", [7, 100])
@pytest.mark.parametrize(("by_class", "cap"), [(True, 0.0), (False, 0.0), (True, 2.0)])
def test_losses_and_gradients_are_those_of_the_definition(eager: str, chunk: int, by_class: bool, cap: float) -> None:
    hidden, weight, label, factor = operands(by_class)
    with compiled(eager):
        x, w = (paddle.to_tensor(a, stop_gradient=False) for a in (hidden, weight))
        losses = cross_entropy_of_states(x, w, paddle.to_tensor(label), by_class, cap, chunk, -100)
        (losses * paddle.to_tensor(factor)).sum().backward()
        found = [losses.numpy(), x.grad.numpy(), w.grad.numpy()]
    np.testing.assert_allclose(found[0], by_definition(hidden, weight, label, by_class, cap), rtol=1e-12, atol=1e-12)
    for array, gradient in ((hidden, found[1]), (weight, found[2])):
        np.testing.assert_allclose(
            gradient, differences(hidden, weight, label, factor, by_class, cap, array), atol=1e-7
        )


def differences(
    hidden: Any, weight: Any, label: Any, factor: Any, by_class: bool, cap: float, array: Any
) -> np.ndarray:
    """The gradient of the weighted sum by `array`, which is one of the operands, by central differences."""
    found = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        values = []
        for step in (1e-5, -1e-5):
            array[place] += step
            values.append((by_definition(hidden, weight, label, by_class, cap) * factor).sum())
            array[place] -= step
        found[place] = (values[0] - values[1]) / 2e-5
    return found


def compiled(eager: str) -> Any:
    """A block in which everything is compiled at first sight, or nothing is."""
    import contextlib

    @contextlib.contextmanager
    def block() -> Any:
        before = paddle.get_flags("FLAGS_hot_threshold")
        paddle.set_flags({"FLAGS_hot_threshold": 1 if eager == "compiled" else 10**9})
        try:
            yield
        finally:
            paddle.set_flags(before)

    return block()


def test_a_weight_that_is_not_trained_gets_no_gradient() -> None:
    hidden, weight, label, _ = operands(True)
    x, w = paddle.to_tensor(hidden, stop_gradient=False), paddle.to_tensor(weight)
    cross_entropy_of_states(x, w, paddle.to_tensor(label), True, 0.0, 7, -100).sum().backward()
    assert w.grad is None
    assert x.grad.shape == [ROWS, SIZE]


def test_second_derivatives_are_those_of_the_plain_form() -> None:
    hidden, weight, label, _ = operands(True)
    found = []
    for plain in (False, True):
        x, w = (paddle.to_tensor(a, stop_gradient=False) for a in (hidden, weight))
        target = paddle.to_tensor(label)
        if plain:
            loss = F.cross_entropy(paddle.matmul(x, w, transpose_y=True), target, reduction="sum")
        else:
            loss = cross_entropy_of_states(x, w, target, True, 0.0, 7, -100).sum()
        (first,) = paddle.grad([loss], [x], create_graph=True)
        (first * first).sum().backward()
        found.append([x.grad.numpy(), w.grad.numpy()])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_halves_are_added_up_in_float32() -> None:
    hidden, weight, label, _ = operands(True)
    x, w = (paddle.to_tensor(a).astype("bfloat16") for a in (hidden, weight))
    losses = cross_entropy_of_states(x, w, paddle.to_tensor(label), True, 0.0, 7, -100)
    assert losses.dtype == paddle.float32
    wide = [t.astype("float64").numpy() for t in (x, w)]
    np.testing.assert_allclose(losses.numpy(), by_definition(*wide, label, True, 0.0), rtol=2e-6, atol=1e-6)


def test_large_logits_stay_finite() -> None:
    x, w = paddle.to_tensor([[300.0, -300.0]]), paddle.to_tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    losses = cross_entropy_of_states(x, w, paddle.to_tensor([2]), True, 0.0, 1, -100)
    np.testing.assert_allclose(losses.numpy(), [600.0])


@pytest.mark.parametrize(("label", "error"), [([23], IndexError), ([-1], IndexError), ([0, 1], ValueError)])
def test_wrong_labels_are_refused(label: list[int], error: type[Exception]) -> None:
    hidden, weight, _, _ = operands(True)
    x, w = paddle.to_tensor(hidden[:1]), paddle.to_tensor(weight)
    with pytest.raises(error, match="linear_cross_entropy"):
        cross_entropy_of_states(x, w, paddle.to_tensor(label), True, 0.0, 7, -100).numpy()


def test_memory_is_that_of_a_chunk() -> None:
    """XLA's own account of a step: far below the logits of all classes."""
    rows, size, classes = 256, 8, 8192
    needed = {}
    for chunk in (256, classes):
        w = paddle.create_parameter([classes, size], "float32")
        x = paddle.to_tensor(np.ones((rows, size), "float32"), stop_gradient=False)
        label = paddle.to_tensor(np.arange(rows))
        with paddle.memory_budget("1GB") as budget:
            cross_entropy_of_states(x, w, label, True, 0.0, chunk, -100).sum().backward()
            w.grad.numpy()
        needed[chunk] = budget.verdict.temporaries
    logits = rows * classes * 4
    assert needed[classes] >= logits
    assert needed[256] < logits / 4
