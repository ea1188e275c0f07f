"""`DataParallel`: each process trains the model on data of its own, and gradients are averaged over the processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..core.errors import type_error
from ..core.tracebacks import boundary
from ..eager.backward.engine import after_backward
from ..eager.tensor import Tensor
from ..nn.layer import Layer
from .gradients import average_gradients, broadcast_from, require_equal
from .group import Group, resolve


class DataParallel(Layer):
    """A model whose gradients are averaged over the processes of a job.

    At the start every process gets the parameters and buffers of the group's first one. After each backward pass the
    gradients become their means over the processes. In a job of one process nothing is done. The state dictionary is that
    of the model itself.

    Args:
        layers: the model.
        strategy: accepted.
        comm_buffer_size: in pieces of how many megabytes gradients are sent.
        last_comm_buffer_size: accepted.
        find_unused_parameters: whether some parameters may have no gradient in some processes.
        group: the processes; all by default.

    Examples:
        >>> model = paddle.DataParallel(paddle.nn.Linear(2, 3))
        >>> model(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    @boundary
    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: int = 1,
        find_unused_parameters: bool = False,
        group: Group | None = None,
    ) -> None:
        if not isinstance(layers, Layer):
            raise type_error(
                "DataParallel", "layers must be a Layer", f"layers: {type(layers).__name__}", "give it the model"
            )
        super().__init__(f"{layers.full_name()}_data_parallel")
        self._layers = layers
        self._strategy = strategy
        self.comm_buffer_size = comm_buffer_size
        self.last_comm_buffer_size = last_comm_buffer_size
        self.find_unused_parameters = find_unused_parameters
        self.group = group
        self.grad_need_sync = True
        found = resolve("DataParallel", group)
        if found is not None and found.nranks > 1:
            self._join(found)

    def _join(self, group: Group) -> None:
        sync_params_buffers(self._layers, group, group.ranks[0], is_model_parallel=True)
        for parameter in self._trained():
            parameter._register_backward_hook(self._gradient_arrived)

    def _trained(self) -> list[Tensor]:
        """The parameters whose gradients are averaged: not those that are divided among processes."""
        return [p for p in self._layers.parameters() if not p.stop_gradient and not p.is_distributed]

    def _gradient_arrived(self) -> None:
        if self.grad_need_sync:
            after_backward(self, self.apply_collective_grads)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the model.

        Args:
            *inputs: its arguments.
            **kwargs: its arguments by name.

        Examples:
            >>> paddle.DataParallel(paddle.nn.Linear(2, 3)).forward(paddle.ones([4, 2])).shape
            paddle.Size([4, 3])
        """
        return self._layers(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients are only added up, as in the rounds before an update.

        Examples:
            >>> model = paddle.DataParallel(paddle.nn.Linear(1, 1))
            >>> with model.no_sync():
            ...     model(paddle.ones([1, 1])).backward()
            >>> model.parameters()[0].grad.tolist()
            [[1.0]]
        """
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def scale_loss(self, loss: Tensor) -> Tensor:
        """The loss as it is: gradients are means already. Kept for old scripts.

        Args:
            loss: the loss.

        Examples:
            >>> model = paddle.DataParallel(paddle.nn.Linear(1, 1))
            >>> model.scale_loss(paddle.ones([1])).tolist()
            [1.0]
        """
        return loss

    def apply_collective_grads(self) -> None:
        """Gives every parameter the mean of all processes' gradients. Backward passes outside `no_sync()` end with it.

        Examples:
            >>> model = paddle.DataParallel(paddle.nn.Linear(1, 1))
            >>> with model.no_sync():
            ...     model(paddle.ones([1, 1])).backward()
            >>> model.apply_collective_grads()
        """
        group = resolve("DataParallel", self.group)
        if group is not None and group.nranks > 1:
            average_gradients(self._trained(), group, self.comm_buffer_size, self.find_unused_parameters)

    def state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """The state dictionary of the wrapped model, under the model's own names.

        Args:
            destination: a dictionary to write to.
            include_sublayers: whether layers within are part of it.
            structured_name_prefix: put before all names.
            use_hook: whether hooks of the state dictionary are called.
            keep_vars: give the tensors themselves.

        Examples:
            >>> sorted(paddle.DataParallel(paddle.nn.Linear(1, 1)).state_dict())
            ['bias', 'weight']
        """
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars)

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Gives the wrapped model its numbers.

        Args:
            state_dict: what `state_dict` gave.
            use_structured_name: whether its names are those of the layers, or of the parameters.

        Returns:
            Names that are missing, and names that are not known.

        Examples:
            >>> model = paddle.DataParallel(paddle.nn.Linear(1, 1))
            >>> model.set_state_dict(model.state_dict())
            ([], [])
        """
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict


def sync_params_buffers(
    model: Layer, comm_group: Group | None = None, src_rank: int = 0, is_model_parallel: bool = False,
    fuse_params: bool = True, is_moe_sharding_parallel: bool = False,
) -> None:  # fmt: skip
    """Gives every process the parameters and buffers of process `src_rank`, but those that are divided among processes."""
    group = resolve("sync_params_buffers", comm_group)
    if group is None or group.nranks == 1:
        return
    named = [*model.named_parameters(), *model.named_buffers()]
    named = [(name, tensor) for name, tensor in named if not (is_model_parallel and tensor.is_distributed)]
    require_equal("DataParallel", named, group)
    broadcast_from([tensor for _, tensor in named], group, group.get_group_rank(src_rank))
