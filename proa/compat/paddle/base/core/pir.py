"""Inner names of `paddle.base.core.pir`."""

from ....layout import resolve

ops = resolve("_C_ops")
