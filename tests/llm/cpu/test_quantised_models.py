"""Models whose weights stay in blocks: from GGUF files and rounded from floats, beside the same models in floats."""

from __future__ import annotations

import pathlib
from typing import Any

import gguf
import numpy as np
import pytest

import proa as paddle
from proa.llm import CausalLM, Config, load, save
from proa.llm.layers.projection import Projection
from proa.llm.quantised import BlockEmbedding, BlockStorage, dense_state, keep_blocks, quantise
from tests.kernels.cases.block_cases import on_grids
from tests.llm.files.samples import write

_SIZES: dict[str, Any] = {
    "family": "llama", "vocab_size": 96, "hidden_size": 64, "layers": 2, "heads": 4, "kv_heads": 2, "intermediate_size": 96,
    "max_positions": 64, "initializer_range": 0.2, "tied": True,
}  # fmt: skip
IDS = np.random.default_rng(0).integers(0, 96, (2, 11))


def _file(path: pathlib.Path, kind: str, tied: bool = True) -> pathlib.Path:
    """A random Llama as llama.cpp's converter would write it, its products in blocks of a kind, the rest in Q8_0 and F32."""
    draw = np.random.default_rng(3)
    tensors, blocks = {}, {}
    for name, shape in _shapes(tied):
        values = draw.normal(size=shape).astype(np.float32) * np.float32(0.2)
        if len(shape) == 1:
            tensors[name] = values + 1
        else:
            own = "Q8_0" if name.startswith(("token", "output.")) else kind
            blocks[name] = (own, gguf.quantize(values, gguf.GGMLQuantizationType[own]))
    metadata = {
        "llama.block_count": 2, "llama.embedding_length": 64, "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2, "llama.feed_forward_length": 96, "llama.context_length": 64,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "tokenizer.ggml.eos_token_id": 2,
    }  # fmt: skip
    return write(path, tensors, blocks, metadata)


def _shapes(tied: bool) -> list[tuple[str, tuple[int, ...]]]:
    found: list[tuple[str, tuple[int, ...]]] = [("token_embd.weight", (96, 64)), ("output_norm.weight", (64,))]
    found += [] if tied else [("output.weight", (96, 64))]
    for n in range(2):
        layer = {"attn_norm": (64,), "ffn_norm": (64,), "attn_q": (64, 64), "attn_k": (32, 64), "attn_v": (32, 64),
                 "attn_output": (64, 64), "ffn_gate": (96, 64), "ffn_up": (96, 64), "ffn_down": (64, 96)}  # fmt: skip
        found += [(f"blk.{n}.{name}.weight", shape) for name, shape in layer.items()]
    return found


def _logits(model: Any) -> np.ndarray:
    with paddle.no_grad():
        return model(paddle.to_tensor(IDS)).numpy()


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.sqrt(((found - expected) ** 2).mean() / (expected**2).mean()))


class _Emulated(paddle.nn.Layer):
    """A product whose left operand is rounded, written down apart from the operation and summed up in float64."""

    def __init__(self, weight: np.ndarray) -> None:
        super().__init__()
        self.numbers = weight.astype(np.float64)

    def forward(self, x: Any) -> Any:
        rows = x.numpy()
        rounded = on_grids(rows.reshape(-1, rows.shape[-1]), 32)
        out = (rounded @ self.numbers).reshape(*rows.shape[:-1], -1)
        return paddle.to_tensor(out.astype(np.float32))

    def dense(self) -> Any:
        return paddle.to_tensor(self.numbers.astype(np.float32))


def _with_rounded_products(model: Any) -> Any:
    for layer in model.sublayers():
        if isinstance(layer, Projection):
            layer.store(_Emulated(layer.dense().numpy()))
    if model.head is None:
        model.head = Projection(64, 96)
        model.head.store(_Emulated(model.embedding.weight.numpy().T))
    return model


