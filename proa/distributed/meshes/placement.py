"""How a tensor lies on one axis of a mesh: whole everywhere, cut, or in parts that are still to be reduced."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from ...core.errors import type_error, value_error


class ReduceType(IntEnum):
    """What the parts of a partial tensor become whole by.

    Examples:
        >>> paddle.distributed.ReduceType.kRedMax
        <ReduceType.kRedMax: 1>
    """

    kRedSum = 0
    kRedMax = 1
    kRedMin = 2
    kRedProd = 3
    kRedAvg = 4
    kRedAny = 5
    kRedAll = 6


class Placement:
    """How a tensor lies on one axis of a mesh: `Replicate`, `Shard` or `Partial`.

    Examples:
        >>> isinstance(paddle.distributed.Shard(0), paddle.distributed.Placement)
        True
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the tensor is cut, along dimension `dim` if that is given.

        Examples:
            >>> paddle.distributed.Replicate().is_shard()
            False
        """
        return False

    def is_replicated(self) -> bool:
        """Whether every device has the whole.

        Examples:
            >>> paddle.distributed.Shard(0).is_replicated()
            False
        """
        return False

    def is_partial(self) -> bool:
        """Whether each device has a part that is still to be reduced.

        Examples:
            >>> paddle.distributed.Shard(0).is_partial()
            False
        """
        return False

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *sorted(vars(self).items())))


class Replicate(Placement):
    """Every device has the whole.

    Examples:
        >>> paddle.distributed.Replicate()
        Replicate()
    """

    def is_replicated(self) -> bool:
        """True: every device has the whole.

        Examples:
            >>> paddle.distributed.Replicate().is_replicated()
            True
        """
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Shard(Placement):
    """The tensor is cut along a dimension.

    Args:
        dim: the dimension; a negative one is counted from the end.

    Examples:
        >>> paddle.distributed.Shard(1)
        Shard(dim=1)
    """

    def __init__(self, dim: int) -> None:
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise type_error("Shard", "dim must be an integer", type(dim).__name__)
        self.dim = dim

    def get_dim(self) -> int:
        """The dimension that is cut.

        Examples:
            >>> paddle.distributed.Shard(1).get_dim()
            1
        """
        return self.dim

    def is_shard(self, dim: int | None = None) -> bool:
        """True, unless `dim` is given and another one is cut.

        Examples:
            >>> paddle.distributed.Shard(1).is_shard(), paddle.distributed.Shard(1).is_shard(0)
            (True, False)
        """
        return dim is None or dim == self.dim

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


class Partial(Placement):
    """Each device has a part that is still to be reduced.

    Args:
        reduce_type: how; a `ReduceType`.

    Examples:
        >>> paddle.distributed.Partial(paddle.distributed.ReduceType.kRedMax)
        Partial(reduce_type=MAX)
    """

    def __init__(self, reduce_type: int = ReduceType.kRedSum) -> None:
        self._reduce_type = ReduceType(reduce_type)

    def reduce_type(self) -> ReduceType:
        """How the parts become whole.

        Examples:
            >>> paddle.distributed.Partial().reduce_type().name
            'kRedSum'
        """
        return self._reduce_type

    def is_partial(self) -> bool:
        """True: each device has a part.

        Examples:
            >>> paddle.distributed.Partial().is_partial()
            True
        """
        return True

    def __repr__(self) -> str:
        return f"Partial(reduce_type={self._reduce_type.name.removeprefix('kRed').upper()})"


def checked(where: str, shape: Sequence[int], mesh: Any, placements: Any) -> tuple[Placement, ...]:
    """Placements for a tensor of some shape on a mesh, with dimensions counted from the front."""
    given = list(placements) if isinstance(placements, (list, tuple)) else None
    if given is None or not all(isinstance(one, Placement) for one in given):
        raise type_error(
            where, "placements must be a list of Shard, Replicate and Partial", repr(placements),
            "write one for each axis of the mesh",
        )  # fmt: skip
    if len(given) > mesh.ndim:
        raise value_error(
            where, f"a mesh of the axes {mesh.dim_names} takes {mesh.ndim} placements", f"placements: {given}",
            "write one for each axis; those left out are Replicate()",
        )  # fmt: skip
    found: list[Placement] = []
    for one in given:
        if isinstance(one, Shard):
            if not -len(shape) <= one.dim < len(shape):
                raise value_error(
                    where, f"{one} needs a tensor with such a dimension", f"a tensor of shape {list(shape)}"
                )
            one = Shard(one.dim % len(shape))
        found.append(one)
    return (*found, *[Replicate()] * (mesh.ndim - len(found)))
