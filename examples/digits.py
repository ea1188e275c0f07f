"""Train a classifier of handwritten digits in plain eager code: no decorator, no compile call.

    make demo

The 1,797 images of 8 x 8 pixels are real handwriting and ship inside scikit-learn, so nothing is
downloaded. The program trains a small convolutional network, tests it on digits it has not seen,
draws its predictions, saves it, loads it into a fresh network and checks that nothing changed.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

import proa as paddle
import proa.nn.functional as F
from proa import nn

NUM_TRAIN = 1408  # 22 full batches; the other 389 images are for testing
BATCH_SIZE = 64
NUM_EPOCHS = 12
OUTPUT = Path(__file__).resolve().parents[1] / "build" / "demo"


class DigitNet(nn.Layer):
    """Two convolutions, one pooling, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(1, 16, kernel_size=3, padding=1)
        self.norm1 = nn.BatchNorm2D(16)
        self.conv2 = nn.Conv2D(16, 32, kernel_size=3, padding=1)
        self.norm2 = nn.BatchNorm2D(32)
        self.relu = nn.ReLU()
        self.hidden = nn.Linear(32 * 4 * 4, 64)
        self.output = nn.Linear(64, 10)

    def forward(self, images: paddle.Tensor) -> paddle.Tensor:
        x = self.relu(self.norm1(self.conv1(images)))
        x = self.relu(self.norm2(self.conv2(x)))
        x = F.max_pool2d(x, kernel_size=2)
        x = paddle.flatten(x, start_axis=1)
        return self.output(self.relu(self.hidden(x)))


def load_data() -> tuple[np.ndarray, np.ndarray]:
    """All images as float32[count, 1, 8, 8] between 0 and 1, all labels as int64, shuffled."""
    load: Any = load_digits  # scikit-learn has no types
    loaded = load(return_X_y=True)
    pixels: np.ndarray = loaded[0]
    digits: np.ndarray = loaded[1]
    images = np.asarray(pixels, dtype="float32").reshape(-1, 1, 8, 8) / 16.0
    labels = np.asarray(digits, dtype="int64")
    order = np.random.default_rng(0).permutation(len(images))
    return images[order], labels[order]


def train(model: DigitNet, images: np.ndarray, labels: np.ndarray, console: Console) -> None:
    optimizer = paddle.optimizer.Adam(learning_rate=2e-3, parameters=model.parameters())
    shuffle = np.random.default_rng(1)
    progress = Progress(
        TextColumn("epoch {task.fields[epoch]:>2}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TextColumn("accuracy {task.fields[accuracy]:.3f}"),
        TextColumn("{task.fields[rate]:.0f} steps/s"),
        TimeElapsedColumn(),
        console=console,
    )
    num_steps = NUM_EPOCHS * (len(images) // BATCH_SIZE)
    model.train()
    with progress:
        bar = progress.add_task("train", total=num_steps, epoch=1, loss=0.0, accuracy=0.0, rate=0.0)
        for epoch in range(1, NUM_EPOCHS + 1):
            order = shuffle.permutation(len(images))
            epoch_started = time.perf_counter()
            num_correct = 0.0
            for step, start in enumerate(range(0, len(images), BATCH_SIZE), start=1):
                chosen = order[start : start + BATCH_SIZE]
                image_batch = paddle.to_tensor(images[chosen])
                label_batch = paddle.to_tensor(labels[chosen])

                logits = model(image_batch)
                loss = F.cross_entropy(logits, label_batch)
                hits = (paddle.argmax(logits, axis=1) == label_batch).astype("float32").sum()
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()

                # Only here does somebody look at a value, after the whole step was written down.
                num_correct += hits.item()
                progress.update(
                    bar,
                    advance=1,
                    epoch=epoch,
                    loss=loss.item(),
                    accuracy=num_correct / (step * BATCH_SIZE),
                    rate=step / (time.perf_counter() - epoch_started),
                )


def predict(model: DigitNet, images: np.ndarray) -> np.ndarray:
    model.eval()
    with paddle.no_grad():
        return paddle.argmax(model(paddle.to_tensor(images)), axis=1).numpy()


def draw(images: np.ndarray, labels: np.ndarray, predictions: np.ndarray, path: Path) -> None:
    """A grid of test digits, every mistake first: its title is red and names the right digit."""
    wrong_first = np.argsort(predictions == labels, kind="stable")[:40]
    figure: Any = Figure(figsize=(8, 6))  # Matplotlib's own types are not complete
    for axis, index in zip(figure.subplots(5, 8).flat, wrong_first):
        right = predictions[index] == labels[index]
        title = f"{predictions[index]}" if right else f"{predictions[index]}, is {labels[index]}"
        axis.imshow(images[index, 0], cmap="gray_r")
        axis.set_title(title, color="black" if right else "red", fontsize=10)
        axis.axis("off")
    figure.suptitle("Predictions on test digits (mistakes in red)")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    console = Console()
    paddle.seed(2024)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    images, labels = load_data()
    test_images, test_labels = images[NUM_TRAIN:], labels[NUM_TRAIN:]

    model = DigitNet()
    train(model, images[:NUM_TRAIN], labels[:NUM_TRAIN], console)
    predictions = predict(model, test_images)
    num_right = int((predictions == test_labels).sum())
    accuracy = num_right / len(test_labels)
    console.print(f"Test accuracy {accuracy:.4f} ({num_right} of {len(test_labels)} right)")

    picture = OUTPUT / "predictions.png"
    draw(test_images, test_labels, predictions, picture)

    weights = OUTPUT / "digits.pdparams"
    paddle.save(model.state_dict(), str(weights))
    reloaded = DigitNet()
    reloaded.set_state_dict(paddle.load(str(weights)))
    assert np.array_equal(predict(reloaded, test_images), predictions), (
        "the reloaded model predicts differently from the saved one"
    )
    console.print("Saved, loaded into a fresh model: the predictions are identical")

    console.print("What proa compiled by itself (only what pays: a short run may be over before):")
    print(paddle.jit.explain())
    print(f"Files: {picture} and {weights}")


if __name__ == "__main__":
    main()
