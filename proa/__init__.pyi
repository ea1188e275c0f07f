# Written by `python -m tools.stubs`; changes made by hand are lost.
"""proa: PaddlePaddle's API on OpenXLA. `import proa as paddle`."""

import builtins
from collections.abc import Sequence
from typing import Any

from proa import amp as amp
from proa import audio as audio
from proa import autograd as autograd
from proa import callbacks as callbacks
from proa import cli as cli
from proa import compat as compat
from proa import compress as compress
from proa import convert as convert
from proa import core as core
from proa import cuda as cuda
from proa import debug as debug
from proa import detection as detection
from proa import device as device
from proa import distributed as distributed
from proa import distribution as distribution
from proa import eager as eager
from proa import export as export
from proa import fft as fft
from proa import formats as formats
from proa import framework as framework
from proa import functional as functional
from proa import geometric as geometric
from proa import graph as graph
from proa import hapi as hapi
from proa import hub as hub
from proa import incubate as incubate
from proa import inference as inference
from proa import io as io
from proa import ir as ir
from proa import jit as jit
from proa import kernels as kernels
from proa import linalg as linalg
from proa import llm as llm
from proa import metric as metric
from proa import nn as nn
from proa import ocr as ocr
from proa import onnx as onnx
from proa import ops as ops
from proa import optimizer as optimizer
from proa import profiler as profiler
from proa import quantization as quantization
from proa import random as random
from proa import regularizer as regularizer
from proa import serving as serving
from proa import signal as signal
from proa import sparse as sparse
from proa import special as special
from proa import static as static
from proa import sysconfig as sysconfig
from proa import text as text
from proa import utils as utils
from proa import version as version
from proa import vision as vision
from proa.amp.casting import autocast as autocast
from proa.amp.casting import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from proa.amp.casting import get_autocast_dtype as get_autocast_dtype
from proa.amp.casting import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from proa.amp.casting import is_autocast_enabled as is_autocast_enabled
from proa.compat.proxy import disable_compat as disable_compat
from proa.compat.proxy import enable_compat as enable_compat
from proa.compat.proxy import use_compat_guard as use_compat_guard
from proa.core.dtype import DType, FInfo, IInfo
from proa.core.dtype import get_default_dtype as get_default_dtype
from proa.core.flags import get_flags as get_flags
from proa.core.flags import set_flags as set_flags
from proa.core.generator import Generator as _Generator
from proa.core.place import CPUPlace as CPUPlace
from proa.core.place import CUDAPinnedPlace as CUDAPinnedPlace
from proa.core.place import CUDAPlace as CUDAPlace
from proa.core.place import CustomPlace as CustomPlace
from proa.core.place import IPUPlace as IPUPlace
from proa.core.place import XPUPinnedPlace as XPUPinnedPlace
from proa.core.place import XPUPlace as XPUPlace
from proa.core.printing import set_printoptions as set_printoptions
from proa.core.size import Size as Size
from proa.device.handle import device_guard as device_guard
from proa.device.handle import get_default_device as get_default_device
from proa.device.handle import get_device_module as get_device_module
from proa.device.handle import set_default_device as set_default_device
from proa.device.select import get_cudnn_version as get_cudnn_version
from proa.device.select import get_device as get_device
from proa.device.select import is_compiled_with_cinn as is_compiled_with_cinn
from proa.device.select import is_compiled_with_cuda as is_compiled_with_cuda
from proa.device.select import is_compiled_with_custom_device as is_compiled_with_custom_device
from proa.device.select import is_compiled_with_distribute as is_compiled_with_distribute
from proa.device.select import is_compiled_with_ipu as is_compiled_with_ipu
from proa.device.select import is_compiled_with_rocm as is_compiled_with_rocm
from proa.device.select import is_compiled_with_xpu as is_compiled_with_xpu
from proa.device.select import set_device as set_device
from proa.device.stream import Event as Event
from proa.device.stream import Stream as Stream
from proa.distributed.parallel import DataParallel as DataParallel
from proa.eager.annotations import AxisLike, DTypeLike, Number, TensorLike
from proa.eager.backward.hooks import grad as grad
from proa.eager.modes import enable_grad as enable_grad
from proa.eager.modes import inference_mode as inference_mode
from proa.eager.modes import is_grad_enabled as is_grad_enabled
from proa.eager.modes import no_grad as no_grad
from proa.eager.modes import set_grad_enabled as set_grad_enabled
from proa.eager.tensor import Tensor as Tensor
from proa.eager.tensor import Tensor as _Tensor
from proa.framework.background import clear_async_save_task_queue as clear_async_save_task_queue
from proa.framework.io import async_save as async_save
from proa.framework.io import load as load
from proa.framework.io import save as save
from proa.framework.memory_budget import memory_budget as memory_budget
from proa.hapi.flops import flops as flops
from proa.hapi.model import Model as Model
from proa.hapi.summary import summary as summary
from proa.nn.base.attributes import ParamAttr as ParamAttr
from proa.nn.base.attributes import create_parameter as create_parameter
from proa.nn.base.lazy_init import LazyGuard as LazyGuard
from proa.ops.basic import cast as cast
from proa.ops.basic import reshape as reshape
from proa.ops.basic import transpose as transpose
from proa.ops.create.conversion import MmapStorage as MmapStorage
from proa.ops.create.conversion import as_tensor as as_tensor
from proa.ops.create.conversion import asarray as asarray
from proa.ops.create.conversion import from_numpy as from_numpy
from proa.ops.create.conversion import tolist as tolist
from proa.ops.create.creation import assign as assign
from proa.ops.create.creation import clone as clone
from proa.ops.create.creation import empty as empty
from proa.ops.create.creation import empty_like as empty_like
from proa.ops.create.creation import full as full
from proa.ops.create.creation import full_like as full_like
from proa.ops.create.creation import is_complex as is_complex
from proa.ops.create.creation import is_empty as is_empty
from proa.ops.create.creation import is_floating_point as is_floating_point
from proa.ops.create.creation import is_integer as is_integer
from proa.ops.create.creation import is_tensor as is_tensor
from proa.ops.create.creation import ones as ones
from proa.ops.create.creation import ones_like as ones_like
from proa.ops.create.creation import rank as rank
from proa.ops.create.creation import shape as shape
from proa.ops.create.creation import tensor as tensor
from proa.ops.create.creation import to_tensor as to_tensor
from proa.ops.create.creation import zeros as zeros
from proa.ops.create.creation import zeros_like as zeros_like
from proa.ops.create.random import get_cuda_rng_state as get_cuda_rng_state
from proa.ops.create.random import get_rng_state as get_rng_state
from proa.ops.create.random import new_generator
from proa.ops.create.random import normal as normal
from proa.ops.create.random import rand as rand
from proa.ops.create.random import rand_like as rand_like
from proa.ops.create.random import randint as randint
from proa.ops.create.random import randint_like as randint_like
from proa.ops.create.random import randn as randn
from proa.ops.create.random import randn_like as randn_like
from proa.ops.create.random import randperm as randperm
from proa.ops.create.random import seed as seed
from proa.ops.create.random import set_cuda_rng_state as set_cuda_rng_state
from proa.ops.create.random import set_rng_state as set_rng_state
from proa.ops.create.random import standard_normal as standard_normal
from proa.ops.create.random import uniform as uniform
from proa.ops.create.random_families import binomial as binomial
from proa.ops.create.random_families import cauchy_ as cauchy_
from proa.ops.create.random_families import geometric_ as geometric_
from proa.ops.create.random_families import log_normal as log_normal
from proa.ops.create.random_families import log_normal_ as log_normal_
from proa.ops.create.random_families import poisson as poisson
from proa.ops.create.random_families import standard_gamma as standard_gamma
from proa.ops.create.sampling import bernoulli as bernoulli
from proa.ops.create.sampling import bernoulli_ as bernoulli_
from proa.ops.create.sampling import exponential_ as exponential_
from proa.ops.create.sampling import multinomial as multinomial
from proa.ops.create.sampling import normal_ as normal_
from proa.ops.create.sampling import random_ as random_
from proa.ops.create.sampling import uniform_ as uniform_
from proa.ops.create.top_level import _NameOnly
from proa.ops.create.top_level import batch as batch
from proa.ops.create.top_level import check_shape as check_shape
from proa.ops.create.top_level import disable_signal_handler as disable_signal_handler
from proa.ops.create.top_level import in_dynamic_mode as in_dynamic_mode
from proa.ops.create.top_level import set_default_dtype as set_default_dtype
from proa.ops.create.top_level import softmax as softmax
from proa.ops.create.windows import bartlett_window as bartlett_window
from proa.ops.create.windows import blackman_window as blackman_window
from proa.ops.create.windows import hamming_window as hamming_window
from proa.ops.create.windows import hann_window as hann_window
from proa.ops.create.windows import kaiser_window as kaiser_window
from proa.ops.create.windows import range as range
from proa.ops.create.windows import tril_indices as tril_indices
from proa.ops.create.windows import triu_indices as triu_indices
from proa.ops.index.along import index_sample as index_sample
from proa.ops.index.along import put_along_axis as put_along_axis
from proa.ops.index.along import take_along_axis as _take_along_axis
from proa.ops.index.along import take_along_axis as take_along_axis
from proa.ops.index.gather import gather as gather
from proa.ops.index.gather import gather_nd as gather_nd
from proa.ops.index.gather import index_add as index_add
from proa.ops.index.gather import index_fill as index_fill
from proa.ops.index.gather import index_put as index_put
from proa.ops.index.gather import index_select as index_select
from proa.ops.index.gather import scatter as scatter
from proa.ops.index.gather import scatter_nd as scatter_nd
from proa.ops.index.gather import scatter_nd_add as scatter_nd_add
from proa.ops.index.gather import take as take
from proa.ops.index.indexing import slice_axes
from proa.ops.index.indexing import strided_slice as strided_slice
from proa.ops.index.lookup import bucketize as bucketize
from proa.ops.index.lookup import masked_select as masked_select
from proa.ops.index.lookup import nonzero as nonzero
from proa.ops.index.lookup import searchsorted as searchsorted
from proa.ops.index.lookup import unique as unique
from proa.ops.index.runs import argwhere as argwhere
from proa.ops.index.runs import msort as msort
from proa.ops.index.runs import unique_consecutive as unique_consecutive
from proa.ops.index.search import argmax as argmax
from proa.ops.index.search import argmin as argmin
from proa.ops.index.search import argsort as argsort
from proa.ops.index.search import kthvalue as kthvalue
from proa.ops.index.search import mode as mode
from proa.ops.index.search import sort as sort
from proa.ops.index.search import topk as topk
from proa.ops.index.selection import multiplex as multiplex
from proa.ops.index.selection import shard_index as shard_index
from proa.ops.index.selection import top_p_sampling as top_p_sampling
from proa.ops.linear.distances import cdist as cdist
from proa.ops.linear.distances import pdist as pdist
from proa.ops.linear.einsum import einsum as einsum
from proa.ops.linear.factors import cholesky as cholesky
from proa.ops.linear.functions import matrix_transpose as matrix_transpose
from proa.ops.linear.functions import vecdot as vecdot
from proa.ops.linear.linalg import addmm as addmm
from proa.ops.linear.linalg import bmm as bmm
from proa.ops.linear.linalg import cross as cross
from proa.ops.linear.linalg import dot as dot
from proa.ops.linear.linalg import inner as inner
from proa.ops.linear.linalg import mm as mm
from proa.ops.linear.linalg import mv as mv
from proa.ops.linear.linalg import outer as outer
from proa.ops.linear.matrix import diag as diag
from proa.ops.linear.matrix import diagonal as diagonal
from proa.ops.linear.matrix import t as t
from proa.ops.linear.matrix import trace as trace
from proa.ops.linear.matrix import tril as tril
from proa.ops.linear.matrix import triu as triu
from proa.ops.linear.products import baddbmm as baddbmm
from proa.ops.linear.products import block_diag as block_diag
from proa.ops.linear.products import ger as ger
from proa.ops.linear.products import kron as kron
from proa.ops.linear.products import tensordot as tensordot
from proa.ops.linear.products import vander as vander
from proa.ops.linear.spectra import eigvalsh as eigvalsh
from proa.ops.math.angles import deg2rad as deg2rad
from proa.ops.math.angles import rad2deg as rad2deg
from proa.ops.math.angles import sinc as sinc
from proa.ops.math.angles import stanh as stanh
from proa.ops.math.application import rot90 as rot90
from proa.ops.math.arithmetic import add as add
from proa.ops.math.arithmetic import divide as _divide
from proa.ops.math.arithmetic import divide as divide
from proa.ops.math.arithmetic import floor_divide as floor_divide
from proa.ops.math.arithmetic import remainder as _remainder
from proa.ops.math.arithmetic import remainder as remainder
from proa.ops.math.arithmetic import scale as scale
from proa.ops.math.arithmetic import subtract as _subtract
from proa.ops.math.arithmetic import subtract as subtract
from proa.ops.math.arithmetic import true_divide as true_divide
from proa.ops.math.combinations import cartesian_prod as cartesian_prod
from proa.ops.math.combinations import combinations as combinations
from proa.ops.math.comparison import equal_all as equal_all
from proa.ops.math.differences import cumulative_trapezoid as cumulative_trapezoid
from proa.ops.math.differences import trapezoid as trapezoid
from proa.ops.math.floats import frexp as frexp
from proa.ops.math.floats import ldexp as ldexp
from proa.ops.math.floats import signbit as signbit
from proa.ops.math.logic import bitwise_and as bitwise_and
from proa.ops.math.logic import bitwise_left_shift as bitwise_left_shift
from proa.ops.math.logic import bitwise_not as _bitwise_not
from proa.ops.math.logic import bitwise_not as bitwise_not
from proa.ops.math.logic import bitwise_or as bitwise_or
from proa.ops.math.logic import bitwise_right_shift as bitwise_right_shift
from proa.ops.math.logic import bitwise_xor as bitwise_xor
from proa.ops.math.membership import isin as isin
from proa.ops.math.membership import isneginf as isneginf
from proa.ops.math.membership import isposinf as isposinf
from proa.ops.math.membership import isreal as isreal
from proa.ops.math.norm import dist as dist
from proa.ops.math.norm import norm as norm
from proa.ops.math.pairs import hypot as hypot
from proa.ops.math.powers import pow as pow
from proa.ops.math.reduction import all as all
from proa.ops.math.reduction import amax as amax
from proa.ops.math.reduction import amin as amin
from proa.ops.math.reduction import any as any
from proa.ops.math.reduction import logsumexp as logsumexp
from proa.ops.math.reduction import max as max
from proa.ops.math.reduction import mean as mean
from proa.ops.math.reduction import min as min
from proa.ops.math.reduction import prod as prod
from proa.ops.math.scan import cummax as cummax
from proa.ops.math.scan import cummin as cummin
from proa.ops.math.scan import cumprod as cumprod
from proa.ops.math.scan import cumprod_ as cumprod_
from proa.ops.math.scan import cumsum as cumsum
from proa.ops.math.scan import cumsum_ as cumsum_
from proa.ops.math.scan import logcumsumexp as logcumsumexp
from proa.ops.math.special.gamma_and_error import logit as logit
from proa.ops.math.special.gamma_and_error import polygamma as polygamma
from proa.ops.math.special.incomplete_gamma import gammainc as gammainc
from proa.ops.math.special.incomplete_gamma import gammaincc as gammaincc
from proa.ops.math.special.incomplete_gamma import multigammaln as multigammaln
from proa.ops.math.statistics.counting import arange as arange
from proa.ops.math.statistics.counting import eye as eye
from proa.ops.math.statistics.counting import linspace as linspace
from proa.ops.math.statistics.counting import logspace as logspace
from proa.ops.math.statistics.counting import meshgrid as meshgrid
from proa.ops.math.statistics.histograms import bincount as bincount
from proa.ops.math.statistics.histograms import histogram as histogram
from proa.ops.math.statistics.histograms import histogram_bin_edges as histogram_bin_edges
from proa.ops.math.statistics.histograms import histogramdd as histogramdd
from proa.ops.math.statistics.moments import count_nonzero as count_nonzero
from proa.ops.math.statistics.moments import nanmean as nanmean
from proa.ops.math.statistics.moments import nansum as nansum
from proa.ops.math.statistics.moments import numel as numel
from proa.ops.math.statistics.moments import std as std
from proa.ops.math.statistics.moments import var as var
from proa.ops.math.statistics.quantiles import nanmedian as nanmedian
from proa.ops.math.statistics.quantiles import nanquantile as nanquantile
from proa.ops.math.sums import add_n as add_n
from proa.ops.math.sums import increment as increment
from proa.ops.math.sums import reduce_as as reduce_as
from proa.ops.math.sums import renorm as renorm
from proa.ops.math.ternary import clip as _clip
from proa.ops.math.ternary import clip as clip
from proa.ops.math.ternary import clip_ as _clip_
from proa.ops.math.ternary import clip_ as clip_
from proa.ops.math.ternary import lerp as lerp
from proa.ops.math.ternary import masked_fill as masked_fill
from proa.ops.math.ternary import nan_to_num as nan_to_num
from proa.ops.math.ternary import where as where
from proa.ops.math.ternary import where_ as where_
from proa.ops.math.unary import frac as frac
from proa.ops.math.unary import positive as positive
from proa.ops.math.unary import round as round
from proa.ops.math.unary import sgn as sgn
from proa.ops.neural.normalization import group_norm as group_norm
from proa.ops.neural.normalization import layer_norm as layer_norm
from proa.ops.neural.windowed.convolution import conv1d as conv1d
from proa.ops.neural.windowed.convolution import conv2d as conv2d
from proa.ops.neural.windowed.convolution import conv3d as conv3d
from proa.ops.neural.windowed.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from proa.ops.shape.joining import chunk as chunk
from proa.ops.shape.joining import concat as _concat
from proa.ops.shape.joining import concat as concat
from proa.ops.shape.joining import split as split
from proa.ops.shape.joining import stack as stack
from proa.ops.shape.joining import unbind as unbind
from proa.ops.shape.joining import unstack as unstack
from proa.ops.shape.manipulation import flatten as flatten
from proa.ops.shape.manipulation import flatten_ as flatten_
from proa.ops.shape.manipulation import moveaxis as moveaxis
from proa.ops.shape.manipulation import reshape_ as reshape_
from proa.ops.shape.manipulation import squeeze as squeeze
from proa.ops.shape.manipulation import squeeze_ as squeeze_
from proa.ops.shape.manipulation import swapaxes as _swapaxes
from proa.ops.shape.manipulation import swapaxes as swapaxes
from proa.ops.shape.manipulation import t_ as t_
from proa.ops.shape.manipulation import transpose_ as transpose_
from proa.ops.shape.manipulation import unflatten as unflatten
from proa.ops.shape.manipulation import unsqueeze as unsqueeze
from proa.ops.shape.manipulation import unsqueeze_ as unsqueeze_
from proa.ops.shape.manipulation import view as view
from proa.ops.shape.manipulation import view_as as view_as
from proa.ops.shape.repetition import broadcast_shape as broadcast_shape
from proa.ops.shape.repetition import broadcast_shapes as broadcast_shapes
from proa.ops.shape.repetition import broadcast_tensors as broadcast_tensors
from proa.ops.shape.repetition import broadcast_to as broadcast_to
from proa.ops.shape.repetition import expand as expand
from proa.ops.shape.repetition import expand_as as expand_as
from proa.ops.shape.repetition import flip as _flip
from proa.ops.shape.repetition import flip as flip
from proa.ops.shape.repetition import repeat_interleave as repeat_interleave
from proa.ops.shape.repetition import roll as roll
from proa.ops.shape.repetition import tile as tile
from proa.ops.shape.scattering import crop as crop
from proa.ops.shape.scattering import diag_embed as diag_embed
from proa.ops.shape.scattering import diagflat as diagflat
from proa.ops.shape.scattering import diagonal_scatter as diagonal_scatter
from proa.ops.shape.scattering import masked_scatter as masked_scatter
from proa.ops.shape.scattering import scatter_add as scatter_add
from proa.ops.shape.scattering import scatter_reduce as scatter_reduce
from proa.ops.shape.scattering import select_scatter as select_scatter
from proa.ops.shape.scattering import slice_scatter as slice_scatter
from proa.ops.shape.stacking import atleast_1d as atleast_1d
from proa.ops.shape.stacking import atleast_2d as atleast_2d
from proa.ops.shape.stacking import atleast_3d as atleast_3d
from proa.ops.shape.stacking import column_stack as column_stack
from proa.ops.shape.stacking import dsplit as dsplit
from proa.ops.shape.stacking import dstack as dstack
from proa.ops.shape.stacking import hsplit as hsplit
from proa.ops.shape.stacking import hstack as hstack
from proa.ops.shape.stacking import tensor_split as tensor_split
from proa.ops.shape.stacking import vsplit as vsplit
from proa.ops.shape.stacking import vstack as _vstack
from proa.ops.shape.stacking import vstack as vstack
from proa.ops.shape.strided import as_strided as as_strided
from proa.ops.shape.strided import narrow as narrow
from proa.ops.shape.strided import permute as permute
from proa.ops.shape.strided import ravel as ravel
from proa.ops.shape.strided import unfold as unfold
from proa.ops.shape.strided import view_as_complex as view_as_complex
from proa.ops.shape.strided import view_as_real as view_as_real
from proa.static.guards import IrGuard as IrGuard
from proa.static.guards import IrGuard as _IrGuard
from proa.static.mode import disable_static as disable_static
from proa.static.mode import enable_static as enable_static
from proa.utils.dlpack import from_dlpack as from_dlpack
from proa.utils.dlpack import to_dlpack as to_dlpack

