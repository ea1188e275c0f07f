"""Graphs written as Paddle's models and read again: the same results, for every operation that a test here uses.

That the real package reads the files alike is checked by `python -m tests.formats.paddle.written`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.formats.paddle.files.reading import read_model
from proa.formats.paddle.files.writing import write_model
from proa.formats.paddle.model import Block, Model
from proa.formats.paddle.reading import LoadedModel
from proa.formats.paddle.writing import graph_to_model
from proa.formats.paddle.writing.registry import TRANSLATORS
from proa.graph.capture import capture
from proa.graph.structure import flatten
from proa.ir.operation import all_operations
from proa.nn import functional as F
from proa.static import InputSpec


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def spec(*shape: int | None, dtype: str = "float32") -> InputSpec:
    return InputSpec(list(shape), dtype)


def written(function: Callable[..., Any], specs: list[InputSpec]) -> Model:
    if isinstance(function, nn.Layer):
        function.eval()
    return graph_to_model(capture(function, specs))


def names(block: Block) -> list[str]:
    return [op.name for op in block.ops]


def check(tmp_path: Path, function: Callable[..., Any], specs: list[InputSpec], arrays: list[np.ndarray]) -> Model:
    """Writes, reads and runs; the results must be those of eager code."""
    model = written(function, specs)
    expected: list[Any] = []
    with paddle.no_grad():
        flatten(function(*[paddle.to_tensor(array) for array in arrays]), expected)
    for kind in ("json", "pdmodel"):
        write_model(model, tmp_path / kind, kind)
        # Operation by operation: what is tested is the model, and compiling it would take longer.
        results = LoadedModel(read_model(tmp_path / kind)).run_directly([paddle.to_tensor(array) for array in arrays])
        assert len(results) == len(expected)
        for position, (result, wanted) in enumerate(zip(results, expected, strict=True)):
            assert result.dtype == wanted.dtype, (kind, position)
            np.testing.assert_allclose(result.numpy(), wanted.numpy(), 1e-4, 1e-5, err_msg=f"{kind}, result {position}")
    return model


def test_a_network(tmp_path: Path) -> None:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2D(3, 4, 3, padding=1), nn.BatchNorm2D(4)
            self.linear, self.layer_norm, self.embed = nn.Linear(4, 5), nn.LayerNorm(5), nn.Embedding(10, 5)

        def forward(self, x: Any, words: Any) -> Any:
            x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
            x = F.gelu(self.linear(F.adaptive_avg_pool2d(x, 1).flatten(1)))
            return F.softmax(self.layer_norm(x) + self.embed(words))

    layer = Net()
    arrays = [numbers(2, 3, 8, 8), np.array([1, 9])]
    model = check(tmp_path, layer, [spec(None, 3, 8, 8), spec(None, dtype="int64")], arrays)
    assert {"conv2d", "batch_norm_", "layer_norm", "gelu", "embedding", "softmax"} <= set(names(model.block))
    assert [value.shape for value in model.inputs] == [(-1, 3, 8, 8), (-1,)]


@pytest.mark.parametrize(
    ("layer", "shape", "array"),
    [
        (lambda: nn.LSTM(4, 5, 2, direction="bidirect"), (None, 7, 4), (2, 7, 4)),
        (lambda: nn.GRU(4, 5), (None, None, 4), (2, 6, 4)),
        (lambda: nn.SimpleRNN(4, 5, activation="relu"), (None, 6, 4), (2, 6, 4)),
    ],
)  # fmt: skip
def test_recurrent_layers_become_rnn(tmp_path: Path, layer: Any, shape: Any, array: Any) -> None:
    model = check(tmp_path, layer(), [spec(*shape)], [numbers(*array)])
    assert "rnn" in names(model.block)


def test_lengths_of_sequences(tmp_path: Path) -> None:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 5, direction="bidirect")

        def forward(self, x: Any, lengths: Any) -> Any:
            return self.lstm(x, sequence_length=lengths)

    check(tmp_path, Net(), [spec(None, 7, 4), spec(None, dtype="int64")], [numbers(3, 7, 4), np.array([7, 3, 5])])


def test_attention(tmp_path: Path) -> None:
    check(tmp_path, nn.TransformerEncoderLayer(8, 2, 16), [spec(None, None, 8)], [numbers(2, 5, 8)])
    check(
        tmp_path, lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), [spec(None, None, 2, 4)],
        [numbers(2, 5, 2, 4)],
    )  # fmt: skip


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "arithmetic": lambda x: (x + 1, 2 - x, x * x, 1 / x, x**3, x.abs() ** 1.5, x // 2, x % 2, -x, x.clip(-1, 1)),
    "functions": lambda x: (x.exp(), x.floor(), x.round(), x.sin(), x.tanh(), x.square(), x.sign(), x.erf()),
    "activations": lambda x: (F.relu6(x), F.leaky_relu(x), F.elu(x), F.silu(x), F.hardswish(x), F.softplus(x)),
    "comparisons": lambda x: (x > 0, x == x, (x > 0) & (x < 1), ~(x > 0), paddle.where(x > 0, x, -x), (x > 0).any(-1)),
    "reductions": lambda x: (x.sum(), x.mean([0, 2]), x.max(-1), x.prod(-1), x.logsumexp(1), x.norm(), x.argmax(-1)),
    "order": lambda x: (paddle.topk(x, 2), x.sort(-1), x.argsort(-1, descending=True), x.cumsum(1)),
    "shapes": lambda x: (x.reshape([0, -1]), x.transpose([2, 0, 1]), x.unsqueeze(1), x.tile([1, 2, 1]), x.flip([1])),
    "joining": lambda x: (paddle.concat([x, x], 1), paddle.stack([x, x], 1), x.split(3, 1), x.unbind(1), F.pad(x, [1, 2])),
    "slices": lambda x: (x[0], x[:, -1], x[..., 1:], x[:, ::2], x[:, :, ::-1], x[:, None], x[1:], x[:-1], x[:, -2:, 0]),
    "sizes": lambda x: (x.reshape([x.shape[0] * 3, 4]), paddle.zeros([x.shape[0], 2]), paddle.arange(x.shape[0])),
    "a size as a number": lambda x: (x * x.shape[0], F.pad(x, [1, 1], value=2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(_FUNCTIONS))
def test_functions(tmp_path: Path, name: str) -> None:
    check(tmp_path, _FUNCTIONS[name], [spec(None, 3, 4)], [numbers(2, 3, 4)])


def test_writing_into_tensors(tmp_path: Path) -> None:
    def function(x: Any, index: Any) -> Any:
        first, second = x.clone(), x.clone()
        first[:, 1] = 0.5
        second[index] = 2.0
        return first, second, x[index], x[:, index], paddle.gather(x, index, 1), F.one_hot(index, 4)

    check(tmp_path, function, [spec(3, 3), spec(2, dtype="int64")], [numbers(3, 3), np.array([2, 0])])


def test_conditions_and_loops_are_blocks(tmp_path: Path) -> None:
    from proa.graph.control import cond_of, while_of

    def function(x: Any, count: Any) -> Any:
        (y,) = cond_of(x.sum() > 0, lambda: [x + 1], lambda: [x * 2])
        return [y, *while_of(lambda i, z: i < count, lambda i, z: [i + 1, z * 2 + y], [paddle.zeros([], "int64"), x])]

    graph = capture(function, [spec(None, 3), spec(dtype="int64")])
    model = graph_to_model(graph)
    assert {"if", "while"} <= set(names(model.block))
    for sign in (1, -1):
        arrays = [sign * np.abs(numbers(2, 3)), np.array(3)]
        write_model(model, tmp_path / "model", "json")
        expected = graph(*[paddle.to_tensor(array) for array in arrays])
        for result, wanted in zip(LoadedModel(read_model(tmp_path / "model"))(*arrays), expected, strict=True):
            np.testing.assert_allclose(result.numpy(), wanted.numpy(), 1e-5)


def test_a_size_in_two_places_is_computed() -> None:
    model = written(lambda x: x.reshape([x.shape[1], x.shape[0], 4]), [spec(None, None, 4)])
    assert "shape64" in names(model.block)
    (shape,) = (op.inputs[1] for op in model.block.ops if op.name == "reshape")
    assert shape.shape == (3,)


def test_a_large_vocabulary_is_no_unknown_size() -> None:
    layer = nn.Linear(2, 60_000)
    model = written(layer, [spec(None, 2)])
    assert model.outputs[0].shape == (-1, 60_000)
    assert (2, 60_000) in [value.shape for value in model.parameter_values.values()]


def test_names_of_parameters_and_results() -> None:
    layer = nn.Linear(2, 3)
    graph = capture(layer, [spec(None, 2)])
    model = graph_to_model(graph, {id(layer.weight): "w", id(layer.bias): "b"})
    assert sorted(model.parameters) == ["b", "w"]
    assert [value.name for value in model.outputs] == ["output_0"]


def test_an_operation_without_counterpart_names_the_line() -> None:
    def function(x: Any) -> Any:
        return paddle.histogram(x, bins=4, min=-1, max=1)

    with pytest.raises(
        NotImplementedError, match=r"histogram cannot be written: it has no counterpart.*\.proa(.|\n)*test_models\.py"
    ):
        written(function, [spec(4)])


def test_an_attribute_that_depends_on_an_unknown_size_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="unknown dimension"):
        written(lambda x: x.kthvalue(x.shape[0], 0), [spec(None, 3)])


def test_a_number_that_is_an_unknown_size_is_computed(tmp_path: Path) -> None:
    check(tmp_path, lambda x: x.topk(x.shape[0], 0)[0], [spec(None, 3)], [numbers(4, 3)])


def test_every_translator_belongs_to_an_operation() -> None:
    written(nn.Linear(2, 2), [spec(1, 2)])
    assert not set(TRANSLATORS) - set(all_operations())
    assert len(TRANSLATORS) >= 200


def test_an_epsilon_of_a_thousandth_is_one_that_paddle_takes(tmp_path: Path) -> None:
    # float32's 0.001 is a little more than 0.001; written out, such a norm could not be joined with the layer before it.
    model = nn.Sequential(
        nn.Conv2D(3, 4, 1), nn.BatchNorm2D(4, epsilon=0.001), nn.Flatten(), nn.LayerNorm(16, epsilon=0.001)
    )
    model.eval()
    path = str(tmp_path / "model")
    paddle.jit.save(model, path, input_spec=[paddle.static.InputSpec([None, 3, 2, 2], "float32")])
    names = [op.name for op in read_model(path).block.ops]
    assert {"batch_norm_", "layer_norm"} <= set(names)
    x = paddle.randn([2, 3, 2, 2])
    np.testing.assert_allclose(paddle.jit.load(path)(x).numpy(), model(x).numpy(), rtol=1e-4, atol=1e-5)
