"""`convert`: which kind of file this is, and what reads it."""

from __future__ import annotations

import functools
import os
import tempfile
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..core.tracebacks import boundary
from . import tensorflow
from .certificate import Certificate
from .conversion import Source, convert_source
from .samples import InputShape


@boundary
def convert(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    inputs: Any = None,
    rtol: float = 1e-4,
    atol: float = 1e-4,
) -> Certificate:
    """Converts a model file and says how far its results are from those of the engine it came from.

    `output` ends in ".proa", or is the prefix of Paddle's files; without it the result lies beside the model. `inputs` are
    arrays to compare with (a list, or the path of an `.npz`); without them some are made up. Nothing but the certificate
    (`OUTPUT-certificate.json`) is written unless the results agree.

    Args:
        path: the model's file.
        output: where the result goes.
        inputs: what both are run with.
        rtol: the largest difference allowed, relative to the reference.
        atol: the largest difference allowed, besides.

    Returns:
        A `Certificate`.

    Raises:
        NotEquivalent: the results do not agree.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.onnx.export(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
        >>> paddle.convert.convert("model.onnx", "model.proa").agrees
        True
    """
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"(convert) {path} does not exist.")
    target = os.fspath(output or default_output(path))
    kind = os.path.splitext(path)[1].lower()
    options: dict[str, Any] = {"inputs": inputs, "rtol": rtol, "atol": atol}
    if kind == ".onnx":
        return convert_source(_onnx(path), target, **options)
    if kind == ".pt2":
        return convert_source(_torch(path), target, **options)
    if kind == ".caffemodel":
        return convert_source(_caffe(path), target, **options)
    if kind in tensorflow.ENDINGS or tensorflow.is_saved_model(path):
        with tempfile.TemporaryDirectory() as folder:
            written = os.path.join(folder, "model.onnx")
            tensorflow.to_onnx(path, written)
            source = _onnx(written)
            source.path, source.kind = path, "TensorFlow, by tf2onnx; compared with the ONNX file"
            return convert_source(source, target, **options)
    raise value_error(
        "convert", "the kind of a model is known by its ending: .onnx, .pt2, .caffemodel, or one of TensorFlow's", path,
        "weights alone (.pt, .pth, .safetensors) go onto a layer: load_torch_weights(layer, path), or --onto MODULE:NAME",
    )  # fmt: skip


def default_output(path: str) -> str:
    """Beside the model, with our ending."""
    return f"{os.path.splitext(path.rstrip(os.sep))[0]}.proa"


def _onnx(path: str) -> Source:
    from .onnx.difference import first_difference
    from .onnx.loading import from_onnx
    from .onnx.reading import read_onnx
    from .onnx.reference import Reference

    def inputs() -> list[InputShape]:
        model = read_onnx(path)
        return [
            InputShape(value.name, value.shape or (), value.dtype, names)
            for value, names in zip(model.inputs, model.dimension_names, strict=True)
        ]

    return Source(
        path, "ONNX", lambda: from_onnx(path), lambda: Reference(path), inputs,
        find_difference=lambda arrays, rtol, atol: first_difference(path, arrays, rtol, atol),
    )  # fmt: skip


def _caffe(path: str) -> Source:
    from .caffe.loading import layer_of
    from .caffe.reading import read_caffe
    from .caffe.reference import Reference

    stem = os.path.splitext(path)[0]
    prototxt = f"{stem}.prototxt"
    if not os.path.isfile(prototxt):
        raise FileNotFoundError(f"(convert) {prototxt}, which says what the network is, must lie beside {path}.")
    net = functools.cache(lambda: read_caffe(prototxt, path))

    def inputs() -> list[InputShape]:
        return [InputShape(name, [-1, *shape[1:]], "float32", ["batch"]) for name, shape in net().inputs.items()]

    return Source(
        path, "Caffe", lambda: layer_of(net(), os.path.basename(stem)),
        lambda: Reference(prototxt, path, list(net().inputs), net().outputs), inputs,
    )  # fmt: skip


def _torch(path: str) -> Source:
    from .torch.loading import layer_of
    from .torch.reading import exported, read_program
    from .torch.reference import Reference

    original = functools.cache(lambda: exported(path))
    program = functools.cache(lambda: read_program(original()))

    def inputs() -> list[InputShape]:
        return [InputShape(one.name, one.shape, one.dtype, one.dimension_names) for one in program().inputs]

    def examples() -> list[list[np.ndarray]]:
        """Those that the program was exported with, and the same one larger along every dimension that may change."""
        given = program().examples
        return [] if given is None else [given, *_larger(program())]

    name = os.path.basename(path).removesuffix(".pt2")
    return Source(
        path, "PyTorch", lambda: layer_of(program(), name), lambda: Reference(original()), inputs, examples
    )  # fmt: skip


def _larger(program: Any) -> list[list[np.ndarray]]:
    """The examples with one more element along their unknown dimensions; nothing where all sizes are fixed."""
    if all(size >= 0 for one in program.inputs for size in one.shape):
        return []
    found = []
    for one, array in zip(program.inputs, program.examples, strict=True):
        for axis, size in enumerate(one.shape):
            if size < 0:
                array = np.concatenate([array, np.take(array, [0], axis)], axis)
        found.append(array)
    return [found]


__all__ = ["convert"]
