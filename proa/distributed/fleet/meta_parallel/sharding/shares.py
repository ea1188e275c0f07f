"""Which process looks after which parameters, and how their gradients and values travel.

Parameters are dealt out whole, so that the processes have about equally many elements. Each process's share is laid end to
end and filled up to the longest, so that one `reduce_scatter` brings everyone the gradients it is to have, and one
`all_gather` gives everyone all parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....eager.tensor import Tensor
from .....eager.views import replace_value
from .....ir.recorder import recording_gradients
from .....ops.basic import reshape_to, zeros_of
from .....ops.shape.joining import concat, split
from ....group import Group
from ....transport.operations import all_gather_op, reduce_scatter_op


class Shares:
    """The parameters of a model, dealt out to the processes of a group."""

    def __init__(self, parameters: Sequence[Any], group: Group) -> None:
        self.group, self.ranks = group, tuple(group.ranks)
        self.parameters = [parameter for parameter in parameters if not parameter.stop_gradient]
        self.owner: dict[int, int] = {}
        loads = [0] * group.nranks
        for parameter in sorted(self.parameters, key=lambda each: -each._aval.size):
            position = loads.index(min(loads))
            self.owner[id(parameter)] = position
            loads[position] += parameter._aval.size

    def is_own(self, parameter: Any) -> bool:
        return self.owner.get(id(parameter)) == self.group.rank

    def _rows(self, parameters: Sequence[Any]) -> list[tuple[Any, int, list[list[Any]]]]:
        """For each dtype: the parameters of every process, and the length of the longest row."""
        by_kind: dict[Any, list[list[Any]]] = {}
        for parameter in parameters:
            if id(parameter) in self.owner:
                rows = by_kind.setdefault(parameter._aval.dtype, [[] for _ in self.ranks])
                rows[self.owner[id(parameter)]].append(parameter)
        return [
            (kind, max(sum(each._aval.size for each in row) for row in rows), rows) for kind, rows in by_kind.items()
        ]

    def reduce_gradients(self, parameters: Sequence[Any], gradients: dict[int, Tensor] | None = None) -> list[Any]:
        """Gives this process's parameters the means of all processes' gradients; gives these parameters.

        `gradients` (by id of their parameter) are taken instead of those that the parameters have; then a mean is added
        to what a parameter has.
        """
        with recording_gradients(False):
            given = {id(each): each.grad for each in parameters} if gradients is None else gradients
            layout = self._rows(parameters)
            packed = [
                concat([_row([given[id(each)] for each in row], length, kind) for row in rows])
                for kind, length, rows in layout
            ]  # all of them before the first exchange, which ends the segment
            own = []
            for whole, (_, _, rows) in zip(packed, layout, strict=True):
                mean = reduce_scatter_op(whole, self.ranks, "avg")
                for parameter, part in _parts(mean, rows[self.group.rank]):
                    before = parameter._grad if gradients is not None else None
                    parameter._grad = part if before is None else before + part
                    own.append(parameter)
        return own

    def gather_parameters(self) -> None:
        """Gives every process the parameters as their owners have them."""
        with recording_gradients(False):
            layout = self._rows(self.parameters)
            packed = [_row(rows[self.group.rank], length, kind) for kind, length, rows in layout]
            for row, (_, length, rows) in zip(packed, layout, strict=True):
                whole = reshape_to(all_gather_op(row, self.ranks), (len(self.ranks), length))
                for position, others in enumerate(rows):
                    if position != self.group.rank:
                        for parameter, part in _parts(whole[position], others):
                            replace_value(parameter, part)


def _row(tensors: Sequence[Tensor], length: int, kind: Any) -> Tensor:
    """Tensors end to end, filled up with zeros."""
    vectors = [reshape_to(tensor, (tensor._aval.size,)) for tensor in tensors]
    missing = length - sum(tensor._aval.size for tensor in tensors)
    if missing:
        vectors.append(zeros_of((missing,), kind))
    return concat(vectors) if len(vectors) > 1 else vectors[0]


def _parts(row: Tensor, parameters: Sequence[Any]) -> list[tuple[Any, Tensor]]:
    """A row taken apart: each parameter with what is its own."""
    sizes = [each._aval.size for each in parameters]
    if not sizes:
        return []
    missing = row._aval.size - sum(sizes)
    pieces = split(row, [*sizes, missing] if missing else sizes) if len(sizes) + (missing > 0) > 1 else [row]
    return [
        (parameter, reshape_to(piece, parameter._aval.shape))
        for parameter, piece in zip(parameters, pieces[: len(sizes)], strict=True)
    ]
