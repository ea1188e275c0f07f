"""Parameters divided among processes: a layer gathers its own before it runs, and gathers them again for its gradients.

What stands in the model and in the optimiser is this process's piece, a vector. A gathered parameter is the result of an
operation whose gradient divides again, so gradients and optimiser states come as pieces by themselves. The tape keeps the
piece instead of the whole (`saved_tensors_hooks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....autograd.saved_hooks import saved_tensors_hooks
from .....eager.tensor import Tensor, alias
from .....eager.views import replace_value
from .....ir.recorder import recording_gradients
from .....nn.layer import Layer
from .....ops.basic import reshape_to, zeros_of
from .....ops.shape.joining import concat, split
from ....group import Group
from ....transport.operations import all_gather_op
from ...base.synchronising import begin_alike
from ..wrappers import Wrapper

if TYPE_CHECKING:
    from .....optimizer.optimizer import Optimizer


class Piece:
    """A parameter that every process of a group has a piece of."""

    def __init__(self, parameter: Any, group: Group) -> None:
        self.parameter, self.ranks = parameter, tuple(group.ranks)
        self.shape, self.size = tuple(parameter.shape), parameter._aval.size
        length = -(-self.size // group.nranks)
        with recording_gradients(False):
            vector = reshape_to(alias(parameter), (self.size,))  # no view: the parameter gets another shape
            missing = length * group.nranks - self.size
            if missing:
                vector = concat([vector, zeros_of((missing,), parameter._aval.dtype)])
            replace_value(parameter, split(vector, group.nranks)[group.rank].clone())
        parameter.is_piece = True
        if not parameter.stop_gradient:
            # Gathering gives the sum of what the processes' losses say; wanted is the mean.
            parameter.register_hook(lambda gradient: gradient * (1.0 / group.nranks))

    def whole(self) -> Tensor:
        """The parameter, gathered."""
        gathered = all_gather_op(self.parameter, self.ranks)
        found = reshape_to(gathered[: self.size], self.shape)
        found.gathered_from = self
        return found


def _pack(tensor: Tensor) -> Any:
    return getattr(tensor, "gathered_from", tensor)


def _unpack(kept: Any) -> Tensor:
    return kept.whole() if isinstance(kept, Piece) else kept


def _gathering(layer: Layer, pieces: dict[str, Piece]) -> Callable[..., Any]:
    """The layer's forward, with its parameters gathered for as long as it runs."""
    forward = layer.forward

    def gathered_forward(*inputs: Any, **kwargs: Any) -> Any:
        for name, piece in pieces.items():
            vars(layer)[name] = piece.whole()
        try:
            return forward(*inputs, **kwargs)
        finally:
            for name, piece in pieces.items():
                vars(layer)[name] = piece.parameter

    return gathered_forward


class GroupShardedStage3(Wrapper):
    """A model whose parameters of at least `segment_size` elements are divided, but for those of `exclude_layer` (names
    of classes, or ids of layers). Other parameters stay whole.

    A divided parameter is whole only while its own layer's `forward` runs: a weight that other layers use too (tied ones)
    must be excluded.

    Args:
        layer: the model.
        optimizer: its optimiser.
        group: the processes that divide.
        segment_size: the smallest parameter that is divided.
        exclude_layer: layers whose parameters stay whole.

    Examples:
        >>> from proa.distributed.sharding import GroupShardedStage3
        >>> model, group = paddle.nn.Linear(2, 3), paddle.distributed.new_group([0])
        >>> divided = GroupShardedStage3(model, None, group, segment_size=6)
        >>> [piece.shape for piece in divided.pieces]
        [paddle.Size([6])]
    """

    def __init__(
        self, layer: Layer, optimizer: Optimizer, group: Group, segment_size: int = 2**20,
        exclude_layer: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f"{layer.full_name()}_group_sharded")
        self._layers = layer
        begin_alike(layer, group)
        self._pieces: dict[int, Piece] = {}
        excluded = set(exclude_layer or ())
        for each in layer.sublayers(include_self=True):
            if type(each).__name__ not in excluded and id(each) not in excluded:
                self._divide(each, group, segment_size)

    @property
    def pieces(self) -> list[Any]:
        """The divided parameters.

        Examples:
            >>> from proa.distributed.sharding import GroupShardedStage3
            >>> model, group = paddle.nn.Linear(2, 3), paddle.distributed.new_group([0])
            >>> len(GroupShardedStage3(model, None, group, segment_size=6).pieces)
            1
        """
        return [piece.parameter for piece in self._pieces.values()]

    def _divide(self, layer: Layer, group: Group, segment_size: int) -> None:
        large = {
            name: parameter
            for name, parameter in layer._parameters.items()
            if parameter is not None and (id(parameter) in self._pieces or parameter._aval.size >= segment_size)
        }
        for parameter in large.values():
            if id(parameter) not in self._pieces:
                self._pieces[id(parameter)] = Piece(parameter, group)
        if large:
            vars(layer)["forward"] = _gathering(layer, {n: self._pieces[id(p)] for n, p in large.items()})

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the wrapped model gives.

        Examples:
            >>> from proa.distributed.sharding import GroupShardedStage3
            >>> model, group = paddle.nn.Linear(2, 3), paddle.distributed.new_group([0])
            >>> GroupShardedStage3(model, None, group)(paddle.ones([4, 2])).shape
            paddle.Size([4, 3])
        """
        with saved_tensors_hooks(_pack, _unpack):
            return self._layers(*inputs, **kwargs)

    def whole_state_dict(self) -> dict[str, Any]:
        """The model's state dictionary with whole parameters; called in all processes, which go on as they were.

        Examples:
            >>> from proa.distributed.sharding import GroupShardedStage3
            >>> model, group = paddle.nn.Linear(2, 3), paddle.distributed.new_group([0])
            >>> GroupShardedStage3(model, None, group).whole_state_dict()["weight"].shape
            paddle.Size([2, 3])
        """
        with recording_gradients(False):
            return {
                name: self._pieces[id(tensor)].whole() if id(tensor) in self._pieces else tensor
                for name, tensor in self._layers.state_dict().items()
            }

    def get_all_parameters(self, convert2cpu: bool = False) -> list[Any]:
        """Gives the model its whole parameters back, for good: there is no training afterwards.

        Args:
            convert2cpu: taken; it changes nothing.

        Examples:
            >>> from proa.distributed.sharding import GroupShardedStage3
            >>> model, group = paddle.nn.Linear(2, 3), paddle.distributed.new_group([0])
            >>> [parameter.shape for parameter in GroupShardedStage3(model, None, group).get_all_parameters()]
            [paddle.Size([2, 3]), paddle.Size([3])]
        """
        for piece in self._pieces.values():
            with recording_gradients(False):
                replace_value(piece.parameter, piece.whole())
            piece.parameter.is_piece = False
        for layer in self._layers.sublayers(include_self=True):
            vars(layer).pop("forward", None)
        self._pieces.clear()
        return list(self._layers.parameters())
