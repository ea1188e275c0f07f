"""HybridParallelOptimizer: gradients of the same parameters are averaged, norms are those of the whole model.

A step: with `sharding_degree` each process gets the mean gradients of its share of the parameters; gradients that were
computed from other data become means; clipping counts every element of the model once; the inner optimiser updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....core.tracebacks import boundary
from .....eager.tensor import Tensor
from .....ir.recorder import recording_gradients
from .....nn.clip import ClipGradByGlobalNorm
from ...base.clipping import ClipOverProcesses, Clips, Pairs, sum_of_squares, summed
from ...base.synchronising import average_over_data, is_of_expert
from ...utils.hybrid_parallel_util import obtain_optimizer_parameters_list
from .dygraph_sharding_optimizer import DygraphShardingOptimizer


class HybridParallelClipGrad(ClipOverProcesses):
    """Clipping in a model that is divided as `fleet.init` was told."""

    def __init__(self, clip: ClipGradByGlobalNorm, hcg: Any, timers: Any = None) -> None:
        super().__init__(clip)
        self._hcg = hcg

    def _counts_here(self, parameter: Any) -> bool:
        """Whether this process counts its part of a parameter: what many have alike is counted by the first of them."""
        if getattr(parameter, "is_firstly_shared", True) is False:
            return False
        alike = ["sep", "context"] if parameter.is_distributed else ["sep", "context", "model"]
        return all(self._hcg.get_group(axis).rank == 0 for axis in alike)

    def _squares(self, params_grads: Pairs) -> Tensor:
        experts = [pair for pair in params_grads if is_of_expert(pair[0])]
        others = [
            grad for parameter, grad in params_grads if not is_of_expert(parameter) and self._counts_here(parameter)
        ]
        total = summed(sum_of_squares(others), self._hcg.get_check_parallel_group())
        group = self._hcg.get_group("expert")
        if group.nranks == 1 and not experts:
            return total
        # Without an ep_degree experts know their group. Stages have other experts.
        group = group if group.nranks > 1 else experts[0][0].expert_group
        squares = summed(sum_of_squares(grad for _, grad in experts), group)
        return total + summed(squares, self._hcg.get_group("pipe"))


class HybridParallelOptimizer:
    """An optimiser for a model that is divided as `fleet.init` was told."""

    def __init__(self, optimizer: Any, hcg: Any, strategy: Any = None) -> None:
        self._hcg, self._strategy = hcg, strategy
        sharded = hcg.get_group("sharding").nranks > 1
        self._inner_opt = DygraphShardingOptimizer(optimizer, hcg) if sharded else optimizer
        self._find_unused = bool(getattr(strategy, "find_unused_parameters", False))
        self._clips = Clips(optimizer, lambda clip: HybridParallelClipGrad(clip, hcg))

    @boundary
    def step(self) -> None:
        """One update; called in all processes together."""
        parameters = obtain_optimizer_parameters_list(self._inner_opt)
        used = [parameter for parameter in parameters if not parameter.stop_gradient and parameter.grad is not None]
        with recording_gradients(False):
            if isinstance(self._inner_opt, DygraphShardingOptimizer):
                used = self._inner_opt.reduce_gradients(used, self._hcg)
            average_over_data(used, self._hcg, self._find_unused)
            pairs = self._clips([(parameter, parameter.grad) for parameter in used])
        self._inner_opt.apply_gradients(pairs)

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], Sequence[Any]]:
        """`step()`, after `loss.backward()`; gives the (parameter, gradient) pairs as well."""
        self.step()
        return [], self._inner_opt.backward(loss, startup_program, parameters, no_grad_set)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)
