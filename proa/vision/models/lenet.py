"""LeNet (LeCun et al. 1998), for 28 x 28 images with one channel."""

from __future__ import annotations

from ...eager.tensor import Tensor
from ...nn import Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential
from ...ops.shape.manipulation import flatten


class LeNet(Layer):
    """Two convolutions and, if `num_classes` is above 0, three linear layers.

    Example:
        >>> model = paddle.vision.models.LeNet()
        >>> model(paddle.rand([1, 1, 28, 28])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = Sequential(
            Conv2D(1, 6, 3, stride=1, padding=1), ReLU(), MaxPool2D(2, 2),
            Conv2D(6, 16, 5, stride=1, padding=0), ReLU(), MaxPool2D(2, 2),
        )  # fmt: skip
        if num_classes > 0:
            self.fc = Sequential(Linear(400, 120), Linear(120, 84), Linear(84, num_classes))

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            inputs: images, `[batch, 1, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.LeNet()
            >>> model(paddle.rand([1, 1, 28, 28])).shape
            paddle.Size([1, 10])
        """
        x = self.features(inputs)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x
