"""Clipping by the norm of all gradients of a model whose parts lie in many processes.

Clips run in every process, also in one without gradients: they exchange. So they are taken out of the optimiser, which runs
its own only where there is something to update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....core.dtype import FLOAT32
from ....eager.tensor import Tensor
from ....ir.recorder import recording_gradients
from ....nn.clip import ClipGradByGlobalNorm
from ....ops.basic import full_of
from ...group import Group
from ...transport.operations import all_reduce_op

Pairs = list[tuple[Any, Tensor]]


def sum_of_squares(grads: Iterable[Tensor]) -> Tensor:
    """The sum over all elements, `[1]` in float32; zero of nothing."""
    total = full_of(0.0, (1,), FLOAT32)
    for grad in grads:
        total = total + grad.astype("float32").square().sum()
    return total


def summed(total: Tensor, group: Group) -> Tensor:
    """The sum over a group."""
    return all_reduce_op(total, "sum", tuple(group.ranks)) if group.nranks > 1 else total


class ClipOverProcesses:
    """Base: `clip` in many processes; a subclass says how their squares add up."""

    def __init__(self, clip: ClipGradByGlobalNorm) -> None:
        self._clip, self.clip_norm = clip, clip.clip_norm

    def _squares(self, params_grads: Pairs) -> Tensor:
        """The sum of the squares of all gradients of the model, each element counted once."""
        raise NotImplementedError

    def __call__(self, params_grads: Pairs) -> Pairs:
        return self._dygraph_clip(params_grads)

    def _dygraph_clip(self, params_grads: Pairs) -> Pairs:
        chosen = [pair for pair in params_grads if pair[1] is not None and getattr(pair[0], "need_clip", True)]
        with recording_gradients(False):
            norm = self._squares(chosen).sqrt()
            factor = (self.clip_norm / norm.clip(min=self.clip_norm)).reshape([])
            scaled = {id(parameter): grad * factor.astype(grad.dtype) for parameter, grad in chosen}
        return [(parameter, scaled.get(id(parameter), grad)) for parameter, grad in params_grads]

    def __getattr__(self, name: str) -> Any:
        if name == "_clip":
            raise AttributeError(name)
        return getattr(self._clip, name)


class GroupClip(ClipOverProcesses):
    """Every process of a group has other parameters, or other parts of them."""

    def __init__(self, clip: ClipGradByGlobalNorm, group: Group) -> None:
        super().__init__(clip)
        self._group = group

    def _squares(self, params_grads: Pairs) -> Tensor:
        return summed(sum_of_squares(grad for _, grad in params_grads), self._group)


class Clips:
    """The clips of an optimiser's groups of parameters, taken out of it."""

    def __init__(self, optimizer: Any, over_processes: Callable[[ClipGradByGlobalNorm], ClipOverProcesses]) -> None:
        self._clips = []
        for group in optimizer._member_groups:
            clip = group.get("grad_clip", optimizer._grad_clip)
            self._clips.append((group, over_processes(clip) if type(clip) is ClipGradByGlobalNorm else clip))
            group["grad_clip"] = None

    def __call__(self, pairs: Pairs) -> Pairs:
        """The pairs with clipped gradients."""
        by_parameter = {id(parameter): (parameter, grad) for parameter, grad in pairs}
        clipped: Pairs = []
        for group, clip in self._clips:
            own = [by_parameter[id(each)] for each in group["params"] if id(each) in by_parameter]
            if isinstance(clip, ClipOverProcesses) or (own and clip is not None):
                own = list(clip(own))
            clipped += own
        return clipped
