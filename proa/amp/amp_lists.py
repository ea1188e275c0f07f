"""Which operations mixed precision computes in what: Paddle's white and black lists.

The lists hold Paddle's operator names (`matmul_v2`, `elementwise_add` …), and so do the users' custom lists. Which of them a
primitive stands for is declared with it (`paddle_name`), as is what no list decides (`amp`); a name that nothing stands for
does no harm. `canonical` also understands the names of the public functions (`matmul`, `add`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.aval import Aval
from ..ir.operation import Operation


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ---- the lists -----------------------------------------------------------------------------------

WHITE_LIST = _names(
    "conv2d einsum matmul matmul_v2 max_pool2d_with_index mul fused_gemm_epilogue linear_v2 "
    "fused_rotary_position_embedding flash_attn"
)
ONLY_FP16_WHITE_LIST = _names(
    "fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max fused_attention fused_feedforward"
)
FP16_WHITE_LIST = WHITE_LIST | ONLY_FP16_WHITE_LIST
BF16_WHITE_LIST = WHITE_LIST

# Numerically dangerous in a half type.
FP16_BLACK_LIST = _names(
    "tan acos asin sinh cosh atanh tanh_shrink erfinv exp expm1 log log10 log2 reciprocal rsqrt pow square reduce_sum "
    "mean reduce_mean reduce_prod cumprod cumsum dist pnorm frobenius_norm renorm group_norm layer_norm softmax softmin "
    "softplus log_softmax softmax_with_cross_entropy sigmoid_cross_entropy_with_logits c_softmax_with_cross_entropy "
    "c_softmax_with_multi_label_cross_entropy cross_entropy cross_entropy2 nll_loss huber_loss triplet_margin_loss "
    "log_loss hsigmoid_loss margin_cross_entropy"
)
BF16_BLACK_LIST = FP16_BLACK_LIST
# Slower in a half type than in float32.
EXTRA_BLACK_LIST = _names(
    "linear_interp_v2 nearest_interp_v2 bilinear_interp_v2 bicubic_interp_v2 trilinear_interp_v2 lookup_table "
    "lookup_table_v2 scatter"
)


def white_list() -> dict[str, dict[str, set[str]]]:
    """The operators computed in the low type, by dtype and level."""
    return {
        dtype: {level: set(names) for level in ("OD", "O1", "O2")}
        for dtype, names in (("float16", FP16_WHITE_LIST), ("bfloat16", BF16_WHITE_LIST))
    }


def black_list() -> dict[str, dict[str, set[str]]]:
    """The operators computed in float32, by dtype and level."""
    return {
        dtype: {"OD": set(), "O1": set(names | EXTRA_BLACK_LIST), "O2": set(EXTRA_BLACK_LIST)}
        for dtype, names in (("float16", FP16_BLACK_LIST), ("bfloat16", BF16_BLACK_LIST))
    }


# ---- names ---------------------------------------------------------------------------------------

# Further names under which users may know an operator.
_ALIASES = {
    "matmul": "matmul_v2", "mul": "matmul_v2", "mm": "matmul_v2", "linear": "linear_v2",
    "fused_gemm_epilogue": "linear_v2", "flash_attention": "flash_attn", "scaled_dot_product_attention": "flash_attn",
    "embedding": "lookup_table_v2", "lookup_table": "lookup_table_v2", "add": "elementwise_add",
    "subtract": "elementwise_sub", "multiply": "elementwise_mul", "divide": "elementwise_div",
    "maximum": "elementwise_max", "minimum": "elementwise_min", "sum": "reduce_sum", "mean": "reduce_mean",
    "prod": "reduce_prod", "max": "reduce_max", "min": "reduce_min", "cross_entropy": "softmax_with_cross_entropy",
    "conv1d": "conv2d", "nearest_interp_v2": "bilinear_interp_v2", "bicubic_interp_v2": "bilinear_interp_v2",
    "linear_interp_v2": "bilinear_interp_v2", "trilinear_interp_v2": "bilinear_interp_v2",
}  # fmt: skip


def canonical(name: str) -> str:
    """The operator name that the rules use for any of the names users may give."""
    return _ALIASES.get(name, name)


def name_of(operation: Operation, kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    """Paddle's name of the operator that a call of a primitive stands for."""
    name = operation.traits.paddle_name or operation.name
    return name if isinstance(name, str) else name(kinds, attributes)


def dtype_of(kinds: Sequence[Any]) -> str:
    """The data type that counts for a call: that of its first floating operand, else of its first one."""
    found = [kind.dtype for kind in kinds if isinstance(kind, Aval)]
    floating = [dtype for dtype in found if dtype.kind not in "biuc"]
    return str((floating or found or ["float32"])[0])