def BFloat16Tensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A bfloat16 tensor of data, of a shape, or without elements."""

def BoolTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A bool tensor of data, of a shape, or without elements."""

def ByteTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A uint8 tensor of data, of a shape, or without elements."""

def CharTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A int8 tensor of data, of a shape, or without elements."""

def DoubleTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A float64 tensor of data, of a shape, or without elements."""

def FloatTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A float32 tensor of data, of a shape, or without elements."""

Generator = new_generator

def HalfTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A float16 tensor of data, of a shape, or without elements."""

def IntTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A int32 tensor of data, of a shape, or without elements."""

def LongTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A int64 tensor of data, of a shape, or without elements."""

def ShortTensor(*args: Any, **kwargs: Any) -> _Tensor:
    """A int16 tensor of data, of a shape, or without elements."""

def abs(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The absolute value of each element; of complex numbers, their modulus."""

def abs_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `abs`, in place: the tensor takes the result and is returned."""

def acos(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The angle, in radians, whose cosine is `x`; NaN outside [-1, 1]."""

def acos_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `acos`, in place: the tensor takes the result and is returned."""

def acosh(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The number, not below 0, whose hyperbolic cosine is `x`; NaN below 1."""

def acosh_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `acosh`, in place: the tensor takes the result and is returned."""

def add_(x: _Tensor, y: _Tensor | builtins.complex, name: str | None = None, *, alpha: Number = 1) -> _Tensor:
    """As `add`, in place: the tensor takes the result and is returned."""

def addmm_(
    input: _Tensor,
    x: _Tensor,
    y: _Tensor,
    beta: builtins.float = 1.0,
    alpha: builtins.float = 1.0,
    name: str | None = None,
) -> _Tensor:
    """As `addmm`, in place: the tensor takes the result and is returned."""

def allclose(
    x: _Tensor | builtins.complex,
    y: _Tensor | builtins.complex,
    rtol: builtins.complex = 1e-05,
    atol: builtins.complex = 1e-08,
    equal_nan: builtins.bool = False,
    name: str | None = None,
) -> _Tensor:
    """Whether all elements are close, as `isclose` judges."""

def angle(x: _Tensor, name: str | None = None) -> _Tensor:
    """The angle of complex numbers, from -pi to pi; of real ones, 0 or pi."""

def as_complex(x: _Tensor, name: str | None = None) -> _Tensor:
    """Pairs in the last axis as complex numbers; the result shares memory with `x`."""

def as_real(x: _Tensor, name: str | None = None) -> _Tensor:
    """Complex numbers as pairs in a new last axis; the result shares memory with `x`."""

def asin(x: _Tensor, name: str | None = None) -> _Tensor:
    """The angle, in radians, whose sine is `x`; NaN outside [-1, 1]."""

def asin_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `asin`, in place: the tensor takes the result and is returned."""

