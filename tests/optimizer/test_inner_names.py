"""Optimisers under Paddle's inner names: states, master weights, one parameter at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn


def _model() -> Any:
    paddle.seed(3)
    return nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))


class ByDepth(paddle.optimizer.AdamW):
    """A learning rate that falls with the depth, as libraries write it."""

    def __init__(self, ratios: dict[str, float], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.ratios, self.seen = ratios, []

    def _append_optimize_op(self, block: Any, param_and_grad: Any) -> Any:
        parameter, _ = param_and_grad
        self.seen.append(parameter.name)
        before = parameter.optimize_attr["learning_rate"]
        parameter.optimize_attr["learning_rate"] = before * self.ratios[parameter.name]
        result = super()._append_optimize_op(block, param_and_grad)
        parameter.optimize_attr["learning_rate"] = before
        return result


def _train(model: Any, optimizer: Any, steps: int = 4) -> list[np.ndarray]:
    x = paddle.to_tensor(np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2))
    for _ in range(steps):
        (model(x) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_gradients()
    return [parameter.numpy() for parameter in model.parameters()]


def test_a_subclass_may_change_each_parameters_rate() -> None:
    """The same as parameters whose own factor is that ratio."""
    model = _model()
    ratios = {parameter.name: 0.5**depth for depth, parameter in enumerate(model.parameters())}
    optimizer = ByDepth(
        ratios, learning_rate=0.1, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.1)
    )
    found = _train(model, optimizer)
    assert optimizer.seen == list(ratios) * 4
    assert [parameter.optimize_attr["learning_rate"] for parameter in model.parameters()] == [1.0] * 4

    other = _model()
    for depth, parameter in enumerate(other.parameters()):
        parameter.optimize_attr["learning_rate"] = 0.5**depth
    clip = nn.ClipGradByGlobalNorm(0.1)
    expected = _train(other, paddle.optimizer.AdamW(0.1, parameters=other.parameters(), grad_clip=clip))
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6)  # the two runs are compiled at different steps


def test_a_parameter_that_a_subclass_leaves_out_stays() -> None:
    class Frozen(paddle.optimizer.SGD):
        def _append_optimize_op(self, block: Any, param_and_grad: Any) -> None:
            if param_and_grad[0].ndim > 1:
                super()._append_optimize_op(block, param_and_grad)

    model = _model()
    before = [parameter.numpy() for parameter in model.parameters()]
    after = _train(model, Frozen(0.1, parameters=model.parameters()), 1)
    changed = [not np.array_equal(left, right) for left, right in zip(before, after, strict=True)]
    assert changed == [True, False, True, False]


def test_states_by_kind_and_parameter() -> None:
    model = _model()
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    assert optimizer._accumulators == {}
    optimizer._create_accumulators(None, model.parameters())
    assert optimizer._already_create_accumulator == {parameter.name for parameter in model.parameters()}
    _train(model, optimizer, 1)
    weight = model[0].weight
    assert set(optimizer._accumulators) == {"moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"}
    key = f"{weight.name}_moment1_0"
    moment = optimizer._get_accumulator(optimizer._moment1_acc_str, weight)
    np.testing.assert_array_equal(moment.numpy(), optimizer.state_dict()[key].numpy())
    with pytest.raises(ValueError, match="no state 'nothing'"):
        optimizer._get_accumulator("nothing", weight)
    added = optimizer._add_accumulator("ema", weight, fill_value=2.0)
    assert added is optimizer._add_accumulator("ema", weight)
    assert added.numpy().tolist() == [[2.0] * 3] * 2


def test_master_weights_of_half_precision() -> None:
    model = _model()
    model.to(dtype="bfloat16")
    optimizer = paddle.optimizer.AdamW(0.1, parameters=model.parameters(), multi_precision=True)
    (model(paddle.ones([1, 2], "bfloat16")) ** 2).mean().backward()
    optimizer.step()
    weight = model[0].weight
    assert optimizer._master_weights[weight.name].dtype == paddle.float32
    assert optimizer._create_master_weight(weight) is optimizer._master_weights[weight.name]
    assert optimizer._is_dtype_fp16_or_bf16(weight.dtype)
    assert not optimizer._is_dtype_fp16_or_bf16("float32")


def test_one_update_with_given_gradients() -> None:
    weight = paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(0.5, parameters=[weight])
    optimizer._apply_optimize(None, None, [(weight, paddle.to_tensor([1.0, 2.0]))])
    assert weight.numpy().tolist() == [0.5, 0.0]
    optimizer._append_optimize_op(None, (weight, paddle.to_tensor([1.0, 0.0])))
    assert weight.numpy().tolist() == [0.0, 0.0]


def test_kinds_of_subclasses_are_those_of_their_base() -> None:
    optimizer = ByDepth({}, learning_rate=0.1, parameters=_model().parameters())
    assert optimizer.type == "adamw"
    optimizer.type = "mine"
    assert optimizer.type == "mine"
