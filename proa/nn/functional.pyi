# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.nn.functional`: functions of `proa.ops` that are exported here (collected at import)."""

from typing import Any as Any

from proa.eager.annotations import DTypeLike
from proa.eager.tensor import Tensor
from proa.ops.neural.activation import celu as celu
from proa.ops.neural.activation import elu as elu
from proa.ops.neural.activation import gelu as gelu
from proa.ops.neural.activation import glu as glu
from proa.ops.neural.activation import hardshrink as hardshrink
from proa.ops.neural.activation import hardsigmoid as hardsigmoid
from proa.ops.neural.activation import hardtanh as hardtanh
from proa.ops.neural.activation import mish as mish
from proa.ops.neural.activation import prelu as prelu
from proa.ops.neural.activation import relu6 as relu6
from proa.ops.neural.activation import selu as selu
from proa.ops.neural.activation import silu as silu
from proa.ops.neural.activation import softplus as softplus
from proa.ops.neural.activation import softshrink as softshrink
from proa.ops.neural.activation import softsign as softsign
from proa.ops.neural.activation import swish as swish
from proa.ops.neural.activation import tanhshrink as tanhshrink
from proa.ops.neural.activation import thresholded_relu as thresholded_relu
from proa.ops.neural.attention import scaled_dot_product_attention as scaled_dot_product_attention
from proa.ops.neural.distance import bilinear as bilinear
from proa.ops.neural.distance import cosine_similarity as cosine_similarity
from proa.ops.neural.distance import pairwise_distance as pairwise_distance
from proa.ops.neural.dropout import dropout as dropout
from proa.ops.neural.dropout import dropout2d as dropout2d
from proa.ops.neural.dropout import dropout3d as dropout3d
from proa.ops.neural.embedding import embedding as embedding
from proa.ops.neural.embedding import one_hot as one_hot
from proa.ops.neural.experts import moe_permute as moe_permute
from proa.ops.neural.experts import moe_unpermute as moe_unpermute
from proa.ops.neural.flash_attention import flash_attention_v3_varlen as flash_attention_v3_varlen
from proa.ops.neural.flash_attention import flash_attn_qkvpacked as flash_attn_qkvpacked
from proa.ops.neural.flash_attention import flash_attn_varlen_qkvpacked as flash_attn_varlen_qkvpacked
from proa.ops.neural.flash_attention import flashmask_attention as flashmask_attention
from proa.ops.neural.flash_attention import sparse_attention as sparse_attention
from proa.ops.neural.losses.class_loss import adaptive_log_softmax_with_loss as adaptive_log_softmax_with_loss
from proa.ops.neural.losses.class_loss import class_center_sample as class_center_sample
from proa.ops.neural.losses.class_loss import hsigmoid_loss as hsigmoid_loss
from proa.ops.neural.losses.class_loss import margin_cross_entropy as margin_cross_entropy
from proa.ops.neural.losses.cross_entropy import cross_entropy as cross_entropy
from proa.ops.neural.losses.cross_entropy import nll_loss as nll_loss
from proa.ops.neural.losses.cross_entropy import softmax_with_cross_entropy as softmax_with_cross_entropy
from proa.ops.neural.losses.likelihood_loss import dice_loss as dice_loss
from proa.ops.neural.losses.likelihood_loss import gaussian_nll_loss as gaussian_nll_loss
from proa.ops.neural.losses.likelihood_loss import label_smooth as label_smooth
from proa.ops.neural.losses.likelihood_loss import log_loss as log_loss
from proa.ops.neural.losses.likelihood_loss import npair_loss as npair_loss
from proa.ops.neural.losses.likelihood_loss import poisson_nll_loss as poisson_nll_loss
from proa.ops.neural.losses.likelihood_loss import sigmoid_focal_loss as sigmoid_focal_loss
from proa.ops.neural.losses.margin_loss import cosine_embedding_loss as cosine_embedding_loss
from proa.ops.neural.losses.margin_loss import hinge_embedding_loss as hinge_embedding_loss
from proa.ops.neural.losses.margin_loss import margin_ranking_loss as margin_ranking_loss
from proa.ops.neural.losses.margin_loss import multi_label_margin_loss as multi_label_margin_loss
from proa.ops.neural.losses.margin_loss import multi_label_soft_margin_loss as multi_label_soft_margin_loss
from proa.ops.neural.losses.margin_loss import multi_margin_loss as multi_margin_loss
from proa.ops.neural.losses.margin_loss import soft_margin_loss as soft_margin_loss
from proa.ops.neural.losses.margin_loss import triplet_margin_loss as triplet_margin_loss
from proa.ops.neural.losses.margin_loss import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from proa.ops.neural.losses.regression_loss import binary_cross_entropy as binary_cross_entropy
from proa.ops.neural.losses.regression_loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from proa.ops.neural.losses.regression_loss import kl_div as kl_div
from proa.ops.neural.losses.regression_loss import l1_loss as l1_loss
from proa.ops.neural.losses.regression_loss import mse_loss as mse_loss
from proa.ops.neural.losses.regression_loss import smooth_l1_loss as smooth_l1_loss
from proa.ops.neural.losses.regression_loss import square_error_cost as square_error_cost
from proa.ops.neural.losses.sequence_loss import ctc_loss as ctc_loss
from proa.ops.neural.losses.sequence_loss import rnnt_loss as rnnt_loss
from proa.ops.neural.normalization import batch_norm as batch_norm
from proa.ops.neural.normalization import group_norm as group_norm
from proa.ops.neural.normalization import instance_norm as instance_norm
from proa.ops.neural.normalization import layer_norm as layer_norm
from proa.ops.neural.normalization import normalize as normalize
from proa.ops.neural.normalization import rms_norm as rms_norm
from proa.ops.neural.random_activation import alpha_dropout as alpha_dropout
from proa.ops.neural.random_activation import dropout1d as dropout1d
from proa.ops.neural.random_activation import feature_alpha_dropout as feature_alpha_dropout
from proa.ops.neural.random_activation import gumbel_softmax as gumbel_softmax
from proa.ops.neural.random_activation import logsigmoid as logsigmoid
from proa.ops.neural.random_activation import rrelu as rrelu
from proa.ops.neural.random_activation import swiglu as swiglu
from proa.ops.neural.resize import interpolate as interpolate
from proa.ops.neural.resize import upsample as upsample
from proa.ops.neural.sampling_grid import affine_grid as affine_grid
from proa.ops.neural.sampling_grid import grid_sample as grid_sample
from proa.ops.neural.sequences import gather_tree as gather_tree
from proa.ops.neural.sequences import sequence_mask as sequence_mask
from proa.ops.neural.shuffling import channel_shuffle as channel_shuffle
from proa.ops.neural.shuffling import fold as fold
from proa.ops.neural.shuffling import maxout as maxout
from proa.ops.neural.shuffling import pixel_shuffle as pixel_shuffle
from proa.ops.neural.shuffling import pixel_unshuffle as pixel_unshuffle
from proa.ops.neural.shuffling import temporal_shift as temporal_shift
from proa.ops.neural.shuffling import unfold as unfold
from proa.ops.neural.softmax import log_softmax as log_softmax
from proa.ops.neural.softmax import softmax as softmax
from proa.ops.neural.windowed.convolution import conv1d as conv1d
from proa.ops.neural.windowed.convolution import conv1d_transpose as conv1d_transpose
from proa.ops.neural.windowed.convolution import conv2d as conv2d
from proa.ops.neural.windowed.convolution import conv2d_transpose as conv2d_transpose
from proa.ops.neural.windowed.convolution import conv3d as conv3d
from proa.ops.neural.windowed.convolution import conv3d_transpose as conv3d_transpose
from proa.ops.neural.windowed.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from proa.ops.neural.windowed.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from proa.ops.neural.windowed.pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from proa.ops.neural.windowed.pooling import adaptive_max_pool1d as adaptive_max_pool1d
from proa.ops.neural.windowed.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from proa.ops.neural.windowed.pooling import adaptive_max_pool3d as adaptive_max_pool3d
from proa.ops.neural.windowed.pooling import avg_pool1d as avg_pool1d
from proa.ops.neural.windowed.pooling import avg_pool2d as avg_pool2d
from proa.ops.neural.windowed.pooling import avg_pool3d as avg_pool3d
from proa.ops.neural.windowed.pooling import max_pool1d as max_pool1d
from proa.ops.neural.windowed.pooling import max_pool2d as max_pool2d
from proa.ops.neural.windowed.pooling import max_pool3d as max_pool3d
from proa.ops.neural.windowed.pooling_variants import fractional_max_pool2d as fractional_max_pool2d
from proa.ops.neural.windowed.pooling_variants import fractional_max_pool3d as fractional_max_pool3d
from proa.ops.neural.windowed.pooling_variants import local_response_norm as local_response_norm
from proa.ops.neural.windowed.pooling_variants import lp_pool1d as lp_pool1d
from proa.ops.neural.windowed.pooling_variants import lp_pool2d as lp_pool2d
from proa.ops.neural.windowed.pooling_variants import max_unpool1d as max_unpool1d
from proa.ops.neural.windowed.pooling_variants import max_unpool2d as max_unpool2d
from proa.ops.neural.windowed.pooling_variants import max_unpool3d as max_unpool3d
from proa.ops.shape.padding import pad as pad
from proa.ops.shape.padding import zeropad2d as zeropad2d

