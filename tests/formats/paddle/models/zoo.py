"""The models that are exchanged. The same code builds them with Paddle and with proa: `build(framework, name)`.

A model is a Layer, the shapes of its inputs (None: unknown) and a function that makes arrays for it. Nothing here imports
either framework.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Built:
    """A model in evaluation mode, its inputs as (shape, dtype), and arrays to run it with (two sets of sizes or one)."""

    layer: Any
    specs: list[Any]
    arrays: list[list[np.ndarray]]


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tokens(*shape: int, seed: int = 0, vocabulary: int = 50) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, vocabulary, shape)


VISION = [
    "alexnet",
    "densenet121",
    "densenet161",
    "densenet169",
    "densenet201",
    "densenet264",
    "googlenet",
    "inception_v3",
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext50_64x4d",
    "resnext101_32x4d",
    "resnext101_64x4d",
    "resnext152_32x4d",
    "resnext152_64x4d",
    "shufflenet_v2_swish",
    "shufflenet_v2_x0_25",
    "shufflenet_v2_x0_33",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
    "squeezenet1_0",
    "squeezenet1_1",
    "vgg11",
    "vgg13",
    "vgg16",
    "vgg19",
    "wide_resnet50_2",
    "wide_resnet101_2",
]
# Classes with parameters of their own; the others are what the functions above make.
VISION_CLASSES: dict[str, dict[str, Any]] = {
    "LeNet": {}, "ResNet_without_head": {"depth": 18, "num_classes": 0}, "MobileNetV2_narrow": {"scale": 0.5},
    "DenseNet_classes": {"layers": 121, "num_classes": 10}, "VGG_batch_norm": {}, "ShuffleNetV2_small": {"scale": 0.25},
    "SqueezeNet_classes": {"version": "1.1", "num_classes": 10}, "MobileNetV1_narrow": {"scale": 0.25},
    "MobileNetV3Small_narrow": {"scale": 0.5}, "MobileNetV3Large_narrow": {"scale": 0.5},
    "GoogLeNet_classes": {"num_classes": 7},
    "InceptionV3_classes": {"num_classes": 5}, "AlexNet_classes": {"num_classes": 6},
}  # fmt: skip


def vision(paddle: Any, name: str) -> Built:
    models = paddle.vision.models
    if name == "LeNet":
        layer, size, channels = models.LeNet(), 28, 1
    elif name == "VGG_batch_norm":
        layer, size, channels = models.vgg11(batch_norm=True, num_classes=4), 64, 3
    elif name == "ResNet_without_head":
        layer, size, channels = models.resnet18(num_classes=0), 64, 3
    elif name in VISION_CLASSES:
        layer, size, channels = getattr(models, name.partition("_")[0])(**VISION_CLASSES[name]), 64, 3
    else:
        layer, size, channels = getattr(models, name)(), 64, 3
    lower = name.lower()
    if lower.startswith("inception"):
        size = 96
    if lower.startswith(("alexnet", "googlenet")):
        size = 224  # their linear layers want it
    layer.eval()
    side = size if lower.startswith(("alexnet", "googlenet", "lenet", "shufflenet")) else None
    batch = 2 if lower.startswith("shufflenet") else None  # Paddle saves these for fixed sizes only
    return Built(layer, [([batch, channels, side, side], "float32")], [[floats(2, channels, size, size)]])


def sequence_models(paddle: Any) -> dict[str, Callable[[], Built]]:
    """Recurrent and attention models, small, written as users write them."""
    nn, F = paddle.nn, paddle.nn.functional

    class Tagger(nn.Layer):
        def __init__(self, kind: Any, **options: Any) -> None:
            super().__init__()
            self.embedding = nn.Embedding(50, 12)
            self.recurrent = kind(12, 16, **options)
            width = 32 if options.get("direction") == "bidirect" else 16
            self.head = nn.Linear(width, 7)

        def forward(self, ids: Any) -> Any:
            found, _ = self.recurrent(self.embedding(ids))
            return self.head(found)

    class WithLengths(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(6, 8, direction="bidirect")

        def forward(self, x: Any, lengths: Any) -> Any:
            outputs, (hidden, _cell) = self.lstm(x, sequence_length=lengths)
            return outputs, hidden.transpose([1, 0, 2])

    class Encoder(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", normalize_before=True)
            self.encoder = nn.TransformerEncoder(layer, 2)

        def forward(self, x: Any) -> Any:
            return self.encoder(x)

    class Translator(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = nn.Transformer(16, 2, 2, 2, 32)

        def forward(self, source: Any, target: Any) -> Any:
            return self.transformer(source, target)

    class Attention(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiHeadAttention(16, 4, kdim=8, vdim=12)

        def forward(self, query: Any, key: Any, value: Any) -> Any:
            return self.attention(query, key, value)

    class Bert(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 16, padding_idx=0)
            self.positions = nn.Embedding(64, 16)
            self.kinds = nn.Embedding(2, 16)
            self.norm = nn.LayerNorm(16)
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, activation="gelu"), 2)
            self.pooler = nn.Linear(16, 16)

        def forward(self, ids: Any) -> Any:
            mask = ((ids == 0).astype("float32") * -1e4).unsqueeze([1, 2])
            ones = paddle.ones_like(ids)
            positions = paddle.cumsum(ones, axis=-1) - ones
            x = self.words(ids) + self.positions(positions) + self.kinds(paddle.zeros_like(ids))
            encoded = self.encoder(self.norm(x), mask)
            return encoded, F.tanh(self.pooler(encoded[:, 0]))

    class Gpt(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions = nn.Embedding(50, 16), nn.Embedding(64, 16)
            self.norms = nn.LayerList([nn.LayerNorm(16) for _ in range(5)])
            self.attend = nn.LayerList([nn.Linear(16, 48) for _ in range(2)])
            self.project = nn.LayerList([nn.Linear(16, 16) for _ in range(2)])
            self.feed = nn.LayerList(
                [nn.Sequential(nn.Linear(16, 64), nn.GELU(True), nn.Linear(64, 16)) for _ in range(2)]
            )

        def forward(self, ids: Any) -> Any:
            length = paddle.shape(ids)[1]
            x = self.words(ids) + self.positions(paddle.arange(0, length, dtype="int64"))
            mask = paddle.triu(paddle.full([length, length], -1e9, dtype="float32"), 1)
            for i in range(2):
                batch = paddle.shape(x)[0]
                parts = (
                    self.attend[i](self.norms[2 * i](x)).reshape([batch, length, 3, 4, 4]).transpose([2, 0, 3, 1, 4])
                )
                query, key, value = parts[0], parts[1], parts[2]
                weights = F.softmax(paddle.matmul(query, key, transpose_y=True) * 0.5 + mask, -1)
                x = x + self.project[i](
                    paddle.matmul(weights, value).transpose([0, 2, 1, 3]).reshape([batch, length, 16])
                )
                x = x + self.feed[i](self.norms[2 * i + 1](x))
            return paddle.matmul(self.norms[4](x), self.words.weight, transpose_y=True)

    class Seq2Seq(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(50, 8)
            self.encoder = nn.GRU(8, 12)
            self.cell = nn.LSTMCell(8 + 12, 12)
            self.head = nn.Linear(12, 50)

        def forward(self, ids: Any) -> Any:
            memory, last = self.encoder(self.embedding(ids))
            hidden, cell = last[0], paddle.zeros_like(last[0])
            token = paddle.zeros_like(ids[:, 0])
            scores = []
            for _ in range(5):
                weights = F.softmax(paddle.bmm(memory, hidden.unsqueeze(-1)).squeeze(-1), -1)
                context = paddle.bmm(weights.unsqueeze(1), memory).squeeze(1)
                out, (hidden, cell) = self.cell(paddle.concat([self.embedding(token), context], -1), (hidden, cell))
                logits = self.head(out)
                token = paddle.argmax(logits, -1)
                scores.append(logits)
            return paddle.stack(scores, 1)

    class Crnn(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2D(1, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2, 2),
                nn.Conv2D(8, 16, 3, padding=1, bias_attr=False), nn.BatchNorm2D(16), nn.Hardswish(),
                nn.MaxPool2D((2, 1), (2, 1)),
            )  # fmt: skip
            self.rnn = nn.LSTM(16 * 4, 10, 2, direction="bidirect")
            self.head = nn.Linear(20, 11)

        def forward(self, x: Any) -> Any:
            x = self.features(x)
            _, channels, height, _ = x.shape
            x = x.reshape([paddle.shape(x)[0], channels * height, -1]).transpose([0, 2, 1])
            return F.softmax(self.head(self.rnn(x)[0]), -1)

    class Greedy(nn.Layer):
        """Goes on until every sequence has ended: a loop on values."""

        def __init__(self) -> None:
            super().__init__()
            self.step = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            count = paddle.zeros([1], "int64")
            while paddle.max(paddle.abs(x)) > 0.05 and count < 20:
                if paddle.mean(x) > 0:
                    x = x * 0.5
                else:
                    x = F.tanh(self.step(x)) * 0.7
                count = count + 1
            return x, count

    class VisionTransformer(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2D(3, 16, 8, 8)
            self.token = self.create_parameter([1, 1, 16])
            self.positions = self.create_parameter([1, 17, 16])
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2)
            self.head = nn.Linear(16, 4)

        def forward(self, x: Any) -> Any:
            x = self.patches(x).flatten(2).transpose([0, 2, 1])
            token = self.token.expand([paddle.shape(x)[0], -1, -1])
            return self.head(self.encoder(paddle.concat([token, x], 1) + self.positions)[:, 0])

    class Windows(nn.Layer):
        """Shifted windows with attention inside them."""

        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.head = nn.Linear(8, 24), nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            batch, height, width = paddle.shape(x)[0], x.shape[1], x.shape[2]
            x = paddle.roll(x, [-2, -2], [1, 2])
            parts = (
                x.reshape([batch, height // 4, 4, width // 4, 4, 8]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 16, 8])
            )
            query, key, value = self.qkv(parts).chunk(3, -1)
            weights = F.softmax(paddle.matmul(query, key, transpose_y=True) / 8**0.5, -1)
            parts = self.head(paddle.matmul(weights, value))
            parts = parts.reshape([batch, height // 4, width // 4, 4, 4, 8]).transpose([0, 1, 3, 2, 4, 5])
            return paddle.roll(parts.reshape([batch, height, width, 8]), [2, 2], [1, 2])

    class UNet(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.down1, self.down2 = nn.Conv2D(3, 8, 3, 2, 1), nn.Conv2D(8, 16, 3, 2, 1)
            self.up = nn.Conv2DTranspose(16, 8, 2, 2)
            self.out = nn.Conv2D(16, 2, 1)

        def forward(self, x: Any) -> Any:
            first = F.leaky_relu(self.down1(x))
            second = F.silu(self.down2(first))
            joined = paddle.concat([F.interpolate(self.up(second), paddle.shape(first)[2:], mode="nearest"), first], 1)
            return F.interpolate(self.out(joined), size=paddle.shape(x)[2:], mode="bilinear", align_corners=False)

    class Masked(nn.Layer):
        """A mean over the valid steps, by a mask made from lengths."""

        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1D(4, 8, 3, padding=1)
            self.norm = nn.GroupNorm(2, 8)

        def forward(self, x: Any, lengths: Any) -> Any:
            x = F.mish(self.norm(self.conv(x.transpose([0, 2, 1]))))
            mask = (paddle.arange(paddle.shape(x)[2]).unsqueeze(0) < lengths.unsqueeze(1)).astype("float32")
            return (x * mask.unsqueeze(1)).sum(-1) / lengths.unsqueeze(1).astype("float32")

    ids: list[Any] = [([None, None], "int64")]
    two = [[tokens(2, 9)], [tokens(3, 5, seed=1)]]
    return {
        "lstm_stack": lambda: Built(Tagger(nn.LSTM, num_layers=2), ids, two),
        "bidirectional_lstm": lambda: Built(Tagger(nn.LSTM, direction="bidirect"), ids, two),
        "gru_stack": lambda: Built(Tagger(nn.GRU, num_layers=2, direction="bidirect"), ids, two),
        "simple_rnn": lambda: Built(Tagger(nn.SimpleRNN), ids, two),
        "lstm_with_lengths": lambda: Built(
            WithLengths(), [([None, None, 6], "float32"), ([None], "int64")], [[floats(3, 5, 6), np.array([5, 2, 3])]]
        ),
        "transformer_encoder": lambda: Built(
            Encoder(), [([None, None, 16], "float32")], [[floats(2, 5, 16)], [floats(1, 8, 16)]]
        ),
        "transformer": lambda: Built(
            Translator(), [([None, None, 16], "float32")] * 2, [[floats(2, 5, 16), floats(2, 4, 16, seed=1)]]
        ),
        "multi_head_attention": lambda: Built(
            Attention(), [([None, None, 16], "float32"), ([None, None, 8], "float32"), ([None, None, 12], "float32")],
            [[floats(2, 3, 16), floats(2, 5, 8, seed=1), floats(2, 5, 12, seed=2)]],
        ),
        "bert": lambda: Built(Bert(), ids, two),
        "gpt": lambda: Built(Gpt(), ids, two),
        "seq2seq_attention": lambda: Built(Seq2Seq(), ids, two),
        "crnn": lambda: Built(Crnn(), [([None, 1, 16, None], "float32")], [[floats(2, 1, 16, 40)], [floats(1, 1, 16, 24)]]),
        "greedy_loop": lambda: Built(Greedy(), [([None, 6], "float32")], [[floats(2, 6)], [floats(3, 6, seed=4)]]),
        "vision_transformer": lambda: Built(VisionTransformer(), [([None, 3, 32, 32], "float32")], [[floats(2, 3, 32, 32)]]),
        "shifted_windows": lambda: Built(Windows(), [([None, 8, 12, 8], "float32")], [[floats(2, 8, 12, 8)]]),
        "unet": lambda: Built(
            UNet(), [([None, 3, None, None], "float32")], [[floats(1, 3, 20, 28)], [floats(2, 3, 17, 23)]]
        ),
        "masked_mean": lambda: Built(
            Masked(), [([None, None, 4], "float32"), ([None], "int64")], [[floats(2, 7, 4), np.array([7, 3])]]
        ),
    }  # fmt: skip


def names() -> list[str]:
    return [*SEQUENCE, *VISION_CLASSES, *VISION]


SEQUENCE = [
    "lstm_stack",
    "bidirectional_lstm",
    "gru_stack",
    "simple_rnn",
    "lstm_with_lengths",
    "transformer_encoder",
    "transformer",
    "multi_head_attention",
    "bert",
    "gpt",
    "seq2seq_attention",
    "crnn",
    "greedy_loop",
    "vision_transformer",
    "shifted_windows",
    "unet",
    "masked_mean",
]


def build(paddle: Any, name: str) -> Built:
    """A model by name, in evaluation mode, always with the same numbers."""
    paddle.seed(2024)
    built = vision(paddle, name) if name not in SEQUENCE else sequence_models(paddle)[name]()
    built.layer.eval()
    return built
