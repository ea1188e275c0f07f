"""Code that asks about sizes which are not known, saved as one graph: the file goes the way that each size asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.sizes.dimensions import UnknownSize
from proa.static import InputSpec

SIZES = ((2, 3), (5, 4), (3, 1), (1, 7), (6, 1))


def saved(function: Any, folder: Path) -> Any:
    paddle.jit.save(function, str(folder / "model"), input_spec=[InputSpec([None, None], "float32")])
    return paddle.jit.load(str(folder / "model"))


def branch(x: Any) -> Any:
    if x.shape[1] > 1:
        y = x * 2
    else:
        y = x - 1
    if x.shape[0] >= 4 and x.shape[1] > 2:
        y = y + 100
    return y


def expression(x: Any) -> Any:
    return x * (3.0 if x.shape[0] == 3 else 0.5)


def rounds(x: Any) -> Any:
    total = x
    position = 0
    while position < x.shape[1]:
        total = total + position
        position = position + 1
    return total if x.shape[0] != 5 else -total


@pytest.mark.parametrize("function", [branch, expression, rounds])
def test_a_file_answers_for_every_size(function: Any, tmp_path: Path) -> None:
    loaded = saved(function, tmp_path)
    for size in SIZES:
        x = np.arange(np.prod(size), dtype="float32").reshape(size)
        np.testing.assert_array_equal(loaded(paddle.to_tensor(x)).numpy(), function(paddle.to_tensor(x)).numpy())


def _last_ones(x: Any, y: Any) -> Any:
    return x[y.shape[0] - x.shape[0] + 1 :], x[: y.shape[0] - x.shape[0] + 2], x[x.shape[0] - y.shape[0] :: 2]


def _other_way_round(x: Any, y: Any) -> Any:
    return x[y.shape[0] - 4 :: -1], x[: y.shape[0] - 4 : -2]


@pytest.mark.parametrize("function", [_last_ones, _other_way_round])
def test_bounds_that_are_negative_for_some_sizes_count_from_the_end_for_these(function: Any, tmp_path: Path) -> None:
    """A place is one from the start for the sizes of the capture, and may be one from the end for others."""
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime runs the file")
    specs = [InputSpec([None], "float32"), InputSpec([None], "float32")]
    paddle.jit.save(function, str(tmp_path / "model"), input_spec=specs)
    loaded = paddle.jit.load(str(tmp_path / "model"))
    paddle.onnx.export(function, str(tmp_path / "model"), input_spec=specs)
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    for sizes in ((6, 3), (6, 4), (6, 5), (6, 6), (6, 9), (3, 8), (5, 1), (1, 1), (7, 2)):
        x, y = (np.arange(size, dtype="float32") for size in sizes)
        expected = [part.numpy() for part in function(paddle.to_tensor(x), paddle.to_tensor(y))]
        found = [part.numpy() for part in loaded(paddle.to_tensor(x), paddle.to_tensor(y))]
        named = dict(zip([given.name for given in session.get_inputs()], (x, y), strict=True))
        for a, b, c in zip(expected, found, session.run(None, named), strict=True):
            np.testing.assert_array_equal(b, a)
            np.testing.assert_array_equal(c, a)


def test_such_bounds_in_code_that_looks_at_values(tmp_path: Path) -> None:
    def function(x: Any, y: Any) -> Any:
        return x[x.shape[0] - y.shape[0] - 1 :] * 2, x[x > 1.0]

    specs = [InputSpec([None], "float32"), InputSpec([None], "float32")]
    paddle.jit.save(function, str(tmp_path / "model"), input_spec=specs)
    loaded = paddle.jit.load(str(tmp_path / "model"))
    for sizes in ((6, 3), (6, 6), (6, 9), (5, 1)):
        given = [paddle.arange(size, dtype="float32") for size in sizes]
        for a, b in zip(function(*given), loaded(*given), strict=True):
            np.testing.assert_array_equal(b.numpy(), a.numpy())


def test_an_onnx_file_answers_for_every_size(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime runs the file")

    class Model(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return branch(x)

    paddle.onnx.export(Model(), str(tmp_path / "model"), input_spec=[InputSpec([None, None], "float32", "x")])
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    for size in SIZES:
        x = np.arange(np.prod(size), dtype="float32").reshape(size)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], branch(paddle.to_tensor(x)).numpy())


def differences(x: Any) -> Any:
    if x.shape[1] > 1:
        y = x[:, 1:] - x[:, :-1]
    else:
        y = x
    return y, y.reshape([y.shape[0], -1, 1])


def last_two(x: Any) -> Any:
    if x.shape[1] > 2:  # from three on, a part that is never all of it
        y = x[:, -2:]
    else:
        y = x + 1
    return y.reshape([y.shape[0], -1, 1]), y.sum(0) + paddle.arange(y.shape[1], dtype="float32")


def chosen(x: Any) -> Any:
    y = x * 2
    if y.mean() > 0:
        y = y[:, -2:]
    return y.reshape([y.shape[0], -1, 1]), y * y.shape[0]


@pytest.mark.parametrize("function", [differences, last_two, chosen])
def test_ways_may_give_other_sizes(function: Any, tmp_path: Path) -> None:
    """What comes behind them goes by the sizes that there are, the batch among them."""
    loaded = saved(function, tmp_path)
    for size in SIZES:
        for sign in (1, -1):
            x = sign * np.arange(1, np.prod(size) + 1, dtype="float32").reshape(size)
            for found, expected in zip(loaded(paddle.to_tensor(x)), function(paddle.to_tensor(x)), strict=True):
                np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_way_that_no_size_can_take_is_refused_with_the_question(tmp_path: Path) -> None:
    def joined(x: Any, y: Any) -> Any:
        if y.shape[0] == 1:
            z = paddle.concat([x, y], 0)  # of other ranks: an error, which these inputs never meet
        else:
            z = paddle.concat([x, y.reshape([-1, 4])], 0)
        return z

    with pytest.raises(NotImplementedError, match=r"asks whether y.shape\[0\] != 1"):
        paddle.jit.save(
            joined, str(tmp_path / "model"), input_spec=[InputSpec([None, 4], "float32"), InputSpec([None], "float32")]
        )


def test_a_wanted_size_of_zero_keeps_the_axis_which_is_a_question(tmp_path: Path) -> None:
    def shaped(x: Any) -> Any:
        return x.reshape([x.shape[1] % 3, -1])  # where that is 0, the axis stays as it is

    with pytest.raises(NotImplementedError, match=r"asks whether .*% \(3\).* == 0"):
        saved(shaped, tmp_path)


def test_a_question_that_divides_by_nothing_is_answered_otherwise(tmp_path: Path) -> None:
    def divided(x: Any) -> Any:
        return x + 1 if x.shape[0] % (x.shape[1] - 1) == 0 else x

    path = str(tmp_path / "model.proa")
    paddle.jit.save(divided, path, input_spec=[InputSpec([None, None], "float32")])
    with pytest.raises(UnknownSize, match=r"captured for sizes with"):
        paddle.jit.load(path)(paddle.ones([4, 1]))


def test_messages_do_not_show_the_numbers_that_stand_for_unknown_sizes() -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [None, 8], "float32")
            with pytest.raises(ValueError, match=r"the shapes \[-1, 8\], \[3, 7\] cannot be broadcast") as caught:
                x + paddle.ones([3, 7])
            assert "x: float32[-1, 8]" in str(caught.value)
            with pytest.raises(ValueError, match=r"x: float32\[-1, 8\]"):
                paddle.matmul(x, paddle.ones([3, 4]))
            with pytest.raises(ValueError, match=r"x: float32\[-1, 8\]"):
                paddle.nn.functional.conv2d(x, x)
    finally:
        paddle.disable_static()
