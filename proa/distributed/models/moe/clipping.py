"""Clipping by the norm of all gradients, of which those of experts lie in many processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....eager.tensor import Tensor
from ....nn.clip import ClipGradByGlobalNorm
from ...fleet.base.clipping import ClipOverProcesses, Pairs, sum_of_squares, summed
from ...fleet.base.synchronising import is_of_expert
from ...group import Group


class ClipGradForMOEByGlobalNorm(ClipOverProcesses):
    """Scales all gradients by one factor so that their joint norm is at most `clip_norm`.

    Parameters for which `is_expert_param_func` is true (unless given: those of experts in a `MoELayer`) are others in
    every process of `moe_group`; the rest are the same there.
    """

    def __init__(
        self, clip_norm: float, is_expert_param_func: Callable[[Any], bool] | None = None, moe_group: Group | None = None,
        group_name: str = "default_moe_group",
    ) -> None:  # fmt: skip
        super().__init__(ClipGradByGlobalNorm(clip_norm, group_name))
        self.is_expert_param_func, self.moe_group = is_expert_param_func or is_of_expert, moe_group

    def _squares(self, params_grads: Pairs) -> Tensor:
        is_expert = self.is_expert_param_func
        total = sum_of_squares(grad for parameter, grad in params_grads if not is_expert(parameter))
        experts = sum_of_squares(grad for parameter, grad in params_grads if is_expert(parameter))
        return total + (experts if self.moe_group is None else summed(experts, self.moe_group))
