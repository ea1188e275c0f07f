"""Inner names of `paddle.distributed.communication.group`."""

from .....distributed.group import Group, position
from .....distributed.group import global_group as _get_global_group

__all__ = ["Group", "_get_global_group"]


def _get_or_throw_group_rank(global_rank: int, group: Group) -> int:
    return position("collective", group, global_rank, "rank")


def _warn_cur_rank_not_in_group(group: Group | None) -> bool:
    return group is not None and not group.is_member()