def asinh(x: _Tensor, name: str | None = None) -> _Tensor:
    """The number whose hyperbolic sine is `x`."""

def asinh_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `asinh`, in place: the tensor takes the result and is returned."""

def atan(x: _Tensor, name: str | None = None) -> _Tensor:
    """The angle, in radians between -pi/2 and pi/2, whose tangent is `x`."""

def atan2(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The angle in radians, between -pi and pi, of the point whose ordinate is `x` and whose abscissa is `y`."""

def atan_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `atan`, in place: the tensor takes the result and is returned."""

def atanh(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The number whose hyperbolic tangent is `x`; NaN outside [-1, 1], infinite at the ends."""

def atanh_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `atanh`, in place: the tensor takes the result and is returned."""

def baddbmm_(
    input: _Tensor,
    x: _Tensor,
    y: _Tensor,
    beta: builtins.float = 1.0,
    alpha: builtins.float = 1.0,
    name: str | None = None,
) -> _Tensor:
    """As `baddbmm`, in place: the tensor takes the result and is returned."""

bfloat16: DType

def bitwise_and_(
    x: _Tensor | builtins.int, y: _Tensor | builtins.int, out: _Tensor | None = None, name: str | None = None
) -> _Tensor:
    """As `bitwise_and`, in place: the tensor takes the result and is returned."""

bitwise_invert = _bitwise_not

def bitwise_invert_(x: _Tensor | builtins.int, out: _Tensor | None = None, name: str | None = None) -> _Tensor:
    """As `bitwise_invert`, in place: the tensor takes the result and is returned."""

def bitwise_left_shift_(
    x: _Tensor | builtins.int,
    y: _Tensor | builtins.int,
    is_arithmetic: builtins.bool = True,
    out: _Tensor | None = None,
    name: str | None = None,
) -> _Tensor:
    """As `bitwise_left_shift`, in place: the tensor takes the result and is returned."""

def bitwise_not_(x: _Tensor | builtins.int, out: _Tensor | None = None, name: str | None = None) -> _Tensor:
    """As `bitwise_not`, in place: the tensor takes the result and is returned."""

def bitwise_or_(
    x: _Tensor | builtins.int, y: _Tensor | builtins.int, out: _Tensor | None = None, name: str | None = None
) -> _Tensor:
    """As `bitwise_or`, in place: the tensor takes the result and is returned."""

def bitwise_right_shift_(
    x: _Tensor | builtins.int,
    y: _Tensor | builtins.int,
    is_arithmetic: builtins.bool = True,
    out: _Tensor | None = None,
    name: str | None = None,
) -> _Tensor:
    """As `bitwise_right_shift`, in place: the tensor takes the result and is returned."""

def bitwise_xor_(
    x: _Tensor | builtins.int, y: _Tensor | builtins.int, out: _Tensor | None = None, name: str | None = None
) -> _Tensor:
    """As `bitwise_xor`, in place: the tensor takes the result and is returned."""

bool: DType

def cast_(x: _Tensor, dtype: DTypeLike | None) -> _Tensor:
    """As `cast`, in place: the tensor takes the result and is returned."""

cat = _concat
cdouble: DType

def ceil(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Each element rounded up to a whole number."""

