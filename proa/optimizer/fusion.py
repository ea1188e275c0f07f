"""Names of Paddle's fused storage of optimiser states.

Paddle can keep all states in one buffer so that one kernel updates them. Here every update is one fused operation from
the start, so there is no such buffer: the names exist, and say so.
"""

from __future__ import annotations

from typing import Any


class FusedStorage:
    """The part of an optimiser's interface that is about Paddle's fused buffers."""

    fused_buffer_version = 0
    fused_states_accumulators_meta: Any = None
    fused_states_buffer: Any = None
    fused_states_buffer_ipc_meta: Any = None
    fused_states_master_weights_meta: Any = None
    merged_model_params: Any = None

    def use_fusion_storage(self) -> None:
        """Nothing to switch on: updates are fused already."""

    def need_refuse(self) -> None:
        """There is no buffer that could have to be made anew."""

    def reset_need_refuse(self) -> None:
        """There is no buffer that could have to be made anew."""

    def set_merged_model_params(self, merged_model_params: Any) -> None:
        """Remembers the merged parameters of a model."""
        self.merged_model_params = merged_model_params
