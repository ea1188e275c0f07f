"""What is no size is refused where a layer is made, by the argument's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn

# Each layer with right arguments; every number among them is tried.
LAYERS: dict[str, dict[str, int]] = {
    "Linear": {"in_features": 4, "out_features": 3},
    "Embedding": {"num_embeddings": 5, "embedding_dim": 4, "padding_idx": 1},
    "Bilinear": {"in1_features": 2, "in2_features": 3, "out_features": 4},
    "Conv1D": {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "groups": 2},
    "Conv2D": {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "groups": 2},
    "Conv3D": {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "groups": 2},
    "Conv2DTranspose": {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "groups": 2},
    "BatchNorm": {"num_channels": 4},
    "BatchNorm1D": {"num_features": 4},
    "BatchNorm2D": {"num_features": 4},
    "BatchNorm3D": {"num_features": 4},
    "SyncBatchNorm": {"num_features": 4},
    "InstanceNorm2D": {"num_features": 4},
    "GroupNorm": {"num_groups": 2, "num_channels": 4},
    "PReLU": {"num_parameters": 4},
    "SimpleRNNCell": {"input_size": 4, "hidden_size": 5},
    "GRUCell": {"input_size": 4, "hidden_size": 5},
    "LSTMCell": {"input_size": 4, "hidden_size": 5, "proj_size": 2},
    "SimpleRNN": {"input_size": 4, "hidden_size": 5, "num_layers": 2},
    "GRU": {"input_size": 4, "hidden_size": 5, "num_layers": 2},
    "LSTM": {"input_size": 4, "hidden_size": 5, "num_layers": 2, "proj_size": 2},
    "MultiHeadAttention": {"embed_dim": 4, "num_heads": 2, "kdim": 3, "vdim": 3},
    "TransformerEncoderLayer": {"d_model": 4, "nhead": 2, "dim_feedforward": 8},
    "TransformerDecoderLayer": {"d_model": 4, "nhead": 2, "dim_feedforward": 8},
    "Transformer": {
        "d_model": 4, "nhead": 2, "num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 8,
    },
    "HSigmoidLoss": {"feature_size": 4, "num_classes": 5},
    "SpectralNorm": {"dim": 1, "power_iters": 2},
    "AdaptiveLogSoftmaxWithLoss": {"in_features": 8, "n_classes": 9},
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    "SpectralNorm": {"weight_shape": [4, 4]},
    "AdaptiveLogSoftmaxWithLoss": {"cutoffs": [2, 5]},
}
CASES = [(layer, name) for layer, sizes in LAYERS.items() for name in sizes if name != "kernel_size"]


def make(layer: str, **changed: Any) -> nn.Layer:
    return getattr(nn, layer)(**{**LAYERS[layer], **OTHERS.get(layer, {}), **changed})


@pytest.mark.parametrize(("layer", "name"), CASES)
@pytest.mark.parametrize("wrong", ["a", 2.5, 4.0, [4]], ids=repr)
def test_what_is_no_integer_is_named(layer: str, name: str, wrong: Any) -> None:
    with pytest.raises(TypeError) as caught:
        make(layer, **{name: wrong})
    assert str(caught.value) == f"({layer}) {name} must be an integer; received {name}: {wrong!r}."


@pytest.mark.parametrize("wrong", ["a", 2.5, [4, "a"]], ids=repr)
def test_the_shape_of_a_layer_norm(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"\(LayerNorm\) normalized_shape must be an integer; received"):
        nn.LayerNorm(wrong)
    assert nn.LayerNorm(np.int64(4)).weight.shape == nn.LayerNorm([4]).weight.shape


@pytest.mark.parametrize("layer", LAYERS)
def test_integers_of_numpy_and_tensors_are_sizes(layer: str) -> None:
    expected = [list(p.shape) for p in make(layer).parameters()]
    for kind in (np.int64, lambda size: np.array([size]), paddle.to_tensor):
        sizes = {name: kind(size) for name, size in LAYERS[layer].items() if name != "kernel_size"}
        made = make(layer, **sizes)
        assert [list(p.shape) for p in made.parameters()] == expected
        assert repr(made) == repr(make(layer))
