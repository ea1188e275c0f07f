"""Layers whose weights are divided among processes: with one process, each holds its whole weight."""

from __future__ import annotations

from typing import Any

from .....nn import functional as F
from .....nn.layer import Layer
from .mp_ops import _c_softmax_with_cross_entropy


class VocabParallelEmbedding(Layer):
    """An embedding whose rows are divided."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.model_parallel_group = mp_group
        self.world_size, self.rank = 1, 0
        self.origin_num_embeddings = self.per_part_size = self._num_embeddings = num_embeddings
        self.is_mp, self.vocab_start_index, self._padding_idx, self._name = False, 0, None, name
        self._size = [num_embeddings, embedding_dim]
        self.embedding_dim = embedding_dim
        self._weight_attr = weight_attr
        self.weight = self.create_parameter(self._size, weight_attr, is_bias=False)

    def forward(self, x: Any) -> Any:
        return F.embedding(x, self.weight)


class _ParallelLinear(Layer):
    """What linear layers with divided rows or columns have in common."""

    def __init__(self, in_features: int, out_features: int, weight_attr: Any, has_bias: Any, name: str | None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.world_size, self.rank, self.is_mp = 1, 0, False
        self._name, self._weight_attr = name, weight_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr, is_bias=False)
        self.bias = self.create_parameter([out_features], None, is_bias=True) if has_bias else None

    def forward(self, x: Any) -> Any:
        return F.linear(x, self.weight, self.bias)


class ColumnParallelLinear(_ParallelLinear):
    """A linear layer whose outputs are divided."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: Any = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, weight_attr, has_bias, name)
        self.model_parallel_group = mp_group
        self.gather_output, self.fuse_matmul_bias = gather_output, fuse_matmul_bias
        self.output_size_per_partition = out_features
        self.linear = F.linear


class RowParallelLinear(_ParallelLinear):
    """A linear layer whose inputs are divided."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, weight_attr, has_bias, name)
        self.model_parallel_group = mp_group
        self.input_is_parallel, self.fuse_matmul_bias = input_is_parallel, fuse_matmul_bias
        self.input_size_per_partition = in_features
        self.linear = F.linear


class ParallelCrossEntropy(Layer):
    """Cross entropy over classes that are divided; a loss for each sample, `[..., 1]`."""

    def __init__(self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        self.name, self.model_parallel_group = name, mp_group
        self.world_size, self.rank, self.ignore_index = 1, 0, ignore_index

    def forward(self, input: Any, label: Any) -> Any:
        return _c_softmax_with_cross_entropy(input, label, ignore_index=self.ignore_index)
