"""Inner names of `paddle.device`."""

from ....core.place import parse_place as _convert_to_place

__all__ = ["_convert_to_place"]
