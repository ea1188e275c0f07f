"""Convolutions of cold code on a GPU, by cuDNN through NVIDIA's own front end (`nvidia-cudnn-frontend`).

XLA compiles a convolution for every shape, and tries algorithms meanwhile: a tenth of a second and more for each. cuDNN's
heuristics choose one of the same algorithms in three milliseconds, once for a shape, as PyTorch has it.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ....core import flags
from .raw import in_order

_TYPES = {"float32": "FLOAT", "float16": "HALF", "bfloat16": "BFLOAT16"}
_MOST_PLANS = 4096
_FIRST, _SECOND, _RESULT = 1, 2, 3  # numbers of a graph's tensors
Shape = tuple[int, ...]


class Window(NamedTuple):
    """How a convolution goes over its input."""

    stride: Shape
    padding: tuple[tuple[int, int], ...]
    dilation: Shape
    groups: int
    channels_last: bool


class _Plan(NamedTuple):
    """cuDNN's choice for one shape: a graph of one operation, and the memory that it wants beside its tensors."""

    graph: Any
    workspace: int


_PLANS: dict[Any, _Plan | None] = {}  # None: cuDNN has nothing for that


@functools.cache
def is_there() -> bool:
    """Whether cuDNN's front end is installed, and finds cuDNN."""
    if importlib.util.find_spec("cudnn") is None:
        return False
    try:
        return bool(_front_end().backend_version())
    except Exception:  # a library that cannot be loaded, or is too old for this
        return False


@functools.cache
def _front_end() -> Any:
    import cudnn  # type: ignore[import-not-found] # pyright: ignore

    return cudnn


@functools.cache
def _handle(device: int, stream: int) -> Any:
    """cuDNN on one GPU, on the stream that CuPy works on."""
    handle = _front_end().create_handle()
    _front_end().set_stream(handle=handle, stream=stream)
    return handle


# ---- kernels -----------------------------------------------------------------------------------------


