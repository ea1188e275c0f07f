"""Training a convolutional network on pictures of MNIST's size (28 x 28, batch 64) with Adam."""

from __future__ import annotations

from typing import Any

from benchmarks.workloads.common import classification_batches, set_paddle_parameters, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families

BATCH = 64
IMAGE = (1, 28, 28)
NUM_CLASSES = 10
CHANNELS = (32, 64)
HIDDEN = 128


def batches() -> Batches:
    return classification_batches((BATCH, *IMAGE), NUM_CLASSES)


def paddle_cnn(paddle: Any) -> Any:
    """Two convolutions, each with ReLU and pooling, and two linear layers."""
    nn = paddle.nn
    model = nn.Sequential(
        nn.Conv2D(1, CHANNELS[0], 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(CHANNELS[0], CHANNELS[1], 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(CHANNELS[1] * 7 * 7, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, NUM_CLASSES),
    )
    set_paddle_parameters(model)
    return model


def torch_cnn(torch: Any) -> Any:
    """The same in PyTorch."""
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, CHANNELS[0], 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(CHANNELS[0], CHANNELS[1], 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(CHANNELS[1] * 7 * 7, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, NUM_CLASSES),
    )
    set_torch_parameters(torch, model)
    return model


FAMILIES = training_families(paddle_cnn, torch_cnn, batches, "Adam")
