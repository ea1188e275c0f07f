"""Static programs as users write them, with fixed numbers everywhere: the same code gave the constants in
`test_against_paddle.py` when it was run with the real package."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def assigned(paddle: Any, *shape: int, seed: int = 0) -> Any:
    return paddle.nn.initializer.Assign(numbers(*shape, seed=seed))


def run(paddle: Any, build: Any, feed: dict[str, Any], times: int = 1, between: Any = None) -> list[Any]:
    """The fetched values of the last of some runs."""
    static = paddle.static
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        fetches = build()
    executor = static.Executor(paddle.CPUPlace())
    executor.run(startup)
    values: list[Any] = []
    for _ in range(times):
        values = executor.run(main, feed=feed, fetch_list=fetches)
        if between is not None:
            between()
    return [np.asarray(value) for value in values]


def regression(paddle: Any, make_optimizer: Any, times: int = 4, between: Any = None) -> list[Any]:
    def build() -> list[Any]:
        x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 1])
        hidden = paddle.static.nn.fc(
            x, 4, weight_attr=assigned(paddle, 3, 4), bias_attr=assigned(paddle, 4, seed=1), activation="tanh"
        )
        out = paddle.static.nn.fc(hidden, 1, weight_attr=assigned(paddle, 4, 1, seed=2))
        loss = paddle.mean(paddle.square(out - y))
        make_optimizer().minimize(loss)
        return [loss]

    feed = {"x": numbers(6, 3, seed=3), "y": numbers(6, 1, seed=4)}
    return run(paddle, build, feed, times, between)


def layer(paddle: Any, kind: str) -> list[Any]:
    static, nn = paddle.static, paddle.static.nn
    image = numbers(2, 4, 5, 5, seed=5)
    rows, others = numbers(2, 6, 4, seed=6), numbers(2, 3, seed=7)

    def data(array: np.ndarray, name: str = "x") -> Any:
        return static.data(name, [None, *array.shape[1:]], str(array.dtype))

    builds: dict[str, tuple[Any, dict[str, np.ndarray]]] = {
        "fc": (lambda: nn.fc(data(rows), 3, weight_attr=assigned(paddle, 24, 3)), {"x": rows}),
        "fc_2": (lambda: nn.fc(data(rows), 3, num_flatten_dims=2, weight_attr=assigned(paddle, 4, 3)), {"x": rows}),
        "conv2d": (
            lambda: nn.conv2d(data(image), 2, 3, padding=1, stride=2, param_attr=assigned(paddle, 2, 4, 3, 3), act="relu"),
            {"x": image},
        ),
        "conv2d_transpose": (
            lambda: nn.conv2d_transpose(
                data(image), 2, output_size=[11, 11], stride=2, param_attr=assigned(paddle, 4, 2, 3, 3)
            ),
            {"x": image},
        ),
        "batch_norm": (lambda: nn.batch_norm(data(image), param_attr=assigned(paddle, 4)), {"x": image}),
        "layer_norm": (
            lambda: nn.layer_norm(data(image), begin_norm_axis=2, param_attr=assigned(paddle, 25)),
            {"x": image},
        ),
        "group_norm": (lambda: nn.group_norm(data(image), 2, param_attr=assigned(paddle, 4)), {"x": image}),
        "instance_norm": (lambda: nn.instance_norm(data(image)), {"x": image}),
        "prelu": (lambda: nn.prelu(data(image), "channel", param_attr=assigned(paddle, 1, 4, 1, 1)), {"x": image}),
        "bilinear": (
            lambda: nn.bilinear_tensor_product(
                data(others), data(image[:, :, 0, 0], "y"), 2, param_attr=assigned(paddle, 2, 3, 4)
            ),
            {"x": others, "y": image[:, :, 0, 0]},
        ),
        "row_conv": (lambda: nn.row_conv(data(rows), 2, param_attr=assigned(paddle, 3, 4)), {"x": rows}),
        "embedding": (
            lambda: nn.embedding(
                static.data("x", [None, 3], "int64"), [5, 2], padding_idx=1, param_attr=assigned(paddle, 5, 2)
            ),
            {"x": np.array([[0, 1, 4], [3, 3, 2]])},
        ),
        "auc": (
            lambda: list(
                static.auc(static.data("x", [None, 2]), static.data("y", [None, 1], "int64"), num_thresholds=200)[:2]
            ),
            {"x": np.abs(numbers(20, 2, seed=8)), "y": (numbers(20, 1, seed=9) > 0).astype("int64")},
        ),
        "accuracy": (
            lambda: static.accuracy(static.data("x", [None, 5]), static.data("y", [None, 1], "int64"), k=2),
            {"x": numbers(20, 5, seed=8), "y": np.arange(20).reshape(20, 1) % 5},
        ),
    }  # fmt: skip
    build, feed = builds[kind]

    def fetches() -> list[Any]:
        made = build()
        return list(made) if isinstance(made, (list, tuple)) else [made]

    return run(paddle, fetches, feed)


LAYERS = (
    "fc", "fc_2", "conv2d", "conv2d_transpose", "batch_norm", "layer_norm", "group_norm", "instance_norm", "prelu",
    "bilinear", "row_conv", "embedding", "auc", "accuracy",
)  # fmt: skip

OPTIMISERS: dict[str, Any] = {
    "SGD": lambda p: p.optimizer.SGD(0.1),
    "Momentum": lambda p: p.optimizer.Momentum(0.1, 0.9, weight_decay=0.01),
    "Adam": lambda p: p.optimizer.Adam(0.05),
    "AdamW": lambda p: p.optimizer.AdamW(0.05, weight_decay=0.1),
    "RMSProp": lambda p: p.optimizer.RMSProp(0.05),
    "clipped": lambda p: p.optimizer.SGD(0.1, grad_clip=p.nn.ClipGradByGlobalNorm(0.2)),
}
