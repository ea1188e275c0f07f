"""DeepFM on a table of real measurements: factorisation machine and deep network over the same embeddings.

    python examples/deepfm.py

scikit-learn's breast-cancer table (569 patients, 30 measurements) is turned into what DeepFM is made for, categorical
fields: each measurement becomes the number of its tenth among the training patients. Judged by accuracy and by the area
under the ROC curve, averaged over five folds, so that every patient is a test patient once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from common import Arrays, options, start
from sklearn.datasets import load_breast_cancer  # type: ignore[import-untyped]
from sklearn.model_selection import StratifiedKFold  # type: ignore[import-untyped]

import proa as paddle
from proa import nn

NUM_BINS = 10
WIDTH = 8


class DeepFM(nn.Layer):
    """Scores of both classes from one category for each field."""

    def __init__(self, num_fields: int) -> None:
        super().__init__()
        self.offsets = paddle.arange(num_fields) * NUM_BINS  # every field has its own part of one table
        small = paddle.ParamAttr(initializer=nn.initializer.Normal(std=0.05))
        self.linear = nn.Embedding(num_fields * NUM_BINS, 1, weight_attr=small)
        self.factors = nn.Embedding(num_fields * NUM_BINS, WIDTH, weight_attr=small)
        self.deep = nn.Sequential(
            nn.Flatten(),
            nn.Linear(num_fields * WIDTH, 64),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(64, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )
        self.bias = self.create_parameter([1], is_bias=True)

    def forward(self, fields: paddle.Tensor) -> paddle.Tensor:
        places = fields + self.offsets
        factors = self.factors(places)  # [batch, field, width]
        # The sum over all pairs of fields of their dot products, without going through the pairs.
        pairs = 0.5 * (factors.sum(1).square() - factors.square().sum(1)).sum(-1, keepdim=True)
        score = self.linear(places).sum(1) + pairs + self.deep(factors) + self.bias
        return paddle.concat([paddle.zeros_like(score), score], axis=1)


def binned(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measurements as the number of their tenth; the borders are the training patients'."""
    borders = np.quantile(train, np.linspace(0, 1, NUM_BINS + 1)[1:-1], axis=0)
    fields = [np.empty(train.shape, "int64"), np.empty(test.shape, "int64")]
    for field, part in zip(fields, (train, test)):
        for column in range(part.shape[1]):
            field[:, column] = np.searchsorted(borders[:, column], part[:, column])
    return fields[0], fields[1]


class ProbabilityAuc(paddle.metric.Auc):
    """`Auc` takes probabilities; the network gives scores."""

    def compute(self, scores: paddle.Tensor, labels: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        return nn.functional.softmax(scores), labels


def main(arguments: list[str] | None = None) -> tuple[float, float]:
    """Trains on each fold and returns the mean accuracy and area under the curve."""
    parser = options(__doc__, epochs=30)
    parser.add_argument("--folds", type=int, default=5, help="how many of the five folds to run (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    load: Any = load_breast_cancer  # scikit-learn has no types
    loaded = load(return_X_y=True)
    table: np.ndarray = loaded[0]
    classes: np.ndarray = loaded[1]
    labels = np.asarray(classes, "int64")[:, None]
    figures: list[tuple[float, float]] = []
    divider: Any = StratifiedKFold(5, shuffle=True, random_state=chosen.seed)
    folds: Iterator[tuple[np.ndarray, np.ndarray]] = divider.split(table, classes)
    for number, (chosen_rows, test_rows) in enumerate(folds):
        if number == chosen.folds:
            break
        start(chosen.seed)
        train_rows = chosen_rows[: chosen.limit]
        train_fields, test_fields = binned(table[train_rows], table[test_rows])
        model = paddle.Model(DeepFM(table.shape[1]))
        model.prepare(
            paddle.optimizer.AdamW(learning_rate=2e-3, parameters=model.parameters(), weight_decay=0.01),
            nn.CrossEntropyLoss(),
            [paddle.metric.Accuracy(), ProbabilityAuc()],
        )
        # Whole batches only: a last one of another size would be another program.
        data = Arrays(train_fields, labels[train_rows])
        model.fit(data, batch_size=32, epochs=chosen.epochs, drop_last=True, verbose=0)
        result = model.evaluate(Arrays(test_fields, labels[test_rows]), batch_size=128, verbose=0)
        figures.append((float(result["acc"]), float(result["auc"])))
        print(f"fold {number + 1}: accuracy {figures[-1][0]:.4f}, area under the curve {figures[-1][1]:.4f}")
    accuracy, area = np.mean(figures, axis=0)
    print(f"Mean accuracy {accuracy:.4f}, area under the ROC curve {area:.4f}")
    return float(accuracy), float(area)


if __name__ == "__main__":
    main()
