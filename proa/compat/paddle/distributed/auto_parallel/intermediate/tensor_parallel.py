"""Inner names of `paddle.distributed.auto_parallel.intermediate.tensor_parallel`."""

from ......distributed.parallelizing.plans import PlanBase

__all__ = ["PlanBase"]
