"""Numbers that functions compute from sizes: a size that is not known before a run keeps what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import incubate, static
from proa.nn import functional as F

X = np.linspace(-1, 2, 24).reshape(4, 6).astype("float32")
LABEL = np.array([0, 5, 2, 3])
SHARES = np.exp(X) / np.exp(X).sum(1, keepdims=True)


@pytest.fixture(autouse=True)
def _static_mode() -> Any:
    paddle.enable_static()
    yield
    paddle.disable_static()


def smoothed(label: np.ndarray) -> np.ndarray:
    return -(0.9 * np.eye(6)[label] + 0.1 / 6) * np.log(SHARES)


def margins(x: np.ndarray) -> np.ndarray:
    gaps = np.maximum(1 - x[np.arange(4), LABEL][:, None] + x, 0)
    gaps[np.arange(4), LABEL] = 0
    return gaps.mean(1)


def triangle(x: np.ndarray) -> np.ndarray:
    kept = np.where(np.tril(np.ones((4, 4), bool)), x[:, :4], -np.inf)
    return np.exp(kept) / np.exp(kept).sum(1, keepdims=True)


CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "label_smooth": (lambda x, label: F.label_smooth(x), 0.9 * X + 0.1 / 6),
    "kl_div": (
        lambda x, label: F.kl_div(x, F.softmax(x), "batchmean"), (SHARES * (np.log(SHARES) - X)).sum() / 4,
    ),
    "cross_entropy": (
        lambda x, label: F.cross_entropy(x, label, label_smoothing=0.1, reduction="none"),
        smoothed(LABEL).sum(1),
    ),
    "soft cross_entropy": (
        lambda x, label: F.cross_entropy(
            x, F.softmax(x * 0) * 0 + (x == x).astype("float32") / 6, soft_label=True, label_smoothing=0.1, reduction="none"
        ),
        -np.log(SHARES).mean(1),
    ),
    "multi_margin_loss": (lambda x, label: F.multi_margin_loss(x, label, reduction="none"), margins(X)),
}  # fmt: skip


@pytest.mark.parametrize("shape", [[-1, -1], [2, 3]], ids=["unknown", "stated"])
@pytest.mark.parametrize("name", CASES)
def test_numbers_follow_the_sizes(name: str, shape: list[int]) -> None:
    build, expected = CASES[name]
    main = static.Program()
    with static.program_guard(main):
        made = build(static.data("x", shape), static.data("label", shape[:1], "int64"))
    (found,) = static.Executor().run(main, feed={"x": X, "label": LABEL}, fetch_list=[made])
    np.testing.assert_allclose(found.reshape(np.shape(expected)), expected, rtol=2e-5)


def test_a_causal_mask_is_as_large_as_what_it_masks() -> None:
    main = static.Program()
    with static.program_guard(main):
        made = incubate.softmax_mask_fuse_upper_triangle(static.data("x", [1, 1, 2, 2]))
    (found,) = static.Executor().run(main, feed={"x": X[None, None, :, :4]}, fetch_list=[made])
    np.testing.assert_allclose(found[0, 0], triangle(X), rtol=2e-5)


@pytest.mark.parametrize(
    "build",
    [lambda x: paddle.combinations(x[0]), lambda x: paddle.unbind(x)[0], lambda x: paddle.histogramdd(x, 2)[0]],
    ids=["combinations", "unbind", "histogramdd"],
)
def test_what_is_made_for_one_size_holds_for_it_alone(build: Callable[[Any], Any]) -> None:
    main = static.Program()
    with static.program_guard(main):
        made = build(static.data("x", [3, 4]))
    executor = static.Executor()
    executor.run(main, feed={"x": np.ones((3, 4), "float32")}, fetch_list=[made])
    with pytest.raises(ValueError, match="holds only for the input x"):
        executor.run(main, feed={"x": np.ones((5, 5), "float32")}, fetch_list=[made])


@pytest.mark.parametrize("legacy", [False, True], ids=["json", "pdmodel"])
def test_smoothing_over_an_unknown_number_of_classes_is_written(legacy: bool, tmp_path: Path) -> None:
    main, executor, path = static.Program(), static.Executor(), str(tmp_path / "model")
    with static.program_guard(main):
        x, label = static.data("x", [-1, -1]), static.data("label", [-1], "int64")
        loss = F.cross_entropy(x, label, label_smoothing=0.1, reduction="none")
    static.save_inference_model(path, [x, label], [loss], executor, program=main, legacy_format=legacy)
    program, _, fetches = static.load_inference_model(path, executor)
    (found,) = executor.run(program, feed={"x": X, "label": LABEL}, fetch_list=fetches)
    np.testing.assert_allclose(found.reshape(-1), smoothed(LABEL).sum(1), rtol=2e-5)


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_medians_and_covariances_over_any_number_of_rows(rows: int) -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [-1, 6])
        fetched = [paddle.median(x, 0), paddle.median(x), paddle.linalg.cov(x.T), paddle.linalg.corrcoef(x.T)]
    given = np.sin(X * 7)[:rows]
    found = static.Executor().run(main, feed={"x": given}, fetch_list=fetched)
    expected = [np.median(given, 0), np.median(given), np.cov(given.T), np.corrcoef(given.T)]
    for ours, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows", [2, 4])
def test_the_number_of_elements(rows: int) -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [-1, 6])
        fetched = [x.sum() / x.size, x.reshape([x.size]), x * x.size(1)]
    found = static.Executor().run(main, feed={"x": X[:rows]}, fetch_list=fetched)
    for ours, right in zip(found, [X[:rows].mean(), X[:rows].reshape(-1), X[:rows] * 6], strict=True):
        np.testing.assert_allclose(ours, right, rtol=1e-5)
