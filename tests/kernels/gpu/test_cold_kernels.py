"""The CUDA kernels of cold code give what NumPy gives, thread by thread on the CPU; NVIDIA's compiler takes them."""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proa.kernels.gpu.cold import arithmetic, channels, convolution, memo, pooling, raw, rows, updates
from proa.kernels.gpu.cold import attention as _attention  # noqa: F401 (what it starts is in the modules below)
from proa.ops.basic import sum_over
from proa.ops.linear import linalg
from proa.ops.math import arithmetic as operators
from proa.ops.math.reduction import mean_over
from proa.ops.neural import attention, normalization, softmax
from proa.ops.neural.losses import labels
from proa.ops.neural.windowed import convolution_kernels, pooling_kernels
from proa.optimizer import updates as updating

from .emulated import running

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
RANDOM = np.random.default_rng(0)
XP = running.Namespace()


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arithmetic, channels, pooling, rows, updates):
        monkeypatch.setattr(module, "function", running.function)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def _given(value: Any) -> Any:
    return value.view(running.Array) if isinstance(value, np.ndarray) else value


def _refused(*arguments: Any) -> Any:
    raise AssertionError("the kernel left this to another")


def compare(primitive: Any, arguments: list[Any], attributes: tuple[Any, ...], tolerance: float = 2e-5) -> None:
    """What the operation's kernel for cold code gives, beside its own kernel in float64."""
    operation = primitive.operation
    given, wide = [_given(a) for a in arguments], [_wide(a) for a in arguments]
    if operation.variadic:
        made, expected = operation.kernels["cupy"](XP, given, *attributes), operation.kernel(np, wide, *attributes)
    else:
        made, expected = operation.kernels["cupy"](XP, *given, *attributes), operation.kernel(np, *wide, *attributes)
    made, expected = [x if isinstance(x, tuple) else (x,) for x in (made, expected)]
    for a, b in zip(made, expected, strict=True):
        assert a.shape == np.shape(b)
        scale = max(1e-9, float(np.max(np.abs(b), initial=0.0)))
        np.testing.assert_allclose(np.asarray(a) / scale, np.asarray(b) / scale, rtol=0, atol=tolerance)


def _wide(value: Any) -> Any:
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value


@pytest.mark.parametrize("shape", [(4, 6, 9, 9), (16, 3, 20, 20), (5, 7), (3, 12, 6, 6), (2, 5, 11), (2, 3, 4, 5, 6)])
def test_batch_norm(shape: tuple[int, ...]) -> None:
    x, y, weight, bias = floats(*shape) * 3 + 50, floats(*shape), floats(shape[1]), floats(shape[1])
    axes, broadcast = (0, *range(2, len(shape))), (1, shape[1], *(1,) * (len(shape) - 2))
    attributes = (1e-5, shape, axes, broadcast, True)
    x, y = _given(x), _given(y)  # the same arrays each time: what they share is used again
    compare(normalization.normalise, [x, weight, bias], attributes, 1e-4)
    compare(normalization.normalise, [x, None, None], attributes, 1e-4)
    compare(normalization.normalise_grad_input, [x, y, weight], attributes, 1e-4)
    compare(normalization.normalise_grad_weight, [x, y], attributes, 1e-4)
    compare(normalization.normalise_grad_bias, [x, y], (axes,), 1e-4)
    statistics = [floats(shape[1]), np.abs(floats(shape[1]))]
    made = channels.running_statistics(_refused)(XP, x, *map(_given, statistics), np.float32(0.9), axes)
    for new, old, now in zip(made, statistics, (x.mean(axes, np.float64), x.var(axes, np.float64)), strict=True):
        np.testing.assert_allclose(new, 0.9 * old + 0.1 * now, rtol=1e-4)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize(("shape", "count"), [((4, 10, 512), 1), ((7, 33), 1), ((3, 5, 8, 6), 2), ((2, 3000), 1)])
def test_layer_norm(shape: tuple[int, ...], count: int, centred: bool) -> None:
    inner, axes = shape[-count:], tuple(range(len(shape) - count, len(shape)))
    x, y, weight, bias = floats(*shape) * 3 + 5, floats(*shape), floats(*inner), floats(*inner)
    attributes = (1e-5, shape, axes, inner, centred)
    compare(normalization.normalise, [x, weight, bias], attributes)
    compare(normalization.normalise_grad_input, [x, y, weight], attributes)
    compare(normalization.normalise_grad_input, [x, y, None], attributes)
    compare(normalization.normalise_grad_weight, [x, y], attributes)


