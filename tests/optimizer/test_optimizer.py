"""What optimisers promise besides arithmetic: state, clearing, bad input, few programs."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

import proa as paddle
from proa.eager.naming import guard
from proa.ir.recorder import LOCAL
from proa.ir.report import STATISTICS

nn, optimizer = paddle.nn, paddle.optimizer


def small_net():
    with guard():
        net = nn.Linear(3, 2)
    rng = np.random.default_rng(0)
    for parameter in net.parameters():
        parameter.set_value(rng.standard_normal(parameter.shape).astype("float32"))
    return net


def loss_of(net, seed=0):
    x = paddle.to_tensor(np.random.default_rng(seed).standard_normal((4, 3)).astype("float32"))
    return (net(x) ** 2).mean()


def train(net, opt, steps, start=0):
    for i in range(start, start + steps):
        loss_of(net, i).backward()
        opt.step()
        opt.clear_grad()
    return [parameter.numpy() for parameter in net.parameters()]


def reference_adam(w, grads, rate=0.1, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Adam as its paper writes it, in float64."""
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        w = w - rate * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon)
    return w


def test_adam_against_its_paper():
    p = paddle.create_parameter([3], "float64")
    start = np.array([1.0, -2.0, 3.0])
    p.set_value(start)
    opt = optimizer.Adam(0.1, parameters=[p])
    grads = np.random.default_rng(1).standard_normal((20, 3))
    for g in grads:
        p.grad = paddle.to_tensor(g)
        opt.step()
    np.testing.assert_allclose(p.numpy(), reference_adam(start, grads), rtol=1e-12)


@pytest.fixture
def immediate():
    """One tier for all steps: the two round differently in the last digit."""
    paddle.set_flags({"FLAGS_eager_mode": "immediate"})
    yield
    paddle.set_flags({"FLAGS_eager_mode": "auto"})