def convolution(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv`."""

    def kernel(xp: Any, x: Any, weight: Any, bias: Any, *window: Any) -> Any:
        way = Window(*window)
        out = _run(xp, "conv_fprop", (x, weight), _output_shape(x.shape, weight.shape, way), way)
        if out is None:
            return otherwise(xp, x, weight, bias, *window)
        if bias is not None:
            out += bias if way.channels_last else bias.reshape((-1,) + (1,) * len(way.stride))
        return out

    return _ready(kernel)


def grad_input(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv_grad_input`."""

    def kernel(xp: Any, y: Any, weight: Any, shape: Shape, *window: Any) -> Any:
        out = _run(xp, "conv_dgrad", (y, weight), shape, Window(*window))
        return otherwise(xp, y, weight, shape, *window) if out is None else out

    return _ready(kernel)


def grad_weight(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv_grad_weight`."""

    def kernel(xp: Any, x: Any, y: Any, shape: Shape, *window: Any) -> Any:
        out = _run(xp, "conv_wgrad", (x, y), shape, Window(*window))
        return otherwise(xp, x, y, shape, *window) if out is None else out

    return _ready(kernel)


def _ready(kernel: Any) -> Any:
    """Lets tier 0 know when this kernel is one that large programs may run with."""
    kernel.is_ready = is_there
    return kernel


# The names by which each operation knows its operands, and which of its tensors (the result is the last) is a weight.
_OPERANDS = {
    "conv_fprop": (("image", "weight"), 1),
    "conv_dgrad": (("loss", "filter"), 1),
    "conv_wgrad": (("image", "loss"), 2),
}


def _output_shape(x: Shape, weight: Shape, way: Window) -> Shape:
    extents = x[1:-1] if way.channels_last else x[2:]
    places = tuple(
        (extent + before + after - rate * (width - 1) - 1) // step + 1
        for extent, (before, after), rate, width, step in zip(
            extents, way.padding, way.dilation, weight[2:], way.stride, strict=True
        )
    )
    return (x[0], *places, weight[0]) if way.channels_last else (x[0], weight[0], *places)


def _run(xp: Any, operation: str, operands: tuple[Any, Any], shape: Shape, way: Window) -> Any:
    """The result of a shape; None where cuDNN is not there or has nothing for it."""
    first, second = operands
    steady = flags.get("FLAGS_cudnn_deterministic")
    key = (operation, first.dtype, second.dtype, first.shape, second.shape, shape, way, xp.device, steady)
    plan = _PLANS.get(key, False)
    if plan is False:
        if len(_PLANS) >= _MOST_PLANS:
            del _PLANS[next(iter(_PLANS))]
        plan = _PLANS[key] = _found(xp, operation, operands, shape, way, steady)
    if plan is None:
        return None
    weight_at = _OPERANDS[operation][1]
    given = [
        _weight_in_order(xp, array, way) if at == weight_at else in_order(xp, array)[0]
        for at, array in enumerate(operands)
    ]
    is_turned = way.channels_last and weight_at == 2  # a gradient of a weight, whose channels are last
    result = xp.ndarray(_moved(shape) if is_turned else shape, first.dtype)
    workspace = xp.workspace(plan.workspace) if plan.workspace else 0
    pointers = {_FIRST: given[0].data.ptr, _SECOND: given[1].data.ptr, _RESULT: result.data.ptr}
    plan.graph.execute(pointers, workspace, handle=_handle(xp.device, xp.stream))
    return xp.ascontiguousarray(xp.moveaxis(result, -1, 1)) if is_turned else result


def _found(xp: Any, operation: str, operands: tuple[Any, Any], shape: Shape, way: Window, steady: bool) -> _Plan | None:
    first, second = operands
    kind, shapes = first.dtype.name, (first.shape, second.shape, shape)
    if kind not in _TYPES or second.dtype != first.dtype or not all(map(math.prod, shapes)) or not is_there():
        return None
    return _made(operation, kind, shapes, way, _handle(xp.device, xp.stream), steady)


def _weight_in_order(xp: Any, weight: Any, way: Window) -> Any:
    """A weight [out, in, kernel …] as cuDNN wants it: with its channels where those of the images are."""
    return in_order(xp, xp.moveaxis(weight, 1, -1) if way.channels_last else weight)[0]


def _moved(shape: Shape) -> Shape:
    return (shape[0], *shape[2:], shape[1])


def _made(operation: str, kind: str, shapes: Sequence[Shape], way: Window, handle: Any, steady: bool) -> _Plan | None:
    """cuDNN's plan for two operands and a result of these shapes."""
    cudnn = _front_end()
    (one, two), weight_at = _OPERANDS[operation]
    io_type = getattr(cudnn.data_type, _TYPES[kind])
    sizes, strides = zip(*[_layout(s, way, at == weight_at) for at, s in enumerate(shapes)], strict=True)
    missing = (0,) * (len(sizes[0]) - 2 - len(way.stride))  # cuDNN has no images of one axis
    try:
        graph = cudnn.pygraph(
            io_data_type=io_type,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            handle=handle,
        )
        given = {
            name: graph.tensor(name=name, dim=list(sizes[at]), stride=list(strides[at]), data_type=io_type, uid=at + 1)
            for at, name in enumerate((one, two))
        }
        out = getattr(graph, operation)(
            **given,
            pre_padding=[*missing, *[before for before, _ in way.padding]],
            post_padding=[*missing, *[after for _, after in way.padding]],
            stride=[*[1 for _ in missing], *way.stride],
            dilation=[*[1 for _ in missing], *way.dilation],
        )
        out.set_output(True).set_uid(_RESULT).set_dim(list(sizes[2])).set_stride(list(strides[2]))
        out.set_data_type(io_type)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        if steady:
            graph.deselect_numeric_notes([cudnn.numerical_note.NONDETERMINISTIC])
        graph.check_support()
        graph.build_plans()
        return _Plan(graph, graph.get_workspace_size())
    except Exception:  # no algorithm for that, of which there are many kinds and spellings
        return None


def _layout(shape: Shape, way: Window, is_weight: bool) -> tuple[Shape, Shape]:
    """Sizes in cuDNN's order (batch, channels, places) and how far apart they lie; at least two axes of places."""
    if is_weight or not way.channels_last:
        outer, channels, places = shape[0], shape[1], shape[2:]
    else:
        outer, channels, places = shape[0], shape[-1], shape[1:-1]
    places = (1,) * (2 - len(places)) + places
    inner = [math.prod(places[at + 1 :]) for at in range(len(places))]
    count = math.prod(places)
    if way.channels_last:
        strides = (count * channels, 1, *[step * channels for step in inner])
    else:
        strides = (count * channels, count, *inner)
    return (outer, channels, *places), strides


__all__ = ["convolution", "grad_input", "grad_weight", "is_there"]
