"""Inner names of `paddle.distributed.auto_parallel.intermediate.tensor_parallel`."""

from ......distributed.plans import PlanBase

__all__ = ["PlanBase"]
