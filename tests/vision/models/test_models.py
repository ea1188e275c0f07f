"""The models: parameters as Paddle names them, results as Paddle gives them, pretrained weights from a folder."""

from __future__ import annotations

import hashlib
import inspect

import numpy as np
import pytest

import proa as paddle
import proa.nn.initializer
from proa.vision.models.alexnet import ConvPoolLayer

from .formula import image, weights
from .observed import OUTPUTS, STATES

models = paddle.vision.models


@pytest.fixture
def no_drawing(monkeypatch):
    """Parameters start as zeros: drawing the numbers of the large models takes most of the time."""
    for name in ("_normal", "_uniform"):
        monkeypatch.setattr(proa.nn.initializer, name, lambda shape, dtype, *_: np.zeros(shape, dtype))


def filled(name, options):
    model = getattr(models, name)(**options)
    model.eval()
    missing, unexpected = model.set_state_dict({k: weights(k, tuple(v.shape)) for k, v in model.state_dict().items()})
    assert not missing
    assert not unexpected
    return model


@pytest.mark.parametrize(("name", "options", "entries", "numbers", "digest"), STATES)
def test_state_has_paddles_names_shapes_and_order(no_drawing, name, options, entries, numbers, digest):
    model = getattr(models, name)(**options)
    state = model.state_dict()
    assert len(state) == entries
    text = "\n".join(f"{key} {list(value.shape)}" for key, value in state.items())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
    assert sum(int(np.prod(p.shape)) for p in model.parameters() if not p.stop_gradient) == numbers


@pytest.mark.parametrize(("name", "options", "expected"), OUTPUTS)
def test_result_is_paddles(no_drawing, name, options, expected):
    model = filled(name, options)
    with paddle.no_grad():
        result = model(paddle.to_tensor(image(name)))
    results = result if isinstance(result, tuple) else (result,)
    assert len(results) == len(expected)
    for tensor, (shape, mean, deviation, weighted) in zip(results, expected, strict=True):
        values = tensor.numpy().astype("float64").reshape(-1)
        assert list(tensor.shape) == shape
        scale = deviation + abs(mean)
        found = [values.mean(), values.std(), values @ np.sin(np.arange(values.size) + 1.0) / values.size]
        np.testing.assert_allclose(found, [mean, deviation, weighted / values.size], rtol=0, atol=1e-5 * scale)


def test_every_name_is_there():
    assert len(models.__all__) == 51
    assert all(callable(getattr(models, name)) for name in models.__all__)
    covered = {name for name, *_ in STATES}
    functions = {name for name in models.__all__ if inspect.isfunction(getattr(models, name))}
    assert functions <= covered


def test_models_are_offered_a_level_up():
    assert paddle.vision.resnet18 is models.resnet18
    with pytest.raises(AttributeError):
        _ = paddle.vision.no_such_thing


def test_layers_start_in_paddles_range():
    conv = ConvPoolLayer(3, 40, 3, 1, 1)._conv
    for parameter in (conv.weight, conv.bias):
        assert 0.9 / 27**0.5 < abs(parameter.numpy()).max() <= 1 / 27**0.5


def test_training_lowers_the_loss():
    model = models.LeNet()
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters())
    random = np.random.default_rng(0)
    x = paddle.to_tensor(random.standard_normal((8, 1, 28, 28)).astype("float32"))
    y = paddle.to_tensor(random.integers(0, 10, 8))
    losses = []
    for _ in range(5):
        loss = paddle.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < 0.7 * losses[0]


def test_gradients_reach_every_parameter():
    model = models.shufflenet_v2_x0_25(num_classes=3)
    model(paddle.to_tensor(image("x")[:, :, :32, :32])).sum().backward()
    assert all(p.grad is not None for p in model.parameters() if not p.stop_gradient)


# ---- pretrained weights ----------------------------------------------------------------------------


def test_pretrained_weights_come_from_a_folder(no_drawing, monkeypatch, tmp_path):
    monkeypatch.setenv("PROA_WEIGHTS", str(tmp_path))
    source = filled("squeezenet1_1", {})
    paddle.save(source.state_dict(), str(tmp_path / "SqueezeNet1_1_pretrained.pdparams"))
    loaded = models.squeezenet1_1(pretrained=True)
    for key, value in source.state_dict().items():
        np.testing.assert_array_equal(loaded.state_dict()[key].numpy(), value.numpy())


def test_missing_weights_say_where_they_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("PROA_WEIGHTS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"resnet18\.pdparams.*nothing is downloaded.*PROA_WEIGHTS"):
        models.resnet18(pretrained=True)


def test_weights_of_another_form_are_refused(no_drawing, monkeypatch, tmp_path):
    monkeypatch.setenv("PROA_WEIGHTS", str(tmp_path))
    paddle.save(models.squeezenet1_1().state_dict(), str(tmp_path / "SqueezeNet1_1_pretrained.pdparams"))
    with pytest.raises(ValueError, match="2 have another shape"):
        models.squeezenet1_1(pretrained=True, num_classes=7)


@pytest.mark.parametrize("call", [lambda: models.vgg11(pretrained=True), lambda: models.mobilenet_v2(True, scale=0.5)])
def test_models_without_published_weights_say_so(call):
    with pytest.raises(ValueError, match="no pretrained weights"):
        call()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: models.DenseNet(layers=7), ValueError),
        (lambda: models.SqueezeNet("2.0"), ValueError),
        (lambda: models.ShuffleNetV2(scale=0.7), NotImplementedError),
        (lambda: models.ShuffleNetV2(act="tan"), ValueError),
        (lambda: models.ResNet(models.resnet.BasicBlock, depth=17), ValueError),
        (lambda: models.resnet18(no_such=1), TypeError),
        (lambda: models.mobilenet_v1(scale=-1), ValueError),
        (lambda: models.LeNet()(paddle.zeros([1, 3, 28, 28])), ValueError),
    ],
)
def test_bad_arguments_raise(call, error):
    with pytest.raises(error):
        call()
