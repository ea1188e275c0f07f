"""`paddle.incubate.nn.functional`: what Paddle fuses by hand, as compositions that XLA fuses.

    linear.py      products with bias and activation, swiglu, dropout and sum
    norms.py       normalisation with bias and residual in front
    rotary.py      rotary position embeddings
    blocks.py      the two halves of a transformer layer
    attention.py   attention over sequences of different lengths
    experts.py     mixtures of experts: the balancing loss

Functions for Paddle's own 8-bit kernels and paged caches exist and say what to use instead.
"""

from __future__ import annotations

from .attention import variable_length_memory_efficient_attention
from .blocks import fused_bias_dropout_residual_layer_norm, fused_feedforward, fused_multi_head_attention
from .experts import cal_aux_loss, int_bincount
from .linear import (
    fused_bias_act,
    fused_dropout_add,
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
    swiglu,
)
from .norms import fast_ln, fast_rms_norm, fused_layer_norm, fused_rms_norm, fused_rms_norm_ext
from .rotary import fused_partial_rope, fused_rotary_position_embedding

__all__ = [
    "cal_aux_loss", "fast_ln", "fast_rms_norm", "fused_bias_act", "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add", "fused_feedforward", "fused_layer_norm", "fused_linear", "fused_linear_activation",
    "fused_matmul_bias", "fused_multi_head_attention", "fused_partial_rope", "fused_rms_norm", "fused_rms_norm_ext",
    "fused_rotary_position_embedding", "int_bincount", "swiglu", "variable_length_memory_efficient_attention",
]  # fmt: skip
