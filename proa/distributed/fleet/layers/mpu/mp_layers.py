"""Layers whose weights are divided among the processes of a group. In a group of one each holds its whole weight.

`weight.is_distributed` says that a process has a part, `weight.split_axis` along which axis the parts lie.
"""

from __future__ import annotations

from typing import Any

from .....core.errors import value_error
from .....nn import functional as F
from .....nn.layer import Layer
from ....group import Group
from ...base.topology import get_hybrid_communicate_group
from .mp_ops import (
    _c_concat,
    _c_identity,
    _c_lookup_table,
    _c_softmax_with_cross_entropy,
    _c_split,
    _mp_allreduce,
)
from .random import drawing_apart


def model_parallel_group(given: Group | None) -> Group | None:
    """The group that is given, or else that of `fleet.init`; None for a process by itself."""
    if given is None:
        groups = get_hybrid_communicate_group()
        given = None if groups is None else groups.get_group("model")
    return given if given is not None and given.nranks > 1 else None


def _share(where: str, what: str, whole: int, count: int) -> int:
    if whole % count:
        raise value_error(
            where, f"{what} must divide into {count} equal parts, one for each process", f"{what}: {whole}",
            "choose a multiple, or another mp_degree",
        )  # fmt: skip
    return whole // count


class _Divided(Layer):
    """What layers with divided weights have in common: their group and their place in it."""

    def __init__(self, mp_group: Group | None, name: str | None) -> None:
        super().__init__()
        group = model_parallel_group(mp_group)
        self.model_parallel_group = group if group is not None else mp_group
        self.world_size, self.rank = (group.nranks, group.rank) if group is not None else (1, 0)
        self.is_mp, self._name = group is not None, name

    def _divided_parameter(self, shape: list[int], attr: Any, split_axis: int, is_bias: bool = False) -> Any:
        """A part of a parameter: each process draws its own."""
        if not self.is_mp:
            return self.create_parameter(shape, attr, is_bias=is_bias)
        with drawing_apart():
            parameter = self.create_parameter(shape, attr, is_bias=is_bias)
        if parameter is not None:
            parameter.is_distributed, parameter.split_axis = True, split_axis
        return parameter


class VocabParallelEmbedding(_Divided):
    """An embedding whose rows are divided."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group, name)
        self.origin_num_embeddings = self._num_embeddings = num_embeddings
        self.per_part_size = _share("VocabParallelEmbedding", "num_embeddings", num_embeddings, self.world_size)
        self.vocab_start_index, self._padding_idx = self.rank * self.per_part_size, None
        self._size, self.embedding_dim = [self.per_part_size, embedding_dim], embedding_dim
        self._weight_attr = weight_attr
        self.weight = self._divided_parameter(self._size, weight_attr, 0)

    def forward(self, x: Any) -> Any:
        if not self.is_mp:
            return F.embedding(x, self.weight)
        rows = _c_lookup_table(self.weight, x, self.vocab_start_index, self.origin_num_embeddings)
        return _mp_allreduce(rows, group=self.model_parallel_group)


class ColumnParallelLinear(_Divided):
    """A linear layer whose outputs are divided; with `gather_output` every process gets all of them."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: Any = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group, name)
        self.in_features, self.out_features = in_features, out_features
        self.gather_output, self.fuse_matmul_bias, self._weight_attr = gather_output, fuse_matmul_bias, weight_attr
        width = _share(type(self).__name__, "out_features", out_features, self.world_size)
        self.output_size_per_partition, self.linear = width, F.linear
        self.weight = self._divided_parameter([in_features, width], weight_attr, 1)
        self.bias = self._divided_parameter([width], None, 0, is_bias=True) if has_bias else None

    def forward(self, x: Any) -> Any:
        if not self.is_mp:
            return F.linear(x, self.weight, self.bias)
        part = F.linear(_c_identity(x, self.model_parallel_group), self.weight, self.bias)
        return _c_concat(part, self.model_parallel_group) if self.gather_output else part


class RowParallelLinear(_Divided):
    """A linear layer whose inputs are divided; with `input_is_parallel` they come divided already."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group, name)
        self.in_features, self.out_features = in_features, out_features
        self.input_is_parallel, self.fuse_matmul_bias = input_is_parallel, fuse_matmul_bias
        self._weight_attr = weight_attr
        width = _share(type(self).__name__, "in_features", in_features, self.world_size)
        self.input_size_per_partition, self.linear = width, F.linear
        self.weight = self._divided_parameter([width, out_features], weight_attr, 0)
        self.bias = self.create_parameter([out_features], None, is_bias=True) if has_bias else None

    def forward(self, x: Any) -> Any:
        if not self.is_mp:
            return F.linear(x, self.weight, self.bias)
        part = x if self.input_is_parallel else _c_split(x, self.model_parallel_group)
        total = _mp_allreduce(F.linear(part, self.weight), group=self.model_parallel_group)
        return total if self.bias is None else total + self.bias  # once, not from each part


class ParallelCrossEntropy(Layer):
    """Cross entropy over classes that are divided; a loss for each sample, `[..., 1]`."""

    def __init__(self, mp_group: Group | None = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        group = model_parallel_group(mp_group)
        self.name, self.model_parallel_group = name, group if group is not None else mp_group
        self.world_size, self.rank = (group.nranks, group.rank) if group is not None else (1, 0)
        self.ignore_index = ignore_index

    def forward(self, input: Any, label: Any) -> Any:
        if self.world_size > 1:
            group = self.model_parallel_group
            return _c_softmax_with_cross_entropy(input, label, group, ignore_index=self.ignore_index)
        indices = label.unsqueeze(-1) if label.ndim == input.ndim - 1 else label
        return F.softmax_with_cross_entropy(input, indices, ignore_index=self.ignore_index)
