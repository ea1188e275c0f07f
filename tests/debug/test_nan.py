"""proa.debug.nan(): the first NaN by layer, operation and line."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.ir.observing import RUNTIME

nn = paddle.nn


class Inner(nn.Layer):
    def forward(self, x):
        return paddle.log(x)  # the culprit


class Outer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.blocks = nn.LayerList([nn.Tanh(), Inner()])

    def forward(self, x):
        x = self.first(x) * 0 + x
        return self.blocks[1](self.blocks[0](x)) + 1


def culprit_line():
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if "the culprit" in line)


@pytest.mark.parametrize("mode", ["auto", "immediate"])
def test_the_first_run_tells_layer_and_line(mode):
    with paddle.jit.eager_mode(mode):
        model = Outer()
        watch = paddle.debug.nan()
        with pytest.raises(FloatingPointError, match="log") as caught, watch:
            model(paddle.to_tensor([[1.0, -1.0]])).sum().item()
    report = caught.value.report
    assert watch.report is report
    assert report.layer == "Outer.blocks.1 (Inner)"
    assert (report.operation, report.phase, report.compiled) == ("log", "forward", False)
    assert (report.file, report.line) == (__file__, culprit_line())
    assert report.source.startswith("return paddle.log(x)")
    assert report.result.num_nan == 1
    (operand,) = report.operands
    assert (operand.name, operand.shape, operand.num_nan) == ("x", [1, 2], 0)
    assert operand.minimum == pytest.approx(np.tanh(-1.0), rel=1e-5)
    text = str(report)
    for word in ("Outer.blocks.1", "log", f":{culprit_line()}", "1 NaN"):
        assert word in text
    assert any("The first NaN" in note for note in caught.value.__notes__)


def steps(model, optimizer, inputs):
    for value in inputs:
        loss = model(paddle.to_tensor([[1.0, value]])).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return loss.item()


def test_in_a_compiled_step():
    model = Outer()
    optimizer = paddle.optimizer.SGD(0.0, parameters=model.parameters())
    paddle.jit.reset_statistics()
    with pytest.raises(FloatingPointError) as caught, paddle.debug.nan():
        steps(model, optimizer, [1.0, 2.0, 3.0, 2.0, 1.0, 2.0, -3.0])
    assert paddle.jit.explain().hits > 0
    report = caught.value.report
    assert report.compiled
    assert (report.layer, report.operation) == ("Outer.blocks.1 (Inner)", "log")
    assert report.line == culprit_line()
    assert report.operands[0].minimum == pytest.approx(np.tanh(-3.0), rel=1e-5)
    assert report.result.num_nan == 1


def test_in_the_backward_pass():
    """sqrt is fine at zero, its gradient is not."""

    class Root(nn.Layer):
        def forward(self, x):
            return paddle.sqrt(x)

    x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    with pytest.raises(FloatingPointError) as caught, paddle.debug.nan():
        Root()(x).sum().backward()
    report = caught.value.report
    assert report.phase == "backward"
    assert report.source == "Root()(x).sum().backward()"
    assert report.result.num_inf == 1
    assert "Root" in report.layer


def test_infinities_and_inputs_that_are_bad_already():
    with pytest.raises(FloatingPointError) as caught, paddle.debug.nan():
        (paddle.to_tensor([1.0, np.nan, np.inf]) * 2).numpy()
    (operand, *_) = caught.value.report.operands
    assert (operand.num_nan, operand.num_inf, operand.maximum) == (1, 1, 1.0)
    assert caught.value.report.layer is None


def test_as_a_decorator_and_the_error_comes_at_the_end_of_the_block():
    @paddle.debug.nan()
    def compute(value):
        return paddle.log(paddle.to_tensor([value]))

    assert compute(1.0).item() == 0.0
    with pytest.raises(FloatingPointError, match="log"):
        compute(-1.0)


def test_nothing_stays_behind():
    call = nn.Layer.__call__
    with paddle.debug.nan() as watch:
        assert RUNTIME.observed is not None
        nn.Linear(2, 2)(paddle.ones([1, 2])).numpy()
    assert watch.report is None
    assert nn.Layer.__call__ is call
    assert RUNTIME.observed is None
    assert paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"] is False
    assert np.isnan(paddle.log(paddle.to_tensor([-1.0])).numpy()).all()


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), paddle.debug.nan():
        raise ZeroDivisionError
    assert paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"] is False
