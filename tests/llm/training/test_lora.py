"""Adapters: what they add, what is trained, merged, taken off and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import proa as paddle
from proa.llm.layers.projection import Projection
from proa.llm.quantised import quantise
from proa.llm.training import Adapter, token_losses
from proa.llm.training.settings import Lora
from tests.llm.training.tiny import tiny_model

IDS = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
LORA = Lora(rank=3, alpha=6.0, targets=("q_proj", "mlp.down_proj"))


def logits(model: Any) -> np.ndarray:
    with paddle.no_grad():
        return model(paddle.to_tensor(IDS)).numpy()


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal but for the order in which one tier or the other adds up."""
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def adapted(model: Any = None, settings: Lora = LORA) -> tuple[Any, Adapter]:
    """A model with an adapter whose factors are not zero."""
    model = tiny_model() if model is None else model
    model.eval()
    adapter = Adapter.attach(model, settings)
    rng = np.random.default_rng(0)
    for factor in adapter.parameters().values():
        factor.set_value(rng.normal(0, 0.3, factor.shape).astype("float32"))
    return model, adapter


def test_a_new_adapter_changes_nothing_and_is_all_that_is_trained() -> None:
    model = tiny_model()
    before = logits(model)
    adapter = Adapter.attach(model, LORA)
    same(logits(model), before)
    trained = {name for name, parameter in model.named_parameters() if not parameter.stop_gradient}
    assert len(trained) == 8
    assert trained == {name.replace(".down", ".adapter.down").replace(".up", ".adapter.up").replace(
        "mlp.adapter.down.", "mlp.down.") for name in adapter.parameters()}  # fmt: skip


def test_it_adds_the_product_of_its_factors() -> None:
    model, adapter = adapted()
    found = logits(model)
    place = next(p for p in adapter.places if p.theirs == "model.layers.1.self_attn.q_proj")
    x = np.random.default_rng(1).normal(size=(4, 16)).astype("float32")
    layer = place.projection
    wanted = x @ (layer.weight.numpy() + place.factors.down.numpy() @ place.factors.up.numpy() * 2.0)
    np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), wanted, rtol=1e-4, atol=1e-5)
    adapter.enable(False)
    same(logits(model), logits(tiny_model()))
    adapter.enable()
    same(logits(model), found)
    assert np.abs(found - logits(tiny_model())).max() > 0.05


def test_merging_keeps_the_logits_and_unmerging_gives_the_bits_back() -> None:
    model, adapter = adapted()
    weights = {name: parameter.numpy().copy() for name, parameter in model.named_parameters()}
    before = logits(model)
    adapter.merge()
    adapter.merge()  # once is enough
    assert set(model.state_dict()) == set(tiny_model().state_dict())
    np.testing.assert_allclose(logits(model), before, rtol=1e-4, atol=1e-5)
    assert not np.array_equal(
        model.layers[0].attention.query.weight.numpy(), weights["layers.0.attention.query.weight"]
    )
    adapter.unmerge()
    for name, parameter in model.named_parameters():
        np.testing.assert_array_equal(parameter.numpy(), weights[name])
    same(logits(model), before)
    adapter.detach()
    same(logits(model), logits(tiny_model()))
    assert not any(parameter.stop_gradient for parameter in model.parameters())


def test_files_have_the_form_of_peft(tmp_path: Path) -> None:
    """Names and shapes as peft 0.21 was seen to write them."""
    _, adapter = adapted()
    adapter.save(tmp_path / "a", "base")
    tensors = load_file(tmp_path / "a" / "adapter_model.safetensors")
    assert {name: array.shape for name, array in tensors.items()} == {
        f"base_model.model.model.layers.{n}.{module}.lora_{part}.weight": shape
        for n in (0, 1)
        for module, sizes in (("self_attn.q_proj", (16, 16)), ("mlp.down_proj", (24, 16)))
        for part, shape in (("A", (3, sizes[0])), ("B", (sizes[1], 3)))
    }
    described = json.loads((tmp_path / "a" / "adapter_config.json").read_text())
    assert (described["peft_type"], described["r"], described["lora_alpha"]) == ("LORA", 3, 6.0)
    assert described["target_modules"] == ["mlp.down_proj", "q_proj"]


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    model, adapter = adapted()
    adapter.save(tmp_path / "a")
    adapter.save(tmp_path / "a")  # replaces its own
    other = tiny_model()
    other.eval()
    loaded = Adapter.load(other, tmp_path / "a")
    same(logits(other), logits(model))
    assert set(loaded.settings.targets) == set(LORA.targets)
    for name, factor in adapter.parameters().items():
        np.testing.assert_array_equal(loaded.parameters()[name].numpy(), factor.numpy())


