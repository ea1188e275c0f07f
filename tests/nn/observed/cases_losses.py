"""Losses whose results in Paddle 3.3.1 were written down (`losses.json`); see `cases_functional.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.nn.observed.cases_functional import leaf, ramp, with_grads

CASES: dict[str, Callable[[Any], Any]] = {}


def case(name: str, call: Callable[[Any], Any]) -> None:
    assert name not in CASES, name
    CASES[name] = call


def signs(P: Any, *shape: int) -> Any:
    return P.to_tensor(np.where(ramp(*shape) > 0.1, 1.0, -1.0).astype("float32"))


for reduction in ("mean", "sum", "none"):
    case(f"margin_ranking {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x, y: P.nn.functional.margin_ranking_loss(x, y, signs(P, 5), 0.3, r),
        leaf(P, 5), leaf(P, 5, low=-0.4)))  # fmt: skip
    case(f"hinge_embedding {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.hinge_embedding_loss(x, signs(P, 3, 2), 0.8, r), leaf(P, 3, 2)))  # fmt: skip
    case(f"cosine_embedding {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x, y: P.nn.functional.cosine_embedding_loss(x, y, signs(P, 4), 0.1, r),
        leaf(P, 4, 3), leaf(P, 4, 3, low=-0.4)))  # fmt: skip
    case(f"soft_margin {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.soft_margin_loss(x, signs(P, 3, 2), r), leaf(P, 3, 2)))  # fmt: skip
    case(f"multi_label_soft_margin {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.multi_label_soft_margin_loss(x, signs(P, 3, 4), reduction=r),
        leaf(P, 3, 4)))  # fmt: skip
    case(f"multi_label_soft_margin weighted {reduction}", lambda P, r=reduction: (
        P.nn.functional.multi_label_soft_margin_loss(
            P.to_tensor(ramp(3, 4)), signs(P, 3, 4), P.to_tensor(ramp(4, low=0)), r)))  # fmt: skip
    case(f"multi_margin {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.multi_margin_loss(x, P.to_tensor([0, 3, 2]), 2, 0.7, None, r),
        leaf(P, 3, 4)))  # fmt: skip
    case(f"multi_margin weighted {reduction}", lambda P, r=reduction: P.nn.functional.multi_margin_loss(
        P.to_tensor(ramp(3, 4)), P.to_tensor([0, 3, 2]), 1, 1.0, P.to_tensor(ramp(4, low=0)), r))  # fmt: skip
    case(f"multi_label_margin {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.multi_label_margin_loss(
            x, P.to_tensor([[3, 0, -1, 1], [2, -1, 0, 1], [-1, 0, 1, 2]]), r), leaf(P, 3, 4)))  # fmt: skip
    case(f"poisson_nll {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.poisson_nll_loss(x, P.to_tensor(ramp(3, 2, low=0, high=4)), reduction=r),
        leaf(P, 3, 2)))  # fmt: skip
    case(f"poisson_nll full {reduction}", lambda P, r=reduction: P.nn.functional.poisson_nll_loss(
        P.to_tensor(ramp(3, 2, low=0.1)), P.to_tensor(ramp(3, 2, low=0, high=4)), False, True,
        reduction=r))  # fmt: skip
    case(f"gaussian_nll {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.gaussian_nll_loss(
            x, P.to_tensor(ramp(3, 2)), P.to_tensor(ramp(3, 2, low=0.2)), True, reduction=r),
        leaf(P, 3, 2, low=0)))  # fmt: skip
    case(f"triplet_margin {reduction}", lambda P, r=reduction: with_grads(
        P, lambda a, p, n: P.nn.functional.triplet_margin_loss(a, p, n, 0.7, swap=True, reduction=r),
        leaf(P, 3, 4), leaf(P, 3, 4, low=-0.4), leaf(P, 3, 4, low=0.1)))  # fmt: skip
    case(f"triplet_margin_with_distance {reduction}", lambda P, r=reduction: (
        P.nn.functional.triplet_margin_with_distance_loss(
            *[P.to_tensor(ramp(3, 4, low=low)) for low in (-1, -0.4, 0.1)],
            distance_function=lambda x, y: (x - y).abs().sum(-1), reduction=r)))  # fmt: skip
    case(f"sigmoid_focal {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.sigmoid_focal_loss(
            x, P.to_tensor((ramp(3, 4) > 0).astype("float32")), reduction=r), leaf(P, 3, 4)))  # fmt: skip
    if reduction == "sum":  # each of the next compiles a scan: two reductions are enough
        continue
    case(f"ctc {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.ctc_loss(
            x, P.to_tensor(np.array([[1, 2, 2], [3, 1, 0]], "int32")), P.to_tensor(np.array([6, 5], "int64")),
            P.to_tensor(np.array([3, 2], "int64")), reduction=r), leaf(P, 6, 2, 4)))  # fmt: skip
    case(f"ctc blank {reduction}", lambda P, r=reduction: P.nn.functional.ctc_loss(
        P.to_tensor(ramp(6, 2, 4)), P.to_tensor(np.array([[1, 2, 2], [0, 1, 0]], "int32")),
        P.to_tensor(np.array([6, 5], "int64")), P.to_tensor(np.array([3, 2], "int64")), 3, r,
        norm_by_times=True))  # fmt: skip
    case(f"rnnt {reduction}", lambda P, r=reduction: with_grads(
        P, lambda x: P.nn.functional.rnnt_loss(
            P.nn.functional.log_softmax(x), P.to_tensor(np.array([[1, 2], [3, 1]], "int32")),
            P.to_tensor(np.array([4, 3], "int32")),
            P.to_tensor(np.array([2, 1], "int32")), fastemit_lambda=0.0, reduction=r),
        leaf(P, 2, 4, 3, 4)))  # fmt: skip
case("rnnt fastemit", lambda P: with_grads(P, lambda x: P.nn.functional.rnnt_loss(
    P.nn.functional.log_softmax(x), P.to_tensor(np.array([[1, 2]], "int32")), P.to_tensor(np.array([4], "int32")),
    P.to_tensor(np.array([2], "int32")), fastemit_lambda=0.1, reduction="sum"), leaf(P, 1, 4, 3, 4)))  # fmt: skip
case("ctc impossible", lambda P: P.nn.functional.ctc_loss(
    P.to_tensor(ramp(2, 1, 4)), P.to_tensor(np.array([[1, 2, 2]], "int32")), P.to_tensor(np.array([2], "int64")),
    P.to_tensor(np.array([3], "int64")), reduction="none"))  # fmt: skip
case("ctc zero_infinity", lambda P: P.nn.functional.ctc_loss(
    P.to_tensor(ramp(2, 1, 4)), P.to_tensor(np.array([[1, 2, 2]], "int32")), P.to_tensor(np.array([2], "int64")),
    P.to_tensor(np.array([3], "int64")), reduction="none", zero_infinity=True))  # fmt: skip
case("log_loss", lambda P: P.nn.functional.log_loss(
    P.to_tensor(ramp(4, 1, low=0.1)), P.to_tensor((ramp(4, 1) > 0).astype("float32"))))  # fmt: skip
case("dice", lambda P: with_grads(P, lambda x: P.nn.functional.dice_loss(
    x, P.to_tensor([[[0], [2], [1]], [[1], [1], [2]]])), leaf(P, 2, 3, 3, low=0)))  # fmt: skip
case("npair", lambda P: with_grads(P, lambda a, p: P.nn.functional.npair_loss(
    a, p, P.to_tensor(np.array([0, 1, 0], "float32"))), leaf(P, 3, 4), leaf(P, 3, 4, low=-0.4)))  # fmt: skip
case("sigmoid_focal normalizer", lambda P: P.nn.functional.sigmoid_focal_loss(
    P.to_tensor(ramp(3, 4)), P.to_tensor((ramp(3, 4) > 0).astype("float32")), P.to_tensor([3.0]), 0.3, 1.5))  # fmt: skip
case("hsigmoid", lambda P: with_grads(P, lambda x, w: P.nn.functional.hsigmoid_loss(
    x, P.to_tensor([[0], [3], [5]]), 6, w, P.to_tensor(ramp(5, 1))), leaf(P, 3, 2), leaf(P, 5, 2)))  # fmt: skip
case("hsigmoid custom", lambda P: P.nn.functional.hsigmoid_loss(
    P.to_tensor(ramp(2, 2)), P.to_tensor([[0], [1]]), 3, P.to_tensor(ramp(3, 2)), None,
    P.to_tensor([[0, 2, -1], [0, 1, 2]]), P.to_tensor([[1, 0, -1], [0, 1, 1]])))  # fmt: skip
case("adaptive_log_softmax", lambda P: list(P.nn.functional.adaptive_log_softmax_with_loss(
    P.to_tensor(ramp(4, 3)), P.to_tensor([0, 3, 5, 2]), P.to_tensor(ramp(3, 4)),
    [[P.to_tensor(ramp(3, 2)), P.to_tensor(ramp(2, 2))], [P.to_tensor(ramp(3, 1)), P.to_tensor(ramp(1, 2))]],
    [2, 4, 6], P.to_tensor(ramp(4)))))  # fmt: skip
case("multi_margin squared weighted", lambda P: P.nn.functional.multi_margin_loss(
    P.to_tensor(ramp(3, 4)), P.to_tensor([0, 3, 2]), 2, 0.7, P.to_tensor(ramp(4, low=0)), "none"))  # fmt: skip
case("margin_ranking wrong", lambda P: P.nn.functional.margin_ranking_loss(
    P.to_tensor(ramp(5)), P.to_tensor(ramp(5)), P.to_tensor(ramp(5)), reduction="x"))  # fmt: skip
case("multi_margin cubed", lambda P: P.nn.functional.multi_margin_loss(
    P.to_tensor(ramp(3, 4)), P.to_tensor([0, 3, 2]), p=3))  # fmt: skip
case("cosine_embedding wrong", lambda P: P.nn.functional.cosine_embedding_loss(
    P.to_tensor(ramp(3, 4)), P.to_tensor(ramp(3, 4)), P.to_tensor(ramp(4))))  # fmt: skip
case("gather_tree", lambda P: P.nn.functional.gather_tree(
    P.to_tensor([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]),
    P.to_tensor([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]])))  # fmt: skip
