"""Training a small residual network on CIFAR-size images: three stages of one block, SGD."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

from benchmarks.workloads.common import (
    classification_batches,
    set_paddle_parameters,
    set_torch_parameters,
)

CHANNELS = (16, 32, 64)
IMAGE = (3, 32, 32)
NUM_CLASSES = 10
LEARNING_RATE = 0.01


def paddle_resnet(paddle: Any) -> Any:
    """The model as Paddle layers."""
    nn, relu = paddle.nn, paddle.nn.functional.relu

    def convolution(fan_in: int, fan_out: int, kernel: int, stride: int) -> Any:
        return nn.Sequential(
            nn.Conv2D(fan_in, fan_out, kernel, stride, kernel // 2, bias_attr=False),
            nn.BatchNorm2D(fan_out),
        )

    class Block(nn.Layer):
        def __init__(self, fan_in: int, fan_out: int, stride: int) -> None:
            super().__init__()
            self.first = convolution(fan_in, fan_out, 3, stride)
            self.second = convolution(fan_out, fan_out, 3, 1)
            self.shortcut = convolution(fan_in, fan_out, 1, stride) if stride != 1 else None

        def forward(self, x: Any) -> Any:
            straight = x if self.shortcut is None else self.shortcut(x)
            return relu(straight + self.second(relu(self.first(x))))

    class ResNet(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.stem = convolution(IMAGE[0], CHANNELS[0], 3, 1)
            self.stages = nn.Sequential(
                Block(CHANNELS[0], CHANNELS[0], 1),
                Block(CHANNELS[0], CHANNELS[1], 2),
                Block(CHANNELS[1], CHANNELS[2], 2),
            )
            self.head = nn.Linear(CHANNELS[2], NUM_CLASSES)

        def forward(self, x: Any) -> Any:
            return self.head(self.stages(relu(self.stem(x))).mean(axis=[2, 3]))

    model = ResNet()
    set_paddle_parameters(model)
    return model


class PaddleResNet:
    """`num_steps` training steps, the loss read at the end."""

    def __init__(self, paddle: Any, num_steps: int = 5, batch: int = 8) -> None:
        self.cross_entropy = paddle.nn.functional.cross_entropy
        self.model = paddle_resnet(paddle)
        self.optimizer = paddle.optimizer.SGD(learning_rate=LEARNING_RATE, parameters=self.model.parameters())
        self.batches = [
            (paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in classification_batches((batch, *IMAGE), NUM_CLASSES)
        ]
        self.num_steps = num_steps

    def run(self) -> float:
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            loss = self.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
        # The stem's filter is the last thing that a step brings up to date.
        self.model.stem[0].weight.numpy()
        return loss.item()


def torch_resnet(torch: Any) -> Any:
    """The same model as PyTorch modules."""
    nn, relu = torch.nn, torch.nn.functional.relu

    def convolution(fan_in: int, fan_out: int, kernel: int, stride: int) -> Any:
        return nn.Sequential(
            nn.Conv2d(fan_in, fan_out, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(fan_out),
        )

    class Block(nn.Module):
        def __init__(self, fan_in: int, fan_out: int, stride: int) -> None:
            super().__init__()
            self.first = convolution(fan_in, fan_out, 3, stride)
            self.second = convolution(fan_out, fan_out, 3, 1)
            self.shortcut = convolution(fan_in, fan_out, 1, stride) if stride != 1 else None

        def forward(self, x: Any) -> Any:
            straight = x if self.shortcut is None else self.shortcut(x)
            return relu(straight + self.second(relu(self.first(x))))

    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = convolution(IMAGE[0], CHANNELS[0], 3, 1)
            self.stages = nn.Sequential(
                Block(CHANNELS[0], CHANNELS[0], 1),
                Block(CHANNELS[0], CHANNELS[1], 2),
                Block(CHANNELS[1], CHANNELS[2], 2),
            )
            self.head = nn.Linear(CHANNELS[2], NUM_CLASSES)

        def forward(self, x: Any) -> Any:
            return self.head(self.stages(relu(self.stem(x))).mean(dim=(2, 3)))

    model = ResNet()
    set_torch_parameters(torch, model)
    return model


class TorchResNet:
    """The same loop in PyTorch."""

    def __init__(self, torch: Any, num_steps: int = 5, batch: int = 8) -> None:
        self.cross_entropy = torch.nn.functional.cross_entropy
        self.model = torch_resnet(torch)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=LEARNING_RATE)
        self.batches = [
            (torch.from_numpy(x), torch.from_numpy(y)) for x, y in classification_batches((batch, *IMAGE), NUM_CLASSES)
        ]
        self.num_steps = num_steps

    def run(self) -> float:
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            loss = self.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.model.stem[0].weight.detach().numpy()
        return loss.item()


FAMILIES = {"paddle": PaddleResNet, "torch": TorchResNet}
