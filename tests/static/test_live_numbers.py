"""Live numbers: what a program computes from a learning rate follows the schedule, run by run."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.capture import CaptureError
from proa.ir.live import FrozenNumberWarning, LiveNumber, LiveScalar

EXPRESSIONS: dict[str, Any] = {
    "sum": lambda r: r + 1,
    "reflected difference": lambda r: 3.0 - r,
    "product": lambda r: np.float64(2.0) * r * 2,
    "quotients": lambda r: (r / 3) + (3 / r),
    "floor division": lambda r: 7.0 // r + r // 0.3,
    "remainders": lambda r: 7.0 % r + r % 0.3,
    "power": lambda r: r**2,
    "reflected power": lambda r: 2**r,
    "square root": lambda r: np.sqrt(r),
    "signs": lambda r: abs(-r) + (+r),
    "divmod": lambda r: sum(divmod(r, 0.3)) + sum(divmod(5.0, r)),
    "rounded": lambda r: round(r, 1) + round(r) + math.floor(r) + math.ceil(r) + math.trunc(r),
    "extremes": lambda r: np.maximum(r, 0.7) + np.minimum(0.7, r),
    "functions": lambda r: np.exp(r) + np.power(r, 3) + np.log1p(r),
    "of itself": lambda r: r * r - r / r,
    "parts": lambda r: r.real + r.imag + r.conjugate(),
}
RATES = [0.5, 1.25, 0.75]


@pytest.mark.parametrize("name", list(EXPRESSIONS))
def test_arithmetic_stays_live_in_a_program(name: str) -> None:
    expression, rate = EXPRESSIONS[name], [2.0]
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main), warnings.catch_warnings():
            warnings.simplefilter("error")
            x = paddle.static.data("x", [2], "float64")
            live = expression(LiveNumber(lambda: rate[0]))
            results = [x * live, live - x, paddle.full([2], 1.0, "float64") / live]
        executor = paddle.static.Executor()
        given = np.array([1.0, -2.0])
        for value in RATES:
            rate[0] = value
            got = executor.run(main, feed={"x": given}, fetch_list=results)
            wanted = expression(np.float64(value)) if name != "rounded" else expression(value)
            for result, reference in zip(got, [given * wanted, wanted - given, 1.0 / wanted + 0 * given], strict=True):
                np.testing.assert_allclose(result, reference, rtol=1e-12)
    finally:
        paddle.disable_static()


def test_an_optimiser_that_computes_with_its_rate_follows_the_schedule() -> None:
    class Squared(paddle.optimizer.SGD):
        def _update(self, group: Any, bucket: Any, rate: Any) -> Any:
            return super()._update(group, bucket, np.maximum(rate**2, 0.01))

    def train(static: bool) -> list[float]:
        paddle.seed(1)
        schedule = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.5)
        seen = []
        if not static:
            weight = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
            optimizer = Squared(schedule, parameters=[weight])
            for _ in range(5):
                (weight * 3.0).sum().backward()
                optimizer.step()
                optimizer.clear_grad()
                schedule.step()
                seen.append(weight.item())
            return seen
        paddle.enable_static()
        try:
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                weight = paddle.create_parameter(
                    [1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0)
                )
                Squared(schedule).minimize((weight * 3.0).sum())
            executor = paddle.static.Executor()
            for _ in range(5):
                executor.run(main, fetch_list=[])
                schedule.step()
                seen.append(float(executor.run(main.clone(for_test=True), fetch_list=[weight])[0][0]))
        finally:
            paddle.disable_static()
        return seen

    np.testing.assert_allclose(train(True), train(False), rtol=1e-6)


FREEZING: dict[str, Any] = {
    "float": (float, 0.5),
    "int": (int, 0),
    "bool": (bool, True),
    "complex": (complex, 0.5 + 0j),
    "math": (math.sqrt, math.sqrt(0.5)),
    "less": (lambda r: r < 1.0, True),
    "reflected": (lambda r: r > 1.0, False),
    "equal": (lambda r: r == 0.5, True),
    "NumPy's comparison": (lambda r: np.greater(r, 1.0), False),
    "is_integer": (lambda r: r.is_integer(), False),
}


@pytest.mark.parametrize("name", list(FREEZING))
def test_what_cannot_follow_says_so(name: str) -> None:
    function, wanted = FREEZING[name]
    with pytest.warns(FrozenNumberWarning, match=r"value of now, 0\.5") as caught:
        assert function(LiveNumber(lambda: 0.5)) == wanted
    assert caught[0].filename == __file__


def test_max_and_sorted_say_so() -> None:
    live = LiveNumber(lambda: 0.5)
    with pytest.warns(FrozenNumberWarning, match="comparison"):
        assert max(live, 0.1) is live
    with pytest.warns(FrozenNumberWarning):
        assert sorted([1.0, live])[0] is live


def test_an_attribute_of_an_operation_says_so() -> None:
    from proa.utils import custom_op

    @custom_op
    def shifted(xp: Any, x: Any, by: float) -> Any:
        return x + xp.asarray(by, x.dtype)

    with pytest.warns(FrozenNumberWarning, match="the attribute by of shifted"):
        assert shifted(paddle.to_tensor(1.0), LiveNumber(lambda: 0.5)).item() == 1.5


def test_text_shows_the_value_of_now_without_a_word() -> None:
    rate = [0.5]
    live = LiveNumber(lambda: rate[0]) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (str(live), f"{live:.2f}", repr(live)) == ("1.0", "1.00", "1.0")
        rate[0] = 0.25
        assert f"{live:.2f}" == "0.50"


def test_in_eager_code_it_is_its_value() -> None:
    live = LiveNumber(lambda: 0.5)
    assert (paddle.to_tensor([2.0]) * live).item() == 1.0
    assert (live / paddle.to_tensor([2.0])).item() == 0.25
    assert (paddle.to_tensor([2]) * live).dtype == paddle.float32
    with pytest.raises(TypeError):
        live + "a"
    with pytest.raises(TypeError):
        live @ live


def test_inside_a_condition_of_the_graph_it_is_refused() -> None:
    live = LiveNumber(lambda: 0.5)

    def function(x: Any) -> Any:
        if x.sum() > 0:
            x = x * live
        return x

    with pytest.raises(CaptureError, match="follows a schedule is used inside a condition or loop"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0]))


def test_a_captured_function_reads_it_at_each_call() -> None:
    rate = [0.5]
    live = LiveNumber(lambda: rate[0])
    function = paddle.jit.to_static(lambda x: x * live**2, full_graph=True)
    x = paddle.to_tensor([1.0])
    assert function(x).item() == 0.25
    rate[0] = 3.0
    assert function(x).item() == 9.0
    assert isinstance(next(iter(function._programs.values()))[0].graph.scalars[0], LiveScalar)
