"""Programs in which values decide shapes: an Executor runs them in pieces, the deciding calls between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import static
from proa.ir.capture import CaptureError
from proa.nn import functional as F

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], "float32")
ROW = np.array([[1.0, 0.0, 0.0]], "float32")


@pytest.fixture(autouse=True)
def _static_mode() -> Any:
    paddle.enable_static()
    yield
    paddle.disable_static()


def program_of(build: Callable[[], Any]) -> Callable[..., list[Any]]:
    """Builds a program; gives a function that runs it with feeds by name."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        built = build()
    fetches = list(built) if isinstance(built, (list, tuple)) else [built]
    executor = static.Executor()
    executor.run(startup)
    return lambda **feed: executor.run(main, feed=feed, fetch_list=fetches)


def x(name: str = "x", shape: Any = (-1, 3), dtype: str = "float32") -> Any:
    return static.data(name, list(shape), dtype)


def sizes(*given: int) -> np.ndarray:
    return np.array(given, "int32")


def test_positions_of_what_is_not_zero() -> None:
    def build() -> Any:
        found = paddle.nonzero(x())
        assert found.shape == [-1, 2]
        assert found.dtype == paddle.int64
        return found

    run = program_of(build)
    for array in (X, ROW, np.zeros((4, 3), "float32")):
        np.testing.assert_array_equal(run(x=array)[0], np.argwhere(array))


def test_what_is_selected_goes_on() -> None:
    def build() -> Any:
        data = x()
        chosen = paddle.masked_select(data, data > 0.5)
        assert chosen.shape == [-1]
        return chosen, F.relu(chosen - 1.5).sum(), data[data > 0.5] * 2

    run = program_of(build)
    for array in (X, ROW):
        wanted = array[array > 0.5]
        for found, expected in zip(run(x=array), (wanted, np.maximum(wanted - 1.5, 0).sum(), wanted * 2), strict=True):
            np.testing.assert_allclose(found, expected)


def test_rows_by_a_mask_keep_their_width() -> None:
    def build() -> Any:
        data, mask = x(), x("mask", (-1,), "bool")
        rows = data[mask]
        assert rows.shape == [-1, 3]
        return static.nn.fc(rows, 4), rows

    run = program_of(build)
    out, rows = run(x=X, mask=np.array([False, True]))
    assert out.shape == (1, 4)
    np.testing.assert_array_equal(rows, X[1:])


