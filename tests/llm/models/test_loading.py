"""Folders that are whole, in shards, in Paddle's form, damaged, or of another model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import CausalLM, Config, Rope
from proa.llm import loading as loading_module

SMALL = Config("llama", 40, 32, 2, 4, 48, kv_heads=2, initializer_range=0.3, bos=(1,), eos=(2, 3))
IDS = [[1, 5, 9, 30]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    paddle.seed(1)
    paddle.llm.save(CausalLM(SMALL), tmp_path / "model")
    return tmp_path / "model"


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_model_comes_back_ready_to_predict(folder: Path) -> None:
    paddle.seed(1)
    model, found = CausalLM(SMALL), paddle.llm.load(folder)
    assert found.config == SMALL
    assert not found.training
    same_weights(found, model)
    np.testing.assert_allclose(found(paddle.to_tensor(IDS)).numpy(), model(paddle.to_tensor(IDS)).numpy(), atol=1e-5)


def same_weights(found: CausalLM, expected: CausalLM) -> None:
    assert list(found.state_dict()) == list(expected.state_dict())
    for name, tensor in expected.state_dict().items():
        np.testing.assert_array_equal(found.state_dict()[name].numpy(), tensor.numpy(), err_msg=name)


def test_shards_are_read_and_written(folder: Path) -> None:
    model = paddle.llm.load(folder)
    paddle.llm.save(model, folder.parent / "shards", shard_bytes=20_000)
    files = sorted(path.name for path in (folder.parent / "shards").iterdir())
    assert len([name for name in files if name.endswith(".safetensors")]) > 1
    assert "model.safetensors.index.json" in files
    same_weights(paddle.llm.load(folder.parent / "shards"), model)
    next((folder.parent / "shards").glob("model-00002*")).unlink()
    with pytest.raises((ValueError, FileNotFoundError)):
        paddle.llm.load(folder.parent / "shards")


def test_weights_come_in_the_type_that_was_asked_for(folder: Path) -> None:
    model = paddle.llm.load(folder, "bfloat16")
    assert {str(p.dtype) for p in model.parameters()} == {"paddle.bfloat16"}
    assert str(model(paddle.to_tensor(IDS)).dtype) == "paddle.bfloat16"
    exact = paddle.llm.load(folder)(paddle.to_tensor(IDS)).numpy()
    assert np.abs(model(paddle.to_tensor(IDS)).astype("float32").numpy() - exact).max() < 0.1 * np.abs(exact).max()
    paddle.llm.save(model, folder.parent / "half")
    assert json.loads((folder.parent / "half" / "config.json").read_text())["dtype"] == "bfloat16"
    assert str(next(iter(paddle.llm.load(folder.parent / "half").parameters())).dtype) == "paddle.bfloat16"


def test_paddles_files_hold_products_the_other_way_round(folder: Path) -> None:
    model = paddle.llm.load(folder)
    there = folder.parent / "paddle"
    there.mkdir()
    shutil.copy(folder / "config.json", there)
    names = loading_module.family_of("llama").names(model.config)
    state = {}
    for ours, tensor in model.state_dict().items():
        rule, number = names.rule(ours)
        theirs = rule.theirs.replace("{}", number)
        state["llama." + theirs.removeprefix("model.") if theirs.startswith("model.") else theirs] = tensor
    paddle.save(state, there / "model_state.pdparams")
    same_weights(paddle.llm.load(there), model)
    paddle.save(model.state_dict(), there / "model_state.pdparams")  # and under our own names
    same_weights(paddle.llm.load(there), model)


def test_what_config_json_says_beside_the_architecture_is_kept(folder: Path) -> None:
    change_config(folder, transformers_version="9.9", something={"else": [1, 2]})
    paddle.llm.save(paddle.llm.load(folder), folder.parent / "again")
    written = json.loads((folder.parent / "again" / "config.json").read_text())
    assert written["something"] == {"else": [1, 2]}
    assert written["eos_token_id"] == [2, 3]


def test_older_files_spell_rotary_scaling_otherwise(folder: Path) -> None:
    path = folder / "config.json"
    written = json.loads(path.read_text())
    del written["rope_parameters"]
    path.write_text(json.dumps({**written, "rope_theta": 5000.0, "rope_scaling": {"type": "linear", "factor": 2.0}}))
    assert paddle.llm.load(folder).config.rope == Rope(5000.0, 8, scaling="linear", factor=2.0, original_positions=2048)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "frog"}, r"model_type is one of .*received 'frog'"),
        ({"model_type": None}, "model_type is one of"),
        ({"num_hidden_layers": 3}, r"the files have no tensor 'model.layers.2"),
        ({"num_hidden_layers": 1}, r"tensors that this model has no place for; received model.layers.1"),
        ({"num_hidden_layers": 0}, "layers must be a positive whole number"),
        ({"num_hidden_layers": "2"}, "layers must be a positive whole number; received '2'"),
        ({"hidden_size": None}, "config.json has no 'hidden_size'"),
        (
            {"intermediate_size": 64},
            r"does not fit the configuration: layers.0.mlp.gate.weight is \[32, 64\]; received \[32, 48\]",
        ),
        ({"num_key_value_heads": 3}, "kv_heads must divide heads"),
        ({"hidden_act": "sine"}, "activation is one of"),
        ({"rope_parameters": {"rope_type": "longrope"}}, "rope_type is default, linear, dynamic, yarn or llama3"),
        ({"rope_parameters": {"rope_type": "llama3"}}, "not the configuration of a llama model"),
        ({"head_dim": 7}, "dims must be even"),
        ({"tie_word_embeddings": True}, None),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(folder: Path, changes: dict[str, Any], said: str | None) -> None:
    change_config(folder, **changes)
    if said is None:  # a head that repeats the embedding is left, as transformers leaves it
        assert paddle.llm.load(folder).head is None
        return
    with pytest.raises(ValueError, match=said):
        paddle.llm.load(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_a_configuration_that_is_none_is_refused(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    with pytest.raises(ValueError, match=r"is not JSON|must hold a table"):
        paddle.llm.load(folder)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        paddle.llm.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"has a config\.json"):
        paddle.llm.load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", **_sizes()}))
    with pytest.raises(FileNotFoundError, match="safetensors"):
        paddle.llm.load(tmp_path)


def _sizes() -> dict[str, int]:
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    return {name: 4 if name == "num_attention_heads" else 8 for name in names}


def test_weights_that_are_cut_off_are_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError):
        paddle.llm.load(folder)


def test_nothing_is_written_over_and_nothing_is_left_of_a_failed_save(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = paddle.llm.load(folder)
    with pytest.raises(FileExistsError, match="new or empty"):
        paddle.llm.save(model, folder)

    def fails(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(loading_module, "write_safetensors", fails)
    with pytest.raises(OSError, match="the disk is full"):
        paddle.llm.save(model, folder.parent / "new")
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_empty_folder_may_be_written_into(folder: Path) -> None:
    (folder.parent / "empty").mkdir()
    paddle.llm.save(paddle.llm.load(folder), folder.parent / "empty")
    assert paddle.llm.load(folder.parent / "empty").config == SMALL
