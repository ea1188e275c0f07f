"""`to_static`: what it may decorate, when it captures, what a call gives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.autograd import PyLayer
from proa.ir.capture import CaptureError
from proa.jit import StaticFunction
from proa.static import InputSpec


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1D(3)
        self.calls = 0

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        self.calls += 1
        h = self.norm(self.linear(x)) * scale
        if h.mean() > 0:
            h = h * 2
        return h


def tensor(*values: float) -> Any:
    return paddle.to_tensor(np.array(values, "float32"))


def test_decorator_with_and_without_arguments() -> None:
    @paddle.jit.to_static
    def plain(x: Any) -> Any:
        return x + 1

    @paddle.jit.to_static(input_spec=[InputSpec([None])], full_graph=True)
    def given(x: Any) -> Any:
        return x + 2

    assert isinstance(plain, StaticFunction)
    assert isinstance(given, StaticFunction)
    assert plain(tensor(1)).numpy().tolist() == [2.0]
    assert given(tensor(1, 2)).numpy().tolist() == [3.0, 4.0]
    assert plain.__name__ == "plain"


def test_a_layer_keeps_its_identity_and_agrees_with_eager_code() -> None:
    net, other = Net(), Net()
    other.set_state_dict(net.state_dict())
    assert paddle.jit.to_static(net) is net
    x = paddle.randn([4, 3])
    first, second = net(x), other(x)
    np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-5, atol=1e-6)
    first.sum().backward()
    second.sum().backward()
    np.testing.assert_allclose(net.linear.weight.grad.numpy(), other.linear.weight.grad.numpy(), atol=1e-5)
    np.testing.assert_allclose(net.norm._mean.numpy(), other.norm._mean.numpy(), atol=1e-6)


def test_a_decorated_method_is_captured_for_each_instance() -> None:
    class Scaled:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @paddle.jit.to_static
        def run(self, x: Any) -> Any:
            return x * self.factor

    assert Scaled(2.0).run(tensor(1)).item() == 2.0
    assert Scaled(3.0).run(tensor(1)).item() == 3.0
    one = Scaled(4.0)
    assert one.run is one.run


def test_python_runs_at_the_capture_only() -> None:
    seen: list[int] = []

    @paddle.jit.to_static(full_graph=True)
    def function(x: Any, number: int = 3) -> Any:
        seen.append(number)
        return x * number

    for _ in range(3):
        assert function(tensor(2)).item() == 6.0
    assert seen == [3]
    assert function(tensor(2), 4).item() == 8.0
    assert function(tensor(2), number=4).item() == 8.0
    assert function(tensor(2, 2)).numpy().tolist() == [6.0, 6.0]
    assert seen == [3, 4, 4, 3]


def test_one_and_true_and_one_point_nought_are_different_arguments() -> None:
    @paddle.jit.to_static(full_graph=True)
    def function(x: Any, flag: Any) -> Any:
        return x * (10 if flag is True else 20 if isinstance(flag, float) else 30)

    assert [function(tensor(1), flag).item() for flag in (True, 1.0, 1, True)] == [10.0, 20.0, 30.0, 10.0]


def test_structures_arrays_and_nothing() -> None:
    @paddle.jit.to_static(full_graph=True)
    def function(parts: Any, table: Any, extra: Any = None, *, name: str = "n") -> Any:
        total = parts[0] + parts[1][0] + table["a"]
        return {"total": total if extra is None else total + extra, "name": name, "pair": (parts[0], None)}

    result = function([tensor(1), (np.float32([2]),)], {"a": tensor(3)}, name="m")
    assert (result["total"].item(), result["name"], result["pair"][1]) == (6.0, "m", None)
    assert function([tensor(1), (tensor(2),)], {"a": tensor(3)}, 4.0)["total"].item() == 10.0


def test_training_and_frozen_parameters_are_noticed() -> None:
    net = paddle.jit.to_static(Net())
    x = paddle.randn([8, 3])
    net(x)
    mean = net.norm._mean.numpy()
    net.eval()
    net(x)
    np.testing.assert_array_equal(net.norm._mean.numpy(), mean)
    for parameter in net.parameters():
        parameter.stop_gradient = True
    assert net(x).stop_gradient
    net.linear.weight.stop_gradient = False
    assert not net(x).stop_gradient


def test_a_replaced_parameter_or_sublayer_is_noticed() -> None:
    net = paddle.jit.to_static(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    x = tensor(1, 1).reshape([1, 2])
    net(x)
    net[0].weight = paddle.create_parameter([2, 2], "float32", default_initializer=nn.initializer.Constant(1.0))
    assert net(x).numpy().tolist() == [[2.0, 2.0]]
    net[1] = nn.Identity()
    assert net(-x).numpy().tolist() == [[-2.0, -2.0]]


def test_changed_weights_are_used() -> None:
    layer = nn.Linear(2, 1)
    function = paddle.jit.to_static(lambda x: layer(x))
    x = tensor(1, 1)
    with paddle.no_grad():
        function(x)
        layer.weight.set_value(paddle.full([2, 1], 5.0))
        layer.bias.set_value(paddle.zeros([1]))
        assert function(x).item() == 10.0


def test_random_numbers_differ_from_run_to_run() -> None:
    function = paddle.jit.to_static(lambda x: paddle.nn.functional.dropout(x, 0.5), full_graph=True)
    x = paddle.ones([64])
    with paddle.no_grad():
        assert (function(x).numpy() != function(x).numpy()).any()


def test_random_numbers_differ_inside_a_condition_and_from_round_to_round() -> None:
    def function(x: Any) -> Any:
        total = x
        i = paddle.zeros([], "int64")
        while i < 2:
            if x.sum() > 0:
                total = total + paddle.nn.functional.dropout(x, 0.5) * 100 ** (i + 1).astype("float32")
            i += 1
        return total

    static = paddle.jit.to_static(function, full_graph=True)
    x = paddle.ones([64])
    with paddle.no_grad():
        one, two = static(x).numpy(), static(x).numpy()
    assert (one != two).any()
    first, second = one % 1000 > 100, one > 10000
    assert (first != second).any()


def test_an_argument_changed_in_place_is_changed_for_the_caller() -> None:
    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        x.add_(paddle.ones([2]))
        return x.sum()

    x = tensor(1, 2)
    assert function(x).item() == 5.0
    assert x.numpy().tolist() == [2.0, 3.0]


def test_state_kept_in_an_attribute() -> None:
    class Memory(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.state: Any = None

        def forward(self, x: Any) -> Any:
            if self.state is None:
                self.state = paddle.zeros_like(x)
            self.state = self.state * 0.5 + x
            if self.state.sum() > 3:
                self.state = self.state - 1
            return self.state * 2

    eager, static = Memory(), paddle.jit.to_static(Memory(), full_graph=True)
    with paddle.no_grad():
        for _ in range(5):
            np.testing.assert_allclose(static(tensor(1, 1)).numpy(), eager(tensor(1, 1)).numpy())
    eager.state = static.state = None
    gradients = []
    for net in (eager, static):
        x = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
        for _ in range(3):
            result = net(x * 1)
        result.sum().backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_allclose(*gradients)


def test_gradients_of_second_order() -> None:
    function = paddle.jit.to_static(lambda x: (x**3).sum() if x.sum() > 0 else x.sum(), full_graph=True)
    x = paddle.to_tensor([2.0], stop_gradient=False)
    first = paddle.grad(function(x), [x], create_graph=True)[0]
    assert paddle.grad(first.sum(), [x])[0].item() == 12.0


def test_evaluation_mode_runs_as_one_executable_and_still_has_gradients() -> None:
    net, other = Net(), Net()
    other.set_state_dict(net.state_dict())
    net.eval()
    other.eval()
    paddle.jit.to_static(net, full_graph=True)
    gradients = []
    for each in (net, other):
        x = paddle.to_tensor(np.linspace(-1, 1, 6).reshape(2, 3).astype("float32"), stop_gradient=False)
        result = each(x)
        (result * result).sum().backward()
        gradients.append([x.grad.numpy(), each.linear.weight.grad.numpy(), result.numpy()])
    for one, two in zip(*gradients, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    assert "one executable" in net.forward.explain()
    assert "Net.forward" in str(paddle.jit.explain())


def test_a_custom_gradient_is_kept() -> None:
    class Rounded(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return paddle.round(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 7

    function = paddle.jit.to_static(lambda x: Rounded.apply(x) * 1, full_graph=True)
    x = paddle.to_tensor([1.2], stop_gradient=False)
    function(x).backward()
    assert x.grad.item() == 7.0


def test_inside_another_capture_it_is_part_of_the_graph() -> None:
    inner = paddle.jit.to_static(lambda x: x * 2 if x.sum() > 0 else x)
    outer = paddle.jit.to_static(lambda x: inner(x) + 1, full_graph=True)
    assert outer(tensor(1)).item() == 3.0
    assert outer(tensor(-1)).item() == 0.0


def test_mixed_precision_is_another_kind_of_call() -> None:
    layer = nn.Linear(2, 2)
    function = paddle.jit.to_static(lambda x: layer(x), full_graph=True)
    with paddle.no_grad():
        assert function(tensor(1, 1)).dtype == paddle.float32
        with paddle.amp.auto_cast(dtype="bfloat16"):
            assert function(tensor(1, 1)).dtype == paddle.bfloat16
        assert function(tensor(1, 1)).dtype == paddle.float32


def reads_a_value(x: Any) -> Any:
    y = x + 1
    return y.numpy().sum()  # this line cannot be captured


def test_full_graph_names_the_line() -> None:
    function = paddle.jit.to_static(reads_a_value, full_graph=True)
    line = reads_a_value.__code__.co_firstlineno + 2
    with pytest.raises(CaptureError, match=rf"test_to_static\.py:{line}"):
        function(tensor(1))


def test_without_full_graph_it_runs_eagerly_and_says_why_once() -> None:
    function = paddle.jit.to_static(reads_a_value)
    with pytest.warns(RuntimeWarning, match=r"reads_a_value runs eagerly.*needed.*\n.*test_to_static\.py"):
        assert function(tensor(1)) == 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(tensor(1)) == 2.0
        assert function(tensor(1, 2)) == 5.0


def test_switched_off() -> None:
    net = paddle.jit.to_static(Net())
    net.eval()
    x = paddle.randn([2, 3])
    paddle.jit.enable_to_static(False)
    try:
        net(x)
        net(x)
        assert net.calls == 2
    finally:
        paddle.jit.enable_to_static(True)
    net(x)
    net(x)
    assert net.calls == 3
    with pytest.raises(TypeError, match="bool"):
        paddle.jit.enable_to_static("no")  # type: ignore[arg-type]


def test_rollback_gives_the_layer_its_own_forward_back() -> None:
    net = paddle.jit.to_static(Net())
    static = net.forward
    assert isinstance(static, StaticFunction)
    static.rollback()
    assert not isinstance(net.forward, StaticFunction)
    assert net(paddle.randn([2, 3])).shape == [2, 3]


def test_input_spec_is_checked() -> None:
    function = paddle.jit.to_static(lambda x: x * 2, input_spec=[InputSpec([None, 3], name="x")])
    assert function(paddle.ones([2, 3])).shape == [2, 3]
    with pytest.raises(ValueError, match=r"InputSpec, \[-1, 3\]"):
        function(paddle.ones([2, 4]))
    with pytest.raises(TypeError, match="input_spec"):
        paddle.jit.to_static(lambda x: x, input_spec=InputSpec([1]))


def test_bad_use() -> None:
    with pytest.raises(TypeError, match="a class"):
        paddle.jit.to_static(Net)
    with pytest.raises(TypeError, match="int"):
        paddle.jit.to_static(3)
    with pytest.raises(TypeError, match="unknown option"):
        paddle.jit.to_static(lambda x: x, colour=1)
    with pytest.raises(ValueError, match="positive"):
        paddle.jit.to_static(lambda x: x, max_programs=0)


def test_what_was_captured_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    @paddle.jit.to_static(input_spec=[InputSpec([2, 2])])
    def function(x: Any) -> Any:
        return (x @ x) if x.sum() > 0 else x

    assert "cond" in str(function.program)
    assert "_jst.choose" in function.code
    assert function.concrete_program.inputs[0].shape == (2, 2)
    assert len(function.outputs) == 1
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    assert "stablehlo" in function.stablehlo(x)
    estimate = function.estimate(x)
    assert estimate.argument_bytes > 0
    assert "bytes" in str(estimate)
    assert "1 graph(s)" in function.explain()
    paddle.jit.set_code_level(1, also_to_stdout=True)
    paddle.jit.set_verbosity(1, also_to_stdout=True)
    try:
        function(paddle.ones([2, 2], "float64"))
    finally:
        paddle.jit.set_code_level(0)
        paddle.jit.set_verbosity(0)
    shown = capsys.readouterr().out
    assert "_jst.choose" in shown
    assert "capturing" in shown
    with pytest.raises(RuntimeError, match="not called yet"):
        _ = paddle.jit.to_static(lambda x: x).concrete_program


def test_functions_that_are_left_alone() -> None:
    @paddle.jit.not_to_static
    def helper(x: Any) -> Any:
        return x * 2 if x.shape[0] > 1 else x

    @paddle.jit.not_to_static
    def deciding(x: Any) -> Any:
        return x * 2 if x.sum() > 1 else x

    assert paddle.jit.to_static(lambda x: helper(x), full_graph=True)(tensor(1, 2)).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(CaptureError):
        paddle.jit.to_static(lambda x: deciding(x), full_graph=True)(tensor(1, 2))


def test_a_library_function_is_not_converted() -> None:
    import textwrap

    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        text = textwrap.dedent("  a")
        return x * len(text) + float(np.sqrt(4.0))

    assert function(tensor(3)).item() == 5.0


def test_a_program_for_specs_keeps_what_they_leave_open() -> None:
    # Paddle 3.3.1, full_graph=True: the input is [-1, 2] each time, also where input_spec says [3, 2].
    spec = paddle.static.InputSpec([None, 2])
    open_ended = paddle.jit.to_static(lambda x: x * 2)
    stated = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([3, 2])])
    for _, graph in (
        open_ended.get_concrete_program(spec),
        open_ended.get_concrete_program(x=spec),
        stated.get_concrete_program(spec),
    ):
        assert [given.shape for given in graph.inputs] == [[-1, 2]]
        for batch in (1, 5):
            np.testing.assert_array_equal(graph(paddle.ones([batch, 2]))[0].numpy(), np.full([batch, 2], 2.0))


def test_a_program_for_specs_in_a_list_keeps_what_they_leave_open() -> None:
    specs = [paddle.static.InputSpec([None, 2]), paddle.static.InputSpec([3, None], "int64")]
    _, graph = paddle.jit.to_static(lambda pair: pair[0] * 2).get_concrete_program(specs)
    assert [(given.shape, given.aval.dtype.name) for given in graph.inputs] == [
        ([-1, 2], "float32"), ([3, -1], "int64"),
    ]  # fmt: skip
