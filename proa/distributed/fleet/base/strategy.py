"""DistributedStrategy: the settings of a job, and how many processes divide what."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

from ....core.errors import value_error

# Switches, off unless said otherwise, and the settings that belong to some of them.
_SWITCHES = (
    "a_sync", "adaptive_localsgd", "amp", "asp", "auto", "auto_search", "cudnn_batchnorm_spatial_persistent",
    "cudnn_exhaustive_search", "dgc", "find_unused_parameters", "fp16_allreduce", "fuse_all_reduce_ops", "gradient_merge",
    "gradient_scale", "heter_ccl_mode", "is_fl_ps_mode", "lamb", "lars", "localsgd", "pipeline", "qat", "recompute",
    "semi_auto", "sharding", "sync_batch_norm", "sync_nccl_allreduce", "tensor_parallel", "use_hierarchical_allreduce",
    "with_coordinator", "without_graph_optimization",
)  # fmt: skip
_ON = frozenset({"fuse_all_reduce_ops", "sync_nccl_allreduce"})
_CONFIGS: dict[str, dict[str, Any]] = {
    "a_sync_configs": {},
    "amp_configs": {
        "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0,
        "decr_ratio": 0.5, "use_dynamic_loss_scaling": True, "custom_white_list": [], "custom_black_list": [],
        "use_pure_fp16": False, "use_fp16_guard": True,
    },
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
    "hybrid_configs": {
        "dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1, "ep_degree": 1,
        "moe_sharding_degree": 1, "cp_degree": 1, "order": ["dp", "pp", "sharding", "sep", "cp", "mp"],
        "mp_configs": {}, "pp_configs": {}, "sharding_configs": {}, "enable_optimizer_timer": False,
    },
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars_configs": {"lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0, "exclude_from_weight_decay": []},
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "pipeline_configs": {"micro_batch_size": 1, "accumulate_steps": 1, "schedule_mode": "1F1B", "p2p_cache_shape": True},
    "qat_configs": {},
    "recompute_configs": {"checkpoints": [], "enable_offload": False, "checkpoint_shape": []},
    "sharding_configs": {"segment_broadcast_MB": 32.0, "sharding_degree": 8, "mp_degree": 1, "stage": 1},
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
}  # fmt: skip
# What the settings call an axis, and what topologies call it.
AXES = {"dp": "data", "pp": "pipe", "sharding": "sharding", "sep": "sep", "cp": "context", "mp": "model"}


class _Settings(dict[str, Any]):
    """A dictionary whose entries are attributes too, as programs read `hybrid_configs["pp_configs"].x`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class DistributedStrategy:
    """The settings of a job; `x_configs` are dictionaries, of which an assignment changes the named entries.

    Examples:
        >>> strategy = paddle.distributed.fleet.DistributedStrategy()
        >>> strategy.hybrid_configs = {"mp_degree": 2, "pp_degree": 4}
        >>> strategy.hybrid_configs["mp_degree"], strategy.hybrid_configs["sharding_degree"]
        (2, 1)
    """

    if TYPE_CHECKING:  # one for each name in `_SWITCHES` and `_CONFIGS`

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self) -> None:
        values = vars(self)
        for name in _SWITCHES:
            values[name] = name in _ON
        for name, settings in _CONFIGS.items():
            values[name] = _Settings(
                {k: _Settings(v) if isinstance(v, dict) else copy.copy(v) for k, v in settings.items()}
            )
        values.update(
            nccl_comm_num=1, fuse_grad_size_in_MB=32, last_comm_group_size_MB=1, auto_parallel_recompute=False
        )
        values.update(execution_strategy=None, build_strategy=None, hierarchical_allreduce_inter_nranks=1)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CONFIGS:
            if not isinstance(value, dict):
                raise TypeError(f"(DistributedStrategy) {name} takes a dictionary; received {type(value).__name__}.")
            for key, setting in value.items():
                nested = isinstance(setting, dict) and isinstance(vars(self)[name].get(key, {}), dict)
                vars(self)[name][key] = _Settings(setting) if nested else setting
        else:
            vars(self)[name] = value

    @property
    def hybrid_parallel_order(self) -> list[str]:
        """The axes, the one whose processes lie farthest from each other first.

        Examples:
            >>> paddle.distributed.fleet.DistributedStrategy().hybrid_parallel_order
            ['dp', 'pp', 'sharding', 'sep', 'cp', 'mp']
        """
        return list(self.hybrid_configs["order"])

    def arrangement(self, size: int) -> dict[str, int]:
        """Axes by their names in topologies, in their order, and how many of `size` processes are along each.

        Data is divided among those that nothing else needs, unless "dp_degree" says how many they are.

        Args:
            size: the number of processes.

        Raises:
            ValueError: the degrees do not multiply to it.

        Examples:
            >>> strategy = paddle.distributed.fleet.DistributedStrategy()
            >>> strategy.hybrid_configs = {"mp_degree": 2}
            >>> strategy.arrangement(8)
            {'data': 4, 'pipe': 1, 'sharding': 1, 'sep': 1, 'context': 1, 'model': 2}
        """
        degrees = {short: int(self.hybrid_configs.get(f"{short}_degree", 1)) for short in AXES}
        degrees = {short: degree if degree > 0 else 1 if short != "dp" else -1 for short, degree in degrees.items()}
        others = math.prod(degree for short, degree in degrees.items() if short != "dp")
        if degrees["dp"] == -1 and size % others == 0:
            degrees["dp"] = size // others
        if degrees["dp"] * others != size:
            asked = {f"{short}_degree": degree for short, degree in degrees.items() if degree not in (-1, 1)}
            raise value_error(
                "fleet.init",
                "there is one process, so that nothing can be divided" if size == 1
                else f"the degrees must multiply to the number of processes, {size}",
                ", ".join(f"hybrid_configs[{name!r}]: {degree}" for name, degree in asked.items()),
                f"use degrees of {'1' if size == 1 else 'such a product'}, or start as many processes",
            )  # fmt: skip
        order = self.hybrid_parallel_order
        strange = [short for short in order if short not in AXES]
        missing = [short for short, degree in degrees.items() if short not in order and degree > 1]
        if strange or missing or len(set(order)) != len(order):
            raise value_error(
                "fleet.init",
                f"the order of axes must name each of {list(AXES)} that is longer than one, once",
                f"{order}",
            )
        order += [short for short in AXES if short not in order]
        return {AXES[short]: degrees[short] for short in order}

    def __repr__(self) -> str:
        on = [name for name in _SWITCHES if vars(self)[name] is True]
        return f"DistributedStrategy({', '.join(on)})"
