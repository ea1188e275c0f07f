"""Inner names of `paddle.nn.layer.transformer`."""

from __future__ import annotations

from typing import Any

from .....core.dtype import to_numpy_dtype
from .....nn.base.attributes import ParamAttr
from .....nn.transformer.attention import additive_mask
from .....ops.basic import cast_to


def _convert_attention_mask(attn_mask: Any, dtype: Any) -> Any:
    """A mask as numbers to add, in that data type: integers and booleans hide places where they are 0."""
    if attn_mask is None:
        return None
    kind = to_numpy_dtype(dtype)
    return cast_to(additive_mask(attn_mask, kind), kind)


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[Any]:
    """The attributes of `n` parameters: the given ones, or the given one with its name numbered."""
    if isinstance(param_attr, (list, tuple)):
        if len(param_attr) != n:
            raise ValueError(f"(_convert_param_attr_to_list) {n} attributes are wanted; received {len(param_attr)}.")
        return [attr if isinstance(attr, bool) else ParamAttr.of(attr) for attr in param_attr]
    if isinstance(param_attr, bool):
        return [param_attr] * n
    attr = ParamAttr.of(param_attr)
    assert attr is not None
    return [ParamAttr(**{**vars(attr), "name": f"{attr.name}_{i}" if attr.name else None}) for i in range(n)]
