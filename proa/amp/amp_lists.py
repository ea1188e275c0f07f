"""Which operations mixed precision computes in what: Paddle's white and black lists, and what they mean here.

The lists hold Paddle's operator names (`matmul_v2`, `elementwise_add` …), and so do the users' custom lists. `name_of`
tells which of them a primitive of the op table stands for; a name that nothing stands for does no harm. `canonical`
also understands the names of the public functions (`matmul`, `add`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.aval import Aval
from ..ir.operation import Operation

Naming = str | Callable[[Sequence[Any], tuple[Any, ...]], str]


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


# ---- Paddle's names of our primitives ------------------------------------------------------------


def _or_scale(elementwise: str) -> Naming:
    """Paddle's `x + 1.0` is its operator `scale`."""

    def name(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
        return "scale" if any(isinstance(kind, type) for kind in kinds) else elementwise

    return name


def _power(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    return "pow" if isinstance(kinds[1], type) else "elementwise_pow"


def _convolution(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    weight, groups = kinds[1], attributes[3]
    if weight.ndim > 4:
        return "conv3d"
    return "depthwise_conv2d" if groups > 1 and weight.shape[1] == 1 else "conv2d"


def _transposed_convolution(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    return "conv3d_transpose" if kinds[1].ndim > 4 else "conv2d_transpose"


def _normalisation(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    _epsilon, view, axes, broadcast, centred = attributes
    shape = kinds[0].shape
    if not centred:
        return "rms_norm"
    if view != shape:
        return "group_norm"
    if len(broadcast) < len(shape) or len(axes) == len(shape) or all(broadcast[a] == shape[a] for a in axes):
        return "layer_norm"
    return "batch_norm" if 0 in axes else "instance_norm"


NAMES: dict[str, Naming] = {
    "matmul": "matmul_v2", "linear": "linear_v2", "conv": _convolution, "conv_grad_input": _transposed_convolution,
    "conv_transpose": _transposed_convolution, "attention": "flash_attn", "recurrence": "rnn",
    "add": _or_scale("elementwise_add"), "subtract": _or_scale("elementwise_sub"),
    "multiply": _or_scale("elementwise_mul"), "divide": "elementwise_div", "maximum": "elementwise_max",
    "minimum": "elementwise_min", "fmax": "elementwise_fmax", "fmin": "elementwise_fmin",
    "floor_divide": "elementwise_floordiv", "remainder": "elementwise_mod", "neg": "scale", "fixed": "scale",
    "pow": _power, "integer_power": "pow",
    "sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "prod": "reduce_prod",
    "any": "reduce_any", "all": "reduce_all", "argmax": "arg_max", "argmin": "arg_min", "sort": "argsort",
    "topk": "top_k_v2", "transpose": "transpose2", "expand": "expand_v2", "split": "split_with_num",
    "getitem": "slice", "index_get": "gather", "one_hot": "one_hot_v2", "full": "fill_constant", "zeros": "fill_constant",
    "ones": "fill_constant",
    "isnan": "isnan_v2", "isinf": "isinf_v2", "isfinite": "isfinite_v2", "det": "determinant",
    "normalise": _normalisation, "normalise_by": "batch_norm", "max_pool": "pool2d", "avg_pool": "pool2d",
    "adaptive_average": "pool2d", "hardswish": "hard_swish", "log_sigmoid": "logsigmoid",
    "softmax_cross_entropy": "softmax_with_cross_entropy", "pick_class_for_nll": "nll_loss",
    "sigmoid_cross_entropy": "sigmoid_cross_entropy_with_logits", "probability_cross_entropy": "bce_loss",
    "embedding": "lookup_table_v2", "resample": "bilinear_interp_v2", "ctc": "warpctc", "rnnt": "warprnnt",
}  # fmt: skip

# Operators for which only the first operand counts, as in Paddle: the statistics stay as they are.
FIRST_OPERAND_ONLY = _names("batch_norm layer_norm")
# Operands by position that keep their dtype (an additive mask).
KEPT_OPERANDS = {"attention": 3}
# Never touched: explicit conversions, and writing into a tensor, which takes the dtype of the tensor.
UNTOUCHED = _names("cast index_set index_accumulate setitem put_where fill with_diagonal view_dtype")
# Primitives for which no half type will do.
FLOAT32_ONLY = _names(
    "cholesky lu qr eigh eigvalsh eig eigvals svd svdvals solve solve_again inverse pinv cofactors det slogdet "
    "triangular_solve matrix_exp matrix_power fft_c2c fft_r2c fft_c2r ctc rnnt"
)

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
    name = NAMES.get(operation.name, operation.name)
    return name if isinstance(name, str) else name(kinds, attributes)


def dtype_of(kinds: Sequence[Any]) -> str:
    """The data type that counts for a call: that of its first floating operand, else of its first one."""
    found = [kind.dtype for kind in kinds if isinstance(kind, Aval)]
    floating = [dtype for dtype in found if dtype.kind not in "biuc"]
    return str((floating or found or ["float32"])[0])