def test_unique_with_everything_it_can_give() -> None:
    array = np.array([3.0, 1.0, 3.0, 2.0], "float32")
    run = program_of(lambda: paddle.unique(x(shape=(-1,)), return_index=True, return_inverse=True, return_counts=True))
    expected = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    for found, wanted in zip(run(x=array), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


TENSORS_AS_SIZES: dict[str, tuple[Callable[[], Any], dict[str, Any], Any]] = {
    "reshape": (lambda: paddle.reshape(x(), x("s", (2,), "int32")), {"x": X, "s": sizes(3, 2)}, X.reshape(3, 2)),
    "zeros": (lambda: paddle.zeros(x("s", (2,), "int32")), {"s": sizes(3, 2)}, np.zeros((3, 2))),
    "full of a list": (lambda: paddle.full([x("s", (1,), "int32"), 2], 3.0), {"s": sizes(3)}, np.full((3, 2), 3.0)),
    "arange": (lambda: paddle.arange(0, x("s", (1,), "int32"), 1), {"s": sizes(4)}, np.arange(4)),
    "linspace": (lambda: paddle.linspace(0, 1, x("s", (1,), "int32")), {"s": sizes(3)}, [0, 0.5, 1]),
    "topk": (lambda: paddle.topk(x(), x("s", (1,), "int32"))[0], {"x": X, "s": sizes(2)}, [[2, 1], [3, 0]]),
    "sum": (lambda: paddle.sum(x(), axis=x("s", (1,), "int32")), {"x": X, "s": sizes(1)}, X.sum(1)),
    "expand": (
        lambda: paddle.expand(x(shape=(1, 3)), x("s", (2,), "int32")), {"x": ROW, "s": sizes(2, 3)}, ROW.repeat(2, 0),
    ),
    "tile": (lambda: paddle.tile(x(), x("s", (2,), "int32")), {"x": X, "s": sizes(1, 2)}, np.tile(X, (1, 2))),
    "slice": (lambda: paddle.slice(x(), [0], [0], x("s", (1,), "int32")), {"x": X, "s": sizes(1)}, X[:1]),
    "index": (lambda: x()[x("s", (1,), "int32") :], {"x": X, "s": sizes(1)}, X[1:]),
    "split": (
        lambda: paddle.split(x(shape=(4, 2)), [x("s", (1,), "int32"), -1])[1],
        {"x": np.arange(8, dtype="float32").reshape(4, 2), "s": sizes(1)}, np.arange(2, 8).reshape(3, 2),
    ),
    "one_hot": (
        lambda: F.one_hot(x("i", (2,), "int64"), x("s", (1,), "int32")),
        {"i": np.array([0, 1]), "s": sizes(3)}, np.eye(2, 3),
    ),
    "roll": (lambda: x() + paddle.roll(x(), x("s", (1,), "int32"), 0), {"x": X, "s": sizes(1)}, X + X[::-1]),
    "interpolate": (
        lambda: F.interpolate(x(shape=(1, 1, 2, 2)), size=x("s", (2,), "int32")),
        {"x": np.ones((1, 1, 2, 2), "float32"), "s": sizes(4, 3)}, np.ones((1, 1, 4, 3)),
    ),
    "repeat_interleave": (
        lambda: paddle.repeat_interleave(x(), x("s", (2,), "int64"), 0), {"x": X, "s": np.array([1, 2])}, X[[0, 1, 1]],
    ),
    "bincount": (lambda: paddle.bincount(x("i", (-1,), "int64")), {"i": np.array([1, 2, 1])}, [0, 2, 1]),
    "sequence_mask": (lambda: F.sequence_mask(x("i", (-1,), "int64")), {"i": np.array([1, 2])}, [[1, 0], [1, 1]]),
    "nms": (
        lambda: paddle.vision.ops.nms(x(shape=(-1, 4)), 0.5),
        {"x": np.array([[0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]], "float32")}, [0, 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS_AS_SIZES)
def test_tensors_as_sizes(name: str) -> None:
    build, feed, expected = TENSORS_AS_SIZES[name]
    run = program_of(build)
    for _ in range(2):
        np.testing.assert_allclose(run(**feed)[0], expected)


def test_gradients_go_through() -> None:
    def build() -> Any:
        data = x()
        data.stop_gradient = False
        chosen = paddle.masked_select(data * data, data > 0.5)
        return static.gradients((chosen * chosen).sum(), data)

    (found,) = program_of(build)(x=X)
    np.testing.assert_allclose(found, np.where(X > 0.5, 4 * X**3, 0))


def test_training_a_parameter() -> None:
    def build() -> Any:
        data = x()
        weight = static.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        loss = paddle.masked_select(data * weight, data > 0.5).sum()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss, weight

    run, expected = program_of(build), np.ones(3)
    for _ in range(3):
        loss, weight = run(x=X)
        np.testing.assert_allclose(loss, (X * expected)[X > 0.5].sum(), rtol=1e-6)
        expected = expected - 0.1 * np.where(X > 0.5, X, 0).sum(0)
        np.testing.assert_allclose(weight, expected, rtol=1e-6)


def test_a_random_mask_is_the_same_one_before_and_after() -> None:
    def build() -> Any:
        dropped = F.dropout(paddle.ones([64]) + 0 * x(shape=(1,)), 0.5)
        kept = paddle.masked_select(dropped, dropped > 0)
        return dropped.sum(), kept.sum()

    run = program_of(build)
    sums = [run(x=np.zeros(1, "float32")) for _ in range(3)]
    for before, after in sums:
        assert before == after
    assert len({float(before) for before, _ in sums}) > 1


def test_a_size_that_is_used_as_a_number() -> None:
    def build() -> Any:
        chosen = paddle.masked_select(x(), x() > 0.5)
        return chosen.sum() / paddle.shape(chosen)[0].astype("float32"), paddle.reshape(chosen, [-1, 1])

    mean, column = program_of(build)(x=X)
    assert mean == pytest.approx(2.0)
    assert column.shape == (3, 1)


def test_errors_of_a_call_name_it_when_it_runs() -> None:
    run = program_of(lambda: paddle.reshape(x(), x("s", (2,), "int32")))
    with pytest.raises(ValueError, match="reshape"):
        run(x=X, s=sizes(4, 4))


def test_what_cannot_be_put_off_is_still_refused() -> None:
    with pytest.raises(CaptureError, match="value of a tensor"):
        program_of(lambda: x() * float(x().sum()))
    data = x()
    with pytest.raises(CaptureError, match="value of a tensor"):
        static.nn.cond(data.sum() > 0, lambda: data * float(data.sum()), lambda: data)


def test_a_variable_outside_of_its_program_is_refused() -> None:
    with static.program_guard(static.Program()):
        variable = x()
    paddle.disable_static()
    for look in (paddle.nonzero, lambda v: v[v > 0], paddle.unique):
        with pytest.raises((CaptureError, ValueError), match=r"value of a tensor|another program"):
            look(variable)


def test_a_clone_for_tests_and_a_printed_program() -> None:
    main = static.Program()
    with static.program_guard(main):
        found = paddle.nonzero(x())
    assert "deferred_call" in str(main)
    (positions,) = static.Executor().run(main.clone(for_test=True), feed={"x": X}, fetch_list=[found])
    np.testing.assert_array_equal(positions, np.argwhere(X))


# ---- in conditions and loops ---------------------------------------------------------------------------------------


def test_branches_may_give_different_sizes() -> None:
    def build() -> Any:
        data = x()
        made = static.nn.cond(data.sum() > 3, lambda: data * 2, lambda: paddle.concat([data, data, -data]))
        assert made.shape == [-1, 3]
        return made, made.sum(axis=0)

    run = program_of(build)
    for array, expected in ((X, X * 2), (ROW, np.concatenate([ROW, ROW, -ROW]))):
        for found, wanted in zip(run(x=array), (expected, expected.sum(0)), strict=True):
            np.testing.assert_allclose(found, wanted)


def test_different_sizes_have_gradients() -> None:
    def build() -> Any:
        data = x()
        data.stop_gradient = False
        made = static.nn.cond(data.sum() > 3, lambda: data[:1] * 2, lambda: paddle.concat([data, data * data]))
        return static.gradients(made.sum(), [data])[0]

    run = program_of(build)
    np.testing.assert_allclose(run(x=X)[0], [[2, 2, 2], [0, 0, 0]])
    np.testing.assert_allclose(run(x=ROW)[0], 1 + 2 * ROW)


def test_other_ranks_and_types_of_branches_are_refused() -> None:
    for other in (lambda data: data.sum(), lambda data: data.astype("int64")):
        data = x()
        with pytest.raises(ValueError, match="same shape and type"):
            static.nn.cond(data.sum() > 3, lambda data=data: data, lambda data=data, other=other: other(data))


def test_a_size_is_kept_though_what_has_it_is_not() -> None:
    def build() -> Any:
        data = x()
        data.stop_gradient = False
        return static.gradients(paddle.masked_select(data, data > 0.5).sum(), data)  # needs its size alone

    run = program_of(build)
    for array in (X, ROW):
        np.testing.assert_array_equal(run(x=array)[0], array > 0.5)


def test_case_and_switch_case_may_give_different_sizes() -> None:
    def build() -> Any:
        data, which = x(), x("which", (1,), "int32")
        return static.nn.switch_case(which, [lambda: data, lambda: data[:1], lambda: paddle.tile(data, [2, 1])])

    run = program_of(build)
    for number, expected in enumerate((X, X[:1], np.tile(X, (2, 1)))):
        np.testing.assert_array_equal(run(x=X, which=sizes(number))[0], expected)


def test_a_branch_may_look_at_values() -> None:
    def build() -> Any:
        data = x()
        return static.nn.cond(data.sum() > 3, lambda: paddle.masked_select(data, data > 1), lambda: data.flatten()[:1])

    run = program_of(build)
    np.testing.assert_array_equal(run(x=X)[0], [2, 3])
    np.testing.assert_array_equal(run(x=ROW)[0], [1])


def test_a_branch_that_looks_at_values_may_give_fixed_sizes_and_change_what_is_outside() -> None:
    def build() -> Any:
        data = x()
        total = paddle.zeros([1])

        def count() -> Any:
            total.add_(data[data > 0].sum().reshape([1]))
            return total * 2

        made = static.nn.cond(data.sum() > 3, count, lambda: total - 1)
        return made, total

    run = program_of(build)
    assert [float(v[0]) for v in run(x=X)] == [12, 6]
    assert [float(v[0]) for v in run(x=ROW)] == [-1, 0]


def test_a_loop_may_look_at_values() -> None:
    def build() -> Any:
        data = x(shape=(-1,))

        def body(i: Any, total: Any) -> Any:
            return [i + 1, total + data[data > i.astype("float32")].sum()]

        start = [paddle.zeros([], "int64"), paddle.zeros([])]
        return static.nn.while_loop(lambda i, total: i < x("n", (), "int64"), body, start)

    run = program_of(build)
    array = np.array([0.5, 1.5, 2.5], "float32")
    for rounds, expected in ((0, 0), (1, 4.5), (2, 8.5), (40, 4.5 + 4 + 2.5)):
        count, total = run(x=array, n=np.array(rounds))
        assert (int(count), float(total)) == (rounds, pytest.approx(expected))


def test_dropout_in_a_branch_has_the_gradient_of_its_own_mask() -> None:
    def build() -> Any:
        data = x()
        data.stop_gradient = False
        made = static.nn.cond(data.sum() > 0, lambda: F.dropout(data, 0.5), lambda: data[:1])
        return made, static.gradients(made.sum(), [data])[0]

    run = program_of(build)
    array = np.ones((50, 3), "float32")
    first, again = run(x=array), run(x=array)
    np.testing.assert_array_equal(first[0], first[1])
    assert 0 < (first[0] == 0).mean() < 1
    assert not np.array_equal(first[0], again[0])


def test_a_loop_may_change_the_sizes_of_its_variables() -> None:
    def build() -> Any:
        data, rounds = x(), x("n", (), "int64")
        data.stop_gradient = False
        start = [paddle.zeros([], "int64"), data]
        _, grown = static.nn.while_loop(
            lambda i, rows: i < rounds,
            lambda i, rows: [i + 1, paddle.concat([rows, data * i.astype("float32")])],
            start,
        )
        assert grown.shape == [-1, 3]
        return grown, grown.mean(axis=0), static.gradients(grown.sum(), [data])[0]

    run = program_of(build)
    for array, rounds in ((X, 2), (X, 0), (ROW, 40)):
        expected = np.concatenate([array, *(array * i for i in range(rounds))])
        grown, mean, gradient = run(x=array, n=np.array(rounds))
        np.testing.assert_array_equal(grown, expected)
        np.testing.assert_allclose(mean, expected.mean(0), rtol=1e-6)
        np.testing.assert_array_equal(gradient, np.full_like(array, 1 + sum(range(rounds))))


def test_a_loop_may_shrink_and_multiply() -> None:
    def build() -> Any:
        data = x(shape=(-1,))
        one = paddle.ones([], "int64")
        halved, _ = static.nn.while_loop(
            lambda rows, _: paddle.shape(rows)[0] > 2, lambda rows, n: [rows[1:-1], n + 1], [data, one]
        )
        doubled, _ = static.nn.while_loop(
            lambda rows, n: n < 4, lambda rows, n: [paddle.concat([rows, rows]), n + 1], [data, one]
        )
        return halved, doubled

    array = np.arange(7, dtype="float32")
    shrunk, multiplied = program_of(build)(x=array)
    np.testing.assert_array_equal(shrunk, [3.0])
    np.testing.assert_array_equal(multiplied, np.tile(array, 8))


def test_what_a_round_takes_for_granted_is_checked() -> None:
    def build() -> Any:
        data, rounds = x(), x("n", (), "int64")

        def body(i: Any, rows: Any) -> Any:
            # As a function of ours would ask: the answer is part of the program.
            return [i + 1, paddle.concat([rows, rows * (2 if rows._aval.shape[0] > 1 else 1)])]

        return static.nn.while_loop(lambda i, rows: i < rounds, body, [paddle.zeros([], "int64"), data])[1]

    run = program_of(build)
    np.testing.assert_array_equal(run(x=X, n=np.array(1))[0], np.concatenate([X, X * 2]))
    with pytest.raises(ValueError, match="holds for sizes with the size of a loop variable > 1"):
        run(x=ROW, n=np.array(1))


def test_a_variable_keeps_its_type_and_number_of_dimensions() -> None:
    for after in (lambda rows: rows.flatten(), lambda rows: rows.astype("int64")):
        data = x()
        with pytest.raises(ValueError, match="keep its shape and type"):
            static.nn.while_loop(lambda rows: rows.sum() < 9, lambda rows, after=after: [after(rows)], [data])


def test_compiled_functions_still_refuse_branches_of_different_sizes() -> None:
    paddle.disable_static()
    function = paddle.jit.to_static(
        lambda a: static.nn.cond(a.sum() > 3, lambda: a * 2, lambda: paddle.concat([a, a])), full_graph=True
    )
    with pytest.raises(ValueError, match="same shape and type"):
        function(paddle.to_tensor(X))
    paddle.enable_static()
