"""BoxPSDataset: records in memory under the names that BoxPS has for them."""

from __future__ import annotations

from typing import Any

from .in_memory import InMemoryDataset


class BoxPSDataset(InMemoryDataset):
    """As `InMemoryDataset`; passes begin and end by name only, as tables are on servers.

    Examples:
        >>> dataset = paddle.distributed.fleet.BoxPSDataset()
        >>> dataset.init(batch_size=2)
        >>> dataset.begin_pass()
        >>> dataset.end_pass(True)
    """

    def init(self, **kwargs: Any) -> None:
        """The settings of `InMemoryDataset.init`; pages (`enable_pv_merge`, `parse_logkey`) are refused.

        Args:
            **kwargs: the settings.

        Raises:
            NotImplementedError: pages are asked for.

        Examples:
            >>> paddle.distributed.fleet.BoxPSDataset().init(batch_size=2, rank_offset="")
        """
        for name in ("enable_pv_merge", "parse_logkey"):
            if kwargs.pop(name, False):
                raise NotImplementedError(f"(BoxPSDataset.init) {name}: records are not joined to pages.")
        for name in ("rank_offset", "pv_batch_size", "merge_by_sid"):
            kwargs.pop(name, None)
        super().init(**kwargs)

    def begin_pass(self) -> None:
        """Nothing has to be prepared.

        Examples:
            >>> paddle.distributed.fleet.BoxPSDataset().begin_pass()
        """

    def end_pass(self, need_save_delta: bool) -> None:
        """Nothing has to be ended.

        Examples:
            >>> paddle.distributed.fleet.BoxPSDataset().end_pass(False)
        """


__all__ = ["BoxPSDataset"]
