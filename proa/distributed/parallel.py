"""`DataParallel`: a layer that a program wraps its model in to train it on several devices."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ..core.errors import type_error
from ..eager.tensor import Tensor
from ..nn.layer import Layer


class DataParallel(Layer):
    """The model itself under Paddle's wrapper: its own state dictionary, its own parameters.

    Gradients need no exchange of their own here. A batch that is sharded over devices gives gradients that are summed by
    the compiled step, and in one process with one device there is nothing to sum. So the buffer sizes, `strategy`,
    `find_unused_parameters` and `group` are kept and change nothing, and scripts written for many devices run on one.
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: int = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        if not isinstance(layers, Layer):
            raise type_error(
                "DataParallel", "layers must be a Layer", f"layers: {type(layers).__name__}", "give it the model"
            )
        if int(os.environ.get("PADDLE_TRAINERS_NUM") or 1) > 1:
            # Each process would train a model of its own, and nobody would notice.
            raise NotImplementedError(
                "(DataParallel) gradients of several processes are not exchanged yet; PADDLE_TRAINERS_NUM is "
                f"{os.environ['PADDLE_TRAINERS_NUM']}. Run one process; a batch sharded over its devices is summed."
            )
        super().__init__(f"{layers.full_name()}_data_parallel")
        self._layers = layers
        self._strategy = strategy
        self.comm_buffer_size = comm_buffer_size
        self.last_comm_buffer_size = last_comm_buffer_size
        self.find_unused_parameters = find_unused_parameters
        self.group = group
        self.grad_need_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients of this block are only accumulated, as in the rounds before an update."""
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def scale_loss(self, loss: Tensor) -> Tensor:
        """The loss as it is: gradients are means already. Kept for old scripts."""
        return loss

    def apply_collective_grads(self) -> None:
        """Does nothing: gradients need no exchange. Kept for old scripts."""

    def state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """That of the wrapped model, under the model's own names."""
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars)

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Gives the wrapped model its numbers."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict
