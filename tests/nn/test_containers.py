"""Sequential, LayerList, LayerDict, ParameterList, ParameterDict."""

from __future__ import annotations

import pytest

import proa as paddle

nn = paddle.nn


def kinds(container):
    return [type(layer).__name__ for layer in container]


def test_sequential_calls_in_order():
    layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    x = paddle.ones([4, 2])
    expected = layers[2](layers[1](layers[0](x)))
    assert layers(x).tolist() == expected.tolist()


def test_sequential_forms():
    named = nn.Sequential(("a", nn.Linear(1, 1)), ("b", nn.ReLU()))
    assert list(named.state_dict()) == ["a.weight", "a.bias"]
    assert named["a"] is named[0] is named.a
    assert len(named) == 2
    assert kinds(nn.Sequential([nn.ReLU(), nn.Tanh()])) == ["ReLU", "Tanh"]
    with pytest.raises(TypeError):
        nn.Sequential(3)
    assert len(nn.Sequential()) == 0


def test_sequential_is_a_list_of_layers():
    layers = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    assert isinstance(layers[-1], nn.ReLU)
    assert kinds(layers[0:1]) == ["Linear"]
    layers[0] = nn.Tanh()
    assert kinds(layers) == ["Tanh", "ReLU"]
    assert layers.append(nn.GELU()) is layers
    layers.extend([nn.Sigmoid()])
    layers.insert(1, nn.Silu())
    assert kinds(layers) == ["Tanh", "Silu", "ReLU", "GELU", "Sigmoid"]
    assert list(layers._sub_layers) == ["0", "1", "2", "3", "4"]
    del layers[0]
    assert kinds(layers) == ["Silu", "ReLU", "GELU", "Sigmoid"]
    layers.append(nn.Tanh())
    assert kinds(layers)[-1] == "Tanh"
    assert len(layers) == 5
    with pytest.raises(IndexError, match="out of range"):
        layers[9]
    with pytest.raises(KeyError):
        layers["nothing"]


def test_layer_list():
    layers = nn.LayerList([nn.ReLU()])
    layers.append(nn.Tanh())
    layers.insert(0, nn.GELU())
    layers.extend([nn.Sigmoid()])
    assert kinds(layers) == ["GELU", "ReLU", "Tanh", "Sigmoid"]
    assert isinstance(layers[0:2], nn.LayerList)
    assert kinds(layers[0:2]) == ["GELU", "ReLU"]
    assert isinstance(layers[-1], nn.Sigmoid)
    layers[-1] = nn.Silu()
    del layers[0]
    assert kinds(layers) == ["ReLU", "Tanh", "Silu"]
    assert list(layers._sub_layers) == ["0", "1", "2"]
    del layers[1:]
    assert kinds(layers) == ["ReLU"]
    assert layers[0] in layers
    for index in (5, -2):
        with pytest.raises(IndexError):
            layers[index]
    with pytest.raises(NotImplementedError):
        layers(1)
    with pytest.raises(TypeError):
        layers.append(3)


def test_layer_dict():
    layers = nn.LayerDict({"a": nn.ReLU()})
    layers["b"] = nn.Tanh()
    layers.update([("c", nn.GELU())])
    assert list(layers) == ["a", "b", "c"]
    assert "a" in layers
    assert isinstance(layers.pop("a"), nn.ReLU)
    assert len(layers) == 2
    assert [key for key, _ in layers.items()] == list(layers.keys()) == ["b", "c"]
    del layers["b"]
    with pytest.raises(KeyError):
        layers["b"]
    layers.clear()
    assert len(layers) == 0


def test_parameter_list_and_dict():
    make = paddle.create_parameter
    held = nn.ParameterList([make([1], "float32")])
    held.append(make([2], "float32")).extend([make([3], "float32")])
    assert [p.shape for p in held] == [[1], [2], [3]]
    assert list(held.state_dict()) == ["0", "1", "2"]
    held[1] = make([5], "float32")
    assert held[1].shape == [5]
    assert held[-1].shape == [3]
    assert len(held[:2]) == 2
    with pytest.raises(IndexError):
        held[3]
    named = nn.ParameterDict({"x": make([1], "float32")})
    named["y"] = make([2], "float32")
    assert list(named.keys()) == ["x", "y"]
    assert "y" in named
    del named["x"]
    assert [p.shape for p in named.parameters()] == [[2]]
