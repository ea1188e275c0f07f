"""A tiny model with fixed weights, its data, and a callback that writes down what it sees."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import nn


class Batches:
    """A loader: the same samples in batches, in order."""

    def __init__(self, samples, batch_size, drop_last=False):
        self.x = (np.arange(samples * 4).reshape(samples, 4) % 7).astype("float32") / 7
        self.y = (np.arange(samples) % 3).astype("int64")[:, None]
        stop = samples - samples % batch_size if drop_last else samples
        self.slices = [slice(start, start + batch_size) for start in range(0, stop, batch_size)]

    def __len__(self):
        return len(self.slices)

    def __iter__(self):
        for part in self.slices:
            yield self.x[part], self.y[part]


def fixed_network():
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    for position, parameter in enumerate(network.parameters()):
        numbers = (np.arange(parameter.size).reshape(parameter.shape) % 5 - 2).astype("float32") / (4 + position)
        parameter.set_value(numbers)
    return network


def fixed_model(metrics=True, optimizer=None, **kwargs):
    model = paddle.Model(fixed_network())
    chosen = optimizer(model.parameters()) if optimizer else paddle.optimizer.SGD(0.1, parameters=model.parameters())
    model.prepare(chosen, nn.CrossEntropyLoss(), paddle.metric.Accuracy() if metrics is True else metrics, **kwargs)
    return model


class Recorder(paddle.callbacks.Callback):
    """Every call: the hook's name, its number if it has one, and a copy of the logs."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def names(self):
        return [call[0] for call in self.calls]

    def losses(self):
        return [round(call[2]["loss"][0], 4) for call in self.calls if call[0] == "on_train_batch_end"]


def _hook(name):
    def write_down(self, *arguments):
        logs = arguments[-1]
        number = arguments[0] if len(arguments) == 2 else None
        self.calls.append((name, number, None if logs is None else dict(logs)))

    return write_down


for _name in [name for name in dir(paddle.callbacks.Callback) if name.startswith("on_")]:
    setattr(Recorder, _name, _hook(_name))


@pytest.fixture
def batches():
    return Batches


@pytest.fixture
def make_model():
    return fixed_model


@pytest.fixture
def make_network():
    return fixed_network


@pytest.fixture
def recorder():
    return Recorder()
