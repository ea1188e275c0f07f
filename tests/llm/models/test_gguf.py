"""Models in GGUF files: the same as those they were written from (`llama_cpp.py` compares with llama.cpp itself)."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest

import proa as paddle
from proa.llm.gguf import GGUFModel
from tests.llm.models.gguf_files import MODELS, llama3_divisors, spread_model, write_gguf


@pytest.mark.parametrize("name", MODELS)
def test_a_file_gives_the_model_that_it_was_written_from(name: str, tmp_path: Path) -> None:
    model = spread_model(MODELS[name])
    write_gguf(model, name, tmp_path / "model.gguf")
    found = paddle.llm.load(tmp_path / "model.gguf")
    expected = model.config.changed(initializer_range=0.02, norm_epsilon=found.config.norm_epsilon)
    assert found.config == expected
    for key, tensor in model.state_dict().items():
        np.testing.assert_allclose(found.state_dict()[key].numpy(), tensor.numpy(), rtol=1e-6, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith(("gpt2", "ernie", "deepseek"))])
def test_a_file_answers_as_the_safetensors_form_does(name: str, tmp_path: Path) -> None:
    model = spread_model(MODELS[name])
    write_gguf(model, name, tmp_path / "model.gguf")
    paddle.llm.save(model, tmp_path / "folder")
    ids = paddle.to_tensor([[1, *(5 + 7 * number % 80 for number in range(23))]])
    found, expected = (paddle.llm.load(tmp_path / form)(ids).numpy() for form in ("model.gguf", "folder"))
    assert expected.std() > 0.3
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_weights_in_blocks_stay_where_they_can(tmp_path: Path) -> None:
    """Of DeepSeek all but the product that lies in two tensors; the numbers are those of the blocks."""
    model = spread_model(MODELS["deepseek2"])
    write_gguf(model, "deepseek2", tmp_path / "model.gguf", kind=gguf.GGMLQuantizationType.Q8_0)
    kept = paddle.llm.load(tmp_path / "model.gguf", keep_quantised=True)
    assert kept.layers[0].attention.down.storage is not None
    assert kept.layers[0].attention.up.storage is None
    floats = dict(paddle.llm.load(tmp_path / "model.gguf").named_sublayers())
    compared = 0
    for key, layer in kept.named_sublayers():
        if getattr(layer, "storage", None) is not None and hasattr(layer, "dense"):
            np.testing.assert_allclose(layer.dense().numpy(), floats[key].weight.numpy(), rtol=1e-6, atol=1e-7)
            compared += 1
    assert compared >= 3 * 4


def test_a_latent_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    model = spread_model(MODELS["deepseek2"])
    write_gguf(model, "deepseek2", tmp_path / "a.gguf", leave="blk.1.attn_v_b.weight")
    with pytest.raises(ValueError, match=r"the file must have blk.1.attn_v_b.weight \[4, 12, 24\]; received nothing"):
        paddle.llm.load(tmp_path / "a.gguf")
    write_gguf(model, "deepseek2", tmp_path / "b.gguf", leave="blk.1.attn_kv_a_norm.weight")
    with pytest.raises(ValueError, match=r"the files have no tensor 'blk.1.attn_kv_a_norm.weight'"):
        paddle.llm.load(tmp_path / "b.gguf")
    with pytest.raises(ValueError, match=r"deepseek2.attention.key_length must be a whole number"):
        paddle.llm.load(_bare(tmp_path / "c.gguf", "deepseek2"))


def test_rows_say_how_quantised_weights_are_taken(tmp_path: Path) -> None:
    """Rows of blocks can be permuted as they are: this is how they become ours."""
    model = spread_model(MODELS["llama"])
    write_gguf(model, "llama", tmp_path / "model.gguf")
    file = GGUFModel(tmp_path / "model.gguf")
    stored = file.file.tensors["blk.1.attn_k.weight"].dequantised()
    ours = model.layers[1].attention.key.weight.numpy().T
    assert np.abs(stored - ours).max() > 0.1
    np.testing.assert_array_equal(stored[file.rows("blk.1.attn_k.weight")], ours)
    assert file.rows("blk.1.attn_v.weight") is None
    assert file.rows("token_embd.weight") is None


def _bare(
    path: Path, architecture: str, *, tensor: str = "token_embd.weight", divisors: np.ndarray | None = None
) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    for add in (writer.add_block_count, writer.add_head_count):
        add(2)
    writer.add_embedding_length(16)
    writer.add_tensor(tensor, np.zeros((8, 16), np.float32))
    if divisors is not None:
        writer.add_tensor("rope_freqs.weight", divisors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_files_of_other_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the architecture is one of .*received 'mamba'"):
        paddle.llm.load(_bare(tmp_path / "a.gguf", "mamba"))
    with pytest.raises(ValueError, match="the file has no token_embd"):
        paddle.llm.load(_bare(tmp_path / "b.gguf", "llama", tensor="other"))
    with pytest.raises(ValueError, match="the files have no tensor 'blk"):
        paddle.llm.load(_bare(tmp_path / "c.gguf", "llama"))


def test_frequencies_that_are_not_llama_3s_are_refused(tmp_path: Path) -> None:
    divisors = np.array([1, 1, 2, 7], np.float32)
    with pytest.raises(ValueError, match=r"rope_freqs.weight is not the scaling of Llama 3; received divisors up to 7"):
        paddle.llm.load(_bare(tmp_path / "a.gguf", "llama", divisors=divisors))


def test_divisors_are_those_of_a_real_file() -> None:
    """Some of Llama 3.2's `rope_freqs.weight`, as llama.cpp's converter computes them."""
    from proa.llm import Rope

    found = llama3_divisors(Rope(500000.0, 64, scaling="llama3", factor=32.0, original_positions=8192))
    assert found[:14].tolist() == [1.0] * 14
    assert found[-1] == 32.0
    assert 1 < found[16] < 32


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = _bare(tmp_path / "a.gguf", "llama")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="GGUF"):
        paddle.llm.load(path)
    path.write_bytes(b"not a model at all")
    with pytest.raises(ValueError, match="GGUF"):
        paddle.llm.load(path)
