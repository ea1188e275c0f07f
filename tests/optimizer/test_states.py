"""State of every optimiser: Paddle's names and numbers, there and back, and float32 masters of half parameters."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.eager.naming import guard

optimizer, experimental = paddle.optimizer, paddle.incubate.optimizer

MAKERS = {
    "SGD": lambda p, **o: optimizer.SGD(0.1, parameters=p, **o),
    "Momentum": lambda p, **o: optimizer.Momentum(0.1, parameters=p, **o),
    "Adam": lambda p, **o: optimizer.Adam(0.1, parameters=p, **o),
    "AdamW": lambda p, **o: optimizer.AdamW(0.1, parameters=p, **o),
    "Adamax": lambda p, **o: optimizer.Adamax(parameters=p, **o),
    "Adagrad": lambda p, **o: optimizer.Adagrad(0.1, parameters=p, initial_accumulator_value=0.3, **o),
    "Adadelta": lambda p, **o: optimizer.Adadelta(parameters=p, **o),
    "RMSProp": lambda p, **o: optimizer.RMSProp(0.1, centered=True, momentum=0.5, parameters=p, **o),
    "Lamb": lambda p, **o: optimizer.Lamb(parameters=p, **o),
    "NAdam": lambda p, **o: optimizer.NAdam(parameters=p, **o),
    "RAdam": lambda p, **o: optimizer.RAdam(parameters=p, **o),
    "Rprop": lambda p, **o: optimizer.Rprop(parameters=p, **o),
    "ASGD": lambda p, **o: optimizer.ASGD(batch_num=2, parameters=p, **o),
    "Lars": lambda p, **o: experimental.LarsMomentumOptimizer(0.1, 0.9, parameter_list=p, **o),
}

# What Paddle 3.3.1 had in its state dictionary after two steps on sum(p³) from [1, 2].
OBSERVED = {
    "Adamax": {
        "moment": [0.569400429, 2.278800964], "inf_norm": [2.996999979, 11.988002777], "beta1_pow_acc": [0.729],
    },
    "Adagrad": {"moment": [15.247694015, 261.614593505]},
    "Adadelta": {
        "_avg_squared_grad": [0.877492189, 14.039937973],
        "_avg_squared_update": [1.97562758e-06, 1.97563622e-06],
    },
    "RMSProp": {
        "momentum": [0.363191008, 0.473524510], "mean_square": [0.466096311, 9.3787117],
        "mean_grad": [0.186429649, 0.926280260],
    },
    "Lamb": {
        "moment1": [0.569056868, 2.278094768], "moment2": [0.017934264, 0.287395238],
        "beta1_pow_acc": [0.729], "beta2_pow_acc": [0.997003],
    },
    "NAdam": {
        "momentum_decay_pow": [0.9216, 0.9216], "beta2_pow": [0.998001, 0.998001],
        "mu_product": [0.202599182, 0.202599182], "moment1": [0.568733692, 2.277466297],
        "moment2": [0.017914947, 0.287244766],
    },
    "RAdam": {
        "beta1_pow": [0.81, 0.81], "beta2_pow": [0.998001, 0.998001], "rho": [998.5, 998.5],
        "moment1": [0.568202853, 2.265643596], "moment2": [0.017883254, 0.284427344],
    },
    "Rprop": {"prevs": [2.994003057, 11.988002777], "learning_rates": [0.0012, 0.0012]},
    "ASGD": {"d": [5.982027053, 23.856431961], "y": [[3.0, 12.0], [2.982026815, 11.856431961]], "m": [2]},
}  # fmt: skip


def fresh(dtype="float32"):
    with guard():
        parameter = paddle.create_parameter([2], dtype)
    parameter.set_value(paddle.to_tensor([1.0, 2.0]).astype(dtype))
    return parameter


def train(parameter, made, steps):
    for _ in range(steps):
        (parameter**3).sum().backward()
        made.step()
        made.clear_grad()
    return parameter.astype("float32").numpy()


@pytest.fixture
def immediate():
    """One tier for all steps: the two round differently in the last digit."""
    paddle.set_flags({"FLAGS_eager_mode": "immediate"})
    yield
    paddle.set_flags({"FLAGS_eager_mode": "auto"})


@pytest.mark.parametrize("name", sorted(OBSERVED))
def test_names_and_numbers_are_paddles(name):
    parameter = fresh()
    made = MAKERS[name]([parameter])
    assert made.state_dict() == {}
    train(parameter, made, 2)
    state = made.state_dict()
    assert set(state) == {f"{parameter.name}_{key}_0" for key in OBSERVED[name]}
    assert made.get_opti_var_name_list() == list(state)
    for key, values in OBSERVED[name].items():
        found = state[f"{parameter.name}_{key}_0"]
        assert found.shape == list(np.shape(values))
        assert found.dtype == ("int64" if key == "m" else "float32")
        np.testing.assert_allclose(found.numpy(), values, rtol=3e-5)


@pytest.mark.usefixtures("immediate")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_saved_state_goes_on_exactly(name, dtype):
    straight = fresh(dtype)
    expected = train(straight, MAKERS[name]([straight]), 9)
    parameter = fresh(dtype)
    first = MAKERS[name]([parameter])
    train(parameter, first, 5)
    saved = {key: value.numpy() for key, value in first.state_dict().items()}
    other = fresh(dtype)
    other.set_value(parameter.numpy())
    second = MAKERS[name]([other])
    second.set_state_dict(saved)
    np.testing.assert_array_equal(train(other, second, 4), expected)


@pytest.mark.usefixtures("immediate")
@pytest.mark.parametrize("name", ["Adam", "Adamax", "NAdam", "RAdam", "Lamb"])
def test_a_group_with_its_own_betas_is_saved_with_them(name):
    def made_for(parameter):
        group = {"params": [parameter], "beta1": 0.6, "beta2": 0.8}
        return getattr(optimizer, name)(learning_rate=0.1, parameters=[group])

    straight = fresh()
    expected = train(straight, made_for(straight), 6)
    parameter = fresh()
    first = made_for(parameter)
    train(parameter, first, 3)
    other = fresh()
    other.set_value(parameter.numpy())
    second = made_for(other)
    second.set_state_dict({key: value.numpy() for key, value in first.state_dict().items()})
    np.testing.assert_array_equal(train(other, second, 3), expected)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_masters_of_half_parameters(name):
    """With masters, a bfloat16 parameter follows the float32 one; states are kept in float32."""
    reference, half = fresh(), fresh("bfloat16")
    made = MAKERS[name]([half])
    # What amp.decorate does to optimisers whose constructor does not ask.
    made._multi_precision = True
    plain = MAKERS[name]([reference])
    for i in range(12):
        for parameter, own in ((reference, plain), (half, made)):
            parameter.grad = paddle.to_tensor([1.0 + i % 3, -0.5]).astype(parameter.dtype)
            own.step()
            own.clear_grad()
    state = made.state_dict()
    assert half.dtype == "bfloat16"
    assert list(state["master_weights"]) == [half.name]
    master = state["master_weights"][half.name]
    assert master.dtype == "float32"
    np.testing.assert_allclose(master.numpy(), reference.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(half.numpy(), master.astype("bfloat16").numpy())
    for key, value in state.items():
        if key != "master_weights":
            assert f"{half.name}_fp32_master_0_" in key
            assert value.dtype in ("float32", "int64")


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_half_parameters_without_masters(name):
    half = fresh("float16")
    made = MAKERS[name]([half])
    moved = train(half, made, 4)
    assert half.dtype == "float16"
    assert np.isfinite(moved).all()
    assert "master_weights" not in made.state_dict()


def test_a_schedule_is_saved_along():
    parameter = fresh()
    made = optimizer.RMSProp(optimizer.lr.ReduceOnPlateau(0.5, patience=0), parameters=[parameter])
    made._learning_rate.step(1.0)
    made._learning_rate.step(2.0)
    other = optimizer.RMSProp(optimizer.lr.ReduceOnPlateau(0.5, patience=0), parameters=[parameter])
    other.set_state_dict(made.state_dict())
    assert other.get_lr() == pytest.approx(0.05)
    assert other._learning_rate.best == 1.0


def test_names_of_fused_storage_exist():
    made = MAKERS["Adam"]([fresh()])
    assert made.fused_buffer_version == 0
    assert made.fused_states_buffer is made.fused_states_buffer_ipc_meta is None
    assert made.fused_states_accumulators_meta is made.fused_states_master_weights_meta is None
    assert made.use_fusion_storage() is made.need_refuse() is made.reset_need_refuse() is None
    made.set_merged_model_params({"a": 1})
    assert made.merged_model_params == {"a": 1}


def test_append_regularization_ops():
    parameter = fresh()
    made = MAKERS["SGD"]([parameter])
    gradient = paddle.to_tensor([1.0, -1.0])

    def seen(regularization):
        ((_, found),) = made.append_regularization_ops([(parameter, gradient)], regularization)
        return found.numpy().tolist()

    assert seen(None) == [1.0, -1.0]
    assert seen(paddle.regularizer.L2Decay(0.5)) == [1.5, 0.0]
    parameter.regularizer = paddle.regularizer.L1Decay(2.0)
    assert seen(paddle.regularizer.L2Decay(0.5)) == [3.0, 1.0]
    parameter.regularizer = "a"
    with pytest.raises(TypeError, match="weight_decay"):
        seen(None)


BAD = [
    ("Adamax", {"beta1": 1.0}, ValueError), ("Adamax", {"beta2": None}, ValueError),
    ("Adamax", {"epsilon": -1.0}, ValueError), ("Adamax", {"learning_rate": "a"}, TypeError),
    ("Adamax", {"beta1": "a"}, TypeError), ("NAdam", {"beta1": -0.1}, ValueError),
    ("NAdam", {"momentum_decay": -1.0}, ValueError), ("NAdam", {"learning_rate": None}, TypeError),
    ("RAdam", {"beta2": 1.0}, ValueError), ("RAdam", {"epsilon": -1.0}, ValueError),
    ("Adagrad", {"learning_rate": 0.1, "epsilon": None}, ValueError),
    ("Adadelta", {"rho": None}, ValueError), ("Adadelta", {"epsilon": None}, ValueError),
    ("RMSProp", {"learning_rate": 0.1, "rho": -1.0}, ValueError),
    ("RMSProp", {"learning_rate": 0.1, "momentum": -1.0}, ValueError),
    ("RMSProp", {"learning_rate": 0.1, "epsilon": None}, ValueError),
    ("Rprop", {"learning_rate": None}, ValueError), ("Rprop", {"learning_rate": 60.0}, ValueError),
    ("Rprop", {"learning_rate_range": (0.0, 1.0)}, ValueError), ("Rprop", {"learning_rate_range": 1.0}, TypeError),
    ("Rprop", {"etas": (1.5, 1.2)}, ValueError), ("Rprop", {"etas": (0.5, 0.9)}, ValueError),
    ("Rprop", {"etas": None}, TypeError), ("ASGD", {"batch_num": 0}, ValueError),
    ("ASGD", {"batch_num": None}, ValueError), ("ASGD", {"batch_num": 1.5}, TypeError),
    ("Lamb", {"beta1": None}, ValueError), ("Lamb", {"exclude_from_weight_decay_fn": 3}, TypeError),
    ("LBFGS", {"line_search_fn": "a"}, ValueError), ("LBFGS", {"history_size": 0}, ValueError),
    ("LBFGS", {"max_iter": -1}, ValueError), ("LBFGS", {"max_iter": 1.5}, TypeError),
    ("LBFGS", {"learning_rate": None}, TypeError),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "error"), BAD)
def test_bad_arguments(name, arguments, error):
    with pytest.raises(error, match=rf"\({name}\)"):
        getattr(optimizer, name)(parameters=[fresh()], **arguments)


@pytest.mark.parametrize("name", ["Adamax", "Adadelta", "Lamb", "NAdam", "RAdam", "Rprop", "ASGD", "LBFGS"])
def test_parameters_are_needed(name):
    with pytest.raises(ValueError, match="parameters must be given"):
        getattr(optimizer, name)()


def test_the_update_is_one_instruction():
    """All parameters, whatever their number, are changed by one recorded operation."""
    from proa.ir.recorder import LOCAL

    parameters = [fresh() for _ in range(5)]
    made = optimizer.NAdam(parameters=parameters)
    for _ in range(2):
        for parameter in parameters:
            parameter.grad = paddle.ones([2])
        made.step()
        made.clear_grad()
    for parameter in parameters:
        parameter.grad = paddle.ones([2])
    before = LOCAL.segment.node.index
    made.step()
    # Five parameters, two moments each, the number of steps and the product of momenta.
    assert LOCAL.segment.node.index - before <= 5 * 3 + 2 + 5
    assert all(parameter._segment is LOCAL.segment for parameter in parameters)


def test_parameter_groups_are_dictionaries():
    first, second = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
    given = [{"params": first.parameters(), "learning_rate": 0.5}, {"params": second.parameters(), "beta1": 0.5}]
    optimizer = paddle.optimizer.AdamW(0.1, parameters=given)
    groups = optimizer._param_groups
    assert optimizer._parameter_list is groups
    assert all(type(group) is type(groups[0]) and isinstance(group, dict) for group in groups)
    assert [parameter for group in groups for parameter in group["params"]] == first.parameters() + second.parameters()
    shared = {"weight_decay": 0.01, "grad_clip": None, "beta2": 0.999, "epsilon": 1e-8, "lazy_mode": False}
    assert groups[0] == {"params": first.parameters(), "learning_rate": 0.5, "beta1": 0.9, **shared}
    assert groups[1] == {"params": second.parameters(), "beta1": 0.5, **shared}
    # The factor of a group is that of its parameters, as in Paddle: what they had of their own is lost.
    assert [each.optimize_attr["learning_rate"] for each in (first.weight, second.weight)] == [0.5, 1.0]


@pytest.mark.parametrize("factor", [0.5, 0.0])
def test_the_rate_of_a_group_is_applied_once(factor: float):
    layer = paddle.nn.Linear(2, 2, weight_attr=paddle.ParamAttr(learning_rate=0.1))
    plain = paddle.ones([2])
    plain.stop_gradient = False
    optimizer = paddle.optimizer.SGD(1.0, parameters=[{"params": [layer.weight, plain], "learning_rate": factor}])
    before = layer.weight.numpy()
    (layer.weight.sum() + plain.sum()).backward()
    optimizer.step()
    np.testing.assert_allclose(layer.weight.numpy(), before - factor, rtol=1e-6)
    np.testing.assert_allclose(plain.numpy(), 1 - factor, rtol=1e-6)


def test_without_groups_the_parameters_are_the_groups():
    layer = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    assert optimizer._param_groups is optimizer._parameter_list
    assert all(map(lambda one, other: one is other, optimizer._param_groups, layer.parameters()))


def test_an_optimiser_can_be_given_other_parameters():
    """As libraries that divide models among processes do: each process keeps its own share."""
    first, second = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.Adam(0.1, parameters=first.parameters() + second.parameters())
    optimizer._parameter_list = second.parameters()
    optimizer._param_groups = optimizer._parameter_list
    before = first.weight.numpy(), second.weight.numpy()
    (first(paddle.ones([1, 2])) + second(paddle.ones([1, 2]))).sum().backward()
    optimizer.step()
    np.testing.assert_array_equal(first.weight.numpy(), before[0])
    np.testing.assert_allclose(second.weight.numpy(), before[1] - 0.1, rtol=1e-5)
    optimizer._param_groups = [{"params": first.parameters(), "learning_rate": 0.0}]
    optimizer.step()
    np.testing.assert_array_equal(first.weight.numpy(), before[0])
    assert [list(each["params"]) for each in optimizer._parameter_list] == [first.parameters()]