def _assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal for most tokens. Sums in another order may lead to the neighbouring level where a number stands between two,
    which is then seen by the tokens behind."""
    distances = [_distance(*pair) for pair in zip(found.reshape(22, -1), expected.reshape(22, -1), strict=True)]
    assert np.median(distances) < 1e-5
    assert max(distances) < 0.05


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_file_runs_on_its_blocks(kind: str, tied: bool, tmp_path: pathlib.Path) -> None:
    path = _file(tmp_path / "model.gguf", kind, tied)
    floats, kept = load(path), load(path, keep_quantised=True)
    assert sum(isinstance(layer, BlockStorage) for layer in kept.sublayers()) == 2 * 7 + (1 if tied else 2)
    assert isinstance(kept.embedding, BlockEmbedding)
    # The weights are the same numbers; only what they are multiplied with is rounded.
    state, expected = dense_state(kept), floats.state_dict()
    assert state.keys() == expected.keys()
    for name, tensor in state.items():
        np.testing.assert_array_equal(tensor.numpy(), expected[name].numpy(), err_msg=name)
    assert _distance(_logits(kept), _logits(floats)) > 1e-3
    _assert_same(_logits(kept), _logits(_with_rounded_products(floats)))


def test_what_was_kept_can_be_saved_as_floats(tmp_path: pathlib.Path) -> None:
    kept = load(_file(tmp_path / "model.gguf", "Q4_1"), keep_quantised=True)
    save(kept, tmp_path / "folder")
    floats = load(tmp_path / "folder")
    for name, tensor in dense_state(kept).items():
        np.testing.assert_array_equal(tensor.numpy(), floats.state_dict()[name].numpy(), err_msg=name)


def test_blocks_travel_with_state_dict(tmp_path: pathlib.Path) -> None:
    path = _file(tmp_path / "model.gguf", "Q4_1")
    one, other = load(path, keep_quantised=True), load(path, keep_quantised=True)
    state = {name: tensor.clone() for name, tensor in one.state_dict().items()}
    assert "layers.1.mlp.up.storage.blocks" in state
    for tensor in other.state_dict().values():
        tensor.set_value(paddle.zeros_like(tensor))
    other.set_state_dict(state)
    for name, tensor in other.state_dict().items():
        np.testing.assert_array_equal(tensor.numpy(), one.state_dict()[name].numpy(), err_msg=name)
    _assert_same(_logits(other), _logits(one))


def test_only_files_have_blocks_to_keep(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="keep_quantised is for GGUF files"):
        load(tmp_path, keep_quantised=True)


@pytest.mark.parametrize("bits", [8, 4])
def test_floats_are_quantised_in_place(bits: int) -> None:
    paddle.seed(1)
    model = CausalLM(Config(**_SIZES))
    model.eval()
    before = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    assert quantise(model, bits) is model
    assert all(name.endswith("norm.weight") for name, _ in model.named_parameters())
    after = {name: tensor.numpy() for name, tensor in dense_state(model).items()}
    assert after.keys() == before.keys()
    for name, floats in before.items():
        steps = 15 if bits == 4 and "layers" in name else 127
        assert np.abs(after[name] - floats).max() <= 0.51 * 2 * np.abs(floats).max() / steps, name
    floats = CausalLM(Config(**_SIZES))
    floats.set_state_dict({name: paddle.to_tensor(array) for name, array in after.items()})
    _assert_same(_logits(model), _logits(_with_rounded_products(floats)))


def test_some_layers_are_left_alone() -> None:
    model = CausalLM(Config(**_SIZES))
    quantise(model, 4, where=lambda name, layer: name.endswith("mlp.down"))
    quantised = [name for name, layer in model.named_sublayers() if isinstance(layer, BlockStorage)]
    assert quantised == ["layers.0.mlp.down.storage", "layers.1.mlp.down.storage"]
    assert model.head is None


def test_adapters_beside_blocks_learn() -> None:
    """A gradient reaches what stands before and beside a quantised weight."""
    paddle.seed(0)
    layer = Projection(64, 32)
    quantise_one = rounded(layer)
    layer.adapter = paddle.nn.Linear(64, 32)
    x = paddle.randn([3, 64])
    x.stop_gradient = False
    layer(x).sum().backward()
    expected = (quantise_one + layer.adapter.weight.numpy()).sum(1)
    np.testing.assert_allclose(x.grad.numpy(), np.tile(expected, (3, 1)), rtol=1e-4, atol=1e-4)
    assert layer.adapter.weight.grad is not None


def rounded(layer: Projection) -> np.ndarray:
    """Stores a layer's weight in blocks; what it stands for, [inputs, outputs]."""
    blocks = gguf.quantize(np.ascontiguousarray(layer.weight.numpy().T), gguf.GGMLQuantizationType.Q4_1)
    keep_blocks(layer, blocks, "Q4_1")
    return gguf.dequantize(blocks, gguf.GGMLQuantizationType.Q4_1).T


def test_blocks_of_another_size_are_refused() -> None:
    layer = Projection(64, 32)
    with pytest.raises(ValueError, match="64 inputs and 32 outputs"):
        keep_blocks(layer, np.zeros((32, 18), np.uint8), "Q4_0")
    assert layer.weight is not None
    with pytest.raises(TypeError, match="Projection"):
        keep_blocks(paddle.nn.Linear(2, 2), np.zeros((2, 18), np.uint8), "Q4_0")
