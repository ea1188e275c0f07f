"""Inner names of `paddle.nn.layer.layers`."""

from ...base.dygraph.base import in_declarative_mode, in_to_static_mode, param_guard

__all__ = ["in_declarative_mode", "in_to_static_mode", "param_guard"]
