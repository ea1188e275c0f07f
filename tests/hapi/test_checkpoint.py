"""Saving, loading and resuming a Model."""

from __future__ import annotations

import os

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.static import InputSpec


def adam(parameters):
    return paddle.optimizer.Adam(0.05, parameters=parameters)


def numbers(model):
    return [parameter.numpy() for parameter in model.parameters()]


def test_files_and_what_is_in_them(make_model, batches, tmp_path):
    model = make_model(optimizer=adam)
    model.save(tmp_path / "new" / "model")
    assert sorted(os.listdir(tmp_path / "new")) == ["model.pdparams"]  # the optimiser has no state yet
    model.fit(batches(4, 2), verbose=0)
    model.save(str(tmp_path / "model"))
    assert sorted(os.listdir(tmp_path)) == ["model.pdopt", "model.pdparams", "new"]
    assert list(paddle.load(str(tmp_path / "model.pdparams"))) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    names = list(paddle.load(str(tmp_path / "model.pdopt")))
    assert f"{model.parameters()[0].name}_moment1_0" in names


def test_a_resumed_training_goes_on_where_it_was(make_model, batches, recorder, tmp_path):
    model = make_model(optimizer=adam)
    model.fit(batches(10, 4), epochs=2, verbose=0, save_dir=tmp_path)
    model.fit(batches(10, 4), epochs=2, verbose=0, callbacks=[recorder])
    straight, whole = recorder.losses(), numbers(model)
    recorder.calls.clear()
    for parameter in model.parameters():
        parameter.set_value(np.zeros(parameter.shape, "float32"))
    model.prepare(adam(model.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    model.load(tmp_path / "1")
    model.fit(batches(10, 4), epochs=2, verbose=0, callbacks=[recorder])
    assert recorder.losses() == straight
    for ours, theirs in zip(numbers(model), whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_the_optimiser_can_be_left_alone(make_model, batches, tmp_path):
    model = make_model(optimizer=adam)
    model.fit(batches(4, 2), verbose=0)
    model.save(tmp_path / "model")
    model.prepare(adam(model.parameters()), nn.CrossEntropyLoss())
    model.load(tmp_path / "model.pdparams", reset_optimizer=True)
    assert not [name for name in model._optimizer.state_dict() if "moment" in name]
    model.load(tmp_path / "model")
    assert [name for name in model._optimizer.state_dict() if "moment" in name]
    os.remove(tmp_path / "model.pdopt")
    model.load(tmp_path / "model")  # parameters alone are a checkpoint too


class Other(nn.Layer):
    def __init__(self, width=9):
        super().__init__()
        self.first = nn.Linear(4, width)

    def forward(self, x):
        return self.first(x)


def test_what_does_not_fit_changes_nothing(tmp_path):
    saved, model = paddle.Model(Other(8)), paddle.Model(Other(9))
    saved.save(tmp_path / "model")
    before = numbers(model)
    with pytest.raises(ValueError, match=r"first.weight receives a shape \[4, 8\], but the expected shape is \[4, 9\]"):
        model.load(tmp_path / "model")
    with pytest.warns(UserWarning, match=r"Skip loading for first\.weight"):
        model.load(tmp_path / "model", skip_mismatch=True)
    extended = Other(8)
    extended.second = nn.Linear(1, 1)
    larger = paddle.Model(extended)
    with pytest.raises(ValueError, match=r"second\.weight is not found"):
        larger.load(tmp_path / "model")
    with pytest.warns(UserWarning, match=r"second\.bias is not found"):
        larger.load(tmp_path / "model", skip_mismatch=True)
    np.testing.assert_array_equal(larger.network.first.weight.numpy(), saved.network.first.weight.numpy())
    for ours, theirs in zip(numbers(model), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_damaged_and_missing_files(make_model, tmp_path):
    model = make_model()
    model.save(tmp_path / "model")
    before = numbers(model)
    with open(tmp_path / "model.pdparams", "r+b") as file:
        file.truncate(50)
    with pytest.raises(ValueError, match="damaged"):
        model.load(tmp_path / "model")
    with pytest.raises(FileNotFoundError, match="no such checkpoint"):
        model.load(tmp_path / "nothing")
    paddle.save([1, 2], str(tmp_path / "list.pdparams"))
    with pytest.raises(ValueError, match="no state dictionary"):
        model.load(tmp_path / "list")
    with pytest.raises(ValueError, match="must end in a name"):
        model.save(f"{tmp_path}/")
    for ours, theirs in zip(numbers(model), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_damaged_optimiser_leaves_the_parameters(make_model, batches, tmp_path):
    model = make_model(optimizer=adam)
    model.fit(batches(4, 2), verbose=0)
    model.save(tmp_path / "model")
    model.fit(batches(4, 2), verbose=0)
    before = numbers(model)
    with open(tmp_path / "model.pdopt", "r+b") as file:
        file.truncate(50)
    with pytest.raises(ValueError, match="damaged"):
        model.load(tmp_path / "model")
    for ours, theirs in zip(numbers(model), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_saving_for_inference_knows_the_shapes(monkeypatch, make_model, batches, tmp_path):
    saved = []

    def writer(network, path, input_spec):
        saved.append((network.training, path, [(list(spec.shape), spec.dtype) for spec in input_spec]))

    monkeypatch.setattr(paddle.jit, "save", writer, raising=False)
    model = make_model()
    with pytest.raises(RuntimeError, match="shapes of the inputs are not known"):
        model.save(tmp_path / "model", training=False)
    model.fit(batches(4, 2), verbose=0)
    with pytest.warns(UserWarning, match=r"\[\[2, 4\]\]"):
        model.save(tmp_path / "model", training=False)
    assert saved == [(False, str(tmp_path / "model"), [([2, 4], paddle.float32)])]
    assert model.network.training
    paddle.Model(model.network, InputSpec([None, 4], "float32", "x")).save(tmp_path / "model", training=False)
    assert saved[-1][2] == [([-1, 4], paddle.float32)]
