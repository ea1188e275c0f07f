"""Small models that can be divided in every way, with the same numbers in every division.

A parameter's numbers follow from its name in the whole model, and a process takes its part of them. So a job of any
arrangement begins as one process does. Activations are `[sequence, batch, features]`.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

import proa as paddle
from proa.distributed import fleet
from proa.distributed.fleet import meta_parallel as parallel
from proa.distributed.fleet.layers.mpu import mp_ops

nn, F = paddle.nn, paddle.nn.functional
VOCABULARY, HIDDEN, HEADS, LENGTH = 48, 16, 4, 8


def model_group() -> Any:
    return fleet.get_hybrid_communicate_group().get_model_parallel_group()


def expected_numbers(name: str, shape: list[int]) -> np.ndarray:
    """The numbers of a whole parameter."""
    numbers = np.random.default_rng(zlib.crc32(name.encode())).normal(size=shape) * 0.2
    return (numbers + (1.0 if "norm" in name and name.endswith("weight") else 0.0)).astype("float32")


def fill(model: Any, first_expert: int = 0) -> None:
    """Gives every parameter its (part of the) numbers."""
    group = model_group()
    for name, parameter in model.named_parameters():
        words = name.split(".")
        if "experts" in words:
            place = words.index("experts") + 1
            words[place] = str(int(words[place]) + first_expert)
        shape = list(parameter.shape)
        if parameter.is_distributed and not getattr(parameter, "no_sync", False):
            shape[parameter.split_axis] *= group.nranks
            parts = np.split(expected_numbers(".".join(words), shape), group.nranks, parameter.split_axis)
            parameter.set_value(parts[group.rank])
        else:
            parameter.set_value(expected_numbers(".".join(words), shape))


class Embedding(nn.Layer):
    """Tokens and positions; also the last layer, with the same weight."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = parallel.VocabParallelEmbedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(4 * LENGTH, HIDDEN)

    @property
    def weight(self) -> Any:
        return self.tokens.weight

    def forward(self, x: Any) -> Any:
        part = fleet.get_hybrid_communicate_group().get_sep_parallel_rank()
        positions = paddle.arange(x.shape[1]) + part * x.shape[1]
        return (self.tokens(x) + self.positions(positions)).transpose([1, 0, 2])


def embed_pieces(embedding: Embedding, x: Any) -> Any:
    """For sequence parallelism: this process's piece of the sequences."""
    return fleet.utils.sequence_parallel_utils.ScatterOp.apply(embedding(x))


def logits_of_pieces(embedding: Embedding, x: Any) -> Any:
    return logits(embedding, fleet.utils.sequence_parallel_utils.GatherOp.apply(x))


def logits(embedding: Embedding, x: Any) -> Any:
    """Of the tokens that this process has the weights of."""
    x = mp_ops._c_identity(x, model_group())
    return paddle.matmul(x, embedding.weight, transpose_y=True).transpose([1, 0, 2])


class Norm(nn.LayerNorm):
    """A norm that may see pieces of sequences only."""

    def __init__(self, sequence_parallel: bool) -> None:
        super().__init__(HIDDEN)
        for parameter in self.parameters() if sequence_parallel else []:
            fleet.utils.sequence_parallel_utils.mark_as_sequence_parallel_parameter(parameter)


