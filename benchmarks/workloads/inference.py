"""Inference with six models: `to_static`, or a saved model in a Predictor; for PyTorch see `inference_torch.py`."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED, set_paddle_parameters
from benchmarks.workloads.in_torch.inference import TorchInference

# Layers, width, heads, tokens.
ENCODER = (4, 768, 12, 128)
GPT = (12, 768, 12, 256)
VOCABULARY = 50257
LSTM = (2, 256, 64)  # layers, width, steps
FIELDS, NUMBERS, ROWS, FACTORS = 26, 13, 20_000, 16
HIDDEN = (400, 400, 400)
IMAGE = (3, 224, 224)
TINY_IMAGE = (3, 64, 64)
MODELS = ("resnet50", "mobilenet", "encoder", "gpt2", "lstm", "deepfm")


def inputs_of(model: str, batch: int, tiny: bool) -> list[np.ndarray]:
    """What the model is given, the same for every framework."""
    generator = np.random.default_rng(SEED + 3)
    if model in ("resnet50", "mobilenet"):
        return [generator.standard_normal((batch, *(TINY_IMAGE if tiny else IMAGE)), dtype=np.float32)]
    if model == "encoder":
        return [generator.standard_normal((batch, 8 if tiny else ENCODER[3], ENCODER[1]), dtype=np.float32)]
    if model == "gpt2":
        return [generator.integers(0, VOCABULARY, (batch, 8 if tiny else GPT[3]))]
    if model == "lstm":
        return [generator.standard_normal((batch, 4 if tiny else LSTM[2], LSTM[1]), dtype=np.float32)]
    offsets = np.arange(FIELDS) * ROWS
    return [
        generator.integers(0, ROWS, (batch, FIELDS)) + offsets,
        generator.standard_normal((batch, NUMBERS), dtype=np.float32),
    ]


def paddle_model(paddle: Any, model: str) -> Any:
    """The model as Paddle layers, with the shared parameters."""
    nn, functional = paddle.nn, paddle.nn.functional

    class Gpt(nn.Layer):
        def __init__(self, layers: int, width: int, heads: int, tokens: int) -> None:
            super().__init__()
            self.heads, self.width = heads, width
            self.tokens = nn.Embedding(VOCABULARY, width)
            self.positions = nn.Embedding(tokens, width)
            self.blocks = nn.LayerList([Block(width, heads) for _ in range(layers)])
            self.norm = nn.LayerNorm(width)

        def forward(self, numbers: Any) -> Any:
            x = self.tokens(numbers) + self.positions(paddle.arange(numbers.shape[1]))
            for block in self.blocks:
                x = block(x)
            return paddle.matmul(self.norm(x)[:, -1], self.tokens.weight, transpose_y=True)

    class Block(nn.Layer):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.first_norm = nn.LayerNorm(width)
            self.query_key_value = nn.Linear(width, 3 * width)
            self.output = nn.Linear(width, width)
            self.second_norm = nn.LayerNorm(width)
            self.widen = nn.Linear(width, 4 * width)
            self.narrow = nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, tokens, width = x.shape
            parts = self.query_key_value(self.first_norm(x)).reshape(
                [batch, tokens, 3, self.heads, width // self.heads]
            )
            query, key, value = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, training=False)
            x = x + self.output(mixed.reshape([batch, tokens, width]))
            return x + self.narrow(functional.gelu(self.widen(self.second_norm(x)), approximate=True))

    class Recurrent(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.LSTM(LSTM[1], LSTM[1], LSTM[0])

        def forward(self, x: Any) -> Any:
            return self.layers(x)[0]

    class DeepFactors(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.Embedding(FIELDS * ROWS, 1)
            self.factors = nn.Embedding(FIELDS * ROWS, FACTORS)
            self.numbers = nn.Linear(NUMBERS, FACTORS)
            sizes = ((FIELDS + 1) * FACTORS, *HIDDEN)
            self.deep = nn.LayerList([nn.Linear(a, b) for a, b in pairwise(sizes)])
            self.last = nn.Linear(HIDDEN[-1], 1)

        def forward(self, fields: Any, numbers: Any) -> Any:
            vectors = paddle.concat([self.factors(fields), self.numbers(numbers).unsqueeze(1)], axis=1)
            pairs = 0.5 * (vectors.sum(1).square() - vectors.square().sum(1)).sum(1, keepdim=True)
            x = vectors.flatten(1)
            for layer in self.deep:
                x = functional.relu(layer(x))
            return functional.sigmoid(self.weights(fields).sum(1) + pairs + self.last(x))

    if model == "resnet50":
        made = paddle.vision.models.resnet50()
    elif model == "mobilenet":
        made = paddle.vision.models.mobilenet_v3_large()
    elif model == "encoder":
        layers, width, heads, _ = ENCODER
        made = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu"), layers)
    elif model == "gpt2":
        made = Gpt(*GPT)
    elif model == "lstm":
        made = Recurrent()
    else:
        made = DeepFactors()
    set_paddle_parameters(made)
    made.eval()
    return made


class PaddleInference:
    """One call, the result read. `way`: `to_static`, or `predictor` (saved, loaded, run through handles)."""

    def __init__(
        self, paddle: Any, model: str = "resnet50", batch: int = 1, way: str = "to_static", tiny: bool = False
    ) -> None:
        self.paddle = paddle
        self.arrays = inputs_of(model, batch, tiny)
        layer = paddle_model(paddle, model)
        if way == "predictor":
            self.run = self._predict
            self._prepare_predictor(layer)
        else:
            self.layer = paddle.jit.to_static(layer)
            self.inputs = [paddle.to_tensor(array) for array in self.arrays]

    def _prepare_predictor(self, layer: Any) -> None:
        paddle = self.paddle
        specs = [paddle.static.InputSpec(list(a.shape), str(a.dtype), f"x{i}") for i, a in enumerate(self.arrays)]
        with tempfile.TemporaryDirectory() as folder:
            paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs), f"{folder}/model")
            config = paddle.inference.Config(f"{folder}/model.json", f"{folder}/model.pdiparams")
            config.disable_gpu()
            config.set_cpu_math_library_num_threads(2)
            self.predictor = paddle.inference.create_predictor(config)
        names = self.predictor.get_input_names()
        self.handles = [self.predictor.get_input_handle(name) for name in names]
        self.result = self.predictor.get_output_handle(self.predictor.get_output_names()[0])

    def _predict(self) -> float:
        for handle, array in zip(self.handles, self.arrays):
            handle.copy_from_cpu(array)
        self.predictor.run()
        return float(self.result.copy_to_cpu().reshape(-1)[:64].sum())

    def run(self) -> float:
        with self.paddle.no_grad():
            return float(self.layer(*self.inputs).numpy().reshape(-1)[:64].sum())


FAMILIES = {"paddle": PaddleInference, "torch": TorchInference}
