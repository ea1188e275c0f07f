"""`paddle._legacy_C_ops`: the same operators with their attributes as names and values in turn."""

from __future__ import annotations

from typing import Any

from . import _C_ops


def _by_name(function: Any, num_tensors: int, **defaults: Any) -> Any:
    def call(*arguments: Any) -> Any:
        given = dict(zip(arguments[num_tensors::2], arguments[num_tensors + 1 :: 2], strict=True))
        return function(
            *arguments[:num_tensors], **{**defaults, **{name: given[name] for name in given if name in names}}
        )

    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


argsort = _by_name(_C_ops.argsort, 1)
multiclass_nms3 = _by_name(_C_ops.multiclass_nms3, 3, score_threshold=0.0, nms_top_k=-1, keep_top_k=-1)


def coalesce_tensor(inputs: Any, *attributes: Any) -> Any:
    """Tensors in one memory: values are never overwritten here, so that there is nothing to lay side by side."""
    raise NotImplementedError(
        "(_legacy_C_ops.coalesce_tensor) tensors have no common memory here; use paddle.concat of the flattened tensors, or "
        "leave fusing to the compiler."
    )
