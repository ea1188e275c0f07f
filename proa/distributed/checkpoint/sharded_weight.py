"""`ShardedWeight`: a local tensor that says which block of a larger one it is.

Layers that divide their weights by hand (`fleet`'s parallel layers) describe themselves so; a tensor that spans devices
knows its blocks by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor

if TYPE_CHECKING:
    from ..group import Group


@dataclass
class ShardedWeight:
    """A block of a tensor.

    `local_tensor` has the shape `local_shape` and lies at `global_offset` of a tensor of `global_shape`. Where an optimiser
    has divided the block further, `is_flattened` says that `local_tensor` holds only the elements `flattened_range` of the
    block, counted row by row.

    Raises:
        ValueError: the block does not lie within the whole.

    Examples:
        >>> upper = paddle.distributed.ShardedWeight("w", paddle.ones([2, 4]), (2, 4), (4, 4), (0, 0))
        >>> upper.global_shape, upper.global_offset
        ((4, 4), (0, 0))
    """

    key: str
    local_tensor: Tensor
    local_shape: tuple[int, ...]
    global_shape: tuple[int, ...]
    global_offset: tuple[int, ...]
    is_flattened: bool = False
    flattened_range: slice | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.local_tensor, Tensor):
            raise type_error("ShardedWeight", "local_tensor must be a Tensor", type(self.local_tensor).__name__)
        self.local_shape, self.global_shape, self.global_offset = (
            tuple(map(int, sizes)) for sizes in (self.local_shape, self.global_shape, self.global_offset)
        )
        ends = [start + size for start, size in zip(self.global_offset, self.local_shape)]
        same_rank = len(self.local_shape) == len(self.global_shape) == len(self.global_offset)
        if (
            not same_rank
            or any(end > size for end, size in zip(ends, self.global_shape))
            or min(self.global_offset, default=0) < 0
        ):
            raise value_error(
                "ShardedWeight", "the block must lie within the whole",
                f"{self.key!r}: shape {self.local_shape} at {self.global_offset} of {self.global_shape}",
            )  # fmt: skip
        expected = self.local_shape if self.flat is None else (self.flat[1] - self.flat[0],)
        if int(np.prod(self.local_tensor.shape)) != int(np.prod(expected)):
            raise value_error(
                "ShardedWeight", f"local_tensor must have the elements of {list(expected)}",
                f"{self.key!r}: {list(self.local_tensor.shape)}",
            )  # fmt: skip

    @property
    def flat(self) -> tuple[int, int] | None:
        """The range of elements held, if it is less than the block.

        Examples:
            >>> print(paddle.distributed.ShardedWeight("w", paddle.ones([2]), (2,), (4,), (2,)).flat)
            None
        """
        if not self.is_flattened or self.flattened_range is None:
            return None
        return int(self.flattened_range.start), int(self.flattened_range.stop)


ShardedStateDict = Union[dict[str, ShardedWeight], "OrderedDict[str, ShardedWeight]"]


def shard_weight(key: str, weight: Tensor, axis: int, group: Group | None) -> ShardedWeight:
    """The weight as the block of this process, of equal blocks along an axis, one for each process of the group.

    Args:
        key: the weight's name.
        weight: this process's block.
        axis: along which the whole is divided.
        group: the processes that it is divided among; None: this one.

    Examples:
        >>> paddle.distributed.shard_weight("w", paddle.ones([2, 4]), 0, None).global_shape
        (2, 4)
    """
    count, rank = (group.nranks, group.rank) if group is not None else (1, 0)
    shape = tuple(weight.shape)
    if not -len(shape) <= axis < len(shape):
        raise value_error("shard_weight", f"the axis of {key!r} must be one of {len(shape)}", f"axis: {axis}")
    axis %= len(shape)
    whole = tuple(size * count if number == axis else size for number, size in enumerate(shape))
    offset = tuple(shape[axis] * rank if number == axis else 0 for number in range(len(shape)))
    return ShardedWeight(key, weight, shape, whole, offset)


def make_replicated_sharded_weight(key: str, tensor: Tensor) -> ShardedWeight:
    """The tensor as a block that is the whole."""
    shape = tuple(tensor.shape)
    return ShardedWeight(key, tensor, shape, shape, (0,) * len(shape))


def make_tp_sharded_weight_for_checkpoint(key: str, tensor: Tensor, tensor_parallel_axis: int = 0) -> ShardedWeight:
    """The tensor as the block of this process along an axis that is divided among the model-parallel processes."""
    from ..fleet.base.topology import get_hybrid_communicate_group

    topology = get_hybrid_communicate_group()
    return shard_weight(
        key, tensor, tensor_parallel_axis, topology.get_group("model") if topology is not None else None
    )


def build_sharded_state_dict(
    state_dict: dict[str, Tensor], shard_rules: dict[str, int] | None = None, prefix: str = ""
) -> dict[str, ShardedWeight]:
    """A state dictionary whose tensors say which blocks they are.

    `shard_rules` gives the axis along which a tensor is divided among the model-parallel processes; tensors without a rule
    are whole in every process. `prefix` is put before each name.

    Args:
        state_dict: tensors by name.
        shard_rules: axes by name.
        prefix: what names begin with.

    Raises:
        ValueError: a rule names no tensor.

    Examples:
        >>> weights = paddle.distributed.build_sharded_state_dict({"w": paddle.ones([2, 4])}, prefix="model.")
        >>> {name: weight.global_shape for name, weight in weights.items()}
        {'model.w': (2, 4)}
    """
    rules = shard_rules or {}
    unknown = sorted(set(rules) - set(state_dict))
    if unknown:
        raise value_error("build_sharded_state_dict", "every rule must name a tensor", f"{unknown[:10]}")
    return {
        f"{prefix}{key}": make_tp_sharded_weight_for_checkpoint(f"{prefix}{key}", tensor, rules[key])
        if key in rules
        else make_replicated_sharded_weight(f"{prefix}{key}", tensor)
        for key, tensor in state_dict.items()
    }


def create_sharded_weight_with_new_local(
    new_key: str, new_local_tensor: Tensor, reference_tensor: ShardedWeight
) -> ShardedWeight:
    """Another tensor (an optimiser's state) that is divided as a weight is."""
    return ShardedWeight(
        new_key, new_local_tensor, reference_tensor.local_shape, reference_tensor.global_shape,
        reference_tensor.global_offset, reference_tensor.is_flattened, reference_tensor.flattened_range,
    )  # fmt: skip
