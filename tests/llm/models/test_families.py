"""Every family beside what transformers answered for the same weights (`vectors.json`), and written back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.framework import safetensors
from proa.llm.families import FAMILIES, family_of
from proa.nn import functional as F
from tests.llm.models.cases import DECODERS, ENCODERS, TRANSLATORS
from tests.llm.models.drawn import IDS, MASK, NEW, TARGETS, TYPES, tensors

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text())


def write_folder(name: str, folder: Path) -> Path:
    """As transformers would have written it."""
    row = VECTORS[name]
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(row["config"]))
    with open(folder / "model.safetensors", "wb") as file:
        safetensors.write(file, tensors(row["tensors"]))
    return folder


def run(name: str, model: Any) -> tuple[Any, Any]:
    ids, mask, targets = paddle.to_tensor(IDS), paddle.to_tensor(MASK), paddle.to_tensor(TARGETS)
    if name in DECODERS:
        logits, expected = model(ids), ids
    elif name in ENCODERS:
        has_types = name not in ("roberta", "mpnet")
        logits, expected = model(ids, mask, paddle.to_tensor(TYPES) if has_types else None), ids
    else:
        logits, expected = model(ids, targets, mask), targets
    return logits, F.cross_entropy(logits[:, :-1].flatten(0, 1), expected[:, 1:].flatten())


@pytest.mark.parametrize("name", VECTORS)
def test_logits_gradients_and_text_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    row, model = VECTORS[name], paddle.llm.load(write_folder(name, tmp_path / "model"))
    logits, loss = run(name, model)
    np.testing.assert_allclose(logits.numpy()[:, -1, :10].ravel(), row["logits"], atol=1e-4, rtol=1e-5)
    assert abs(loss.item() - row["loss"]) < 1e-5 * row["loss"]
    loss.backward()
    slopes = [p.grad.numpy().astype(np.float64) for p in model.parameters() if p.grad is not None]
    assert np.sqrt(sum((g**2).sum() for g in slopes)) == pytest.approx(row["slope"], rel=1e-4)
    embedding = model.embedding.weight.grad.numpy()[IDS[0, 0], :10]
    np.testing.assert_allclose(embedding, row["embedding_gradient"], atol=1e-3 * np.abs(embedding).max())
    if "text" in row:
        found = model.generate(paddle.to_tensor(IDS[:1]), NEW, ends=()).numpy()[0]
        assert found.tolist() == row["text"]


@pytest.mark.parametrize("name", VECTORS)
def test_a_written_folder_holds_the_same_tensors_and_reads_the_same(name: str, tmp_path: Path) -> None:
    model = paddle.llm.load(write_folder(name, tmp_path / "model"))
    paddle.llm.save(model, tmp_path / "written")
    written = safetensors.read((tmp_path / "written" / "model.safetensors").read_bytes())
    expected = tensors(VECTORS[name]["tensors"])
    assert sorted(written) == sorted(expected)
    for key, value in expected.items():
        np.testing.assert_array_equal(written[key], value, err_msg=key)
    again = paddle.llm.load(tmp_path / "written")
    assert again.config == model.config
    for key, value in again.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), model.state_dict()[key].numpy(), err_msg=key)


@pytest.mark.parametrize("name", VECTORS)
def test_a_configuration_is_what_it_was_when_written_without_its_source(name: str) -> None:
    family = family_of(VECTORS[name]["config"]["model_type"])
    config = family.read(VECTORS[name]["config"])
    again = family.read(json.loads(json.dumps(family.write(config))))
    rope, other = config.rope, again.rope
    if rope is not None and other is not None:  # computed back and forth
        assert other.magnitude == pytest.approx(rope.magnitude)
        again = again.changed(rope=rope)
    assert again.attention_scale == pytest.approx(config.attention_scale)
    assert again.changed(attention_scale=config.attention_scale) == config


def test_every_family_is_compared() -> None:
    compared = {row["config"]["model_type"] for row in VECTORS.values()}
    assert set(FAMILIES) - compared == {"xlm-roberta"}  # RoBERTa under another name
    assert set(VECTORS) == {*DECODERS, *ENCODERS, *TRANSLATORS}