@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (3, 4)), ((3, 4), ()), ((), (2, 3)), ((2, 3, 4), (4,)), ((2, 3, 4), (2, 3, 1)), ((3, 1), (2, 3, 4)),
     ((2, 3, 4, 5), (1, 3, 1, 1)), ((2, 3), (2, 1)), ((1, 2), (1,)), ((2, 1), (1, 3)), ((2, 5, 3), (2, 1, 3)), ((7,), (1,)),
     ((2, 3, 4), (3, 4)), ((40, 70), (70,))],
)  # fmt: skip
def test_arithmetic(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (floats(*shape) if shape else np.asarray(floats(1)[0]) for shape in shapes)
    for primitive in (operators.plus, operators.minus, operators.multiply, operators.over):
        compare(primitive, [x, y], ())
        compare(primitive, [x, np.float32(1.7)], ())
        compare(primitive, [np.float32(1.7), y], ())
    compare(operators.minus, [np.asfortranarray(x), y], ())


def test_softmax_of_rows() -> None:
    for shape in ((5, 7), (3, 4, 300)):
        compare(softmax.softmax_along, [floats(*shape) * 4], (len(shape) - 1,))
    infinite = np.array([[0.0, np.inf], [np.nan, 1.0]], np.float32)
    assert np.isnan(softmax.softmax_along.operation.kernels["cupy"](XP, _given(infinite), 1)).all()


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("ignored", [-100, 1])
def test_cross_entropy(reduction: str, ignored: int) -> None:
    logits, label = floats(9, 301) * 3, RANDOM.integers(0, 301, 9)
    label[2] = 1
    attributes = (reduction, 1, 301, ignored, False)
    compare(labels.softmax_cross_entropy, [logits, label], attributes)
    y = floats(9) if reduction == "none" else np.full((), 1.3, np.float32)
    compare(labels.softmax_cross_entropy_grad, [logits, label, y], attributes)


def test_sums_and_means() -> None:
    for shape, axes in (((400, 51), (0,)), ((16, 30, 48), (0, 1)), ((3, 5), (0,)), ((4000, 33), (0,))):
        compare(sum_over, [floats(*shape)], (axes, False))
    for keepdim in (False, True):
        compare(mean_over, [floats(5, 6, 77)], ((2,), keepdim))


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    keys = 20 if causal else 33
    query, key, value, y = floats(2, 20, 4, 16), floats(2, keys, 4, 16), floats(2, keys, 4, 8), floats(2, 20, 4, 8)
    compare(attention.attention, [query, key, value, None], (0.3, causal))
    given = [_given(a) for a in (y, query, key, value)]
    for gradient in (attention.attention_grad_query, attention.attention_grad_key, attention.attention_grad_value):
        compare(gradient, [*given, None], (0.3, causal))


def test_attention_of_parts_of_arrays() -> None:
    """Heads are cut out of one product: none of them lies in order."""
    whole = floats(2, 12, 3, 4, 8)
    parts = [whole[:, :, n] for n in range(3)]
    assert not parts[0].flags.c_contiguous
    compare(attention.attention, [*parts, None], (0.3, False))


@pytest.mark.parametrize(
    ("extents", "kernel", "stride", "padding"),
    [
        ((9, 11), (3, 3), (2, 2), ((1, 1), (1, 1))),
        ((8, 8), (2, 2), (2, 2), ((0, 0), (0, 0))),
        ((10, 7), (3, 2), (1, 3), ((1, 0), (0, 1))),
        ((7, 9), (3, 3), (3, 3), ((1, 1), (2, 2))),
    ],
)
def test_maximum_pooling(extents: Any, kernel: Any, stride: Any, padding: Any) -> None:
    attributes = (kernel, stride, padding, False)
    x = np.round(floats(3, 4, *extents) * 2) / 2  # with equal ones
    out = pooling_kernels.max_pool.operation.kernel(np, x, *attributes)
    compare(pooling_kernels.max_pool, [x], attributes)
    compare(pooling_kernels.max_pool_grad, [x, floats(*out.shape)], attributes)
    x[0, 0, 3, 3] = np.nan
    expected = pooling_kernels.max_pool.operation.kernel(np, x, *attributes)
    np.testing.assert_array_equal(
        pooling_kernels.max_pool.operation.kernels["cupy"](XP, _given(x), *attributes), expected
    )


@pytest.mark.parametrize("decay", ["", "l1", "l2", "decoupled"])
def test_updates(decay: str) -> None:
    shapes = ((5000, 1), (7,), (33, 65))
    columns = [[floats(*shape) for shape in shapes] for _ in range(4)]
    params, grads, first, second = columns
    second = [np.abs(a) for a in second]
    grads[2] = np.asfortranarray(grads[2])  # as a product leaves it

    def numbers(*values: float) -> list[Any]:
        return [np.float32(value) for value in values]

    if decay != "decoupled":
        compare(updating.sgd_update, [*numbers(0.1, 0.01), *params, *grads], (3, decay, False))
        for nesterov in (False, True):
            given = [*numbers(0.1, 0.01, 0.9, 0.5), *params, *grads, *first]
            compare(updating.momentum_update, given, (3, decay, False, nesterov))
    for steps in (np.full((), 3.0), np.full((), 3.0, np.float32)):
        given = [*numbers(0.1, 1e-8, 0.01, 0.9, 0.999), *params, *grads, *first, *second, steps]
        compare(updating.adam_update, given, (3, decay, False, False, False))


def test_products() -> None:
    for a, b, left, right in (
        ((5, 7), (7, 3), False, False), ((7, 5), (7, 3), True, False), ((5, 7), (3, 7), False, True),
        ((2, 4, 7), (7, 3), False, False), ((2, 4, 7), (3, 7), False, True), ((2, 7, 4), (7, 3), True, False),
    ):  # fmt: skip
        compare(linalg.matmul, [floats(*a), floats(*b)], (left, right))
    compare(linalg.linear, [floats(2, 3, 7), floats(7, 5), floats(5)], ())
    compare(linalg.linear, [floats(2, 3, 7), floats(7, 5), None], ())


def test_convolutions_without_cudnn_are_those_of_numpy() -> None:
    assert not convolution.is_there() or importlib.util.find_spec("cudnn")
    if convolution.is_there():
        pytest.skip("cuDNN's front end is installed here, and wants a GPU")
    window = ((1, 1), ((1, 1), (0, 1)), (1, 1), 1, False)
    compare(convolution_kernels.conv, [floats(2, 3, 8, 7), floats(4, 3, 3, 3), floats(4)], window)


class _Cudnn:
    """In the place of cuDNN: computes what it is asked for, from addresses, sizes and distances alone, on the CPU."""

    def __init__(self, operation: str, shapes: Any, way: Any) -> None:
        weight_at = convolution._OPERANDS[operation][1]
        self.layouts = [convolution._layout(shape, way, at == weight_at) for at, shape in enumerate(shapes)]
        self.operation = operation
        stride, padding, dilation = way.stride, way.padding, way.dilation
        if len(stride) == 1:
            stride, padding, dilation = (1, *stride), ((0, 0), *padding), (1, *dilation)
        self.window = (stride, padding, dilation, way.groups, False)

    def execute(self, pointers: dict[int, int], workspace: int, handle: Any) -> None:
        assert handle == "handle"
        one, two, out = [self._array(pointers[at + 1], *layout) for at, layout in enumerate(self.layouts)]
        if self.operation == "conv_fprop":
            out[...] = convolution_kernels._numpy_conv(np, one, two, None, *self.window)
        elif self.operation == "conv_dgrad":
            out[...] = convolution_kernels._numpy_grad_input(np, one, two, out.shape, *self.window)
        else:
            out[...] = convolution_kernels._numpy_grad_weight(np, one, two, out.shape, *self.window)

    @staticmethod
    def _array(address: int, sizes: Any, strides: Any) -> np.ndarray:
        count = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        flat = np.frombuffer((ctypes.c_float * count).from_address(address), np.float32)
        return np.lib.stride_tricks.as_strided(flat, sizes, [4 * stride for stride in strides], writeable=True)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(
    ("batch", "channels", "extents", "out", "kernel", "stride", "padding", "dilation", "groups"),
    [
        (2, 3, (8, 7), 4, (3, 3), (1, 1), ((1, 1), (0, 1)), (1, 1), 1),  # as many channels as rows of the kernel
        (2, 4, (9, 9), 6, (3, 2), (2, 1), ((1, 0), (0, 0)), (1, 2), 2),
        (1, 5, (6, 6), 3, (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
        (2, 3, (11,), 4, (3,), (2,), ((1, 1),), (1,), 1),
    ],
)
def test_convolutions_by_cudnn(
    batch: int, channels: int, extents: Any, out: int, kernel: Any, stride: Any, padding: Any, dilation: Any,
    groups: int, channels_last: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What cuDNN is told of arrays, and what becomes of its results."""

    def found(xp: Any, operation: str, operands: Any, shape: Any, way: Any, steady: bool) -> Any:
        return convolution._Plan(_Cudnn(operation, (operands[0].shape, operands[1].shape, shape), way), 0)

    monkeypatch.setattr(convolution, "_found", found)
    monkeypatch.setattr(convolution, "_PLANS", {})
    monkeypatch.setattr(convolution, "_handle", lambda device, stream: "handle")
    shape = (batch, *extents, channels) if channels_last else (batch, channels, *extents)
    window = (stride, padding, dilation, groups, channels_last)
    x, weight, bias = floats(*shape), floats(out, channels // groups, *kernel), floats(out)
    y = convolution_kernels._numpy_conv(np, x, weight, None, *window)
    numpy = {
        "conv": convolution_kernels._numpy_conv(np, x, weight, bias, *window),
        "input": convolution_kernels._numpy_grad_input(np, y, weight, shape, *window),
        "weight": convolution_kernels._numpy_grad_weight(np, x, y, weight.shape, *window),
    }
    x, weight, bias, y = map(_given, (x, weight, bias, np.ascontiguousarray(y)))
    cudnn = {
        "conv": convolution.convolution(_refused)(XP, x, weight, bias, *window),
        "input": convolution.grad_input(_refused)(XP, y, weight, shape, *window),
        "weight": convolution.grad_weight(_refused)(XP, x, y, weight.shape, *window),
    }
    for name, expected in numpy.items():
        np.testing.assert_allclose(cudnn[name], expected, rtol=1e-5, atol=1e-5, err_msg=name)


def test_what_is_not_float32_is_left_to_others() -> None:
    x = np.ones((3, 4))
    for kernel in (rows.softmax(lambda *arguments: "other"), rows.mean(lambda *arguments: "other")):
        assert kernel(XP, _given(x), *((1,) if kernel.__qualname__.startswith("softmax") else ((1,), False))) == "other"


def test_what_was_shared_is_forgotten_with_its_arrays() -> None:
    x = _given(floats(3, 4, 5))
    asked = []
    for _ in range(2):
        memo.once("test", (x,), None, lambda: asked.append(1) or "made")
    assert asked == [1]
    memo.once("test", (x,), "otherwise", lambda: asked.append(2))
    assert asked == [1, 2]
    count = len(memo._FOUND)
    del x
    gc.collect()
    assert len(memo._FOUND) <= count - 2


# ---- NVIDIA's compiler -------------------------------------------------------------------------------


def _nvrtc() -> ctypes.CDLL:
    spec = importlib.util.find_spec("nvidia")
    places = [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []
    found = sorted(file for place in places for file in place.rglob("libnvrtc.so.*"))
    if not found:
        pytest.skip("nvidia-cuda-nvrtc, which compiles for GPUs without having one, is for Linux on x86-64 and arm64")
    return ctypes.CDLL(str(found[-1]))


@pytest.mark.parametrize(
    "source",
    [arithmetic.source("/"), channels._SOURCE, pooling._SOURCE, rows._SOURCE, updates._SOURCE, updates._FACTORS],
    ids=["arithmetic", "channels", "pooling", "rows", "updates", "factors"],
)
def test_nvidias_compiler_takes_the_source(source: str) -> None:
    library, program = _nvrtc(), ctypes.c_void_p()
    text = (raw.BLOCK_SUM + source).encode()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"kernels.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_80", b"-std=c++17")
    status = library.nvrtcCompileProgram(program, 2, options)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
