"""Small models that between them hold every kind of thing an artifact can: blocks, unknown sizes, buffers, dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import proa as paddle
from proa import nn
from proa.nn import functional as F
from proa.static import InputSpec


class Picture(nn.Layer):
    """Convolution, batch norm with buffers, pooling, a dictionary of results."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2D(4)
        self.label = nn.Linear(4, 3)

    def forward(self, image: Any) -> Any:
        features = F.relu(self.norm(self.conv(image)))
        scores = self.label(features.mean([2, 3]))
        return {"scores": F.softmax(scores), "rest": [features[:, 1:3, ::2], scores.argmax(-1)], "name": "picture"}


class Words(nn.Layer):
    """Embedding, LSTM, attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 8)
        self.lstm = nn.LSTM(8, 8)
        self.attention = nn.MultiHeadAttention(8, 2)

    def forward(self, words: Any) -> Any:
        states, (last, _) = self.lstm(self.embed(words))
        return self.attention(states), last


class Steps(nn.Layer):
    """A condition and a loop over tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = self.create_parameter([3, 3])

    def forward(self, x: Any, count: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        else:
            x = x * 2
        step = paddle.zeros([], "int64")
        while step < count:
            x = F.tanh(x @ self.weight)
            step = step + 1
        return x, step


EXAMPLES: dict[str, tuple[Callable[[], Any], list[InputSpec]]] = {
    "picture": (Picture, [InputSpec([None, 3, 8, 8], "float32", "image")]),
    "words": (Words, [InputSpec([None, None], "int64", "words")]),
    "steps": (Steps, [InputSpec([None, 3], "float32", "x"), InputSpec([], "int64", "count")]),
}


def save_example(name: str, path: str) -> Any:
    """Saves one of them; the layer."""
    make, specs = EXAMPLES[name]
    paddle.seed(7)
    layer = make()
    layer.eval()
    paddle.jit.save(layer, path, specs)
    return layer
