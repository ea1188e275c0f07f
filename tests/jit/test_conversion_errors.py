"""Control flow that cannot be converted: the error names the line and what to do; user errors keep their places."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.capture import CaptureError


def captured(function: Any, *values: Any) -> Any:
    arguments = [paddle.to_tensor(np.array(value, "float32")) for value in values]
    with paddle.no_grad():
        return paddle.jit.to_static(function, full_graph=True)(*arguments)


def line_of(function: Any, offset: int) -> str:
    return rf"test_conversion_errors\.py:{function.__code__.co_firstlineno + offset}"


def test_a_variable_of_one_branch() -> None:
    def function(x: Any) -> Any:
        if x.sum() > 0:
            y = x
        return y

    with pytest.raises(CaptureError, match=r"'y' has no value.*only one branch of the condition at line") as caught:
        captured(function, [1.0])
    assert caught.match(line_of(function, 3))
    with pytest.raises(UnboundLocalError):
        captured(function, [1.0])


def test_a_list_that_grows_in_a_loop() -> None:
    def function(x: Any) -> Any:
        parts = []
        while x.sum() < 10:
            parts.append(x)
            x = x + 1
        return parts

    with pytest.raises(CaptureError, match=r"'parts' has 0 elements before and 1 after") as caught:
        captured(function, [1.0])
    assert caught.match(line_of(function, 2))


def test_a_list_that_grows_in_one_branch() -> None:
    def function(x: Any) -> Any:
        parts = [x]
        if x.sum() > 0:
            parts.append(x)
        return parts

    with pytest.raises(CaptureError, match=r"'parts' has 2 elements in one branch and 1 in the other"):
        captured(function, [1.0])


def test_results_of_different_shapes() -> None:
    def function(x: Any) -> Any:
        if x.sum() > 0:
            return x
        return x.sum()

    with pytest.raises(CaptureError, match=r"what is returned is a tensor float32\[2\].*float32\[\].*same shape"):
        captured(function, [1.0, 2.0])


def test_nothing_and_a_tensor() -> None:
    def function(x: Any) -> Any:
        if x.sum() > 0:
            return x

    with pytest.raises(CaptureError, match=r"what is returned is a tensor .* and None"):
        captured(function, [1.0])


def test_a_loop_variable_that_changes_its_shape() -> None:
    def function(x: Any) -> Any:
        while x.sum() < 10:
            x = paddle.concat([x, x])
        return x

    with pytest.raises(CaptureError, match=r"'x' is a tensor float32\[1\] before and a tensor float32\[2\] after"):
        captured(function, [1.0])


def test_a_condition_of_many_elements() -> None:
    def function(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    with pytest.raises(CaptureError, match="one element"):
        captured(function, [1.0, 2.0])


def test_a_comprehension_over_an_unknown_number() -> None:
    def function(x: Any) -> Any:
        return [i * 2 for i in range(x.sum())]

    with pytest.raises(CaptureError, match="only known when the graph runs"):
        captured(function, [3.0])


def test_a_generator() -> None:
    def function(x: Any) -> Any:
        yield x

    with pytest.raises(CaptureError, match="generator"):
        captured(function, [3.0])


def test_an_error_of_the_user_shows_the_users_line() -> None:
    def function(x: Any) -> Any:
        if x.sum() > 0:
            y = x + 1
            return y.reshape([7])  # wrong
        return x

    with pytest.raises(ValueError, match="reshape") as caught:
        captured(function, [1.0, 2.0])
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(f.filename == __file__ and f.lineno == function.__code__.co_firstlineno + 3 for f in frames)


def test_an_assertion_that_fails_when_the_graph_runs() -> None:
    def function(x: Any) -> Any:
        assert x.sum() > 0, "the sum must be positive"
        return x * 2

    assert captured(function, [1.0]).item() == 2.0
    with pytest.raises(AssertionError, match="the sum must be positive") as caught:
        captured(function, [-1.0])
    assert caught.match(line_of(function, 1))


def test_an_assertion_inside_a_loop() -> None:
    def function(x: Any) -> Any:
        while x.sum() < 10:
            x = x * 2
            assert x.sum() != 8, "eight"
        return x

    assert captured(function, [3.0]).item() == 12.0
    with pytest.raises(AssertionError, match="eight"):
        captured(function, [1.0]).numpy()


def test_an_error_raised_in_a_branch_is_raised_when_it_is_taken() -> None:
    def function(x: Any) -> Any:
        if x.sum() < 0:
            raise ValueError("negative input")
        return x * 2

    assert captured(function, [1.0]).item() == 2.0
    with pytest.raises(ValueError, match="negative input"):
        captured(function, [-1.0])


def test_printing_happens_at_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Any) -> Any:
        y = x * 2
        print("y is", y)
        return y

    static = paddle.jit.to_static(function, full_graph=True)
    with paddle.no_grad():
        for number in (1.0, 2.0):
            static(paddle.to_tensor([number])).numpy()
    shown = capsys.readouterr().out
    assert shown.count("y is") == 2
    assert "4." in shown
    assert "2." in shown


def test_unbound_in_plain_python_is_an_unbound_local_error() -> None:
    def function(x: Any, flag: bool = False) -> Any:
        if flag:
            y = x
        return y

    with pytest.raises(UnboundLocalError):
        captured(function, [1.0])