def test_rank_stabilised_adapters_are_scaled_by_the_root() -> None:
    _, adapter = adapted(settings=Lora(rank=4, alpha=6.0, targets=("q_proj",), rank_stabilised=True))
    assert adapter.places[0].factors.scale == 3.0


@pytest.mark.parametrize("bits", [8, 4])
def test_an_adapter_on_weights_in_few_bits(bits: int) -> None:
    """QLoRA: gradients go through the quantised product as through one with the floats that it stands for."""
    sizes = {"hidden_size": 32, "intermediate_size": 64}
    model, adapter = adapted(quantise(tiny_model(**sizes), bits=bits))
    found = gradients(model, adapter)
    before = logits(model)
    floats = [place.projection.dense().numpy() for place in adapter.places]
    adapter.merge()
    for place, dense in zip(adapter.places, floats, strict=True):
        assert place.projection.storage is None
        delta = place.factors.down.numpy() @ place.factors.up.numpy() * 2.0
        np.testing.assert_allclose(place.projection.weight.numpy(), dense + delta, rtol=1e-5, atol=1e-6)
    adapter.unmerge()
    same(logits(model), before)
    for layer in model.sublayers():  # the same model in floats
        if isinstance(layer, Projection) and layer.storage is not None:
            dense = layer.dense().numpy()
            layer.storage = None
            layer.weight = layer.create_parameter(list(dense.shape))
            layer.weight.set_value(dense)
    wanted = gradients(model, adapter)
    for name, grad in found.items():
        assert np.abs(grad - wanted[name]).max() <= 0.05 * np.abs(wanted[name]).max(), name


def gradients(model: Any, adapter: Adapter) -> dict[str, np.ndarray]:
    labels = paddle.to_tensor((IDS * 7) % 64)
    token_losses(model, model.hidden(paddle.to_tensor(IDS)), labels).sum().backward()
    found = {name: factor.grad.numpy().copy() for name, factor in adapter.parameters().items()}
    for factor in adapter.parameters().values():
        factor.clear_grad()
    return found


def test_targets_that_are_not_there_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"no projection is called 'c_attn'.*this model has down_proj, gate_proj, k_proj"
    ):
        Adapter.attach(tiny_model(), Lora(targets=("q_proj", "c_attn")))


def test_a_second_adapter_is_refused() -> None:
    model, _ = adapted()
    with pytest.raises(ValueError, match="has an adapter already"):
        Adapter.attach(model, LORA)


def test_a_folder_with_other_things_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "letter.txt").write_text("dear")
    _, adapter = adapted()
    with pytest.raises(FileExistsError, match="something else"):
        adapter.save(tmp_path / "a")
    assert (tmp_path / "a" / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"peft_type": "IA3"}, "must be LoRA"),
        ({"use_dora": True}, "use_dora is not supported"),
        ({"bias": "all"}, "without biases"),
        ({"alpha_pattern": {"q_proj": 3}}, "alpha_pattern is not supported"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save is not supported"),
        ({"r": "many"}, "must be numbers"),
        ({"r": 2}, r"lora_A of model\.layers\.0\.\S+ must be \[2, "),
    ],
)
def test_adapters_of_other_kinds_are_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    _, adapter = adapted()
    adapter.save(tmp_path / "a")
    path = tmp_path / "a" / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    model = tiny_model()
    with pytest.raises(ValueError, match=words):
        Adapter.load(model, tmp_path / "a")
    assert all(place is None for place in (layer.attention.query.adapter for layer in model.layers))


def test_files_of_another_model_are_refused(tmp_path: Path) -> None:
    _, adapter = adapted()
    adapter.save(tmp_path / "a")
    path = tmp_path / "a" / "adapter_model.safetensors"
    tensors = load_file(path)
    for change, words in (
        ({"base_model.model.lm.lora_A.weight": np.zeros((3, 3), "f")}, "no projection is called 'lm'"),
        ({"something": np.zeros(3, "f")}, "no factor of a projection"),
    ):
        save_file({**tensors, **change}, path)
        with pytest.raises(ValueError, match=words):
            Adapter.load(tiny_model(), tmp_path / "a")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="safetensors"):
        Adapter.load(tiny_model(), tmp_path / "a")
    path.unlink()
    with pytest.raises(FileNotFoundError, match="adapter_model"):
        Adapter.load(tiny_model(), tmp_path / "a")
