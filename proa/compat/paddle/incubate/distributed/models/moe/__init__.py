"""`paddle.incubate.distributed.models.moe`: mixtures of experts (`proa/distributed/models/moe`)."""

from .......distributed.models.moe import (
    BaseGate,
    ClipGradForMOEByGlobalNorm,
    GShardGate,
    MoELayer,
    NaiveGate,
    SwitchGate,
)

__all__ = ["BaseGate", "ClipGradForMOEByGlobalNorm", "GShardGate", "MoELayer", "NaiveGate", "SwitchGate"]
