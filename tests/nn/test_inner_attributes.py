"""Attributes that subclasses, pruners and trainers read, with the values that Paddle 3.3.1 was seen to have."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn

I, O = nn.initializer, paddle.optimizer  # noqa: E741
SEEN: dict[str, str] = json.loads((pathlib.Path(__file__).parent / "data" / "inner_attributes.json").read_text())


class Numbers(paddle.io.Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        return index


def _optimizer(name: str) -> Callable[[], Any]:
    return lambda: getattr(O, name)(learning_rate=0.1, parameters=nn.Linear(2, 3).parameters())


MADE: dict[str, Callable[[], Any]] = {
    "Conv1D": lambda: nn.Conv1D(4, 6, 3), "Conv1DTranspose": lambda: nn.Conv1DTranspose(4, 6, 3),
    "Conv2D": lambda: nn.Conv2D(4, 6, 3, bias_attr=False), "Conv2DTranspose": lambda: nn.Conv2DTranspose(4, 6, 3),
    "Conv3D": lambda: nn.Conv3D(4, 6, 3), "Conv3DTranspose": lambda: nn.Conv3DTranspose(4, 6, 3),
    "BatchNorm": lambda: nn.BatchNorm(4), "SyncBatchNorm": lambda: nn.SyncBatchNorm(4),
    "LayerNorm": lambda: nn.LayerNorm(4), "GroupNorm": lambda: nn.GroupNorm(2, 4), "Linear": lambda: nn.Linear(2, 3),
    "Embedding": lambda: nn.Embedding(5, 3), "Pad2D": lambda: nn.Pad2D(1), "ZeroPad2D": lambda: nn.ZeroPad2D(1),
    "MaxPool2D": lambda: nn.MaxPool2D(2, stride=1, padding=1), "AdaptiveAvgPool2D": lambda: nn.AdaptiveAvgPool2D((2, 3)),
    "LSTM": lambda: nn.LSTM(2, 3), "GRU": lambda: nn.GRU(2, 3), "SimpleRNN": lambda: nn.SimpleRNN(2, 3),
    "LSTMCell": lambda: nn.LSTMCell(2, 3), "GRUCell": lambda: nn.GRUCell(2, 3), "NLLLoss": lambda: nn.NLLLoss(),
    "MultiHeadAttention": lambda: nn.MultiHeadAttention(4, 2), "LayerList": lambda: nn.LayerList([nn.ReLU()]),
    "PReLU": lambda: nn.PReLU(), "Hardsigmoid": lambda: nn.Hardsigmoid(), "Softmax": lambda: nn.Softmax(),
    "CosineSimilarity": lambda: nn.CosineSimilarity(), "ClipGradByGlobalNorm": lambda: nn.ClipGradByGlobalNorm(1.0),
    "DataLoader": lambda: paddle.io.DataLoader(Numbers(), batch_size=2),
    "BatchSampler": lambda: paddle.io.BatchSampler(Numbers(), batch_size=2),
    "DistributedBatchSampler": lambda: paddle.io.DistributedBatchSampler(Numbers(), 2, 1, 0),
    "init.XavierUniform": lambda: I.XavierUniform(), "init.KaimingNormal": lambda: I.KaimingNormal(),
    "init.Normal": lambda: I.Normal(0.5, 2.0), "init.Uniform": lambda: I.Uniform(-2.0, 3.0),
    "init.Constant": lambda: I.Constant(2.0), "init.TruncatedNormal": lambda: I.TruncatedNormal(0.5, 2.0),
    "init.Assign": lambda: I.Assign([1.0]),
}  # fmt: skip
for _rank in "123":
    for _kind in ("BatchNorm", "InstanceNorm"):
        MADE[f"{_kind}{_rank}D"] = lambda name=f"{_kind}{_rank}D": getattr(nn, name)(4)
    for _kind in ("AvgPool", "MaxPool", "AdaptiveAvgPool", "AdaptiveMaxPool"):
        MADE.setdefault(f"{_kind}{_rank}D", lambda name=f"{_kind}{_rank}D": getattr(nn, name)(2))
for _name in ("Adam", "AdamW", "Momentum", "SGD", "Lamb", "RMSProp", "Adagrad"):
    MADE[f"optimizer.{_name}"] = _optimizer(_name)


@pytest.mark.parametrize("owner", sorted({name.rpartition(".")[0] for name in SEEN}))
def test_attributes_have_paddles_values(owner: str) -> None:
    made = MADE[owner]()
    for name, seen in SEEN.items():
        if name.rpartition(".")[0] == owner:
            value = getattr(made, name.rpartition(".")[2])
            assert ("callable" if callable(value) else repr(value)) == seen, name


def test_arguments_of_a_pool_can_be_changed_afterwards() -> None:
    pool = nn.AvgPool2D(2)
    pool.ksize, pool.stride = 3, 1
    assert pool(paddle.ones([1, 1, 4, 4])).shape == [1, 1, 2, 2]
    adaptive = nn.AdaptiveAvgPool2D(1)
    adaptive._output_size = (2, 2)
    assert adaptive(paddle.ones([1, 1, 4, 4])).shape == [1, 1, 2, 2]
    with pytest.raises(AttributeError, match="output_size"):
        pool.output_size  # noqa: B018


def test_the_sizes_of_a_linear_layer_can_be_named_otherwise() -> None:
    """Libraries put a property of their own there, and subclasses an attribute."""
    layer = nn.Linear(2, 3)
    assert (layer.in_features, layer.out_features) == (2, 3)
    layer.in_features = 7
    assert layer.in_features == 7

    class Patched(nn.Linear):
        in_features = property(lambda self: self.weight.shape[0] * 10)

    assert Patched(2, 3).in_features == 20
    assert "in_features=2, out_features=3" in repr(nn.Linear(2, 3))


def test_layer_list_pop_gives_the_layer_and_renumbers() -> None:
    layers = nn.LayerList([nn.ReLU(), nn.Linear(1, 2), nn.Tanh()])
    taken = layers.pop(1)
    assert isinstance(taken, nn.Linear)
    assert [type(layer).__name__ for layer in layers] == ["ReLU", "Tanh"]
    assert list(layers._sub_layers) == ["0", "1"]
    assert isinstance(layers.pop(-1), nn.Tanh)
    with pytest.raises(IndexError):
        layers.pop(5)


def test_initializers_defined_by_forward_fill_parameters() -> None:
    class Halves(I.Initializer):
        def forward(self, var: Any, block: Any = None) -> None:
            var.set_value(np.full(var.shape, 0.5, "float32"))

    layer = nn.Linear(2, 3, weight_attr=paddle.ParamAttr(initializer=Halves()))
    assert layer.weight.numpy().tolist() == [[0.5] * 3] * 2
    I.Constant(2.0)(layer.weight, layer.weight.block)
    assert float(layer.weight.sum()) == 12.0
    with pytest.raises(NotImplementedError, match=r"forward\(param, block\)"):
        type("Nothing", (I.Initializer,), {})()(layer.weight)


def test_settings_of_initializers_can_be_changed_by_their_inner_names() -> None:
    normal = I.Normal(0.0, 1.0)
    normal._mean, normal._std = 5.0, 0.0
    weight = nn.Linear(2, 2, weight_attr=normal).weight
    assert weight.numpy().tolist() == [[5.0, 5.0], [5.0, 5.0]]


def test_subclasses_attend_with_prepared_queries() -> None:
    attention = nn.MultiHeadAttention(4, 2)
    x = paddle.randn([1, 3, 4])
    query, key, value = attention._prepare_qkv(x, x, x)
    assert query.shape == key.shape == value.shape == [1, 2, 3, 2]
    weights = nn.functional.softmax(query @ key.transpose([0, 1, 3, 2]) * 2**-0.5)
    out = attention.out_proj((weights @ value).transpose([0, 2, 1, 3]).reshape([1, 3, 4]))
    np.testing.assert_allclose(out.numpy(), attention(x).numpy(), rtol=1e-5, atol=1e-6)
    cache = attention.gen_cache(x, type=attention.Cache)
    assert len(attention._prepare_qkv(x, x, x, cache)) == 4


def test_attributes_by_list() -> None:
    made = paddle.ParamAttr._to_attr([None, False, "w"])
    assert made[1] is False
    assert [type(one).__name__ for one in made] == ["ParamAttr", "bool", "ParamAttr"]
    assert made[2].name == "w"
