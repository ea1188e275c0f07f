"""ResNet-18 from paddle.vision on handwritten digits, with augmentation in worker processes.

    python examples/resnet18.py
    python examples/resnet18.py --amp                # in mixed precision: for a GPU, few CPUs are faster with it

scikit-learn's 8 x 8 digits are enlarged to 32 x 32 colour pictures; each is turned, moved and cropped a little anew in
every epoch. The rate of learning warms up and then falls along a cosine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from common import digits, options, start
from PIL import Image
from rich.progress import track

import proa as paddle
import proa.nn.functional as F
from proa.vision import models, transforms

SIDE = 32


class Pictures(paddle.io.Dataset):
    """The digits as pictures, with a transform."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, transform: Callable[[Image.Image], np.ndarray]) -> None:
        self.pictures = [Image.fromarray(np.uint8(image[0] * 255)).convert("RGB") for image in images]
        self.labels = labels
        self.transform = transform

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return self.transform(self.pictures[index]), self.labels[index]

    def __len__(self) -> int:
        return len(self.pictures)


def augmented() -> transforms.Compose:
    return transforms.Compose(
        [
            transforms.Resize(SIDE + 4),
            transforms.RandomRotation(10),
            transforms.RandomCrop(SIDE),
            transforms.ToTensor(),
            transforms.Normalize([0.5] * 3, [0.5] * 3),
        ]
    )


def plain() -> transforms.Compose:
    return transforms.Compose(
        [transforms.Resize(SIDE), transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)]
    )


def evaluate(model: paddle.nn.Layer, loader: paddle.io.DataLoader) -> float:
    metric = paddle.metric.Accuracy()
    model.eval()
    with paddle.no_grad():
        for images, labels in loader:
            metric.update(metric.compute(model(images), labels.unsqueeze(-1)))
    model.train()
    return float(metric.accumulate())


def main(arguments: list[str] | None = None) -> float:
    """Trains and returns the accuracy on digits that were not trained on."""
    parser = options(__doc__, epochs=8)
    parser.add_argument("--workers", type=int, default=2, help="processes that read and augment (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="pictures in a batch (default: %(default)s)")
    parser.add_argument("--amp", action="store_true", help="compute in bfloat16 where that is safe")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    images, labels = digits()
    num_test = min(384, chosen.limit or 384)
    train = Pictures(images[384:][: chosen.limit], labels[384:][: chosen.limit], augmented())
    test = Pictures(images[:num_test], labels[:num_test], plain())
    workers = {"num_workers": chosen.workers, "persistent_workers": chosen.workers > 0}
    train_loader = paddle.io.DataLoader(train, batch_size=chosen.batch, shuffle=True, drop_last=True, **workers)
    test_loader = paddle.io.DataLoader(test, batch_size=chosen.batch)

    model = models.resnet18(num_classes=10)
    steps = chosen.epochs * len(train_loader)
    warm = max(1, steps // 10)
    cosine = paddle.optimizer.lr.CosineAnnealingDecay(0.05, T_max=max(1, steps - warm))
    rate = paddle.optimizer.lr.LinearWarmup(cosine, warmup_steps=warm, start_lr=0.005, end_lr=0.05)
    optimizer = paddle.optimizer.Momentum(
        learning_rate=rate, momentum=0.9, parameters=model.parameters(), weight_decay=5e-4, use_nesterov=True
    )
    accuracy = 0.0
    for epoch in range(1, chosen.epochs + 1):
        losses: list[paddle.Tensor] = []
        for pictures, targets in track(train_loader, f"epoch {epoch:>2}", total=len(train_loader), transient=True):
            with paddle.amp.auto_cast(enable=chosen.amp, dtype="bfloat16"):
                loss = F.cross_entropy(model(pictures), targets, label_smoothing=0.05)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(loss)
        accuracy = evaluate(model, test_loader)
        mean = math.fsum(float(loss) for loss in losses) / len(losses)
        print(f"epoch {epoch:>2}: loss {mean:.4f}, test accuracy {accuracy:.4f}")
    print(f"Test accuracy {accuracy:.4f} on {num_test} digits")
    return accuracy


if __name__ == "__main__":
    main()
