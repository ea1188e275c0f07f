"""Messages by which a supervisor of many machines recognises failures."""

from __future__ import annotations

from ....eager.tensor import Tensor

AADIFF_ERROR = "PaddleRecall error(101): AAdiff"
LOSS_NAN_ERROR = "PaddleRecall error(102): LossNan"
SHARDING_PAD_NON_ZERO_ERROR = "PaddleRecall error(103): ShardingPadNonZero"
LOSS_INF_ERROR = "PaddleRecall error(104): LossInf"


def check_naninf(tensor: Tensor) -> str | None:
    """The message for a tensor with NaN or infinity in it."""
    if bool(tensor.isnan().any()):
        return LOSS_NAN_ERROR
    return LOSS_INF_ERROR if bool(tensor.isinf().any()) else None