@pytest.mark.usefixtures("immediate")
@pytest.mark.parametrize("make", ["SGD", "Momentum", "Adam", "AdamW"])
def test_state_round_trip_continues_exactly(make):
    def new(net):
        return getattr(optimizer, make)(learning_rate=0.1, parameters=net.parameters())

    straight = small_net()
    expected = train(straight, new(straight), 7)
    net = small_net()
    first = new(net)
    train(net, first, 3)
    state = {k: v.numpy() for k, v in first.state_dict().items()}
    other = small_net()
    other.set_state_dict(net.state_dict())
    second = new(other)
    second.set_state_dict(state)
    for got, want in zip(train(other, second, 4, start=3), expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_state_dictionary_has_paddles_keys():
    net = small_net()
    schedule = optimizer.lr.StepDecay(0.1, 2)
    opt = optimizer.Adam(schedule, parameters=net.parameters())
    assert opt.state_dict() == {"LR_Scheduler": {"last_epoch": 0, "last_lr": 0.1}}
    train(net, opt, 1)
    state = opt.state_dict()
    assert list(state) == [
        "linear_0.w_0_moment1_0", "linear_0.b_0_moment1_0",
        "linear_0.w_0_moment2_0", "linear_0.b_0_moment2_0",
        "linear_0.w_0_beta1_pow_acc_0", "linear_0.b_0_beta1_pow_acc_0",
        "linear_0.w_0_beta2_pow_acc_0", "linear_0.b_0_beta2_pow_acc_0",
        "LR_Scheduler",
    ]  # fmt: skip
    assert state["linear_0.w_0_beta1_pow_acc_0"].shape == [1]
    assert state["linear_0.w_0_beta1_pow_acc_0"].item() == pytest.approx(0.81)
    momentum = optimizer.Momentum(0.1, parameters=net.parameters())
    train(net, momentum, 1)
    assert list(momentum.state_dict()) == ["linear_0.w_0_velocity_0", "linear_0.b_0_velocity_0"]
    sgd = optimizer.SGD(0.1, parameters=net.parameters())
    train(net, sgd, 1)
    assert sgd.state_dict() == {}


def test_state_of_another_model_is_refused():
    net = small_net()
    opt = optimizer.Adam(0.1, parameters=net.parameters())
    train(net, opt, 1)
    other = nn.Linear(3, 2, weight_attr="other_w", bias_attr="other_b")
    stranger = optimizer.Adam(0.1, parameters=other.parameters())
    with pytest.raises(ValueError, match="belongs to"):
        stranger.set_state_dict(opt.state_dict())
    partial = {k: v for k, v in opt.state_dict().items() if ".w_0_" in k}
    with pytest.warns(UserWarning, match="linear_0.b_0"):
        optimizer.Adam(0.1, parameters=net.parameters()).set_state_dict(partial)
    wrong = dict(opt.state_dict())
    wrong["linear_0.w_0_moment1_0"] = np.zeros((5, 5), "float32")
    with pytest.raises(ValueError, match="another shape"):
        optimizer.Adam(0.1, parameters=net.parameters()).set_state_dict(wrong)


def test_many_steps_survive_lost_powers():
    """0.9 ** 2000 is 0 in float32: the other power still tells the number of steps."""
    net = small_net()
    opt = optimizer.Adam(0.1, parameters=net.parameters())
    train(net, opt, 1)
    state = {k: v.numpy() for k, v in opt.state_dict().items()}
    for key in state:
        if "beta1_pow" in key:
            state[key] = np.zeros(1, "float32")
        if "beta2_pow" in key:
            state[key] = np.array([0.999**2001], "float32")
    again = optimizer.Adam(0.1, parameters=net.parameters())
    again.set_state_dict(state)
    assert {s.steps for s in again._settled_states()} == {2000}


def test_clear_grad_sets_to_zero_by_default():
    net = small_net()
    opt = optimizer.SGD(0.1, parameters=net.parameters())
    assert net.weight.grad is None
    opt.clear_grad()
    assert net.weight.grad is None  # nothing was there to clear
    loss_of(net).backward()
    opt.clear_grad()
    assert cast(Any, net.weight.grad).numpy().tolist() == np.zeros((3, 2)).tolist()
    opt.clear_grad(set_to_zero=False)
    assert net.weight.grad is None
    loss_of(net).backward()
    opt.zero_grad()
    assert net.weight.grad is None


def test_gradients_add_up_until_cleared():
    net = small_net()
    opt = optimizer.SGD(0.1, parameters=net.parameters())
    loss_of(net).backward()
    once = net.weight.grad.numpy()
    loss_of(net).backward()
    np.testing.assert_allclose(net.weight.grad.numpy(), 2 * once, rtol=1e-6)
    opt.clear_grad()
    loss_of(net).backward()
    np.testing.assert_allclose(net.weight.grad.numpy(), once, rtol=1e-6)


def test_zeroed_gradients_count_as_zeros():
    """After clear_grad() a parameter that gets no gradient still moves along its momentum."""
    used, unused = small_net(), small_net()
    opt = optimizer.Momentum(0.1, parameters=[*used.parameters(), *unused.parameters()])
    (loss_of(used) + loss_of(unused)).backward()
    opt.step()
    opt.clear_grad()
    before = unused.weight.numpy()
    velocity = opt._state(unused.weight).accumulators["velocity"].numpy()
    loss_of(used).backward()
    opt.step()
    np.testing.assert_allclose(unused.weight.numpy(), before - 0.1 * 0.9 * velocity, rtol=1e-5)
    opt.clear_grad(set_to_zero=False)
    before = unused.weight.numpy()
    loss_of(used).backward()
    opt.step()
    np.testing.assert_array_equal(unused.weight.numpy(), before)


def test_parameters_that_join_later_have_their_own_bias_correction():
    early, late = small_net(), small_net()
    opt = optimizer.Adam(0.1, parameters=[*early.parameters(), *late.parameters()])
    for i in range(3):
        loss_of(early, i).backward()
        opt.step()
        opt.clear_grad(set_to_zero=False)
    alone = small_net()
    expected = train(alone, optimizer.Adam(0.1, parameters=alone.parameters()), 1)
    loss_of(late).backward()
    loss_of(early).backward()
    opt.step()
    for got, want in zip(late.parameters(), expected, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)


def test_frozen_parameters_do_not_move():
    net = small_net()
    net.bias.stop_gradient = True
    before = net.bias.numpy()
    train(net, optimizer.Adam(0.1, parameters=net.parameters()), 2)
    np.testing.assert_array_equal(net.bias.numpy(), before)
    net.bias.stop_gradient = False
    train(net, optimizer.SGD(0.1, parameters=net.parameters()), 1)
    assert not np.array_equal(net.bias.numpy(), before)


def test_an_update_is_no_in_place_operation():
    net = small_net()
    opt = optimizer.SGD(0.1, parameters=net.parameters())
    train(net, opt, 2)
    assert net.weight.inplace_version == 0
    assert net.weight.is_leaf
    assert not net.weight.stop_gradient


def test_a_detached_view_sees_the_update():
    net = small_net()
    shown = net.weight.detach()
    train(net, optimizer.SGD(0.1, parameters=net.parameters()), 1)
    np.testing.assert_array_equal(shown.numpy(), net.weight.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdamW"])
def test_master_weights_keep_small_steps(dtype, name):
    """Steps far below the half type's resolution add up in float32."""
    p = paddle.create_parameter([2], "float32")
    p.set_value(np.array([1.0, 1.0], "float32"))
    q = paddle.create_parameter([2], dtype)
    q.set_value(p.astype(dtype))
    both = []
    for parameter, master in ((p, False), (q, True)):
        opt = getattr(optimizer, name)(learning_rate=2e-5, parameters=[parameter], multi_precision=master)
        for _ in range(200):
            parameter.grad = paddle.ones([2]).astype(parameter.dtype)
            opt.step()
            opt.clear_grad()
        both.append(parameter.astype("float32").numpy())
    assert both[0][0] < 0.997
    np.testing.assert_allclose(both[1], both[0], atol=4e-3)
    assert q.dtype == dtype
    state = opt.state_dict()
    assert list(state["master_weights"]) == [q.name]
    assert all(f"{q.name}_fp32_master_0_" in key for key in state if key != "master_weights")


def test_learning_rate():
    net = small_net()
    opt = optimizer.SGD(0.1, parameters=net.parameters())
    opt.set_lr(0.5)
    assert opt.get_lr() == 0.5
    with pytest.raises(TypeError, match="float"):
        opt.set_lr("a")
    opt.set_lr_scheduler(optimizer.lr.ExponentialDecay(0.2, 0.5))
    assert opt.get_lr() == 0.2
    with pytest.raises(RuntimeError, match="schedule"):
        opt.set_lr(0.1)


def test_a_new_learning_rate_never_recompiles():
    net = small_net()
    opt = optimizer.Adam(0.1, parameters=net.parameters())
    train(net, opt, 6)
    compiled = STATISTICS.compiles
    for i in range(6):
        opt.set_lr(0.1 / (i + 2))
        train(net, opt, 1, start=i)
    assert STATISTICS.compiles == compiled


def test_one_program_for_a_whole_step():
    """Forward, backward and update are flushed together, with the gradients dead."""
    net = small_net()
    opt = optimizer.Adam(0.1, parameters=net.parameters())
    train(net, opt, 2)
    loss_of(net, 5).backward()
    opt.step()
    assert LOCAL.segment.stepped
    assert net.weight._value is None  # still recorded, not run
    gradient = net.weight._grad
    opt.clear_grad()
    assert not LOCAL.segment.stepped
    assert net.weight._value is not None
    assert gradient is not None


def test_minimize_and_apply_gradients():
    net = small_net()
    opt = optimizer.SGD(0.1, parameters=net.parameters())
    loss = loss_of(net)
    assert opt.minimize(loss) == ([], [])  # no backward ran
    loss.backward()
    before = net.weight.numpy()
    gradient = net.weight.grad.numpy()
    _, pairs = opt.minimize(loss)
    assert [parameter.name for parameter, _ in pairs] == ["linear_0.w_0", "linear_0.b_0"]
    np.testing.assert_allclose(net.weight.numpy(), before - 0.1 * gradient, rtol=1e-6)
    opt.apply_gradients([(net.bias, paddle.ones([2]))])
    np.testing.assert_allclose(net.weight.numpy(), before - 0.1 * gradient, rtol=1e-6)


def test_clip_leaves_out_what_must_not_be_clipped():
    a, b = paddle.create_parameter([1], "float32"), paddle.create_parameter([1], "float32")
    b.need_clip = False
    for parameter in (a, b):
        parameter.set_value(np.zeros(1, "float32"))
    opt = optimizer.SGD(1.0, parameters=[a, b], grad_clip=nn.ClipGradByGlobalNorm(1.0))
    a.grad, b.grad = paddle.to_tensor([3.0]), paddle.to_tensor([3.0])
    opt.step()
    assert (a.item(), b.item()) == (-1.0, -3.0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"parameters": None}, ValueError),
        ({"parameters": "weight"}, TypeError),
        ({"parameters": ["a"]}, TypeError),
        ({"learning_rate": "a"}, TypeError),
        ({"learning_rate": None}, TypeError),
        ({"beta1": 1.0}, ValueError),
        ({"beta2": -0.1}, ValueError),
        ({"beta1": "a"}, TypeError),
        ({"epsilon": -1.0}, ValueError),
        ({"weight_decay": "a"}, TypeError),
        ({"grad_clip": 3}, TypeError),
        ({"parameters": [{"learning_rate": 1.0}]}, ValueError),
    ],
)
def test_bad_arguments(arguments, error):
    given = {"learning_rate": 0.1, "parameters": small_net().parameters(), **arguments}
    if given["parameters"] == "weight":
        given["parameters"] = small_net().weight
    with pytest.raises(error, match=r"\(Adam\)"):
        optimizer.Adam(**given)


def test_a_parameter_given_twice():
    net = small_net()
    with pytest.raises(ValueError, match="twice"):
        optimizer.SGD(0.1, parameters=[net.weight, net.weight])


def test_a_gradient_of_another_shape():
    p = paddle.create_parameter([2], "float32")
    p._grad = paddle.ones([3])
    with pytest.raises(ValueError, match="gradient has the shape"):
        optimizer.SGD(0.1, parameters=[p]).step()


def test_step_without_gradients_does_nothing():
    net = small_net()
    before = net.weight.numpy()
    optimizer.Adam(0.1, parameters=net.parameters()).step()
    np.testing.assert_array_equal(net.weight.numpy(), before)


def test_nan_gradient_stays_visible():
    p = paddle.create_parameter([1], "float32")
    p.grad = paddle.to_tensor([math.nan])
    optimizer.Adam(0.1, parameters=[p]).step()
    assert math.isnan(p.item())
