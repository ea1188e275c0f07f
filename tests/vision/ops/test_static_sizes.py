"""Operations that count places by sizes, in static programs: a batch that is stated, and one that may be any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import static
from proa.nn import functional as F
from proa.vision import ops


def _deformed(x: Any, offset: Any, mask: Any) -> Any:
    weight = np.random.default_rng(3).standard_normal((4, 3, 3, 3)).astype("float32")
    return ops.deform_conv2d(x, offset, paddle.to_tensor(weight), mask=mask)


def _lost(x: Any, boxes: Any, labels: Any) -> Any:
    return ops.yolo_loss(x, boxes, labels, [10, 13, 16, 30], [0, 1], 2, 0.7, 32)


CASES: dict[str, tuple[Callable[..., Any], dict[str, tuple[str, tuple[int, ...]]]]] = {
    "deform_conv2d": (
        _deformed,
        {"x": ("float32", (3, 7, 8)), "offset": ("float32", (18, 5, 6)), "mask": ("float32", (9, 5, 6))},
    ),
    "grid_sample": (F.grid_sample, {"x": ("float32", (3, 5, 6)), "grid": ("float32", (4, 3, 2))}),
    "yolo_loss": (
        _lost,
        {"x": ("float32", (14, 4, 4)), "boxes": ("float32", (3, 4)), "labels": ("int32", (3,))},
    ),
}


@pytest.fixture
def static_mode() -> Iterator[None]:
    yield
    paddle.disable_static()


def _arrays(sizes: dict[str, tuple[str, tuple[int, ...]]], batch: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(batch)
    return {name: rng.uniform(0, 1.99, (batch, *shape)).astype(dtype) for name, (dtype, shape) in sizes.items()}


@pytest.mark.parametrize("stated", [1, 2, -1])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("static_mode")
def test_a_static_program_gives_what_eager_code_gives(name: str, stated: int) -> None:
    function, sizes = CASES[name]
    feeds = [_arrays(sizes, batch) for batch in ((stated,) if stated > 0 else (1, 3))]
    expected = [function(**{key: paddle.to_tensor(value) for key, value in feed.items()}).numpy() for feed in feeds]
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main, static.Program()):
        result = function(**{key: static.data(key, [stated, *shape], dtype) for key, (dtype, shape) in sizes.items()})
    assert result.shape[0] == stated
    for feed, wanted in zip(feeds, expected, strict=True):
        (found,) = static.Executor().run(main, feed=feed, fetch_list=[result])
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.usefixtures("static_mode")
def test_the_layer_of_static_programs_takes_a_stated_batch(batch: int) -> None:
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [batch, 3, 6, 6], "float32")
        offset = static.data("offset", [batch, 18, 4, 4], "float32")
        moved = static.nn.deform_conv2d(x, offset, None, 4, 3, weight_attr="weight", bias_attr=False)
        plain = static.nn.conv2d(x, 4, 3, param_attr="weight", bias_attr=False)
    executor = static.Executor()
    executor.run(startup)
    image = np.random.default_rng(0).standard_normal((batch, 3, 6, 6)).astype("float32")
    feed = {"x": image, "offset": np.zeros((batch, 18, 4, 4), "float32")}
    # Where nothing is moved, it is the ordinary convolution.
    found, wanted = executor.run(main, feed=feed, fetch_list=[moved, plain])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