def ceil_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `ceil`, in place: the tensor takes the result and is returned."""

cfloat: DType
clamp = _clip
clamp_ = _clip_

def complex(real: _Tensor, imag: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Complex numbers from their two parts."""

complex128: DType
complex64: DType
concatenate = _concat

def conj(x: _Tensor, name: str | None = None) -> _Tensor:
    """The complex conjugate of each element; real numbers stay as they are."""

def copysign(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The magnitude of `x` with the sign of `y`; a zero has a sign as well."""

def copysign_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `copysign`, in place: the tensor takes the result and is returned."""

def cos(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The cosine of each element, in radians."""

def cos_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `cos`, in place: the tensor takes the result and is returned."""

def cosh(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The hyperbolic cosine of each element."""

def cosh_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `cosh`, in place: the tensor takes the result and is returned."""

def diff(
    x: _Tensor,
    n: builtins.int = 1,
    axis: builtins.int = -1,
    prepend: _Tensor | None = None,
    append: _Tensor | None = None,
    name: str | None = None,
    *,
    out: _Tensor | None = None,
) -> _Tensor:
    """Differences of neighbours along an axis; of booleans, whether they differ."""

def digamma(x: _Tensor, name: str | None = None) -> _Tensor:
    """The derivative of `lgamma`, element by element; NaN at negative integers."""

def digamma_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `digamma`, in place: the tensor takes the result and is returned."""

div = _divide

def div_(
    x: _Tensor, y: _Tensor | builtins.complex, name: str | None = None, *, rounding_mode: str | None = None
) -> _Tensor:
    """As `div`, in place: the tensor takes the result and is returned."""

def divide_(
    x: _Tensor, y: _Tensor | builtins.complex, name: str | None = None, *, rounding_mode: str | None = None
) -> _Tensor:
    """As `divide`, in place: the tensor takes the result and is returned."""

double: DType
dtype = DType
e: builtins.float

def eq(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x == y`, element by element."""

def equal(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x == y`, element by element."""

def equal_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `equal`, in place: the tensor takes the result and is returned."""

def erf(x: _Tensor, name: str | None = None) -> _Tensor:
    """The error function of each element, between -1 and 1."""

def erf_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `erf`, in place: the tensor takes the result and is returned."""

def erfinv(x: _Tensor, name: str | None = None) -> _Tensor:
    """The number whose error function is `x`; NaN outside [-1, 1], infinite at the ends."""

def erfinv_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `erfinv`, in place: the tensor takes the result and is returned."""

def exp(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """e to the power of each element."""

def exp_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `exp`, in place: the tensor takes the result and is returned."""

def expm1(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`exp(x) - 1`, exact near 0 as well."""

def expm1_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `expm1`, in place: the tensor takes the result and is returned."""

finfo = FInfo
float: DType
float16: DType
float32: DType
float64: DType
float8_e4m3fn: DType
float8_e5m2: DType

def floor(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Each element rounded down to a whole number."""

def floor_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `floor`, in place: the tensor takes the result and is returned."""

def floor_divide_(x: TensorLike, y: TensorLike) -> _Tensor:
    """As `floor_divide`, in place: the tensor takes the result and is returned."""

floor_mod = _remainder

def floor_mod_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `floor_mod`, in place: the tensor takes the result and is returned."""

def fmax(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The larger of each pair, or the one that is not NaN. At ties the gradient goes to `x`."""

def fmin(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The smaller of each pair, or the one that is not NaN. At ties the gradient goes to `x`."""

def frac_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `frac`, in place: the tensor takes the result and is returned."""

def gammainc_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `gammainc`, in place: the tensor takes the result and is returned."""

def gammaincc_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `gammaincc`, in place: the tensor takes the result and is returned."""

def gammaln(x: _Tensor, name: str | None = None) -> _Tensor:
    """The logarithm of the absolute value of the gamma function; infinite at its poles."""

def gammaln_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `gammaln`, in place: the tensor takes the result and is returned."""

def gcd(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The greatest common divisor of each pair of integers; of two zeros, 0."""

def gcd_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `gcd`, in place: the tensor takes the result and is returned."""

def ge(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x >= y`, element by element."""

def greater(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x > y`, element by element."""

def greater_equal(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x >= y`, element by element."""

def greater_equal_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `greater_equal`, in place: the tensor takes the result and is returned."""

def greater_than(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x > y`, element by element."""

def greater_than_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `greater_than`, in place: the tensor takes the result and is returned."""

def gt(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x > y`, element by element."""

half: DType

def heaviside(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The step function: 0 for negative `x`, 1 for positive, `y` at zero. NaN is not positive, so it gives 0."""

def hypot_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `hypot`, in place: the tensor takes the result and is returned."""

def i0(x: _Tensor, name: str | None = None) -> _Tensor:
    """The modified Bessel function of the first kind of order 0."""

def i0_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `i0`, in place: the tensor takes the result and is returned."""

def i0e(x: _Tensor, name: str | None = None) -> _Tensor:
    """`exp(-|x|) * i0(x)`, which does not overflow."""

def i1(x: _Tensor, name: str | None = None) -> _Tensor:
    """The modified Bessel function of the first kind of order 1."""

def i1e(x: _Tensor, name: str | None = None) -> _Tensor:
    """`exp(-|x|) * i1(x)`, which does not overflow."""

iinfo = IInfo

def imag(x: _Tensor, name: str | None = None) -> _Tensor:
    """The imaginary part of complex numbers; it shares memory with `x`."""

def index_add_(
    x: _Tensor, index: _Tensor, axis: AxisLike | None, value: _Tensor, alpha: Number = 1, name: str | None = None
) -> _Tensor:
    """As `index_add`, in place: the tensor takes the result and is returned."""

def index_fill_(x: _Tensor, index: _Tensor, axis: AxisLike | None, value: Number, name: str | None = None) -> _Tensor:
    """As `index_fill`, in place: the tensor takes the result and is returned."""

def index_put_(
    x: _Tensor, indices: Any, value: _Tensor, accumulate: builtins.bool = False, name: str | None = None
) -> _Tensor:
    """As `index_put`, in place: the tensor takes the result and is returned."""

inf: builtins.float
int: DType
int16: DType
int32: DType
int64: DType
int8: DType

def inverse(x: _Tensor, name: str | None = None) -> _Tensor:
    """The inverse of square matrices."""

ir_guard: _IrGuard

def isclose(
    x: _Tensor | builtins.complex,
    y: _Tensor | builtins.complex,
    rtol: builtins.complex = 1e-05,
    atol: builtins.complex = 1e-08,
    equal_nan: builtins.bool = False,
    name: str | None = None,
) -> _Tensor:
    """Whether `|x - y| <= atol + rtol * |y|`, element by element."""

def isfinite(x: _Tensor, name: str | None = None) -> _Tensor:
    """Whether each element is neither NaN nor infinite."""

def isinf(x: _Tensor, name: str | None = None) -> _Tensor:
    """Whether each element is plus or minus infinity."""

def isnan(x: _Tensor, name: str | None = None) -> _Tensor:
    """Whether each element is NaN."""

def lcm(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The least common multiple of each pair of integers; 0 where one of them is 0."""

def lcm_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `lcm`, in place: the tensor takes the result and is returned."""

def ldexp_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `ldexp`, in place: the tensor takes the result and is returned."""

def le(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x <= y`, element by element."""

def lerp_(x: _Tensor, y: _Tensor, weight: Number, name: str | None = None) -> _Tensor:
    """As `lerp`, in place: the tensor takes the result and is returned."""

def less(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x < y`, element by element."""

def less_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `less`, in place: the tensor takes the result and is returned."""

def less_equal(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x <= y`, element by element."""

def less_equal_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `less_equal`, in place: the tensor takes the result and is returned."""

def less_than(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x < y`, element by element."""

def less_than_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `less_than`, in place: the tensor takes the result and is returned."""

def lgamma(x: _Tensor, name: str | None = None) -> _Tensor:
    """The logarithm of the absolute value of the gamma function; infinite at its poles."""

def lgamma_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `lgamma`, in place: the tensor takes the result and is returned."""

def log(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The natural logarithm of each element; NaN for negative numbers, minus infinity at 0."""

def log10(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm to base 10; NaN for negative numbers."""

def log10_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `log10`, in place: the tensor takes the result and is returned."""

def log1p(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`log(1 + x)`, exact near 0 as well; NaN below -1."""

def log1p_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `log1p`, in place: the tensor takes the result and is returned."""

def log2(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm to base 2; NaN for negative numbers."""

def log2_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `log2`, in place: the tensor takes the result and is returned."""

def log_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `log`, in place: the tensor takes the result and is returned."""

def logaddexp(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """`log(exp(x) + exp(y))`, without overflow."""

def logical_and(x: _Tensor, y: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Whether both are true, that is not zero, element by element."""

def logical_and_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `logical_and`, in place: the tensor takes the result and is returned."""

def logical_not(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Whether each element is not true, that is zero."""

def logical_not_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `logical_not`, in place: the tensor takes the result and is returned."""

def logical_or(x: _Tensor, y: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Whether at least one of them is true, that is not zero, element by element."""

def logical_or_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `logical_or`, in place: the tensor takes the result and is returned."""

def logical_xor(x: _Tensor, y: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """Whether exactly one of them is true, that is not zero, element by element."""

def logical_xor_(x: _Tensor, y: _Tensor, name: str | None = None) -> _Tensor:
    """As `logical_xor`, in place: the tensor takes the result and is returned."""

def logit_(x: _Tensor, eps: builtins.float | None = None, name: str | None = None) -> _Tensor:
    """As `logit`, in place: the tensor takes the result and is returned."""

long: DType

def lt(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x < y`, element by element."""

def manual_seed(seed: builtins.int) -> _Generator:
    """Makes everything random from here on repeatable; `seed` by PyTorch's name."""

def masked_fill_(x: _Tensor, mask: _Tensor, value: Number, name: str | None = None) -> _Tensor:
    """As `masked_fill`, in place: the tensor takes the result and is returned."""

def masked_scatter_(x: _Tensor, mask: _Tensor, value: _Tensor, name: str | None = None) -> _Tensor:
    """As `masked_scatter`, in place: the tensor takes the result and is returned."""

def matmul(
    x: _Tensor,
    y: _Tensor,
    transpose_x: builtins.bool = False,
    transpose_y: builtins.bool = False,
    name: str | None = None,
    *,
    out: _Tensor | None = None,
) -> _Tensor:
    """The matrix product over the last two axes, the others broadcast; `x @ y` means the same."""

def maximum(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """The larger of each pair; NaN if one of them is NaN. Equal ones share the gradient."""

def median(
    x: _Tensor,
    axis: AxisLike | None = None,
    keepdim: builtins.bool = False,
    mode: str = "avg",
    name: str | None = None,
    *,
    out: _Tensor | None = None,
) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The middle element along an axis; NaN if there is one among them."""

def minimum(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """The smaller of each pair; NaN if one of them is NaN. Equal ones share the gradient."""

mod = _remainder

def mod_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `mod`, in place: the tensor takes the result and is returned."""

def mul(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """`x * y`, element by element."""

def mul_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `mul`, in place: the tensor takes the result and is returned."""

def multigammaln_(x: _Tensor, p: builtins.int, name: str | None = None) -> _Tensor:
    """As `multigammaln`, in place: the tensor takes the result and is returned."""

def multiply(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """`x * y`, element by element."""

def multiply_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `multiply`, in place: the tensor takes the result and is returned."""

nan: builtins.float

def nan_to_num_(
    x: _Tensor,
    nan: builtins.float = 0.0,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
    name: str | None = None,
) -> _Tensor:
    """As `nan_to_num`, in place: the tensor takes the result and is returned."""

def ne(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x != y`, element by element."""

def neg(x: _Tensor, name: str | None = None) -> _Tensor:
    """Each element with the other sign; `-x` means the same."""

def neg_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `neg`, in place: the tensor takes the result and is returned."""

def negative(x: _Tensor, name: str | None = None) -> _Tensor:
    """Each element with the other sign; `-x` means the same."""

newaxis: None

def nextafter(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """The floating number next to `x` in the direction of `y`."""

def not_equal(
    x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None, *, out: _Tensor | None = None
) -> _Tensor:
    """Whether `x != y`, element by element."""

def not_equal_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `not_equal`, in place: the tensor takes the result and is returned."""

pi: builtins.float

def polar(abs: _Tensor, angle: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The complex numbers that have a magnitude and an angle."""

def polygamma_(x: _Tensor, n: builtins.int, name: str | None = None) -> _Tensor:
    """As `polygamma`, in place: the tensor takes the result and is returned."""

def pow_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `pow`, in place: the tensor takes the result and is returned."""

pstring: _NameOnly

def put_along_axis_(
    arr: _Tensor,
    indices: _Tensor,
    values: Number,
    axis: AxisLike | None,
    reduce: str = "assign",
    include_self: builtins.bool = True,
    broadcast: builtins.bool = True,
) -> _Tensor:
    """As `put_along_axis`, in place: the tensor takes the result and is returned."""

def quantile(
    x: _Tensor,
    q: Number | Sequence[builtins.float],
    axis: AxisLike | None = None,
    keepdim: builtins.bool = False,
    interpolation: str = "linear",
    name: str | None = None,
    *,
    out: _Tensor | None = None,
) -> _Tensor:
    """What a fraction `q` of the elements lies below; NaN if one of them is NaN."""

raw: _NameOnly

def real(x: _Tensor, name: str | None = None) -> _Tensor:
    """The real part of complex numbers; it shares memory with `x`."""

def reciprocal(x: _Tensor, name: str | None = None) -> _Tensor:
    """`1 / x`, element by element; infinity at 0."""

def reciprocal_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `reciprocal`, in place: the tensor takes the result and is returned."""

def remainder_(x: _Tensor | builtins.complex, y: _Tensor | builtins.complex, name: str | None = None) -> _Tensor:
    """As `remainder`, in place: the tensor takes the result and is returned."""

def renorm_(x: _Tensor, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> _Tensor:
    """As `renorm`, in place: the tensor takes the result and is returned."""

reverse = _flip

def round_(x: _Tensor, decimals: builtins.int = 0, name: str | None = None) -> _Tensor:
    """As `round`, in place: the tensor takes the result and is returned."""

row_stack = _vstack

def rsqrt(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`1 / sqrt(x)`, element by element; NaN for negative numbers."""

def rsqrt_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `rsqrt`, in place: the tensor takes the result and is returned."""

def scale_(
    x: _Tensor,
    scale: Number = 1.0,
    bias: Number = 0.0,
    bias_after_scale: builtins.bool = True,
    act: str | None = None,
    name: str | None = None,
) -> _Tensor:
    """As `scale`, in place: the tensor takes the result and is returned."""

def scatter_(
    x: _Tensor,
    index: _Tensor,
    updates: _Tensor,
    overwrite: builtins.bool = True,
    name: str | None = None,
    out: _Tensor | None = None,
) -> _Tensor:
    """As `scatter`, in place: the tensor takes the result and is returned."""

def scatter_add_(input: _Tensor, dim: AxisLike, index: _Tensor, src: _Tensor) -> _Tensor:
    """As `scatter_add`, in place: the tensor takes the result and is returned."""

short: DType

def sigmoid(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`1 / (1 + exp(-x))`, element by element: any number mapped into (0, 1)."""

def sigmoid_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `sigmoid`, in place: the tensor takes the result and is returned."""

def sign(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """-1, 0 or 1 by the sign of each element; of complex numbers `x / |x|`."""

def sin(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The sine of each element, in radians."""

def sin_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `sin`, in place: the tensor takes the result and is returned."""

def sinc_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `sinc`, in place: the tensor takes the result and is returned."""

def sinh(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The hyperbolic sine of each element."""

def sinh_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `sinh`, in place: the tensor takes the result and is returned."""

slice = slice_axes

def sqrt(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The square root of each element; NaN for negative numbers."""

def sqrt_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `sqrt`, in place: the tensor takes the result and is returned."""

def square(x: _Tensor, name: str | None = None) -> _Tensor:
    """Each element times itself."""

def square_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `square`, in place: the tensor takes the result and is returned."""

sub = _subtract

def sub_(x: _Tensor, y: _Tensor | builtins.complex, name: str | None = None, *, alpha: Number = 1) -> _Tensor:
    """As `sub`, in place: the tensor takes the result and is returned."""

def subtract_(x: _Tensor, y: _Tensor | builtins.complex, name: str | None = None, *, alpha: Number = 1) -> _Tensor:
    """As `subtract`, in place: the tensor takes the result and is returned."""

def sum(
    x: _Tensor,
    axis: AxisLike | None = None,
    dtype: DTypeLike | builtins.bool | None = None,
    keepdim: builtins.bool = False,
    name: str | None = None,
    *,
    out: _Tensor | None = None,
) -> _Tensor:
    """The sum over some axes."""

swapdims = _swapaxes
take_along_dim = _take_along_axis

def tan(x: _Tensor, name: str | None = None) -> _Tensor:
    """The tangent of each element, in radians."""

def tan_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `tan`, in place: the tensor takes the result and is returned."""

def tanh(x: _Tensor, name: str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The hyperbolic tangent: any number mapped into (-1, 1)."""

def tanh_(x: _Tensor, name: str | None = None) -> _Tensor:
    """As `tanh`, in place: the tensor takes the result and is returned."""

def tril_(x: _Tensor, diagonal: builtins.int = 0, name: str | None = None) -> _Tensor:
    """As `tril`, in place: the tensor takes the result and is returned."""

def triu_(x: _Tensor, diagonal: builtins.int = 0, name: str | None = None) -> _Tensor:
    """As `triu`, in place: the tensor takes the result and is returned."""

def trunc(input: _Tensor, name: str | None = None) -> _Tensor:
    """Each element rounded towards zero."""

def trunc_(input: _Tensor, name: str | None = None) -> _Tensor:
    """As `trunc`, in place: the tensor takes the result and is returned."""

uint16: DType
uint32: DType
uint64: DType
uint8: DType
__version__: builtins.str
__git_commit__: builtins.str
