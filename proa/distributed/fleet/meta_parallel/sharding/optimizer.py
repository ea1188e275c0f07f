"""Optimiser states divided among processes, and gradients too: after a backward pass each keeps those it looks after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....core.tracebacks import boundary
from .....eager.backward.engine import after_backward
from .....eager.tensor import Tensor
from .....ir.recorder import recording_gradients
from .....nn.layer import Layer
from ....gradients import average
from ....group import Group
from ...base.clipping import Clips, GroupClip
from ...base.synchronising import begin_alike
from ..wrappers import Wrapper
from .shares import Shares

if TYPE_CHECKING:
    from .....optimizer.optimizer import Optimizer


class GroupShardedOptimizer:
    """Updates this process's parameters, and gets the others from those who look after them.

    `parts` are parameters of which every process has a piece of its own (level "p_g_os"): their gradients are as they
    should be. With `keeps_gradients` the rest have the gradients of this process's data until `step`; otherwise
    `GroupShardedStage2` has exchanged them.

    Examples:
        >>> from proa.distributed.sharding import GroupShardedOptimizer
        >>> adam = paddle.optimizer.Adam(0.1, parameters=paddle.nn.Linear(2, 1).parameters())
        >>> GroupShardedOptimizer(adam, paddle.distributed.new_group([0])).get_lr()
        0.1
    """

    def __init__(
        self, optimizer: Optimizer, group: Group, dp_group: Group | None = None, keeps_gradients: bool = True,
        parts: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        self._inner_opt, self._group, self._dp_group = optimizer, group, dp_group
        self._keeps_gradients, self._parts = keeps_gradients, list(parts)
        divided = {id(parameter) for parameter in parts}
        self.shares = Shares([each for each in optimizer._members if id(each) not in divided], group)
        self._clips = Clips(optimizer, lambda clip: GroupClip(clip, group))

    @boundary
    def step(self) -> None:
        """One update; called in all processes of the group together.

        Examples:
            >>> from proa.distributed.sharding import GroupShardedOptimizer
            >>> model = paddle.nn.Linear(2, 1)
            >>> sgd = paddle.optimizer.SGD(0.5, parameters=model.parameters())
            >>> optimizer = GroupShardedOptimizer(sgd, paddle.distributed.new_group([0]))
            >>> model(paddle.ones([1, 2])).sum().backward()
            >>> optimizer.step()
            >>> model.bias.tolist()
            [-0.5]
        """
        with recording_gradients(False):
            if self._keeps_gradients:
                own = self.shares.reduce_gradients([each for each in self.shares.parameters if each.grad is not None])
            else:
                own = [each for each in self.shares.parameters if self.shares.is_own(each) and each.grad is not None]
            own = own + [each for each in self._parts if each.grad is not None]
            if self._dp_group is not None and self._dp_group.nranks > 1:
                average([parameter.grad for parameter in own], self._dp_group)
            pairs = self._clips([(parameter, parameter.grad) for parameter in own])
        self._inner_opt.apply_gradients(pairs)
        self.shares.gather_parameters()

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> tuple[list[Any], Sequence[Any]]:
        """`step()`, after `loss.backward()`; gives the (parameter, gradient) pairs as well.

        Examples:
            >>> from proa.distributed.sharding import GroupShardedOptimizer
            >>> model = paddle.nn.Linear(2, 1)
            >>> sgd = paddle.optimizer.SGD(0.5, parameters=model.parameters())
            >>> optimizer = GroupShardedOptimizer(sgd, paddle.distributed.new_group([0]))
            >>> loss = model(paddle.ones([1, 2])).sum()
            >>> loss.backward()
            >>> operations, pairs = optimizer.minimize(loss)
            >>> len(pairs)
            2
        """
        self.step()
        return [], self._inner_opt.backward(loss, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


class GroupShardedStage2(Wrapper):
    """A model whose gradients are divided: after each backward pass a process has the mean gradients of its parameters
    and none of the others. Every process of the group must use the same parameters.

    Examples:
        >>> from proa.distributed.sharding import GroupShardedOptimizer, GroupShardedStage2
        >>> model, group = paddle.nn.Linear(2, 1), paddle.distributed.new_group([0])
        >>> optimizer = GroupShardedOptimizer(paddle.optimizer.SGD(0.5, parameters=model.parameters()), group)
        >>> GroupShardedStage2(model, optimizer, group)(paddle.ones([4, 2])).shape
        paddle.Size([4, 1])
    """

    def __init__(
        self, layer: Layer, optimizer: GroupShardedOptimizer, group: Group, divides_gradients: bool = True
    ) -> None:
        super().__init__(f"{layer.full_name()}_group_sharded")
        self._layers, self._shares = layer, optimizer.shares
        self._arrived: dict[int, Tensor] = {}
        self._before: dict[int, Tensor | None] = {}
        begin_alike(layer, group)
        for parameter in self._shares.parameters if divides_gradients else []:
            parameter.register_hook(self._taking(parameter))

    def _taking(self, parameter: Any) -> Callable[[Tensor], None]:
        """What was reduced in earlier passes is put aside, so that this pass's gradient comes alone."""

        def take(gradient: Tensor) -> None:
            self._arrived[id(parameter)] = gradient
            self._before[id(parameter)] = parameter._grad
            parameter._grad = None
            after_backward(self, self._reduce)

        return take

    def _reduce(self) -> None:
        used = [parameter for parameter in self._shares.parameters if id(parameter) in self._arrived]
        for parameter in used:
            parameter._grad = self._before[id(parameter)]
        self._shares.reduce_gradients(used, self._arrived)
        self._arrived, self._before = {}, {}