def elu_(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """As `elu`, in place: the tensor takes the result and is returned."""

def hardswish(x: Tensor, name: str | None = None) -> Tensor:
    """`x * relu6(x + 3) / 6`: a piecewise approximation of `swish`."""

def hardtanh_(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """As `hardtanh`, in place: the tensor takes the result and is returned."""

def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """`x` where it is not negative, else `negative_slope * x`."""

def leaky_relu_(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """As `leaky_relu`, in place: the tensor takes the result and is returned."""

def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """`x @ weight + bias`."""

def log_sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """`log(sigmoid(x))`, also where the sigmoid itself is too small for a number."""

def relu(x: Tensor, name: str | None = None) -> Tensor:
    """`max(x, 0)`, element by element."""

def relu_(x: Tensor, name: str | None = None) -> Tensor:
    """As `relu`, in place: the tensor takes the result and is returned."""

def sigmoid(x: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`1 / (1 + exp(-x))`, element by element: any number mapped into (0, 1)."""

def softmax_(x: Tensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """As `softmax`, in place: the tensor takes the result and is returned."""

def tanh(x: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent: any number mapped into (-1, 1)."""

def tanh_(x: Tensor, name: str | None = None) -> Tensor:
    """As `tanh`, in place: the tensor takes the result and is returned."""

def thresholded_relu_(x: Tensor, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """As `thresholded_relu`, in place: the tensor takes the result and is returned."""
