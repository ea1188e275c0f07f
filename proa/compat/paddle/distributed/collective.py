"""Inner names of `paddle.distributed.collective`."""

from ....distributed.group import Group
from ....distributed.group import global_group as _get_global_group

__all__ = ["Group", "_get_global_group"]
