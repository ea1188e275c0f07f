"""Ten small recurrent and attention models, as users write them, for checks against the real package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from proa.nn import functional as F
from proa.static import InputSpec

_WORDS = 50


class Tagger(nn.Layer):
    """Embedding, a bidirectional LSTM of two layers, a label for each word."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(_WORDS, 12)
        self.lstm = nn.LSTM(12, 10, 2, direction="bidirect")
        self.label = nn.Linear(20, 5)

    def forward(self, words: Any, lengths: Any) -> Any:
        states, _ = self.lstm(self.embed(words), sequence_length=lengths)
        return F.softmax(self.label(states))


class Classifier(nn.Layer):
    """A recurrent layer of some kind; its last state is classified."""

    def __init__(self, layer: Callable[..., Any], **options: Any) -> None:
        super().__init__()
        self.embed = nn.Embedding(_WORDS, 12)
        self.rnn = layer(12, 10, **options)
        self.label = nn.Linear(10, 3)

    def forward(self, words: Any) -> Any:
        _, last = self.rnn(self.embed(words))
        last = last[0] if isinstance(last, (tuple, list)) else last
        return self.label(F.dropout(last[-1], 0.3, training=self.training))


class CellLoop(nn.Layer):
    """A cell called step by step in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(6, 8)

    def forward(self, x: Any) -> Any:
        state = paddle.zeros([x.shape[0], 8])
        outputs = []
        for step in range(5):
            out, state = self.cell(x[:, step], state)
            outputs.append(out)
        return paddle.stack(outputs, 1), state


class Encoder(nn.Layer):
    """Words with positions, two transformer layers, the mean over words that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(_WORDS, 16)
        self.place = nn.Embedding(64, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.label = nn.Linear(16, 4)

    def forward(self, words: Any) -> Any:
        here = (words != 0).astype("float32")
        places = paddle.arange(words.shape[1]).unsqueeze(0)
        x = self.embed(words) + self.place(places)
        mask = ((here - 1) * 1e9).unsqueeze(1).unsqueeze(1)
        x = self.encoder(x, mask) * here.unsqueeze(-1)
        return F.log_softmax(self.label(x.sum(1) / here.sum(1, keepdim=True).clip(min=1.0)))


class Decoder(nn.Layer):
    """A causal language model with tied weights."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(_WORDS, 16)
        self.norms = nn.LayerList([nn.LayerNorm(16) for _ in range(3)])
        self.projections = nn.LayerList([nn.Linear(16, 48) for _ in range(2)])
        self.outs = nn.LayerList([nn.Linear(16, 16) for _ in range(2)])

    def forward(self, words: Any) -> Any:
        x = self.embed(words)
        for norm, projection, out in zip(self.norms, self.projections, self.outs, strict=False):
            parts = projection(norm(x)).reshape([0, 0, 4, 12]).split(3, -1)
            attended = F.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + out(attended.reshape([0, 0, 16]))
        return paddle.matmul(self.norms[2](x), self.embed.weight, transpose_y=True)


class Translator(nn.Layer):
    """`nn.Transformer`: encoder and decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(_WORDS, 16)
        self.transformer = nn.Transformer(16, 2, 1, 1, 32)
        self.words = nn.Linear(16, _WORDS)

    def forward(self, source: Any, target: Any) -> Any:
        return self.words(self.transformer(self.embed(source), self.embed(target)))


class PatchTransformer(nn.Layer):
    """Pictures in patches, with a class token."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2D(3, 16, 8, stride=8)
        self.token = self.create_parameter([1, 1, 16])
        self.places = self.create_parameter([1, 17, 16])
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, normalize_before=True), 2)
        self.label = nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose([0, 2, 1])
        token = self.token.expand([x.shape[0], 1, 16])
        x = paddle.concat([token, x], 1) + self.places
        return self.label(self.encoder(x)[:, 0])


class ConvRecurrent(nn.Layer):
    """The shape of a text recogniser: convolutions, then a recurrent layer over the columns."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2),
            nn.Conv2D(8, 16, 3, padding=1), nn.BatchNorm2D(16), nn.Hardswish(), nn.MaxPool2D((8, 2), (8, 2)),
        )  # fmt: skip
        self.rnn = nn.LSTM(16, 12, direction="bidirect")
        self.label = nn.Linear(24, 20)

    def forward(self, x: Any) -> Any:
        x = self.features(x).squeeze(2).transpose([0, 2, 1])
        return F.softmax(self.label(self.rnn(x)[0]), -1)


def _words(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, _WORDS, shape)


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(shape).astype("float32")


def _spec(shape: list[int | None], dtype: str = "int64") -> InputSpec:
    return InputSpec(shape, dtype)


# name -> (layer, specs, arrays)
SEQUENCE_MODELS: dict[str, tuple[Callable[[], Any], list[InputSpec], list[np.ndarray]]] = {
    "lstm tagger": (Tagger, [_spec([None, 7]), _spec([None])], [_words(3, 7), np.array([7, 2, 5])]),
    "lstm classifier": (lambda: Classifier(nn.LSTM), [_spec([None, None])], [_words(2, 9)]),
    "gru classifier": (lambda: Classifier(nn.GRU, num_layers=2), [_spec([None, None])], [_words(2, 9)]),
    "rnn classifier": (lambda: Classifier(nn.SimpleRNN), [_spec([None, 6])], [_words(2, 6)]),
    "gru cell loop": (CellLoop, [_spec([None, 5, 6], "float32")], [_numbers(2, 5, 6)]),
    "transformer encoder": (Encoder, [_spec([None, None])], [_words(2, 8)]),
    "causal decoder": (Decoder, [_spec([None, None])], [_words(2, 8)]),
    "transformer": (Translator, [_spec([None, 6]), _spec([None, None])], [_words(2, 6), _words(2, 4)]),
    "patch transformer": (PatchTransformer, [_spec([None, 3, 32, 32], "float32")], [_numbers(2, 3, 32, 32)]),
    "conv recurrent": (ConvRecurrent, [_spec([None, 1, 16, None], "float32")], [_numbers(2, 1, 16, 40)]),
}
