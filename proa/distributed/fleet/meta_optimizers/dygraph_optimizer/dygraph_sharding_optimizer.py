"""DygraphShardingOptimizer: each process of the sharding group updates a share of the parameters and keeps their states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....core.tracebacks import boundary
from .....ir.recorder import recording_gradients
from ...base.clipping import Clips, GroupClip
from ...base.synchronising import is_of_expert
from ...meta_parallel.sharding.shares import Shares
from ...utils.hybrid_parallel_util import obtain_optimizer_parameters_list


class DygraphShardingOptimizer:
    """An optimiser whose states are divided. Gradients are means over the group; after a step all have all parameters."""

    def __init__(self, optimizer: Any, hcg: Any = None, group: Any = None) -> None:
        self._inner_opt, self._hcg = optimizer, hcg
        group = group if hcg is None else hcg.get_group("sharding")
        shared = [each for each in obtain_optimizer_parameters_list(optimizer) if not is_of_expert(each)]
        self._shares, self._group = Shares(shared, group), group
        self._clips: Clips | None = None  # where it steps by itself

    def reduce_gradients(self, parameter_list: Sequence[Any], hcg: Any = None) -> list[Any]:
        """Gives this process's parameters their mean gradients; gives these parameters. Experts are nobody else's."""
        used = [parameter for parameter in parameter_list if parameter.grad is not None]
        own = self._shares.reduce_gradients([parameter for parameter in used if not is_of_expert(parameter)])
        return own + [parameter for parameter in used if is_of_expert(parameter)]

    def apply_gradients(self, params_grads: Sequence[tuple[Any, Any]]) -> None:
        """Updates this process's parameters, then gets those of the others."""
        self._inner_opt.apply_gradients(params_grads)
        self._shares.gather_parameters()

    @boundary
    def step(self) -> None:
        """One update; called in all processes of the group together."""
        if self._clips is None:
            self._clips = Clips(self._inner_opt, lambda clip: GroupClip(clip, self._group))
        parameters = [each for each in obtain_optimizer_parameters_list(self) if not each.stop_gradient]
        with recording_gradients(False):
            own = self.reduce_gradients(parameters)
            pairs = self._clips([(parameter, parameter.grad) for parameter in own])
        self.apply_gradients(pairs)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


# Paddle's second form cuts parameters instead of dealing them out whole, which changes nothing that users see.
DygraphShardingOptimizerV2 = DygraphShardingOptimizer