class Attention(nn.Layer):
    def __init__(self, column: Any, row: Any) -> None:
        super().__init__()
        self.inputs = column(HIDDEN, 3 * HIDDEN, has_bias=True, gather_output=False)
        self.outputs = row(HIDDEN, HIDDEN, input_is_parallel=True)
        self.heads = HEADS // model_group().nranks

    def forward(self, x: Any) -> Any:
        both = self.inputs(x)
        length, batch = both.shape[:2]
        parts = both.reshape([length, batch, self.heads, 3, HIDDEN // HEADS]).transpose([3, 1, 0, 2, 4])
        mixed = attend(parts[0], parts[1], parts[2])
        return self.outputs(mixed.transpose([1, 0, 2, 3]).reshape([length, batch, -1]))


def attend(query: Any, key: Any, value: Any) -> Any:
    group = fleet.get_hybrid_communicate_group().get_sep_parallel_group()
    if group.nranks > 1:
        return parallel.ring_flash_attention(query, key, value, is_causal=True, group=group)
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


class Feedforward(nn.Layer):
    def __init__(self, column: Any, row: Any) -> None:
        super().__init__()
        self.first = column(HIDDEN, 2 * HIDDEN, has_bias=True, gather_output=False)
        self.second = row(2 * HIDDEN, HIDDEN, input_is_parallel=True)

    def forward(self, x: Any) -> Any:
        return self.second(F.gelu(self.first(x)))


class Block(nn.Layer):
    def __init__(self, sequence_parallel: bool = False, experts: Any = None) -> None:
        super().__init__()
        column, row = parallel.ColumnParallelLinear, parallel.RowParallelLinear
        if sequence_parallel:
            utils = fleet.utils.sequence_parallel_utils
            column, row = utils.ColumnSequenceParallelLinear, utils.RowSequenceParallelLinear
        self.norm1, self.norm2 = Norm(sequence_parallel), Norm(sequence_parallel)
        self.attention = Attention(column, row)
        self.feedforward = Feedforward(column, row) if experts is None else experts()
        if sequence_parallel:
            for parameter in (self.attention.outputs.bias, self.feedforward.second.bias):
                utils.mark_as_sequence_parallel_parameter(parameter)

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.feedforward(self.norm2(x))


class Loss(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.entropy = parallel.ParallelCrossEntropy()

    def forward(self, scores: Any, label: Any) -> Any:
        return self.entropy(scores, label).mean()


def gpt(depth: int = 2, sequence_parallel: bool = False, experts: Any = None, **options: Any) -> Any:
    first, last = (embed_pieces, logits_of_pieces) if sequence_parallel else (None, logits)
    layers: list[Any] = [parallel.SharedLayerDesc("embedding", Embedding, first, "weight")]
    layers += [parallel.LayerDesc(Block, sequence_parallel, experts) for _ in range(depth)]
    layers.append(parallel.LayerDesc(Norm, sequence_parallel))
    layers.append(parallel.SharedLayerDesc("embedding", Embedding, last, "weight"))
    return parallel.PipelineLayer(layers, loss_fn=Loss(), **options)


def mlp(depth: int = 3, **options: Any) -> Any:
    layers: list[Any] = []
    for _ in range(depth):
        layers.append(
            parallel.LayerDesc(parallel.ColumnParallelLinear, HIDDEN, 2 * HIDDEN, has_bias=True, gather_output=True)
        )
        layers.append(parallel.LayerDesc(nn.Tanh))
        layers.append(parallel.LayerDesc(parallel.RowParallelLinear, 2 * HIDDEN, HIDDEN))
    return parallel.PipelineLayer(layers, loss_fn=nn.MSELoss(), **options)


def tokens(step: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """A batch of sequences and what follows each token."""
    drawn = [np.random.default_rng(step).integers(0, VOCABULARY, batch)]
    for _ in range(LENGTH):
        drawn.append((5 * drawn[-1] + 7) % VOCABULARY)
    sequences = np.stack(drawn, 1)
    return sequences[:, :-1], sequences[:, 1:]


def points(step: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = np.random.default_rng(step).normal(size=(2, batch, HIDDEN)).astype("float32")
    return drawn[0], np.tanh(drawn[1])


def experts(count: int, group: Any) -> Any:
    """A layer with `count` experts in this process; every token goes to two, whose weights are their scores."""
    from proa.incubate.distributed.models.moe import MoELayer

    made = [Feedforward(parallel.ColumnParallelLinear, parallel.RowParallelLinear) for _ in range(count)]
    return MoELayer(HIDDEN, nn.LayerList(made), {"type": "naive", "top_k": 2}, group)
