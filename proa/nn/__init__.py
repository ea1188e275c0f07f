"""`paddle.nn`: layers, initializers, gradient clipping.

The central file is `layer.py`. Layers hold parameters and call functions of `proa.ops`, through
`nn.functional`; they contain no arithmetic of their own. To add one: parameters in `__init__`, the
call in `forward`, the name here. Optimisers know parameters, not layers, and are not imported here.
"""

from __future__ import annotations

from ..eager.parameter import Parameter
from . import attention, functional, initializer, quant, utils
from . import padding as _padding
from . import rearranging as _rearranging
from .activation import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Silu,
    Softmax,
    Softplus,
    Softshrink,
    Softsign,
    Swish,
    Tanh,
    Tanhshrink,
    ThresholdedReLU,
)
from .base import lazy_init as _lazy_init
from .base import torch_names as _other_names
from .base.attributes import ParamAttr
from .clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from .common import Embedding, Flatten, Identity, Linear, Unflatten
from .container import LayerDict, LayerList, ParameterDict, ParameterList, Sequential
from .conv import Conv1D, Conv1DTranspose, Conv2D, Conv2DTranspose, Conv3D, Conv3DTranspose
from .distance import Bilinear, CosineSimilarity, PairwiseDistance
from .dropout import AlphaDropout, Dropout, Dropout2D, Dropout3D, FeatureAlphaDropout
from .layer import Layer
from .losses import from_functions as _losses
from .losses.common import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from .losses.from_functions import *  # noqa: F403
from .losses.many_classes import AdaptiveLogSoftmaxWithLoss, HSigmoidLoss
from .losses.sequence import CTCLoss
from .normalization.layers import (
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    GroupNorm,
    InstanceNorm1D,
    InstanceNorm2D,
    InstanceNorm3D,
    LayerNorm,
)
from .normalization.response import LocalResponseNorm
from .normalization.spectral import SpectralNorm
from .normalization.synchronised import SyncBatchNorm
from .padding import *  # noqa: F403
from .pooling import (
    AdaptiveAvgPool1D,
    AdaptiveAvgPool2D,
    AdaptiveAvgPool3D,
    AdaptiveMaxPool1D,
    AdaptiveMaxPool2D,
    AdaptiveMaxPool3D,
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)
from .rearranging import *  # noqa: F403
from .recurrent import (
    GRU,
    LSTM,
    RNN,
    BeamSearchDecoder,
    BiRNN,
    GRUCell,
    LSTMCell,
    RNNCellBase,
    SimpleRNN,
    SimpleRNNCell,
    dynamic_decode,
)
from .transformer import (
    MultiHeadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

initializer.Bilinear = _lazy_init.Bilinear  # type: ignore[attr-defined]
initializer.__all__.append("Bilinear")

# Names that PyTorch's users know: the first ones for type checkers' sake, the rest by `other_names`.
Module, ModuleList, ModuleDict = Layer, LayerList, LayerDict
Conv1d, Conv2d, Conv3d = Conv1D, Conv2D, Conv3D
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = AdaptiveMaxPool1D, AdaptiveMaxPool2D, AdaptiveMaxPool3D
_other_names.offer(globals())

__all__ = [
    "AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D", "AdaptiveMaxPool3D", "AvgPool1D", "AvgPool2D", "AvgPool3D", "BCELoss",
    "BCEWithLogitsLoss", "BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "CELU",
    "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue", "Conv1D", "Conv1DTranspose",
    "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "CrossEntropyLoss", "Dropout",
    "Dropout2D", "ELU", "Embedding", "Flatten", "GELU", "GroupNorm", "Hardshrink", "Hardsigmoid",
    "Hardswish", "Hardtanh", "Identity", "InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D",
    "KLDivLoss", "L1Loss", "Layer", "LayerDict", "LayerList", "LayerNorm", "LeakyReLU", "Linear",
    "LogSigmoid", "LogSoftmax", "MSELoss", "MaxPool1D", "MaxPool2D", "MaxPool3D", "Mish", "NLLLoss",
    "PReLU", "ParamAttr", "Parameter", "ParameterDict", "ParameterList", "ReLU", "ReLU6", "SELU",
    "Sequential", "SiLU", "Sigmoid", "Silu", "SmoothL1Loss", "Softmax", "Softplus", "Softshrink",
    "Softsign", "Swish", "Tanh", "Tanhshrink", "ThresholdedReLU", "Unflatten", "functional",
    "initializer", "GRU", "LSTM", "RNN", "BeamSearchDecoder", "BiRNN", "GRUCell", "LSTMCell", "RNNCellBase",
    "SimpleRNN", "SimpleRNNCell", "dynamic_decode", "MultiHeadAttention", "Transformer", "TransformerDecoder",
    "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
    "Module", "ModuleDict", "ModuleList", "Conv1d", "Conv2d", "Conv3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "attention", "quant", "utils",
    "AdaptiveLogSoftmaxWithLoss", "AlphaDropout", "Bilinear", "CTCLoss", "CosineSimilarity", "Dropout3D",
    "FeatureAlphaDropout", "HSigmoidLoss", "LocalResponseNorm", "PairwiseDistance", "SpectralNorm", "SyncBatchNorm",
    *_losses.__all__, *_padding.__all__, *_rearranging.__all__,
]  # fmt: skip
