"""The models of `inference.py` as PyTorch modules, traced, frozen and optimised for inference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from benchmarks.workloads.common import set_torch_parameters

# Kernel, width inside, channels out, squeeze and excite, hard swish, stride.
MOBILENET = (
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
)  # fmt: skip


def pictures(torch: Any, model: str) -> Any:
    """ResNet-50 or MobileNetV3-large."""
    nn = torch.nn

    class Bottleneck(nn.Module):
        def __init__(self, fan_in: int, width: int, stride: int, shortcut: bool) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(fan_in, width, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
            self.shortcut = nn.Identity()
            if shortcut:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(fan_in, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
                )

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.bn1(self.conv1(x)))
            y = torch.relu(self.bn2(self.conv2(y)))
            return torch.relu(self.bn3(self.conv3(y)) + self.shortcut(x))

    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            self.pool = nn.MaxPool2d(3, 2, 1)
            stages, fan_in = [], 64
            for stage, count in enumerate((3, 4, 6, 3)):
                width = 64 << stage
                for i in range(count):
                    stages.append(Bottleneck(fan_in, width, 2 if stage and not i else 1, not i))
                    fan_in = 4 * width
            self.stages = nn.Sequential(*stages)
            self.head = nn.Linear(2048, 1000)

        def forward(self, x: Any) -> Any:
            x = self.stages(self.pool(torch.relu(self.bn1(self.conv1(x)))))
            return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))

    def convolution(fan_in: int, out: int, kernel: int, stride: int, groups: int, activation: Any) -> Any:
        parts = [
            nn.Conv2d(fan_in, out, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(out, eps=0.001),
        ]
        return nn.Sequential(*parts, *([activation()] if activation else []))

    class Squeeze(nn.Module):
        def __init__(self, channels: int, inside: int) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Conv2d(channels, inside, 1), nn.Conv2d(inside, channels, 1)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.fc1(nn.functional.adaptive_avg_pool2d(x, 1)))
            return x * nn.functional.hardsigmoid(self.fc2(y))

    class Inverted(nn.Module):
        def __init__(self, fan_in: int, row: Any) -> None:
            super().__init__()
            kernel, width, out, squeeze, swish, stride = row
            activation = nn.Hardswish if swish else nn.ReLU
            parts = [convolution(fan_in, width, 1, 1, 1, activation)] if width != fan_in else []
            parts.append(convolution(width, width, kernel, stride, width, activation))
            if squeeze:
                parts.append(Squeeze(width, divisible(width // 4)))
            parts.append(convolution(width, out, 1, 1, 1, None))
            self.parts = nn.Sequential(*parts)
            self.adds = stride == 1 and fan_in == out

        def forward(self, x: Any) -> Any:
            y = self.parts(x)
            return x + y if self.adds else y

    class MobileNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = convolution(3, 16, 3, 2, 1, nn.Hardswish)
            fans = [16, *(row[2] for row in MOBILENET)]
            self.blocks = nn.Sequential(*[Inverted(fan, row) for fan, row in zip(fans, MOBILENET)])
            self.last = convolution(160, 960, 1, 1, 1, nn.Hardswish)
            self.head = nn.Sequential(nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))

        def forward(self, x: Any) -> Any:
            x = self.last(self.blocks(self.first(x)))
            return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))

    return ResNet() if model == "resnet50" else MobileNet()


def divisible(channels: int) -> int:
    """The nearest multiple of 8 that is not smaller by more than a tenth."""
    near = max(8, (channels + 4) // 8 * 8)
    return near + 8 if near < 0.9 * channels else near


def sequences(torch: Any, model: str) -> Any:
    """The encoder, GPT-2, the LSTM or DeepFM."""
    from benchmarks.workloads import inference as sizes

    nn, functional = torch.nn, torch.nn.functional

    def attend(x: Any, heads: int, query: Any, key: Any, value: Any, causal: bool) -> Any:
        batch, tokens, width = x.shape
        parts = [p.reshape(batch, tokens, heads, width // heads).transpose(1, 2) for p in (query, key, value)]
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=causal)
        return mixed.transpose(1, 2).reshape(batch, tokens, width)

    class EncoderLayer(nn.Module):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
            self.linear1, self.linear2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

        def forward(self, x: Any) -> Any:
            x = self.norm1(x + self.o(attend(x, self.heads, self.q(x), self.k(x), self.v(x), False)))
            return self.norm2(x + self.linear2(functional.gelu(self.linear1(x))))

    class Block(nn.Module):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.first_norm = nn.LayerNorm(width)
            self.query_key_value, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.second_norm = nn.LayerNorm(width)
            self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            query, key, value = self.query_key_value(self.first_norm(x)).chunk(3, dim=-1)
            x = x + self.output(attend(x, self.heads, query, key, value, True))
            return x + self.narrow(functional.gelu(self.widen(self.second_norm(x)), approximate="tanh"))

    class Gpt(nn.Module):
        def __init__(self, layers: int, width: int, heads: int, tokens: int) -> None:
            super().__init__()
            self.tokens, self.positions = nn.Embedding(sizes.VOCABULARY, width), nn.Embedding(tokens, width)
            self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
            self.norm = nn.LayerNorm(width)

        def forward(self, numbers: Any) -> Any:
            x = self.tokens(numbers) + self.positions(torch.arange(numbers.shape[1]))
            return self.norm(self.blocks(x))[:, -1] @ self.tokens.weight.t()

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.LSTM(sizes.LSTM[1], sizes.LSTM[1], sizes.LSTM[0], batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.layers(x)[0]

    class DeepFactors(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.Embedding(sizes.FIELDS * sizes.ROWS, 1)
            self.factors = nn.Embedding(sizes.FIELDS * sizes.ROWS, sizes.FACTORS)
            self.numbers = nn.Linear(sizes.NUMBERS, sizes.FACTORS)
            widths = ((sizes.FIELDS + 1) * sizes.FACTORS, *sizes.HIDDEN)
            self.deep = nn.Sequential(*[nn.Linear(a, b) for a, b in pairwise(widths)])
            self.last = nn.Linear(sizes.HIDDEN[-1], 1)

        def forward(self, fields: Any, numbers: Any) -> Any:
            vectors = torch.cat([self.factors(fields), self.numbers(numbers).unsqueeze(1)], dim=1)
            pairs = 0.5 * (vectors.sum(1).square() - vectors.square().sum(1)).sum(1, keepdim=True)
            x = vectors.flatten(1)
            for layer in self.deep:
                x = torch.relu(layer(x))
            return torch.sigmoid(self.weights(fields).sum(1) + pairs + self.last(x))

    if model == "encoder":
        layers, width, heads, _ = sizes.ENCODER
        return nn.Sequential(*[EncoderLayer(width, heads) for _ in range(layers)])
    if model == "gpt2":
        return Gpt(*sizes.GPT)
    return Recurrent() if model == "lstm" else DeepFactors()


class TorchInference:
    """One call of the optimised module, the result read."""

    def __init__(
        self,
        torch: Any,
        model: str = "resnet50",
        batch: int = 1,
        way: str = "to_static",
        tiny: bool = False,
        channels_last: bool = False,
    ) -> None:
        from benchmarks.workloads.inference import inputs_of

        self.torch = torch
        self.inputs = [torch.from_numpy(array) for array in inputs_of(model, batch, tiny)]
        module = (pictures if model in ("resnet50", "mobilenet") else sequences)(torch, model)
        set_torch_parameters(torch, module)
        module.eval()
        if channels_last and self.inputs[0].dim() == 4:
            module = module.to(memory_format=torch.channels_last)
            self.inputs = [x.to(memory_format=torch.channels_last) for x in self.inputs]
        with torch.no_grad():
            traced = torch.jit.trace(module, tuple(self.inputs), check_trace=False)
            self.module = torch.jit.optimize_for_inference(torch.jit.freeze(traced))

    def run(self) -> float:
        with self.torch.no_grad():
            return float(self.module(*self.inputs).numpy().reshape(-1)[:64].sum())
