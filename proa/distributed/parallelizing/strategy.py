"""`dist.Strategy`: how `dist.to_static` trains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.errors import type_error, value_error

# The settings of each part, with Paddle's defaults. What XLA decides by itself (streams, buffers, overlap) may be set and
# changes nothing.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "sharding": {
        "enable": False, "stage": 1, "degree": 8, "enable_overlap": False, "param_comm_stream_num": 1,
        "grad_comm_stream_num": 1, "param_bucket_size_numel": 1, "grad_bucket_size_numel": 1,
        "enable_hierarchical_comm": False, "partition_algor": "greedy_even", "enable_tuning": False, "tuning_range": [],
        "release_gradients": False, "comm_buffer_size_MB": 256, "enable_tensor_fusion": False,
        "save_unbalanced_param": True,
    },
    "amp": {
        "enable": False, "dtype": "float16", "level": "o1", "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": 0.8, "use_dynamic_loss_scaling": True,
        "custom_white_list": [], "custom_black_list": [], "custom_black_varnames": [], "use_fp16_guard": False,
        "use_bf16_guard": False, "use_master_grad": False, "use_promote": True,
    },
    "pipeline": {
        "enable": False, "schedule_mode": "1F1B", "pp_degree": 1, "vpp_degree": 1, "vpp_seg_method": "",
        "micro_batch_size": 1, "accumulate_steps": 1, "generation_batch_size": 1, "enable_send_recv_overlap": False,
        "job_schedule_profiler_start": -1, "job_schedule_profiler_stop": -1, "program_runtimes": [61, 72, 71, 34, 3],
        "memory_limit_times": -1, "split_backward": False, "auto_parallel_sync_shared_params": False,
    },
    "gradient_merge": {"enable": False, "k_steps": 1, "avg": True},
    "fused_passes": {"enable": False, "fused_passes_list": []},
}  # fmt: skip


class _Part:
    """One part of a strategy: settings by name; an unknown name is an error."""

    _name: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, name: str, given: dict[str, Any] | None = None) -> None:
        object.__setattr__(self, "_name", name)
        self.__dict__.update({key: list(v) if isinstance(v, list) else v for key, v in _DEFAULTS[name].items()})
        for key, value in (given or {}).items():
            setattr(self, key, value)

    def __setattr__(self, key: str, value: Any) -> None:
        if key not in _DEFAULTS[self._name]:
            raise value_error(f"Strategy.{self._name}", f"there is no setting {key!r}", f"{key} = {value!r}")
        self.__dict__[key] = value

    def to_dict(self) -> dict[str, Any]:
        return {key: self.__dict__[key] for key in _DEFAULTS[self._name]}

    def __repr__(self) -> str:
        return f"{self._name}({self.to_dict()})"


class Strategy:
    """Settings of `dist.to_static`, in parts: `sharding`, `gradient_merge`, `pipeline`, `amp`, `fused_passes`.

    Args:
        config: a dictionary of parts, which are dictionaries of settings.

    Raises:
        ValueError: there is no such part or setting.

    Examples:
        >>> strategy = paddle.distributed.Strategy({"pipeline": {"enable": True, "accumulate_steps": 4}})
        >>> strategy.pipeline.accumulate_steps, strategy.amp.enable
        (4, False)
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        if config is not None and not isinstance(config, dict):
            raise type_error("Strategy", "config is a dictionary of parts", type(config).__name__)
        unknown = sorted(set(config or {}) - set(_DEFAULTS))
        if unknown:
            raise value_error("Strategy", f"the parts are {list(_DEFAULTS)}", f"{unknown}")
        self.sharding, self.amp, self.pipeline, self.gradient_merge, self.fused_passes = (
            _Part(name, (config or {}).get(name)) for name in _DEFAULTS
        )
        self.full_graph = True

    def to_dict(self) -> dict[str, Any]:
        """All settings, as a dictionary of dictionaries.

        Examples:
            >>> paddle.distributed.Strategy().to_dict()["gradient_merge"]
            {'enable': False, 'k_steps': 1, 'avg': True}
        """
        return {name: getattr(self, name).to_dict() for name in _DEFAULTS}

    def __repr__(self) -> str:
        return f"Strategy({self.to_dict()})"
