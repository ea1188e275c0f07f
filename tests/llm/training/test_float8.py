"""`float8` of the settings: which products are in 8 bits, what is learned with them, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm.quantised import quantise
from proa.llm.training import Adapter, Lora, Trainer
from tests.llm.training.tiny import losses, tiny_model, tiny_rows, tiny_settings


def trainer_of(folder: Path, model: Any = None, **changes: Any) -> Trainer:
    return Trainer(tiny_model() if model is None else model, tiny_rows(folder), tiny_settings(folder, **changes))


def in_plain_operations(model: Any) -> None:
    """The same by casts of the public API; gradients go straight through the rounding of the operands."""

    def rounded(x: Any) -> Any:
        scale = x.detach().abs().max() / 448.0
        return x + ((x / scale).astype("float8_e4m3fn").astype("float32") * scale - x).detach()

    for layer in model.sublayers():
        if type(layer).__name__ == "Projection" and layer is not model.head:
            layer.product = lambda x, weight, bias: paddle.nn.functional.linear(rounded(x), rounded(weight), bias)


def test_losses_are_those_of_casts(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path / "a", float8="emulated", steps=2)
    assert trainer.num_float8 == 2 * 7  # of two layers; not the head, not the embedding
    found = losses(trainer.train())
    plain = trainer_of(tmp_path / "b", steps=2)
    assert plain.num_float8 == 0
    cast = tiny_model()
    beside = trainer_of(tmp_path / "c", cast, steps=2)
    in_plain_operations(cast)
    wanted, exact = losses(beside.train()), losses(plain.train())
    assert abs(found[0] - wanted[0]) < 1e-5 * wanted[0]
    assert abs(found[0] - exact[0]) > 1e-6  # the rounding is there
    np.testing.assert_allclose(found, wanted, rtol=5e-3)  # gradients are in e5m2 here, in float32 there


def test_a_model_learns_and_the_choice_is_seen_and_can_be_taken_back(tmp_path: Path) -> None:
    rows, model = tiny_rows(tmp_path), tiny_model()
    settings = tiny_settings(tmp_path, float8="emulated", steps=12, exact=True)
    trainer = Trainer(model, rows, settings, evaluation=rows)
    before = trainer.evaluate()
    assert trainer.train()[-1]["evaluation_loss"] < before - 0.3
    seen = [
        sum(each.operation.name == "float8_product" for each in summary.program.instructions)
        for summary in paddle.jit.explain().programs
    ]
    assert max(seen) == 3 * 14  # forward, and two for each backward
    trainer = trainer_of(tmp_path / "b", model, steps=1)
    assert trainer.num_float8 == 0
    assert all(getattr(layer, "product", None) in (None, paddle.nn.functional.linear) for layer in model.sublayers())


def test_an_adapter_learns_beside_frozen_weights(tmp_path: Path) -> None:
    model = tiny_model()
    adapter = Adapter.attach(model, Lora(rank=2))
    settings = tiny_settings(tmp_path, float8="emulated", lora={}, steps=3)
    trainer = Trainer(model, tiny_rows(tmp_path), settings, adapter=adapter)
    found = losses(trainer.train())
    assert trainer.num_float8 == 14
    assert np.isfinite(found).all()
    few_bits = quantise(tiny_model(hidden_size=32, intermediate_size=32), bits=8)
    Adapter.attach(few_bits, Lora(rank=2))
    assert (
        trainer_of(tmp_path / "q", few_bits, float8="emulated", lora={}).num_float8 == 0
    )  # they are in few bits already


def test_a_checkpoint_of_other_products_is_refused(tmp_path: Path) -> None:
    trainer_of(tmp_path, float8="emulated", steps=2).train()
    with pytest.raises(ValueError, match="another training: precision differs"):
        trainer_of(tmp_path, steps=2).train()


def test_a_device_without_such_products_is_refused(tmp_path: Path, capsys: Any) -> None:
    from proa_command import main
    from tests.llm.training.test_train_command import folder_of_model, settings

    with pytest.raises(ValueError, match=r"needs a GPU .* 8.9 or more\); received cpu .* float8: emulated"):
        trainer_of(tmp_path / "t", float8="products")
    folder_of_model(tmp_path)
    assert main(["train", settings(tmp_path, float8="products")]) == 1
    assert "needs a GPU that multiplies 8-bit floats" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="float8 must be one of none, products, emulated; received True"):
        tiny_settings(tmp_path, float8=True)
